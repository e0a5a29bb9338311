"""The multi-level graph of a few sentences, counted by hand, and what holds of any."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import HeteroData

from kit.corpus import Corpus, Passage
from kit.methods.qsgnn.graph import KINDS, MultiLevelGraph
from kit.text import Encoder
from kit.text.triples import Extraction, Triple

#: Two passages of two and one sentences; "orm" and "The Orm" are one entity.
HAND = Corpus([Passage("a", "Ada", "S0. S1.", "Ada"), Passage("o", "Orm", "S2.", "Orm")])
TOLD = [
    Extraction(
        ("S0.", "S1."), (Triple("Ada", "went to", "Orm", 1), Triple("Ada", "left", "The Orm", 1))
    ),
    Extraction(("S2.",), (Triple("Orm", "is in", "Venland"),)),
]
EDGES = {
    "oo": [(0, 1), (1, 2)],
    "cc": [(0, 1)],
    "oc": [
        (0, 1),
        (1, 1),
    ],  # where the triple's sentence is not known, its ends have the passage alone
    "od": [(0, 0), (1, 0), (1, 1), (2, 1)],
    "cd": [(0, 0), (1, 0), (2, 1)],
}


def edges(data: HeteroData) -> dict[str, list[tuple[int, int]]]:
    return {kind: sorted(map(tuple, data[kind].edge_index.T.tolist())) for kind in KINDS}


def encoded(graph: MultiLevelGraph) -> MultiLevelGraph:
    return graph.encoded(
        Encoder(), Encoder().encode([passage.full_text for passage in HAND.passages])
    )


def test_nodes_and_edges_by_hand() -> None:
    """Eq. 1."""
    graph = MultiLevelGraph.of(HAND, TOLD)
    assert graph.entities == ("Ada", "Orm", "Venland")
    assert graph.chunks == ("Ada\nS0.", "Ada\nS1.", "Orm\nS2.")
    assert edges(graph.data) == EDGES
    assert graph.adjacency("od").toarray().tolist() == [[1, 0], [1, 1], [0, 1]]
    assert graph.adjacency("do").toarray().tolist() == [[1, 1, 0], [0, 1, 1]]


def test_a_name_that_passages_share_is_contained_in_them_without_a_triple() -> None:
    texts = [
        "it met Mira Østby.",
        "it left Mira Østby.",
        *["it is."] * 7,
    ]  # rare enough: 1 − ln 2 / ln 9 = .68
    corpus = Corpus(Passage(str(row), str(row), text, str(row)) for row, text in enumerate(texts))
    graph = MultiLevelGraph.of(corpus, [Extraction((), ())] * 9)
    assert graph.entities == ("Mira Østby",)  # as it is written, not as it is looked up
    assert edges(graph.data) == {kind: [] for kind in KINDS} | {"od": [(0, 0), (0, 1)]}


def test_a_subgraph_is_what_some_documents_contain_both_ways() -> None:
    part = encoded(MultiLevelGraph.of(HAND, TOLD)).subgraph(torch.tensor([1]))
    assert {level: part[level].n_id.tolist() for level in "ocd"} == {
        "o": [1, 2],
        "c": [2],
        "d": [1],
    }
    assert edges(part) == {
        "oo": [(0, 1), (1, 0)],
        "cc": [],
        "oc": [],
        "od": [(0, 0), (1, 0)],
        "cd": [(0, 0)],
    }
    assert part["d", "o"].edge_index.tolist() == [[0, 0], [0, 1]]
    assert [part[level].x.shape for level in "ocd"] == [
        (2, 384),
        (1, 384),
        (1, 384),
    ] and part.validate()


@pytest.mark.parametrize("level", ["o", "c"])
def test_without_a_level(level: str) -> None:
    graph = MultiLevelGraph.of(HAND, TOLD).without(level)
    assert (graph.entities if level == "o" else graph.chunks) == ()
    assert edges(graph.data) == {kind: [] if level in kind else of for kind, of in EDGES.items()}
    part = encoded(graph).subgraph(torch.tensor([0, 1]))
    assert part[level].x.shape == (0, 384) and part["d"].x.shape == (2, 384)


names = st.sampled_from(["Ada", "Orm", "Venland", "the Orm", "Oll"])


@st.composite
def told(draw: st.DrawFn) -> list[Extraction]:
    made = []
    for _ in range(draw(st.integers(1, 4))):
        size = draw(st.integers(1, 3))
        triples = st.builds(
            Triple, names, st.just("is"), names, st.none() | st.integers(0, size - 1)
        )
        made.append(Extraction(("A.",) * size, tuple(draw(st.lists(triples, max_size=4)))))
    return made


@given(told())
def test_any_graph(extractions: list[Extraction]) -> None:
    """Edges are simple and lead to nodes, and all documents make the whole graph."""
    made = Corpus([Passage(str(n), f"T{n}", "A.", str(n)) for n in range(len(extractions))])
    graph = MultiLevelGraph.of(made, extractions)
    assert graph.data.validate()
    whole = edges(graph.data)
    for kind, of in whole.items():
        assert len(set(of)) == len(of) and (kind[0] != kind[1] or all(a < b for a, b in of))
    part = graph.subgraph(torch.arange(len(made)))
    numbers = {level: part[level].n_id.tolist() for level in "ocd"}
    for kind, of in edges(part).items():
        again = {(numbers[kind[0]][a], numbers[kind[1]][b]) for a, b in of}
        assert again == set(whole[kind]) | (
            {(b, a) for a, b in whole[kind]} if kind[0] == kind[1] else set()
        )
