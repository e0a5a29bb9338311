"""What is told of trainings, and the weights that they leave behind, by hand and on the six passages."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from kit.corpus import Benchmark, Corpus, Passage, Question
from kit.corpus.example import example
from kit.errors import InputError
from kit.evaluation import along_setting, evaluate, histories, learn_weights, over_pool
from kit.graphs import EdgeList, PassageGraph
from kit.retrievers import DPR, GNNRet, RGNNRet, make

COLUMNS = ["n_train", "start", "layers", "seed", "loss", "steps", "weight", "value"]


def trained(losses: list[float], checks: dict[int, float]) -> DPR:
    """A retriever with the history of a training that never was."""
    retriever = DPR()
    steps: list[dict[str, float]] = [{"step": step, "loss": loss} for step, loss in enumerate(losses, start=1)]
    retriever.history = steps + [{"step": step, "measured": measured} for step, measured in checks.items()]
    return retriever


def test_losses_are_smoothed_over_ten_steps_and_checks_are_not() -> None:
    table = histories({"dpr": trained([float(n) for n in range(12)], {0: 0.5, 12: 0.75}), "other": trained([], {})})
    assert list(table.columns) == ["retriever", "quantity", "step", "value", "smoothed"]
    loss = table[table["quantity"] == "loss"]
    assert loss["step"].tolist() == list(range(1, 13)) and loss["value"].tolist() == list(range(12))
    assert loss["smoothed"].iloc[[0, 1, 2, -1]].tolist() == [0, 0.5, 1, sum(range(2, 12)) / 10]
    checks = table[table["quantity"] == "dev recall@5"]
    assert checks[["step", "value", "smoothed"]].to_numpy().tolist() == [[0, 0.5, 0.5], [12, 0.75, 0.75]]
    assert set(table["retriever"]) == {"dpr"}


def test_a_metric_along_a_setting() -> None:
    senders = {f"K = {number}": number for number in (1, 2)}
    methods = {name: make("gnn-ret", top_k=number) for name, number in senders.items()}
    experiment = evaluate(methods, example(), ks=(3,), n_resamples=100, progress=False)
    table = along_setting(experiment, {"recall": senders}, "senders", "recall@3")
    assert list(table) == ["line", "retriever", "senders", "mean", "low", "high", "n"]
    assert table[["line", "retriever", "senders", "n"]].values.tolist() == [
        ["recall", "K = 1", 1, 2],
        ["recall", "K = 2", 2, 2],
    ]
    means = experiment.table.groupby("retriever", sort=False)["recall@3"].mean()
    assert table["mean"].tolist() == pytest.approx(means.tolist())


def test_a_pool_has_the_supports_and_what_is_near() -> None:
    hand = example()
    whole = Benchmark("whole", hand.corpus, train=hand.test[1:], test=hand.test)
    small = over_pool(whole, hand.test[:1])
    assert small.test == hand.test[:1] and not small.train
    assert set(hand.test[0].supporting_ids) <= set(small.corpus.row) <= set(hand.corpus.row)
    own = Benchmark("own", hand.corpus, test=hand.test, collections={q.id: [0, 1, 3] for q in hand.test})
    kept = over_pool(own, own.test[:1])
    assert kept.collections is own.collections and kept.corpus is own.corpus


class ByHand(GNNRet):
    """Three passages whose texts are their distances to every question; a and b are joined, c stands alone."""

    def index(self, corpus: Corpus) -> None:
        self.corpus = corpus
        cosines = np.array([1 - float(passage.text) for passage in corpus.passages], np.float32)
        self.vectors = np.column_stack([cosines, np.sqrt(1 - cosines**2)])
        edge = sparse.csr_array((np.ones(1, np.int8), ([0], [1])), shape=(3, 3))
        self.graph = PassageGraph(corpus, {"link": EdgeList(edge)})

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.array([[1, 0]] * len(texts), np.float32)


def training(distances: dict[str, float], *supports: str) -> Benchmark:
    """A question to learn from for each of the supports."""
    corpus = Corpus(Passage(id, id, f"{distance}", id) for id, distance in distances.items())
    questions = [Question(f"q{i}", "?", "", ((support,),)) for i, support in enumerate(supports)]
    return Benchmark("three", corpus, train=questions)


LEVEL = {"a": 0.1, "b": 0.5, "c": 0.5}


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
    table = learn_weights([ByHand(top_k=1, n_train=1, margin=0.5, init_alpha=0.5, seed=3)], training(LEVEL, support))
    assert list(table.columns) == COLUMNS
    [row] = table.to_dict("records")
    assert (row["n_train"], row["start"], row["layers"], row["seed"], row["weight"]) == (1, 0.5, 1, 3, "alpha1")
    assert row["value"] == pytest.approx(alpha, abs=1e-6) and row["loss"] == pytest.approx(loss, abs=1e-6)


def test_loss_and_weights_are_the_lowest_not_the_last() -> None:
    """One question wants c, at 0.3, before its rival b, the other wants b: r + 0.2 − 0.4 α and r − 0.1 + 0.8 α.

    With r = 0.01 the gradient of the mean is 0.2 from α = 0.5 down to 0.1125, where the second hinge is flat, and −0.2
    below. Steps of 1 lead from 0.5 over 0.3 to 0.1, and back and forth between these until they are cut off at 0.3.
    """
    benchmark = training({"a": 0.1, "b": 0.9, "c": 0.3}, "c", "b")
    retriever = ByHand(top_k=1, n_train=2, margin=0.01, init_alpha=0.5)
    [row] = learn_weights([retriever], benchmark).to_dict("records")
    assert [step["alpha1"] for step in retriever.history[:4]] == pytest.approx([0.5, 0.3, 0.1, 0.3], abs=1e-6)
    assert retriever.history[-1]["loss"] == pytest.approx((0.09 + 0.15) / 2, abs=1e-4)
    assert row["value"] == pytest.approx(0.1, abs=1e-4) and row["loss"] == pytest.approx(0.17 / 2, abs=1e-4)


def test_a_row_for_each_weight_of_each_retriever_in_their_order() -> None:
    hand = example()
    six = Benchmark("hand", hand.corpus, train=hand.test)
    deep, recurrent = GNNRet(top_k=2, layers=3, n_train=2), RGNNRet(top_k=2, n_candidates=3, n_train=1, seed=1)
    table = learn_weights([deep, recurrent], six)
    assert table["weight"].tolist() == ["alpha1", "alpha2", "alpha3", "alpha1", "beta"]
    for retriever, rows in ((deep, table.iloc[:3]), (recurrent, table.iloc[3:])):
        assert dict(zip(rows["weight"], rows["value"])) == retriever.weights
        assert rows["steps"].unique().tolist() == [len(retriever.history)]
    with pytest.raises(InputError, match=r"expected 3 .* found 2"):
        learn_weights([GNNRet(n_train=3)], six)
