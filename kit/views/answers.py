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

FULL = "full@5"
RIGHT = "em"
_COMPLETE = "all supports found"
_MISSED = "a support missing"


def found_and_right(
    experiment: Experiment,
    answers: Experiment,
    full: str = FULL,
    right: str = RIGHT,
) -> Figure:
    """How often all supports are found, and how often the answer is right, per method."""
    methods = list(experiment.rankings)
    retrieved = _means(experiment, full)
    retrieved["panel"] = f"{metric_name(full)}: {_COMPLETE}"
    read = _means(answers.only([*methods, "none", "golden"]), right)
    read["panel"] = f"{metric_name(right)} of the answer"
    table = pd.concat([retrieved, read])

    compared = answers.only(methods).compare(methods[0], right)
    figure = plots.points(
        table,
        headline(compared),
        facet="panel",
        share=True,
        xlabel="share of the questions",
    )
    return figure.of(table)


def _means(experiment: Experiment, metric: str, by: Sequence[str] = ()) -> DataFrame:
    """The mean of a metric per method with its interval."""
    summary = experiment.summary(by)
    of_metric = summary["metric"] == metric
    return summary[of_metric].copy()


def right_by_found(
    experiment: Experiment,
    answers: Experiment,
    full: str = FULL,
    right: str = RIGHT,
) -> Figure:
    """How often the answer is right where all supports were found, and where one is missing."""
    complete = per_question(experiment, full)
    read = per_question(answers, right)
    read = read.loc[complete.index, complete.columns]
    rows = []
    for group, wanted in ((_COMPLETE, 1), (_MISSED, 0)):
        for name in complete:
            chosen = read.loc[complete[name] == wanted, name]
            mean = statistics.interval(chosen.to_numpy(), **experiment.draws)
            row = {"retriever": name, "group": group}
            row["mean"] = mean.value
            row["low"] = mean.low
            row["high"] = mean.high
            row["n"] = mean.n
            rows.append(row)
    table = DataFrame(rows)

    counts = table["n"].map(" (n = {})".format)
    named = table.assign(row=table["retriever"].map(name_of) + counts)
    figure = plots.points(
        named,
        _worth_of_supports(experiment, complete, read),
        "row",
        group="group",
        share=True,
        xlabel=f"{metric_name(right)}, of the questions that n counts",
    )
    return figure.of(table)


def _worth_of_supports(
    experiment: Experiment,
    complete: DataFrame,
    read: DataFrame,
) -> str:
    """How much oftener the answer is right where all supports were found, over all methods."""
    n_questions, n_methods = complete.shape
    if n_questions < FEWEST:
        return f"{n_questions} questions are too few to say what the supports are worth"

    slope = statistics.slope(
        complete.to_numpy().ravel(),
        read.to_numpy().ravel(),
        questions=np.repeat(np.arange(n_questions), n_methods),
        **experiment.draws,
    )
    if not slope.low > 0:
        return "Whether all supports are found makes no difference that is more than chance"
    return f"Where all supports are found, {points(slope.value)} more of the answers are right"


def costs(
    experiment: Experiment,
    answers: Experiment,
    right: str = RIGHT,
    cost: str = COSTS[0],
) -> Figure:
    """What a method spends on a language model per question, and how often the answer is right.

    A method without a language model spends nothing.
    """
    by_method = experiment.table.groupby("retriever", sort=False)
    spent = by_method[list(COSTS)].mean()
    means = _means(answers.only(list(spent.index)), right)
    table = means.join(spent.fillna(0), on="retriever")

    unit = f"{cost} of a language model per question"
    figure = plots.curves(
        table,
        _most_costly(table, cost, unit),
        cost,
        by="retriever",
        xlabel=unit,
        ylabel=metric_name(right),
    )
    return figure.of(table)


def _most_costly(table: DataFrame, cost: str, unit: str) -> str:
    most = table.loc[table[cost].idxmax()]
    if not most[cost]:
        return f"No method uses {cost} of a language model"
    name = name_of(most["retriever"])
    return capital(f"{name} takes most: {most[cost]:.3g} {unit}")


def answers_by_hops(
    answers: Experiment,
    methods: Sequence[str],
    right: str = RIGHT,
) -> Figure:
    """How often the answer is right by the hops of a question, between floor and ceiling.

    The first of ``methods`` is what the others are compared with.
    """
    chosen = answers.only(["none", *methods, "golden"])
    table = _means(chosen, right, ["hops"])
    compared = answers.only(methods).compare(methods[0], right, "hops")
    figure = plots.lines(
        table,
        headline(compared, "hops"),
        "hops",
        xlabel="hops of the question",
        ylabel=metric_name(right),
    )
    return figure.of(table)
