"""What the plots of walks draw of a table, and what they refuse."""

from __future__ import annotations

import pandas as pd
import pytest

from kit.errors import InputError
from kit.views import agents, branching_curve, density_curves, quality_to_retrieval, time_by_size

GUIDED = pd.DataFrame(
    [(name, metric, mean, mean - 0.05, mean + 0.05)
     for name, means in {"random": (0.1, 0.3), "kgp-tfidf": (0.2, 0.6), "$kgp$": (0.3, 0.5)}.items()
     for metric, mean in zip(("recall@5", "full@30"), means)],
    columns=["retriever", "metric", "mean", "low", "high"],
)  # fmt: skip
POINTS = pd.DataFrame(
    {
        "builder": ["knn", "knn", "tfidf", "tfidf"], "value": [2, 16, 8, 64], "mean_degree": [2.5, 20, 30, 150],
        "sf_em": [0.3, 0.5, 0.4, 0.7], "full@30": [0.4, 0.5, 0.45, 0.6], "full@30_low": 0.3, "full@30_high": 0.7,
        "seconds": [0.001, 0.002, 0.001, 0.01], "seconds_low": 0.0005, "seconds_high": 0.02,
    }
)  # fmt: skip
COSTS = pd.DataFrame(
    {
        "retriever": ["dpr", "dpr", "kgp-mdr", "kgp-mdr", "kgp-mdr"], "passages": [300, 1000, 300, 1000, 1000],
        "seeding": [0, 0, 0.001, 0.001, 0.003], "matching": [0, 0, 0.002, 0.002, 0.002], "encoding": 0.004,
        "rest": 0.001, "seconds": [0.005, 0.005, 0.008, 0.008, 0.010],
    }
)  # fmt: skip


def texts(figure) -> list[str]:
    return [text.get_text() for ax in figure.axes for text in ax.texts]


def test_agents_stand_in_the_order_of_the_last_metric() -> None:
    figure = agents(GUIDED, "T")
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["random", "$kgp$", "kgp-tfidf"]
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["Recall@5", "Full@30"]
    assert sorted(texts(figure)) == ["0.100", "0.200", "0.300", "0.300", "0.500", "0.600"]


def test_branching_has_its_seeds_on_top() -> None:
    table = pd.DataFrame({"retriever": "kgp-tfidf", "branching": [1, 3, 30], "seeds": [30, 10, 1]})
    figure = branching_curve(table.assign(mean=0.5, low=0.4, high=0.6), "T", "full@30")
    [top] = figure.axes[0].child_axes
    assert [label.get_text() for label in top.get_xticklabels()] == ["30", "10", "1"]
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["1", "3", "30"]


def test_density_has_quality_beside_time_in_milliseconds() -> None:
    quality, times = density_curves(POINTS, "T", "full@30").axes
    assert sorted(line.get_ydata().tolist() for line in quality.lines) == [[0.4, 0.5], [0.45, 0.6]]
    assert sorted(line.get_ydata().tolist() for line in times.lines) == [[1, 2], [1, 10]]
    assert quality.get_xlim() == times.get_xlim() and times.get_yscale() == "log"


def test_graph_quality_leads_to_retrieval() -> None:
    figure = quality_to_retrieval(POINTS, "T", "full@30")
    assert sorted(line.get_xdata().tolist() for line in figure.axes[0].lines) == [[0.3, 0.5], [0.4, 0.7]]
    assert {"2", "16", "8", "64", "knn", "tfidf"} <= set(texts(figure))


def test_time_is_a_line_a_method_and_a_stack_at_its_largest_size() -> None:
    lines, bars = time_by_size(COSTS, "T").axes
    assert [line.get_ydata().tolist() for line in lines.lines] == [pytest.approx([5, 5]), pytest.approx([8, 9])]
    # seeding, matching, encoding and the rest of kgp-mdr at 1,000 passages, in milliseconds
    assert [bar.get_width() for bar in bars.patches[4:]] == pytest.approx([2, 2, 4, 1])
    assert [label.get_text() for label in bars.get_yticklabels()] == ["dpr\n1,000 passages", "kgp-mdr\n1,000 passages"]


@pytest.mark.parametrize(
    "draw",
    [
        lambda: agents(GUIDED.drop(columns="low"), "T"),
        lambda: branching_curve(GUIDED, "T", "full@30"),
        lambda: density_curves(POINTS.drop(columns="seconds"), "T", "full@30"),
        lambda: quality_to_retrieval(POINTS, "T", "recall@30"),
        lambda: time_by_size(COSTS.iloc[:0], "T"),
    ],
)
def test_a_table_that_lacks_something_is_refused(draw) -> None:
    with pytest.raises(InputError, match="expected"):
        draw()
