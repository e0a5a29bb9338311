"""A passage graph as a frame of a replay, and as one HTML page to pan, zoom and share.

The page is drawn by pyvis and asks no host for anything.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from html import escape

from pyvis.network import Network

from kit.corpus import Benchmark
from kit.errors import InputError
from kit.graphs import PassageGraph
from kit.views.layout import links, places_of
from kit.views.replay import (
    GOLD_RIM,
    Edge,
    Frame,
    Node,
    NodeState,
    Positions,
    Replay,
    clip,
    passage_node,
)
from kit.views.replay_page import OfflinePage
from kit.views.style import look

MOST = 300  # passages: more would not be readable
_AROUND = 60  # passages, of those around a question
_FOREIGN = re.compile(
    r"<link\b[^>]*https?://[^>]*>|<script\b[^>]*\bsrc=[^>]*>\s*</script>", re.IGNORECASE
)
_FIT = "<script>addEventListener('resize', () => network.fit()); network.fit();</script>"
_LEGEND_STYLE = "position: fixed; top: 4px; margin: 0; font: 14px sans-serif"


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
    positions: Positions | None = None,
) -> OfflinePage:
    """The passages of ``rows`` (None: all) and what joins them; those of ``gold`` are stars.

    A passage's text and what the ends of an edge share show where the pointer rests. ``positions``
    are as of :func:`places_of`, by default those of this graph. Raises :class:`InputError` for more
    than 300 passages.
    """
    rows = range(graph.n_nodes) if rows is None else list(dict.fromkeys(map(int, rows)))
    if not 0 < len(rows) <= MOST:
        raise InputError(
            f"expected 1 to {MOST} passages to draw, not {len(rows):,}: name a question, or rows"
        )

    picture = graph_frame(graph, rows, gold, positions or places_of([graph], rows), "")
    network = Network("94vh", "100%", cdn_resources="in_line")
    network.toggle_physics(False)  # passages stand where they stand, until the reader drags one
    for node in picture.nodes:
        _add_node(network, node)
    for edge in picture.frames[0].edges:
        _add_edge(network, edge)

    page = _FOREIGN.sub("", network.generate_html())
    legend = "".join(map(_legend_entry, graph.relations))
    shown = f'<p style="{_LEGEND_STYLE}">{legend}</p>{_FIT}'
    return OfflinePage(page.replace("</body>", f"{shown}</body>"))


def _add_node(network: Network, node: Node) -> None:
    network.add_node(
        node.id,
        node.label,
        shape="dot",
        size=10,
        title=_tooltip(f"{node.title}\n\n{clip(node.text, 600)}"),
        x=node.x * 1500,
        y=node.y * 750,
    )
    if node.gold:
        network.get_node(node.id).update(shape="star", color=GOLD_RIM, size=22)


def _add_edge(network: Network, edge: Edge) -> None:
    """A line for each kind, the first straight, the others in bows beside it."""
    for rank, kind in enumerate(edge.kinds):
        bow = False
        if rank:
            bow = {"type": "curvedCW", "roundness": 0.15 * rank}
        network.add_edge(
            *edge.ends,
            title=_tooltip(f"{kind}: {edge.label or 'neighbours'}"),
            color=look(kind).colour,
            dashes=[2 * length for length in look(kind).dash] or False,
            smooth=bow,
        )


def _legend_entry(kind: str) -> str:
    return f'<b style="color: {look(kind).colour}">{escape(kind)}</b> '


def page_around(graph: PassageGraph, benchmark: Benchmark, name: str | None) -> OfflinePage:
    """The page of the whole graph, or of a test question's supports and their first neighbours."""
    if name is None:
        return graph_page(graph)
    for question in benchmark.test:
        if question.id == name:
            supports = [graph.corpus.row[passage] for passage in question.supporting_ids]
            rows = [*supports, *graph.neighbours(supports)][:_AROUND]
            return graph_page(graph, rows, question.supporting_ids)
    raise InputError(f"expected the id of a test question, not {name!r}", field="question")


def _tooltip(text: str) -> str:
    """Text for the pointer's box.

    pyvis takes a box in which "href" stands for markup, so the word is parted.
    """
    return re.sub("(?i)(hr)(ef)", "\\1\u200b\\2", text)
