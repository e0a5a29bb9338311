"""Figures of answers: what a reader makes of what each method found.

``experiment`` measured rankings, ``answers`` is the same with answers measured
(:meth:`kit.evaluation.answers.Reading.answers`), where ``none`` and ``golden`` are the floor and
the ceiling: no passage at all, and the supports alone.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from pandas import DataFrame

from kit.evaluation import Experiment, statistics
from kit.evaluation.results import COSTS, per_question
from kit.views import plots
from kit.views.names import capital, metric_name, name_of
from kit.views.sentences import FEWEST, headline, points
from kit.views.style import Figure

_FOUND = "all supports found"
_MISSED = "a support missing"


def found_and_right(
    experiment: Experiment,
    answers: Experiment,
    full: str = "full@5",
    right: str = "em",
) -> Figure:
    """How often all supports are found, and how often the answer is right, per method."""
    methods = list(experiment.rankings)
    found = experiment.summary()
    found = found[found["metric"] == full].assign(panel=f"{metric_name(full)}: {_FOUND}")
    read = answers.only([*methods, "none", "golden"]).summary()
    read = read[read["metric"] == right].assign(panel=f"{metric_name(right)} of the answer")

    table = pd.concat([found, read])
    title = headline(answers.only(methods).compare(methods[0], right))
    labels = {"xlabel": "share of the questions", "share": True}
    return plots.points(table, title, facet="panel", **labels).of(table)


def right_by_found(
    experiment: Experiment,
    answers: Experiment,
    full: str = "full@5",
    right: str = "em",
) -> Figure:
    """How often the answer is right where all supports were found, and where one is missing."""
    found = per_question(experiment, full)
    read = per_question(answers, right).loc[found.index, found.columns]
    rows = []
    for name in found:
        for group, chosen in ((_FOUND, found[name] == 1), (_MISSED, found[name] < 1)):
            values = read.loc[chosen, name].to_numpy()
            mean = statistics.interval(values, **experiment.draws)
            row = {"retriever": name, "group": group, "mean": mean.value}
            rows.append(row | {"low": mean.low, "high": mean.high, "n": mean.n})
    table = DataFrame(rows)

    words = metric_name(right)
    labels = {"xlabel": f"{words}, of the questions that n counts", "share": True}
    row = table["retriever"].map(name_of) + table["n"].map(" (n = {})".format)
    title = _worth_of_supports(experiment, found, read)
    figure = plots.points(table.assign(row=row), title, "row", group="group", **labels)
    return figure.of(table)


def _worth_of_supports(experiment: Experiment, found: DataFrame, read: DataFrame) -> str:
    """How much oftener the answer is right where all supports were found, over all methods."""
    n = len(found)
    if n < FEWEST:
        return f"{n} questions are too few to say what the supports are worth"
    owner = np.repeat(np.arange(n), found.shape[1])
    x = found.to_numpy().ravel()
    y = read.to_numpy().ravel()
    slope = statistics.slope(x, y, questions=owner, **experiment.draws)
    if not slope.low > 0:
        return "Whether all supports are found makes no difference that is more than chance"
    return f"Where all supports are found, {points(slope.value)} more of the answers are right"


def costs(
    experiment: Experiment,
    answers: Experiment,
    right: str = "em",
    cost: str = COSTS[0],
) -> Figure:
    """What a method spends on a language model per question, and how often the answer is right.

    A method without a language model spends nothing.
    """
    spent = experiment.table.groupby("retriever", sort=False)[list(COSTS)].mean().fillna(0)
    means = answers.only(list(spent.index)).summary()
    means = means[means["metric"] == right].set_index("retriever")
    table = means.join(spent).reset_index()

    most = table.loc[table[cost].idxmax()]
    unit = f"{cost} of a language model per question"
    title = f"No method uses {cost} of a language model"
    if most[cost]:
        title = capital(f"{name_of(most['retriever'])} takes most: {most[cost]:.3g} {unit}")
    labels = {"xlabel": unit, "ylabel": metric_name(right)}
    return plots.curves(table, title, cost, by="retriever", **labels).of(table)


def answers_by_hops(
    answers: Experiment,
    methods: Sequence[str],
    right: str = "em",
) -> Figure:
    """How often the answer is right by the hops of a question, between floor and ceiling.

    The first of ``methods`` is what the others are compared with.
    """
    chosen = answers.only(["none", *methods, "golden"])
    table = chosen.summary("hops")
    table = table[table["metric"] == right]
    title = headline(answers.only(methods).compare(methods[0], right, "hops"), "hops")
    labels = {"xlabel": "hops of the question", "ylabel": metric_name(right)}
    return plots.lines(table, title, "hops", **labels).of(table)
