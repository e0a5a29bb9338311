"""Frames of a graph that grows round by round (RAS §3).

A round shows its sub-question, the passages found, and what they add to the question's graph. Of
this, that part is drawn which leads from names in the sub-questions to their answers.
"""

from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from itertools import chain, starmap

import networkx as nx
from msgspec.structs import replace

from kit.corpus import Corpus, Question
from kit.corpus.types import Texts
from kit.methods.base import Ranking
from kit.methods.trace import GraphGrowth, Seed, SubQuestionEvent
from kit.text.placeholders import key_of
from kit.views.frames.exchanges import in_words
from kit.views.layout import spring
from kit.views.replay import MIDDLE, Column, Edge, Frame, Node, NodeState, RankItem, Replay, count

_LISTED = 10  # answers
#: What a planner's decisions mean.
_DECISIONS = {
    "[SUBQ]": "a further question",
    "[SUFFICIENT]": "the graph is enough to answer",
    "[NO_RETRIEVAL]": "no retrieval is needed",
}
_MOST = 26  # nodes of a picture: those nearest to the sub-questions


def growth_replay(ranking: Ranking, corpus: Corpus, question: Question | None = None) -> Replay:
    """A frame per round."""
    openings = []
    rounds = []
    passages = defaultdict(list)  # by round
    events = defaultdict(list)  # by sub-question
    for event in ranking.trace.events:
        if isinstance(event, SubQuestionEvent):
            openings.append(event)
        elif isinstance(event, GraphGrowth):
            rounds.append(event)
        elif isinstance(event, Seed):
            passages[event.round].append(event.passage)
        events[len(openings)].append(event)

    names, graph = _entities(rounds)
    graph.remove_nodes_from(_far_nodes(graph, openings, rounds))
    positions = spring(graph)

    text = question.text.lower() if question else ""
    named = {key for key in names if key in text}
    frames = []
    edges = ()
    for n_opened, (opening, growth) in enumerate(zip(openings, rounds), start=1):
        frame = _round_frame(
            opening,
            growth,
            passages[growth.round],
            edges,
            graph,
            named,
        )
        edges = frame.edges
        caption = frame.caption + in_words(events[n_opened])
        frames.append(replace(frame, caption=caption))

    nodes = []
    for name in chain(*(frame.shown for frame in frames)):
        if name not in corpus:
            position = positions.get(name, MIDDLE)
            nodes.append(Node(name, names.get(name, name), "", *position))
    return Replay.from_frames(frames, corpus, question, {}, nodes)


def _entities(rounds: Sequence[GraphGrowth]) -> tuple[dict[str, str], nx.Graph]:
    """The names of all entities by their keys, and the graph of these."""
    names = {}
    graph = nx.Graph()
    for growth in rounds:
        for subject, _, value in growth.triples:
            ends = key_of(subject), key_of(value)
            names |= zip(ends, (subject, value))
            graph.add_edge(*ends)
    return names, graph


def _far_nodes(
    graph: nx.Graph, openings: Sequence[SubQuestionEvent], rounds: Sequence[GraphGrowth]
) -> list[str]:
    """The entities that are not drawn.

    Drawn are those that sub-questions and answers name, then those that are joined to most of them.
    """
    texts = " ".join(opening.text for opening in openings).lower()
    answers = {key_of(answer) for growth in rounds for answer in growth.answers}
    ends = {key for key in graph if key in texts or key in answers}
    n_joined = {key: len(ends.intersection(graph[key])) for key in graph}

    nearest = sorted(graph, key=lambda key: (key not in ends, -n_joined[key], key))
    joined = [key for key in nearest if key in ends or n_joined[key]] or nearest
    n_drawn = min(len(joined), max(_MOST, len(ends)))
    return nearest[n_drawn:]


def _round_frame(
    opening: SubQuestionEvent,
    growth: GraphGrowth,
    passages: Texts,
    before: Sequence[Edge],
    drawn: Container[str],
    named: Container[str],
) -> Frame:
    edges = {}
    roles = {}
    for edge in before:
        edges[edge.ends] = replace(edge, kinds=("graph",), emphasised=False)
        roles |= dict.fromkeys(edge.ends, "held")
    for subject, relation, value in growth.triples:
        ends = key_of(subject), key_of(value)
        if ends[0] in drawn and ends[1] in drawn:
            label = relation
            if ends in edges:
                label = ", ".join(filter(None, (edges[ends].label, relation)))
            edges[ends] = Edge(
                *ends,
                ("added",),
                label,
                emphasised=True,
                directed=True,
            )
            roles = dict.fromkeys(ends, "grown") | roles

    answers = set(map(key_of, growth.answers))
    for key in roles:
        if key in named:
            roles[key] = "named"
        if key in answers:
            roles[key] = "answering"
    return Frame(
        f"round {growth.round}",
        _caption(growth, len(passages)),
        tuple(starmap(NodeState, sorted(roles.items()))),
        tuple(edges.values()),
        tuple(_columns(growth, passages)),
        opening.text,
    )


def _caption(growth: GraphGrowth, n_passages: int) -> str:
    caption = "No retrieval: the graph has it"
    if n_passages:
        caption = f"{count(n_passages, 'passage')}, {count(len(growth.triples), 'new triple')}"
    if growth.answers:
        caption += f"; read off: {', '.join(growth.answers)}"
    decision = _DECISIONS.get(growth.decision, growth.decision)
    return f"{caption}. Then: {decision}."


def _columns(growth: GraphGrowth, passages: Texts) -> Iterator[Column]:
    """The passages found and, where they are scored, the answers to the question."""
    yield Column("passages found", tuple(map(RankItem, passages)))
    if growth.scores:
        scored = growth.scores[:_LISTED]
        answers = [RankItem(key_of(name) or name, score) for name, score in scored]
        yield Column("answers, by probability", answers)
