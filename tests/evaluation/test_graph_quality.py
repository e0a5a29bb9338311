"""Graph quality: the six passages by hand."""

from __future__ import annotations

import numpy as np
import pytest

from kit.corpus import Benchmark, Corpus
from kit.corpus.example import example
from kit.evaluation.graph_quality import (
    SEEDS,
    build_at,
    describe_graphs,
    find_seeds,
    graph_quality,
    knob,
    measure,
    sweep,
)
from kit.evaluation.sweeps import at_equal_size, builders_of, curves, edges_by_size, last_step, trend
from kit.graphs import build


def test_quality_by_hand() -> None:
    hand = example()
    seeds = find_seeds(hand.corpus, hand.test, 2)
    assert seeds == [[0, 5], [0, 5]]  # harbour, novel
    table = graph_quality(build("entity", hand.corpus, prior=0.6), hand.test, seeds).set_index("question")
    # Neighbours: moravec of harbour, moravec-later of novel. The second question's third support is a step further.
    assert table["neighbourhood"].tolist() == [4, 4]
    assert table["sf_em"].tolist() == [1, 0]
    assert table["covered"].tolist() == pytest.approx([1, 2 / 3])
    assert table["precision"].tolist() == [0.5, 0.5]
    # harbour–moravec is an edge; of the three pairs harbour, moravec, quay two are.
    assert table["joined"].tolist() == pytest.approx([1, 2 / 3])


def test_without_edges_the_seeds_remain() -> None:
    hand = example()
    quality, sizes = sweep(hand, hand.test, {"structure": (1,)}, n_seeds=2)
    alone = quality[quality["builder"] == SEEDS]
    assert alone["neighbourhood"].tolist() == [2, 2]
    assert alone["precision"].tolist() == [0.5, 0.5]
    assert sizes["builder"].tolist() == ["structure"]
    assert builders_of(quality) == ["structure"]


def test_a_single_support_has_no_pair() -> None:
    hand = example()
    one = hand.test[0].__class__("one", "Where is it?", "there", (("quay",),))
    table = graph_quality(build("entity", hand.corpus), [one], [[0]])
    assert np.isnan(table["joined"][0])


def test_sweep_curves_and_trends() -> None:
    hand = example()
    quality, sizes = sweep(hand, hand.test, {"entity": (0.9, 0.6, 0.3), "knn": (1, 5)}, n_seeds=1)
    table = curves(quality, seed=0, draws=100).set_index(["builder", "value"])
    assert table.loc[("entity", 0.9), "mean_neighbourhood"] == 1  # no edges yet: the one seed
    assert table.loc[("entity", 0.6), "sf_em"] == 0.5
    assert table.loc[("knn", 5), "sf_em"] == 1  # k = 5 of six passages is everything
    assert table.loc[("knn", 5), "precision"] == pytest.approx((2 / 6 + 3 / 6) / 2)
    assert trend(quality, "entity", "sf_em", seed=0, draws=100).estimate > 0
    assert last_step(quality, "knn", "precision", seed=0, draws=100).difference < 0
    # Mean degree 2 · 4 / 6 at 0.6 and 2 · 5 / 6 at 0.3; knn has 1 and 5: both reach 1.5, between their settings.
    joined, left_out = at_equal_size(quality, sizes[sizes["mean_degree"] > 0], "joined", size=1.5)
    assert list(joined.columns) == ["entity", "knn"]
    assert left_out == []
    assert joined["entity"].tolist() == pytest.approx([1, 2 / 3])
    place = np.log(1.5) / np.log(5)
    low, high = (quality[(quality["builder"] == "knn") & (quality["value"] == k)]["joined"].to_numpy() for k in (1, 5))
    assert joined["knn"].tolist() == pytest.approx((1 - place) * low + place * high)
    assert at_equal_size(quality, sizes, "joined", size=1.5)[1] == ["entity"]  # it starts without edges


def test_at_equal_neighbourhoods_the_seeds_are_no_builder() -> None:
    hand = example()
    quality, _ = sweep(hand, hand.test, {"entity": (0.9, 0.3), "knn": (1, 5)}, n_seeds=1)
    table = curves(quality, seed=0, draws=100)
    knn = table[table["builder"] == "knn"]["mean_neighbourhood"].tolist()
    assert knn == [2, 6]  # the seed and its k neighbours
    size = 12**0.5  # half way from 2 to 6 in its logarithm
    found, left_out = at_equal_size(quality, table, "precision", size, by="mean_neighbourhood")
    low, high = (quality[(quality["builder"] == "knn") & (quality["value"] == k)]["precision"] for k in (1, 5))
    assert found["knn"].tolist() == pytest.approx((low.to_numpy() + high.to_numpy()) / 2)
    assert [*found.columns, *left_out] in (["entity", "knn"], ["knn", "entity"])


def test_a_further_encoder_has_a_knn_graph_of_its_own(tiny_model: str) -> None:
    hand = example()
    encoders = {"knn-mdr": tiny_model}
    assert knob("knn-mdr", encoders) == knob("knn") == "k"
    assert build_at("entity", 0.6, hand.corpus, encoders).n_edges == build("entity", hand.corpus, prior=0.6).n_edges
    quality, sizes = sweep(hand, hand.test, {"knn": (1,), "knn-mdr": (1,)}, n_seeds=2, encoders=encoders)
    assert builders_of(quality) == sizes["builder"].tolist() == ["knn", "knn-mdr"]
    assert set(quality["parameter"]) == {"", "k"}
    seeds = find_seeds(hand.corpus, hand.test, 2)
    own = graph_quality(build("knn", hand.corpus, k=1, encoder=tiny_model), hand.test, seeds)
    measured = quality[quality["builder"] == "knn-mdr"].reset_index(drop=True)
    assert measured[own.columns].equals(own)


def test_per_question_graphs_are_built_from_the_own_collection() -> None:
    hand = example()
    own = Benchmark("own", hand.corpus, test=hand.test, collections={"town": np.arange(2), "river": np.arange(6)})
    result = measure("knn", own, own.test, 1, k=1)
    assert result["nodes"] == 4  # the mean of two and six
    quality, _ = sweep(own, own.test, {"knn": (5,)}, n_seeds=1)
    assert quality[quality["builder"] == "knn"]["neighbourhood"].tolist() == [2, 6]


def test_sizes() -> None:
    hand = example()
    row = describe_graphs({"entity": build("entity", hand.corpus, prior=0.6)}).iloc[0]
    assert (row["nodes"], row["edges"], row["components"], row["isolated"]) == (6, 4, 2, 0)
    parts = edges_by_size("structure", hand.corpus, (0.5, 1), 3, seed=0)
    assert len(parts) == 4
    assert parts["passages"].iloc[-1] == 6
    assert parts["edges_per_passage"].iloc[-1] == pytest.approx(1 / 6)


def test_an_empty_corpus_has_no_neighbours() -> None:
    assert build("entity", Corpus([])).neighbours([]).tolist() == []
