"""A trace as a replay: which kind of trace it is, and so how its frames are made.

Traces of scores, messages and walks are read as steps, and all steps are drawn in the same way
(:mod:`kit.views.frames.steps`). Traces of graphs that a retrieval builds have frames of their own.
"""

from kit.corpus import Corpus, Question
from kit.errors import InputError
from kit.graphs import PassageGraph
from kit.methods.base import Ranking
from kit.methods.trace import Expansion, GraphGrowth, Hearing, Merge, NodeVisit
from kit.views.frames.growth import growth_replay
from kit.views.frames.hearing import HearingStory
from kit.views.frames.messages import MessageStory
from kit.views.frames.search import search_replay
from kit.views.frames.walk import WalkStory
from kit.views.replay import Replay


def replay(
    ranking: Ranking,
    corpus: Corpus,
    question: Question | None = None,
    graph: PassageGraph | None = None,
    top: int = 10,
) -> Replay:
    """The steps that led to a ranking of passages of ``corpus``.

    ``question`` marks its supports and counts how many are among the first ``top``. ``graph`` gives
    places and edges; without it only rankings are shown. Scores that messages carry are shown as
    distances, 1 − score. Supports and what is nearest before any message, as far as they are
    joined, stand where question and graph say, whatever the settings.

    Raises :class:`InputError` for a ranking without a trace.
    """
    kinds = {type(event) for event in ranking.trace.events}
    if not kinds:
        raise InputError("expected a ranking with the trace of its steps", field="trace")

    if Expansion in kinds or Merge in kinds:
        return search_replay(ranking, corpus, question)
    if GraphGrowth in kinds:
        return growth_replay(ranking, corpus, question)

    story = MessageStory
    if NodeVisit in kinds:
        story = WalkStory
    elif Hearing in kinds:
        story = HearingStory
    return story(ranking, corpus, question, top).replay(graph)
