"""The multi-level graph of a few sentences, counted by hand, and what holds of any."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.corpus import Corpus, Passage
from kit.graphs.multilevel import KINDS, MultiLevelGraph
from kit.text import Encoder
from kit.text.triples import Extraction, Triple

#: Two passages of two and one sentences; "orm" and "The Orm" are one entity.
HAND = Corpus([Passage("a", "Ada", "S0. S1.", "Ada"), Passage("o", "Orm", "S2.", "Orm")])
TOLD = [
    Extraction(("S0.", "S1."), (Triple("Ada", "went to", "Orm", 1), Triple("Ada", "left", "The Orm", 1))),
    Extraction(("S2.",), (Triple("Orm", "is in", "Venland"),)),
]


def edges(graph: MultiLevelGraph) -> dict[str, list[tuple[int, int]]]:
    return {kind: sorted(map(tuple, of.T.tolist())) for kind, of in graph.edges.items()}


def test_nodes_and_edges_by_hand() -> None:
    graph = MultiLevelGraph.of(HAND, TOLD)
    assert graph.entities == ("Ada", "Orm", "Venland")
    assert graph.chunks == ("Ada\nS0.", "Ada\nS1.", "Orm\nS2.")
    assert edges(graph) == {
        "oo": [(0, 1), (1, 2)],
        "cc": [(0, 1)],
        "oc": [(0, 1), (1, 1)],  # where the triple's sentence is not known, its ends have the passage alone
        "od": [(0, 0), (1, 0), (1, 1), (2, 1)],
        "cd": [(0, 0), (1, 0), (2, 1)],
    }


def test_a_part_is_what_some_documents_contain() -> None:
    part = MultiLevelGraph.of(HAND, TOLD).part(np.array([1]))
    assert {level: nodes.tolist() for level, nodes in part.nodes.items()} == {"o": [1, 2], "c": [2], "d": [1]}
    found = {kind: of.T.tolist() for kind, of in part.edges.items()}
    assert found == {"oo": [[0, 1]], "cc": [], "oc": [], "od": [[0, 0], [1, 0]], "cd": [[0, 0]]}


@pytest.mark.parametrize("level", ["o", "c"])
def test_without_a_level(level: str) -> None:
    whole = MultiLevelGraph.of(HAND, TOLD)
    graph = whole.without(level)
    assert graph.size(level) == 0
    for kind in KINDS:
        assert edges(graph)[kind] == ([] if level in kind else edges(whole)[kind])
    assert len(graph.part(np.array([0, 1])).nodes[level]) == 0


def test_for_pyg() -> None:
    data = MultiLevelGraph.of(HAND, TOLD).to_pyg(Encoder())
    assert data["entity"].x.shape == (3, 384) and data["chunk"].x.shape == (3, 384)
    assert data["entity", "oc", "chunk"].edge_index.tolist() == [[0, 1], [1, 1]]
    assert data["chunk", "rev_oc", "entity"].edge_index.tolist() == [[1, 1], [0, 1]]
    assert data["entity", "oo", "entity"].edge_index.shape == (2, 4)  # both ways
    assert data.validate()


names = st.sampled_from(["Ada", "Orm", "Venland", "the Orm", "Oll"])


@st.composite
def told(draw: st.DrawFn) -> list[Extraction]:
    made = []
    for _ in range(draw(st.integers(1, 4))):
        size = draw(st.integers(1, 3))
        triples = st.builds(Triple, names, st.just("is"), names, st.none() | st.integers(0, size - 1))
        made.append(Extraction(("A.",) * size, tuple(draw(st.lists(triples, max_size=4)))))
    return made


@given(told())
def test_any_graph(extractions: list[Extraction]) -> None:
    made = Corpus([Passage(str(n), f"T{n}", "A.", str(n)) for n in range(len(extractions))])
    graph = MultiLevelGraph.of(made, extractions)
    for kind, of in graph.edges.items():
        assert len(set(map(tuple, of.T.tolist()))) == of.shape[1]
        for level, nodes in zip(kind, of):
            assert not len(nodes) or 0 <= nodes.min() <= nodes.max() < graph.size(level)
    assert (graph.edges["oo"][0] < graph.edges["oo"][1]).all() and (graph.edges["cc"][0] < graph.edges["cc"][1]).all()
    # All documents make the whole graph.
    part = graph.part(np.arange(len(made)))
    again = MultiLevelGraph(made, graph.entities, graph.chunks, {
        kind: np.stack([part.nodes[level][of] for level, of in zip(kind, pair)]) for kind, pair in part.edges.items()
    })  # fmt: skip
    assert edges(again) == edges(graph)
