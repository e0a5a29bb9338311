"""What makes message passing work, and how far that goes: ablations, senders, layers, weights (gnn-ret.txt)."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes

from kit.views.labels import label_lines
from kit.views.series import by_size, evenly, frame, heading, interval_lines, looks, signed, wrapped
from kit.views.style import GREY, INK, SMALL, Figure, panels, require, styled

_DOT = "#332288"
_PARTS = ("difference", "difference_low", "difference_high")


@styled
def ablation(table: pd.DataFrame, title: str, metric: str) -> Figure:
    """A metric of variants with 95 % intervals, and their paired differences to a baseline (gnn-ret.txt Tables 2, 3).

    ``table`` has a row a variant: label, group, mean, low, high, difference, difference_low, difference_high
    (fractions). A group's baseline is its row without a difference, drawn as a dashed line. A filled mark is a
    difference whose interval does not hold 0.
    """
    require(table, "label", "group", "mean", "low", "high", *_PARTS)
    figure = Figure(title)
    [[levels, gains]] = panels(figure, 1, 2, sharey=True, width_ratios=(3, 2))
    levels.set_title(heading(metric), parse_math=False)
    gains.set_title("difference to the dashed line")
    gains.axvline(0, color=INK, linewidth=1.2)
    names: list[str] = []
    for group, rows in table.groupby("group", sort=False):
        at = {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "center"}
        levels.annotate(wrapped(group, 34), (-0.01, len(names)), weight="bold", **at)
        names.append("")
        baseline = rows.loc[rows["difference"].isna(), "mean"]
        ends = len(names) - 0.5, len(names) + len(rows) - 0.5
        levels.vlines(baseline, *ends, color=GREY, linestyle="--", linewidth=1.5)
        for row in rows.itertuples():
            _dot(levels, len(names), row.mean, row.low, row.high)
            if not pd.isna(row.difference):
                _dot(gains, len(names), row.difference, row.difference_low, row.difference_high, test=True)
            names.append(wrapped(row.label, 34))
    levels.set_yticks(range(len(names)), names, parse_math=False)
    levels.set_ylim(len(names) - 0.4, -0.6)
    reach = 1.1 * max(table[list(_PARTS)].abs().fillna(0).to_numpy().max(), 1e-3)
    gains.set_xlim(-reach, reach)
    for ax in (levels, gains):
        ax.grid(axis="y", visible=False)
        ax.tick_params(axis="y", length=0)
        ax.locator_params(axis="x", nbins=4)
    return figure


def _dot(ax: Axes, height: int, mean: float, low: float, high: float, *, test: bool = False) -> None:
    """A mark with its interval; of a ``test`` of no difference hollow if that is possible, and with its numbers."""
    ax.plot([low, high], [height, height], color=_DOT, linewidth=2.5, solid_capstyle="butt")
    fill = "white" if test and low <= 0 <= high else _DOT
    ax.plot(mean, height, "o", color=_DOT, markerfacecolor=fill, markersize=10, markeredgewidth=2)
    if test:
        at = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": SMALL + 1}
        ax.annotate(f"{signed(mean)} [{signed(low)}, {signed(high)}]", (1.02, height), **at)


@styled
def sender_grid(table: pd.DataFrame, title: str, metric: str) -> Figure:
    """A metric against K, the passages that send; a line for each number O of competitors, a panel for each method.

    With 95 % intervals (gnn-ret.txt Figure 4). ``table`` has a row a point: retriever, senders, competitors (missing
    where nothing is trained, for which O plays no part), mean, low, high (fractions).
    """
    require(table, "retriever", "senders", "competitors", "mean", "low", "high")
    table = table.assign(
        line=["untrained" if pd.isna(number) else f"O = {number:g}" for number in table["competitors"]]
    )
    table = table.sort_values("competitors", kind="stable", na_position="first")
    figure = Figure(title)
    methods = list(dict.fromkeys(table["retriever"]))
    [axes] = panels(figure, 1, len(methods), sharey=True)
    places, styles = evenly(table["senders"]), looks(table["line"])
    for ax, method in zip(axes, methods):
        ends = interval_lines(ax, table[table["retriever"] == method], "line", "senders", places, styles)
        ax.set_title(wrapped(method, 36), parse_math=False)
        ax.set_xlabel("K, passages that send")
    axes[0].set_ylabel(heading(metric), parse_math=False)
    frame(axes, table)
    label_lines(axes[-1], ends)
    return figure


@styled
def recall_by_layers(table: pd.DataFrame, title: str) -> Figure:
    """Metrics for one, two, three layers, and the α that each layer has learned (gnn-ret.txt Table 7).

    ``table`` has a row a point: quantity (a metric's name, or ``α``), layers (how many there are), layer (which of them
    an α belongs to, from 1; missing for a metric), mean, low, high: for a metric a fraction with its interval over
    questions, for an α its mean and spread over draws of training questions.
    """
    require(table, "quantity", "layers", "layer", "mean", "low", "high")
    learned = require(table[table["quantity"] == "α"], "layer")
    measured = require(table[table["quantity"] != "α"], "layers")
    figure = Figure(title)
    [[left, right]] = panels(figure, 1, 2)
    left.set(title="with 95 % intervals", xlabel="layers", ylabel="share")
    styles = looks(measured["quantity"])
    ends = interval_lines(left, measured, "quantity", "layers", evenly(measured["layers"]), styles)
    frame([left], measured)
    label_lines(left, [(x, y, heading(name), colour) for x, y, name, colour in ends])
    learned = learned.assign(of=[f"{n:g} layer{'s' * (n != 1)}" for n in learned["layers"]])
    right.set(title="learned α", xlabel="layer", ylabel="α: weight of a passage's own distance", ylim=(-0.02, 1.02))
    ends = interval_lines(right, learned, "of", "layer", evenly(learned["layer"]), looks(learned["of"]))
    label_lines(right, ends)
    return figure


@styled
def learned_weights(table: pd.DataFrame, title: str, levels: Mapping[str, Mapping[str, float]]) -> Figure:
    """Learned α and β against the number of training questions: median and central 90 % of the draws; a panel a weight.

    ``table`` has a row a draw: weight (``α`` or ``β``), n_train, start (where training began), value. ``levels`` holds
    for each weight the values to compare with, by name: the untrained one, those of the paper.
    """
    require(table, "weight", "n_train", "start", "value")
    parts = table.groupby(["weight", "start", "n_train"], sort=False)["value"].quantile([0.5, 0.05, 0.95]).unstack()
    drawn = parts.set_axis(["mean", "low", "high"], axis=1).reset_index()
    drawn["line"] = [f"from {start:g}" for start in drawn["start"]]
    figure = Figure(title)
    weights = list(dict.fromkeys(table["weight"]))
    [axes] = panels(figure, 1, len(weights), sharey=True)
    for ax, weight in zip(axes, weights):
        of = drawn[drawn["weight"] == weight]
        ends = interval_lines(ax, of, "line", "n_train", by_size(table["n_train"]), looks(of["line"]))
        ax.set(title=f"learned {weight}", xlabel="training questions (log scale)", ylim=(-0.02, 1.02))
        for name, level in levels.get(weight, {}).items():
            ax.axhline(level, color=GREY, linestyle=":", linewidth=1.5)
            ends.append((ax.get_xlim()[1], level, wrapped(f"{name}: {level:g}", 20), GREY))
        label_lines(ax, ends)
    axes[0].set_ylabel("median and central 90 % of the draws")
    return figure


@styled
def step_recall(table: pd.DataFrame, title: str, metric: str = "recall@5") -> Figure:
    """A metric of each step's own support by the step's number, a line a variant, with 95 % intervals.

    ``table`` has a row a variant and step: variant, step (from 1), mean, low, high (fractions), n (questions).
    """
    require(table, "variant", "step", "mean", "low", "high", "n")
    questions = table.groupby("step")["n"].max()
    names = [f"step {step:g}\n(n = {n:,})" for step, n in questions.items()]
    return _by_variant(table, title, "step", names, f"{heading(metric)} of the step's own support")


@styled
def robustness(table: pd.DataFrame, title: str, metric: str = "recall@5") -> Figure:
    """A metric against the share of sub-questions that were replaced by wrong ones, a line a variant, with intervals.

    ``table`` has a row a variant and share: variant, share (0 to 1), mean, low, high (fractions).
    """
    require(table, "variant", "share", "mean", "low", "high")
    names = [f"{share:.0%}" for share in sorted(table["share"].unique())]
    figure = _by_variant(table, title, "share", names, f"{heading(metric)} of the step's own support")
    figure.axes[0].set_xlabel("share of wrong sub-questions")
    return figure


def _by_variant(table: pd.DataFrame, title: str, x: str, names: list[str], label: str) -> Figure:
    figure = Figure(title)
    [[ax]] = panels(figure)
    places = evenly(table[x])
    ends = interval_lines(ax, table, "variant", x, places, looks(table["variant"]))
    ax.set_xticks(list(places.values()), names)
    ax.set_ylabel(label, parse_math=False)
    frame([ax], table)
    label_lines(ax, ends)
    return figure
