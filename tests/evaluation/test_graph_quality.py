"""Graph quality: the six passages by hand."""

from __future__ import annotations

import numpy as np
import pytest

from kit.corpus import Benchmark
from kit.corpus.example import example
from kit.evaluation.graph_quality import (
    SEEDS,
    at_equal_size,
    build_at,
    by_setting,
    density_param,
    describe_graph,
    find_seeds,
    graph_quality,
    measure,
    sweep,
)
from kit.graphs import build


def test_quality_by_hand() -> None:
    hand = example()
    seeds = find_seeds(hand.corpus, hand.test, 2)
    assert seeds == [[0, 5], [0, 5]]  # harbour, novel
    graph = build("entity", hand.corpus, prior=0.6)
    table = graph_quality(graph, hand.test, seeds).set_index("question")
    # Neighbours: moravec of harbour, moravec-later of novel. The second question's third support is a step further.
    assert table["neighbourhood"].tolist() == [4, 4]
    assert table["sf_em"].tolist() == [1, 0]
    assert table["covered"].tolist() == pytest.approx([1, 2 / 3])
    assert table["precision"].tolist() == [0.5, 0.5]
    # harbour–moravec is an edge; of the three pairs harbour, moravec, quay two are.
    assert table["joined"].tolist() == pytest.approx([1, 2 / 3])
    assert [describe_graph(graph)[name] for name in ("nodes", "edges", "components")] == [6, 4, 2]


def test_a_single_support_has_no_pair() -> None:
    hand = example()
    one = hand.test[0].__class__("one", "Where is it?", "there", (("quay",),))
    assert np.isnan(graph_quality(build("entity", hand.corpus), [one], [[0]])["joined"][0])


def test_without_edges_the_seeds_remain() -> None:
    hand = example()
    quality, sizes = sweep(hand, hand.test, {"structure": (1,)}, n_seeds=2)
    alone = quality[quality["builder"] == SEEDS]
    assert alone["neighbourhood"].tolist() == [2, 2] and alone["precision"].tolist() == [0.5, 0.5]
    assert sizes["builder"].tolist() == ["structure"]


def test_a_sweep_and_its_graphs_at_equal_size() -> None:
    hand = example()
    quality, sizes = sweep(hand, hand.test, {"entity": (0.9, 0.6, 0.3), "knn": (1, 5)}, n_seeds=1)
    entity, knn = (by_setting(quality, name, "sf_em").mean() for name in ("entity", "knn"))
    assert by_setting(quality, "entity", "neighbourhood")[0.9].tolist() == [1, 1]  # no edges yet: the one seed
    assert (entity[0.6], knn[5]) == (0.5, 1)  # k = 5 of six passages is everything
    assert by_setting(quality, "knn", "precision")[5].tolist() == [2 / 6, 3 / 6]
    # Mean degree 2 · 4 / 6 at 0.6 and 2 · 5 / 6 at 0.3; knn has 1 and 5: both reach 1.5, between their settings.
    joined, left_out = at_equal_size(quality, sizes[sizes["mean_degree"] > 0], "joined", size=1.5)
    assert list(joined.columns) == ["entity", "knn"] and left_out == []
    assert joined["entity"].tolist() == pytest.approx([1, 2 / 3])
    place = np.log(1.5) / np.log(5)
    low, high = (by_setting(quality, "knn", "joined")[k] for k in (1, 5))
    assert joined["knn"].tolist() == pytest.approx(((1 - place) * low + place * high).tolist())
    assert at_equal_size(quality, sizes, "joined", size=1.5)[1] == ["entity"]  # it starts without edges


def test_a_further_encoder_has_a_knn_graph_of_its_own(tiny_model: str) -> None:
    hand = example()
    encoders = {"knn-mdr": tiny_model}
    assert density_param("knn-mdr", encoders) == density_param("knn") == "k"
    assert build_at("entity", 0.6, hand.corpus, encoders).n_edges == build("entity", hand.corpus, prior=0.6).n_edges
    quality, sizes = sweep(hand, hand.test, {"knn": (1,), "knn-mdr": (1,)}, n_seeds=2, encoders=encoders)
    assert sizes["builder"].tolist() == ["knn", "knn-mdr"] and set(quality["parameter"]) == {"", "k"}
    seeds = find_seeds(hand.corpus, hand.test, 2)
    own = graph_quality(build("knn", hand.corpus, k=1, encoder=tiny_model), hand.test, seeds)
    measured = quality[quality["builder"] == "knn-mdr"].reset_index(drop=True)
    assert measured[own.columns].equals(own)


def test_per_question_graphs_are_built_from_the_own_collection() -> None:
    hand = example()
    own = Benchmark("own", hand.corpus, test=hand.test, collections={"town": np.arange(2), "river": np.arange(6)})
    assert measure("knn", own, own.test, 1, k=1)["nodes"] == 4  # the mean of two and six
    quality, _ = sweep(own, own.test, {"knn": (5,)}, n_seeds=1)
    assert quality[quality["builder"] == "knn"]["neighbourhood"].tolist() == [2, 6]
