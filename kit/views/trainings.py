"""How a training went, and what came of it.

The loss of its steps, what was measured on dev questions in between, and which supports it finds.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from pandas import DataFrame

from kit.corpus import Question
from kit.corpus.types import Texts
from kit.evaluation import Experiment, statistics
from kit.evaluation.metrics import support_ranks
from kit.learning.trained import Trained
from kit.views import plots
from kit.views.names import capital, listed, name_of
from kit.views.sentences import headline
from kit.views.style import Figure

LOSS = "loss of training questions"
DEV_LOSS = "loss of dev questions"
FIRST = "first support"
LAST = "last support"
_SMOOTHED = 10  # steps of which a point of the loss is the mean

History = Sequence[Mapping[str, float]]


def training_curve(
    methods: Mapping[str, Trained | History] | Trained,
    measured: str = DEV_LOSS,
) -> Figure:
    """The loss of each step, and the checks on dev questions, a curve per method.

    ``methods`` are trained methods or their histories by name, or one method. A check at step 0 is
    of the network before training. ``measured`` says what the checks measure; where it is a loss,
    histories hold minus its value, since the highest value is kept.
    """
    if isinstance(methods, Trained):
        methods = {methods.name: methods}
    tables = []
    for name, method in methods.items():
        history = method.history if isinstance(method, Trained) else method
        tables.append(_curves_of(history, measured).assign(retriever=name))
    table = pd.concat(tables, ignore_index=True)

    figure = plots.curves(
        table,
        _title(table, measured),
        "step",
        "smoothed",
        "retriever",
        "quantity",
        behind="value",
        xlabel=f"steps of training (their loss as a mean of {_SMOOTHED})",
    )
    return figure.of(table)


def _curves_of(history: History, measured: str) -> DataFrame:
    """A row per step and per check: quantity, step, value, smoothed."""
    steps = DataFrame(list(history), columns=["step", "loss", "measured"])
    losses = steps.dropna(subset="loss")
    checks = steps.dropna(subset="measured")
    sign = -1 if "loss" in measured else 1

    of_steps = losses[["step"]].assign(quantity=LOSS, value=losses["loss"])
    of_steps["smoothed"] = losses["loss"].rolling(_SMOOTHED, min_periods=1).mean()
    of_checks = checks[["step"]].assign(quantity=measured, value=sign * checks["measured"])
    of_checks["smoothed"] = of_checks["value"]
    return pd.concat([of_steps, of_checks])


def _title(table: DataFrame, measured: str) -> str:
    """From the first check to the best one, since the weights of the best are kept."""
    is_loss = "loss" in measured
    changes = []
    checks = table[table["quantity"] == measured]
    for name, values in checks.groupby("retriever", sort=False)["value"]:
        best = values.min() if is_loss else values.max()
        start = values.iloc[0]
        if best == start:
            changes.append(f"for {name_of(str(name))} no step improves on the start, {start:.2f}")
        else:
            changes.append(f"for {name_of(str(name))} from {start:.2f} to {best:.2f}")
    if not changes:
        return "Loss of each step of training"
    return capital(f"the {measured} at best: {listed(changes)}")


def ends_of_chains(experiment: Experiment, only: Texts, k: int = 10) -> Figure:
    """Recall@k of the first supports of each question's chains, and of the last.

    The last ones hold the answer: the title says, question by question, what is gained there over
    the first of the methods. Questions whose evidence has no order are left out.
    """
    ordered = [
        question
        for question in experiment.questions
        if question.evidence and question.evidence.edges
    ]
    rows = []
    at_the_end = {}
    for name in only:
        recalls = [
            _recall_of_ends(
                question,
                experiment.rankings[name][question.id].ids,
                k,
            )
            for question in ordered
        ]
        for end, values in DataFrame(recalls).items():
            mean = statistics.interval(values.to_numpy(), **experiment.draws)
            rows.append((name, end, *mean[:4]))
        at_the_end[name] = [recall[LAST] for recall in recalls]
    table = DataFrame(rows, columns=["line", "support", "mean", "low", "high", "n"])

    figure = plots.lines(
        table,
        _gain_at_the_end(at_the_end, f"recall@{k}", **experiment.draws),
        "support",
        "line",
        xlabel="position in the chain",
        ylabel=f"Recall@{k}",
    )
    return figure.of(table)


def _gain_at_the_end(
    recalls: Mapping[str, Sequence[float]],
    metric: str,
    **draws: int,
) -> str:
    """What is gained over the first method, by the last supports' recall of each question."""
    base, *others = recalls
    if not recalls[base]:
        return "No question has evidence in an order"

    rows = []
    for name in others:
        gain = statistics.paired(np.array(recalls[name]), np.array(recalls[base]), **draws)
        row = {"retriever": name, "difference": gain.value, "low": gain.low, "high": gain.high}
        rows.append(row | {"baseline": base, "metric": metric, "n": gain.n})
    return f"Of the last supports: {headline(DataFrame(rows))}"


def _recall_of_ends(question: Question, ids: Texts, k: int) -> dict[str, float]:
    among = np.array(support_ranks(question, ids)) <= k
    chains = question.evidence.chains
    first = sorted({chain[0] for chain in chains})
    last = sorted({chain[-1] for chain in chains})
    return {FIRST: among[first].mean(), LAST: among[last].mean()}
