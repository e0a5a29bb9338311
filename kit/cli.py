"""The command line: thin, since everything that it does is a call that a notebook can make too.

Imports of what takes seconds to load stand inside the commands, so that ``kit --help`` answers at once.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

import kit
from kit.errors import InputError
from kit.store import atomic_write
from kit.values import read_value, read_values, whole_numbers

FILE = click.Path(path_type=Path)


def _pairs(read: Callable[[str], object], metavar: str) -> dict[str, Any]:
    """An option NAME=VALUE that may be repeated: the values by name, each read by ``read``."""

    def convert(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, object]:
        found = {}
        for each in given:
            name, _, text = each.partition("=")
            if not name or not text:
                raise click.BadParameter(f"expected {metavar}, not {each!r}", context, option)
            if name in found:
                raise click.BadParameter("expected each name once, with all its values", context, option)
            found[name] = read(text)
        return found

    return {"multiple": True, "metavar": metavar, "callback": convert}


SETTINGS = _pairs(read_value, "NAME=VALUE")
GRID = _pairs(read_values, "NAME=VALUE,VALUE")


def _data_options(command: Callable) -> Callable:
    """The options of every command that reads a benchmark."""
    for option in (
        click.option("--unit", default="paragraph", show_default=True, help="paragraph or sentence"),
        click.option("--setting", default="pooled", show_default=True, help="pooled or per-question"),
        click.option("--corpus", type=FILE, multiple=True, help="a corpus to add as distractors; may be repeated"),
        click.option("--format", help="the data's format; recognised from its content otherwise"),
        click.option("--data", type=FILE, help="a published file or folder; the embedded atlas otherwise"),
    ):
        command = option(command)
    return command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(kit.__version__, prog_name="kit")
def cli() -> None:
    """Learn, explore and reproduce graph-based retrieval for multi-hop question answering."""


@cli.command()
@click.argument("notebooks", nargs=-1)
@click.option("--data", type=FILE, help="a published file or folder; the embedded atlas otherwise")
@click.option("--train", type=FILE, help="a file with questions to learn from; the data's own otherwise")
@click.option("--scale", default="class", show_default=True, help="smoke, class or paper")
@click.option("--seed", default=0, show_default=True, help="where random choices start from")
@click.option("-p", "parameters", nargs=2, multiple=True, metavar="NAME VALUE", help="a parameter of a notebook")
@click.option("--again", is_flag=True, help="run also what has finished")
def run(notebooks: tuple[str, ...], parameters: tuple[tuple[str, str], ...], **options) -> None:
    """Execute the NOTEBOOKS, named by their first characters ("02"), or all of them in order.

    What has finished with the same data, parameters and code is not run again. Figures go to figures/DATASET/, the
    executed notebooks, also as web pages, to notebooks/executed/DATASET/. Exit status 1: a notebook failed.
    """
    from kit.runs.runner import run as run_notebooks

    sys.exit(run_notebooks(notebooks, parameters=dict(parameters), **options))


@cli.command()
@click.argument("retrievers", nargs=-1, required=True)
@_data_options
@click.option("--train", type=FILE, multiple=True, help="a file with questions to learn from; may be repeated")
@click.option("--also", type=FILE, multiple=True, help="passages to learn from, too; questions in it are left out")
@click.option("--k", "ks", default="2,5,10", show_default=True, help="cut-offs of Recall@k and Full@k")
@click.option("--seed", default=0, show_default=True, help="where random choices start from")
@click.option(
    "--set",
    "settings",
    **SETTINGS,
    help="a setting, for the retrievers that have it; may be repeated",
)
@click.option("--reader", help="who answers from what is found: extractive, or a language model as server:MODEL")
@click.option("--read", type=int, help="passages that the reader gets; the largest k otherwise")
@click.option("--none", is_flag=True, help="ask the reader without any passage too")
@click.option("--judge", help="a language model that judges the answers, as server:MODEL")
@click.option("--json", "json_file", type=FILE, help="write the results here")
@click.option("--trec", "trec_file", type=FILE, help="write the rankings as a TREC run; of several to FILE-NAME")
def evaluate(retrievers: tuple[str, ...], data: Path | None, ks: str, **given: Any) -> None:
    """Evaluate RETRIEVERS on a benchmark: names, or files with TREC runs of other systems.

    The table shows means over the questions with 95 % bootstrap intervals, and paired differences to the first
    retriever. The JSON file has data, n_questions, n_passages, setting, unit, seed, provenance and results: for each
    retriever recall@k, full@k and mrr as fractions, their intervals under NAME_ci as [low, high], seconds_per_query and
    seconds_to_fit. With --reader each has em, f1, accuracy (by containment) and words (of an answer) too, with --judge
    judged and unclear, and the file has reader and judge: name, and the usage of a language model.
    """
    from kit.evaluation import evaluate as evaluate_all
    from kit.evaluation.answers import AnswerOptions
    from kit.evaluation.experiment import N_TIMED
    from kit.evaluation.trec import read_run, write_runs
    from kit.retrievers import make_all
    from kit.runs.provenance import write_result
    from kit.text.language_models import usage_lines

    begun, cut_offs, asked = time.perf_counter(), whole_numbers(ks, "k"), SimpleNamespace(**given)
    named = make_all([name for name in retrievers if not Path(name).is_file()], **asked.settings)
    reading = AnswerOptions(asked.reader, asked.read, max(cut_offs), asked.none, asked.judge)
    _expect_writable(asked.json_file, asked.trec_file)
    if asked.also and not asked.train:
        raise InputError("expected --train FILE with questions to learn from beside --also", field="also")
    benchmark, training = _read(data, given, also=asked.also)
    runs = {name: read_run(Path(name), benchmark) for name in retrievers if Path(name).is_file()}
    everything = {name: named.get(name) or runs[name] for name in retrievers}
    reading.fit(training or benchmark)
    experiment = evaluate_all(everything, benchmark, ks=cut_offs, seed=asked.seed, training=training, n_timed=N_TIMED)
    answers = reading.answers(experiment)
    click.echo("\n".join([experiment.text(answers), *usage_lines(experiment.usages | reading.usages())]))
    if asked.json_file:
        found = experiment.record(answers) | reading.record()
        write_result(asked.json_file, found, benchmark, asked.settings, begun)
    if asked.trec_file:
        write_runs(experiment.rankings, asked.trec_file)


@cli.command()
@click.argument("builder")
@_data_options
@click.option("--set", "settings", **SETTINGS, help="a setting of the builder: --set n_keywords=20")
@click.option("--seeds", default=5, show_default=True, help="passages of the TF-IDF search whose neighbours count")
@click.option("--json", "json_file", type=FILE, help="write the results here")
@click.option("--html", "html_file", type=FILE, help="write the graph here, as a page to pan and share")
@click.option("--question", help="on the page: what is around the supports of the question with this id, not all")
def graph(builder: str, data: Path | None, settings: dict[str, object], seeds: int, **given: Any) -> None:
    """Build a graph of passages and measure it: tfidf, knn, entity, structure, or a union such as entity+structure.

    The JSON file has nodes, edges, density, mean_degree, components, sf_em and precision (of the seeds and their
    neighbours, kgp.txt §3), neighbourhood (the size of that set), seconds, and provenance. The page has at most 300
    passages; of a larger graph, --question shows what is around a question's supports.
    """
    from kit.evaluation.graph_quality import measure
    from kit.graphs import build
    from kit.graphs import builders as check_builder
    from kit.runs.provenance import write_result
    from kit.views.graph_page import page_around

    begun, asked = time.perf_counter(), SimpleNamespace(**given)
    _expect_writable(asked.json_file, asked.html_file)
    check_builder(builder, **settings)
    benchmark, _ = _read(data, given)
    if asked.html_file:
        page = page_around(build(builder, benchmark.corpus, **settings), benchmark, asked.question)
    result = measure(builder, benchmark, benchmark.test, n_seeds=seeds, **settings)
    width = max(map(len, result))
    for name, value in result.items():
        click.echo(f"{name:{width}}  {value:,.4g}" if isinstance(value, float) else f"{name:{width}}  {value:,}")
    if asked.json_file:
        write_result(asked.json_file, result, benchmark, settings, begun)
    if asked.html_file:
        atomic_write(asked.html_file, page.html.encode())


@cli.command()
@click.argument("what", metavar="RETRIEVER|NOTEBOOK")
@click.option(
    "-g",
    "settings",
    **GRID,
    required=True,
    help="a setting and its values; may be repeated",
)
@_data_options
@click.option("--train", type=FILE, multiple=True, help="a file with questions to learn from; may be repeated")
@click.option("--k", default="2,5,10", show_default=True, help="cut-offs of Recall@k and Full@k")
@click.option("--scale", default="class", show_default=True, help="of a notebook: smoke, class or paper")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="processes that share the work")
@click.option("--scheduler", default="", help="a dask scheduler, as tcp://HOST:PORT, whose workers do it instead")
@click.option("--csv", "csv_file", type=FILE, help="write the whole table here")
@click.pass_context
def sweep(context: click.Context, what: str, settings: dict[str, list], data: Path | None, **given: Any) -> None:
    """Evaluate a retriever, or run a notebook (named by its first characters), with every combination of values.

    The whole table has a row a cell and question, or a row a cell and finding of the notebook; what is printed sums it
    up. Cells that finished with the same data and code are not run again, whatever stopped the command before, and a
    worker that dies is replaced. A notebook's cells leave figures and pages in sweeps/.
    """
    from kit.evaluation.experiment import N_TIMED
    from kit.runs.sweep import grid, summary, sweep_notebook, sweep_retriever

    asked, of_notebook = SimpleNamespace(**given), what[:1].isdecimal()
    for name in ("k", "format", "corpus", "setting", "unit") if of_notebook else ("scale",):
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise InputError(f"no option of the sweep of a {'notebook' if of_notebook else 'retriever'}", field=name)
    _expect_writable(asked.csv_file)
    work = {"jobs": asked.jobs, "scheduler": asked.scheduler}
    if of_notebook:
        if len(asked.train) > 1:
            raise InputError("expected one file for a notebook", field="train")
        train = next(iter(asked.train), None)
        table = sweep_notebook(what, grid(settings), data=data, train=train, scale=asked.scale, **work)
    else:
        asking = {"ks": whole_numbers(asked.k, "k"), "n_timed": N_TIMED}
        table = sweep_retriever(what, grid(settings), *_read(data, given), **asking, **work)
    click.echo(summary(table, len(settings)).to_string(index=False, float_format="{:.4g}".format))
    if asked.csv_file:
        atomic_write(asked.csv_file, table.to_csv(index=False).encode())


@cli.command()
@click.option("--markdown", is_flag=True, help="write it as a page, figures/CLAIMS.md, instead of printing it")
def claims(markdown: bool) -> None:
    """Tell what the papers claim, and what came of it here on each data set; draw it as figures/claims.svg and .png."""
    from textwrap import fill

    from kit.evaluation.claims import ledger, ledger_page, read_records
    from kit.paths import output
    from kit.views.claims_map import claims_map

    figures = output() / "figures"
    records = read_records(figures)
    page = ledger_page(records)
    if markdown:
        atomic_write(figures / "CLAIMS.md", page.encode())
        click.echo(figures / "CLAIMS.md")
    else:
        click.echo("\n".join(fill(line, 100, subsequent_indent="  ") for line in page.splitlines()))
    if records:
        for file in claims_map(ledger(records), figures):
            click.echo(file)


@cli.command()
@click.argument("what", type=click.Choice(["graphs", "gnn-ret", "qsgnn"]))
@click.option("--passages", help="sizes of the corpus; others for each by default, up to 1,000,000 for gnn-ret")
@click.option("--builders", default="tfidf,knn,entity,structure", show_default=True, help="of graphs")
@click.option("--degrees", default="336,672", show_default=True, help="mean degrees of the graph of gnn-ret")
def bench(what: str, passages: str | None, builders: str, degrees: str) -> None:
    """Measure speed and memory, each size in a process of its own.

    graphs: passages a second of each graph builder. gnn-ret: milliseconds a query beside dense search, on one core,
    over random vectors and keywords; the degrees are the two readings of "edges per node" in the paper's Table 5, and a
    million passages take 4 GB of memory. qsgnn: milliseconds a question, in the graph around it and in the whole one.
    """
    from kit.runs.bench import BENCHMARKS

    given = {"builders": builders.split(",")} if what == "graphs" else {}
    given |= {"degrees": whole_numbers(degrees, "degrees")} if what == "gnn-ret" else {}
    given |= {"sizes": whole_numbers(passages, "passages")} if passages else {}
    for row in BENCHMARKS[what](**given):
        click.echo(row)


@cli.group()
def data() -> None:
    """Make, check, describe, fetch and export data."""


class Generators(click.Group):
    """A command for each program that makes data of the project's own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from kit.corpus.generating import generators

        return generators()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from kit.corpus.generating import generator

        return generator(cmd_name).main if cmd_name in self.list_commands(ctx) else None


@data.group("make", cls=Generators)
def data_make() -> None:
    """Make the project's own data anew."""


@data.command("check")
@click.argument("files", nargs=-1, required=True, type=FILE)
@click.option("--format", help="the format; recognised from its content otherwise")
def data_check(files: tuple[Path, ...], format: str | None) -> None:
    """Tell every problem of FILES. Exit status 2: one of them can't be read; notes alone do not count."""
    from kit.corpus import check

    failed = False
    for file in files:
        problems = check(file, format)
        for problem in problems:
            click.echo(problem)
        errors = sum(problem.error for problem in problems)
        failed |= errors > 0
        click.echo(f"{file}: {errors} errors, {len(problems) - errors} notes")
    sys.exit(2 if failed else 0)


@data.command("describe")
@_data_options
def data_describe(data: Path | None, **options) -> None:
    """Count the passages and the questions of a benchmark."""
    from kit.corpus import describe, describe_corpus, load

    benchmark = load(data, **options)
    click.echo(describe_corpus(benchmark).round(1).to_string(index=False) + "\n")
    click.echo(describe(benchmark).round(1).to_string(index=False))


@data.command("fetch")
@click.argument("name")
def data_fetch(name: str) -> None:
    """Download a published data set by NAME: hotpotqa, 2wikimultihopqa, musique; with -train its training file."""
    from kit.corpus import fetch

    click.echo(fetch(name))


@data.command("export")
@click.argument("target", type=FILE)
@click.option("--to", required=True, help="hotpotqa, beir or qrels")
@click.option("--split", default="test", show_default=True, help="train, dev or test; beir holds all of them")
@_data_options
def data_export(target: Path, to: str, split: str, data: Path | None, **options) -> None:
    """Write a benchmark to TARGET in another format."""
    from kit.corpus import export, load

    click.echo(export(load(data, **options), target, to, split))


def _read(data: Path | None, given: Mapping[str, Any], also: Sequence[Path] = ()) -> tuple:
    """The benchmark of a command, and what there is to learn from beside it."""
    from kit.corpus import load, load_training

    form = {name: given[name] for name in ("setting", "unit")}
    benchmark = load(data, format=given["format"], corpus=given["corpus"], **form)
    return benchmark, load_training(given["train"], corpus=also, **form) if given.get("train") else None


def _expect_writable(*files: Path | None) -> None:
    for file in files:
        if file and (file.is_dir() or not file.resolve().parent.is_dir()):
            raise InputError("expected a file in a folder that exists", file=file)


def main() -> None:
    """Run the command line; bad input ends in one plain line and exit status 2."""
    try:
        sys.exit(cli.main(prog_name="kit", standalone_mode=False))
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except (InputError, click.ClickException) as error:
        message = error.format_message() if isinstance(error, click.ClickException) else str(error)
        click.echo(f"kit: {' '.join(message.split())}", err=True)
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort):
        click.echo("kit: interrupted", err=True)
        sys.exit(130)


if __name__ == "__main__":
    main()
