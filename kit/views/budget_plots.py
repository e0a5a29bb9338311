"""How much of the evidence fits into a context, and for which questions all of it (gnn-ret.txt Table 6, Figure 5)."""

from __future__ import annotations

import pandas as pd
from matplotlib.patches import Patch

from kit.errors import InputError
from kit.views.labels import label_lines
from kit.views.series import by_size, evenly, frame, interval_lines, looks, wrapped
from kit.views.style import INK, PALE, SMALL, Figure, panels, require, styled

_PARTS = ("difference", "difference_low", "difference_high")
_HATCHES = ("", "///", "...", "xxx", "\\\\\\", "ooo")
_MEANING = {"full": "questions with all supports in the context", "recall": "share of the supports in the context"}
_WIDTH = 0.8  # of the bars of one group; groups are 1 apart


@styled
def budget_curve(table: pd.DataFrame, title: str, metric: str = "full") -> Figure:
    """A metric of what fits into a context against its size in tokens, and the paired difference to a baseline.

    ``table`` has a row a retriever, budget and metric:
    retriever, budget, metric, mean, low, high, difference, difference_low, difference_high (missing for the baseline).
    """
    require(table, "retriever", "budget", "metric", "mean", "low", "high", *_PARTS)
    if metric not in _MEANING:
        raise InputError(f"expected one of {', '.join(_MEANING)}, not {metric!r}", field="metric")
    table = require(table[table["metric"] == metric], "retriever")
    figure = Figure(title)
    [[levels, gains]] = panels(figure, 1, 2)
    places, styles = by_size(table["budget"]), looks(table["retriever"])
    ends = interval_lines(levels, table, "retriever", "budget", places, styles)
    frame([levels], table)
    levels.set_title(_MEANING[metric])
    label_lines(levels, ends)
    others = table.dropna(subset="difference")
    baseline = ", ".join(dict.fromkeys(table.loc[table["difference"].isna(), "retriever"]))
    gains.set_title(f"difference to {baseline}", parse_math=False)
    gains.axhline(0, color=INK, linewidth=1.2)
    parts = others.drop(columns=["mean", "low", "high"]).rename(columns=dict(zip(_PARTS, ("mean", "low", "high"))))
    label_lines(gains, interval_lines(gains, parts, "retriever", "budget", places, styles))
    figure.supxlabel("tokens of the context (log scale)", fontsize=12)
    return figure


@styled
def found_by_supports(table: pd.DataFrame, title: str) -> Figure:
    """Questions with all supports found, by their number of supports, a bar a retriever (gnn-ret.txt Figure 5).

    ``table`` has a row a retriever and number of supports:
    retriever, supports, n (questions), found, share, difference (questions more than the baseline finds, missing for
    the baseline), p_holm. The pale bars are all questions. A difference in bold has p below 0.05.
    """
    require(table, "retriever", "supports", "n", "found", "share", "difference", "p_holm")
    figure = Figure(title)
    [[ax]] = panels(figure)
    styles = looks(table["retriever"])
    groups = table.groupby("supports", sort=False)["n"].max()
    places = evenly(groups.index)
    ax.bar(range(len(groups)), groups, _WIDTH + 0.06, color="#f0f0f0", edgecolor=PALE)
    width = _WIDTH / len(styles)
    handles = []
    for number, (name, style) in enumerate(styles.items()):
        rows = table[table["retriever"] == name]
        at = [places[supports] + width * (number - (len(styles) - 1) / 2) for supports in rows["supports"]]
        hatch = _HATCHES[number % len(_HATCHES)]
        fill = {"facecolor": style.colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0}
        ax.bar(at, rows["found"], 0.92 * width, **fill)
        handles.append(Patch(label=wrapped(name, 30), **fill))
        for place, row in zip(at, rows.itertuples()):
            more = {"textcoords": "offset points", "ha": "center", "fontsize": SMALL}
            ax.annotate(f"{100 * row.share:.0f}", (place, row.found), (0, 3), **more)
            if not pd.isna(row.difference):
                weight = "bold" if row.p_holm < 0.05 else "normal"
                text = f"{row.difference:+,.0f}".replace("-", "−").replace("+0", "±0")
                ax.annotate(text, (place, row.found), (0, 15), weight=weight, color=style.colour, **more)
    names = ["all questions" if of == "all" else f"{of} support{'s' * (of != '1')}" for of in places]
    ax.set_xticks(range(len(groups)), [f"{name}\n(n = {n:,})" for name, n in zip(names, groups)])
    ax.set_ylabel("questions with all supports found")
    ax.margins(y=0.12)
    ax.grid(axis="x", visible=False)
    note = "per cent of all questions (pale bars); above, the difference in questions, bold: p < 0.05 (McNemar, Holm)"
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), title=note)
    return figure
