"""The command line: thin, since everything that it does is a call that a notebook can make too.

Imports of what takes seconds to load stand inside the commands, so that ``kit --help`` answers at once.
"""

import functools
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import fill
from types import SimpleNamespace

import click

import kit
from kit.errors import InputError
from kit.settings import Value, read_value, read_values
from kit.store import atomic_write


def _numbers(_: click.Context, parameter: click.Parameter, text: str) -> list[Value]:
    numbers = read_values(text)
    if not all(type(number) is int and number > 0 for number in numbers):
        raise InputError(
            f"expected whole numbers from 1 with commas between, not {text!r}", field=parameter.name
        )
    return numbers


def _named(
    _: click.Context, parameter: click.Parameter, texts: Sequence[str]
) -> dict[str, Value | list[Value]]:
    """What is given as NAME=VALUE; in a grid VALUE is several."""
    read, pairs = (
        read_values if parameter.name == "grid" else read_value,
        [text.partition("=")[::2] for text in texts],
    )
    if wrong := [text for text, pair in zip(texts, pairs) if not all(pair)]:
        raise InputError(f"expected NAME=VALUE, not {wrong[0]!r}")
    return {name: read(value) for name, value in pairs}


def _writable(_: click.Context, parameter: click.Parameter, file: Path | None) -> Path | None:
    if file and (file.is_dir() or not file.resolve().parent.is_dir()):
        raise InputError("expected a file in a folder that exists", file=file)
    return file


option = functools.partial(click.option, show_default=True)
repeated = functools.partial(click.option, multiple=True)
count = functools.partial(option, type=click.IntRange(min=1))
setting = functools.partial(
    repeated, callback=_named, help="a setting, for what has it; may be repeated"
)
FILE = click.Path(path_type=Path)
output_file = functools.partial(click.option, type=FILE, callback=_writable)
PARAMETERS = {  # of all commands, by the names that the commands call them here
    "notebooks": click.argument("notebooks", nargs=-1),
    "retrievers": click.argument("retrievers", nargs=-1, required=True),
    "files": click.argument("files", nargs=-1, required=True, type=FILE),
    **{name: click.argument(name) for name in ("notebook", "builder", "retriever", "name")},
    "target": click.argument("target", type=FILE),
    "--data": option(
        "--data", type=FILE, help="a published file or folder; the embedded atlas otherwise"
    ),
    "--format": option("--format", help="the data's format; recognised from its content otherwise"),
    "--corpus": repeated(
        "--corpus", type=FILE, help="a corpus to add as distractors; may be repeated"
    ),
    "--setting": option("--setting", default="pooled", help="pooled, per-question or facts"),
    "--train": repeated(
        "--train", type=FILE, help="a file with questions to learn from; may be repeated"
    ),
    "--also": repeated(
        "--also", type=FILE, help="passages to learn from, too; questions in it are left out"
    ),
    "--k": option(
        "--k", default="2,5,10", callback=_numbers, help="cut-offs of Recall@k and Full@k"
    ),
    "--scale": option("--scale", default="class", help="of a notebook: smoke, class or paper"),
    "--seed": option("--seed", default=0, help="where random choices start from"),
    "--set": setting("--set", metavar="NAME=VALUE"),
    "-g": setting("-g", "grid", metavar="NAME=VALUE,VALUE", required=True),
    "-p": repeated(
        "-p", "parameters", nargs=2, metavar="NAME VALUE", help="a parameter of a notebook"
    ),
    "--model": option(
        "--model",
        required=True,
        help="the notebook's chat model, as server:NAME or server:NAME@URL",
    ),
    "--most-calls": count("--most-calls", default=10_000, help="requests to servers, in all"),
    "--most-tokens": count(
        "--most-tokens", default=10_000_000, help="tokens that the servers count, in all"
    ),
    "--price": option(
        "--price", type=click.FloatRange(min=0), help="of a million tokens, in your money"
    ),
    "--again": option("--again", is_flag=True, help="run also what has finished"),
    "--reader": option(
        "--reader", help="who answers: extractive, ras, or a language model as server:MODEL"
    ),
    "--read": option(
        "--read", help="passages that the reader gets, or 3500tokens; the largest k otherwise"
    ),
    "--graphs": option(
        "--graphs", is_flag=True, help="measure evidence graphs, of questions that have one"
    ),
    "--judge": option("--judge", help="a language model that judges the answers, as server:MODEL"),
    "--question": option(
        "--question", help="on the page: what is around the supports of the question with this id"
    ),
    "--jobs": count("--jobs", default=1, help="processes that share the work"),
    "--at-once": count(
        "--at-once",
        default=2,
        help="notebooks that run at the same time, each on its share of cores",
    ),
    "--json": output_file("--json", help="write the results here"),
    "--trec": output_file(
        "--trec", help="write the rankings as a TREC run; of several to FILE-NAME"
    ),
    "--html": output_file("--html", help="write the graph here, as a page to pan and share"),
    "--csv": output_file("--csv", help="write the whole table here"),
    "--markdown": option(
        "--markdown", is_flag=True, help="write it as figures/CLAIMS.md, instead of printing it"
    ),
    "--to": option("--to", required=True, help="kit, beir or qrels"),
    "--split": option("--split", default="test", help="train, dev or test; a folder holds all"),
}
BENCHMARK = "--data --format --corpus --setting"
READING = "--reader --read --judge"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(kit.__version__, prog_name="kit")
def cli() -> None:
    """Learn, explore and reproduce graph-based retrieval for multi-hop question answering."""


@cli.group()
def data() -> None:
    """Make, check, fetch and export data."""


def command(group: click.Group, parameters: str) -> Callable:
    """Makes a command of a function; what was asked comes to it as the attributes of one object."""

    def decorate(function: Callable[[SimpleNamespace], None]) -> click.Command:
        made = functools.wraps(function)(lambda **asked: function(SimpleNamespace(**asked)))
        for name in reversed(parameters.split()):
            made = PARAMETERS[name](made)
        return group.command()(made)

    return decorate


@command(cli, "notebooks --data --train --scale --seed -p --again --at-once")
def run(asked: SimpleNamespace) -> None:
    """Execute the NOTEBOOKS, named by their first characters ("02"), or all; what took longest last time comes first.

    What has finished with the same data, parameters and code is not run again. Figures go to figures/DATASET/, the
    executed notebooks to notebooks/executed/DATASET/. Exit status 1: a notebook failed.
    """
    from kit.lab.runner import run as run_notebooks

    told = {
        "parameters": dict(asked.parameters),
        "again": asked.again,
        "at_once": asked.at_once,
        **_told(asked),
    }
    sys.exit(run_notebooks(asked.notebooks, **told))


@command(
    cli, "notebook --model --most-calls --most-tokens --price --data --train --scale --seed -p"
)
def record(asked: SimpleNamespace) -> None:
    """Execute a NOTEBOOK with a chat model on a server, and record its answers in data/answers/.

    Then `kit run NOTEBOOK -p model replay:server:NAME` needs no server and no key. What was answered before, by the
    same model, is not asked again; after an error or a cap the same command goes on. Exit status 1: the notebook
    failed.
    """
    from kit.lab.recording import recording
    from kit.lab.runner import find_notebooks
    from kit.lab.runner import run as run_notebooks
    from kit.paths import NOTEBOOKS

    if len(find_notebooks(NOTEBOOKS, [asked.notebook])) > 1:  # the caps are those of one run
        raise InputError(
            f"expected one notebook, not all that begin with {asked.notebook!r}", field="notebook"
        )
    most = f"at most {asked.most_calls:,} calls and {asked.most_tokens:,} tokens"
    if asked.price is not None:
        most += f", that is at most {asked.price * asked.most_tokens / 1e6:,.2f}"
    parameters = dict(asked.parameters) | {"model": asked.model}
    with recording(asked.model, asked.most_calls, asked.most_tokens) as file:
        click.echo(f"{asked.model}: {most}, and calls that are under way when the tokens are spent")
        status = run_notebooks([asked.notebook], parameters=parameters, again=True, **_told(asked))
    click.echo(f"recorded answers: {file}")
    sys.exit(status)


@command(
    cli,
    f"retrievers {BENCHMARK} --train --also --k --seed --set --graphs {READING} --json --csv --trec",
)
def evaluate(asked: SimpleNamespace) -> None:
    """Evaluate RETRIEVERS on a benchmark.

    The table shows means over the questions with 95 % bootstrap intervals, and paired differences to the first
    retriever. The JSON file has data, n_questions, n_passages, setting, seed, provenance and results: for each
    retriever recall@k, full@k and mrr as fractions, their intervals under NAME_ci as [low, high], seconds_per_query and
    seconds_to_fit. With --reader each has em, f1, accuracy (by containment) and words (of an answer) too, with --judge
    judged and unclear, beside the answers from no passage (none) and from the supports alone (golden), and the file has
    reader and judge: name, and the usage of a language model. With --graphs each has gm, gs, ged (by networkx, within
    half a second), ged_labelled, and evidence_f1, _precision, _recall and _em; a method that finds no graph gets a star
    of the true number of passages. The CSV file has all means by hops too, and the paired differences.
    """
    import pandas as pd

    from kit.evaluation import evaluate as evaluate_all
    from kit.evaluation.answers import Reading, reader_of
    from kit.evaluation.experiment import N_TIMED
    from kit.evaluation.trec import write_runs
    from kit.lab.lesson import write_result
    from kit.lab.recording import store_recorded
    from kit.methods import make_all

    begun = time.perf_counter()
    retrievers = make_all(asked.retrievers, **asked.set)
    if (asked.read or asked.judge) and not asked.reader:
        raise InputError("expected a reader (--reader), whose answers are meant", field="reader")
    reading = asked.reader and Reading(
        reader_of(asked.reader), asked.read or str(max(asked.k)), asked.judge
    )
    if asked.also and not asked.train:
        raise InputError(
            "expected --train FILE with questions to learn from beside --also", field="also"
        )
    benchmark, training = _read(asked)
    if asked.graphs:
        benchmark = benchmark.asking([question for question in benchmark.test if question.evidence])
    store_recorded()
    if reading:
        reading.reader.fit(training or benchmark)
    k = max([*asked.k, reading.n] if reading else asked.k)
    told = {"ks": asked.k, "k": k, "seed": asked.seed, "graphs": asked.graphs}
    experiment = evaluate_all(retrievers, benchmark, training=training, n_timed=N_TIMED, **told)
    answers = [reading.answers(experiment)] if reading else []
    click.echo(experiment.text(*answers))
    if usages := {
        role: usage for of in (experiment, *answers) for role, usage in of.usages.items()
    }:
        click.echo(pd.concat(usages, names=["role"]).reset_index("role").to_string(index=False))
    if asked.json:
        told = experiment.record(*answers) | (reading.record(*answers) if reading else {})
        write_result(asked.json, told, benchmark, asked.set, begun)
    if asked.csv:
        table = pd.concat([of.by_hops() for of in (experiment, *answers)])
        atomic_write(asked.csv, table.to_csv(index=False).encode())
    if asked.trec:
        write_runs(experiment.rankings, asked.trec)


@command(cli, f"builder {BENCHMARK} --set --json --html --question")
def graph(asked: SimpleNamespace) -> None:
    """Build a graph of passages and measure it: tfidf, knn, entity, structure, or a union such as entity+structure.

    The JSON file has nodes, edges, density, mean_degree, components, sf_em and precision (of five seeds and their
    neighbours, kgp.txt §3), neighbourhood (the size of that set), seconds, and provenance. The page has at most 300
    passages; of a larger graph, --question shows what is around a question's supports.
    """
    import pandas as pd

    from kit.evaluation.graph_quality import measure
    from kit.graphs import build, builders
    from kit.lab.lesson import write_result
    from kit.views.graph_page import page_around

    begun = time.perf_counter()
    builders(
        asked.builder, **asked.set
    )  # a setting that there is not is told before anything is read
    benchmark, _ = _read(asked)
    result = measure(asked.builder, benchmark, benchmark.test, **asked.set)
    if asked.html:
        page = page_around(
            build(asked.builder, benchmark.corpus, **asked.set), benchmark, asked.question
        )
        atomic_write(asked.html, page.html.encode())
    if asked.json:
        write_result(asked.json, result, benchmark, asked.set, begun)
    click.echo(pd.Series(result, dtype=object).to_string(float_format="{:,.4g}".format))


@command(cli, f"retriever -g {BENCHMARK} --train --k --jobs --csv")
def sweep(asked: SimpleNamespace) -> None:
    """Evaluate a retriever with every combination of values of its settings.

    The whole table has a row a cell and question; what is printed sums it up. Cells that finished with the same data
    and code are not evaluated again, whatever stopped the command before.
    """
    from kit.evaluation.experiment import N_TIMED
    from kit.lab.sweep import grid, sweep_retriever

    told = {"ks": asked.k, "n_timed": N_TIMED, "jobs": asked.jobs}
    table = sweep_retriever(asked.retriever, grid(asked.grid), *_read(asked), **told)
    cells = table.groupby(list(table.columns[: len(asked.grid)]), sort=False, dropna=False)
    means = cells[[name for name in table if "@" in name or name in ("mrr", "seconds")]].mean()
    click.echo(means.reset_index().to_string(index=False, float_format="{:.4g}".format))
    if asked.csv:
        atomic_write(asked.csv, table.to_csv(index=False).encode())


@command(cli, "--markdown")
def claims(asked: SimpleNamespace) -> None:
    """Tell what the papers claim, and what came of it here on each data set."""
    from kit.lab.claims.ledger import ledger_page, read_records
    from kit.paths import output

    figures = output() / "figures"
    page = ledger_page(read_records(figures))
    if asked.markdown:
        atomic_write(figures / "CLAIMS.md", page.encode())
        page = str(figures / "CLAIMS.md")
    click.echo("\n".join(fill(line, 100, subsequent_indent="  ") for line in page.splitlines()))


class Generators(click.Group):
    """A command for each program that makes data of the project's own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from kit.worlds import WORLDS

        return list(WORLDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from kit.worlds import world

        return world(cmd_name).main if cmd_name in self.list_commands(ctx) else None


data.add_command(Generators("make", help="Make the project's own data anew."))


@command(data, "files --format")
def check(asked: SimpleNamespace) -> None:
    """Tell every problem of FILES. Exit status 2: one of them can't be read; notes alone do not count."""
    from kit.corpus import check as check_file

    failed = False
    for file in asked.files:
        errors, notes = check_file(file, asked.format)
        told = [*map("error: {}".format, errors), *map("note: {}".format, notes)]
        click.echo("\n".join([*told, f"{file}: {len(errors)} errors, {len(notes)} notes"]))
        failed |= bool(errors)
    sys.exit(2 if failed else 0)


@command(data, "name")
def fetch(asked: SimpleNamespace) -> None:
    """Download a published data set by NAME: hotpotqa, 2wikimultihopqa, musique; with -train its training file."""
    from kit.corpus import fetch as download

    click.echo(download(asked.name))


@command(data, f"target --to --split {BENCHMARK}")
def export(asked: SimpleNamespace) -> None:
    """Write a benchmark to TARGET in another format."""
    from kit.corpus import export as write

    click.echo(write(_read(asked)[0], asked.target, asked.to, asked.split))


def _read(asked: SimpleNamespace) -> tuple:
    """The benchmark of a command, and what there is to learn from beside it."""
    from kit.corpus import load, load_training

    benchmark, training = (
        load(asked.data, format=asked.format, corpus=asked.corpus, setting=asked.setting),
        None,
    )
    if getattr(asked, "train", None):
        training = load_training(
            asked.train, corpus=getattr(asked, "also", ()), setting=asked.setting
        )
    return benchmark, training


def _told(asked: SimpleNamespace) -> dict[str, object]:
    """What every notebook is told."""
    if len(asked.train) > 1:
        raise InputError("expected one file for a notebook", field="train")
    return {
        "data": asked.data,
        "train": next(iter(asked.train), None),
        "scale": asked.scale,
        "seed": asked.seed,
    }


def main() -> None:
    """Run the command line; bad input ends in one plain line and exit status 2."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # who is ended ends the workers, too
    try:
        sys.exit(cli.main(prog_name="kit", standalone_mode=False))
    except (InputError, click.ClickException) as error:
        message = error.format_message() if isinstance(error, click.ClickException) else str(error)
        click.echo(f"kit: {' '.join(message.split())}", err=True)
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort):
        click.echo(
            "kit: interrupted; what was finished is kept: the same command goes on where it stopped",
            err=True,
        )
        sys.exit(130)


if __name__ == "__main__":
    main()
