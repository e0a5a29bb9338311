"""What a file holds, whatever its format: paragraphs, questions about them, and what is wrong with it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import msgspec

from kit.corpus import records
from kit.corpus.types import SPLITS, Passage, Question
from kit.errors import InputError

T = TypeVar("T")


class Unexpected(Exception):
    """What a record should have had, and in which field."""


class Item(msgspec.Struct, frozen=True):
    """A question as a file has it; its supports are paragraphs.

    ``own`` are the ids of the question's own paragraphs, in published order; empty where it is asked of all.
    ``split`` is ``train``, ``dev`` or ``test`` where the format has splits.
    """

    question: Question
    own: tuple[str, ...] = ()
    split: str = ""


@dataclass
class Source:
    """The paragraphs and questions of one file or folder by id, gathered while it is read, and all that is wrong.

    ``problems`` keep it from being loaded, ``notes`` tell what published files have of oddities; a line each.
    """

    format: str = ""
    paragraphs: dict[str, Passage] = field(default_factory=dict)
    items: dict[str, Item] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _place: dict[str, object] = field(default_factory=dict)  # of what is read: its file and record

    def each(
        self,
        file: Path,
        kind: type[T],
        take: Callable[[T], object],
        read: Callable[[Path], Iterator[tuple[int, bytes]]] = records.read,
    ) -> None:
        """Give each record of the file to ``take``; tell those that are not of the kind, or that it refuses."""
        decoder, number = msgspec.json.Decoder(kind), 0
        for number, content in read(file):
            self._place = {"file": file, "record": number}
            try:
                take(decoder.decode(content))
            except (*records.BROKEN, Unexpected) as error:
                id = records.id_of(content)
                record = f"{number} (id {quote(id)})" if id else number
                words, field = (
                    error.args if isinstance(error, Unexpected) else records.in_words(error)
                )
                self.problems.append(str(InputError(words, file=file, record=record, field=field)))
        if not number:
            raise InputError("expected at least one record, the file holds none", file=file)

    def note(self, words: str, field: str | None = None) -> None:
        """What is odd in the record that is read, and what is made of it."""
        self.notes.append(str(InputError(words, field=field, **self._place)))

    def each_split(self, folder: Path, kind: type[T], take: Callable[[T], Question]) -> None:
        """Take the questions of ``train.jsonl``, ``dev.jsonl`` and ``test.jsonl``, as far as there are any."""
        for split in SPLITS:
            if (file := folder / f"{split}.jsonl").exists():
                self.each(
                    file,
                    kind,
                    lambda record, split=split: self.ask(Item(take(record), split=split)),
                )

    def raise_first(self) -> None:
        """Raise the first problem, if there is one, with the count of the rest."""
        if self.problems:
            first, *rest = self.problems
            raise InputError(
                first + (f" (and {len(rest)} more: `kit data check` tells all)" if rest else "")
            )

    def add(self, title: str, text: str) -> str:
        """A paragraph of a format that gives no ids; returns its id. Equal title and text are one paragraph."""
        id = content_id(title, text)
        if id not in self.paragraphs:
            self.paragraphs[id] = Passage(id, title, text, document=id)
        return id

    def add_passage(self, passage: Passage) -> None:
        """A passage that has an id of its own."""
        if passage.id in self.paragraphs:
            raise Unexpected("expected an id of its own, an earlier record has it", "id")
        self.paragraphs[passage.id] = passage

    def ask(self, item: Item) -> None:
        """A question that no earlier one has the id of."""
        if item.question.id in self.items:
            raise Unexpected("expected an id of its own, an earlier record has it", "id")
        if item.own and not item.question.answer.strip():
            self.note("the answer is empty", "answer")
        self.items[item.question.id] = item


def quote(text: object) -> str:
    """A text from a file as it may stand in a line for a terminal: short, control characters escaped."""
    shown = repr(text)
    return shown if len(shown) <= 80 else shown[:76] + "...'"


def content_id(title: str, text: str) -> str:
    """An id made from the content, the same in every file: the title's words, ``#``, 16 hexadecimal digits.

    White space is not content: corpora differ in it where they join the same sentences. The id has none either.
    """
    content = "\n".join(" ".join(part.split()) for part in (title, text))
    words = re.sub(r"\W+", "_", title)[:40].strip("_")
    return f"{words}#{blake2b(content.encode(), digest_size=8).hexdigest()}"


def combine(first: Source, *others: Source) -> Source:
    """The first source, and after it what the others add: paragraphs whose title and text are new, and all questions.

    The paragraphs of ``first`` keep their ids: a published corpus stays comparable even where it repeats a text.
    Raises InputError: two files give one id to different passages, or have one question.
    """
    kept = {
        content_id(passage.title, passage.text): passage.id
        for passage in reversed(first.paragraphs.values())
    }
    for other in others:
        taken = {
            name for passage in first.paragraphs.values() for name in (passage.id, passage.document)
        }
        renamed: dict[str, str] = {}
        for id, passage in other.paragraphs.items():
            key = content_id(passage.title, passage.text)
            if key not in kept:
                if {id, passage.document} & taken:
                    raise InputError(
                        f"passage {quote(id)}: an earlier file has its id for another text"
                    )
                kept[key], first.paragraphs[id] = id, passage
            renamed[id] = kept[key]
        for question_id, item in other.items.items():
            if question_id in first.items:
                raise InputError(f"question {quote(question_id)} is in an earlier file too")
            supporting = tuple(
                tuple(renamed[id] for id in carriers) for carriers in item.question.supporting
            )
            question = msgspec.structs.replace(item.question, supporting=supporting)
            own = tuple(dict.fromkeys(renamed[id] for id in item.own))
            first.items[question_id] = msgspec.structs.replace(item, question=question, own=own)
    return first
