"""HotpotQA, distractor setting (Yang et al. 2018, https://hotpotqa.github.io): a JSON list.

A question has ``context`` (paragraphs: title, sentences), ``supporting_facts`` (title, sentence index) and ``type``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from kit.corpus import records
from kit.corpus.problems import Problems, quote
from kit.corpus.source import Item, Source
from kit.corpus.types import Question


class Record(msgspec.Struct):
    """A question as published."""

    id: str = msgspec.field(name="_id")
    question: str
    answer: str
    context: list[tuple[str, list[str]]]
    supporting_facts: list[tuple[str, int]]
    type: str = ""


def read(path: Path, problems: Problems) -> Source:
    """Supports are the paragraphs that ``supporting_facts`` names, in its order."""
    source = Source("hotpotqa")
    read_into(source, path, problems, Record, lambda record, item: item)
    return source


def read_into(
    source: Source,
    path: Path,
    problems: Problems,
    record_type: type[Record],
    enrich: Callable[[Record, Item], Item],
) -> None:
    """Read a file of HotpotQA's shape; ``enrich`` adds what a descendant of the format knows beyond it."""
    decoder = msgspec.json.Decoder(record_type)
    for raw in records.read(path, problems):
        record = records.decode(raw, decoder, problems, path)
        if record is None:
            continue
        where = {"record": records.label(raw, record.id), "file": path}
        item = _item(record, source, problems, where)
        if item is not None:
            source.ask(enrich(record, item), problems, id_field="_id", text_field="question", **where)


def _item(record: Record, source: Source, problems: Problems, where: dict[str, object]) -> Item | None:
    if not record.context:
        problems.error("expected at least one paragraph, the list is empty", field="context", **where)
        return None
    paragraphs: dict[str, dict[str, list[str]]] = {}
    own = []
    for title, sentences in record.context:
        id = source.add(title, " ".join(text for sentence in sentences if (text := sentence.strip())), sentences)
        paragraphs.setdefault(title, {})[id] = sentences
        own.append(id)
    named = _supports(record, paragraphs, problems, where)
    if named is None:
        return None
    if not record.answer.strip():
        problems.note("the answer is empty", field="answer", **where)
    question = Question(record.id, record.question, record.answer, tuple((id,) for id in named), type=record.type)
    return Item(question, tuple(dict.fromkeys(own)), tuple(map(tuple, named.values())))


def _supports(
    record: Record, paragraphs: dict[str, dict[str, list[str]]], problems: Problems, where: dict[str, object]
) -> dict[str, list[str]] | None:
    """The supporting paragraphs' ids, each with the sentences named in it; None where they can't be told."""
    named: dict[str, list[str]] = {}
    sound = bool(record.supporting_facts)
    if not sound:
        expected = "expected at least one fact, the list is empty (published test files hold no gold)"
        problems.error(expected, field="supporting_facts", **where)
    for number, (title, index) in enumerate(record.supporting_facts):
        field = f"supporting_facts[{number}]"
        candidates = paragraphs.get(title, {})
        if len(candidates) != 1:
            few = f"expected the title of a paragraph of context, {quote(title)} is none"
            many = f"expected a title of one paragraph of context, {quote(title)} is the title of different ones"
            problems.error(many if candidates else few, field=field, **where)
            sound = False
            continue
        if index < 0:
            problems.error(f"expected a sentence's index, from 0, got {index}", field=field, **where)
            sound = False
            continue
        [(id, sentences)] = candidates.items()
        of_paragraph = named.setdefault(id, [])
        sentence = sentences[index].strip() if index < len(sentences) else ""
        if not sentence:
            remark = f"{quote(title)} has no sentence {index}: the paragraph counts in its place"
            problems.note(remark, field=field, **where)
        elif sentence not in of_paragraph:
            of_paragraph.append(sentence)
    return named if sound else None
