"""How a training went: the loss of its steps, and what was measured on dev questions between."""

from collections.abc import Mapping, Sequence

import pandas as pd
from pandas import DataFrame

from kit.learning.trained import Trained
from kit.views import plots
from kit.views.names import capital, listed, name_of
from kit.views.style import Figure

LOSS = "loss of training questions"
DEV_LOSS = "loss of dev questions"
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
