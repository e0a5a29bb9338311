"""A figure and the numbers behind it, saved by one call; a table that a reader can look at; the ledger at a glance."""

import html
from pathlib import Path

import pandas as pd
import seaborn
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch
from pandas.io.formats.style import Styler

from kit.errors import InputError
from kit.evaluation.claims import CLAIMS, MECHANISM, NOT_REPRODUCED, NOT_TESTED, REPRODUCED, STALE, UNDECIDED
from kit.store import atomic_write
from kit.views.style import Figure, style


def save_figure(figure: Figure, table: pd.DataFrame, folder: Path, name: str) -> list[Path]:
    """Write NAME.svg, NAME.png and NAME.csv into ``folder`` and return their paths.

    The same figure and table give the same bytes each time: no dates, no versions, numbers to six digits. All three are
    made before the first is written, and each is replaced whole.
    """
    if not name or name.startswith(".") or set(name) & set('/\\:*?"<>|\0'):
        raise InputError(f"expected a plain file name, not {name!r}", field="name")
    content = {
        "svg": figure.drawn("svg", {"Date": None, "Creator": None, "Title": figure.title}),
        "png": figure.drawn("png", {"Software": None}),
        "csv": table.to_csv(index=False, float_format="%.6g", lineterminator="\n").encode(),
    }
    paths = {kind: Path(folder) / f"{name}.{kind}" for kind in content}
    for kind, path in paths.items():
        atomic_write(path, content[kind])
    return list(paths.values())


def show_table(table: pd.DataFrame, caption: str = "") -> Styler:
    """The table for display: counts with thousands apart, other numbers to three digits, missing as a dash.

    Text is escaped, and JupyterLab is told not to read what stands between two dollar signs as a formula.
    """
    table = table.convert_dtypes()  # so that counts are whole numbers, even where one is missing
    shown = table.style.format(precision=3, thousands=",", na_rep="–", escape="html").hide(axis="index")
    shown = shown.format_index(axis="columns", escape="html")
    shown = shown.set_table_attributes('class="mathjax_ignore tex2jax_ignore"')
    left, right = ([{"selector": "td, th", "props": f"text-align: {side}"}] for side in ("left", "right"))
    sides = dict.fromkeys(table.columns, left) | dict.fromkeys(table.select_dtypes("number").columns, right)
    return shown.set_table_styles(sides).set_caption(html.escape(caption))


#: Each state's letter and shade; the shades differ in lightness, so that a grey print tells them apart, too.
STATES = {
    REPRODUCED: ("R", "#0b4f8a"),
    MECHANISM: ("m", "#5a9bd4"),
    UNDECIDED: ("?", "#d9d9d9"),
    NOT_REPRODUCED: ("N", "#c75a00"),
    STALE: ("s", "#f3e3a5"),
    NOT_TESTED: ("", "#ffffff"),
}


@style()
def claims_map(table: pd.DataFrame, folder: Path) -> list[Path]:
    """Draw a ledger (:func:`kit.evaluation.claims.ledger`) and save it as ``claims`` in a folder, with its table.

    A panel for each paper of which a claim was tested: a row a claim, a column a data set.
    """
    tested = table[table["state"] != NOT_TESTED]
    agreed = tested.drop_duplicates("claim")["overall"].value_counts()
    papers = list(dict.fromkeys(CLAIMS[id].paper for id in tested["claim"]))
    figure = Figure(
        f"Of {tested['claim'].nunique()} claims {agreed.get(REPRODUCED, 0)} are reproduced wherever they were tested, "
        f"{agreed.get(MECHANISM, 0)} in their mechanism, {agreed.get(NOT_REPRODUCED, 0)} nowhere"
        + (" (stale findings apart)" if STALE in set(tested["state"]) else ""),
        (10.0, 7.5),
    )
    shades = {"cmap": ListedColormap([colour for _, colour in STATES.values()]), "vmin": -0.5, "vmax": 5.5}
    for ax, paper in zip(figure.subplots(1, max(len(papers), 1), squeeze=False)[0], papers):
        of = table[[CLAIMS[id].paper == paper for id in table["claim"]]]
        wide = of.pivot(index="claim", columns="dataset", values="state")[list(dict.fromkeys(of["dataset"]))]
        wide.columns = [name.removesuffix("-dev").removeprefix("documents-") for name in wide]
        letters = wide.map(lambda state: STATES[state][0])
        lines = {"linewidths": 1, "linecolor": "#bbbbbb", "cbar": False}
        seaborn.heatmap(wide.map(list(STATES).index), annot=letters, fmt="", ax=ax, **shades, **lines)
        ax.set(xlabel="", ylabel="", title=paper)
        ax.tick_params(length=0, labelsize=9.5)
        ax.tick_params(axis="y", rotation=0)
    told = {f"{letter}  {state}".strip(): colour for state, (letter, colour) in STATES.items()}
    handles = [Patch(facecolor=colour, edgecolor="#bbbbbb", label=label) for label, colour in told.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(STATES), fontsize=9.5, handletextpad=0.5)
    return save_figure(figure, table[["claim", "dataset", "state", "overall"]], folder, "claims")
