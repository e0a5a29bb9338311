"""What a notebook calls: data in, figures and findings out, and a record of both."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pandas as pd

import kit
from kit.corpus import Benchmark, Question
from kit.errors import InputError
from kit.evaluation.claims import Finding, Record, code_hash, finding, verdicts
from kit.evaluation.statistics import Estimate
from kit.paths import output
from kit.runs.provenance import Plain, Provenance, commit, read_figures, write_json
from kit.runs.scales import Scale, find_scale
from kit.runs.sources import INVENTED, find_data, folder_name, read_benchmark, read_training, sample
from kit.settings import Positive, Settings, Whole, check
from kit.text.encoder import DEFAULT_ENCODER
from kit.views.figures import save_figure
from kit.views.style import Figure


@dataclass
class Lesson:
    """One run of a notebook, made by :func:`start`.

    ``benchmark.test`` holds the questions that are asked, ``training`` those to learn from, with a corpus of their own
    (None where there are none), ``scale`` the sizes of the experiment, ``seed`` what random choices start from,
    ``folder`` the place of the figures.
    """

    notebook: str
    benchmark: Benchmark
    training: Benchmark | None
    scale: Scale
    seed: int
    folder: Path
    provenance: Provenance
    _begun: float = field(default_factory=time.monotonic)
    _figures: dict[str, list[str]] = field(default_factory=dict)
    _findings: dict[tuple[str, str, str], Finding] = field(default_factory=dict)

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions that are asked."""
        return self.benchmark.test

    @property
    def shows_text(self) -> bool:
        """Whether saved figures may show titles and questions: the project's own, no other data's."""
        return self.benchmark.name in INVENTED

    def figure(self, figure: Figure, name: str, table: pd.DataFrame) -> Figure:
        """Save a figure and the numbers behind it as NN_name.svg, .png and .csv; the figure is returned for display."""
        full_name = f"{self.notebook.split('_')[0]}_{name}"
        self._figures[full_name] = [path.name for path in save_figure(figure, table, self.folder, full_name)]
        return figure

    def claim(self, id: str, found: Estimate, *, criterion: str = "", case: str = "", how: str = "") -> Finding:
        """Keep what was measured for a claim, with its verdict (:func:`kit.evaluation.claims.finding`)."""
        kept = finding(id, found, criterion=criterion, case=case, how=how, seed=self.seed)
        self._findings[id, criterion, case] = kept
        return kept

    def done(self) -> pd.DataFrame:
        """Write the record NN_topic.json, and return the verdicts as a table.

        A figure that an earlier run of this notebook made and this one did not is removed.
        """
        made = {"finished": datetime.now(UTC).isoformat(timespec="seconds")}
        made["seconds"] = round(time.monotonic() - self._begun, 1)
        provenance = msgspec.structs.asdict(self.provenance) | made
        figures = tuple(sorted(file for files in self._figures.values() for file in files))
        path = self.folder / f"{self.notebook}.json"
        earlier = read_figures(path)
        findings = tuple(sorted(self._findings.values(), key=lambda found: found.claim))
        record = Record(notebook=self.notebook, provenance=provenance, figures=figures, findings=findings)
        write_json(path, record)
        for file in set(earlier) - set(figures):
            (self.folder / Path(file).name).unlink(missing_ok=True)
        return verdicts(record.findings)


class _Numbers(Settings, frozen=True):
    seed: Whole = 0
    n_questions: Positive | None = None


def start(
    notebook: str,
    *,
    data: str | None = None,
    train: str | None = None,
    scale: str = "class",
    seed: int = 0,
    n_questions: int | None = None,
    setting: str = "pooled",
    unit: str = "paragraph",
    encoder: str = DEFAULT_ENCODER,
    costly: bool = False,
    transductive: bool = False,
    **parameters: Plain,
) -> Lesson:
    """Begin a notebook: read the data, choose the questions, say where figures go.

    ``notebook`` is its file's name without the suffix. ``data`` is a published file (a relative path is looked for from
    the working folder, then from the project's), or empty for the atlas; ``train`` another one to learn from, empty
    for the data's own training questions, None where nothing is learned. ``n_questions`` overrides the scale's, which
    is smaller for a ``costly`` notebook. ``transductive``: what learns from ``train`` may know the passages that are
    searched, too. Further ``parameters`` are kept in the record. Raises ``InputError`` for bad data, scale, seed or
    number of questions.
    """
    settings = find_scale(scale)
    check(_Numbers, {"seed": seed, "n_questions": n_questions}, notebook)
    searched = find_data(data)
    benchmark = read_benchmark(searched, settings, setting=setting, unit=unit)
    training = None
    if train is not None:
        known = [searched] if transductive and searched else []
        training = read_training(find_data(train), benchmark, setting=setting, unit=unit, corpus=known)
    most = settings.n_costly if costly else settings.n_questions
    asked = sample(benchmark.test, most if n_questions is None else n_questions, seed)
    if not asked:
        raise InputError("expected questions to ask, found none", file=data, field="questions")
    head, changed = commit()
    provenance = Provenance(
        kit=kit.__version__,
        commit=head,
        changed=changed,
        python=platform.python_version(),
        encoder=Path(encoder).name,
        data=benchmark.name,
        data_hash=benchmark.hash,
        setting=benchmark.setting,
        unit=benchmark.unit,
        passages=len(benchmark.corpus),
        questions=len(asked),
        scale=scale,
        seed=seed,
        parameters={"n_questions": n_questions, **parameters},
        training=training.name if training else "",
        training_hash=training.hash if training else "",
        code_hash=code_hash(notebook),
    )
    other = bool(train) and bool(benchmark.train)  # other training questions than the data's own
    trial = other or (seed, n_questions, setting, unit, encoder) != (0, None, "pooled", "paragraph", DEFAULT_ENCODER)
    # `kit run` knows every parameter that it was given, and which of them make a trial; by hand we see only our own.
    folder = os.environ.get("KIT_FIGURES") or output() / "figures" / folder_name(benchmark.name, scale, trial=trial)
    return Lesson(notebook, benchmark.asking(asked), training, settings, seed, Path(folder), provenance)
