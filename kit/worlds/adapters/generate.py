"""The command that trains the kit's adapters of a language model, each for a role."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from kit.arguments import expect_known
from kit.corpus import Benchmark
from kit.corpus.loading import load_training
from kit.learning.adapters import Adapter, AdapterSettings, Pair
from kit.methods.training import draw
from kit.paths import ADAPTERS
from kit.text.language_models import CausalModel
from kit.text.language_models.smollm2 import NAME
from kit.worlds.adapters.pairs import reader_pairs
from kit.worlds.networks.worlds import training_worlds

N_WORLDS = 2
N_QUESTIONS = 50  # of each world
N_OF_FILE = 200  # of each file with questions of people
N_DEV = 60  # pairs that choose the weights

#: By the role, what makes pairs of a benchmark's training questions: so many, by a seed.
ROLES: Mapping[str, Callable[[Benchmark, int, int], list[Pair]]] = {"reader": reader_pairs}


@click.command()
@click.argument("roles", nargs=-1)
@click.option(
    "--train",
    "files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file with questions to learn from beside the invented worlds; may be repeated.",
)
def main(roles: Sequence[str], files: Sequence[Path]) -> None:
    """Train adapters for these ROLES anew, by default all, into data/adapters.

    A training that was interrupted goes on where it stopped.
    """
    expect_known(roles, ROLES, "role")
    base = CausalModel(NAME)
    base.expect_ready()
    for role in roles or ROLES:
        make_pairs = ROLES[role]
        pairs = []
        for world in training_worlds(N_WORLDS)[1:]:
            pairs += make_pairs(world, N_QUESTIONS, 0)
        for file in files:
            pairs += make_pairs(load_training([file]), N_OF_FILE, 0)
        dev = draw(pairs, N_DEV, 0)
        learned = Adapter(role, base, AdapterSettings()).learn(
            [pair for pair in pairs if pair not in dev], dev
        )
        of_the_store = shutil.ignore_patterns("checksums.json")
        shutil.copytree(learned, ADAPTERS / role, ignore=of_the_store, dirs_exist_ok=True)
        click.echo(f"{ADAPTERS / role}: {len(pairs):,} pairs")
