"""A figure and the numbers behind it, saved by one call; a table that a reader can look at."""

import html
from functools import partial
from pathlib import Path

from pandas import DataFrame, Series
from pandas.io.formats.style import Styler

from kit.errors import InputError
from kit.files import atomic_write
from kit.views.style import Figure

_FORBIDDEN = frozenset('/\\:*?"<>|\0')  # in the name of a file


def save_figure(figure: Figure, table: DataFrame, folder: Path, name: str) -> list[Path]:
    """Write NAME.svg, NAME.png and NAME.csv into ``folder`` and return their paths.

    The same figure and table give the same bytes each time: no dates, no versions, numbers to six
    digits. All three are made before the first is written, and each is replaced whole. Raises
    :class:`InputError` for a name that is no plain file name.
    """
    if not name or name.startswith(".") or _FORBIDDEN.intersection(name):
        raise InputError(f"expected a plain file name, not {name!r}", field="name")

    text = table.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    files = {
        "svg": figure.drawn("svg"),
        "png": figure.drawn("png"),
        "csv": text.encode(),
    }
    paths = []
    for kind, content in files.items():
        path = Path(folder) / f"{name}.{kind}"
        atomic_write(path, content)
        paths.append(path)
    return paths


def show_table(table: DataFrame, caption: str = "") -> Styler:
    """The table for display: counts with thousands apart, other numbers to three decimals.

    A column whose numbers have fewer, as many of a paper's, has as many. What is missing is a dash.
    Text is escaped, and JupyterLab is told not to read what stands between two dollar signs as a
    formula.
    """
    table = table.convert_dtypes()  # so that counts are whole numbers, even where one is missing
    aligned = {column: _aligned("left") for column in table.columns}
    formats = {}
    for column in table.select_dtypes("float").columns:
        formats[column] = partial(_decimal, decimals=_decimals_of(table[column].dropna()))
    for column in table.select_dtypes("number").columns:
        aligned[column] = _aligned("right")

    return (
        table.style.format(formats, precision=3, thousands=",", na_rep="–", escape="html")
        .hide(axis="index")
        .format_index(axis="columns", escape="html")
        .set_table_attributes('class="mathjax_ignore tex2jax_ignore"')
        .set_table_styles(aligned)
        .set_caption(html.escape(caption))
    )


def _decimals_of(numbers: Series) -> int:
    """How many decimals the numbers have: three at most."""
    return next((n for n in range(3) if numbers.round(n).equals(numbers)), 3)


def _decimal(value: float, decimals: int) -> str:
    """A number with its decimals; a whole one above 1 without, one that they make 0 by a digit."""
    if value > 1 and value.is_integer():
        return f"{value:,.0f}"
    text = f"{value:,.{decimals}f}"
    return text if float(text.replace(",", "")) or not value else f"{value:.1g}"


def _aligned(side: str) -> list[dict[str, str]]:
    return [{"selector": "td, th", "props": f"text-align: {side}"}]
