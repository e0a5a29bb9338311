"""RAS's rounds as frames: the sub-question, the passages found, what they add to the question's graph (ras.txt §3)."""

from collections.abc import Sequence

import networkx as nx

from kit.corpus import Corpus, Question
from kit.retrievers.base import GraphGrowth, Ranking, Seed, SubQuestionEvent
from kit.text.placeholders import key_of
from kit.views.graph_page import spring
from kit.views.replay import Column, Edge, Frame, Node, NodeState, Place, RankItem, Replay

_MOST = 26  # nodes of a picture: those nearest to what is asked about
_LISTED = 6  # answers
Triple = tuple[str, str, str]


def growth_replay(ranking: Ranking, corpus: Corpus, question: Question | None = None) -> Replay:
    """A frame a round. Of the graph that part is drawn which leads from names in the sub-questions to their answers."""
    events = ranking.trace.events
    asked = [event for event in events if isinstance(event, SubQuestionEvent)]
    grown = [event for event in events if isinstance(event, GraphGrowth)]
    names = {key_of(end): end for event in grown for s, _, o in event.triples for end in (s, o)}
    triples = [triple for event in grown for triple in event.triples]
    texts = " ".join([event.text for event in asked]).lower()
    answers = {key_of(answer) for event in grown for answer in event.answers}
    drawn = _drawn(triples, [key for key in names if key in texts or key in answers])
    places = _places(drawn)
    named = {key for key in names if question and key in question.text.lower()}
    frames, known = [], []
    for step, growth in zip(asked, grown):
        new = [triple for triple in growth.triples if {*map(key_of, triple[::2])} <= drawn.nodes]
        found = [event.passage for event in events if isinstance(event, Seed) and event.round == growth.round]
        frames.append(_frame(step, growth, found, known, new, named))
        known += new
    ends = {key for frame in frames for key in frame.shown} - corpus.row.keys()
    nodes = [Node(key, names.get(key, key), "", *places.get(key, (0.5, 0.5))) for key in sorted(ends)]
    return Replay.of(frames, corpus, question, {}, nodes=nodes)


def _frame(
    step: SubQuestionEvent,
    growth: GraphGrowth,
    found: Sequence[str],
    known: Sequence[Triple],
    new: Sequence[Triple],
    named: set[str],
) -> Frame:
    told = f"{len(found)} passages, {len(growth.triples)} new triples" if found else "No retrieval: the graph has it"
    told += f"; read off: {', '.join(growth.answers)}" * bool(growth.answers)
    edges, roles = {}, {}
    for triples, kind in ((known, "graph"), (new, "added")):
        for s, relation, o in triples:
            ends = key_of(s), key_of(o)
            label = ", ".join(filter(None, (edges[ends].label if ends in edges else "", relation)))
            edges[ends] = Edge(*ends, (kind,), label, emphasised=kind == "added", directed=True)
            roles = dict.fromkeys(ends, "grown" if kind == "added" else "held") | roles
    roles |= dict.fromkeys(roles.keys() & named, "named")
    roles |= dict.fromkeys(roles.keys() & {key_of(answer) for answer in growth.answers}, "answering")
    columns = [Column("passages found", tuple(map(RankItem, found)))]
    if growth.scores:
        items = tuple(RankItem(key_of(name) or name, score) for name, score in growth.scores[:_LISTED])
        columns.append(Column("answers, by probability", items))
    states = tuple(NodeState(node, role) for node, role in sorted(roles.items()))
    caption = f"{told}. Then: {growth.decision}."
    return Frame(f"round {growth.round}", caption, states, tuple(edges.values()), tuple(columns), step.text)


def _drawn(triples: Sequence[Triple], asked_about: Sequence[str]) -> nx.Graph:
    """What is asked about, the answers, and their neighbours as far as there is room."""
    graph = nx.Graph((key_of(s), key_of(o)) for s, _, o in triples)
    ends = [key for key in asked_about if key in graph]
    near = sorted(graph, key=lambda key: (key not in ends, -len({*graph[key]} & {*ends}), key))
    room = [key for key in near if key in ends or {*graph[key]} & {*ends}][: max(_MOST, len(ends))]
    return graph.subgraph(room)


def _places(graph: nx.Graph) -> dict[str, Place]:
    """Fixed for all rounds. Parts that nothing joins are laid out as if one thing did."""
    joined = nx.Graph(graph)
    joined.add_edges_from(("", max(part, key=graph.degree)) for part in nx.connected_components(graph))
    return {key: place for key, place in spring(joined).items() if key in graph} if len(graph) else {}
