"""What a file holds, whatever its format: paragraphs, questions, and what is wrong with it."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kit.corpus import records
from kit.corpus.prose import PASSAGE_TOKENS, Part, passage_texts
from kit.corpus.records import NumberedRecords
from kit.corpus.types import SPLITS, Passage, Question, Strings, Texts
from kit.errors import InputError, note

T = TypeVar("T")

_ID_IS_TAKEN = "expected an id of its own, an earlier record has it"


class Unexpected(Exception):
    """What a record should have had, and in which field."""


class LeftOut(Exception):
    """Why a record of a published file is left out; what it has beside is read."""


class Item(Struct, frozen=True):
    """A question as a file has it; its supports are paragraphs.

    ``collection`` are the ids of the question's own paragraphs, in published order; it is empty
    where the question is asked of all. ``split`` is ``train``, ``dev`` or ``test`` where the format
    has splits.
    """

    question: Question
    collection: Strings = ()
    split: str = ""


@dataclass
class Source:
    """The paragraphs and questions of one file or folder, by id, gathered while it is read.

    ``problems`` keep it from being loaded. ``notes`` tell what is odd in it, or is left out. Both
    have a line for each. ``flaws`` are the records that are not read as they stand, by file and
    reason. ``sought`` are the titles of supports that are not in their files, by the ids that stand
    for these.
    """

    format: str = ""
    paragraphs: dict[str, Passage] = field(default_factory=dict)
    items: dict[str, Item] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    flaws: dict[tuple[Path, str], set[int]] = field(default_factory=dict)
    sought: dict[str, str] = field(default_factory=dict)
    passage_tokens: int = PASSAGE_TOKENS  # of passages that texts are cut into, at most
    _file: Path | None = None  # what is being read, and its record
    _record: int | None = None

    def read_records(
        self,
        file: Path,
        kind: type[T],
        accept: Callable[[T], object],
        records_of: Callable[[Path], NumberedRecords] = records.numbered_records,
    ) -> None:
        """Give each record of the file to ``accept``.

        There is a problem for each that is not of the kind, or that ``accept`` refuses.
        """
        decoder = msgspec.json.Decoder(kind)
        self._file = file
        self._record = None
        for record, content in records_of(file):
            self._record = record
            try:
                text = records.composed(content)
                writable = records.writable(text)
                if writable != text:
                    self.add_flaw("NUL or half a character is replaced by U+FFFD")
                accept(decoder.decode(writable))
            except LeftOut as error:
                self.add_flaw(str(error))
            except Unexpected as error:
                self._add_problem(content, *error.args)
            except records.BROKEN as error:
                self._add_problem(content, *records.in_words(error))

        if self._record is None:
            raise InputError("expected at least one record, the file holds none", file=file)

    def read_splits(
        self,
        folder: Path,
        kind: type[T],
        to_question: Callable[[T], Question],
    ) -> None:
        """The questions of ``train.jsonl``, ``dev.jsonl`` and ``test.jsonl``, if they are there."""

        def add(record: T) -> None:
            self.add_question(Item(to_question(record), split=self._file.stem))

        for split in SPLITS:
            file = folder / f"{split}.jsonl"
            if file.exists():
                self.read_records(file, kind, add)

    def _add_problem(
        self,
        content: bytes,
        expected: str,
        field: str | None = None,
    ) -> None:
        """What is wrong with the record that is read."""
        record = str(self._record)
        if record_id := records.id_of(content):
            record += f" (id {quote(record_id)})"
        self.problems.append(self._line(expected, record, field))

    def note(self, oddity: str, field: str | None = None) -> None:
        """What is odd in the record that is read, and what is made of it."""
        self.notes.append(self._line(oddity, self._record, field))

    def add_flaw(self, reason: str) -> None:
        """Count the record that is read among those of this flaw."""
        self.flaws.setdefault((self._file, reason), set()).add(self._record)

    @property
    def told_flaws(self) -> list[str]:
        """A line for each kind of flaw, with its first record and the count of the others."""
        lines = []
        for (file, reason), numbers in self.flaws.items():
            record = str(min(numbers))
            if len(numbers) > 1:
                record += f" and {len(numbers) - 1:,} more"
            lines.append(str(InputError(reason, file=file, record=record)))
        return lines

    @property
    def summary(self) -> list[str]:
        """A line for each kind of flaw, and the first note with the count of the rest."""
        lines = self.told_flaws
        if self.notes:
            lines.append(_first_of(self.notes))
        return lines

    def _line(self, message: str, record: object, field: str | None) -> str:
        return str(InputError(message, file=self._file, record=record, field=field))

    def raise_first(self) -> None:
        """Raise the first problem, if there is one, with the count of the rest."""
        if self.problems:
            raise InputError(_first_of(self.problems))

    def tell(self) -> None:
        """Warn of what the summary says."""
        for line in self.summary:
            note(line)

    def add_paragraph(self, title: str, text: str) -> str:
        """Add a paragraph of a format that gives no ids, and return its id.

        Equal title and text are one paragraph.
        """
        passage_id = content_id(title, text)
        paragraph = Passage(passage_id, title, text, document=passage_id)
        self.paragraphs.setdefault(passage_id, paragraph)
        return passage_id

    def add_document(self, title: str, parts: Iterable[Part]) -> list[Passage]:
        """Add a long text of a format that gives no ids, and return its passages.

        They have at most ``passage_tokens`` words and marks of punctuation. Equal title and text
        are one document.
        """
        written = [part for part in parts if part.text.strip()]
        texts = list(passage_texts(written, title, self.passage_tokens))
        document = content_id(title, "\n".join(texts))
        passages = []
        for position, text in enumerate(texts):
            passage_id = f"{document}.{position}"
            passages.append(Passage(passage_id, title, text, document, position))
        self.paragraphs |= {passage.id: passage for passage in passages}
        return passages

    def add_passage(self, passage: Passage) -> None:
        """Add a passage that has an id of its own."""
        if passage.id in self.paragraphs:
            raise Unexpected(_ID_IS_TAKEN, "id")
        self.paragraphs[passage.id] = passage

    def add_question(self, item: Item) -> None:
        """Add a question whose id no earlier one has."""
        question = item.question
        if question.id in self.items:
            raise Unexpected(_ID_IS_TAKEN, "id")
        if item.collection and not question.answer.strip():
            self.note("the answer is empty", "answer")
        self.items[question.id] = item

    def seek(self, title: str) -> str:
        """The id that stands for a support of which only the title is known yet."""
        self.add_flaw(
            "a support is no paragraph of its question, as in fullwiki files: "
            "its title is looked for in the whole corpus"
        )
        passage_id = f"{title} (sought)"
        self.sought[passage_id] = title
        return passage_id

    def title(self, passage_id: str) -> str:
        """That of a paragraph, or of a support that is sought."""
        if passage_id in self.sought:
            return self.sought[passage_id]
        return self.paragraphs[passage_id].title

    def settle(self, is_pooled: bool) -> None:
        """Put in place of each support that is sought the one paragraph of its title.

        Questions for which there is none, or are several, are left out, and noted. Where questions
        are not pooled, none can be asked of a paragraph that is not its own.
        """
        if not self.sought:
            return
        carriers_of = defaultdict(list)  # by title
        for passage in self.paragraphs.values() if is_pooled else ():
            carriers_of[passage.title].append(passage.id)
        settled = {}
        for sought_id, title in self.sought.items():
            if len(carriers_of[title]) == 1:
                settled[sought_id] = tuple(carriers_of[title])

        items = {}
        for question_id, item in self.items.items():
            supporting = [
                settled.get(carriers[0], carriers) for carriers in item.question.supporting
            ]
            question = replace(item.question, supporting=tuple(supporting))
            if self.sought.keys().isdisjoint(question.supporting_ids):
                items[question_id] = replace(item, question=question)

        if n_left_out := len(self.items) - len(items):
            line = (
                f"{n_left_out:,} of {len(self.items):,} questions are left out: "
                "the corpus has not one passage with the title of each support"
            )
            self.notes.insert(0, line)  # the first one is told
        self.items = items


def _first_of(lines: Texts) -> str:
    first, *others = lines
    if others:
        first += f" (and {len(others)} more: `kit data check` tells all)"
    return first


def quote(text: object) -> str:
    """A text from a file as a line for a terminal may show it.

    It is short, and its control characters are escaped.
    """
    shown = repr(text)
    return shown if len(shown) <= 80 else shown[:76] + "...'"


def content_id(title: str, text: str) -> str:
    """An id made from the content: the title's words, ``#``, 16 hexadecimal digits.

    It is the same in every file. White space is not content: corpora differ in it where they join
    the same sentences. The id has none either.
    """
    content = "\n".join(" ".join(part.split()) for part in (title, text))
    digest = blake2b(content.encode(), digest_size=8).hexdigest()
    words = re.sub(r"\W+", "_", title)[:40].strip("_")
    return f"{words}#{digest}"


def combine(*sources: Source) -> Source:
    """The first source, with what the others add: all questions, and paragraphs that are new.

    A paragraph is new if no earlier one has its title and text. The paragraphs of ``first`` keep
    their ids: a published corpus stays comparable even where it repeats a text.

    Raises InputError: there is none; two give one id to different passages, or have one question.
    """
    if not sources:
        raise InputError("expected at least one file")
    first, *others = sources
    ids = {
        content_id(passage.title, passage.text): passage.id
        for passage in reversed(first.paragraphs.values())
    }
    for other in others:
        renamed = _add_new_paragraphs(first, other, ids)
        for question_id, item in other.items.items():
            if question_id in first.items:
                raise InputError(f"question {quote(question_id)} is in an earlier file too")
            supporting = (
                tuple(renamed.get(passage_id, passage_id) for passage_id in carriers)
                for carriers in item.question.supporting
            )
            collection = dict.fromkeys(map(renamed.get, item.collection))
            first.items[question_id] = Item(
                replace(item.question, supporting=tuple(supporting)),
                tuple(collection),
                item.split,
            )
        first.notes += other.notes
        first.flaws |= other.flaws
        first.sought |= other.sought
    return first


def _add_new_paragraphs(
    first: Source,
    other: Source,
    ids: dict[str, str],
) -> dict[str, str]:
    """Each id of the other's paragraphs to the one that the paragraph has in ``first``."""
    taken = set(first.paragraphs)
    taken.update(passage.document for passage in first.paragraphs.values())
    renamed = {}
    for passage in other.paragraphs.values():
        content = content_id(passage.title, passage.text)
        if content not in ids:
            if {passage.id, passage.document} & taken:
                raise InputError(
                    f"passage {quote(passage.id)}: an earlier file has its id for another text"
                )
            first.paragraphs[passage.id] = passage
            ids[content] = passage.id
        renamed[passage.id] = ids[content]
    return renamed
