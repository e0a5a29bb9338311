"""The weights that training leaves behind, on distances that are plain to see and on the six passages."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from kit.corpus import Benchmark, Corpus, Passage, Question
from kit.corpus.example import example
from kit.errors import InputError
from kit.evaluation import learn_weights
from kit.graphs import Links, PassageGraph
from kit.retrievers import GNNRet, RGNNRet

COLUMNS = ["n_train", "start", "layers", "seed", "loss", "steps", "weight", "value"]


class ByHand(GNNRet):
    """Three passages whose distances to every question are 0.1, 0.5 and 0.5; a and b are joined, c stands alone."""

    def index(self, corpus: Corpus) -> None:
        self.corpus = corpus
        cosines = np.array([0.9, 0.5, 0.5], np.float32)
        self.vectors = np.column_stack([cosines, np.sqrt(1 - cosines**2)])
        edge = sparse.csr_array((np.ones(1, np.int8), ([0], [1])), shape=(3, 3))
        self.graph = PassageGraph(corpus, {"link": Links(edge)})

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.array([[1, 0]] * len(texts), np.float32)


def training(support: str) -> Benchmark:
    corpus = Corpus(Passage(id, id, "", id) for id in "abc")
    return Benchmark("three", corpus, train=[Question("q", "?", "", ((support,),))])


@pytest.mark.parametrize(
    ("support", "alpha", "loss"),
    [
        # b hears 0.1 from a. At α = 0 it is as near: r + 0.1 − the mean of the rivals a and c.
        ("b", 0.0, 0.5 + 0.1 - (0.1 + 0.5) / 2),
        # c hears nobody, so its rival b is to stay where it was, at α = 1.
        ("c", 1.0, 0.5 + 0.5 - (0.1 + 0.5) / 2),
    ],
)
def test_a_row_tells_the_settings_and_where_descent_ended(support: str, alpha: float, loss: float) -> None:
    table = learn_weights([ByHand(senders=1, n_train=1, margin=0.5, start=0.5, seed=3)], training(support))
    assert list(table.columns) == COLUMNS
    [row] = table.to_dict("records")
    assert (row["n_train"], row["start"], row["layers"], row["seed"], row["weight"]) == (1, 0.5, 1, 3, "alpha1")
    assert row["value"] == pytest.approx(alpha, abs=1e-6) and row["loss"] == pytest.approx(loss, abs=1e-6)


def test_without_a_loss_nothing_is_learned_in_one_step() -> None:
    table = learn_weights([ByHand(senders=1, n_train=1, margin=0.01, start=0.25)], training("a"))
    assert table[["value", "loss", "steps"]].to_numpy().tolist() == [[0.25, 0, 1]]


def six() -> Benchmark:
    hand = example()
    return Benchmark("hand", hand.corpus, train=hand.test)


def test_a_row_for_each_weight_of_each_retriever_in_their_order() -> None:
    deep, recurrent = GNNRet(senders=2, layers=3, n_train=2), RGNNRet(senders=2, competitors=3, n_train=1, seed=1)
    table = learn_weights(iter([deep, recurrent]), six())
    assert table["weight"].tolist() == ["alpha1", "alpha2", "alpha3", "alpha1", "beta"]
    assert table["n_train"].tolist() == [2, 2, 2, 1, 1] and table["layers"].tolist() == [3, 3, 3, 1, 1]
    for retriever, rows in ((deep, table.iloc[:3]), (recurrent, table.iloc[3:])):
        assert dict(zip(rows["weight"], rows["value"])) == retriever.weights
        assert rows["loss"].unique().tolist() == [min(step["loss"] for step in retriever.history)]
        assert rows["steps"].unique().tolist() == [len(retriever.history)]
    again = learn_weights(
        [GNNRet(senders=2, layers=3, n_train=2), RGNNRet(senders=2, competitors=3, n_train=1, seed=1)], six()
    )
    assert again.to_dict("records") == table.to_dict("records")


def test_nobody_trained_is_an_empty_table() -> None:
    assert learn_weights([], six()).empty


@pytest.mark.parametrize(("n_train", "line"), [(0, "expected at least 1 question"), (3, "expected 3 .* found 2")])
def test_too_few_questions_are_told(n_train: int, line: str) -> None:
    with pytest.raises(InputError, match=line):
        learn_weights([GNNRet(n_train=n_train)], six())
