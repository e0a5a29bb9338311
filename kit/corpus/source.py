"""What a file holds, whatever its format: paragraphs, and questions that name their supports among them."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Sequence
from hashlib import blake2b

import msgspec
import networkx as nx

from kit.corpus.problems import Problems, quote
from kit.corpus.types import EvidenceGraph, Passage, Question
from kit.errors import InputError

SPLITS = ("train", "dev", "test")
_NO_WORD = re.compile(r"\W+")


class Item(msgspec.Struct, frozen=True):
    """A question as a file has it; its supports are paragraphs.

    ``own`` are the ids of the question's own paragraphs, in published order; empty where it is asked of all.
    ``named`` has, for each support, the sentences that the file names in it (none: the paragraph), as texts: two files
    can split the same paragraph differently, so that an index would not do.
    ``split`` is ``train``, ``dev`` or ``test`` where the format has splits.
    """

    question: Question
    own: tuple[str, ...] = ()
    named: tuple[tuple[str, ...], ...] = ()
    split: str = ""


class Source:
    """The paragraphs and questions of one file or folder, gathered while it is read.

    ``sentences`` maps a paragraph's id to its sentences, where the format gives them (blank ones kept, so that the
    published indices hold).
    """

    def __init__(self, format: str) -> None:
        self.format = format
        self.paragraphs: dict[str, Passage] = {}
        self.sentences: dict[str, tuple[str, ...]] = {}
        self.items: list[Item] = []
        self._by_text: dict[tuple[str, str], str] = {}
        self._questions: set[str] = set()

    def add(self, title: str, text: str, sentences: Sequence[str] = ()) -> str:
        """A paragraph of a format that gives no ids; returns its id. Equal title and text are one paragraph."""
        if (title, text) in self._by_text:
            return self._by_text[title, text]
        id = self._by_text[title, text] = content_id(title, text)
        if id not in self.paragraphs:
            self.paragraphs[id] = Passage(id, title, text, document=id)
            if sentences:
                self.sentences[id] = tuple(sentences)
        return id

    def add_passage(self, passage: Passage, problems: Problems, *, id_field: str, record: object, file: object) -> None:
        """A passage that has an id of its own."""
        if self._id_is_sound(passage.id, self.paragraphs, problems, field=id_field, record=record, file=file):
            self.paragraphs[passage.id] = passage

    def ask(
        self, item: Item, problems: Problems, *, id_field: str, text_field: str, record: object, file: object
    ) -> None:
        """A question, with the checks that hold in every format."""
        question = item.question
        self._id_is_sound(question.id, self._questions, problems, field=id_field, record=record, file=file)
        if not question.text.strip():
            problems.error("expected a question, it is empty", record=record, field=text_field, file=file)
        self._questions.add(question.id)
        self.items.append(item)

    @staticmethod
    def _id_is_sound(id: str, taken: Container[str], problems: Problems, **where: object) -> bool:
        if not id or id != "".join(id.split()):
            problems.error("expected an id without white space (TREC files are split at it)", **where)
        elif id in taken:
            problems.error("expected an id of its own, an earlier record has it", **where)
        else:
            return True
        return False


def content_id(title: str, text: str) -> str:
    """An id made from the content, the same in every file: the title's words, ``#``, 16 hexadecimal digits.

    White space is not content: corpora differ in it where they join the same sentences. The id has none either, since
    TREC files are split at it.
    """
    content = "\n".join(" ".join(part.split()) for part in (title, text))
    digits = blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{_NO_WORD.sub('_', title)[:40].strip('_')}#{digits}"


def evidence_graph(n_nodes: int, edges: Collection[tuple[int, int]]) -> EvidenceGraph | None:
    """The evidence graph with these edges, or None where they make no acyclic one (two steps share a passage)."""
    graph = EvidenceGraph(n_nodes, tuple(sorted({(i, j) for i, j in edges if i != j})))
    return graph if nx.is_directed_acyclic_graph(graph.to_networkx()) else None


def combine(first: Source, others: Iterable[Source]) -> Source:
    """The first source, and after it what the others add: paragraphs whose title and text are new, and all questions.

    The paragraphs of ``first`` keep their ids: a published corpus stays comparable even where it repeats a text.

    Raises:
        InputError: two files give one id to different passages, or have one question.
    """
    joint = Source(first.format)
    joint.paragraphs, joint.sentences, joint.items = dict(first.paragraphs), dict(first.sentences), list(first.items)
    kept = {content_id(passage.title, passage.text): passage.id for passage in reversed(first.paragraphs.values())}
    taken = {name for passage in first.paragraphs.values() for name in (passage.id, passage.document)}
    questions = {item.question.id for item in first.items}
    for other in others:
        names: dict[str, str] = {}
        for passage in other.paragraphs.values():
            key = content_id(passage.title, passage.text)
            if key not in kept:
                if passage.id in taken or passage.document in taken:
                    raise InputError(f"passage {quote(passage.id)}: an earlier file has its id for another text")
                kept[key] = passage.id
                joint.paragraphs[passage.id] = passage
                if passage.id in other.sentences:
                    joint.sentences[passage.id] = other.sentences[passage.id]
            names[passage.id] = kept[key]
        taken |= {name for passage in other.paragraphs.values() for name in (passage.id, passage.document)}
        for item in other.items:
            if item.question.id in questions:
                raise InputError(f"question {quote(item.question.id)} is in an earlier file too")
            questions.add(item.question.id)
            joint.items.append(_renamed(item, names))
    return joint


def _renamed(item: Item, names: dict[str, str]) -> Item:
    supporting = tuple(tuple(names[id] for id in carriers) for carriers in item.question.supporting)
    question = msgspec.structs.replace(item.question, supporting=supporting)
    return msgspec.structs.replace(item, question=question, own=tuple(dict.fromkeys(names[id] for id in item.own)))
