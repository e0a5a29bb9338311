"""A figure and the numbers behind it, saved by one call; a table that a reader can look at."""

import html
from pathlib import Path

import pandas as pd
from pandas.io.formats.style import Styler

from kit.errors import InputError
from kit.store import atomic_write
from kit.views.style import Figure


def save_figure(figure: Figure, table: pd.DataFrame, folder: Path, name: str) -> list[Path]:
    """Write NAME.svg, NAME.png and NAME.csv into ``folder`` and return their paths.

    The same figure and table give the same bytes each time: no dates, no versions, numbers to six digits. All three are
    made before the first is written, and each is replaced whole.
    """
    if not name or name.startswith(".") or set(name) & set('/\\:*?"<>|\0'):
        raise InputError(f"expected a plain file name, not {name!r}", field="name")
    content = {kind: figure.drawn(kind) for kind in ("svg", "png")}
    content["csv"] = table.to_csv(index=False, float_format="%.6g", lineterminator="\n").encode()
    for kind, made in content.items():
        atomic_write(Path(folder) / f"{name}.{kind}", made)
    return [Path(folder) / f"{name}.{kind}" for kind in content]


def show_table(table: pd.DataFrame, caption: str = "") -> Styler:
    """The table for display: counts with thousands apart, other numbers to three digits, missing as a dash.

    Text is escaped, and JupyterLab is told not to read what stands between two dollar signs as a formula.
    """
    table = table.convert_dtypes()  # so that counts are whole numbers, even where one is missing
    shown = table.style.format(precision=3, thousands=",", na_rep="–", escape="html").hide(
        axis="index"
    )
    shown = shown.format_index(axis="columns", escape="html")
    shown = shown.set_table_attributes('class="mathjax_ignore tex2jax_ignore"')
    left, right = (
        [{"selector": "td, th", "props": f"text-align: {side}"}] for side in ("left", "right")
    )
    sides = dict.fromkeys(table.columns, left) | dict.fromkeys(
        table.select_dtypes("number").columns, right
    )
    return shown.set_table_styles(sides).set_caption(html.escape(caption))
