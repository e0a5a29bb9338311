"""Figures of networks that learn say no more than the numbers behind them."""

import pandas as pd
import pytest

from kit.corpus import Benchmark, example
from kit.evaluation import Experiment, before_training, evaluate
from kit.methods import make
from kit.views import networks
from kit.worlds.atlas import generate

HAND = example()


@pytest.fixture(scope="module")
def atlas() -> Benchmark:
    benchmark = generate(seed=0, size="small")
    return benchmark.asking(benchmark.test[:40])


@pytest.fixture(scope="module")
def experiment(atlas: Benchmark) -> Experiment:
    """BM25 stands for what dense retrieval learns."""
    return evaluate({"dense": make("bm25"), "dense, untrained": make("dense")}, atlas, ks=(5,))


def test_what_is_trained_stands_beside_its_start(experiment: Experiment) -> None:
    figure = networks.before_and_after([experiment], {"dense": "dense, untrained"})
    assert figure.table["label"].tolist() == ["before training", "trained"]
    assert figure.table["group"].unique().tolist() == ["dense retrieval"]
    means = experiment.summary().query("metric == 'recall@5'")["mean"]
    assert figure.table["mean"].tolist()[::-1] == pytest.approx(means.tolist())


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            [("QSGNN", 0.01, 0.05, 300), ("DPR", -0.01, 0.05, 300)],
            "Training makes 1 of 2 networks better than their start",
        ),
        (
            [("QSGNN", 0.01, 0.05, 300), ("DPR", -0.05, -0.01, 300)],
            "Training makes 1 of 2 networks better than their start, and DPR worse",
        ),
        (
            [("QSGNN", 0.01, 0.05, 29)],
            "29 questions are too few to tell whether a network learned",
        ),
    ],
)
def test_a_network_learned_where_its_interval_is_above_its_start(
    rows: list[tuple], sentence: str
) -> None:
    table = pd.DataFrame(rows, columns=["group", "difference_low", "difference_high", "n"])
    assert networks._count_of_learners(table) == sentence


def test_means_of_several_experiments_come_in_the_order_that_is_wanted(
    experiment: Experiment, atlas: Benchmark
) -> None:
    more = evaluate(["gnn-ret"], atlas, ks=(5,))
    figure = networks.means_of_all([experiment, more], ["gnn-ret", "dense"])
    assert figure.table["retriever"].tolist() == ["gnn-ret", "dense"]


def test_the_variants_of_each_experiment_stand_beside_its_first(experiment: Experiment) -> None:
    turned = experiment.only(["dense, untrained", "dense"])
    table = networks.ablations({"one": experiment, "other": turned}).table
    [first] = table[table["group"] == "one"]["difference"].dropna()
    [second] = table[table["group"] == "other"]["difference"].dropna()
    assert first == pytest.approx(-second)


def test_attention_of_a_passage_sums_to_one_with_and_without_the_question() -> None:
    [network] = before_training("qsgnn", documents=0).values()
    network.index(HAND.corpus)
    river = HAND.test[1]
    figure = networks.attention(network, HAND, river)
    sums = figure.table.groupby(["panel", "level"])["attention"].sum()
    assert sums.tolist() == pytest.approx([1] * 6)
    assert river.text in figure.title
    hidden = networks.attention(network, HAND, river, text=False)
    assert river.text not in hidden.title
    assert hidden.table["sender"].str.fullmatch(r"\d+").all()


def test_the_widget_draws_the_question_that_is_chosen() -> None:
    [network] = before_training("qsgnn", documents=0).values()
    network.index(HAND.corpus)
    chosen, listener, image = networks.explore_attention(network, HAND, HAND.test).children
    assert (chosen.layout.width, chosen.style.description_width) == ("100%", "initial")
    assert chosen.options[1] == (f"3 hops · {HAND.test[1].text}", HAND.test[1])
    first = bytes(image.value)
    listener.value = 2
    assert bytes(image.value).startswith(b"\x89PNG")
    assert bytes(image.value) != first
    chosen.value = HAND.test[1]
    assert bytes(image.value) != first


def test_what_training_adds_is_drawn_by_hops() -> None:
    rows = [(16, 300, 2, 0.1, 0.05, 0.15, 40), (16, 300, 4, 0.2, 0.1, 0.3, 40)]
    columns = ["dimension", "questions", "hops", "difference", "low", "high", "n"]
    figure = networks.what_is_added(pd.DataFrame(rows, columns=columns))
    assert figure.title.startswith("300 questions add 20.0 points of Recall@5")
    assert "4 hops" in figure.title


def test_noise_is_compared_with_the_same_network_without_it(atlas: Benchmark) -> None:
    quiet, noisy = "all, 0% more edges", "all, 200% more edges"
    blind, noisy_blind = "blind, 0% more edges", "blind, 200% more edges"
    methods = {quiet: make("bm25"), noisy: make("bm25"), blind: make("dense")}
    experiment = evaluate(methods | {noisy_blind: make("dense")}, atlas, ks=(5,))
    figure = networks.along_noise(experiment)
    assert figure.table["network"].tolist() == ["all", "all", "blind", "blind"]
    assert figure.table["edges"].tolist() == ["0%", "200%"] * 2
    assert figure.title == ("Random edges change no network's Recall@5 by more than chance")
