"""Files to benchmarks, in the settings pooled, per-question and facts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import numpy as np

from kit.arguments import as_list
from kit.corpus import formats
from kit.corpus.copies import copies_in
from kit.corpus.facts import single_facts
from kit.corpus.pages import in_pages
from kit.corpus.pools import document_pools
from kit.corpus.prose import PASSAGE_TOKENS
from kit.corpus.source import Source, combine
from kit.corpus.types import SPLITS, Benchmark, Corpus
from kit.errors import InputError, known_names
from kit.paths import ATLAS, ROOT

SETTINGS = ("pooled", "per-question", "facts", "pages")
WITH_CORPUS = ("pooled", "pages")  # settings in which files may bring further passages
DEV_SHARE = 0.2

Files = Sequence[str | Path]


def load(
    data: str | Path | None = None,
    *,
    data_format: str | None = None,
    setting: str = "pooled",
    corpus: Files = (),
) -> Benchmark:
    """A benchmark from a published file, a folder, or (None) the embedded atlas.

    The questions of a published file are the benchmark's ``test``; formats with splits (BEIR, the
    kit's own) keep them. ``data_format`` is one of :data:`kit.corpus.formats.FORMATS`, by default
    the one that the content shows. ``corpus``: files whose passages are added to a pooled corpus.

    ``setting`` says what a question is asked of. ``pooled``: one corpus of all paragraphs, where
    equal title and text are merged. ``per-question``: the question's own paragraphs (KGP §8.1),
    or :func:`~kit.corpus.pools.document_pools` where it comes without any.
    ``facts``: its own 25 sentences (:func:`single_facts`). ``pages``: the passages of ``corpus`` in
    place of all paragraphs (:func:`~kit.corpus.pages.in_pages`).

    Raises InputError: one line for the first problem, with the count of the rest.
    """
    if corpus and setting not in WITH_CORPUS:
        raise InputError(
            "extra corpora need the setting pooled: "
            f"{setting} asks each question of passages of its own"
        )

    path = Path(data) if data else ATLAS
    source = _combined([_read(path, data_format)], corpus, setting)
    if not source.items:
        line = "expected questions, this is a corpus for `kit ask` (it can be added to questions)"
        raise InputError("; ".join([line, *source.summary]), file=path)
    return _benchmark(path, source, {}, setting, corpus)


def example() -> Benchmark:
    """Six passages, a question of two hops and one of three: numbers can be checked by hand."""
    return replace(load(ROOT / "data" / "example"), name="example")


def load_training(
    paths: Files,
    *,
    setting: str = "pooled",
    corpus: Files = (),
) -> Benchmark:
    """Questions to learn from (``train``, ``dev``), with a corpus of their own.

    No test question is asked of it. The passages of the files ``corpus`` are learned from, too
    (transductively, where they are searched later). Formats with splits keep train and dev without
    test; other questions are split 80 : 20 by a hash of their ids.

    Raises InputError: as :func:`load`; and where there is no question to train on.
    """
    paths = as_list(paths)
    source = _combined(list(map(_read, paths)), corpus, setting)
    source.items = {
        question_id: item for question_id, item in source.items.items() if item.split != "test"
    }

    # Questions of no published split, by a hash of their ids alone.
    unsplit = [question_id for question_id, item in source.items.items() if not item.split]
    unsplit.sort(key=lambda name: blake2b(f"0 {name}".encode(), digest_size=8).digest())
    n_dev = round(DEV_SHARE * len(unsplit))
    splits = dict.fromkeys(unsplit[:n_dev], "dev") | dict.fromkeys(unsplit[n_dev:], "train")

    published = {item.split for item in source.items.values()}
    if "train" not in published.union(splits.values()):
        raise InputError("expected questions to train on, there are none", file=paths[0])
    return _benchmark(Path(paths[0]), source, splits, setting, corpus)


def load_corpus(
    paths: Files,
    *,
    data_format: str | None = None,
    passage_tokens: int = PASSAGE_TOKENS,
) -> Corpus:
    """The passages of files or folders in any format; equal title and text are merged.

    Texts and web pages are cut into passages of at most ``passage_tokens`` words and marks of
    punctuation.
    """
    source = combine(*_passages_of(paths, data_format, passage_tokens))
    source.tell()
    return Corpus(source.paragraphs.values())


def check(path: str | Path, data_format: str | None = None) -> tuple[list[str], list[str]]:
    """What keeps a file or folder from being loaded, and notes on published oddities.

    A line each.
    """
    source = Source()
    try:
        formats.read_data(Path(path), source, data_format)
    except InputError as error:
        source.problems.append(str(error))
    _note_copies(path, source)
    return source.problems, source.notes + source.told_flaws


def _note_copies(path: str | Path, source: Source) -> None:
    """Note how many questions have a support of which the corpus has copies."""
    copies = copies_in(source.paragraphs.values())
    repeated = [
        question_id
        for question_id, item in source.items.items()
        if not copies.keys().isdisjoint(item.question.supporting_ids)
    ]
    if repeated:
        line = (
            f"{len(repeated):,} of {len(source.items):,} questions have a support of which the "
            f"corpus has copies under other ids, the first is {repeated[0]}: "
            "`kit evaluate --same-text` takes any of them"
        )
        source.notes.append(str(InputError(line, file=path)))


def _read(
    path: str | Path,
    data_format: str | None = None,
    passage_tokens: int = PASSAGE_TOKENS,
) -> Source:
    source = Source(passage_tokens=passage_tokens)
    formats.read_data(Path(path), source, data_format)
    source.raise_first()
    return source


def _combined(sources: list[Source], corpus: Files, setting: str) -> Source:
    """What the sources hold and, in the setting pooled, the passages of the corpus's files."""
    beside = _passages_of(corpus) if setting == "pooled" else []
    source = combine(*sources, *beside)
    source.settle(is_pooled=setting in WITH_CORPUS)
    return source


def _passages_of(
    paths: Files,
    data_format: str | None = None,
    passage_tokens: int = PASSAGE_TOKENS,
) -> list[Source]:
    """What the files hold, without their questions."""
    sources = [_read(path, data_format, passage_tokens) for path in as_list(paths)]
    for source in sources:
        source.items.clear()
    return sources


def _benchmark(
    path: Path,
    source: Source,
    splits: Mapping[str, str],
    setting: str,
    corpus: Files,
) -> Benchmark:
    """The benchmark; ``splits`` has those that are not published, by default ``test``."""
    if setting not in SETTINGS:
        raise InputError(
            f"unknown setting {setting!r}: expected one of {known_names(SETTINGS, setting)}"
        )

    source.tell()
    questions = {split: [] for split in SPLITS}
    for question_id, item in source.items.items():
        split = item.split or splits.get(question_id, "test")
        questions[split].append(item.question)

    stem = re.sub(r"[^\w.-]+", "-", path.resolve().stem)
    benchmark = Benchmark(
        "atlas" if path.resolve() == ATLAS else f"{source.format}-{stem}",
        Corpus(source.paragraphs.values()),
        **questions,
    )
    if setting == "facts":
        return single_facts(benchmark)
    if setting == "per-question":
        return _per_question(benchmark, source)
    if setting == "pages":
        if not corpus:
            raise InputError("expected files of pages for the setting pages", field="corpus")
        return in_pages(benchmark, load_corpus(corpus))
    return benchmark


def _per_question(benchmark: Benchmark, source: Source) -> Benchmark:
    """Each question asked of its own paragraphs, or of documents where it comes without any."""
    collections = {}
    if not all(item.collection for item in source.items.values()):
        collections = document_pools(benchmark).collections
    for question_id, item in source.items.items():
        if item.collection:
            rows = [benchmark.corpus.row[passage_id] for passage_id in item.collection]
            collections[question_id] = np.array(rows)
    return replace(benchmark, collections=collections)
