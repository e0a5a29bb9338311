"""A grid of any retriever's settings, chosen and typed, evaluated, and compared with the settings as they come."""

from __future__ import annotations

import base64
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import product
from math import prod
from time import monotonic

import ipywidgets as widgets
import pandas as pd

from kit.errors import InputError
from kit.evaluation.grids import compare_cells
from kit.retrievers import RETRIEVERS, Retriever, make
from kit.values import Value, read_values, typed
from kit.views.background import Work
from kit.views.evidence import SHEET, lines_html, sheet_html
from kit.views.explorer import EXPLORER
from kit.views.gnn_plots import ablation
from kit.views.keys import KeptKeys
from kit.views.series import heading, signed
from kit.views.story import clip
from kit.views.style import Figure

Cell = dict[str, Value]
Evaluate = Callable[[str, list[Cell]], pd.DataFrame]

_NONE = "–"  # no setting
_MOST = 20  # cells that a figure has room for
_DOUBLE_CLICK = 0.8  # seconds in which a second click is no wish to stop
_LETTERS = 34  # of a cell's name there
_SHOWN = ("recall@5", "full@5", "full@10")
_MARKUP = re.compile(r":\w+:`~?(?:[\w.]*\.)?(\w+)`|``")  # of docstrings: a reference, or the quotes of code


class SettingsExplorer(widgets.VBox):
    """Choices and values of up to two settings, and what the grid's cells came to. See :func:`explore_settings`."""

    def __init__(self, evaluate: Evaluate, retrievers: Sequence[str], metric: str) -> None:
        self._evaluate, self._metric = evaluate, metric
        self._seconds: dict[str, float] = {}  # that the slowest cell of a retriever took
        self._busy, self._begun, self._work = False, 0.0, None
        self._found: tuple[list[Cell], pd.DataFrame] | None = None
        short, style = {"width": "250px"}, {"description_width": "78px"}
        self.controls = {
            "retriever": widgets.Dropdown(description="retriever", options=retrievers, layout=short, style=style),
            "setting": widgets.Dropdown(description="setting", options=[_NONE], layout=short, style=style),
            "values": _typed("values"),
            "second": widgets.Dropdown(description="2nd setting", options=[_NONE], layout=short, style=style),
            "second_values": _typed("its values"),
        }
        self._button = widgets.Button(
            description="evaluate", button_style="primary", layout={"width": "100px", "margin": "2px 2px 2px 84px"}
        )
        self._told, self._problem = widgets.HTML(), widgets.HTML()
        self._progress = widgets.Output(layout={"max_height": "140px", "overflow": "auto"})
        self._meaning, self._picture = widgets.HTML(), widgets.HTML()
        self._means = widgets.HTML(layout={"overflow": "auto"}, tabbable=True)
        of = self.controls
        rows = [(of["retriever"],), (of["setting"], of["values"]), (of["second"], of["second_values"]), (self._button,)]
        above = [widgets.HBox(row, layout={"flex_flow": "row wrap"}) for row in rows]
        below = [self._meaning, self._told, self._progress, self._problem, self._means, self._picture]
        super().__init__([*above, *below, KeptKeys()])
        self.add_class(EXPLORER)
        for name, changed in (
            ("retriever", self._retriever_changed),
            ("setting", lambda: self._prefill("setting", "values")),
            ("second", lambda: self._prefill("second", "second_values")),
            ("values", self._describe),
            ("second_values", self._describe),
        ):
            of[name].observe(lambda _, changed=changed: changed(), "value")
        self._button.on_click(lambda _: self._clicked())
        self._retriever_changed()

    def __repr__(self) -> str:
        return "A grid of settings (a widget: open the notebook in Jupyter to use it)"

    @property
    def retriever(self) -> str:
        return self.controls["retriever"].value

    @property
    def grid(self) -> dict[str, list[Value]]:
        """The chosen settings with the values typed. Raises :class:`InputError` for what is no grid."""
        found: dict[str, list[Value]] = {}
        for setting, values in (("setting", "values"), ("second", "second_values")):
            name, text = self.controls[setting].value, self.controls[values].value
            if name == _NONE:
                continue
            if name in found:
                raise InputError("expected two different settings", field=name)
            try:
                found[name] = read_values(text)
            except InputError as error:
                raise InputError(str(error), field=name) from None
        if (n := prod(map(len, found.values()))) > _MOST:
            raise InputError(f"expected at most {_MOST} cells, not {n}: larger grids are for kit sweep")
        return found

    @property
    def cells(self) -> list[Cell]:
        """Every combination of the values, the second setting's changing fastest."""
        grid = self.grid
        return [dict(zip(grid, cell)) for cell in product(*grid.values())]

    @property
    def table(self) -> pd.DataFrame:
        """A row a cell of the last grid evaluated: see :func:`kit.evaluation.grids.compare_cells`."""
        return self._last[1]

    def figure(self, title: str) -> Figure:
        """The last grid evaluated as a figure, for print."""
        return _drawn(self.table, self._last[0], title, self._metric)

    def choose(self, values: Mapping[str, Sequence[Value]], retriever: str = "") -> None:
        """Put a grid into the controls: values by setting, of another retriever where one is named."""
        name = retriever or self.retriever
        known = RETRIEVERS[name].defaults() if name in RETRIEVERS else {}
        if name not in self.controls["retriever"].options:
            raise InputError(f"expected one of {', '.join(self.controls['retriever'].options)}, not {name!r}")
        if strange := [setting for setting in values if setting not in known]:
            raise InputError(f"the retriever {name} has no setting {strange[0]!r}", field="values")
        if len(values) > 2:
            raise InputError(f"expected at most two settings, not {len(values)}", field="values")
        self.controls["retriever"].value = name
        chosen = [*values.items(), (_NONE, ()), (_NONE, ())]
        for (setting, typed_in), (which, text) in zip(chosen, (("setting", "values"), ("second", "second_values"))):
            self.controls[which].value = setting
            self.controls[text].value = ", ".join(map(typed, typed_in))

    def evaluate(self) -> None:
        """Evaluate the grid that the controls say, and show what came of it."""
        name, cells, settings = self.retriever, self.cells, RETRIEVERS[self.retriever].defaults()
        as_it_comes = [place for place, cell in enumerate(cells) if settings | cell == settings]
        table = compare_cells(self._evaluate(name, cells), cells, next(iter(as_it_comes), 0), self._metric)
        title = f"{name}: {heading(self._metric)}" + f" by {' and '.join(self.grid)}" * bool(self.grid)
        picture = _image(_drawn(table, cells, title, self._metric))
        means = _means(table, cells, self._metric, bool(as_it_comes))
        self._found = cells, table
        if {"seconds", "seconds_to_fit"} <= set(table):
            took = (table["seconds"] * table["n"] + table["seconds_to_fit"]).max()
            self._seconds[name] = max(took, self._seconds.get(name, 0.0))
        self._problem.value, self._means.value, self._picture.value = "", means, picture
        self._describe()

    @property
    def _last(self) -> tuple[list[Cell], pd.DataFrame]:
        if self._found is None:
            raise InputError("expected a grid that was evaluated; evaluate() does it, or the button")
        return self._found

    def _clicked(self) -> None:
        """Begin, or stop what was begun: the same button, so that the keyboard stays where it is."""
        if self._busy:
            if monotonic() - self._begun > _DOUBLE_CLICK:
                self._told.value = lines_html(["stopping …"])
                self._work.stop()
            return
        self._problem.value = ""
        try:
            n = len(self.cells)
        except InputError as error:
            self._problem.value = lines_html([str(error)], "kit-problem")
            return
        self._begun = monotonic()
        self._set_busy(True)
        self._told.value = lines_html([f"evaluating {n} cell{'s' * (n != 1)} of {self.retriever} …"])
        self._work = Work(self.evaluate, self._done, self._progress)
        self._work.start()

    def _done(self, raised: BaseException | None) -> None:
        if isinstance(raised, KeyboardInterrupt):
            problem = "stopped: cells that were finished need not be evaluated again"
        elif isinstance(raised, InputError):
            problem = str(raised)
        else:
            problem = clip(f"{type(raised).__name__}: {raised}", 300)
        if raised is not None:
            self._problem.value = lines_html([problem], "kit-problem")
        self._set_busy(False)
        self._describe()

    def _set_busy(self, busy: bool) -> None:
        for control in self.controls.values():
            control.disabled = busy
        self._button.description = "stop" if busy else "evaluate"
        self._button.button_style = "warning" if busy else "primary"
        self._busy = busy

    def _retriever_changed(self) -> None:
        settings = RETRIEVERS[self.retriever].defaults()
        self.controls["setting"].options = [_NONE, *settings]
        self.controls["setting"].value = next(iter([*_numbers(self.retriever), *settings]), _NONE)
        self.controls["second"].options = [_NONE, *settings]
        self._meaning.value = _meaning_html(self.retriever)
        self._prefill("setting", "values")
        self._prefill("second", "second_values")

    def _prefill(self, setting: str, values: str) -> None:
        name = self.controls[setting].value
        default = RETRIEVERS[self.retriever].defaults().get(name, "")
        self.controls[values].value = "" if name == _NONE else ", ".join(map(typed, _around(default)))
        self.controls[values].layout.visibility = "hidden" if name == _NONE else "visible"
        self._describe()

    def _describe(self) -> None:
        if self._busy:
            return
        try:
            grid, n = self.grid, len(self.cells)
        except InputError as error:
            self._told.value = lines_html([str(error)])
            return
        retriever, settings = RETRIEVERS[self.retriever], RETRIEVERS[self.retriever].defaults()
        chosen = [name for name in grid if name in settings]  # not another's, while the choices are being replaced
        comes = ", ".join(f"{name} is {typed(settings[name])} by default" for name in chosen)
        if seconds := self._seconds.get(self.retriever):
            costs = f"A cell took up to {_duration(seconds)} so far."
        elif retriever.fit is not Retriever.fit:
            costs = "A cell takes minutes where it has to learn, else seconds."
        else:
            costs = "A cell takes seconds."
        lines = [f"{n} cell{'s' * (n != 1)} of {self.retriever}{f'; {comes}' * bool(comes)}."]
        lines.append(f"{costs} Cells that were evaluated before are shown at once.")
        lines += ["It sees gold fields of the questions."] * retriever.sees_gold
        self._told.value = lines_html(lines)


def explore_settings(
    evaluate: Evaluate,
    retrievers: Sequence[str] | None = None,
    values: Mapping[str, Sequence[Value]] | None = None,
    *,
    metric: str = "recall@5",
) -> SettingsExplorer:
    """A grid of any retriever's settings: choose up to two, type their values as ``1, 2, 5``, and evaluate.

    ``evaluate(name, cells)`` returns a row a cell and question: ``partial(sweep_retriever, benchmark=benchmark)`` of
    :mod:`kit.runs.sweep`, which keeps the cells. ``retrievers`` are names to choose from, at first the first; by
    default all that have settings and need no server. ``values``, by setting, is a first grid of the first retriever:
    it is evaluated at once. ``metric`` is what is drawn, and what the cells are compared in.
    """
    names = _serverless() if retrievers is None else list(retrievers)
    if strange := [name for name in names if name not in RETRIEVERS]:
        raise InputError(f"no retriever {strange[0]!r}; known are {', '.join(RETRIEVERS)}", field="retrievers")
    if not names:
        raise InputError("expected at least one retriever", field="retrievers")
    explorer = SettingsExplorer(evaluate, names, metric)
    if values is not None:
        explorer.choose(values)
        explorer.evaluate()
    return explorer


def _serverless() -> list[str]:
    """The retrievers that have settings, first those with numbers, and all that they need by default."""
    found = []
    for name, retriever in RETRIEVERS.items():
        try:
            make(name)
        except InputError:  # as of a server's model, which has no default
            continue
        found += [name] if retriever.defaults() else []
    return sorted(found, key=lambda name: not _numbers(name))


def _numbers(retriever: str) -> list[str]:
    """The settings that are numbers worth a try: more than another draw."""
    settings = RETRIEVERS[retriever].defaults().items()
    return [name for name, default in settings if type(default) in (int, float) and name != "seed"]


def _typed(description: str) -> widgets.Text:
    return widgets.Text(
        description=description,
        placeholder="values with commas between",
        continuous_update=False,
        layout={"width": "420px", "max_width": "100%"},
        style={"description_width": "78px"},
    )


def _around(default: object) -> list[object]:
    """Values to begin with: the default, and before it a smaller one that costs no more."""
    if isinstance(default, bool):
        return [False, True]
    if isinstance(default, int) and default > 1:
        return [default // 2, default]
    if isinstance(default, float) and default > 0:
        return [float(f"{default / 2:.3g}"), default]
    return [default]


def _duration(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 90 else f"{seconds / 60:.0f} minutes"


def _meaning_html(name: str) -> str:
    """What the methods' own documentation says of the settings, to be opened."""
    classes = [each for each in RETRIEVERS[name].__mro__ if issubclass(each, Retriever) and each is not Retriever]
    told = [inspect.cleandoc(each.__doc__) for each in classes if each.__doc__]
    text = "\n\n".join(_MARKUP.sub(lambda match: match[1] or "", part) for part in told)
    paragraphs = "".join(f"<p>{escape(' '.join(part.split()))}</p>" for part in text.split("\n\n"))
    summary = f"<summary>what {escape(name)} does, and what its settings mean</summary>"
    return f'{SHEET}<div class="kit-sheet"><details>{summary}{paragraphs}</details></div>'


def _means(table: pd.DataFrame, cells: Sequence[Cell], metric: str, as_it_comes: bool) -> str:
    """The table that is shown, and a line of what its numbers are."""
    shown = [name for name in dict.fromkeys((metric, *_SHOWN)) if name in table]
    times = {"seconds": ("ms a question", 1000.0), "seconds_to_fit": ("s to fit", 1.0)}
    times = {column: told for column, told in times.items() if column in table}
    compared = f"difference in {heading(metric)} [95 %]"
    head = [*cells[0], *map(heading, shown), *(name for name, _ in times.values()), compared]
    body = []
    for cell, (_, row) in zip(cells, table.iterrows()):
        texts = [*map(typed, cell.values()), *(f"{row[name]:.3f}" for name in shown)]
        texts += [f"{factor * row[column]:.3g}" for column, (_, factor) in times.items()]
        gain, low, high = (signed(row[name]) for name in ("difference", "difference_low", "difference_high"))
        body.append([*texts, "baseline" if pd.isna(row["difference"]) else f"{gain} [{low}, {high}]"])
    base = table.loc[table["difference"].isna(), "label"].iloc[0]
    lines = [f"{table['group'].iloc[0]}: means over {table['n'].iloc[0]:,} questions."]
    if len(table) > 1:
        which = "the default" if as_it_comes else "the first, as the default is not among them"
        lines.append(
            f"Differences to {base} ({which}), paired; 95 % bootstrap intervals over questions, each for itself."
        )
    return sheet_html("Cells of the grid", head, body) + lines_html([" ".join(lines)])


def _drawn(table: pd.DataFrame, cells: Sequence[Cell], title: str, metric: str) -> Figure:
    """The cells as a figure; where a name for each would not stand in a line, the settings' names stand once."""
    if table["label"].str.len().max() > _LETTERS:
        values = [", ".join(map(typed, cell.values())) for cell in cells]
        table = table.assign(group=", ".join(cells[0]), label=values)
    return ablation(table, title, metric)


def _image(figure: Figure) -> str:
    content, size = figure._repr_png_()
    source = f"data:image/png;base64,{base64.b64encode(content).decode()}"
    return f'<img src="{source}" width="{size["width"]}" style="max-width: 100%" alt="{escape(size["alt"])}">'
