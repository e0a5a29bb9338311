"""Files to benchmarks: the settings (pooled, per-question) and the units (paragraph, sentence)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from kit.corpus import formats
from kit.corpus.problems import Problem, Problems
from kit.corpus.source import SPLITS, Item, Source, combine
from kit.corpus.types import Benchmark, Corpus
from kit.corpus.units import by_sentence
from kit.errors import InputError
from kit.paths import ATLAS

SETTINGS = ("pooled", "per-question")
UNITS = ("paragraph", "sentence")
DEV_SHARE = 0.2
_NO_NAME = re.compile(r"[^\w.-]+")


def load(
    data: str | Path | None = None,
    *,
    format: str | None = None,
    setting: str = "pooled",
    unit: str = "paragraph",
    corpus: Sequence[str | Path] = (),
) -> Benchmark:
    """A benchmark from a published file, a folder, or (None) the embedded atlas.

    The questions of a published file are the benchmark's ``test``; formats with splits (BEIR, the kit's own) keep them.

    Args:
        data: a file or folder in one of :data:`kit.corpus.formats.FORMATS`.
        format: which of them; None recognises it from content.
        setting: ``pooled``, one corpus of all questions' paragraphs (equal title and text merged); or ``per-question``,
            where each question is asked of its own paragraphs (kgp.txt §8.1).
        unit: ``paragraph``; or ``sentence``, where the supports are the named sentences, and a supporting paragraph
            without named sentences is carried by any of its sentences.
        corpus: files or folders in any format whose passages are added to a pooled corpus as distractors.

    Raises:
        InputError: one line for the first problem, with the count of the rest.
    """
    _known(setting, SETTINGS, "setting")
    _known(unit, UNITS, "unit")
    if corpus and setting == "per-question":
        raise InputError("extra corpora need the setting pooled: per-question asks each question of its own paragraphs")
    path = Path(data) if data else ATLAS
    source = _read(path, format)
    if not source.items:
        raise InputError("expected questions, this is a corpus (it can be added to questions)", file=path)
    if corpus:
        extra = [_read(Path(one), None) for one in corpus]
        for one in extra:
            one.items.clear()
        source = combine(source, extra)
    split: dict[str, list[Item]] = {name: [] for name in SPLITS}
    for item in source.items:
        split[item.split or "test"].append(item)
    return _benchmark(_name(path, source.format), source, split, setting, unit, path)


def load_training(
    paths: Sequence[str | Path],
    *,
    format: str | None = None,
    setting: str = "pooled",
    unit: str = "paragraph",
    seed: int = 0,
    corpus: Sequence[str | Path] = (),
) -> Benchmark:
    """Questions to learn from (``train``, ``dev``) with a corpus of their own, which no test question is asked of.

    The passages of the files ``corpus`` are learned from, too, without their questions: with those that are searched
    later, learning is transductive, as QSGNN's pre-training is in its paper. Formats with splits keep train and dev,
    and their test questions are left out. The other questions are split 80 : 20 by a hash of seed and id.

    Raises:
        InputError: as :func:`load`; and where there is no question to train on.
    """
    _known(setting, SETTINGS, "setting")
    _known(unit, UNITS, "unit")
    if not paths:
        raise InputError("expected at least one file to train on")
    first, *others = [_read(Path(path), format) for path in paths]
    more = [_read(Path(path), format) for path in corpus]
    for other in more:
        other.items.clear()
    source = combine(first, [*others, *more])
    unsplit = [item.question.id for item in source.items if not item.split]
    held_out = set(sorted(unsplit, key=lambda id: _hash(seed, id))[: round(DEV_SHARE * len(unsplit))])
    split: dict[str, list[Item]] = {"train": [], "dev": []}
    for item in source.items:
        name = item.split or ("dev" if item.question.id in held_out else "train")
        split.get(name, []).append(item)
    if not split["train"]:
        raise InputError("expected questions to train on, there are none", file=paths[0])
    return _benchmark(_name(Path(paths[0]), first.format), source, split, setting, unit, paths[0])


def load_corpus(paths: Sequence[str | Path], *, format: str | None = None, unit: str = "paragraph") -> Corpus:
    """The passages of files or folders in any format, equal title and text merged; their questions are left out."""
    _known(unit, UNITS, "unit")
    if not paths:
        raise InputError("expected at least one file")
    first, *others = [_read(Path(path), format) for path in paths]
    first.items.clear()
    for other in others:
        other.items.clear()
    return _benchmark("", combine(first, others), {}, "pooled", unit, paths[0]).corpus


def check(path: str | Path, format: str | None = None) -> list[Problem]:
    """Every problem of a file or folder: errors, which keep it from being loaded, and notes on published oddities."""
    problems = Problems(path)
    try:
        formats.read(Path(path), problems, format)
    except InputError as error:
        problems.found.append(Problem(str(error), error=True))
    return problems.found


def _read(path: Path, format: str | None) -> Source:
    problems = Problems(path)
    source = formats.read(path, problems, format)
    problems.raise_first()
    return source


def _benchmark(
    name: str, source: Source, split: dict[str, list[Item]], setting: str, unit: str, path: str | Path
) -> Benchmark:
    items = [item for part in split.values() for item in part]
    if setting == "per-question" and not all(item.own for item in items):
        expected = f"expected the setting pooled: format {source.format} gives questions no paragraphs of their own"
        raise InputError(expected, file=path)
    passages = source.paragraphs
    questions = {name: [item.question for item in part] for name, part in split.items()}
    parts = {id: (id,) for id in passages}
    if unit == "sentence":
        passages, parts, ask = by_sentence(source)
        questions = {name: [ask(item) for item in part] for name, part in split.items()}
    corpus = Corpus(passages.values())
    collections = None
    if setting == "per-question":
        collections = {
            item.question.id: np.array([corpus.row[part] for id in item.own for part in parts[id]]) for item in items
        }
    return Benchmark(name, corpus, unit=unit, collections=collections, **questions)


def _name(path: Path, format: str) -> str:
    """``atlas``, or the format and the file's name, in letters that a folder's name can have."""
    path = path.resolve()
    return "atlas" if path == ATLAS else f"{format}-{_NO_NAME.sub('-', path.stem)}"


def _hash(seed: int, id: str) -> bytes:
    return blake2b(f"{seed} {id}".encode(), digest_size=8).digest()


def _known(value: str, known: Sequence[str], what: str) -> None:
    if value not in known:
        raise InputError(f"unknown {what} {value!r}: expected one of {', '.join(known)}")
