"""True sentences about measured differences: the titles of figures.

A title names the methods and the unit. It never announces a difference whose interval holds zero,
nor one of fewer than :data:`FEWEST` questions.
"""

import pandas as pd
from pandas import DataFrame

from kit.evaluation.statistics import Estimate
from kit.views.names import capital, metric_name, said

SURE = 0.05  # a p below it, of all differences together
FEWEST = 30  # questions, below which no difference is announced


def points(share: float) -> str:
    """A difference of shares in points: "9.1 points"."""
    words = f"{abs(100 * share):.1f}"
    return f"{words} point" if words == "1.0" else f"{words} points"


def gain_sentence(gain: Estimate, name: str, over: str, metric: str) -> str:
    """What a method gains over another: that it does, that it loses, or that nothing shows."""
    row = {"retriever": name, "difference": gain.value, "low": gain.low, "high": gain.high}
    return headline(DataFrame([row | {"baseline": over, "metric": metric, "n": gain.n}]))


def headline(compared: DataFrame, by: str = "", otherwise: str = "") -> str:
    """The largest difference to a baseline that holds, of those that ``compare`` gives.

    Where none holds it says so, or ``otherwise``.

    ``compared`` has the columns retriever, baseline, metric, difference, low, high, n, and ``by``
    where they are of groups of questions. Where it has ``p_holm``, which is of all rows together,
    that must be small, too.
    """
    if compared.empty:
        return "There is nothing to compare"
    metric = metric_name(compared["metric"].iloc[0])
    baseline = said(compared["baseline"].iloc[0])

    enough = compared[compared["n"] >= FEWEST]
    if enough.empty:
        n = compared["n"].max()
        few = "One question is" if n == 1 else f"{n} questions are"
        return f"{few} too few to tell methods apart from {baseline} in {metric}"
    holds = enough[(enough["low"] > 0) | (enough["high"] < 0)]
    if "p_holm" in holds:
        holds = holds[~(holds["p_holm"] >= SURE)]
    if holds.empty:
        none = f"no difference to {baseline} in {metric} is more than chance"
        if len(enough) < len(compared):
            none += f" among {FEWEST} questions or more"
        return capital(otherwise or none)

    largest = holds.loc[holds["difference"].abs().idxmax()]
    name = said(largest["retriever"])
    size = points(largest["difference"])
    where = _where(by, largest[by]) if by else ""
    ending = "" if _is_plural(name) else "s"
    if largest["difference"] > 0:
        return capital(f"{name} add{ending} {size} of {metric} to {baseline}{where}")
    return capital(f"{name} lose{ending} {size} of {metric} against {baseline}{where}")


def _is_plural(name: str) -> bool:
    """Whether a verb after the name has no s: "2 rounds", "no messages, untrained"."""
    return name.partition(",")[0].endswith("s")


def _where(by: str, value: object) -> str:
    """A group of questions in words: " for questions of 3 hops"."""
    if by == "hops":
        return " for questions of one hop" if value == 1 else f" for questions of {value} hops"
    if by == "shape":
        return f" where the evidence is a {value}"
    return f" for questions of {by} {value}"


def best_sentence(summary: DataFrame, metric: str, by: str = "retriever") -> str:
    """The row with the highest mean, where its interval lies apart from the next one's.

    Otherwise the range of all means, with the names of its ends where their intervals lie apart.

    ``summary`` has the columns ``by``, metric, mean, low, high and n.
    """
    rows = summary[summary["metric"] == metric].sort_values("mean", ascending=False)
    words = metric_name(metric)
    if len(rows) < 2:
        return capital(f"{words} is {rows['mean'].iloc[0]:.3f}") if len(rows) else words
    first = rows.iloc[0]
    second = rows.iloc[1]
    last = rows.iloc[-1]
    if _is_above(first, second):
        return capital(
            f"{said(str(first[by]))} has the highest {words}, {first['mean']:.3f}; "
            f"{said(str(second[by]))} follows with {second['mean']:.3f}"
        )
    if _is_above(first, last):
        return capital(
            f"{words} goes from {last['mean']:.3f} for {said(str(last[by]))} "
            f"to {first['mean']:.3f} for {said(str(first[by]))}"
        )
    if first["mean"] == last["mean"]:
        return capital(f"{words} is {first['mean']:.3f} for all")
    return capital(f"{words} lies between {last['mean']:.3f} and {first['mean']:.3f}")


def _is_above(row: pd.Series, other: pd.Series) -> bool:
    """Whether the intervals of two rows lie apart, with enough questions."""
    return row["low"] > other["high"] and row.get("n", FEWEST) >= FEWEST
