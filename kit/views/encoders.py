"""Figures of the same methods with several encoders."""

from pandas import DataFrame

from kit.evaluation.statistics import Estimate
from kit.views import plots
from kit.views.names import metric_name, name_of
from kit.views.sentences import FEWEST, points
from kit.views.style import Figure


def gains(table: DataFrame, title: str, by: str = "hops") -> Figure:
    """The differences to a baseline along the hops, a panel per encoder.

    ``table`` is that of :func:`kit.evaluation.encoders.gains_by_encoder`.
    """
    baseline = table["baseline"].iloc[0]
    metric = metric_name(table["metric"].iloc[0])
    figure = plots.lines(
        table.assign(encoder="with " + table["encoder"]),  # a panel's name has a capital
        title,
        by,
        facet="encoder",
        y="difference",
        levels={baseline: 0},
        xlabel="hops of the question",
        ylabel=f"difference in {metric} to {name_of(baseline)}",
    )
    return figure.of(table)


def sentence(change: Estimate, encoder: str, metric: str) -> str:
    """How the gain of graphs changes with an encoder, or that it does not."""
    words = metric_name(metric)
    if change.n < FEWEST or change.low <= 0 <= change.high:
        return f"With {encoder} what a graph adds to {words} is the same, or differs by chance"
    way = "grows" if change.value > 0 else "shrinks"
    return f"With {encoder} what a graph adds to {words} {way} by {points(change.value)}"
