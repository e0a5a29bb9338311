"""What is told of trainings, and the weights that they leave behind, by hand and on the six passages."""

import pytest

from kit.corpus import Benchmark, example
from kit.errors import InputError
from kit.evaluation import along_setting, evaluate, histories, learn_weights, over_pool
from kit.retrievers import DPR, GNNRet, RGNNRet, make


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
    expected = [["recall", "K = 1", 1, 2], ["recall", "K = 2", 2, 2]]
    assert table[["line", "retriever", "senders", "n"]].values.tolist() == expected
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


def test_a_row_for_each_weight_of_each_retriever_in_their_order() -> None:
    hand = example()
    six = Benchmark("hand", hand.corpus, train=hand.test)
    deep, recurrent = GNNRet(top_k=2, layers=3, n_train=2), RGNNRet(top_k=2, n_candidates=3, n_train=1, seed=1)
    table = learn_weights([deep, recurrent], six)
    assert list(table) == ["n_train", "start", "layers", "competitors", "seed", "loss", "steps", "weight", "value"]
    assert table["weight"].tolist() == ["alpha1", "alpha2", "alpha3", "alpha1", "beta"]
    assert table["n_train"].tolist() == [2, 2, 2, 1, 1] and table["seed"].tolist() == [0, 0, 0, 1, 1]
    for retriever, rows in ((deep, table.iloc[:3]), (recurrent, table.iloc[3:])):
        assert dict(zip(rows["weight"], rows["value"])) == retriever.weights
        assert rows["steps"].unique().tolist() == [len(retriever.history)]
        assert rows["loss"].unique().tolist() == [min(step["loss"] for step in retriever.history)]
    with pytest.raises(InputError, match=r"expected 3 .* found 2"):
        learn_weights([GNNRet(n_train=3)], six)
