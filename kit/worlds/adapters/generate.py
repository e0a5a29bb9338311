"""The command that trains the kit's adapters of a language model, each for a role."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import click
import numpy as np
from msgspec import Struct

from kit.arguments import expect_known
from kit.corpus import Benchmark
from kit.corpus.loading import load_training
from kit.learning.adapters import Adapter, AdapterSettings, Pair
from kit.paths import ADAPTERS
from kit.text.language_models import CausalModel
from kit.text.language_models.smollm2 import NAME
from kit.worlds.adapters.evidence import evidence_pairs, triples_pairs
from kit.worlds.adapters.pairs import PairsOfQuestions
from kit.worlds.adapters.planner import planner_pairs
from kit.worlds.adapters.reader import reader_pairs
from kit.worlds.networks.worlds import training_worlds

N_WORLDS = 2
N_DEV = 20  # questions whose pairs choose the weights


class Role(Struct, frozen=True):
    """What makes a role's pairs from a benchmark, and of how many questions at most.

    ``n_of_world`` are those of each invented world, ``n_of_file`` of each file of people's.
    """

    pairs_of: Callable[[Benchmark, int, int], PairsOfQuestions]
    n_of_world: int
    n_of_file: int


ROLES: Mapping[str, Role] = {
    "reader": Role(reader_pairs, 50, 200),
    "planner": Role(planner_pairs, 30, 100),
    "triples": Role(triples_pairs, 200, 400),
    "evidence": Role(evidence_pairs, 150, 200),
}


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
        pairs, dev = _pairs(ROLES[role], files)
        learned = Adapter(role, base, AdapterSettings()).learn(pairs, dev)
        _copy(learned, ADAPTERS / role)
        click.echo(f"{ADAPTERS / role}: {len(pairs):,} pairs")


def _copy(learned: Path, folder: Path) -> None:
    """What the store keeps, without its checksums, to be read by everybody."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in learned.iterdir():
        if file.name != "checksums.json":
            shutil.copyfile(file, folder / file.name)


def _pairs(role: Role, files: Sequence[Path]) -> tuple[list[Pair], list[Pair]]:
    """Those that teach, and those of other questions that choose the weights."""
    by_question = []
    for world in training_worlds(N_WORLDS)[1:]:
        by_question += role.pairs_of(world, role.n_of_world, 0)
    for file in files:
        by_question += role.pairs_of(load_training([file]), role.n_of_file, 0)
    order = np.random.default_rng(0).permutation(len(by_question))
    mixed = [by_question[row] for row in order]
    return list(chain(*mixed[N_DEV:])), list(chain(*mixed[:N_DEV]))
