"""Files to benchmarks, in the settings pooled, per-question and facts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import numpy as np

from kit.corpus import formats
from kit.corpus.facts import single_facts
from kit.corpus.source import Source, combine
from kit.corpus.types import SPLITS, Benchmark, Corpus, Question
from kit.errors import InputError
from kit.paths import ATLAS, ROOT

SETTINGS = ("pooled", "per-question", "facts")
DEV_SHARE = 0.2


def load(
    data: str | Path | None = None,
    *,
    format: str | None = None,
    setting: str = "pooled",
    corpus: Sequence[str | Path] = (),
) -> Benchmark:
    """A benchmark from a published file, a folder, or (None) the embedded atlas.

    The questions of a published file are the benchmark's ``test``; formats with splits (BEIR, the kit's own) keep them.
    ``format`` is one of :data:`kit.corpus.formats.FORMATS`, by default the one that the content shows. ``setting``:
    ``pooled``, one corpus of all paragraphs (equal title and text merged); ``per-question``, where each question is
    asked of its own (kgp.txt §8.1); ``facts``, of its own 25 sentences (:func:`single_facts`). ``corpus``: what adds
    its passages to a pooled corpus.
    Raises InputError: one line for the first problem, with the count of the rest.
    """
    if corpus and setting != "pooled":
        raise InputError(
            f"extra corpora need the setting pooled: {setting} asks each question of passages of its own"
        )
    path = Path(data) if data else ATLAS
    source = _read([path], format, corpus)
    if not source.items:
        raise InputError(
            "expected questions, this is a corpus (it can be added to questions)", file=path
        )
    return _benchmark(path, source, {}, setting)


def example() -> Benchmark:
    """Six passages, a question of two hops and one of three: small enough to check every number by hand."""
    return replace(load(ROOT / "data" / "example"), name="example")


def load_training(
    paths: Sequence[str | Path], *, setting: str = "pooled", corpus: Sequence[str | Path] = ()
) -> Benchmark:
    """Questions to learn from (``train``, ``dev``) with a corpus of their own, which no test question is asked of.

    The passages of the files ``corpus`` are learned from, too (transductively, where they are searched later). Formats
    with splits keep train and dev without test; other questions are split 80 : 20 by a hash of their ids.

    Raises InputError: as :func:`load`; and where there is no question to train on.
    """
    source = _read(paths, None, corpus)
    source.items = {id: item for id, item in source.items.items() if item.split != "test"}
    unsplit = [id for id, item in source.items.items() if not item.split]
    unsplit.sort(key=lambda id: blake2b(f"0 {id}".encode(), digest_size=8).digest())
    n_dev = round(DEV_SHARE * len(unsplit))
    splits = dict.fromkeys(unsplit[:n_dev], "dev") | dict.fromkeys(unsplit[n_dev:], "train")
    benchmark = _benchmark(Path(paths[0]), source, splits, setting)
    if not benchmark.train:
        raise InputError("expected questions to train on, there are none", file=paths[0])
    return benchmark


def load_corpus(paths: Sequence[str | Path]) -> Corpus:
    """The passages of files or folders in any format, equal title and text merged; their questions are left out."""
    return Corpus(_read([], None, paths).paragraphs.values())


def check(path: str | Path, format: str | None = None) -> tuple[list[str], list[str]]:
    """What keeps a file or folder from being loaded, and notes on published oddities; a line each."""
    source = Source()
    try:
        formats.read(Path(path), source, format)
    except InputError as error:
        source.problems.append(str(error))
    return source.problems, source.notes


def _read(paths: Sequence[str | Path], format: str | None, corpus: Sequence[str | Path]) -> Source:
    """What the files hold together, and the passages of the files ``corpus``, each in the format that it shows."""
    sources = []
    for number, path in enumerate([*paths, *corpus]):
        sources.append(source := Source())
        formats.read(Path(path), source, format if number < len(paths) else None)
        source.raise_first()
        if number >= len(paths):
            source.items.clear()
    return combine(*sources)


def _benchmark(path: Path, source: Source, splits: Mapping[str, str], setting: str) -> Benchmark:
    """The benchmark; ``splits`` maps the ids of questions of no published split to theirs, by default ``test``."""
    if setting not in SETTINGS:
        raise InputError(f"unknown setting {setting!r}: expected one of {', '.join(SETTINGS)}")
    if setting == "per-question" and not all(item.own for item in source.items.values()):
        raise InputError(
            "expected the setting pooled: questions have no paragraphs of their own", file=path
        )
    stem = re.sub(r"[^\w.-]+", "-", path.resolve().stem)
    name = "atlas" if path.resolve() == ATLAS else f"{source.format}-{stem}"
    questions: dict[str, list[Question]] = {name: [] for name in SPLITS}
    for id, item in source.items.items():
        questions[item.split or splits.get(id, "test")].append(item.question)
    corpus, collections = Corpus(source.paragraphs.values()), None
    if setting == "per-question":
        collections = {
            id: np.array([corpus.row[own] for own in item.own]) for id, item in source.items.items()
        }
    benchmark = Benchmark(name, corpus, collections=collections, **questions)
    return single_facts(benchmark) if setting == "facts" else benchmark
