"""The README's numbers, taken from the committed findings.

``readme.md`` beside this file is the README's section about findings with a reference in the place
of each number, in braces: a table of the published figures, a column, conditions on other columns,
and how the number is written. ``{atlas/kgp_methods; mean; metric=full@30; retriever=mdr; .0%}`` is
the mean in percent, without the sign. Where several rows fit, it is their mean by their ``n``;
``share=1|1.0`` is any of these. The table ``findings`` of a data set holds the findings of all its
notebooks.
"""

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from pandas import DataFrame

from kit.errors import InputError
from kit.files import atomic_write
from kit.paths import ROOT

README = ROOT / "README.md"
_TEMPLATE = Path(__file__).with_name("readme.md")
_REFERENCE = re.compile(r"\{([^{}]+)\}")
_HEADING = "## What the papers claim, and what came of it\n"


def write_readme(figures: Path) -> Path:
    """Put the section about findings into the README, with numbers from a folder of figures."""
    before, _, rest = README.read_text("utf-8").partition(_HEADING)
    _, next_heading, after = rest.partition("\n## ")
    section = _HEADING + findings_section(figures)
    atomic_write(README, (before + section + next_heading + after).encode())
    return README


def findings_section(figures: Path) -> str:
    """The section without its heading."""
    return _REFERENCE.sub(lambda match: _number(match[1], figures), _TEMPLATE.read_text("utf-8"))


def _number(reference: str, figures: Path) -> str:
    """The number that a reference stands for, as it is written."""
    table, column, *conditions, written = [part.strip() for part in reference.split(";")]
    rows = _table(figures / table)
    for condition in conditions:
        name, _, value = condition.partition("=")
        rows = rows[rows[name].astype(str).isin(value.split("|"))]
    if rows.empty:
        raise InputError("expected a row that fits", file=_TEMPLATE.name, record=reference)

    value = np.average(rows[column].astype(float), weights=rows["n"])
    return format(value, written).removesuffix("%").replace("-", "−")


@cache
def _table(path: Path) -> DataFrame:
    """A table of figures, or the findings of a data set."""
    if path.name != "findings":
        return pd.read_csv(path.with_suffix(".csv"), keep_default_na=False)
    findings = []
    for record in sorted(path.parent.glob("*.json")):
        findings += json.loads(record.read_bytes())["findings"]
    return DataFrame(findings)
