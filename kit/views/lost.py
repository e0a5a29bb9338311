"""Where supports were lost, as a figure of all and as sentences about one question."""

from collections import defaultdict
from typing import NamedTuple

from matplotlib.axes import Axes
from pandas import DataFrame

from kit.evaluation.lost import APART, FAR, FOUND, LOW, UNUSED, shares
from kit.views.names import capital, listed, name_of, said
from kit.views.sentences import FEWEST
from kit.views.style import INK, Figure, style

NARROW = 0.05  # a part of a figure in which its share has no room
PANELS = {True: "named in the question", False: "not named in it"}


class Part(NamedTuple):
    """How a stage is drawn; hatches tell it in grey, too."""

    colour: str
    hatch: str = ""


PARTS = {
    FOUND: Part("#44aa99"),
    UNUSED: Part("#ddcc77", "//"),
    LOW: Part("#ffffff", ".."),
    FAR: Part("#88ccee", "\\\\"),
    APART: Part("#b0b0b0", "xx"),
}


@style()
def lost(table: DataFrame, by: str = "named") -> Figure:
    """The share of the supports at each stage, a bar per retriever.

    ``table`` is that of :func:`kit.evaluation.lost.lost_supports`, or of some of its rows. There is
    a panel for each value of ``by``: whether the question names the support, or its hops.
    """
    means = shares(table, [by])
    names = list(dict.fromkeys(means["retriever"]))
    values = sorted(means[by].unique(), reverse=by == "named")
    stages = [stage for stage in PARTS if means.loc[means["stage"] == stage, "mean"].any()]

    figure = Figure(_title(table, by))
    axes = figure.subplots(1, len(values), sharex=True, sharey=True, squeeze=False)[0]
    for ax, value in zip(axes, values):
        members = means[means[by] == value]
        ax.set_title(f"{_heading(by, value)} ({members['n'].max()})")
        ax.set_xlabel("share of the supports")
        by_stage = members.pivot(index="retriever", columns="stage", values="mean")
        _draw_bars(ax, by_stage, names, NARROW * len(values))
    axes[0].set(
        xlim=(0, 1), xticks=(0, 0.5, 1), yticks=range(len(names)), yticklabels=map(name_of, names)
    )
    axes[0].invert_yaxis()
    handles, labels = axes[0].get_legend_handles_labels()
    shown = {label: handle for label, handle in zip(labels, handles) if label in stages}
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=len(shown))
    return figure.of(means)


def _heading(by: str, value: int) -> str:
    if by == "named":
        return capital(PANELS[bool(value)])
    return "1 hop" if value == 1 else f"{value} hops"


def _words(by: str, value: int) -> str:
    if by == "named":
        return f"supports that the question {'names' if value else 'does not name'}"
    return f"supports of {value}-hop questions"


def _draw_bars(ax: Axes, means: DataFrame, names: list[str], narrow: float) -> None:
    """A bar of all stages for each retriever; parts that are not ``narrow`` have their share."""
    for height, name in enumerate(names):
        begin = 0.0
        for stage, part in PARTS.items():
            share = means.loc[name, stage]
            ax.barh(
                height,
                share,
                left=begin,
                color=part.colour,
                hatch=part.hatch,
                edgecolor=INK,
                linewidth=0.6,
                label=stage if not height else None,
            )
            if share >= narrow:
                box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.85}
                middle = begin + share / 2
                ax.text(middle, height, f"{share:.0%}", ha="center", va="center", bbox=box)
            begin += share


def _title(table: DataFrame, by: str) -> str:
    """What the first retriever finds in the first panel and in the last, if that differs surely."""
    name = table["retriever"].iloc[0]
    first = table[table["retriever"] == name]
    counts = first["stage"].isin([FOUND, UNUSED]).groupby(first[by]).agg(["mean", "size"])
    counts = counts.sort_index(ascending=by != "named")
    shares_found = counts["mean"].iloc[[0, -1]]
    errors = shares_found * (1 - shares_found) / counts["size"].iloc[[0, -1]]
    difference = abs(shares_found.iloc[0] - shares_found.iloc[-1])
    if counts["size"].min() < FEWEST or difference <= 2 * errors.sum() ** 0.5:
        return f"Where supports were lost with {said(name)} and others"
    (start, share), (end, last) = shares_found.items()
    return capital(
        f"{said(name)} finds {share:.0%} of the {_words(by, start)}, "
        f"{last:.0%} of the {_words(by, end)}"
    )


def in_words(table: DataFrame) -> str:
    """What became of the supports of one question; retrievers that lose the same are named once."""
    by_loss = defaultdict(list)
    for name, rows in table.groupby("retriever", sort=False):
        missing = rows[~rows["stage"].isin([FOUND, UNUSED])]
        titles = "; ".join(f"{row.title} ({row.stage})" for row in missing.itertuples())
        by_loss[titles or "nothing"].append(said(name))
    return " ".join(
        capital(f"{listed(names)} {'lose' if len(names) > 1 else 'loses'} {titles}.")
        for titles, names in by_loss.items()
    )
