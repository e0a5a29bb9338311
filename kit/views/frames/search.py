"""Frames of BGR's search for evidence (BGR Figure 3): paths in both directions, and the merge.

Columns of nodes are steps of reasoning: the question stands left, and what is read in its light
right of it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, starmap

import networkx as nx

from kit.corpus import Corpus, Question
from kit.methods.base import Ranking
from kit.methods.trace import Expansion, Merge
from kit.views.replay import (
    Column,
    Edge,
    Frame,
    Node,
    NodeState,
    Positions,
    RankItem,
    Replay,
    Scale,
)

_QUESTION = ""  # the id of the question as a node, as in kit.methods.trace.Merge
_LISTED = 10  # candidates
Pair = tuple[str, str]
Edges = Sequence[Pair]


def search_replay(ranking: Ranking, corpus: Corpus, question: Question | None = None) -> Replay:
    """A frame per path that was judged, then the merge, and its edges.

    Which of these are right is shown where the question's own graph is known.
    """
    gold = _gold_edges(question, corpus)
    frames = []
    searched = defaultdict(list)  # edges by direction
    merged = []
    kept = None
    for event in ranking.trace.events:
        if isinstance(event, Expansion):
            before = searched[event.direction]
            frames.append(_search_frame(event, before, gold))
            before += [edge for edge in _edges(event) if edge not in before]
        elif isinstance(event, Merge):
            frames.append(_merge_frame(event))
            merged = [event.forward, event.backward]
            kept = event.kept
    if kept is None:
        kept = next(iter(searched.values()))
    frames.append(_result_frame(kept, gold))

    positions = _positions([gold, kept, *searched.values(), *merged])
    text = question.text if question else ""
    root = Node(_QUESTION, "question", text, *positions[_QUESTION])
    return Replay.from_frames(
        frames,
        corpus,
        question,
        positions,
        nodes=[root],
        scale=Scale("probability", 0.0, 1.0),
    )


def _gold_edges(question: Question | None, corpus: Corpus) -> Edges:
    """The edges of the question's own graph, between the first carriers of its supports."""
    if not question or not question.evidence:
        return ()
    if not corpus.row.keys() >= set(question.supporting_ids):
        return ()

    names = dict(enumerate(carriers[0] for carriers in question.supporting))
    names[-1] = _QUESTION
    return [(names[start], names[end]) for start, end in question.evidence.rooted.edges]


def _edges(event: Expansion) -> Edges:
    """The edges that an expansion adds; backward, a path that ends begins at the question."""
    end = event.path[-1] if event.path else _QUESTION
    if event.direction == "forward":
        return [(end, passage) for passage in event.taken]
    if not event.path:
        return ()
    return [(passage, end) for passage in event.taken or (_QUESTION,)]


def _search_frame(event: Expansion, before: Edges, gold: Edges) -> Frame:
    """A path with its candidates, over the edges that its direction had before."""
    added = _edges(event)
    edges = dict.fromkeys([*before, *added])
    roles = _fill("missed", gold) | _fill("reached", edges)
    roles |= dict.fromkeys(event.path, "path")
    roles |= dict.fromkeys(event.taken, "visited")
    roles[_QUESTION] = "question"

    probabilities = dict(event.candidates)
    states = []
    for name, role in sorted(roles.items()):
        note = ""
        if name in probabilities:
            note = f"comes next with {probabilities[name]:.2f}"
        state = NodeState(
            name,
            role,
            probabilities.get(name),
            note,
        )
        states.append(state)

    lines = [
        Edge(
            *edge,
            (event.direction,),
            emphasised=edge in added,
            directed=True,
        )
        for edge in edges
    ]
    path = " → ".join(["Q", *("•" for _ in event.path)])
    candidates = list(starmap(RankItem, event.candidates[:_LISTED]))
    return Frame(
        f"{event.direction} · {path}",
        _search_caption(event, probabilities),
        states,
        lines,
        [Column("candidates, by probability", candidates)],
        focus=[*event.taken, *event.path[-1:], ""][0],
    )


def _search_caption(event: Expansion, probabilities: Mapping[str, float]) -> str:
    start = f"a path of {len(event.path)}" if event.path else "the question"
    caption = f"From {start}, {event.direction}:"
    n = len(event.candidates)
    if event.taken:
        chosen = [f"{probabilities[passage]:.2f}" for passage in event.taken]
        caption += f" {len(chosen)} of {n} candidates come next ({'; '.join(chosen)};"
        caption += f" threshold {event.threshold:.2f})"
    else:
        caption += f" none of {n} candidates is above {event.threshold:.2f}, the path ends"
        if event.direction == "backward":
            caption += " at the question"
    return f"{caption}."


def _merge_frame(event: Merge) -> Frame:
    kinds = dict.fromkeys(event.forward, ("forward",))
    n_common = 0
    for edge in dict.fromkeys(event.backward):
        if edge in kinds:
            kinds[edge] = ("forward", "backward")
            n_common += 1
        else:
            kinds[edge] = ("backward",)

    caption = (
        f"{n_common} of {len(kinds)} edges are in both graphs; "
        f"{event.reason}: {len(event.kept)} edges are kept."
    )
    return _graph_frame("merge", caption, kinds, event.kept)


def _result_frame(kept: Edges, gold: Edges) -> Frame:
    kinds = dict.fromkeys(kept, ("superfluous",))
    n_right = 0
    for edge in gold:
        if edge in kept:
            kinds[edge] = ("right",)
            n_right += 1
        else:
            kinds[edge] = ("missed",)

    caption = f"{len(kept)} edges."
    if gold:
        n_superfluous = len(kept) - n_right
        caption = f"{n_right} of {len(gold)} edges are right, {n_superfluous} superfluous."
    return _graph_frame("result", caption, kinds, kept)


def _graph_frame(
    step: str, caption: str, kinds: Mapping[Pair, tuple[str, ...]], kept: Edges
) -> Frame:
    """Edges of these kinds, and the evidence in a column.

    Every frame has a column, or the picture would change its size.
    """
    evidence = dict.fromkeys(child for _, child in kept)
    roles = _fill("reached", kinds)
    for (_, child), names in kinds.items():
        if names == ("missed",) and child not in evidence:
            roles[child] = "missed"
    roles[_QUESTION] = "question"

    return Frame(
        step,
        caption,
        list(starmap(NodeState, roles.items())),
        [Edge(*edge, names, directed=True) for edge, names in kinds.items()],
        [Column("the evidence", list(map(RankItem, evidence)))],
    )


def _fill(role: str, edges: Iterable[Pair]) -> dict[str, str]:
    """This role for all ends of the edges."""
    return dict.fromkeys(chain.from_iterable(edges), role)


def _positions(graphs: Sequence[Edges]) -> Positions:
    """A column per step from the question.

    The first of the graphs decides in which a path leads from the question to a passage.
    """
    depths = {_QUESTION: 0}
    for edges in graphs:
        graph = nx.DiGraph([(_QUESTION, _QUESTION), *edges])
        depths = nx.single_source_shortest_path_length(graph, _QUESTION) | depths
    columns = defaultdict(list)
    for name in dict.fromkeys([*chain.from_iterable(chain(*graphs)), *depths]):
        columns[depths.get(name, 1)].append(name)

    positions = {}
    deepest = max(*columns, 1)
    for depth, column in columns.items():
        x = round(0.04 + 0.7 * depth / deepest, 4)
        for row, name in enumerate(column):
            y = (row + 0.5) / len(column)
            positions[name] = x, round(y, 4)
    return positions
