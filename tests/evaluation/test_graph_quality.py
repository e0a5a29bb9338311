"""Graph quality: the six passages by hand."""

import numpy as np
import pandas as pd
import pytest
from msgspec.structs import replace

from kit.corpus import Benchmark, example
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
    one = replace(hand.test[0], supporting=(("quay",),))
    assert np.isnan(graph_quality(graph, [one], [[0]])["joined"][0])  # a single support has no pair


def swept(builders: dict[str, tuple[float, ...]], n_seeds: int, encoders: dict[str, str]) -> tuple[pd.DataFrame, ...]:
    """Quality and size of builders' graphs at each of their values."""
    hand, quality, sizes = example(), [], []
    for name, value in [(name, value) for name, values in builders.items() for value in values]:
        graph, about = build_at(name, value, hand.corpus, encoders), {"builder": name, "value": value}
        quality.append(graph_quality(graph, hand.test, find_seeds(hand.corpus, hand.test, n_seeds)).assign(**about))
        sizes.append(about | describe_graph(graph))
    return pd.concat(quality, ignore_index=True), pd.DataFrame(sizes)


def test_graphs_at_equal_size() -> None:
    alone, _ = swept({SEEDS: (0,)}, 2, {})
    assert alone["neighbourhood"].tolist() == [2, 2] and alone["precision"].tolist() == [0.5, 0.5]
    quality, sizes = swept({"entity": (0.9, 0.6, 0.3), "knn": (1, 5)}, 1, {})
    entity, knn = (by_setting(quality, name, "sf_em").mean() for name in ("entity", "knn"))
    assert by_setting(quality, "entity", "neighbourhood")[0.9].tolist() == [1, 1]  # no edges yet: the one seed
    assert (entity[0.6], knn[5]) == (0.5, 1)  # k = 5 of six passages is everything
    assert by_setting(quality, "knn", "precision")[5].tolist() == [2 / 6, 3 / 6]
    # Mean degree 2 · 4 / 6 at 0.6 and 2 · 5 / 6 at 0.3; knn has 1 and 5: both reach 1.5, between their settings.
    joined, left_out = at_equal_size(quality, sizes[sizes["mean_degree"] > 0], "joined", size=1.5)
    assert list(joined.columns) == ["entity", "knn"] and left_out == []
    place = np.log(1.5) / np.log(5)
    low, high = (by_setting(quality, "knn", "joined")[k] for k in (1, 5))
    assert joined["knn"].tolist() == pytest.approx(((1 - place) * low + place * high).tolist())
    assert at_equal_size(quality, sizes, "joined", size=1.5)[1] == ["entity"]  # it starts without edges


def test_a_further_encoder_has_a_knn_graph_of_its_own(tiny_model: str) -> None:
    hand, encoders = example(), {"knn-mdr": tiny_model}
    assert density_param("knn-mdr", encoders) == density_param("knn") == "k"
    of_its_own = build_at("knn-mdr", 1, hand.corpus, encoders)
    assert of_its_own.n_edges == build("knn", hand.corpus, k=1, encoder=tiny_model).n_edges


def test_per_question_graphs_are_built_from_the_own_collection() -> None:
    hand = example()
    own = Benchmark("own", hand.corpus, test=hand.test, collections={"town": np.arange(2), "river": np.arange(6)})
    assert measure("knn", own, own.test, 1, k=1)["nodes"] == 4  # the mean of two and six
