"""One run of a notebook, and the record of its figures, its findings and their origin."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any

from pandas import DataFrame, read_csv

from kit import paths
from kit.corpus import Benchmark, Question
from kit.cost import cost_line
from kit.errors import InputError, show_notes
from kit.evaluation.statistics import Estimate
from kit.lab.catalogue import figure_prefix
from kit.lab.claims.findings import Cell, Finding, cell_of, finding, has_learned, verdicts
from kit.lab.claims.ledger import code_hash
from kit.lab.claims.measured import Measured
from kit.lab.provenance import provenance, write_json
from kit.lab.reading import SCALES, Run, sample
from kit.methods import Retriever
from kit.settings import check
from kit.views.figures import save_figure
from kit.views.style import Figure

#: A function of ``kit.lab.claims``, which yields what was measured for its claim.
ClaimFunction = Callable[..., Iterable[Measured]]
_DRAWN = (".svg", ".png", ".csv")  # what a figure is saved as
_OWN_DATA = ("atlas", "documents-reports")  # of the project's own making


@dataclass
class Lesson:
    """One run of a notebook, made by :func:`start`.

    ``benchmark.test`` holds the questions that are asked, ``training`` those to learn from, with a
    corpus of their own (None where there are none), ``scale`` the sizes of the experiment, ``seed``
    what random choices start from, ``folder`` the place of the figures, ``provenance`` where the
    results come from.
    """

    notebook: str
    benchmark: Benchmark
    training: Benchmark | None
    scale: SimpleNamespace
    seed: int
    folder: Path
    provenance: dict[str, Any]
    _start: float = field(default_factory=monotonic)
    _figures: set[Path] = field(default_factory=set)
    _findings: dict[tuple[str, str, str], Finding] = field(default_factory=dict)
    _learned: dict[Cell, bool] = field(default_factory=dict)

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions that are asked."""
        return self.benchmark.test

    @property
    def shows_text(self) -> bool:
        """Whether saved figures may show titles and questions: those of the project's own data."""
        return self.benchmark.name in _OWN_DATA

    @property
    def learning(self) -> dict[str, Any]:
        """How DPR and MDR learn in every notebook, so that each is trained once.

        On a CUDA device they learn with all layers.
        """
        import torch

        scale = SCALES["paper"] if torch.cuda.is_available() else self.scale
        n_train = 0
        if self.training:
            n_train = min(self.scale.n_train_encoder, len(self.training.train))
        return {**scale.encoders, "n_train": n_train}

    @property
    def seeds(self) -> range:
        """The seeds of repeated trainings: three, for a verdict."""
        return range(self.seed, self.seed + self.scale.n_seeds)

    def figure(self, figure: Figure, name: str, table: DataFrame | None = None) -> Figure:
        """Save a figure and the numbers behind it as NN_name.svg, .png and .csv; return it.

        ``table`` are these numbers, where the figure does not bring its own.
        """
        if table is None:
            table = figure.table
        file = f"{figure_prefix(self.notebook)}_{name}"
        self._figures.update(save_figure(figure, table, self.folder, file))
        return figure

    def published(self, name: str) -> DataFrame | None:
        """The committed numbers of a figure of this notebook on this data; None where are none."""
        data = self.folder.name
        file = paths.PUBLISHED / data / f"{figure_prefix(self.notebook)}_{name}.csv"
        return read_csv(file) if file.is_file() else None

    def learned(self, trained: Sequence[Retriever], gain: Estimate) -> bool:
        """Keep whether what was trained, all seeds of a method, is better than its start.

        ``gain`` is the paired difference of the two on questions that chose nothing
        (``experiment.gain("dpr", over="dpr, untrained")``). Claims that rest on what was not shown
        to be better than its start stay undecided.
        """
        for retriever in trained:
            self._learned[cell_of(retriever)] = has_learned(gain)
        return has_learned(gain)

    def claim(
        self,
        claim: str,
        measured: Estimate,
        trained: Sequence[Retriever] | None = None,
        *,
        criterion: str = "",
        case: str = "",
        how: str = "",
        untestable: str = "",
    ) -> Finding:
        """Keep what was measured for a claim, with its verdict (:func:`finding`).

        Whatever is trained takes part with all its seeds, as ``experiment.gain(a, over=b)`` and a
        ``paired`` of columns have them, and is named: ``trained=all_seeds(methods, a, b)``.
        """
        judged = finding(
            claim,
            measured,
            trained,
            criterion=criterion,
            case=case,
            how=how,
            seed=self.seed,
            learned=self._learned,
            untestable=untestable,
        )
        self._findings[claim, criterion, case] = judged
        return judged

    def judge(self, claim: ClaimFunction, *measured: Any, **options: Any) -> None:
        """Keep what a function of a claim (``kit.lab.claims``) finds in what was measured.

        Its name is the claim's id: ``lesson.judge(gnn_ret_02, experiment)``.
        """
        claim_id = claim.__name__.replace("_", "-")
        for effect, criterion, case, trained, how, untestable in claim(*measured, **options):
            self.claim(
                claim_id,
                effect,
                trained,
                criterion=criterion,
                case=case,
                how=how,
                untestable=untestable,
            )

    def done(self) -> DataFrame | None:
        """Write the record NN_topic.json, and return the verdicts as a table, if there are any.

        Where language models were used, a line says what they cost.

        A figure that an earlier run of this notebook made and this one did not is removed.
        """
        findings = sorted(self._findings.values(), key=lambda finding: finding.claim)
        origin = self.provenance | {
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(monotonic() - self._start, 1),
        }
        if line := cost_line():
            print(line)
            origin["language_models"] = line
        record = {
            "notebook": self.notebook,
            "provenance": origin,
            "figures": sorted(path.name for path in self._figures),
            "findings": findings,
        }
        write_json(self.folder / f"{self.notebook}.json", record)

        for file in set(self.folder.glob(f"{figure_prefix(self.notebook)}_*")) - self._figures:
            if file.suffix in _DRAWN:
                file.unlink()
        return verdicts(findings) if findings else None


def start(
    notebook: str, *, asks: str = "n_questions", transductive: bool = False, **parameters: Any
) -> Lesson:
    """Begin a notebook: read the data, choose the questions, say where figures go.

    ``notebook`` is its file's name without the suffix. ``parameters`` are those of :class:`Run`;
    others are only kept in the record. Without ``train`` (it may be empty) nothing is learned;
    ``transductive`` as :meth:`Run.read`. ``asks`` names the number in ``scales.toml`` that says
    how many questions are asked. Raises ``InputError`` for what can't be run.
    """
    show_notes(print)
    run_names = parameters.keys() & Run.__struct_fields__
    run = check(Run, {name: parameters.pop(name) for name in run_names}, notebook)

    benchmark, training = run.read(transductive=transductive)
    if run.train is None:
        training = None
    scale = SCALES[run.scale]
    usual = getattr(scale, asks)
    questions = sample(benchmark.test, run.n_questions or usual, run.seed)
    if not questions:
        raise InputError("expected questions to ask, found none", file=run.data, field="questions")

    origin = provenance(benchmark) | {
        "questions": len(questions),
        "scale": run.scale,
        "seed": run.seed,
        "parameters": {"n_questions": run.n_questions, **parameters},
        "finished": "",
        "seconds": 0,
        "training": training.name if training else "",
        "training_hash": training.hash if training else "",
        "code_hash": code_hash(notebook),
    }
    folder = os.environ.get("KIT_FIGURES")  # by `kit run`, which knows a copy, too
    if not folder:
        from kit.lab.parameters import is_trial  # its nbformat takes a second to load

        trial = is_trial(notebook, parameters)
        folder = paths.output() / "figures" / run.folder(benchmark, trial)
    asked_benchmark = benchmark.asking(questions)
    return Lesson(notebook, asked_benchmark, training, scale, run.seed, Path(folder), origin)
