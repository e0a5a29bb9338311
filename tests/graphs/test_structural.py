"""Structural nodes: what pages and tables hold, and that a walk over passages never meets them."""

from __future__ import annotations

import pytest

from kit.corpus import Corpus, Passage
from kit.corpus.pdf import Structure
from kit.graphs import Holds, build

PAGE_1, PAGE_2, TABLE_1 = (
    Structure("a", kind, label) for kind, label in [("page", "1"), ("page", "2"), ("table", "1")]
)


@pytest.fixture
def corpus() -> Corpus:
    table = "Table 1: Pears\n\n| Orchard |\n| --- |\n| Hask |"
    return Corpus(
        [
            Passage("p1", "A", "The pears were counted.", "a", 0, 1),
            Passage("p2", "A", table, "a", 1, 1, "table"),
            Passage("p3", "A", table.replace("Pears", "Pears (continued)"), "a", 2, 2, "table"),
            Passage("p4", "A", "They were eaten.", "a", 3, 2),
        ]
    )


def test_pages_and_tables_hold_their_passages(corpus):
    holds = build("entity+structure", corpus).relations["holds"]
    assert isinstance(holds, Holds)
    assert {node: holds.content(node).tolist() for node in holds.nodes} == {
        PAGE_1: [0, 1],
        PAGE_2: [2, 3],
        TABLE_1: [1, 2],
    }
    assert holds.content(Structure("a", "page", "9")).tolist() == []


def test_edges_lead_from_structures_to_content_and_nowhere_else(corpus):
    graph = Holds.of(corpus).to_networkx(corpus)
    assert set(graph.edges) == {(PAGE_1, 0), (PAGE_1, 1), (PAGE_2, 2), (PAGE_2, 3), (TABLE_1, 1), (TABLE_1, 2)}
    assert graph.nodes[TABLE_1] == {"kind": "table", "title": "table 1 of a"}


def test_passages_have_the_neighbours_that_they_had_without(corpus):
    graph = build("structure", corpus)
    assert graph.kinds == ("structure", "holds")
    assert graph.n_edges == 3
    assert graph.neighbours(1).tolist() == [0, 2]
    assert graph.components.tolist() == [0, 0, 0, 0]
    assert graph.to_pyg().edge_index.shape == (2, 6)
    place, rows = graph.linked(graph.neighbours(1))
    assert sorted(zip(place.tolist(), rows.tolist())) == [(0, 1), (1, 1), (1, 3)]


def test_a_subgraph_keeps_the_nodes_that_hold_any_of_it(corpus):
    holds = build("structure", corpus).subgraph([2, 3]).relations["holds"]
    assert {node: holds.content(node).tolist() for node in holds.nodes} == {PAGE_2: [0, 1], TABLE_1: [0]}


def test_a_corpus_without_pages_has_no_structural_nodes():
    corpus = Corpus([Passage("p1", "A", "One.", "a"), Passage("p2", "A", "Two.", "a", 1)])
    assert build("structure", corpus).kinds == ("structure",)
    assert Holds.of(corpus).nodes == ()
