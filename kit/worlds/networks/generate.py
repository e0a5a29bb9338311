"""The command that trains the kit's networks, each as its recipe says."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import click

from kit.arguments import expect_known
from kit.corpus import Benchmark
from kit.learning.training import one_thread
from kit.methods import make
from kit.paths import NETWORKS
from kit.settings import Value
from kit.worlds.networks.worlds import fact_worlds, training_worlds


class Recipe(NamedTuple):
    """What a method learns from, and with which settings beside ``start=untrained``."""

    worlds: Callable[[], Sequence[Benchmark]]
    settings: Mapping[str, Value]


#: Of QSGNN, in both forms.
QSGNN = {"epochs": 2, "learning_rate": 2e-3}
#: By the folder: the name of the method and, where it has several, of its form.
RECIPES: dict[str, Recipe] = {
    "dpr": Recipe(partial(training_worlds, 8), {"n_train": 400}),
    "mdr": Recipe(partial(training_worlds, 8), {"n_train": 300, "hops": 4}),
    "logistic": Recipe(partial(training_worlds, 2), {"n_train": 400}),
    "graph-reranker": Recipe(partial(training_worlds, 4), {"epochs": 3}),
    "bgr": Recipe(partial(fact_worlds, 8), {"steps": 3200, "learning_rate": 1.2e-3}),
    "qsgnn/printed": Recipe(partial(training_worlds, 2), {"form": "printed", **QSGNN}),
    "qsgnn/residual": Recipe(partial(training_worlds, 2), {"form": "residual", **QSGNN}),
}


@click.command()
@click.argument("names", nargs=-1)
def main(names: Sequence[str]) -> None:
    """Train the networks of these NAMES anew, by default all, into data/networks.

    A training that was interrupted goes on where it stopped.
    """
    expect_known(names, RECIPES, "network")
    for name in names or RECIPES:
        worlds, settings = RECIPES[name]
        method = make(name.partition("/")[0], start="untrained", **settings)
        with one_thread():
            learned = method.learn(worlds())
        method.ship(learned, NETWORKS / name)
        click.echo(f"{NETWORKS / name}: {len(method.history):,} rows of history")
