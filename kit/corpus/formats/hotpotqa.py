"""HotpotQA (Yang et al. 2018, https://hotpotqa.github.io): a JSON list.

A question has ``context`` (paragraphs: title, sentences), ``supporting_facts`` (title, sentence
index) and ``type``. In the fullwiki setting the context was retrieved: it may lack supports, which
are then looked for by title in the whole corpus. Published test files have no supporting facts:
what is left of them is a corpus.
"""

from typing import Annotated

import msgspec
from msgspec import Struct

from kit.corpus.source import Item, LeftOut, Source, Unexpected, quote
from kit.corpus.types import FullText, Id, OneOrMore, Question
from kit.settings import Whole


class HotpotQuestion(Struct):
    id: Id = msgspec.field(name="_id")
    question: FullText
    context: Annotated[list[tuple[str, list[str]]], OneOrMore]
    answer: str = ""
    supporting_facts: list[tuple[str, Whole]] = []
    type: str = ""


def to_item(published: HotpotQuestion, source: Source) -> Item:
    """The question; its paragraphs are added to the source.

    Supports are the paragraphs of ``supporting_facts``, in its order.
    """
    sentences_of = {}  # by passage id
    ids = {}  # by title
    for title, sentences in published.context:
        text = " ".join(filter(None, map(str.strip, sentences)))
        passage_id = source.add_paragraph(title, text)
        sentences_of[passage_id] = sentences
        ids.setdefault(title, set()).add(passage_id)

    if not published.supporting_facts:
        raise LeftOut(
            "a question without supporting_facts, as in published test files: left out; "
            "its paragraphs are a corpus"
        )
    supports = {}
    for index, (title, sentence_index) in enumerate(published.supporting_facts):
        field = f"supporting_facts[{index}]"
        titled = ids.get(title)
        if titled is None:
            supports[source.seek(title)] = None
            continue
        if len(titled) > 1:
            raise Unexpected(
                "expected the title of one paragraph of context, "
                f"{quote(title)} is the title of different ones",
                field,
            )

        [passage_id] = titled
        sentences = sentences_of[passage_id]
        if sentence_index >= len(sentences) or not sentences[sentence_index].strip():
            source.note(
                f"{quote(title)} has no sentence {sentence_index}: "
                "the paragraph counts in its place",
                field,
            )
        supports[passage_id] = None

    question = Question(
        published.id,
        published.question,
        published.answer,
        tuple((passage_id,) for passage_id in supports),
        type=published.type,
    )
    return Item(question, tuple(sentences_of))
