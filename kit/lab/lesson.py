"""One run of a notebook: what it is told and reads, and the record of its figures, its findings and their origin."""

import os
import platform
import subprocess
import time
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import msgspec
import numpy as np
import pandas as pd
import torch

import kit
from kit.corpus import Benchmark, Question, load, load_training, single_facts
from kit.corpus.types import digest
from kit.errors import InputError
from kit.evaluation.statistics import Estimate
from kit.lab.claims.ledger import Finding, code_hash, finding, verdicts
from kit.lab.recording import WANTED, RecordedServer
from kit.paths import ROOT, output
from kit.settings import BaseSettings, Positive, Whole, check
from kit.store import atomic_write, file_digest
from kit.text import language_models
from kit.text.encoder import DEFAULT_ENCODER
from kit.views.figures import save_figure
from kit.views.style import Figure
from kit.worlds import generated

_TABLES = tomllib.loads(Path(__file__).with_name("scales.toml").read_text("utf-8"))
#: Each scale by its name, a number of ``scales.toml`` as an attribute; a limit that it does not name is None: no limit.
SCALES = {
    name: SimpleNamespace(**{"n_questions": None, "n_costly": None} | table)
    for name, table in _TABLES.items()
}


class Run(BaseSettings, frozen=True):
    """What every run may be told.

    ``data`` is a published file (a relative path is looked for from the working folder, then from the project's), or
    empty for the atlas in the size that the scale asks for; ``train`` another one to learn from, empty for the data's
    own training questions. ``n_questions`` overrides the scale's. The setting ``closed`` asks each question of passages
    of its own: of the atlas single facts, else its paragraphs.
    """

    data: str | None = None
    train: str | None = None
    scale: Literal["smoke", "class", "paper"] = "class"
    seed: Whole = 0
    n_questions: Positive | None = None
    setting: str = "pooled"

    def read(self, *, transductive: bool = False) -> tuple[Benchmark, Benchmark | None]:
        """What is searched, and what is learned from: None where there is nothing. Raises ``InputError``.

        ``transductive``: what learns from another file may know the passages that are searched, too.
        """
        data, train, size = find_data(self.data), find_data(self.train), SCALES[self.scale].atlas
        setting = self.setting if self.setting != "closed" else "per-question" if data else "facts"
        if data or size == "class":
            benchmark = load(data, setting=setting)
        elif setting == "per-question":
            raise InputError(
                f"expected pooled paragraphs of the atlas at scale {self.scale}", field="setting"
            )
        else:
            benchmark = generated("atlas", size=size)
            benchmark = single_facts(benchmark) if setting == "facts" else benchmark
        if train:
            known = [data] if transductive and data else []
            return benchmark, load_training([train], setting=setting, corpus=known)
        return benchmark, benchmark.without_test() if benchmark.train else None

    def folder(self, benchmark: Benchmark, trial: bool = False) -> str:
        """Where results go, under ``figures/`` and ``notebooks/executed/``.

        Only a whole run at scale ``class`` bears the data set's own name: no other overwrites committed figures.
        """
        setting = (
            "closed" if self.setting == "closed" else "pooled"
        )  # the notebook's own choice, if it is
        usual = Run(data=self.data, train=self.train, scale=self.scale, setting=setting)
        trial |= self != usual or bool(
            self.train and benchmark.train
        )  # other training questions than the data's own
        return benchmark.name + (
            f"-{self.scale}" if self.scale != "class" else "-trial" if trial else ""
        )


def find_data(data: str | None) -> Path | None:
    """The file that is meant, None for the atlas."""
    return (
        next((path for path in (Path(data), ROOT / data) if path.exists()), Path(data))
        if data
        else None
    )


def sample(questions: Sequence[Question], n: int | None, seed: int) -> tuple[Question, ...]:
    """n questions (all of them if there are no more), each hop count in its share, in the order given."""
    if n is None or n >= len(questions):
        return tuple(questions)
    order = np.random.default_rng(seed).permutation(len(questions))
    by_hops = order[np.argsort([questions[i].hops for i in order], kind="stable")]
    evenly = np.arange(n) * len(questions) // n
    return tuple(questions[i] for i in sorted(by_hops[evenly]))


@dataclass
class Lesson:
    """One run of a notebook, made by :func:`start`.

    ``benchmark.test`` holds the questions that are asked, ``training`` those to learn from, with a corpus of their own
    (None where there are none), ``scale`` the sizes of the experiment, ``seed`` what random choices start from,
    ``folder`` the place of the figures, ``provenance`` where the results come from.
    """

    notebook: str
    benchmark: Benchmark
    training: Benchmark | None
    scale: SimpleNamespace
    seed: int
    folder: Path
    provenance: dict[str, Any]
    _begun: float = field(default_factory=time.monotonic)
    _figures: set[Path] = field(default_factory=set)
    _findings: dict[tuple[str, str, str], Finding] = field(default_factory=dict)

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions that are asked."""
        return self.benchmark.test

    @property
    def shows_text(self) -> bool:
        """Whether saved figures may show titles and questions: those of the project's own making, no other data's."""
        return self.benchmark.name in ("atlas", "documents-reports")

    @property
    def learning(self) -> dict[str, Any]:
        """How DPR and MDR learn in every notebook, so that each is trained once; on a CUDA device with all layers."""
        chosen = (SCALES["paper"] if torch.cuda.is_available() else self.scale).encoders
        n_train = min(self.scale.n_train_encoder, len(self.training.train)) if self.training else 0
        return {**chosen, "n_train": n_train}

    def figure(self, figure: Figure, name: str, table: pd.DataFrame) -> Figure:
        """Save a figure and the numbers behind it as NN_name.svg, .png and .csv; the figure is returned for display."""
        self._figures |= set(save_figure(figure, table, self.folder, f"{self.notebook[:2]}_{name}"))
        return figure

    @property
    def seeds(self) -> range:
        """Of the trainings that are repeated: three, for a verdict (:data:`kit.lab.claims.ledger.N_SEEDS`)."""
        return range(self.seed, self.seed + self.scale.n_seeds)

    def claim(
        self, id: str, found: Estimate, *, criterion: str = "", case: str = "", **told: Any
    ) -> Finding:
        """Keep what was measured for a claim, with its verdict (:func:`kit.lab.claims.ledger.finding`).

        Whatever is trained takes part with all its seeds, as ``experiment.gain(a, over=b)`` and a ``paired`` of columns
        have them, and is named: ``trained=all_seeds(methods, a, b)``.
        """
        kept = finding(id, found, criterion=criterion, case=case, seed=self.seed, **told)
        self._findings[id, criterion, case] = kept
        return kept

    def done(self) -> pd.DataFrame:
        """Write the record NN_topic.json, and return the verdicts as a table.

        A figure that an earlier run of this notebook made and this one did not is removed.
        """
        made = {"finished": datetime.now(UTC).isoformat(timespec="seconds")}
        made["seconds"] = round(time.monotonic() - self._begun, 1)
        findings = sorted(self._findings.values(), key=lambda found: found.claim)
        record = {"notebook": self.notebook, "provenance": self.provenance | made}
        record |= {"figures": sorted(path.name for path in self._figures), "findings": findings}
        write_json(self.folder / f"{self.notebook}.json", record)
        for file in {*self.folder.glob(f"{self.notebook[:2]}_*")} - self._figures:
            if file.suffix in (".svg", ".png", ".csv"):
                file.unlink()
        return verdicts(findings)


def start(
    notebook: str, *, costly: bool = False, transductive: bool = False, **parameters: Any
) -> Lesson:
    """Begin a notebook: read the data, choose the questions, say where figures go.

    ``notebook`` is its file's name without the suffix. ``parameters`` are those of :class:`Run`; others are only kept
    in the record. Without ``train`` (it may be empty) nothing is learned; ``transductive`` as :meth:`Run.read`. A
    ``costly`` notebook asks fewer questions. Raises ``InputError`` for what can't be run.
    """
    if WANTED in os.environ:  # by `kit record`
        language_models.ChatServer = RecordedServer
    own = {name: value for name, value in parameters.items() if name not in Run.__struct_fields__}
    told = check(
        Run, {name: value for name, value in parameters.items() if name not in own}, notebook
    )
    benchmark, training = told.read(transductive=transductive)
    training = training if told.train is not None else None
    scale = SCALES[told.scale]
    most = told.n_questions or (scale.n_costly if costly else scale.n_questions)
    asked = sample(benchmark.test, most, told.seed)
    if not asked:
        raise InputError("expected questions to ask, found none", file=told.data, field="questions")
    made = provenance(benchmark) | {"questions": len(asked), "scale": told.scale, "seed": told.seed}
    made |= {"parameters": {"n_questions": told.n_questions, **own}, "finished": "", "seconds": 0}
    made |= {
        "training": training.name if training else "",
        "training_hash": training.hash if training else "",
    }
    made["code_hash"] = code_hash(notebook)
    # `kit run` knows every parameter that it was given, and which of them make a trial; by hand we see only our own.
    folder = Path(os.environ.get("KIT_FIGURES") or output() / "figures" / told.folder(benchmark))
    return Lesson(notebook, benchmark.asking(asked), training, scale, told.seed, folder, made)


def provenance(benchmark: Benchmark, encoder: str = DEFAULT_ENCODER) -> dict[str, Any]:
    """The code, the data and the encoder of a result.

    ``commit`` and ``changed``, whether what results depend on differs from it, are None where git is missing, refuses
    or hangs, or there is no checkout: that never stops a run.
    """
    git = [
        "git",
        f"--git-dir={ROOT / '.git'}",
        f"--work-tree={ROOT}",
        "status",
        "--porcelain=v2",
        "--branch",
    ]
    git += ["--", "kit", "notebooks", "data", "pyproject.toml"]
    commit = changed = None
    with suppress(OSError, subprocess.SubprocessError):
        told = subprocess.run(
            git, capture_output=True, text=True, timeout=20, check=True, cwd=ROOT
        ).stdout.splitlines()
        commit, changed = told[0].split()[-1], any(not line.startswith("#") for line in told)
    made = {
        "kit": kit.__version__,
        "commit": commit,
        "changed": changed,
        "python": platform.python_version(),
    }
    made |= {"encoder": Path(encoder).name, "data": benchmark.name, "data_hash": benchmark.hash}
    return made | {"setting": benchmark.setting, "passages": len(benchmark.corpus)}


def code_digest() -> str:
    """A digest of the package's files and the generators': a change makes every notebook and sweep run again."""
    files = sorted([*(ROOT / "kit").rglob("*.*")])
    return digest(
        [
            (str(path.relative_to(ROOT)), file_digest(path))
            for path in files
            if path.suffix != ".pyc"
        ]
    )


def write_json(path: Path, value: object) -> None:
    atomic_write(path, msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n")


def write_result(
    file: Path,
    result: Mapping[str, object],
    benchmark: Benchmark,
    settings: Mapping[str, Any],
    begun: float,
) -> None:
    """Write a command's result, and where it comes from, as JSON; ``begun`` is a time of ``time.perf_counter``."""
    made = provenance(benchmark, settings.get("encoder", DEFAULT_ENCODER))
    made |= {"settings": settings, "seconds": round(time.perf_counter() - begun, 2)}
    write_json(file, {**result, "provenance": made})
