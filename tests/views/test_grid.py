"""The grid of any retriever's settings: with real retrievers over the hand example, and with a stub's table."""

from __future__ import annotations

import base64
import re
from functools import partial
from threading import Event
from time import sleep
from unittest import mock

import ipywidgets as widgets
import pandas as pd
import pytest

from kit.corpus.example import example
from kit.errors import InputError
from kit.retrievers import RETRIEVERS
from kit.runs.sweep import sweep_retriever
from kit.views import explore_settings
from kit.views.figures import save_figure
from kit.views.grid import SettingsExplorer

HOSTILE = "<img src=x onerror=alert(1)> & 'q' $x^2$"
RECALLS = {1: [0.0, 1.0], 2: [0.5, 1.0], 5: [1.0, 1.0], 10: [1.0, 0.5]}


def stub(name: str, cells: list[dict]) -> pd.DataFrame:
    """What a sweep of two questions returns; better with more senders, up to five."""
    rows = []
    for cell in cells:
        for number, recall in enumerate(RECALLS.get(cell.get("top_k"), [0.5, 0.5])):
            row = cell | {"retriever": name, "question": f"q{number}", "recall@5": recall, "full@5": recall == 1}
            rows.append(row | {"full@10": 1.0, "seconds": 0.002, "seconds_to_fit": 1.5})
    return pd.DataFrame(rows)


@pytest.fixture
def explorer() -> SettingsExplorer:
    return explore_settings(stub, ["gnn-ret", "bm25", "qsgnn", "mdr"], {"top_k": [1, 2, 5]})


def shown(explorer: SettingsExplorer) -> str:
    """All that the widget hands to the browser as HTML, without its style."""
    todo, found = [explorer], []
    while todo:
        one = todo.pop(0)
        todo += getattr(one, "children", ())
        found += [one.value] if isinstance(one, widgets.HTML) else []
    return re.sub("<style>.*?</style>", "", "\n".join(found), flags=re.S)


def click(explorer: SettingsExplorer) -> None:
    """Click, and wait for what comes of it."""
    explorer._button.click()
    if explorer._work is not None:
        explorer._work.join(60)
    assert explorer._button.description == "evaluate"
    assert not any(control.disabled for control in explorer.controls.values())


def problem(explorer: SettingsExplorer) -> str:
    return explorer._problem.value.split("</style>")[-1]


def values(explorer: SettingsExplorer) -> dict[str, str]:
    return {name: control.value for name, control in explorer.controls.items()}


def test_a_first_grid_is_evaluated_at_once_and_compared_with_the_default(explorer):
    assert values(explorer) == {
        "retriever": "gnn-ret",
        "setting": "top_k",
        "values": "1, 2, 5",
        "second": "–",
        "second_values": "",
    }
    assert list(explorer.table["mean"]) == [0.5, 0.75, 1.0]
    assert explorer.table["difference"].fillna(9).to_list() == [-0.5, -0.25, 9]
    text = shown(explorer)
    numbers = "".join(f'<td class="kit-number">{n}</td>' for n in ("2", "0.750", "0.500", "1.000", "2", "1.5"))
    assert f'<tr>{numbers}<td class="kit-text">−0.250 [−0.500, +0.000]</td></tr>' in text
    assert "gnn-ret: means over 2 questions. Differences to top_k = 5 (the default), paired" in text
    assert "3 cells of gnn-ret; top_k is 5 by default." in text and "A cell took up to 1.5 s so far." in text
    assert 'alt="gnn-ret: Recall@5 by top_k"' in text
    assert base64.b64decode(text.split("base64,")[1].split('"')[0]).startswith(b"\x89PNG")


def test_a_grid_without_the_default_is_compared_with_its_first_cell(explorer):
    explorer.controls["values"].value = "10, 2"
    click(explorer)
    assert list(explorer.table["difference"].isna()) == [True, False]
    assert "Differences to top_k = 10 (the first, as the default is not among them)" in shown(explorer)


def test_two_settings_give_every_combination(explorer):
    explorer.controls["second"].value = "message"
    assert explorer.controls["second_values"].value == "min"
    explorer.controls["second_values"].value = "min, mean"
    assert explorer.cells[:3] == [
        {"top_k": 1, "message": "min"},
        {"top_k": 1, "message": "mean"},
        {"top_k": 2, "message": "min"},
    ]
    assert "6 cells of gnn-ret" in shown(explorer)
    assert len(explorer.table) == 3  # until it is asked for
    click(explorer)
    assert list(explorer.table.columns[:2]) == ["top_k", "message"] and len(explorer.table) == 6


def test_another_retriever_brings_its_settings_and_values_around_the_default(explorer):
    explorer.controls["retriever"].value = "qsgnn"
    assert [*explorer.controls["setting"].options] == ["–", *RETRIEVERS["qsgnn"].defaults()]
    default = RETRIEVERS["qsgnn"].defaults()["dimension"]
    assert values(explorer)["setting"] == "dimension" and explorer.grid == {"dimension": [default // 2, default]}
    assert "A cell takes minutes where it has to learn" in shown(explorer)
    assert "without takes a part away: entity, chunk" in shown(explorer)
    for setting, prefilled in (("without", '""'), ("sharpness", "5.0, 10.0"), ("seed", "0"), ("layers", "1, 2")):
        explorer.controls["setting"].value = setting
        assert explorer.controls["values"].value == prefilled
        assert RETRIEVERS["qsgnn"].defaults()[setting] in explorer.grid[setting]
    explorer.controls["retriever"].value = "bm25"
    assert explorer.cells == [{}] and "1 cell of bm25." in shown(explorer)
    click(explorer)
    assert list(explorer.table["label"]) == ["as it comes"] and not problem(explorer)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"values": "1,, 2"}, "field top_k: expected values with commas between, not &#x27;1,, 2&#x27;"),
        ({"values": ""}, "field top_k: expected values with commas between"),
        ({"values": ",".join(map(str, range(21)))}, "expected at most 20 cells, not 21"),
        ({"second": "top_k"}, "field top_k: expected two different settings"),
    ],
)
def test_what_is_no_grid_is_told_and_the_last_picture_stays(explorer, given, told):
    before = explorer._picture.value
    for name, value in given.items():
        explorer.controls[name].value = value
    assert told in shown(explorer) and not problem(explorer)
    click(explorer)
    assert told in problem(explorer) and 'role="alert"' in problem(explorer)
    assert explorer._picture.value == before and len(explorer.table) == 3
    explorer.choose({"top_k": [1, 5]})
    click(explorer)
    assert not problem(explorer) and len(explorer.table) == 2


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (InputError("no dask scheduler", field="a\nb"), "<p>field a b: no dask scheduler</p>"),
        (ZeroDivisionError("a line\nand " + 500 * "more"), "<p>ZeroDivisionError: a line and more"),
        (KeyboardInterrupt(), "<p>stopped: cells that were finished need not be evaluated again</p>"),
        (InputError(HOSTILE), "<p>&lt;img src=x onerror=alert(1)&gt; &amp; &#x27;q&#x27; $x^2$</p>"),
    ],
)
def test_what_goes_wrong_is_one_line_and_the_widget_goes_on(explorer, error, told):
    with mock.patch.object(explorer, "_evaluate", side_effect=error):
        click(explorer)
    assert told in problem(explorer) and problem(explorer).count("<p>") == 1 and len(problem(explorer)) < 500
    assert len(explorer.table) == 3
    click(explorer)
    assert not problem(explorer)


def test_the_button_stops_what_it_began(explorer, monkeypatch):
    begun = Event()

    def evaluate(name: str, cells: list[dict]) -> pd.DataFrame:
        begun.set()
        for _ in range(6000):
            sleep(0.01)
        raise AssertionError("not stopped")

    with mock.patch.object(explorer, "_evaluate", side_effect=evaluate) as called:
        explorer._button.click()
        assert begun.wait(60)
        assert all(control.disabled for control in explorer.controls.values())
        assert "evaluating 3 cells of gnn-ret …" in shown(explorer) and explorer._button.description == "stop"
        explorer._button.click()  # the second of a double click
        assert "stopping" not in shown(explorer)
        monkeypatch.setattr("kit.views.grid._DOUBLE_CLICK", 0)
        click(explorer)
    assert called.call_count == 1
    assert "<p>stopped: cells" in problem(explorer) and "3 cells of gnn-ret;" in shown(explorer)
    assert len(explorer.table) == 3


def test_what_is_typed_and_what_comes_from_data_is_escaped(explorer):
    explorer.controls["setting"].value = "graph"
    explorer.controls["values"].value = HOSTILE
    with mock.patch.object(explorer, "_evaluate", side_effect=lambda _, cells: stub(HOSTILE, cells)):
        click(explorer)
    assert explorer.table["graph"].to_list() == [HOSTILE] and explorer.table["group"].to_list() == [HOSTILE]
    assert "&lt;img src=x" in shown(explorer) and "<img src=x" not in shown(explorer)
    assert explorer.figure(HOSTILE)._repr_png_()[0]


def test_the_picture_is_had_as_a_figure_with_its_table(explorer, tmp_path):
    figure = explorer.figure("Senders")
    assert figure.title == "Senders"
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()][1:] == [f"top_k = {n}" for n in (1, 2, 5)]
    assert {file.suffix for file in save_figure(figure, explorer.table, tmp_path, "grid")} == {".svg", ".png", ".csv"}


def test_long_names_of_settings_stand_once(explorer):
    explorer.choose({"pretraining_epochs": [0, 1], "temperature": [0.07, 0.1]}, "qsgnn")
    explorer.evaluate()
    axes = explorer.figure("Training").axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["", "0, 0.07", "0, 0.1", "1, 0.07", "1, 0.1"]
    assert "pretraining_epochs" in {text.get_text().split(",")[0] for text in axes.texts}


def test_nothing_is_evaluated_before_it_is_asked_for():
    explorer = explore_settings(mock.Mock(side_effect=AssertionError))
    assert explorer.retriever == "gnn-ret" and explorer.grid == {"top_k": [2, 5]}
    known = set(explorer.controls["retriever"].options)
    assert {"qsgnn", "kgp-t5", "mdr", "pagerank", "dense"} < known and not known & {"kgp-chat", "bm25", "golden"}
    for act in (lambda: explorer.table, lambda: explorer.figure("None")):
        with pytest.raises(InputError, match="expected a grid that was evaluated"):
            act()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"retrievers": []}, "expected at least one retriever"),
        ({"retrievers": ["bm52"]}, "no retriever 'bm52'; known are bm25"),
        ({"values": {"depth": [1]}}, "the retriever gnn-ret has no setting 'depth'"),
        ({"values": {"alpha": [1], "layers": [1], "seed": [0]}}, "expected at most two settings, not 3"),
        ({"values": {"alpha": []}}, "field alpha: expected values with commas between"),
        ({"values": {"alpha": [1]}, "metric": "recall@7"}, "expected the column 'recall@7'"),
    ],
)
def test_what_a_notebook_gives_wrongly_is_told(given, told):
    with pytest.raises(InputError, match=told):
        explore_settings(stub, **given)
    with pytest.raises(InputError, match="expected one of gnn-ret, not 'bm25'"):
        explore_settings(stub, ["gnn-ret"]).choose({}, "bm25")


def test_every_retrievers_settings_can_be_chosen():
    explorer = explore_settings(stub)
    for name in explorer.controls["retriever"].options:
        explorer.controls["retriever"].value = name
        for setting, default in RETRIEVERS[name].defaults().items():
            explorer.controls["setting"].value = setting
            assert default in explorer.grid[setting], (name, setting)
        assert "``" not in explorer._meaning.value and ":class:" not in explorer._meaning.value


def test_a_real_grid_over_the_hand_example(tmp_path, monkeypatch):
    monkeypatch.setenv("KIT_CACHE", str(tmp_path))
    evaluate = partial(sweep_retriever, benchmark=example())
    explorer = explore_settings(evaluate, ["gnn-ret", "bm25"], {"top_k": [1, 5], "alpha": [0.2, 0.5]})
    tidy = sweep_retriever("gnn-ret", explorer.cells, example())
    means = tidy.groupby(["top_k", "alpha"], sort=False)[["recall@2", "recall@5", "mrr"]].mean().reset_index()
    pd.testing.assert_frame_equal(explorer.table[[*means]], means)
    assert list(explorer.table["difference"].isna()) == [False, False, False, True]
    explorer.controls["values"].value = "0"
    click(explorer)
    assert "field top_k: expected a whole number from 1, not 0" in problem(explorer)
    explorer.controls["retriever"].value = "bm25"
    click(explorer)
    assert not problem(explorer) and explorer.table["group"].to_list() == ["bm25"]
