"""The notebooks, run one after another or side by side; a run that was stopped goes on there."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from kit import paths
from kit.corpus.formats.document_folder import pdfs
from kit.corpus.types import Texts, digest
from kit.errors import InputError
from kit.files import expect_folder
from kit.fingerprint import package_digest
from kit.lab.catalogue import (
    PAPERS,
    SOLUTIONS,
    all_notebooks,
    choose,
    figure_prefix,
    full_name,
    shelf_of,
)
from kit.lab.execution import Job, Outcome, run_one
from kit.lab.parallel import in_parallel
from kit.lab.parameters import (
    OPTIONS,
    Parameters,
    defaults_of,
    is_trial,
    read_notebook,
    read_parameters,
)
from kit.lab.reading import Run, find_data
from kit.lab.recording import store_recorded
from kit.settings import check

GivenParameters = Mapping[str, str] | Sequence[tuple[str, str]]  # as on a command line


def run(
    which: Texts = (),
    *,
    again: bool = False,
    at_once: int = 1,
    publish: bool = False,
    html: Path | None = None,
    slides: Path | None = None,
    **choices: Any,
) -> int:
    """Run the notebooks whose names begin with one of ``which`` (all lessons when empty).

    A notebook that finished with the same source, parameters, data and code, and whose files are
    still what it left, is skipped unless ``again``. ``at_once`` are run at the same time, each on
    its share of the cores; ``choices`` are those of :func:`plan`. Recorded answers go into the
    store. ``publish`` puts what whole runs drew in the place of the committed figures. ``html`` and
    ``slides`` are folders for pages and slides of what has finished.

    Returns the exit status; 1: a notebook failed (the others ran). Raises ``InputError``, before
    anything is run, for bad options, data or parameters.
    """
    jobs = plan(which, **choices)
    if publish:
        _expect_whole(jobs)
    _expect_pages(html, slides)
    store_recorded()
    expect_folder(paths.output(), "KIT_OUTPUT")
    waiting = [job for job in jobs if again or not job.finished]
    data = _absolute(choices.get("data"))
    for job in jobs:
        if data and job.parameters.get("data", data) != data:
            print(f"{job.name}: reads reports of its own, not --data: it is about PDFs")
        if job not in waiting:
            print(f"{job.name}: finished earlier, skipped")

    status = 0
    for outcome in _outcomes(waiting, at_once):
        print(outcome.message, flush=True)
        status |= outcome.failed
    if waiting:
        print(f"open the executed copies with: jupyter lab {waiting[0].executed}")

    if publish:
        _publish(jobs)
    _write_pages(jobs, html, slides)
    return status


def _expect_pages(html: Path | None, slides: Path | None) -> None:
    """Raise ``InputError`` for folders that can't hold pages."""
    if html and slides and html.resolve() == slides.resolve():
        raise InputError(
            "expected a folder other than that of --html", file=slides, field="--slides"
        )
    for folder, option in ((html, "--html"), (slides, "--slides")):
        if folder:
            expect_folder(folder, option)


def _write_pages(jobs: Sequence[Job], html: Path | None, slides: Path | None) -> None:
    if not html and not slides:
        return
    from kit.lab.pages.site import write_pages, write_slides  # nbconvert takes a second to load

    executed = {job.name: read_notebook(job.file(".ipynb")) for job in jobs if job.finished}
    if html:
        print(f"pages: {write_pages(executed, html)}")
    if slides:
        print(f"slides: {write_slides(executed, slides)}")


def _publish(jobs: Sequence[Job]) -> None:
    for job in jobs:
        if job.finished:
            job.publish()
            print(f"{job.name}: published in {job.published}")


def _expect_whole(jobs: Sequence[Job]) -> None:
    for job in jobs:
        if shelf_of(job.notebook) == SOLUTIONS:
            raise InputError(
                "expected lessons or papers to publish, not solutions", file=job.notebook.name
            )
        if not job.published:
            raise InputError(
                "expected a whole run to publish: scale class, and the committed parameters",
                file=job.notebook.name,
            )


def _outcomes(jobs: Sequence[Job], at_once: int) -> Iterator[Outcome]:
    """What comes of running notebooks, the first of them first, so that there is soon a figure.

    Of the others the longest are begun first, lest one runs alone at the end. Where a line of steps
    is in the terminal, there is room for what is printed.
    """
    ordered = [*jobs[:1], *sorted(jobs[1:], key=lambda job: -job.seconds)]
    processes = max(1, min(at_once, len(jobs)))
    for outcome in in_parallel(run_one, zip(ordered), processes):
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        yield outcome


def plan(
    which: Texts = (),
    *,
    data: object = None,
    train: object = None,
    scale: str = "class",
    seed: int = 0,
    parameters: GivenParameters = (),
    notebooks: Path | None = None,
) -> list[Job]:
    """The notebooks that :func:`run` would run, with all that they are given.

    ``data``, ``train``, ``scale`` and ``seed`` are as in :class:`kit.lab.reading.Run`; a notebook
    that names data of its own, since it is about documents with pages, reads these unless PDFs are
    given; one that is asked for by name refuses other data. ``parameters`` are texts by name, or
    such pairs, as on a command line. Nothing is written. Raises ``InputError`` for bad ones.
    """
    folder = notebooks or paths.NOTEBOOKS
    chosen = find_notebooks(folder, which)
    given = dict(parameters)
    options = {
        "data": _absolute(data),
        "train": _absolute(train),
        "scale": scale,
        "seed": seed,
    }
    read = cache(Run.read)
    code = package_digest()
    by_name = set(which).difference([PAPERS, SOLUTIONS])
    originals = {_figures_of(path): path for path in reversed(all_notebooks(folder))}

    jobs = []
    for notebook, values in zip(chosen, read_parameters(given, chosen.values())):
        defaults = chosen[notebook]
        run_options = _options_of(notebook, defaults, options | values)
        if by_name and options["data"] not in ("", run_options.data):
            raise InputError(
                f"{full_name(notebook)} is about documents with pages: expected PDFs", file=data
            )
        is_copy = notebook != originals[_figures_of(notebook)]
        jobs.append(_job(notebook, defaults, run_options, values, read, code, is_copy))
    return jobs


def _figures_of(notebook: Path) -> tuple[str, str]:
    """What tells the figures of notebooks apart."""
    return shelf_of(notebook), figure_prefix(notebook.stem)


def _absolute(file: object) -> str:
    """The path of a file wherever the kernel works; empty for none."""
    return str(Path(file).resolve()) if file else ""


def _options_of(notebook: Path, defaults: Parameters, given: Mapping[str, Any]) -> Run:
    """The options of a notebook's run."""
    chosen = {name: value for name, value in given.items() if name in Run.__struct_fields__}
    named_by_notebook = find_data(defaults.get("data"))
    gives_pdfs = chosen["data"] and pdfs(Path(chosen["data"]))
    if named_by_notebook and not gives_pdfs:
        chosen["data"] = str(named_by_notebook.resolve())
    return check(Run, chosen, notebook.stem)


def _job(
    notebook: Path,
    defaults: Parameters,
    options: Run,
    values: Parameters,
    read: Callable,
    code: str,
    is_copy: bool,
) -> Job:
    """A notebook with what it is given, under a key of all that its results depend on."""
    benchmark, training = read(options)
    content = [
        notebook.read_text("utf-8"),
        values,
        options.scale,
        options.seed,
        benchmark.name,
        benchmark.hash,
        code,
    ]
    if "train" in defaults and training:
        content.append(training.hash)

    shelf = shelf_of(notebook)
    trial = is_trial(full_name(notebook), defaults | values, defaults)
    folder = options.folder(benchmark, trial)
    if is_copy:
        folder = f"{folder.removesuffix('-trial')}-{notebook.stem}-trial"
    is_published = folder == benchmark.name and shelf != SOLUTIONS
    own_figures = shelf if shelf == SOLUTIONS else ""  # else they would replace the lesson's
    chosen_options = {name: getattr(options, name) for name in OPTIONS if name in defaults}
    return Job(
        notebook,
        chosen_options | values,
        digest(content),
        figures=paths.output() / "figures" / folder / own_figures,
        executed=paths.output() / "notebooks" / "executed" / folder / shelf,
        published=paths.PUBLISHED / folder if is_published else None,
    )


def find_notebooks(folder: Path, which: Texts = ()) -> dict[Path, Parameters]:
    """The notebooks of a folder that :func:`choose` gives, with their parameters.

    The parameters are what the cell tagged ``parameters`` assigns.
    """
    return {path: defaults_of(read_notebook(path), path.name) for path in choose(folder, which)}
