"""HotpotQA, distractor setting (Yang et al. 2018, https://hotpotqa.github.io): a JSON list.

A question has ``context`` (paragraphs: title, sentences), ``supporting_facts`` (title, sentence index) and ``type``.
Published test files have no supporting facts and can't be read.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from kit.corpus.source import Item, Source, Unexpected, quote
from kit.corpus.types import FullText, Id, Question


class HotpotQuestion(msgspec.Struct):
    id: Id = msgspec.field(name="_id")
    question: FullText
    answer: str
    context: Annotated[list[tuple[str, list[str]]], Meta(min_length=1)]
    supporting_facts: Annotated[list[tuple[str, Annotated[int, Meta(ge=0)]]], Meta(min_length=1)]
    type: str = ""


def to_item(published: HotpotQuestion, source: Source) -> Item:
    """The question, its paragraphs added to the source; supports are those of ``supporting_facts``, in its order."""
    own: dict[str, list[str]] = {}  # paragraph id to sentences
    titled: dict[str, set[str]] = {}
    for title, sentences in published.context:
        id = source.add(title, " ".join(text for it in sentences if (text := it.strip())))
        own[id] = sentences
        titled.setdefault(title, set()).add(id)
    supports: list[str] = []
    for number, (title, index) in enumerate(published.supporting_facts):
        field, ids = f"supporting_facts[{number}]", titled.get(title, set())
        if len(ids) != 1:
            found = "the title of different ones" if ids else "none"
            raise Unexpected(
                f"expected the title of one paragraph of context, {quote(title)} is {found}", field
            )
        [id] = ids
        if index >= len(own[id]) or not own[id][index].strip():
            source.note(
                f"{quote(title)} has no sentence {index}: the paragraph counts in its place", field
            )
        supports.append(id)
    supporting = tuple((id,) for id in dict.fromkeys(supports))
    question = Question(
        published.id, published.question, published.answer, supporting, type=published.type
    )
    return Item(question, own=tuple(own))
