"""Graphs that a retrieval builds, as frames: BGR's search for evidence, each path with its candidates, in both
directions, and the merge (bgr.txt Figure 3); RAS's rounds, the sub-question, the passages found, and what they add to
the question's graph (ras.txt §3).
"""

from collections.abc import Iterable, Mapping, Sequence

import networkx as nx

from kit.corpus import Corpus, Question
from kit.methods.base import Ranking
from kit.methods.trace import Expansion, GraphGrowth, Merge, Seed, SubQuestionEvent
from kit.text.placeholders import key_of
from kit.views.graph_page import spring
from kit.views.replay import (
    Column,
    Edge,
    Frame,
    Node,
    NodeState,
    Place,
    RankItem,
    Replay,
    Scale,
    count,
)

_ASKED = ""  # the id of the question as a node, as in kit.methods.base.Merge
_LISTED = 10  # candidates, or answers
_MOST = 26  # nodes of a picture of RAS's graph: those nearest to what is asked about
Pair = tuple[str, str]
Drawn = Mapping[Pair, Edge]


# ---- BGR


def evidence_replay(ranking: Ranking, corpus: Corpus, question: Question | None = None) -> Replay:
    """A frame for each path that was judged, then the merge, and what of its edges is right where that is known.

    Columns of nodes are steps of reasoning: the question stands left, and what is read in its light right of it.
    """
    gold, kept, merged, frames = _gold(question, corpus), None, [], []
    found: dict[str, list[Pair]] = {}
    for event in ranking.trace.events:
        if isinstance(event, Expansion):
            before = found.setdefault(event.direction, [])
            frames.append(_search_frame(event, before, gold))
            before += [edge for edge in _edges(event) if edge not in before]
        elif isinstance(event, Merge):
            frames.append(_merge_frame(event))
            kept, merged = event.kept, [event.forward, event.backward]
    kept = next(iter(found.values())) if kept is None else kept
    frames.append(_result_frame(kept, gold))
    places = _places([gold, kept, *found.values(), *merged])
    asked = Node(_ASKED, "question", question.text if question else "", *places[_ASKED])
    return Replay.of(
        frames, corpus, question, places, nodes=[asked], scale=Scale("probability", 0.0, 1.0)
    )


def _gold(question: Question | None, corpus: Corpus) -> Sequence[Pair]:
    """The edges of the question's own graph."""
    if not question or not question.evidence or not corpus.row.keys() >= {*question.supporting_ids}:
        return []
    names = {
        -1: _ASKED,
        **{place: carriers[0] for place, carriers in enumerate(question.supporting)},
    }
    return [(names[i], names[j]) for i, j in question.evidence.rooted.edges]


def _edges(event: Expansion) -> Sequence[Pair]:
    end = event.path[-1] if event.path else _ASKED
    if event.direction == "forward":
        return [(end, id) for id in event.found]
    return [(id, end) for id in event.found or (_ASKED,)] if event.path else []


def _search_frame(event: Expansion, before: Sequence[Pair], gold: Sequence[Pair]) -> Frame:
    sure, n, new = dict(event.candidates), len(event.candidates), _edges(event)
    at = "the question" if not event.path else f"a path of {len(event.path)}"
    told = "; ".join(f"{sure[id]:.2f}" for id in event.found)
    caption = (
        f"From {at}, {event.direction}: {len(event.found)} of {n} candidates come next ({told})."
    )
    if not event.found:
        caption = f"From {at}, {event.direction}: none of {n} candidates reaches ½, the path ends"
        caption += "." if event.direction == "forward" else " at the question."
    drawn = dict.fromkeys([*before, *new])
    known = dict.fromkeys({id for edge in gold for id in edge}, "missed")
    known |= dict.fromkeys({id for edge in drawn for id in edge}, "reached")
    known |= (
        dict.fromkeys(event.path, "path")
        | dict.fromkeys(event.found, "visited")
        | {_ASKED: "question"}
    )
    notes = {id: f"comes next with {sure[id]:.2f}" for id in sure}
    states = tuple(
        NodeState(id, role, sure.get(id), notes.get(id, "")) for id, role in sorted(known.items())
    )
    edges = tuple(
        Edge(*edge, (event.direction,), emphasised=edge in new, directed=True) for edge in drawn
    )
    column = Column(
        "candidates, by probability", tuple(RankItem(*each) for each in event.candidates[:_LISTED])
    )
    step = f"{event.direction} · {' → '.join(['Q', *('•' for _ in event.path)])}"
    focus = [*event.found, *event.path[-1:], ""][0]
    return Frame(step, caption, states, edges, (column,), focus=focus)


def _merge_frame(event: Merge) -> Frame:
    ways = {"forward": event.forward, "backward": event.backward}
    edges = dict.fromkeys((*event.forward, *event.backward))
    kinds = {edge: tuple(way for way, found in ways.items() if edge in found) for edge in edges}
    both = sum(len(found) == 2 for found in kinds.values())
    caption = f"{both} of {len(kinds)} edges are in both graphs; {event.reason}: {len(event.kept)} edges are kept."
    return _graph_frame("merge", caption, kinds, event.kept)


def _result_frame(kept: Sequence[Pair], gold: Sequence[Pair]) -> Frame:
    kinds = {edge: ("right" if edge in gold else "superfluous",) for edge in kept}
    missed = {edge: ("missed",) for edge in gold if edge not in kept}
    right = len(gold) - len(missed)
    caption = f"{right} of {len(gold)} edges are right, {len(kept) - right} superfluous."
    return _graph_frame("result", caption if gold else f"{len(kept)} edges.", kinds | missed, kept)


def _graph_frame(
    step: str, caption: str, kinds: Mapping[Pair, tuple[str, ...]], kept: Sequence[Pair]
) -> Frame:
    """Edges of these kinds. Every frame has a column, here of the evidence, or the picture would change its size."""
    evidence = dict.fromkeys(child for _, child in kept)
    roles = dict.fromkeys((id for edge in kinds for id in edge), "reached")
    roles |= {
        child: "missed"
        for (_, child), of in kinds.items()
        if of == ("missed",) and child not in evidence
    }
    states = tuple(NodeState(id, role) for id, role in (roles | {_ASKED: "question"}).items())
    edges = tuple(Edge(*edge, of, directed=True) for edge, of in kinds.items())
    return Frame(
        step, caption, states, edges, (Column("the evidence", tuple(map(RankItem, evidence))),)
    )


def _places(graphs: Iterable[Sequence[Pair]]) -> dict[str, Place]:
    """A column for each step from the question, by the first of the graphs in which one leads from it to a passage."""
    depth = {_ASKED: 0}
    for edges in graphs:
        depth = (
            nx.single_source_shortest_path_length(nx.DiGraph([(_ASKED, _ASKED), *edges]), _ASKED)
            | depth
        )
    depth = {id: 1 for edges in graphs for edge in edges for id in edge} | depth
    places, most = {}, max(*depth.values(), 1)
    for level in set(depth.values()):
        column = [id for id in depth if depth[id] == level]
        for number, id in enumerate(column):
            places[id] = round(0.04 + 0.7 * level / most, 4), round((number + 0.5) / len(column), 4)
    return places


# ---- RAS


def growth_replay(ranking: Ranking, corpus: Corpus, question: Question | None = None) -> Replay:
    """A frame a round. Of the graph that part is drawn which leads from names in the sub-questions to their answers."""
    events = ranking.trace.events
    asked = [event for event in events if isinstance(event, SubQuestionEvent)]
    grown = [event for event in events if isinstance(event, GraphGrowth)]
    names = {key_of(end): end for event in grown for s, _, o in event.triples for end in (s, o)}
    texts = " ".join([event.text for event in asked]).lower()
    answers = {key_of(answer) for event in grown for answer in event.answers}
    graph = nx.Graph((key_of(s), key_of(o)) for event in grown for s, _, o in event.triples)
    ends = {key for key in graph if key in texts or key in answers}
    near = sorted(graph, key=lambda key: (key not in ends, -len({*graph[key]} & ends), key))
    room = [key for key in near if key in ends or {*graph[key]} & ends][: max(_MOST, len(ends))]
    places = spring(graph.subgraph(room))
    named = {key for key in names if question and key in question.text.lower()}
    frames, edges = [], {}
    for step, growth in zip(asked, grown):
        found = [
            event.passage
            for event in events
            if isinstance(event, Seed) and event.round == growth.round
        ]
        frames.append(_round_frame(step, growth, found, edges, room, named))
        edges = {edge.ends: edge for edge in frames[-1].edges}
    others = {id for frame in frames for id in frame.shown} - corpus.row.keys()
    nodes = [Node(id, names.get(id, id), "", *places.get(id, (0.5, 0.5))) for id in sorted(others)]
    return Replay.of(frames, corpus, question, {}, nodes=nodes)


def _round_frame(
    step: SubQuestionEvent,
    growth: GraphGrowth,
    found: Sequence[str],
    before: Drawn,
    room: list[str],
    named: set[str],
) -> Frame:
    new = f"{count(len(found), 'passage')}, {count(len(growth.triples), 'new triple')}"
    told = new if found else "No retrieval: the graph has it"
    told += f"; read off: {', '.join(growth.answers)}" * bool(growth.answers)
    edges = {
        ends: Edge(*ends, ("graph",), edge.label, directed=True) for ends, edge in before.items()
    }
    roles = dict.fromkeys((key for ends in before for key in ends), "held")
    for s, relation, o in growth.triples:
        ends = key_of(s), key_of(o)
        if {*ends} <= {*room}:
            label = ", ".join(filter(None, (edges[ends].label if ends in edges else "", relation)))
            edges[ends] = Edge(*ends, ("added",), label, emphasised=True, directed=True)
            roles = dict.fromkeys(ends, "grown") | roles
    roles |= dict.fromkeys(roles.keys() & named, "named")
    roles |= dict.fromkeys(
        roles.keys() & {key_of(answer) for answer in growth.answers}, "answering"
    )
    columns = [Column("passages found", tuple(map(RankItem, found)))]
    if growth.scores:
        items = tuple(
            RankItem(key_of(name) or name, score) for name, score in growth.scores[:_LISTED]
        )
        columns.append(Column("answers, by probability", items))
    states = tuple(NodeState(node, role) for node, role in sorted(roles.items()))
    caption = f"{told}. Then: {growth.decision}."
    return Frame(
        f"round {growth.round}", caption, states, tuple(edges.values()), tuple(columns), step.text
    )
