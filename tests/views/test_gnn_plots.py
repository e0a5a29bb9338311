"""The plots of GNN-Ret on invented numbers: what is drawn where, and that any text and any number of rows will do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Rectangle

from kit.errors import InputError
from kit.views.budget_plots import budget_curve, found_by_supports
from kit.views.figures import save_figure
from kit.views.gnn_plots import ablation, learned_weights, recall_by_layers, robustness, sender_grid, step_recall
from kit.views.series import looks
from kit.views.style import Figure

MISSING = {"difference": np.nan, "difference_low": np.nan, "difference_high": np.nan}


def level(mean: float) -> dict[str, float]:
    return {"mean": mean, "low": mean - 0.02, "high": mean + 0.03}


def gain(difference: float) -> dict[str, float]:
    return {"difference": difference, "difference_low": difference - 0.01, "difference_high": difference + 0.02}


def tables(name: str) -> dict[str, pd.DataFrame]:
    """A table for each plot, in which ``name`` stands for one of its names."""
    return {
        "ablation": pd.DataFrame(
            [
                {"label": name, "group": "message", **level(0.5), **MISSING},
                {"label": "mean", "group": "message", **level(0.505), **gain(0.005)},
                {"label": "min", "group": "message", **level(0.55), **gain(0.05)},
                {"label": "no graph", "group": name, **level(0.4), **MISSING},
                {"label": "SI", "group": name, **level(0.38), **gain(-0.04)},
            ]
        ),
        "senders": pd.DataFrame(
            [
                {"retriever": of, "senders": senders, "competitors": competitors, **level(0.5 + senders / 100)}
                for of in (name, "rgnn-ret")
                for senders in (1, 5, 10)
                for competitors in (10, np.nan, 25)
            ]
        ),
        "layers": pd.DataFrame(
            [{"quantity": name, "layers": layers, "layer": np.nan, **level(0.5 + layers / 100)} for layers in (1, 2, 3)]
            + [
                {"quantity": "α", "layers": layers, "layer": layer, **level(layer / 4)}
                for layers in (1, 2, 3)
                for layer in range(1, layers + 1)
            ]
        ),
        "weights": pd.DataFrame(
            [
                {"weight": weight, "n_train": n, "start": start, "value": draw / 20}
                for weight, starts in (("α", (0.1, 0.9)), ("β", (1.0,)))
                for start in starts
                for n in (5, 20, 100)
                for draw in range(21)
            ]
        ),
        "steps": pd.DataFrame(
            [
                {"variant": variant, "step": step, **level(0.9 - step / 10), "n": 600 // step}
                for variant in (name, "both")
                for step in (1, 2, 3)
            ]
        ),
        "robustness": pd.DataFrame(
            [
                {"variant": variant, "share": share, **level(0.9 - share / 2)}
                for variant in (name, "both")
                for share in (0, 0.25, 1)
            ]
        ),
        "budgets": pd.DataFrame(
            [
                {"retriever": of, "budget": budget, "metric": metric, **level(budget / 10_000), **more}
                for of, more in (("dense", MISSING), ("gnn-ret", gain(0.05)), (name, gain(-0.02)))
                for budget in (1000, 3000, 5000)
                for metric in ("full", "recall")
            ]
        ),
        "found": pd.DataFrame(
            [
                {"retriever": "dense", "supports": "1", "n": 40, "found": 40, "share": 1, "difference": np.nan},
                {"retriever": name, "supports": "1", "n": 40, "found": 40, "share": 1, "difference": 0},
                {"retriever": "dense", "supports": "2", "n": 60, "found": 15, "share": 0.25, "difference": np.nan},
                {"retriever": name, "supports": "2", "n": 60, "found": 12, "share": 0.2, "difference": -3},
                {"retriever": "dense", "supports": "all", "n": 100, "found": 55, "share": 0.55, "difference": np.nan},
                {"retriever": name, "supports": "all", "n": 100, "found": 52, "share": 0.52, "difference": 29},
            ]
        ).assign(p_holm=[np.nan, 1, np.nan, 0.4, np.nan, 0.01]),
    }


LEVELS = {"α": {"untrained": 0.5, "paper, MuSiQue": 0.326}}
PLOTS: dict[str, Callable[[pd.DataFrame, str], Figure]] = {
    "ablation": lambda table, title: ablation(table, title, "recall@10"),
    "senders": lambda table, title: sender_grid(table, title, "recall@10"),
    "layers": recall_by_layers,
    "weights": lambda table, title: learned_weights(table, title, LEVELS),
    "steps": step_recall,
    "robustness": robustness,
    "budgets": budget_curve,
    "found": found_by_supports,
}


def words(figure: Figure) -> list[str]:
    figure.draw_without_rendering()
    return [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]


def drawn(figure: Figure, panel: int, colour: str) -> list[list[float]]:
    """The points of the line of a colour that has a marker."""
    lines = [line for line in figure.axes[panel].lines if line.get_color() == colour and len(line.get_xdata()) > 1]
    return next(line for line in lines if line.get_linestyle() != "None").get_xydata().tolist()


@pytest.mark.parametrize("name", PLOTS)
def test_any_text_is_text_and_a_figure_is_the_same_twice(name, hostile, tmp_path):
    title = "A finding of $5 and $6 <b>in</b> a sentence"
    table = tables(hostile)[name]
    figures = [PLOTS[name](table, title) for _ in range(2)]
    assert all(title in " ".join(words(figure)).replace("\n", " ") for figure in figures)
    paths = [save_figure(figure, table, tmp_path / str(i), "a") for i, figure in enumerate(figures)]
    assert paths[0][0].read_bytes() == paths[1][0].read_bytes()


@pytest.mark.parametrize("name", PLOTS)
def test_every_word_lies_within_the_page(name):
    figure = PLOTS[name](tables("a variant of some length")[name], "A finding")
    figure.draw_without_rendering()
    beyond = set()  # names of ticks beyond an axis are not drawn
    for axis in [axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]:
        low, high = sorted(axis.get_view_interval())
        beyond |= {tick.label1 for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high}
    for text in set(figure.findobj(lambda artist: hasattr(artist, "get_text") and artist.get_visible())) - beyond:
        box = text.get_window_extent()
        if text.get_text():
            assert box.x0 >= -2 and box.x1 <= figure.bbox.x1 + 2 and box.y0 >= -2, text.get_text()


@pytest.mark.parametrize("name", PLOTS)
def test_one_point_is_enough(name):
    table = tables("x")[name]
    one = table.groupby("quantity").head(1) if name == "layers" else table.head(1)
    words(PLOTS[name](one, "One point"))


@pytest.mark.parametrize("name", PLOTS)
def test_what_a_table_lacks_is_told(name):
    table = tables("x")[name]
    for lacking in (table.drop(columns=table.columns[1]), table.head(0)):
        with pytest.raises(InputError, match="field table"):
            PLOTS[name](lacking, "t")


def test_an_ablation_compares_within_its_group():
    figure = PLOTS["ablation"](tables("no messages")["ablation"], "t")
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == ["", "no messages", "mean", "min", "", "no graph", "SI"]
    marks = [line for line in figure.axes[1].lines if line.get_marker() == "o"]
    assert [mark.get_ydata()[0] for mark in marks] == [2, 3, 6]
    assert [mark.get_markerfacecolor() == "white" for mark in marks] == [True, False, False]
    dashed = [segment.tolist() for part in figure.axes[0].collections for segment in part.get_segments()]
    assert dashed == [[[0.5, 0.5], [0.5, 3.5]], [[0.4, 4.5], [0.4, 6.5]]]
    assert "−0.040 [−0.050, −0.020]" in words(figure)


def test_senders_have_a_panel_a_method_and_a_line_a_number_of_competitors():
    figure = PLOTS["senders"](tables("gnn-ret")["senders"], "t")
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["gnn-ret", "rgnn-ret"]
    styles = looks(["untrained", "O = 10", "O = 25"])
    for look, shift in zip(styles.values(), (-0.09, 0, 0.09)):
        points = drawn(figure, 0, look.colour)
        np.testing.assert_allclose(points, [[shift, 0.51], [1 + shift, 0.55], [2 + shift, 0.6]])
    assert {"untrained", "O = 10", "O = 25", "Recall@10"} <= set(words(figure))


def test_layers_show_what_is_found_and_what_is_learned():
    figure = PLOTS["layers"](tables("recall@10")["layers"], "t")
    assert [y for _, y in drawn(figure, 0, next(iter(looks(["recall@10"]).values())).colour)] == [0.51, 0.52, 0.53]
    three = looks(["1 layer", "2 layers", "3 layers"])["3 layers"].colour
    assert [y for _, y in drawn(figure, 1, three)] == [0.25, 0.5, 0.75]
    assert {"Recall@10", "3 layers", "1 layer"} <= set(words(figure))


def test_weights_are_the_median_and_the_central_draws():
    figure = PLOTS["weights"](tables("")["weights"], "t")
    colour = looks(["from 0.1", "from 0.9"])["from 0.9"].colour
    assert [y for _, y in drawn(figure, 0, colour)] == pytest.approx([0.5] * 3)
    ends = [segment[:, 1].tolist() for bar in figure.axes[0].collections for segment in bar.get_segments()]
    np.testing.assert_allclose(ends, [[0.05, 0.95]] * 6)
    said = words(figure)
    assert {"from 0.1", "from 0.9", "from 1", "untrained: 0.5", "learned β"} <= set(said)
    levels = [line.get_ydata() for line in figure.axes[0].lines if line.get_linestyle() == ":"]
    assert levels == [[0.5] * 2, [0.326] * 2]


def test_steps_and_shares_are_named():
    steps, shares = (PLOTS[name](tables("neither")[name], "t") for name in ("steps", "robustness"))
    names = [[label.get_text() for label in figure.axes[0].get_xticklabels()] for figure in (steps, shares)]
    assert names == [["step 1\n(n = 600)", "step 2\n(n = 300)", "step 3\n(n = 200)"], ["0%", "25%", "100%"]]
    assert "Recall@5 of the step's own support" in words(steps)
    assert [y for _, y in drawn(shares, 0, looks(["neither"])["neither"].colour)] == pytest.approx([0.9, 0.775, 0.4])


def test_a_budget_has_its_metric_and_the_differences_without_the_baseline():
    table = tables("rgnn-ret")["budgets"]
    figure = budget_curve(table, "t", "recall")
    styles = looks(["dense", "gnn-ret", "rgnn-ret"])
    assert [y for _, y in drawn(figure, 0, styles["dense"].colour)] == [0.1, 0.3, 0.5]
    assert [y for _, y in drawn(figure, 1, styles["rgnn-ret"].colour)] == [-0.02] * 3
    assert styles["dense"].colour not in [line.get_color() for line in figure.axes[1].lines]
    said = words(figure)
    assert {"difference to dense", "share of the supports in the context", "1k", "5k"} <= set(said)
    with pytest.raises(InputError, match="field metric: expected one of full, recall, not 'passages'"):
        budget_curve(table, "t", "passages")


def test_bars_count_questions_and_name_shares_and_differences():
    figure = PLOTS["found"](tables("gnn-ret")["found"], "t")
    bars = [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle)]
    assert [bar.get_height() for bar in bars] == [40, 60, 100, 40, 15, 55, 40, 12, 52]
    assert len({bar.get_hatch() for bar in bars[3:]}) == 2
    texts = {text.get_text(): text.get_weight() for text in figure.axes[0].texts}
    assert {"25", "20", "55", "±0", "−3", "+29"} <= set(texts)
    assert (texts["+29"], texts["−3"]) == ("bold", "normal")
    names = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert names == ["1 support\n(n = 40)", "2 supports\n(n = 60)", "all questions\n(n = 100)"]
