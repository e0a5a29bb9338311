"""The same methods with two encoders, of which the second is a small one made here."""

import numpy as np
import pytest

from kit.corpus import example
from kit.evaluation import encoders as measure
from kit.evaluation.statistics import Estimate
from kit.text.encoder import DEFAULT_ENCODER
from kit.views import encoders as figures


@pytest.fixture(scope="module")
def experiments(tiny_model):
    names = ("dense", "gnn-ret", "fuse(bm25, dense)")
    encoders = [DEFAULT_ENCODER, "no such encoder", tiny_model]
    choices = {"ks": (2, 5), "n_resamples": 50, "progress": False}
    with pytest.warns(UserWarning, match="left out: .*no such encoder"):
        return measure.with_encoders(names, encoders, example(), **choices)


def test_each_method_reads_with_the_encoder_that_is_at_hand(experiments, tiny_model) -> None:
    assert list(experiments) == [DEFAULT_ENCODER, tiny_model]
    scores = []
    for experiment in experiments.values():
        first = next(iter(experiment.rankings["dense"].values()))
        scores.append(first.scores)
    assert not np.allclose(*scores)


def test_settings_may_be_chosen_for_an_encoder(monkeypatch, tiny_model) -> None:
    monkeypatch.setitem(measure.CHOSEN, tiny_model, {"alpha": 1.0})
    names = ("dense", "gnn-ret")
    made = measure.with_encoders(names, [tiny_model], example(), ks=(2,), progress=False)
    rankings = made[tiny_model].rankings
    for question, ranking in rankings["dense"].items():
        assert rankings["gnn-ret"][question].ids[:2] == ranking.ids[:2]  # no message counts


def test_means_and_gains_are_those_of_each_experiment(experiments, tiny_model) -> None:
    means = measure.means_by_encoder(experiments, ["recall@2", "recall@5"])
    first, second = experiments.values()
    assert list(means) == [
        f"{metric}, {encoder}" for metric in ("recall@2", "recall@5") for encoder in experiments
    ]
    values = second.table.groupby("retriever")["recall@2"].mean()
    assert means.loc["gnn-ret", f"recall@2, {tiny_model}"] == values["gnn-ret"]

    gains = measure.gains_by_encoder(experiments, "dense", "recall@2", by="hops")
    of_first = gains[gains["encoder"] == DEFAULT_ENCODER].drop(columns="encoder")
    assert of_first.equals(first.compare("dense", "recall@2", "hops"))


def test_the_change_of_gain_is_the_difference_of_both_gains(experiments) -> None:
    gains = []
    for experiment in experiments.values():
        means = experiment.table.groupby("retriever")["recall@2"].mean()
        gains.append(means["gnn-ret"] - means["dense"])
    change = measure.change_of_gain(experiments, ["gnn-ret"], "dense", "recall@2")
    assert change.value == pytest.approx(gains[1] - gains[0])


def test_a_sentence_says_no_more_than_the_interval() -> None:
    shrinks = Estimate(-0.04, -0.06, -0.02, 80)
    sentence = figures.sentence(shrinks, "e5-small", "recall@5")
    assert sentence == "With e5-small what a graph adds to Recall@5 shrinks by 4.0 points"
    for unsure in (Estimate(-0.04, -0.09, 0.01, 80), Estimate(-0.04, -0.06, -0.02, 20)):
        assert figures.sentence(unsure, "e5-small", "recall@5").endswith("or differs by chance")


def test_a_panel_per_encoder(experiments) -> None:
    table = measure.gains_by_encoder(experiments, "dense", "recall@2")
    figure = figures.gains(table, "Gains")
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles[0] == "With all-MiniLM-L6-v2" and len(titles) == 2
    assert figure.table is table or figure.table.equals(table)
