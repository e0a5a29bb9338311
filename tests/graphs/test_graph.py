"""The graph type: the six passages by hand, and against graphs written out in full."""

import json
from pathlib import Path

import msgspec
import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kit.corpus import Corpus, Passage, example
from kit.corpus.structures import Structure
from kit.graphs import EdgeList, PassageGraph, TermBipartite, build, graph
from kit.text import BipartiteIncidence


def corpus_of(n: int) -> Corpus:
    return Corpus(Passage(str(row), f"t{row}", "", str(row)) for row in range(n))


@st.composite
def graphs(draw: st.DrawFn) -> tuple[PassageGraph, nx.Graph]:
    """A graph with shared terms and directed links, beside the same graph by brute force."""
    n, terms = draw(st.integers(1, 8)), draw(st.integers(1, 5))
    holds = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, terms - 1)), unique=True))
    links = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), unique=True))
    full = nx.Graph()
    full.add_nodes_from(range(n))
    full.add_edges_from(
        (a, b) for a, term in holds for b, other in holds if term == other and a != b
    )
    full.add_edges_from((a, b) for a, b in links if a != b)
    entries = [(row, column, 1.0) for row, column in holds]
    incidence = BipartiteIncidence.from_entries(entries, [f"w{t}" for t in range(terms)], n)
    links = [(a, b) for a, b in links if a != b]
    edges = EdgeList.of(*np.array(links, int).reshape(-1, 2).T, n)
    return PassageGraph(corpus_of(n), {"shared": TermBipartite(incidence), "link": edges}), full


@given(graphs(), st.lists(st.integers(0, 7), max_size=5))
def test_linked_is_every_edge_at_the_rows(
    pair: tuple[PassageGraph, nx.Graph], rows: list[int]
) -> None:
    built, full = pair
    rows = np.array([row % built.n_nodes for row in rows], int)
    indices, targets = built.linked(rows)
    expected = {(i, other) for i, row in enumerate(rows.tolist()) for other in full.neighbors(row)}
    assert set(zip(indices.tolist(), targets.tolist())) == expected


@given(graphs(), st.integers(1, 20))
def test_statistics_are_those_of_the_written_out_graph(
    pair: tuple[PassageGraph, nx.Graph], block: int
) -> None:
    built, full = pair
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph, "_BLOCK", block)  # small, so that a graph is counted in several
        assert built.degrees.tolist() == [degree for _, degree in full.degree()]
    assert built.n_edges == full.number_of_edges()
    assert built.density == pytest.approx(nx.density(full))
    assert built.n_components == nx.number_connected_components(full)


@given(graphs())
def test_conversions_hold_the_same_edges(pair: tuple[PassageGraph, nx.Graph]) -> None:
    built, full = pair
    assert set(map(frozenset, built.to_networkx().edges)) == set(map(frozenset, full.edges))
    data = built.to_pyg()
    assert set(map(frozenset, data.edge_index.T.tolist())) == set(map(frozenset, full.edges))
    assert data.num_nodes == built.n_nodes
    links = data.edge_index[:, data.edge_type == data.edge_kinds.index("link")]
    np.testing.assert_array_equal(links, built.edges("link"))


@given(graphs(), st.data())
def test_neighbours_and_subgraphs(pair: tuple[PassageGraph, nx.Graph], data: st.DataObject) -> None:
    built, _ = pair
    walk = nx.DiGraph(
        list(map(tuple, np.concatenate([built.edges(kind).T for kind in built.relations]).tolist()))
    )
    walk.add_nodes_from(range(built.n_nodes))
    rows = data.draw(st.lists(st.integers(0, built.n_nodes - 1), unique=True))
    assert built.neighbours(rows).tolist() == sorted(
        {other for row in rows for other in walk.successors(row)}
    )
    part = built.subgraph(rows)
    assert [passage.id for passage in part.corpus.passages] == [str(row) for row in rows]
    for index, row in enumerate(rows):
        assert {rows[other] for other in part.neighbours(index)} == set(
            built.neighbours(row).tolist()
        ) & set(rows)


def test_the_example_by_hand() -> None:
    graph = build("entity+structure", example().corpus, prior=0.6)
    assert list(graph.relations) == ["entity", "structure"]
    assert repr(graph) == "PassageGraph(6 passages, entity+structure)"
    # harbour – moravec – quay – oll by names, moravec – moravec-later by position, moravec-later –
    # novel by the prize.
    assert graph.n_edges == 5
    assert graph.density == pytest.approx(2 * 5 / (6 * 5))
    assert graph.mean_degree == pytest.approx(2 * 5 / 6)
    assert graph.degrees.tolist() == [1, 3, 2, 2, 1, 1]
    assert graph.n_components == 1
    assert graph.neighbours(1).tolist() == [0, 2, 3]
    edges = graph.to_networkx().edges
    assert edges[0, 1] == {"kinds": "entity", "shared": "Ines Moravec"}
    assert edges[1, 2] == {"kinds": "structure", "shared": ""}


def test_exports_are_read_back(tmp_path: Path) -> None:
    """As Gephi (GraphML), a web page (JSON) and PyG's loaders read them."""
    passages = list(example().corpus.passages)
    passages[0] = msgspec.structs.replace(passages[0], title="Harbour \x01 & <café>")
    built = build("entity+structure", Corpus(passages))
    exported = built.to_networkx()
    assert exported.nodes[0] == {"passage": "harbour", "title": "Harbour \ufffd & <café>"}

    nx.write_graphml(exported, tmp_path / "graph.graphml")
    read = nx.read_graphml(tmp_path / "graph.graphml", node_type=int)
    assert dict(read.nodes(data=True)) == dict(exported.nodes(data=True))
    assert nx.utils.edges_equal(read.edges(data=True), exported.edges(data=True))

    text = json.dumps(nx.node_link_data(exported))
    assert nx.utils.graphs_equal(nx.node_link_graph(json.loads(text)), exported)

    torch.save(built.to_pyg(), tmp_path / "graph.pt")
    data = torch.load(tmp_path / "graph.pt", weights_only=False)
    assert data.edge_index.tolist() == built.to_pyg().edge_index.tolist()
    assert data.edge_kinds == ["entity", "structure"]


def test_an_edge_of_several_kinds_names_each_with_what_is_shared() -> None:
    names = BipartiteIncidence.from_entries(
        [(0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 1, 1)], ["Oll", "Selby"], 2
    )
    relations = {"entity": TermBipartite(names), "structure": EdgeList.of([0], [1], 2)}
    exported = PassageGraph(corpus_of(2), relations).to_networkx()
    assert exported.edges[0, 1] == {"kinds": "entity+structure", "shared": "Oll; Selby"}


def test_pages_and_tables_contain_passages_and_no_walk_meets_them() -> None:
    table = "Table 1: Pears\n\n| Orchard |\n| --- |\n| Hask |"
    corpus = Corpus(
        [
            Passage("p1", "A", "The pears were counted.", "a", 0, 1),
            Passage("p2", "A", table, "a", 1, 1, "table"),
            Passage("p3", "A", table.replace("Pears", "Pears (continued)"), "a", 2, 2, "table"),
            Passage("p4", "A", "They were eaten.", "a", 3, 2),
        ]
    )
    built = build("structure", corpus)
    contains, part = built.relations["holds"], built.subgraph([2, 3]).relations["holds"]
    held = {str(node): contains.content(node).tolist() for node in contains.nodes}
    assert held == {"page 1 of a": [0, 1], "page 2 of a": [2, 3], "table 1 of a": [1, 2]}
    assert contains.content(Structure("a", "page", "9")).tolist() == []
    held = {str(node): part.content(node).tolist() for node in part.nodes}
    assert held == {"page 2 of a": [0, 1], "table 1 of a": [0]}
    # The passages have the neighbours that they had without.
    assert list(built.relations) == ["structure", "holds"] and built.neighbours(1).tolist() == [
        0,
        2,
    ]
    assert (built.n_edges, built.n_components, built.to_pyg().edge_index.shape) == (3, 1, (2, 6))
