"""The multi-level graph of a few sentences, counted by hand, and what holds of any."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import HeteroData

from kit.corpus import Corpus, Passage
from kit.methods.qsgnn.graph import KINDS, MultiLevelGraph
from kit.methods.qsgnn.network import INTRA
from kit.text import Encoder
from kit.text.triples import Extraction, Triple

#: Two passages of two and one sentences; "orm" and "The Orm" are one entity.
HAND = Corpus([Passage("a", "Ada", "S0. S1.", "Ada"), Passage("o", "Orm", "S2.", "Orm")])
EXTRACTIONS = [
    Extraction(
        ("S0.", "S1."), (Triple("Ada", "went to", "Orm", 1), Triple("Ada", "left", "The Orm", 1))
    ),
    Extraction(("S2.",), (Triple("Orm", "is in", "Venland"),)),
]
EDGES = {
    "oo": [(0, 1), (1, 2)],
    "cc": [(0, 1)],
    # Where the triple's sentence is not known, its ends have the passage alone.
    "oc": [(0, 1), (1, 1)],
    "od": [(0, 0), (1, 0), (1, 1), (2, 1)],
    "cd": [(0, 0), (1, 0), (2, 1)],
}


def edges(data: HeteroData) -> dict[str, list[tuple[int, int]]]:
    return {kind: sorted(map(tuple, data[kind].edge_index.T.tolist())) for kind in KINDS}


def encoded(graph: MultiLevelGraph) -> MultiLevelGraph:
    texts = [passage.full_text for passage in HAND.passages]
    return graph.encoded(Encoder(), Encoder().encode(texts))


def test_nodes_and_edges_by_hand() -> None:
    """Eq. 1."""
    graph = MultiLevelGraph.build(HAND, EXTRACTIONS)
    assert graph.entities == ("Ada", "Orm", "Venland")
    assert graph.chunks == ("Ada\nS0.", "Ada\nS1.", "Orm\nS2.")
    assert edges(graph.data) == EDGES
    assert graph.adjacency("od").toarray().tolist() == [[1, 0], [1, 1], [0, 1]]
    assert graph.adjacency("oo").toarray().tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_a_name_that_passages_share_is_contained_in_them_without_a_triple() -> None:
    # Rare enough: 1 − ln 2 / ln 9 = .68.
    texts = ["it met Mira Østby.", "it left Mira Østby.", *["it is."] * 7]
    corpus = Corpus(Passage(str(row), str(row), text, str(row)) for row, text in enumerate(texts))
    graph = MultiLevelGraph.build(corpus, [Extraction((), ())] * 9)
    assert graph.entities == ("Mira Østby",)  # as it is written, not as it is looked up
    assert edges(graph.data) == {kind: [] for kind in KINDS} | {"od": [(0, 0), (0, 1)]}


def test_a_subgraph_is_what_some_documents_contain_both_ways() -> None:
    part = encoded(MultiLevelGraph.build(HAND, EXTRACTIONS)).subgraph(torch.tensor([1]))
    assert part["o"].n_id.tolist() == [1, 2]
    assert part["c"].n_id.tolist() == [2]
    assert part["d"].n_id.tolist() == [1]
    assert edges(part) == {
        "oo": [(0, 1), (1, 0)],
        "cc": [],
        "oc": [],
        "od": [(0, 0), (1, 0)],
        "cd": [(0, 0)],
    }
    assert part["d", "o"].edge_index.tolist() == [[0, 0], [0, 1]]
    assert [part[level].x.shape for level in "ocd"] == [(2, 384), (1, 384), (1, 384)]
    assert part.validate()


@pytest.mark.parametrize("level", ["o", "c"])
def test_without_a_level(level: str) -> None:
    graph = MultiLevelGraph.build(HAND, EXTRACTIONS).without(level)
    assert (graph.entities if level == "o" else graph.chunks) == ()
    gone = {kind: [] for kind in KINDS if level in kind}
    assert edges(graph.data) == EDGES | gone
    part = encoded(graph).subgraph(torch.tensor([0, 1]))
    assert part[level].x.shape == (0, 384) and part["d"].x.shape == (2, 384)


names = st.sampled_from(["Ada", "Orm", "Venland", "the Orm", "Oll"])


@st.composite
def any_extractions(draw: st.DrawFn) -> list[Extraction]:
    made = []
    for _ in range(draw(st.integers(1, 4))):
        size = draw(st.integers(1, 3))
        triples = st.builds(
            Triple, names, st.just("is"), names, st.none() | st.integers(0, size - 1)
        )
        made.append(Extraction(("A.",) * size, tuple(draw(st.lists(triples, max_size=4)))))
    return made


@given(any_extractions())
def test_any_graph(extractions: list[Extraction]) -> None:
    """Edges are simple and lead to nodes, and all documents make the whole graph."""
    made = Corpus([Passage(str(n), f"T{n}", "A.", str(n)) for n in range(len(extractions))])
    graph = MultiLevelGraph.build(made, extractions)
    assert graph.data.validate()
    whole = edges(graph.data)
    for kind, pairs in whole.items():
        assert len(set(pairs)) == len(pairs)
        if kind in INTRA:
            assert all(a < b for a, b in pairs)

    part = graph.subgraph(torch.arange(len(made)))
    rows = {level: part[level].n_id.tolist() for level in "ocd"}
    for kind, pairs in edges(part).items():
        expected = set(whole[kind])
        if kind in INTRA:
            expected |= {(b, a) for a, b in expected}
        assert {(rows[kind[0]][a], rows[kind[1]][b]) for a, b in pairs} == expected
