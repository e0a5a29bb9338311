"""Figures of passage graphs have the numbers of the graphs, and titles that hold."""

import pandas as pd
import pytest

from kit import graphs
from kit.corpus import Benchmark, example
from kit.evaluation.graph_quality import SEEDS, density_sweep
from kit.graphs import PassageGraph
from kit.views import graphs as figures
from kit.views.graph_explorers import explore_graphs, explore_neighbourhoods, turning
from kit.worlds.atlas.generate import generate

DRAWS = {"seed": 0, "n_resamples": 200}
DENSITIES = {"entity": [0.8, 0.1], "knn": [1, 4]}


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    atlas = generate(size="small")
    return atlas.asking(atlas.test[:40])


@pytest.fixture(scope="module")
def quality(benchmark: Benchmark) -> pd.DataFrame:
    return density_sweep(benchmark, {"entity": [0.8, 0.4, 0.1], "structure": [1, 2]})


def built(benchmark: Benchmark) -> dict[str, PassageGraph]:
    return {name: graphs.build(name, benchmark.corpus) for name in ("tfidf", "entity")}


def test_densities_and_degrees_are_those_of_the_graphs() -> None:
    hand = example()
    graphs_by_name = built(hand)
    densities = figures.densities(graphs_by_name)
    assert densities.table["edges"].tolist() == [graph.n_edges for graph in graphs_by_name.values()]
    degrees = figures.degrees(graphs_by_name).table
    counts = degrees.groupby("graph")["count"].sum()
    assert counts.tolist() == [6, 6]
    assert degrees.groupby("graph")["share"].max().tolist() == [1, 1]


def test_graphs_without_edges_are_said_to_have_none() -> None:
    empty = {"entity": PassageGraph(example().corpus, {})}
    assert figures.densities(empty).title == "No graph has an edge"
    assert figures.degrees(empty).table["degree"].tolist() == [0]
    assert "No question" in figures.joined_supports(empty, []).title


def test_supports_are_joined_more_often_than_any_two_passages(benchmark: Benchmark) -> None:
    figure = figures.joined_supports(built(benchmark), benchmark.test, **DRAWS)
    table = figure.table.pivot(index="graph", columns="pairs", values="mean")
    assert (table["two supports of a question"] > table["any two passages"]).all()


def test_quality_along_density(quality: pd.DataFrame) -> None:
    figure = figures.quality_curves(quality, **DRAWS)
    assert figure.table["builder"].unique().tolist() == [SEEDS, "entity", "structure"]
    entity = figure.table[figure.table["builder"] == "entity"]
    assert entity["sf_em"].is_monotonic_increasing
    assert "graph gains" in figure.title and "precision goes from" in figure.title


def test_the_title_compares_graphs_of_one_size() -> None:
    rows = []
    for question in range(40):
        for builder, covered in (("entity", (0.0, 1.0)), ("knn", (0.0, float(question % 4 == 0)))):
            for value, (size, sf_em) in enumerate(zip((50, 100), covered[::-1])):
                row = {"question": question, "builder": builder, "value": value}
                rows.append(row | {"neighbourhood": size, "sf_em": sf_em, "precision": 1 / size})
        alone = {"question": question, "builder": SEEDS, "value": 0, "neighbourhood": 5}
        rows.append(alone | {"sf_em": 0.0, "precision": 0.0})
    title = figures.quality_curves(pd.DataFrame(rows), **DRAWS).title
    assert title == (
        "The entity graph covers 100% of the questions with 50 passages, the KNN graph 25%"
    )


def test_fewer_than_thirty_questions_announce_nothing(quality: pd.DataFrame) -> None:
    few = quality[quality["question"].isin(quality["question"].unique()[:20])]
    assert figures.quality_curves(few, **DRAWS).title.startswith("No graph surely covers")


def test_quality_by_hops_is_compared_with_the_seeds(quality: pd.DataFrame) -> None:
    figure = figures.quality_by_hops(quality, 20, **DRAWS)
    assert SEEDS in figure.table["builder"].unique()
    assert figure.table["hops"].is_monotonic_increasing


def test_explorers_step_from_sparse_to_dense() -> None:
    hand = example()
    around = explore_graphs(built(hand), hand.test).replay()
    assert len(around.frames) == 1 and around.question
    explorer = explore_neighbourhoods(hand, DENSITIES, n_seeds=2)
    shown = explorer.replay(builder="entity")
    assert [frame.step for frame in shown.frames] == ["prior = 0.8", "prior = 0.1"]
    roles = {state.role for state in shown.frames[-1].states}
    assert {"seed", "reached"} <= roles


def test_a_question_turns_where_only_a_dense_graph_covers_it() -> None:
    hand = example()
    table = pd.DataFrame({"question": ["town", "river"] * 2, "builder": "entity", "sf_em": 0.0})
    assert turning(table, hand.test).id == "town"  # none turns: the first
    table.loc[3, "sf_em"] = 1
    assert turning(table, hand.test).id == "river"
