import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import to_hex, to_rgba
from matplotlib.transforms import Bbox

from kit.views import plots
from kit.views.names import name_of
from kit.views.panels import LEAST_GAP, apart, plain_log
from kit.views.style import Figure, look


def measured(**more: object) -> pd.DataFrame:
    """Two retrievers at three cut-offs, with intervals that no bootstrap would find."""
    table = pd.DataFrame(
        {
            "retriever": ["bm25"] * 3 + ["dense"] * 3,
            "k": [1, 5, 10] * 2,
            "mean": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
        }
    )
    return table.assign(low=table["mean"] - 0.05, high=table["mean"] + 0.1).assign(**more)


LEVELS = pd.DataFrame(
    {"retriever": ["seeds", "seeds"], "mean": [0.15, 0.8], "metric": ["recall", "full"]}
)
BOTH = pd.concat([measured(metric="recall"), measured(metric="full")], ignore_index=True)
DIFFERENCES = pd.DataFrame(
    [("dense", 0.03, 0.01, 0.05, 0.0004), ("tfidf", -0.01, -0.03, 0.01, 0.3)],
    columns=["retriever", "difference", "low", "high", "p_holm"],
)
VARIANTS = pd.DataFrame(
    [
        ("edges (Table 3)", "dense", 0.6, 0.5, 0.7, None, None, None),
        ("edges (Table 3)", "shared entities", 0.65, 0.55, 0.75, 0.05, 0.02, 0.08),
        ("message", "min", 0.7, 0.6, 0.8, None, None, None),
        ("message", "mean", 0.69, 0.6, 0.8, -0.01, -0.03, 0.01),
    ],
    columns=[
        "group",
        "label",
        "mean",
        "low",
        "high",
        "difference",
        "difference_low",
        "difference_high",
    ],
)
TIMES = pd.DataFrame(
    [
        (name, passages, seconds, 0.25 * seconds, 0.0, 0.75 * seconds, 0.0)
        for name, speed in (("dense", 1e-5), ("kgp-mdr", 1e-3))
        for passages in (100, 1000)
        for seconds in (speed * passages, 3 * speed * passages)
    ],
    columns=["retriever", "passages", "seconds", "seeding", "matching", "encoding", "rest"],
)
WITH_LEVELS = pd.concat([BOTH, LEVELS], ignore_index=True)
ALL = {
    "lines": lambda title: plots.lines(
        WITH_LEVELS, title, "k", facet="metric", share=False, ylabel="share"
    ),
    "words": lambda title: plots.lines(
        measured(k=["a", "b", "c"] * 2), title, "k", joined=False, levels={"x": 0.2}
    ),
    "curves": lambda title: plots.curves(
        WITH_LEVELS, title, "k", by="retriever", facet="metric", notes="k", log=["x", "full"]
    ),
    "rows of curves": lambda title: plots.curves(
        pd.concat([BOTH.assign(hops="1 hop"), BOTH.assign(hops="2 hops"), LEVELS]),
        title, "k", by="retriever", facet="hops", row="metric", xlabel="passages",
    ),
    "single points": lambda title: plots.curves(
        measured().groupby("retriever").head(1), title, "k",
        by="retriever", log=["x"], ylabel="Recall@5",
    ),
    "points": lambda title: plots.points(BOTH[BOTH["k"] == 5], title, facet="metric"),
    "differences": lambda title: plots.differences(DIFFERENCES, title, "bm25", "recall@5"),
    "ablation": lambda title: plots.ablation(VARIANTS, title, "recall@10"),
    "heatmap": lambda title: plots.heatmap(
        measured(), title, "k", "retriever", "recall@5", xlabel="K"
    ),
    "times": lambda title: plots.times(TIMES, title),
}  # fmt: skip


def words(figure: Figure) -> list[str]:
    figure.draw_without_rendering()
    return [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]


def labels(axis: Axis) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


def drawn(ax: Axes, least: int = 2) -> dict[str, np.ndarray]:
    """The points of the lines of axes, of more than ``least``, by colour."""
    lines = [line for line in ax.lines if len(line.get_xydata()) > least]
    return {to_hex(line.get_color()): line.get_xydata() for line in lines}


def segments(ax: Axes) -> list[list[list[float]]]:
    """The two ends of each straight line that is an interval or a baseline."""
    drawn = [bars for bars in ax.collections if hasattr(bars, "get_segments")]
    return [segment.tolist() for bars in drawn for segment in bars.get_segments()]


@pytest.mark.parametrize("name", ALL)
def test_every_plot_says_its_finding_within_the_page_and_is_the_same_twice(name):
    title = "A finding of $5 and $6 <b>in</b> a sentence"
    figure, again = (ALL[name](title) for _ in range(2))
    assert figure.drawn("png") == again.drawn("png")
    assert title in [text.replace("\n", " ") for text in words(figure)]
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert box.x0 > -0.02 and box.x1 < width + 0.02 and box.y0 > -0.02 and box.y1 < height + 0.02


def test_lines_stand_side_by_side_with_the_intervals_of_the_table():
    figure = plots.lines(measured(n=[9, 8, 7] * 2).iloc[::-1], "t", "k", ylabel="Recall@k")
    [ax] = figure.axes
    bm25, dense = (drawn(ax)[look(name).colour] for name in ("bm25", "dense"))
    np.testing.assert_allclose(bm25[:, 1], [0.1, 0.2, 0.3])
    np.testing.assert_allclose(bm25[:, 0] - dense[:, 0], 0.09)
    assert [0.05, 0.2] in [pytest.approx([low, high]) for (_, low), (_, high) in segments(ax)]
    assert labels(ax.xaxis) == ["1\nn = 9", "5\nn = 8", "10\nn = 7"]
    assert ax.get_ylabel() == "Recall@k" and "k" in words(figure)


@pytest.mark.parametrize(
    ("most", "labels"),
    [
        (660, ["300", "400", "500", "600"]),
        (5000, ["500", "1,000", "2,000", "5,000"]),
        (25_000, ["1,000", "10,000"]),
    ],
)
def test_a_logarithmic_axis_has_few_plain_numbers(most: int, labels: list[str]) -> None:
    axes = Figure("Time").subplots()
    axes.set_xlim(300, most)
    plain_log(axes, "x", pd.Series([300, most]))
    shown = [
        label.get_text()
        for label in axes.get_xticklabels()
        if 300 <= label.get_position()[0] <= most
    ]
    assert shown == labels


def test_one_legend_beside_all_panels_has_each_name_with_its_line_and_marker():
    figure = ALL["lines"]("t")
    [legend] = figure.legends
    named = {text.get_text(): line for text, line in zip(legend.get_texts(), legend.get_lines())}
    for name in ("bm25", "dense"):
        assert (named[name_of(name)].get_color(), named[name_of(name)].get_marker()) == (
            look(name).colour,
            look(name).marker,
        )
    figure.draw_without_rendering()
    assert list(named) == ["BM25", "dense retrieval"]  # a level is named at its end
    assert legend.get_window_extent().x0 >= max(ax.get_window_extent().x1 for ax in figure.axes)


def test_the_lines_of_one_panel_are_named_at_their_ends_and_names_give_way():
    close = measured().assign(mean=0.3)
    [ax] = plots.lines(close, "t", "k", levels={"chance": 0.3}).axes
    named = {text.get_text(): text.xy[1] for text in ax.texts}
    assert set(named) == {"BM25", "dense retrieval", "chance"}
    bottom, top = ax.get_ylim()
    gaps = np.diff(sorted(named.values())) / (top - bottom)
    assert (gaps >= LEAST_GAP - 1e-9).all()


def test_heights_move_only_as_far_as_they_must():
    np.testing.assert_allclose(apart(np.array([0.0, 0.5, 1.0]), 0.1), [0, 0.5, 1])
    np.testing.assert_allclose(apart(np.array([0.5, 0.5, 1.0]), 0.2), [0.4, 0.6, 1])


def test_words_without_an_order_are_not_joined():
    [ax] = ALL["words"]("t").axes
    assert not drawn(ax) and labels(ax.xaxis) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("low", "high", "limits"),
    [(0.5, 0.52, (0.46, 0.56)), (0, 1, (-0.02, 1.02)), (-0.1, 0.3, (-0.132, 0.332))],
)
def test_noise_does_not_fill_a_frame(low, high, limits):
    table = measured(mean=(low + high) / 2, low=low, high=high)
    assert plots.lines(table, "t", "k").axes[0].get_ylim() == pytest.approx(limits)


def test_levels_are_dotted_in_their_panel_and_in_its_frame():
    left, right = ALL["lines"]("t").axes
    for ax, level in ((left, 0.15), (right, 0.8)):
        dotted = [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == ":"]
        assert dotted == [level] and ax.get_ylim()[0] < level < ax.get_ylim()[1]
    assert [ax.get_title(loc="left") for ax in (left, right)] == ["Recall", "Full"]


def test_curves_have_bands_from_the_table_and_notes_and_axes_as_asked():
    left, right = ALL["curves"]("t").axes
    assert drawn(left)[look("bm25").colour].tolist() == [[1, 0.1], [5, 0.2], [10, 0.3]]
    band = left.patches[0].get_path().vertices[:, 1]
    assert band.min() == pytest.approx(0.05) and band.max() == pytest.approx(0.4)
    assert left.get_xscale() == right.get_yscale() == "log" != left.get_yscale()
    assert [text.get_text() for text in left.texts] == ["seeds", "1", "10", "1", "10"]


def test_a_long_curve_has_no_marks_and_what_is_behind_it_is_pale():
    steps = pd.DataFrame(
        {"retriever": "dpr", "step": range(50), "value": range(50), "smoothed": 1.0}
    )
    [ax] = plots.curves(steps, "t", "step", "smoothed", "retriever", behind="value").axes
    pale, smooth = ax.lines
    assert to_rgba(pale.get_color(), pale.get_alpha())[
        3
    ] < 0.5 and pale.get_ydata().tolist() == list(range(50))
    assert smooth.get_marker() in ("", "None") and set(smooth.get_ydata()) == {1.0}
    [ax] = plots.curves(steps.head(5), "t", "step", "smoothed", "retriever").axes
    assert ax.lines[0].get_marker() == look("dpr").marker


def test_points_stand_in_rows_with_their_values():
    left, right = ALL["points"]("t").axes
    assert labels(left.yaxis) == ["BM25", "dense retrieval"]
    assert left.get_ylim()[0] > left.get_ylim()[1]  # the first on top
    [dots] = [points for points in left.collections if points.get_zorder() == 3]
    assert dots.get_offsets().tolist() == [[0.2, 0], [0.5, 1]]
    assert [text.get_text() for text in right.texts] == ["0.200", "0.500"]


def test_differences_are_told_with_interval_and_p():
    figure = ALL["differences"]("t")
    [dots] = [points for points in figure.axes[0].collections if points.get_zorder() == 3]
    assert [to_hex(colour) for colour in dots.get_facecolors()] == [
        look(name).colour for name in ("dense", "tfidf")
    ]
    written = words(figure)
    assert (
        "+0.030 [+0.010, +0.050]  p < 0.001" in written
        and "−0.010 [−0.030, +0.010]  p = 0.300" in written
    )
    assert any("difference in Recall@5 to BM25" in text for text in written)


def test_an_ablation_has_a_line_for_each_baseline():
    figure = ALL["ablation"]("t")
    left, _ = figure.axes
    assert labels(left.yaxis) == [
        "edges (Table 3)",
        "dense retrieval",
        "shared entities",
        "message",
        "min",
        "mean",
    ]
    dashed = [[start, end] for start, end in segments(left) if start[0] == end[0]]
    assert dashed == [[[0.6, 0.5], [0.6, 2.5]], [[0.7, 3.5], [0.7, 5.5]]]
    assert "+0.050 [+0.020, +0.080]" in words(figure)


def test_a_heat_map_has_the_numbers_in_its_squares_and_no_more_contrast_than_there_is():
    [ax, bar] = plots.heatmap(measured(mean=0.5), "t", "k", "retriever", "recall@5").axes
    assert {text.get_text() for text in ax.texts} >= {
        "0.500\n0.050 to 0.200",
        "0.500\n0.550 to 0.700",
    }
    assert bar.get_ylim() == pytest.approx((0.45, 0.55)) and bar.get_ylabel() == "Recall@5"
    assert labels(ax.xaxis) == ["1", "5", "10"]


def test_times_are_means_in_milliseconds_and_beside_them_what_the_encoder_takes():
    left, right = ALL["times"]("t").axes
    assert drawn(left, 1)[look("dense").colour].tolist() == [
        pytest.approx([100, 2]),
        pytest.approx([1000, 20]),
    ]
    assert drawn(right, 1)[look("dense").colour].tolist() == [
        pytest.approx([100, 1.5]),
        pytest.approx([1000, 15]),
    ]
    assert [ax.get_title(loc="left") for ax in (left, right)] == [
        "Milliseconds a question",
        "Of these for encoding",
    ]


def many(n: int) -> pd.DataFrame:
    """So many retrievers with long names, at four numbers of hops in two panels."""
    rows = [
        (f"retriever {rank:02d} over a graph", hops, metric, 0.3 + 0.01 * rank)
        for rank in range(n)
        for hops in (1, 2, 3, 4)
        for metric in ("recall", "full")
    ]
    table = pd.DataFrame(rows, columns=["retriever", "hops", "metric", "mean"])
    return table.assign(low=table["mean"] - 0.05, high=table["mean"] + 0.04)


def test_eight_lines_stand_nearer_to_their_tick_than_to_the_next():
    for n in (2, 8):
        for ax in plots.lines(many(n), "t", "hops", facet="metric").axes:
            points = np.vstack(list(line.get_xydata() for line in ax.lines))
            assert len(points) == 4 * n
            assert np.abs(points[:, 0] - points[:, 0].round()).max() < 0.5
            assert points[:, 0].min() > ax.get_xlim()[0] and points[:, 0].max() < ax.get_xlim()[1]


@pytest.mark.parametrize("draw", [plots.lines, plots.curves])
@pytest.mark.parametrize("n", [9, 23])
def test_more_names_have_a_row_of_panels_each(draw, n):
    table = many(n)
    level = pd.DataFrame({"retriever": ["chance"], "mean": [0.35]})
    figure = draw(pd.concat([table, level]), "t", "hops", by="retriever", facet="metric")
    assert not figure.legends and len(figure.axes) == 2 * n
    assert [ax.get_ylabel() for ax in figure.axes[::2]] == list(table["retriever"].unique())
    for rank, ax in enumerate(figure.axes):
        [points] = drawn(ax).values()
        assert len(points) == 4 and len(set(np.diff(points[:, 0]))) == 1
        np.testing.assert_allclose(points[:, 1], 0.3 + 0.01 * (rank // 2))
        assert [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == ":"] == [0.35]
        assert ax.get_ylim() == figure.axes[0].get_ylim()


def boxes(figure: Figure) -> dict[str, list]:
    """Where names, the numbers beside panels, the panels and the legends stand on the page."""
    figure.draw_without_rendering()
    numbers = []
    for ax in figure.axes:
        for label in ax.get_yticklabels():
            box = label.get_window_extent()
            if ax.bbox.y0 < (box.y0 + box.y1) / 2 < ax.bbox.y1:  # else it is not drawn
                numbers.append(label)
    side = [*numbers, *(ax.yaxis.label for ax in figure.axes)]
    names = [label for label in side if label.get_text().startswith("retriever ")]
    parts = {
        "names": names,
        "numbers": [label for label in numbers if label not in names],
        "panels": figure.axes,
        "legends": figure.legends,
    }
    extents = {}
    for kind, artists in parts.items():
        extents[kind] = [artist.get_window_extent() for artist in artists]
    return extents


MANY = {
    "lines": lambda table: plots.lines(table, "t", "hops", facet="metric"),
    "curves": lambda table: plots.curves(table, "t", "hops", by="retriever", facet="metric"),
    "single points": lambda table: plots.curves(
        table.groupby("retriever").head(1), "t", "hops", by="retriever"
    ),
    "points": lambda table: plots.points(table[table["hops"] == 1], "t", facet="metric"),
    "differences": lambda table: plots.differences(
        table.groupby("retriever").head(1).assign(difference=0.01, p_holm=0.5), "t", "a", "b"
    ),
    "ablation": lambda table: plots.ablation(
        table.groupby("retriever").head(1).assign(
            group="g", label=lambda rows: rows["retriever"],
            difference=0.1, difference_low=0, difference_high=0.2,
        ),
        "t", "recall",
    ),
    "heatmap": lambda table: plots.heatmap(
        table[table["metric"] == "full"], "t", "hops", "retriever", "recall"
    ),
}  # fmt: skip


@pytest.mark.parametrize("n", [2, 8, 23])
@pytest.mark.parametrize("name", MANY)
def test_no_name_covers_another_and_nothing_is_cut_however_many_methods_there_are(name, n):
    figure = MANY[name](many(n))
    drawn_boxes = boxes(figure)
    page = figure.bbox.padded(2)
    everything = [box for part in drawn_boxes.values() for box in part]
    assert Bbox.union([page, *everything]).bounds == page.bounds
    names = drawn_boxes["names"]
    in_legend = name == "single points" or (name in ("lines", "curves") and n <= 8)
    assert len(names) == (0 if in_legend else n)
    beside = names + drawn_boxes["numbers"]
    assert all(box.count_overlaps(beside) == 1 for box in names)  # with itself
    for legend in drawn_boxes["legends"]:
        assert legend.count_overlaps(drawn_boxes["panels"]) == 0


def test_panels_of_many_curves_have_the_scale_of_their_column():
    table = many(23)
    table.loc[table["metric"] == "full", ["mean", "low", "high"]] *= 0.5
    axes = np.array(plots.curves(table, "t", "hops", by="retriever", facet="metric").axes)
    recall, full = axes.reshape(23, 2).T
    for column, share in ((recall, 1), (full, 0.5)):
        limits = {ax.get_ylim() for ax in column}
        assert len(limits) == 1
        [(bottom, top)] = limits
        assert bottom < share * 0.25 and top > share * (0.52 + 0.04)


def test_panels_of_a_row_are_framed_around_the_points_of_all():
    halves = pd.concat([measured(hops="1"), measured(hops="2")], ignore_index=True)
    halves.loc[halves["hops"] == "1", ["mean", "low", "high"]] += 0.3
    figure = plots.curves(halves.assign(m="m"), "t", "k", by="retriever", facet="hops", row="m")
    for ax in figure.axes:
        assert ax.get_ylim()[0] < 0.05 and ax.get_ylim()[1] >= 1


EMPTY = {
    "lines": lambda table: plots.lines(table, "t", "k"),
    "curves": lambda table: plots.curves(table, "t", "k", by="retriever"),
    "points": lambda table: plots.points(table, "t"),
    "differences": lambda table: plots.differences(table, "t", "bm25", "recall@5"),
    "ablation": lambda table: plots.ablation(table, "t", "recall@5"),
    "heatmap": lambda table: plots.heatmap(table, "t", "k", "retriever", "recall@5"),
    "times": lambda table: plots.times(table, "t"),
}
FULL = pd.DataFrame(
    [("bm25", 5, "g", "a", 1.0, 1.0, 1.0, 1.0, 100)],
    columns=["retriever", "k", "group", "label", "mean", "difference", "seconds", "encoding",
             "passages"],
).assign(low=0.0, high=2.0, difference_low=0.0, difference_high=2.0, p_holm=0.5)  # fmt: skip
UNKNOWN = FULL.assign(mean=np.nan, difference=np.nan, seconds=np.nan, encoding=np.nan)


@pytest.mark.parametrize("name", EMPTY)
def test_a_table_without_numbers_gives_a_figure_that_says_so(name):
    for table in (pd.DataFrame(), FULL.head(0), UNKNOWN):
        figure = EMPTY[name](table)
        assert not figure.axes and "There are no numbers to show." in words(figure)
        assert "t" in words(figure)
    assert EMPTY[name](FULL).axes


def test_a_panel_without_numbers_is_left_out():
    table = BOTH.assign(mean=BOTH["mean"].where(BOTH["metric"] == "full"))
    for figure in (
        plots.lines(table, "t", "k", facet="metric", share=False),
        plots.curves(table, "t", "k", by="retriever", facet="metric"),
    ):
        assert [ax.get_title(loc="left") for ax in figure.axes] == ["Full"]


@pytest.mark.parametrize(("least", "scale"), [(5, "log"), (0, "symlog")])
def test_a_zero_has_a_place_on_a_logarithmic_axis(least, scale):
    figure = plots.points(measured().assign(mean=[least, *[200] * 5]), "t", log=True)
    assert figure.axes[0].get_xscale() == scale and "10" in words(figure)


def test_several_metrics_become_rows():
    wide = pd.DataFrame(
        [[1, 0.5, 0.4, 0.6, 5, 4, 6]], columns=["k", "a", "a_low", "a_high", "b", "b_low", "b_high"]
    )
    rows = plots.long(wide, {"a": "A", "b": "B"})[["k", "metric", "mean", "low", "high"]]
    assert rows.values.tolist() == [[1, "A", 0.5, 0.4, 0.6], [1, "B", 5, 4, 6]]
