"""Questions about the pages and tables of the reports, and about what they say.

A third of the wordings of each kind, and one name of each report, occur in the ``test`` questions
alone: the rules that read questions about structure were written with the ``dev`` questions.
"""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import cycle
from pathlib import Path
from random import Random

import msgspec

from kit.corpus.formats.document_folder import PdfQuestion, Quote
from kit.worlds.reports.printing import ContentText, Report
from kit.worlds.reports.tasks import Task, Turn, Words

TIMES = 2  # that each wording is used


def ask_all(reports: Sequence[Report], rng: Random) -> dict[str, list[PdfQuestion]]:
    """The questions of ``dev`` and ``test``.

    Every wording is used twice, of reports in turn; then come the questions about content.
    """
    splits: dict[str, list[PdfQuestion]] = {"dev": [], "test": []}

    def add(split: str, text: str, answer: str, **fields: object) -> None:
        questions = splits[split]
        question_id = f"reports-{split}-{len(questions) + 1:03}"
        questions.append(PdfQuestion(question_id, text, answer, **fields))

    turns = cycle(reports)
    for kind, texts in _wordings().items():
        order = sorted(texts, key=_digest)
        for text in texts:
            split = _split(order.index(text))
            for _ in range(TIMES):
                turn = Turn(
                    next(turns),
                    reports,
                    text,
                    rng,
                )
                task = getattr(turn, kind)()
                words = _words(task, split, rng)
                add(
                    split,
                    text.format_map(words),
                    task.answer,
                    structures=task.structures,
                )

    contents = [(report, content) for report in reports for content in report.content]
    for index, (report, content) in enumerate(contents):
        quotes = tuple(_quotes(content, (report, *reports)))
        add(
            _split(index),
            content.text,
            content.answer,
            quotes=quotes,
        )
    return splits


def _wordings() -> dict[str, list[str]]:
    file = Path(__file__).with_name("wordings.toml")
    return msgspec.toml.decode(file.read_bytes())


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=8).digest()


def _split(index: int) -> str:
    """Every third is a test question."""
    return "dev" if index % 3 else "test"


def _words(task: Task, split: str, rng: Random) -> Words:
    """The words of a task with names for reports; those that begin a sentence, too."""
    words = {}
    for slot, word in task.words.items():
        if isinstance(word, Report):
            *names, held_out = word.names
            word = held_out if split == "test" else rng.choice(names)
        words[slot] = word
        if isinstance(word, str):
            words[slot.capitalize()] = word[:1].upper() + word[1:]
    return words


def _quotes(content: ContentText, reports: Sequence[Report]) -> Iterator[Quote]:
    """The words that support an answer, from the first report that has them."""
    for text in content.quotes:
        source = next(report for report in reports if text in report.body)
        yield Quote(source.file, text)
