"""The atlas as a benchmark, from a seed and a size, and its files."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from kit.corpus.exporting import files_of
from kit.corpus.types import Benchmark, Corpus
from kit.errors import InputError
from kit.paths import ATLAS
from kit.store import atomic_write
from kit.worlds.atlas import articles, country, society
from kit.worlds.atlas.chains import Draft
from kit.worlds.atlas.names import Names
from kit.worlds.atlas.questions import ask_all
from kit.worlds.atlas.world import World

SPLITS = ("train", "dev", "test")
PASSAGES = 89  # of a country, about
#: By name: how many countries, and how many questions a split.
SIZES = {"small": (4, 100, 40, 60), "class": (23, 600, 200, 500), "large": (120, 1200, 400, 2000)}


class Atlas(NamedTuple):
    """A benchmark with the world behind it and, by question id, the draft that the solver can answer."""

    benchmark: Benchmark
    world: World
    drafts: dict[str, Draft]


def generate(seed: int = 0, size: str | int = "class", **questions: int) -> Benchmark:
    """The atlas of a seed and a size.

    The size is a name in SIZES, or about how many passages there are, then without questions but for those that are
    asked for: ``train``, ``dev``, ``test`` (how many). InputError for another name.
    """
    return build(seed, size, **questions).benchmark


def build(seed: int = 0, size: str | int = "class", **questions: int) -> Atlas:
    """As generate, with the facts and drafts that tests look into."""
    if isinstance(size, str) and size not in SIZES:
        raise InputError(f"expected one of {', '.join(SIZES)}, found {size!r}", field="size")
    n_countries, *numbers = (
        SIZES[size] if isinstance(size, str) else (max(1, round(size / PASSAGES)), 0, 0, 0)
    )
    totals = dict(zip(SPLITS, numbers)) | questions
    rng, world, strangers = random.Random(seed), World(), []
    names = Names(rng)
    countries = [country.found(world, names, rng, family) for family in range(n_countries)]
    for each in countries:
        society.settle(each, strangers)
        strangers = [*strangers, *each["person"]][-200:]
    country.befriend(countries)
    articles.titles(world)
    pages = [articles.write_article(world, entity, rng) for entity in world.entities]
    splits, drafts = {}, {}
    for split, families in zip(SPLITS, share_out(n_countries, list(totals.values()), rng)):
        asked = (
            ask_all(world, families, totals[split], f"atlas-{split}", rng) if totals[split] else []
        )
        splits[split] = [question for question, _ in asked]
        drafts |= {question.id: draft for question, draft in asked}
    rng.shuffle(pages)
    return Atlas(
        Benchmark("atlas", Corpus(it for article in pages for it in article), **splits),
        world,
        drafts,
    )


def share_out(n_families: int, totals: Sequence[int], rng: random.Random) -> list[list[int]]:
    """Families for each split, in proportion to its questions: no family serves two splits."""
    families = list(range(n_families))
    rng.shuffle(families)
    shares, start = [], 0
    for place, total in enumerate(totals):
        wanted = round(n_families * sum(totals[: place + 1]) / max(1, sum(totals)))
        end = min(
            max(wanted, start + (total > 0)),
            n_families - sum(later > 0 for later in totals[place + 1 :]),
        )
        shares.append(sorted(families[start:end]))
        start = end
    return shares


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=ATLAS)
@click.option("--size", default="class", show_default=True, help="small, class or large")
@click.option("--seed", default=0, show_default=True, help="where random choices start from")
def main(folder: Path, size: str, seed: int) -> None:
    """Generate the atlas into FOLDER, by default where the embedded one lies."""
    benchmark = generate(seed, size)
    write(benchmark, folder)
    click.echo(
        f"{folder}: {len(benchmark.corpus):,} passages, {len(benchmark.test):,} test questions"
    )


def write(benchmark: Benchmark, folder: Path) -> list[Path]:
    """Write passages.jsonl, train.jsonl, dev.jsonl and test.jsonl, each whole or not at all, and return their paths."""
    for name, content in (files := files_of(benchmark)).items():
        atomic_write(folder / name, content)
    return [folder / name for name in files]
