"""The command that trains the kit's networks, each as its recipe says."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import click

from kit.corpus import Benchmark
from kit.learning.training import one_thread
from kit.methods import make
from kit.paths import NETWORKS
from kit.settings import Value


class Recipe(NamedTuple):
    """What a method learns from, and with which settings beside ``start=untrained``."""

    worlds: Callable[[], Sequence[Benchmark]]
    settings: Mapping[str, Value]


#: By the name of the method.
RECIPES: dict[str, Recipe] = {}


@click.command()
@click.argument("names", nargs=-1)
def main(names: Sequence[str]) -> None:
    """Train the networks of these NAMES anew, by default all, into data/networks.

    A training that was interrupted goes on where it stopped.
    """
    for name in names or RECIPES:
        worlds, settings = RECIPES[name]
        method = make(name, start="untrained", **settings)
        with one_thread():
            learned = method.learn(worlds())
        method.ship(learned, NETWORKS / name)
        click.echo(f"{NETWORKS / name}: {len(method.history):,} rows of history")
