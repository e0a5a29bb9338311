"""Commands that ask methods and measure them."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from textwrap import fill
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from kit.corpus.prose import PASSAGE_TOKENS
from kit.corpus.types import Texts
from kit.errors import InputError
from kit.files import atomic_write, expect_writable
from kit.lab.commands.beforehand import expect_methods, expect_models, with_own
from kit.lab.commands.data import read_training
from kit.lab.commands.options import (
    AT_LEAST_ONE,
    Source,
    also_option,
    cutoffs_option,
    data_option,
    format_option,
    grid_option,
    grouped,
    output_file,
    seed_option,
    settings_option,
    source_options,
    train_option,
)
from kit.paths import ATLAS
from kit.settings import Value

if TYPE_CHECKING:
    from kit.corpus import Benchmark
    from kit.evaluation import Experiment
    from kit.evaluation.answers import Reading
    from kit.methods import Retriever

RESULT_FILES = """The JSON file has data, n_questions, n_passages, setting, seed, caption (what a
reader of the numbers must know), provenance and results. The result of a retriever has recall@k,
full@k and mrr as fractions, their intervals under NAME_ci as [low, high], seconds_per_query and
seconds_to_fit.

With --reader it also has em, f1, accuracy (by containment) and words (how long an answer is), and
with --judge judged and unclear. Two more results are added: none (answers from no passage) and
golden (answers from the supports alone). The file then has reader and judge: name, n_questions that
have an answer to compare with, and the usage of a language model.

With --graphs it also has gm, gs, ged (by networkx, within half a second), ged_labelled, and
evidence_f1, _precision, _recall and _em. For a method that finds no graph, a star with the true
number of passages is measured.

The CSV file also has the means by hops, and the paired differences."""


@click.command()
@click.argument("question")
@click.option(
    "--method",
    default="gnn-ret",
    show_default=True,
    help="The method to ask: one that `kit methods` lists, or FILE.py:CLASS for one of your own.",
)
@click.option(
    "--k", default=5, show_default=True, type=AT_LEAST_ONE, help="How many passages to show."
)
@data_option
@format_option
@click.option(
    "--passage-tokens",
    default=PASSAGE_TOKENS,
    show_default=True,
    type=AT_LEAST_ONE,
    help="The most words and punctuation marks in a passage of a text or web page.",
)
@settings_option
@output_file("--html", "Write the steps of the retrieval here, as a page to click through.")
def ask(
    question: str,
    method: str,
    k: int,
    data: Path | None,
    data_format: str | None,
    passage_tokens: int,
    settings: Mapping[str, Value],
    html: Path | None,
) -> None:
    """Ask a QUESTION and print the passages that a method finds.

    The data may be a folder of .pdf, .txt, .md and .html files, a corpus, or a data set with
    questions.

    Each passage comes with its score, its place (document, and page or part) and, where more than
    its own text counted, why it was found.

    Example: kit ask "Where was the director of the film born?" --data FOLDER --html steps.html
    """
    [name] = with_own([method])
    expect_methods([name], settings)  # before what takes long to load

    from kit.corpus import load_corpus
    from kit.lab.ask import ask as ask_method
    from kit.methods import make

    make(name, **settings)  # an unknown setting is an error before anything is read
    corpus = load_corpus([data or ATLAS], data_format=data_format, passage_tokens=passage_tokens)
    passages = ask_method(question, corpus, method=name, k=k, html=html, **settings)
    for passage in passages.itertuples():
        click.echo(f"{passage.rank}. {passage.title} ({passage.place}): {passage.score:.3f}")
        for paragraph in passage.text.split("\n"):
            click.echo(fill(paragraph, 100, initial_indent="   ", subsequent_indent="   "))
        if passage.why:
            click.echo(fill(passage.why, 100, initial_indent="   → ", subsequent_indent="     "))
        click.echo()


@click.command()
@click.argument("retrievers", nargs=-1, required=True)
@data_option
@format_option
@settings_option
def index(
    retrievers: Texts,
    data: Path | None,
    data_format: str | None,
    settings: Mapping[str, Value],
) -> None:
    """Make RETRIEVERS ready to search a large collection.

    Vectors, names, links and triples are kept in the store, so that `ask` and `evaluate` open the
    collection within seconds. Encoding that was interrupted goes on where it stopped. A line tells
    of each method how long it took, and how long it takes from now on.

    Example: kit index gnn-ret hipporag2 --data FOLDER
    """
    names = with_own(retrievers)
    expect_methods(names, settings)  # before what takes long to load

    from kit.corpus import load_corpus
    from kit.evaluation.timing import time_index
    from kit.methods import make_all

    methods = make_all(names, **settings)
    corpus = load_corpus([data or ATLAS], data_format=data_format)
    for name, retriever in methods.items():
        first = time_index(retriever, corpus)
        again = time_index(retriever, corpus)
        click.echo(f"{name}: {len(corpus):,} passages; {first:.1f} s, from now on {again:.1f} s")


class Targets(NamedTuple):
    """The files that an evaluation is written to."""

    json: Path | None
    csv: Path | None
    trec: Path | None

    def expect_runs(self, names: Iterable[str]) -> None:
        """Raise :class:`InputError` unless the runs of these methods can be written."""
        if self.trec:
            from kit.evaluation.trec import run_files

            for file in run_files(names, self.trec).values():
                expect_writable(file)

    def write(self, experiment: "Experiment", answers: "Sequence[Experiment]") -> None:
        """Write the table and the runs."""
        import pandas as pd

        from kit.evaluation.trec import write_runs

        if self.csv:
            table = pd.concat([measured.by_hops() for measured in (experiment, *answers)])
            atomic_write(self.csv, table.to_csv(index=False).encode())
        if self.trec:
            write_runs(experiment.rankings, self.trec)


def _expect_measures(_context: click.Context, _option: click.Parameter, names: Texts) -> Texts:
    """Names that ir_measures knows, or an error before what takes long to load."""
    if names:
        from kit.evaluation.further import read_measure

        for name in names:
            read_measure(name)
    return names


@click.command(epilog=RESULT_FILES)
@click.argument("retrievers", nargs=-1, required=True)
@source_options
@train_option
@also_option
@cutoffs_option
@seed_option
@settings_option
@click.option(
    "--graphs",
    is_flag=True,
    help="Ask only questions that have an evidence graph, and measure the graphs that are found.",
)
@click.option(
    "--keep-identical-ids",
    is_flag=True,
    help="Let a question find the passage with its own id; otherwise it is left out, as in BEIR.",
)
@click.option(
    "--same-text",
    is_flag=True,
    help="Count a support as found where a passage of the same title and text is found.",
)
@click.option(
    "--measure",
    "measures",
    multiple=True,
    callback=_expect_measures,
    help="Another measure by its name in ir_measures, such as nDCG@10, AP or P@5; may be repeated.",
)
@click.option("--reader", help="Who answers: extractive, ras, hf:MODEL, server:MODEL or t5:MODEL.")
@click.option(
    "--read",
    help="How much the reader gets: passages (10), tokens (3500tokens) or pairs of a walk "
    "(30paths); by default as many passages as the largest k.",
)
@click.option("--judge", help="The language model that judges the answers, such as server:MODEL.")
@grouped(
    "targets",
    Targets,
    output_file("--json", "Write the results here."),
    output_file("--csv", "Write the whole table here."),
    output_file(
        "--trec", "Write the rankings here as a TREC run; of several methods, to FILE-METHOD each."
    ),
)
def evaluate(
    retrievers: Texts,
    train: Sequence[Path],
    also: Sequence[Path],
    k: list[int],
    seed: int,
    settings: Mapping[str, Value],
    graphs: bool,
    keep_identical_ids: bool,
    same_text: bool,
    measures: Texts,
    reader: str | None,
    read: str | None,
    judge: str | None,
    targets: Targets,
    source: Source,
) -> None:
    """Evaluate RETRIEVERS on a benchmark.

    RETRIEVERS are methods that `kit methods` lists, or FILE.py:CLASS for one of your own. The table
    shows means over the questions with 95 % bootstrap intervals, and paired differences from the
    first retriever.

    Example: kit evaluate bm25 dense gnn-ret --data dev.json --set top_k=10 --json results.json
    """
    start = perf_counter()
    names = with_own(retrievers)
    expect_methods(names, settings)  # before what takes long to load

    from kit.lab.provenance import write_result
    from kit.methods import make_all

    methods = make_all(names, **settings)
    reading = _make_reading(reader, read, judge, k)
    targets.expect_runs(methods)
    benchmark = source.load()
    training = read_training(train, also, source.setting)
    if graphs:
        benchmark = benchmark.asking([item for item in benchmark.test if item.evidence])

    experiment, answers = _measure(
        methods,
        benchmark,
        training,
        reading,
        ks=k,
        measures=measures,
        seed=seed,
        graphs=graphs,
        ignore_identical_ids=not keep_identical_ids,
        same_text=same_text,
    )
    if targets.json:
        results = experiment.record(*answers)
        if reading:
            results |= reading.record(*answers)
        write_result(targets.json, results, benchmark, settings, start)
    targets.write(experiment, answers)
    _print_results(experiment, answers)  # last: whoever reads a pipe may have gone


def _make_reading(
    reader: str | None, read: str | None, judge: str | None, cutoffs: Sequence[int]
) -> "Reading | None":
    """Who answers from how many passages, and who judges; None where nobody is to answer."""
    if not reader:
        if read or judge:
            raise InputError(
                "expected --reader beside --read and --judge: its answers are meant",
                field="reader",
            )
        return None

    from kit.evaluation.answers import Reading, reader_of

    reading = Reading(reader_of(reader), read or str(max(cutoffs)), judge)
    for model in (reading.reader.model, reading.judge):
        if model:
            model.expect_ready()
    return reading


def _measure(
    methods: "Mapping[str, Retriever]",
    benchmark: "Benchmark",
    training: "Benchmark | None",
    reading: "Reading | None",
    *,
    ks: Sequence[int],
    measures: Texts,
    **choices: Any,
) -> "tuple[Experiment, list[Experiment]]":
    """What the methods find, and how good the answers are that come of it, where one reads.

    ``choices`` are further arguments of :func:`kit.evaluation.evaluate`.
    """
    from kit.evaluation import evaluate as evaluate_all
    from kit.evaluation.answers import answerable
    from kit.evaluation.experiment import N_TIMED
    from kit.evaluation.further import with_measures
    from kit.lab.recording import store_recorded

    store_recorded()
    longest = max(ks)
    if reading:
        answerable(benchmark.test)
        reading.reader.fit(training or benchmark)
        longest = max(longest, reading.n)
    experiment = evaluate_all(
        methods,
        benchmark,
        ks=ks,
        k=longest,
        training=training,
        n_timed=N_TIMED,
        **choices,
    )
    answers = [reading.answers(experiment)] if reading else []
    return with_measures(experiment, measures), answers


def _print_results(experiment: "Experiment", answers: "Sequence[Experiment]") -> None:
    import pandas as pd

    click.echo(experiment.text(*answers))
    usages = {}
    for measured in (experiment, *answers):
        usages |= measured.usages
    if usages:
        table = pd.concat(usages, names=["role"]).reset_index("role")
        click.echo(table.to_string(index=False))


@click.command()
@click.argument("retriever")
@grid_option
@source_options
@train_option
@cutoffs_option
@click.option(
    "--jobs",
    default=1,
    show_default=True,
    type=AT_LEAST_ONE,
    help="How many processes share the work.",
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="The scheduler of a Dask cluster whose workers share the work, such as tcp://HOST:8786.",
)
@output_file("--csv", "Write the whole table here.")
def sweep(
    retriever: str,
    grid: Mapping[str, list[Value]],
    train: Sequence[Path],
    k: list[int],
    jobs: int,
    cluster: str | None,
    csv: Path | None,
    source: Source,
) -> None:
    """Evaluate a RETRIEVER with every combination of values of its settings.

    `kit methods` lists the retrievers, `kit methods NAME` the settings of one.

    What is printed has a row per combination, the CSV file one per combination and question. What
    was evaluated with the same data and code is not evaluated again: a sweep that was stopped goes
    on there.

    Example: kit sweep gnn-ret -g alpha=0.3,0.5,0.7 -g top_k=5,10 --csv grid.csv
    """
    for name, values in grid.items():
        for value in values:
            expect_methods([retriever], {name: value})  # before what takes long to load

    from kit.evaluation.experiment import N_TIMED
    from kit.lab.parallel import ALL, on_cluster
    from kit.lab.sweep import combinations, sweep_retriever

    workers = nullcontext()
    if cluster:
        workers = on_cluster(cluster)
        jobs = ALL
    with workers:
        table = sweep_retriever(
            retriever,
            combinations(grid),
            source.load(),
            read_training(train, (), source.setting),
            ks=k,
            n_timed=N_TIMED,
            jobs=jobs,
        )

    if csv:
        atomic_write(csv, table.to_csv(index=False).encode())

    settings = list(table.columns[: len(grid)])
    measured = [name for name in table if "@" in name or name in ("mrr", "seconds")]
    means = table.groupby(settings, sort=False, dropna=False)[measured].mean()
    click.echo(means.reset_index().to_string(index=False, float_format="{:.4g}".format))


@click.command()
@click.argument("builder")
@source_options
@settings_option
@click.option(
    "--question", help="The id of a question: show what is around its supports in a large graph."
)
@output_file("--json", "Write the measures here.")
@output_file("--html", "Write the graph here, as a page to pan and share.")
def graph(
    builder: str,
    settings: Mapping[str, Value],
    question: str | None,
    json: Path | None,
    html: Path | None,
    source: Source,
) -> None:
    """Build a graph of passages and measure it.

    BUILDER is tfidf, knn, entity, structure, or a union such as entity+structure.

    The JSON file has nodes, edges, density, mean_degree, components, sf_em and precision (of five
    seeds and their neighbours, as in section 3 of KGP), neighbourhood (the size of that set),
    seconds, notes on graphs without an edge and questions without a seed, and provenance. The page
    has at most 300 passages; of a larger graph, --question shows what is around a question's
    supports.

    Example: kit graph entity+structure --html graph.html --question atlas-test-0000
    """
    import pandas as pd

    from kit.evaluation.graph_quality import measure
    from kit.graphs import build, builders
    from kit.lab.provenance import write_result

    start = perf_counter()
    builders(builder, **settings)  # an unknown setting is an error before anything is read
    expect_models(settings)
    benchmark = source.load()
    measures = measure(builder, benchmark, benchmark.test, **settings)
    if html:
        from kit.views.graph_page import page_around

        page = page_around(build(builder, benchmark.corpus, **settings), benchmark, question)
        atomic_write(html, page.html.encode())
    if json:
        write_result(json, measures, benchmark, settings, start)
    notes = measures.pop("notes")
    click.echo(pd.Series(measures, dtype=object).to_string(float_format="{:,.4g}".format))
    for note in notes:
        click.echo(note)
