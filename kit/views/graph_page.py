"""A passage graph as a frame of a replay, and as one HTML page to pan, zoom and share."""

from collections import Counter
from collections.abc import Collection, Sequence

from msgspec.structs import replace

from kit.corpus import Benchmark
from kit.errors import InputError
from kit.graphs import PassageGraph
from kit.views.layout import links, places_of
from kit.views.names import capital, name_of
from kit.views.replay import (
    Frame,
    NodeState,
    Positions,
    Replay,
    passage_node,
    question_with_answer,
)
from kit.views.replay_page import OfflinePage, replay_page

MOST = 300  # passages: more would not be readable
_AROUND = 60  # passages, of those around a question


def graph_frame(
    graph: PassageGraph, rows: Sequence[int], gold: Collection[str], positions: Positions, name: str
) -> Replay:
    """The links between some passages as one frame; a node is as large as it has links in it."""
    passages = graph.corpus.passages
    nodes = [passage_node(graph.corpus, passages[row].id, positions, gold) for row in rows]
    edges = links(graph.subgraph(rows))
    degrees = Counter(end for edge in edges for end in edge.ends)
    most = max(degrees.values(), default=1)
    states = [NodeState(node.id, value=degrees[node.id] / most) for node in nodes]
    caption = f"{name}: {len(edges):,} links between {len(nodes)} passages"
    return Replay(nodes, [Frame("", caption, states, edges)])


def graph_page(
    graph: PassageGraph,
    rows: Sequence[int] | None = None,
    gold: Collection[str] = (),
    question: str = "",
) -> OfflinePage:
    """The passages of ``rows`` (None: all) and what joins them; those of ``gold`` are stars.

    A passage's text and what the ends of an edge share show where the pointer rests. Raises
    :class:`InputError` for more than 300 passages.
    """
    rows = range(graph.n_nodes) if rows is None else list(dict.fromkeys(map(int, rows)))
    if not 0 < len(rows) <= MOST:
        raise InputError(
            f"expected 1 to {MOST} passages to draw, not {len(rows):,}: name a question, or rows"
        )
    name = name_of("+".join(graph.relations))
    picture = graph_frame(graph, rows, gold, places_of([graph], rows), capital(name))
    return replay_page(replace(picture, question=question), f"Passages, joined by {name}")


def page_around(graph: PassageGraph, benchmark: Benchmark, name: str | None) -> OfflinePage:
    """The page of the whole graph, or of a test question's supports and their first neighbours."""
    if name is None:
        return graph_page(graph)
    for question in benchmark.test:
        if question.id == name:
            supports = [graph.corpus.row[passage] for passage in question.supporting_ids]
            rows = [*supports, *graph.neighbours(supports)][:_AROUND]
            text = question_with_answer(question)
            return graph_page(graph, rows, question.supporting_ids, text)
    raise InputError(f"expected the id of a test question, not {name!r}", field="question")
