"""The plots of trainings on invented numbers."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from kit.errors import InputError
from kit.views.figures import save_figure
from kit.views.series import looks
from kit.views.style import Figure, look
from kit.views.training_plots import recall_along, training_curves


def history(name: str) -> pd.DataFrame:
    """Of DPR and another: a loss at three steps, with smoothed values, and recall at two checks."""
    rows = []
    for retriever in ("dpr", name):
        own = {"retriever": retriever, "quantity": "loss"}
        rows += [{**own, "step": step, "value": 4 - step, "smoothed": 3.5 - step / 2} for step in (1, 2, 3)]
        own = {"retriever": retriever, "quantity": "dev recall@5"}
        rows += [{**own, "step": step, "value": step / 4, "smoothed": step / 4} for step in (0, 3)]
    return pd.DataFrame(rows)


def along(name: str, x: str, *values: object) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"line": line, x: value, "mean": 0.5 + place / 10, "low": 0.4 + place / 10, "high": 0.6 + place / 10}
            for line in ("dpr", name)
            for place, value in enumerate(values)
        ]
    )


PLOTS: dict[str, Callable[[str, str], tuple[Figure, pd.DataFrame]]] = {
    "curves": lambda name, title: (training_curves(history(name), title), history(name)),
    "numbers": lambda name, title: (
        recall_along(along(name, "questions", 50, 200), title, "questions", "recall@5", levels={name: 0.45}),
        along(name, "questions", 50, 200),
    ),
    "words": lambda name, title: (
        recall_along(along(name, "support", "first", "last"), title, "support", "recall@5"),
        along(name, "support", "first", "last"),
    ),
}


def words(figure: Figure) -> list[str]:
    figure.draw_without_rendering()
    return [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]


@pytest.mark.parametrize("plot", PLOTS)
def test_any_name_is_text_and_a_figure_is_the_same_twice(plot, hostile, tmp_path):
    title = "A finding of $5 and $6 <b>in</b> a sentence"
    figures = [PLOTS[plot](hostile, title) for _ in range(2)]
    assert all(title in " ".join(words(figure)).replace("\n", " ") for figure, _ in figures)
    paths = [save_figure(*both, tmp_path / str(i), "a") for i, both in enumerate(figures)]
    assert paths[0][0].read_bytes() == paths[1][0].read_bytes()


def test_a_loss_is_smoothed_and_a_check_is_marked():
    left, right = training_curves(history("mdr"), "t").axes
    [pale, smooth] = [line for line in left.lines if line.get_color() == look("dpr").colour]
    assert pale.get_xydata().tolist() == [[1, 3], [2, 2], [3, 1]]
    assert smooth.get_xydata().tolist() == [[1, 3], [2, 2.5], [3, 2]] and smooth.get_marker() == ""
    [checks] = [line for line in right.lines if line.get_color() == look("dpr").colour]
    assert checks.get_xydata().tolist() == [[0, 0], [3, 0.75]] and checks.get_marker() == look("dpr").marker
    assert left.get_title(loc="left") == "Loss, mean of ten steps" and right.get_title(loc="left") == "Dev recall@5"


def test_levels_are_in_the_frame_and_numbers_in_their_distances():
    table = along("mdr", "questions", 50, 100, 400)
    [ax] = recall_along(table, "t", "questions", "recall@5", "training questions", {"untrained": 0.1}).axes
    assert ax.get_ylim()[0] < 0.1 and ax.get_xlabel() == "training questions"
    assert ax.get_xticks().tolist() == pytest.approx([0, 1, 3])
    styles = looks(table["line"])
    assert {styles["dpr"].colour, styles["mdr"].colour} <= {line.get_color() for line in ax.lines}


def test_a_table_must_have_what_is_drawn():
    with pytest.raises(InputError, match="support not there"):
        recall_along(along("mdr", "beam", 1), "t", "support", "recall@5")
    with pytest.raises(InputError, match="smoothed not there"):
        training_curves(history("mdr").drop(columns="smoothed"), "t")
