"""The ledger at a glance: claims by data sets, a letter and a shade for each verdict."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import seaborn as sns
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from kit.evaluation.claims import CLAIMS, MECHANISM, NOT_REPRODUCED, NOT_TESTED, REPRODUCED, STALE, UNDECIDED
from kit.views.figures import save_figure
from kit.views.style import Figure, style

#: Each state's letter and shade; the shades differ in lightness, so that a grey print tells them apart, too.
STATES = {
    REPRODUCED: ("R", "#0b4f8a"),
    MECHANISM: ("m", "#5a9bd4"),
    UNDECIDED: ("?", "#d9d9d9"),
    NOT_REPRODUCED: ("N", "#c75a00"),
    STALE: ("s", "#f3e3a5"),
    NOT_TESTED: ("", "#ffffff"),
}


def claims_map(table: pd.DataFrame, folder: Path) -> list[Path]:
    """Draw a ledger (:func:`kit.evaluation.claims.ledger`) and save it as ``claims`` in a folder, with its table."""
    return save_figure(draw_claims(table), table[["claim", "dataset", "state", "overall"]], folder, "claims")


@style()
def draw_claims(table: pd.DataFrame) -> Figure:
    """A panel for each paper of which a claim was tested: a row a claim, a column a data set."""
    tested = table[table["state"] != NOT_TESTED]
    agreed = tested.drop_duplicates("claim")["overall"].value_counts()
    title = (
        f"Of {tested['claim'].nunique()} claims {agreed.get(REPRODUCED, 0)} are reproduced wherever they were tested, "
        f"{agreed.get(MECHANISM, 0)} in their mechanism; {agreed.get(NOT_REPRODUCED, 0)} are reproduced nowhere"
    )
    papers = list(dict.fromkeys(CLAIMS[id].paper for id in tested["claim"]))
    figure = Figure(title, (10.0, 7.5))
    axes = figure.subplots(1, max(len(papers), 1), squeeze=False)[0]
    codes = {state: number for number, state in enumerate(STATES)}
    colours = ListedColormap([colour for _, colour in STATES.values()])
    for ax, paper in zip(axes, papers):
        of = table[[CLAIMS[id].paper == paper for id in table["claim"]]]
        wide = of.pivot(index="claim", columns="dataset", values="state")[list(dict.fromkeys(of["dataset"]))]
        wide.columns = [name.removesuffix("-dev").removeprefix("documents-") for name in wide]
        letters = wide.map(lambda state: STATES[state][0])
        shades = {"cmap": colours, "vmin": -0.5, "vmax": len(STATES) - 0.5, "cbar": False}
        sns.heatmap(wide.map(codes.get), annot=letters, fmt="", linewidths=1, linecolor="#bbbbbb", ax=ax, **shades)
        ax.set(xlabel="", ylabel="", title=paper)
        ax.tick_params(length=0, labelsize=9.5)
        ax.tick_params(axis="x", rotation=90)
        ax.tick_params(axis="y", rotation=0)
        ax.grid(False)
    handles = [
        Patch(facecolor=colour, edgecolor="#bbbbbb", label=f"{letter}  {state}" if letter else state)
        for state, (letter, colour) in STATES.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(STATES), fontsize=9.5, handletextpad=0.5)
    return figure
