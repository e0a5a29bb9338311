"""BGR's search as frames: each path with its candidates, in both directions, and the merge (bgr.txt Figure 3)."""

from collections.abc import Iterable, Mapping, Sequence

import networkx as nx

from kit.corpus import Corpus, Question
from kit.retrievers.base import Expansion, Merge, Ranking
from kit.views.replay import Column, Edge, Frame, Node, NodeState, Place, RankItem, Replay, Scale

_ASKED = ""  # the id of the question as a node, as in kit.retrievers.base.Merge
_LISTED = 10  # candidates
Pair = tuple[str, str]


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
    return Replay.of(frames, corpus, question, places, nodes=[asked], scale=Scale("probability", 0.0, 1.0))


def _gold(question: Question | None, corpus: Corpus) -> Sequence[Pair]:
    """The edges of the question's own graph."""
    if not question or not question.evidence or not corpus.row.keys() >= {*question.supporting_ids}:
        return []
    names = {-1: _ASKED, **{place: carriers[0] for place, carriers in enumerate(question.supporting)}}
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
    caption = f"From {at}, {event.direction}: {len(event.found)} of {n} candidates come next ({told})."
    if not event.found:
        caption = f"From {at}, {event.direction}: none of {n} candidates reaches ½, the path ends"
        caption += "." if event.direction == "forward" else " at the question."
    known = dict.fromkeys({id for edge in gold for id in edge}, "missed")
    known |= dict.fromkeys({id for edge in (*before, *new) for id in edge}, "reached")
    known |= dict.fromkeys(event.path, "path") | dict.fromkeys(event.found, "visited") | {_ASKED: "question"}
    notes = {id: f"comes next with {sure[id]:.2f}" for id in sure}
    states = tuple(NodeState(id, role, sure.get(id), notes.get(id, "")) for id, role in sorted(known.items()))
    edges = [Edge(*edge, (event.direction,), directed=True) for edge in before if edge not in new]
    edges += [Edge(*edge, (event.direction,), emphasised=True, directed=True) for edge in new]
    items = tuple(RankItem(id, score) for id, score in event.candidates[:_LISTED])
    step = f"{event.direction} · {' → '.join(['Q', *('•' for _ in event.path)])}"
    focus = [*event.found, *event.path[-1:], ""][0]
    return Frame(step, caption, states, tuple(edges), (Column("candidates, by probability", items),), focus=focus)


def _merge_frame(event: Merge) -> Frame:
    kinds: dict[Pair, tuple[str, ...]] = dict.fromkeys((*event.forward, *event.backward), ())
    for kind in ("forward", "backward"):
        kinds |= {edge: (*kinds[edge], kind) for edge in getattr(event, kind)}
    both = sum(len(found) == 2 for found in kinds.values())
    caption = f"{both} of {len(kinds)} edges are in both graphs; {event.told}: {len(event.kept)} edges are kept."
    return _graph_frame("merge", caption, kinds, event.kept)


def _result_frame(kept: Sequence[Pair], gold: Sequence[Pair]) -> Frame:
    kinds = {edge: ("right" if edge in gold else "superfluous",) for edge in kept}
    missed = [edge for edge in gold if edge not in kept]
    right = len(gold) - len(missed)
    caption = f"{right} of {len(gold)} edges are right, {len(kept) - right} superfluous."
    return _graph_frame(
        "result", caption if gold else f"{len(kept)} edges.", kinds | dict.fromkeys(missed, ("missed",)), kept
    )


def _graph_frame(step: str, caption: str, kinds: Mapping[Pair, tuple[str, ...]], kept: Sequence[Pair]) -> Frame:
    """Edges of these kinds. Every frame has a column, here of the evidence, or the picture would change its size."""
    evidence = dict.fromkeys(child for _, child in kept)
    roles = dict.fromkeys((id for edge in kinds for id in edge), "reached")
    roles |= {child: "missed" for (_, child), of in kinds.items() if of == ("missed",) and child not in evidence}
    states = tuple(NodeState(id, role) for id, role in (roles | {_ASKED: "question"}).items())
    edges = tuple(Edge(*edge, of, directed=True) for edge, of in kinds.items())
    return Frame(step, caption, states, edges, (Column("the evidence", tuple(map(RankItem, evidence))),))


def _places(graphs: Iterable[Sequence[Pair]]) -> dict[str, Place]:
    """A column for each step from the question, by the first of the graphs that a passage is in."""
    depth: dict[str, int] = {_ASKED: 0}
    for edges in graphs:
        graph = nx.DiGraph([*edges])
        if nx.is_directed_acyclic_graph(graph):
            for level, of_level in enumerate(nx.topological_generations(graph)):
                depth |= {id: max(level, 1) for id in sorted(of_level) if id not in depth}
    places, most = {}, max(*depth.values(), 1)
    for level in set(depth.values()):
        column = [id for id in depth if depth[id] == level]
        for number, id in enumerate(column):
            places[id] = round(0.04 + 0.7 * level / most, 4), round((number + 0.5) / len(column), 4)
    return places
