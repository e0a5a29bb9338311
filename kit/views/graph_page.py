"""A passage graph to pan, zoom and share: one HTML page, drawn by pyvis, that asks no host for anything."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

import networkx as nx
from pyvis.network import Network

from kit.corpus import Benchmark
from kit.errors import InputError
from kit.graphs import PassageGraph
from kit.views.layout import Place, links, passage_node, spring
from kit.views.replay import GOLD_RIM, Frame, NodeState, Replay, clip
from kit.views.style import look

MOST = 300  # passages: more would not be readable
_AROUND = 60  # passages, of those around a question
_FOREIGN = re.compile(r"<link\b[^>]*https?://[^>]*>|<script\b[^>]*\bsrc=[^>]*>\s*</script>", re.IGNORECASE)
_FIT = "<script>addEventListener('resize', () => network.fit()); network.fit();</script>"


def places_of(graphs: Iterable[PassageGraph], rows: Sequence[int]) -> dict[str, Place]:
    """Where some passages stand, from the edges of all graphs together: the same in each of them."""
    together = nx.empty_graph(len(rows))
    for graph in graphs:
        together.add_edges_from(graph.subgraph(rows).to_networkx().edges)
    return {graph.corpus.passages[row].id: place for row, place in zip(rows, spring(together).values())}


def graph_frame(
    graph: PassageGraph, rows: Sequence[int], gold: Collection[str], places: Mapping[str, Place], name: str
) -> Replay:
    """The links between some passages as one frame; a node is as large as it has links in the picture."""
    edges = links(graph.subgraph(rows))
    degrees = Counter(end for edge in edges for end in edge.ends)
    most = max(degrees.values(), default=1)
    nodes = [passage_node(graph.corpus, graph.corpus.passages[row].id, places, gold) for row in rows]
    states = [NodeState(node.id, value=degrees[node.id] / most) for node in nodes]
    caption = f"{name}: {len(edges):,} links between {len(nodes)} passages"
    return Replay(tuple(nodes), (Frame("", caption, tuple(states), edges),))


class GraphPage(NamedTuple):
    """``html`` is the page. In Jupyter its scripts run in a frame that sees neither the notebook nor the server."""

    html: str

    def _repr_html_(self) -> str:
        style = "width: 100%; height: 600px; border: 1px solid #bbb"
        return f'<div><iframe sandbox="allow-scripts" srcdoc="{escape(self.html)}" style="{style}"></iframe></div>'


def graph_page(
    graph: PassageGraph,
    rows: Sequence[int] | None = None,
    gold: Collection[str] = (),
    places: Mapping[str, Place] | None = None,
) -> GraphPage:
    """The passages of ``rows`` (None: all) and what joins them; those of ``gold`` are stars.

    A passage's text and what the ends of an edge share show where the pointer rests. ``places`` as of
    :func:`places_of`, by default those of this graph. Raises InputError for more than 300 passages.
    """
    rows = range(graph.n_nodes) if rows is None else list(dict.fromkeys(map(int, rows)))
    if not 0 < len(rows) <= MOST:
        raise InputError(f"expected 1 to {MOST} passages to draw, not {len(rows):,}: name a question, or rows")
    places = places or places_of([graph], rows)
    network = Network("94vh", "100%", cdn_resources="in_line")
    network.toggle_physics(False)  # passages stand where they stand, until the reader drags one
    for row in rows:
        node = passage_node(graph.corpus, graph.corpus.passages[row].id, places, gold)
        drawn = {"shape": "star", "color": GOLD_RIM, "size": 22} if node.gold else {"shape": "dot", "size": 10}
        about = _told(f"{node.title}\n\n{clip(node.text, 600)}")
        network.add_node(node.id, node.label, title=about, x=node.x * 1500, y=node.y * 750, **drawn)
    for edge in links(graph.subgraph(rows)):
        for number, kind in enumerate(edge.kinds):
            line = {"color": look(kind).colour, "dashes": [2 * length for length in look(kind).dash] or False}
            bow = {"smooth": {"type": "curvedCW", "roundness": 0.15 * number}} if number else {"smooth": False}
            network.add_edge(*edge.ends, title=_told(f"{kind}: {edge.label or 'neighbours'}"), **line, **bow)
    legend = [f'<b style="color: {look(kind).colour}">{escape(kind)}</b> ' for kind in graph.relations]
    shown = f'<p style="position: fixed; top: 4px; margin: 0; font: 14px sans-serif">{"".join(legend)}</p>{_FIT}'
    return GraphPage(_FOREIGN.sub("", network.generate_html()).replace("</body>", f"{shown}</body>"))


def page_around(graph: PassageGraph, benchmark: Benchmark, question: str | None) -> GraphPage:
    """The page of the whole graph, or of a test question's supports and the first of their neighbours."""
    if question is None:
        return graph_page(graph)
    asked = next((it for it in benchmark.test if it.id == question), None)
    if asked is None:
        raise InputError(f"expected the id of a test question, not {question!r}", field="question")
    supports = [graph.corpus.row[id] for id in asked.supporting_ids]
    return graph_page(graph, [*supports, *graph.neighbours(supports)][:_AROUND], asked.supporting_ids)


def _told(text: str) -> str:
    """Text for the pointer's box. pyvis takes a box in which "href" stands for markup: so the word is parted."""
    return re.sub("(?i)href", lambda match: f"{match[0][:2]}\u200b{match[0][2:]}", text)
