"""Commands that run notebooks and tell what they found."""

import sys
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import click

from kit import paths
from kit.corpus.types import Texts
from kit.errors import InputError
from kit.files import atomic_write
from kit.lab.commands.options import AT_LEAST_ONE, Given, notebook_options

if TYPE_CHECKING:
    from kit.lab.handing_out import Written

FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.argument("notebooks", nargs=-1)
@notebook_options
@click.option("--again", is_flag=True, help="Run notebooks that have finished, too.")
@click.option(
    "--at-once",
    default=2,
    show_default=True,
    type=AT_LEAST_ONE,
    help="How many notebooks run at the same time, each on its share of the cores.",
)
@click.option(
    "--publish",
    is_flag=True,
    help="Replace the committed figures with those of whole runs.",
)
@click.option(
    "--student",
    type=FOLDER,
    help="Run nothing; write the lessons, without their solutions, into this folder.",
)
@click.option(
    "--html",
    type=FOLDER,
    help="Write a page per notebook into this folder, to read without Python or a network.",
)
@click.option(
    "--slides",
    type=FOLDER,
    help="Write slides into this folder: by the cells' slide types, or one per picture.",
)
def run(
    notebooks: Texts,
    again: bool,
    at_once: int,
    publish: bool,
    student: Path | None,
    html: Path | None,
    slides: Path | None,
    given: Given,
) -> None:
    """Run NOTEBOOKS, named by their first characters, or all lessons.

    `papers` means the notebooks of all papers, `papers/bgr` one of them; `solutions` and
    `solutions/04` work alike.

    The first notebook starts first, then those that took longest last time. A notebook that has
    finished with the same data, parameters and code is not run again. Figures go to
    figures/DATASET/, the executed notebooks to notebooks/executed/DATASET/; the committed figures,
    in figures/published/, stay as they are. Exit status 1: a notebook failed.

    Example: kit run 02 04 --data dev.json --scale smoke
    """
    if publish:
        paths.expect_checkout("kit run --publish")
    if student:
        from kit.lab.handing_out import write_student_lessons

        _show_written(write_student_lessons(student, notebooks), student)
        return
    if sys.stderr.isatty():
        click.echo("kit run: reading notebooks and data …", err=True)
    from kit.lab.runner import run as run_notebooks

    status = run_notebooks(
        notebooks,
        **given._asdict(),
        again=again,
        at_once=at_once,
        publish=publish,
        html=html,
        slides=slides,
    )
    sys.exit(status)


@click.command()
@click.argument("folder", type=FOLDER)
def lessons(folder: Path) -> None:
    """Write the notebooks into FOLDER, to open and change them there.

    They are the lessons, the papers' notebooks in papers/, and answers to the exercises in
    solutions/. Files that are there already stay as they are.

    Example: kit lessons my-lessons
    """
    from kit.lab.handing_out import write_lessons

    _show_written(write_lessons(folder), folder)


def _show_written(written: "Written", folder: Path) -> None:
    click.echo(f"notebooks written into {folder}: {len(written.notebooks)}; open with: jupyter lab")
    if written.kept:
        click.echo(f"left as they are: {', '.join(written.kept)}")


@click.command()
@click.argument("notebook", default="")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def lab(notebook: str, no_browser: bool) -> None:
    """Open JupyterLab at a NOTEBOOK, named by its first characters, or at the lessons.

    Where the kit was installed without its notebooks, they are first written to ./lessons, as by
    `kit lessons`.

    Example: kit lab 04
    """
    from kit.lab import serving

    command = serving.lab_command(notebook, browser=not no_browser)
    sys.exit(serving.serve(command))


@click.command()
@click.argument("notebook")
@click.option(
    "--model",
    required=True,
    help="The notebook's chat model, as server:NAME, server:NAME@URL or hf:NAME.",
)
@click.option(
    "--most-calls",
    default=10_000,
    show_default=True,
    type=AT_LEAST_ONE,
    help="The most requests to servers, in all.",
)
@click.option(
    "--most-tokens",
    default=10_000_000,
    show_default=True,
    type=AT_LEAST_ONE,
    help="The most tokens, as the servers count them, in all.",
)
@click.option(
    "--price",
    type=click.FloatRange(min=0),
    help="The price of a million tokens: the most that the run can cost is told beforehand.",
)
@notebook_options
def record(
    notebook: str,
    model: str,
    most_calls: int,
    most_tokens: int,
    price: float | None,
    given: Given,
) -> None:
    """Run a NOTEBOOK with a chat model, and record the answers.

    They go to data/answers/. Then `kit run NOTEBOOK -p model replay:server:NAME` needs no server,
    no key and no weights. What the same model has answered is not asked again: after an error, or
    where a limit was reached, the same command goes on. Exit status 1: the notebook failed.

    Example: kit record 17 --model server:NAME --most-calls 500
    """
    from kit.lab.recording import recording
    from kit.lab.runner import find_notebooks
    from kit.lab.runner import run as run_notebooks

    paths.expect_checkout("kit record")
    if len(find_notebooks(paths.NOTEBOOKS, [notebook])) > 1:  # the caps are those of one run
        raise InputError(
            f"expected one notebook, not all that begin with {notebook!r}",
            field="notebook",
        )
    caps = f"at most {most_calls:,} calls and {most_tokens:,} tokens"
    if price is not None:
        caps += f", that is at most {price * most_tokens / 1e6:,.2f}"

    with recording(model, most_calls, most_tokens) as file:
        click.echo(f"{model}: {caps}, and calls that are under way when the tokens are spent")
        chosen = given._replace(parameters=[*given.parameters, ("model", model)])
        status = run_notebooks([notebook], **chosen._asdict(), again=True)
    click.echo(f"recorded answers: {file}")
    sys.exit(status)


@click.command()
@click.option(
    "--markdown",
    is_flag=True,
    help="Write figures/published/CLAIMS.md from what is published, instead of printing.",
)
@click.option(
    "--readme", is_flag=True, help="Write the numbers of README.md from the findings, too."
)
def claims(markdown: bool, readme: bool) -> None:
    """Show what the papers claim, and what came of it here on each data set.

    Findings of your own whole runs replace the published ones.

    Example: kit claims --markdown
    """
    from kit.lab.claims.ledger import (
        claim_details,
        how_many_tested,
        ledger,
        ledger_page,
        read_records,
    )

    if readme or markdown:
        paths.expect_checkout("kit claims --markdown or --readme")
    if readme:
        from kit.lab.claims.readme import write_readme

        click.echo(write_readme(paths.PUBLISHED))
    if markdown:
        page = paths.PUBLISHED / "CLAIMS.md"
        atomic_write(page, ledger_page(read_records(paths.PUBLISHED)).encode())
        click.echo(page)
    if not markdown and not readme:
        table = ledger(read_records(paths.PUBLISHED, paths.output() / "figures"))
        details = f"{how_many_tested(table)}\n\n{claim_details(table)}"
        lines = [fill(line, 100, subsequent_indent="  ") for line in details.splitlines()]
        click.echo("\n".join(lines))
