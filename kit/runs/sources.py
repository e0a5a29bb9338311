"""What a run reads, which of the questions it asks, and under what name it writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kit.corpus import Benchmark, Question, generated, load, load_training
from kit.corpus.formats.pdf_folder import pdfs
from kit.errors import InputError
from kit.paths import ROOT
from kit.runs.scales import Scale

#: Data of the project's own making, by name: what figures show of their text may be passed on.
INVENTED = ("atlas", "documents-reports")


def find_data(data: str | None) -> Path | None:
    """The file that is meant, None for the atlas: a relative path is from the working folder or from the project's."""
    if not data:
        return None
    return next((path for path in (Path(data), ROOT / data) if path.exists()), Path(data))


def data_for(own: str, given: Path | None) -> Path | None:
    """What a notebook reads: the file that is given, None for the atlas.

    One that names data of its ``own``, since it is about documents with pages, reads these unless PDFs are given.
    """
    if not own or (given and pdfs(given)):
        return given
    return find_data(own).resolve()


def read_benchmark(
    data: str | Path | None, scale: Scale, *, setting: str = "pooled", unit: str = "paragraph"
) -> Benchmark:
    """The benchmark of a run: a published file, or (``data`` empty) the atlas in the size that the scale asks for."""
    if data or scale.atlas == "class":
        return load(data or None, setting=setting, unit=unit)
    if (setting, unit) != ("pooled", "paragraph"):
        raise InputError(f"expected pooled paragraphs of the atlas at scale {scale.name}", field="setting")
    return generated("atlas", size=scale.atlas)


def read_training(train: str | Path | None, benchmark: Benchmark, **options: Any) -> Benchmark | None:
    """What a run learns from: a training file, or (``train`` empty) the benchmark's own questions; None without any.

    ``options`` are those of :func:`kit.corpus.load_training`.
    """
    if train:
        return load_training([train], **options)
    return benchmark.without_test() if benchmark.train else None


def folder_name(dataset: str, scale: str, *, trial: bool) -> str:
    """Where results of a run go, under ``figures/`` and ``notebooks/executed/``.

    Only a whole run at scale ``class`` bears the data set's own name, so that no other overwrites committed figures.
    """
    return dataset if scale == "class" and not trial else f"{dataset}-{'trial' if scale == 'class' else scale}"


def sample(questions: Sequence[Question], n: int | None, seed: int) -> tuple[Question, ...]:
    """n questions (all of them if there are no more), each hop count in its share, in the order given."""
    if n is None or n >= len(questions):
        return tuple(questions)
    order = np.random.default_rng(seed).permutation(len(questions))
    by_hops = order[np.argsort([questions[i].hops for i in order], kind="stable")]
    evenly = np.arange(n) * len(questions) // n
    return tuple(questions[i] for i in sorted(by_hops[evenly]))
