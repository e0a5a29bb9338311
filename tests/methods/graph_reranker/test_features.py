"""What nodes know, and the graph around a question."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from kit.corpus import example
from kit.methods.graph_reranker.candidates import log_rank, standardised
from kit.methods.graph_reranker.features import (
    KINDS,
    LEVELS,
    NUMBERS,
    CorpusGraph,
    Surroundings,
    side_by_side,
)
from kit.methods.graph_reranker.retriever import GraphReranker


@pytest.fixture(scope="module")
def reranker() -> GraphReranker:
    retriever = GraphReranker(start="untrained")
    retriever.index(example().corpus)
    return retriever


def around(
    reranker: GraphReranker, rows: list[int], text: str = "Who directed Marrow?"
) -> Surroundings:
    graph = reranker.graph_of_corpus
    [vector] = graph.scorers.encode([text])
    scores = graph.scorers.scores(text, vector)
    return graph.around(text, vector, np.array(rows), scores[rows])


def test_standardised_and_ranks_by_hand() -> None:
    assert standardised(np.array([1.0, 3.0])).tolist() == [-1, 1]
    assert standardised(np.array([[1.0, 2.0], [3.0, 2.0]])).tolist() == [[-1, 0], [1, 0]]
    assert standardised(np.zeros(0)).tolist() == []
    ranks = log_rank(np.array([0.1, 0.9, 0.1]))  # equal ones in their order
    np.testing.assert_allclose(ranks, -np.log([2, 1, 3]), rtol=1e-6)


def test_edges_are_those_of_the_graph_among_what_documents_contain(
    reranker: GraphReranker,
) -> None:
    part = around(reranker, [4, 1])
    corpus = part.corpus
    expected = corpus.graph.subgraph(torch.tensor([1, 4]))
    assert sorted(part.rows["d"].tolist()) == [1, 4]
    for level in "oc":
        assert sorted(part.rows[level].tolist()) == expected[level].n_id.tolist()
    assert part.edges["oo"].index.shape[1] and part.edges["cc"].index.shape[1]
    for kind in KINDS:
        index = part.edges[kind].index
        ends = [part.rows[level][index[side]].tolist() for side, level in enumerate(kind)]
        pairs = expected[kind[0], kind[1]].edge_index
        wanted = [expected[level].n_id[pairs[side]].tolist() for side, level in enumerate(kind)]
        assert sorted(zip(*ends)) == sorted(zip(*wanted))
        assert index[1].tolist() == sorted(index[1].tolist())  # receiver by receiver


def test_closeness_is_the_standardised_cosine_of_the_ends(reranker: GraphReranker) -> None:
    part = around(reranker, list(range(6)))  # all edges
    edges = part.edges["od"]
    x = {level: part.corpus.vectors[level][part.rows[level]] for level in LEVELS}
    cosines = (x["o"][edges.index[0]] * x["d"][edges.index[1]]).sum(1).numpy()
    np.testing.assert_allclose(edges.closeness, standardised(cosines), atol=1e-4)


def test_numbers_of_documents(reranker: GraphReranker) -> None:
    corpus = reranker.corpus
    title = corpus.passages[2].title
    part = around(reranker, [0, 2, 5], f"Who directed {title}?")
    numbers = dict(zip(NUMBERS, part.numbers["d"].T))
    assert numbers["named"][1] == pytest.approx(1) and numbers["is named"].tolist() == [0, 1, 0]
    assert numbers["bm25"].max() == pytest.approx(1)
    assert numbers["cosine"].mean() == pytest.approx(0, abs=1e-5)
    np.testing.assert_allclose(
        part.numbers["d"][:, len(NUMBERS) :], standardised(part.scores.numpy()), atol=1e-4
    )


def test_side_by_side_questions_do_not_meet(reranker: GraphReranker) -> None:
    parts = [around(reranker, [0, 1]), around(reranker, [1, 2, 3])]
    batch = side_by_side(parts)
    assert batch.sizes == [2, 3]
    network = reranker.network
    torch.manual_seed(0)
    torch.nn.init.normal_(network.outer.weight)
    with torch.no_grad():
        together = network(batch, KINDS)[0][-1].split(batch.sizes)
        for part, scores in zip(parts, together):
            alone = network(side_by_side([part]), KINDS)[0][-1]
            np.testing.assert_allclose(scores, alone, rtol=1e-4, atol=1e-5)
    products = batch.products("d")
    x = parts[1].corpus.vectors["d"][parts[1].rows["d"]]
    np.testing.assert_allclose(products[2:], x * parts[1].query, rtol=1e-6)


def narrow(vectors: np.ndarray) -> np.ndarray:
    """Unit vectors whose cosines are (cos + 3) / 4, as those of another encoder may be."""
    constant = np.full((len(vectors), 1), np.sqrt(0.75), np.float32)
    return np.hstack([vectors / 2, constant])


def test_no_number_depends_on_the_scale_of_cosines(reranker: GraphReranker) -> None:
    usual = around(reranker, [0, 2, 3, 5])
    corpus = reranker.graph_of_corpus
    data = corpus.graph.data.clone()
    for level, vectors in corpus.vectors.items():
        data[level].x = torch.from_numpy(narrow(vectors.numpy()))
    rescaled = CorpusGraph(replace(corpus.graph, data=data), corpus.scorers).around(
        "Who directed Marrow?",
        narrow(usual.query.numpy()[None])[0],
        usual.rows["d"].numpy(),
        usual.scores.numpy(),
    )
    for level in LEVELS:
        np.testing.assert_allclose(rescaled.numbers[level], usual.numbers[level], atol=1e-3)
    for kind in KINDS:
        np.testing.assert_allclose(
            rescaled.edges[kind].closeness, usual.edges[kind].closeness, atol=1e-3
        )


def test_the_score_by_cosines_does_not_depend_on_their_scale() -> None:
    cosines = np.array([0.1, 0.9, 0.4])
    np.testing.assert_allclose(standardised(0.75 + cosines / 4), standardised(cosines))
