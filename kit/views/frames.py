"""A trace as frames: the steps that led to a ranking, for the canvas and for print.

Only the events of the trace are read, so the same code shows any method: one that tells scores, senders and messages,
question by question, or one that tells visits, path by path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kit.corpus import Corpus, Question
from kit.errors import InputError
from kit.retrievers import NodeVisit, Ranking
from kit.views.layout import arrange, passage_node
from kit.views.messages import MessageBuilder
from kit.views.replay import Replay
from kit.views.walks import WalkBuilder

if TYPE_CHECKING:
    from kit.graphs import PassageGraph


def replay(
    ranking: Ranking,
    corpus: Corpus,
    *,
    question: Question | None = None,
    graph: PassageGraph | None = None,
    walked: bool = True,
    distances: bool = True,
    top: int = 10,
) -> Replay:
    """The steps that led to a ranking of passages of ``corpus``.

    ``question`` marks its supports and counts how many are among the first ``top``. ``graph`` gives places and edges;
    without it only rankings are shown. ``walked`` False: the method does not see the graph, it only lies behind. With
    ``distances``, scores are told as 1 − score, except on a walk, which shows what its agent gave. Drawn are the
    supports, the senders, the nearest before and after, and those that rise most. Where the supports and the nearest
    before any message stand depends on question and graph alone, not on a method's settings. § numbers the passages of
    a document. Raises InputError for a ranking without a trace.
    """
    events = ranking.trace.events
    if not events:
        raise InputError("expected a ranking with the trace of its steps", field="trace")
    if any(isinstance(event, NodeVisit) for event in events):
        builder: WalkBuilder | MessageBuilder = WalkBuilder(ranking, corpus, question, graph if walked else None, top)
    else:
        builder = MessageBuilder(ranking, corpus, question, distances, top)
    drawn = builder.choose() if graph else []
    edges, places = arrange(drawn, len(builder.base), graph) if graph else ((), {})
    frames = tuple(builder.frames(drawn, edges))
    listed = (item.node for frame in frames for column in frame.columns for item in column.items)
    nodes = [passage_node(corpus, id, places, builder.gold) for id in dict.fromkeys([*drawn, *listed])]
    asked = f"{question.text}\nAnswer: {question.answer}" if question else ""
    return Replay(tuple(nodes), frames, asked, edges, builder.scale if graph else None)
