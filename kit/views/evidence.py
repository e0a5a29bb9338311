"""BGR's search as frames: each path with its candidates, in both directions, and the merge (bgr.txt Figure 3)."""

from collections.abc import Iterable, Sequence

import networkx as nx

from kit.corpus import Corpus, Question
from kit.retrievers.base import Expansion, Merge, Ranking
from kit.views.layout import Place, passage_node
from kit.views.replay import Column, Edge, Frame, Node, NodeState, RankItem, Replay, Scale

_ASKED = ""  # the id of the question as a node, as in kit.retrievers.base.Merge
_LISTED = 10  # candidates
Pairs = Sequence[tuple[str, str]]


def evidence_replay(ranking: Ranking, corpus: Corpus, question: Question | None = None) -> Replay:
    """A frame for each path that was judged, then the merge, and what of its edges is right where that is known.

    Columns of nodes are steps of reasoning: the question stands left, and what is read in its light right of it.
    """
    events = ranking.trace.events
    searched = [event for event in events if isinstance(event, Expansion)]
    gold = _gold(question, {*corpus.row})
    found: dict[str, list[tuple[str, str]]] = {}
    frames = []
    for event in searched:
        before = found.setdefault(event.direction, [])
        new = _edges(event)
        frames.append(_search_frame(event, before, new, gold))
        before += [edge for edge in new if edge not in before]
    merges = [event for event in events if isinstance(event, Merge)]
    kept = merges[0].kept if merges else next(iter(found.values()))
    if merges:
        frames.append(_merge_frame(merges[0]))
    frames.append(_result_frame(kept, gold))
    graphs = [gold, kept, *found.values(), *(edges for merge in merges for edges in (merge.forward, merge.backward))]
    drawn = dict.fromkeys(id for edges in graphs for edge in edges for id in edge)
    drawn |= dict.fromkeys(item.node for frame in frames for column in frame.columns for item in column.items)
    places = _places(graphs)
    carriers = question.supporting_ids if question else ()
    nodes = [Node(_ASKED, "question", question.text if question else "", *places[_ASKED])]
    nodes += [passage_node(corpus, id, places, carriers, part=False) for id in drawn if id != _ASKED]
    asked = f"{question.text}\nAnswer: {question.answer}" if question else ""
    return Replay(tuple(nodes), tuple(frames), asked, scale=Scale("probability", 0.0, 1.0))


def _gold(question: Question | None, known: set[str]) -> Pairs:
    """The edges of the question's own graph."""
    if not question or not question.evidence or not known.issuperset(question.supporting_ids):
        return []
    names = {-1: _ASKED, **{place: carriers[0] for place, carriers in enumerate(question.supporting)}}
    return [(names[i], names[j]) for i, j in question.evidence.rooted.edges]


def _edges(event: Expansion) -> Pairs:
    end = event.path[-1] if event.path else _ASKED
    if event.direction == "forward":
        return [(end, id) for id in event.found]
    return [(id, end) for id in event.found or (_ASKED,)] if event.path else []


def _search_frame(event: Expansion, before: Pairs, new: Pairs, gold: Pairs) -> Frame:
    sure, n = dict(event.candidates), len(event.candidates)
    at = "the question" if not event.path else f"a path of {len(event.path)}"
    told = "; ".join(f"{sure[id]:.2f}" for id in event.found)
    caption = f"From {at}, {event.direction}: {len(event.found)} of {n} candidates come next ({told})."
    if not event.found:
        caption = f"From {at}, {event.direction}: none of {n} candidates reaches ½, the path ends"
        caption += "." if event.direction == "forward" else " at the question."
    reached = {id for edge in (*before, *new) for id in edge} | {*event.path, *event.found, _ASKED}
    states = []
    for id in sorted(reached | {id for edge in gold for id in edge}):
        role = "visited" if id in event.found else "path" if id in event.path else "reached"
        role = "question" if id == _ASKED else role if id in reached else "missed"
        states.append(NodeState(id, role, sure.get(id), f"comes next with {sure[id]:.2f}" if id in sure else ""))
    edges = [Edge(*edge, (event.direction,), directed=True) for edge in before if edge not in new]
    edges += [Edge(*edge, (event.direction,), emphasised=True, directed=True) for edge in new]
    items = tuple(RankItem(id, score) for id, score in event.candidates[:_LISTED])
    step = f"{event.direction} · {' → '.join(['Q', *('•' for _ in event.path)])}"
    focus = event.found[0] if event.found else event.path[-1] if event.path else ""
    column = Column("candidates, by probability", items)
    return Frame(step, caption, tuple(states), tuple(edges), (column,), focus=focus)


def _merge_frame(event: Merge) -> Frame:
    both, either = ({*event.forward} & {*event.backward}, [*dict.fromkeys((*event.forward, *event.backward))])
    kinds = {"forward": event.forward, "backward": event.backward}
    edges = [Edge(*edge, tuple(kind for kind in kinds if edge in kinds[kind]), directed=True) for edge in either]
    caption = f"{len(both)} of {len(either)} edges are in both graphs; {event.told}: {len(event.kept)} edges are kept."
    return Frame("merge", caption, _states(either), tuple(edges), (_evidence(event.kept),))


def _result_frame(kept: Pairs, gold: Pairs) -> Frame:
    right, missed = [edge for edge in kept if edge in gold], [edge for edge in gold if edge not in kept]
    edges = [Edge(*edge, ("right" if edge in gold else "superfluous",), directed=True) for edge in kept]
    edges += [Edge(*edge, ("missed",), directed=True) for edge in missed]
    caption = f"{len(right)} of {len(gold)} edges are right, {len(kept) - len(right)} superfluous." if gold else ""
    states = _states([*kept, *missed], {child for _, child in missed} - {child for _, child in kept})
    return Frame("result", caption or f"{len(kept)} edges.", states, tuple(edges), (_evidence(kept),))


def _evidence(kept: Pairs) -> Column:
    """Every frame has a column, or the picture beside it would change its size."""
    return Column("the evidence", tuple(RankItem(id) for id in dict.fromkeys(child for _, child in kept)))


def _states(edges: Iterable[tuple[str, str]], missed: Iterable[str] = ()) -> tuple[NodeState, ...]:
    roles = dict.fromkeys((id for edge in edges for id in edge), "reached") | dict.fromkeys(missed, "missed")
    return tuple(NodeState(id, role) for id, role in (roles | {_ASKED: "question"}).items())


def _places(graphs: Iterable[Pairs]) -> dict[str, Place]:
    """A column for each step from the question, by the first of the graphs that a passage is in."""
    depth: dict[str, int] = {_ASKED: 0}
    for edges in graphs:
        graph = nx.DiGraph([(i, j) for i, j in edges])
        if nx.is_directed_acyclic_graph(graph):
            for level, of_level in enumerate(nx.topological_generations(graph)):
                for id in sorted(of_level):
                    depth.setdefault(id, max(level, 1))
    levels = {level: [id for id in depth if depth[id] == level] for level in set(depth.values())}
    most = max(levels)
    return {
        id: (round(0.04 + 0.7 * level / max(most, 1), 4), round((number + 0.5) / len(of_level), 4))
        for level, of_level in levels.items()
        for number, id in enumerate(of_level)
    }
