"""HotpotQA, distractor setting (Yang et al. 2018, https://hotpotqa.github.io): a JSON list.

A question has ``context`` (paragraphs: title, sentences), ``supporting_facts`` (title, sentence index) and ``type``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from kit.corpus.source import Item, Source, Unexpected, quote
from kit.corpus.types import Question


class HotpotQuestion(msgspec.Struct):
    """A question as published."""

    id: str = msgspec.field(name="_id")
    question: str
    answer: str
    context: list[tuple[str, list[str]]]
    supporting_facts: list[tuple[str, int]]
    type: str = ""


def read(path: Path, source: Source) -> None:
    """Supports are the paragraphs that ``supporting_facts`` names, in its order."""
    source.each(path, HotpotQuestion, lambda published: source.ask(to_item(published, source), "_id", "question"))


def to_item(published: HotpotQuestion, source: Source) -> Item:
    """The question, its paragraphs added to the source."""
    if not published.context:
        raise Unexpected("expected at least one paragraph, the list is empty", "context")
    if not published.supporting_facts:
        expected = "expected at least one fact, the list is empty (published test files hold no gold)"
        raise Unexpected(expected, "supporting_facts")
    paragraphs: dict[str, dict[str, list[str]]] = {}  # by title, then id
    own = []
    for title, sentences in published.context:
        own.append(source.add(title, " ".join(text for it in sentences if (text := it.strip())), sentences))
        paragraphs.setdefault(title, {})[own[-1]] = sentences
    named: dict[str, dict[str, None]] = {}  # the supports' ids, each with the sentences named in it
    for number, (title, index) in enumerate(published.supporting_facts):
        field = f"supporting_facts[{number}]"
        if len(paragraphs.get(title, ())) != 1:
            few = f"expected the title of a paragraph of context, {quote(title)} is none"
            many = f"expected a title of one paragraph of context, {quote(title)} is the title of different ones"
            raise Unexpected(many if title in paragraphs else few, field)
        if index < 0:
            raise Unexpected(f"expected a sentence's index, from 0, got {index}", field)
        [(id, sentences)] = paragraphs[title].items()
        sentence = sentences[index].strip() if index < len(sentences) else ""
        named.setdefault(id, {}).update({sentence: None} if sentence else {})
        if not sentence:
            remark = f"{quote(title)} has no sentence {index}: the paragraph counts in its place"
            source.tell(remark, field, error=False)
    if not published.answer.strip():
        source.tell("the answer is empty", "answer", error=False)
    supporting = tuple((id,) for id in named)
    question = Question(published.id, published.question, published.answer, supporting, type=published.type)
    return Item(question, tuple(dict.fromkeys(own)), tuple(map(tuple, named.values())))
