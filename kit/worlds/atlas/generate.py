"""The atlas as a benchmark, from a seed and a size, and its files."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import click

from kit.arguments import expect_known
from kit.corpus.exporting import files_of
from kit.corpus.types import SPLITS, Benchmark, Corpus, Question
from kit.errors import InputError
from kit.files import atomic_write
from kit.paths import ATLAS, downloads
from kit.worlds.atlas.articles import add_titles, write_article
from kit.worlds.atlas.dialects import crowd, dialect
from kit.worlds.atlas.drafts import Draft
from kit.worlds.atlas.geography import befriend, found_country
from kit.worlds.atlas.long_articles import in_long_articles
from kit.worlds.atlas.names import Names
from kit.worlds.atlas.phrasings import PLAIN
from kit.worlds.atlas.questions import LARGE_PLANS, PLANS, ask_all
from kit.worlds.atlas.society import settle
from kit.worlds.atlas.world import World

PASSAGES = 89  # of a country, about
MOST_LARGE = (600, 200, 300)  # questions with large graphs, by split
STRANGERS = 200  # people of earlier countries, of whom a country knows the names


class Size(NamedTuple):
    """How many countries, and how many questions per split."""

    countries: int
    train: int = 0
    dev: int = 0
    test: int = 0


SIZES = {
    "tiny": Size(3, 60, 20, 30),
    "small": Size(4, 100, 40, 60),
    "class": Size(23, 600, 200, 500),
    "large": Size(120, 1200, 400, 2000),
}


class Atlas(NamedTuple):
    """A benchmark with its world and, by question id, the draft that the solver can answer."""

    benchmark: Benchmark
    world: World
    drafts: dict[str, Draft]


def generate(
    seed: int = 0,
    size: str | int = "class",
    *,
    own_words: bool = False,
    crowded: bool = False,
    large_graphs: bool = False,
    articles: bool = False,
    **questions: int,
) -> Benchmark:
    """The atlas of a seed and a size.

    The size is a name in SIZES, or about how many passages there are, then without questions but
    for those that are asked for: ``train``, ``dev``, ``test`` (how many). InputError for another
    name.

    With ``own_words`` names, wordings and templates are drawn anew by the seed. In a ``crowded``
    world many things have names alike. With ``large_graphs`` the questions are others, of 5 to 10
    facts each, over the same passages and with the same documents in each split, at most 600, 200
    and 300 of them; they are meant for the setting *facts*:
    ``single_facts(generate(large_graphs=True))``. With ``articles`` the same questions are asked of
    whole articles, of ten to forty passages each (:mod:`kit.worlds.atlas.long_articles`).
    """
    atlas = build(
        seed,
        size,
        own_words=own_words,
        crowded=crowded,
        large_graphs=large_graphs,
        **questions,
    )
    return in_long_articles(*atlas, Random(f"articles {seed}")) if articles else atlas.benchmark


def build(
    seed: int = 0,
    size: str | int = "class",
    *,
    own_words: bool = False,
    crowded: bool = False,
    large_graphs: bool = False,
    **questions: int,
) -> Atlas:
    """As generate, with the facts and drafts that tests look into."""
    expect_known(questions, SPLITS, "split")
    wanted = _size(size)._replace(**questions)
    rng = Random(seed)
    language = dialect(rng) if own_words else PLAIN
    if crowded:
        language = crowd(language)
    world = World(language)
    _populate(world, wanted.countries, rng)
    articles = [write_article(world, entity, rng) for entity in world.entities]

    splits: dict[str, list[Question]] = {}
    drafts = {}
    _, *totals = wanted
    shares = share_out(wanted.countries, totals, rng)
    name = "atlas"
    plans = PLANS
    if large_graphs:
        name = "atlas-large-graphs"
        plans = LARGE_PLANS
        totals = map(min, totals, MOST_LARGE)
    for split, total, families in zip(SPLITS, totals, shares):
        splits[split] = []
        if total:
            made = ask_all(
                world,
                families,
                plans,
                total,
                f"{name}-{split}",
                rng,
            )
            for question, draft in made:
                splits[split].append(question)
                drafts[question.id] = draft

    rng.shuffle(articles)
    passages = [passage for article in articles for passage in article]
    return Atlas(Benchmark(name, Corpus(passages), **splits), world, drafts)


def _size(size: str | int) -> Size:
    if not isinstance(size, str):
        return Size(max(1, round(size / PASSAGES)))
    if size not in SIZES:
        raise InputError(f"expected one of {', '.join(SIZES)}, found {size!r}", field="size")
    return SIZES[size]


def _populate(world: World, n_countries: int, rng: Random) -> None:
    """All countries, and what is in them."""
    names = Names(rng, world.language.lexicon)
    countries = [found_country(world, names, rng, family) for family in range(n_countries)]
    strangers = []
    for country in countries:
        settle(country, strangers[-STRANGERS:])
        strangers += country["person"]
    befriend(countries)
    add_titles(world)


def share_out(n_families: int, totals: Sequence[int], rng: Random) -> list[list[int]]:
    """Families for each split, in proportion to its questions: no family serves two splits."""
    families = list(range(n_families))
    rng.shuffle(families)
    all_questions = max(1, sum(totals))
    shares = []
    start = 0
    for split, total in enumerate(totals):
        questions = sum(totals[: split + 1])
        end = round(n_families * questions / all_questions)
        if total:
            end = max(end, start + 1)
        later = [other for other in totals[split + 1 :] if other]
        end = max(start, min(end, n_families - len(later)))
        shares.append(sorted(families[start:end]))
        start = end
    return shares


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), required=False)
@click.option("--size", default="class", show_default=True, help="small, class or large")
@click.option("--seed", default=0, show_default=True, help="where random choices start from")
@click.option("--articles", is_flag=True, help="Whole articles, of ten to forty passages each.")
def main(
    folder: Path | None,
    size: str,
    seed: int,
    articles: bool,
) -> None:
    """Generate the atlas into FOLDER, by default where the embedded one lies.

    Whole articles go by default into data/downloads/atlas-articles.
    """
    benchmark = generate(seed, size, articles=articles)
    if folder is None:
        folder = downloads() / benchmark.name if articles else ATLAS
    write(benchmark, folder)
    n_passages = len(benchmark.corpus)
    n_questions = len(benchmark.test)
    click.echo(f"{folder}: {n_passages:,} passages, {n_questions:,} test questions")


def write(benchmark: Benchmark, folder: Path) -> list[Path]:
    """Write passages.jsonl, train.jsonl, dev.jsonl and test.jsonl, and return their paths.

    Each is written whole or not at all.
    """
    files = files_of(benchmark)
    for name, content in files.items():
        atomic_write(folder / name, content)
    return [folder / name for name in files]
