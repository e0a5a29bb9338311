"""QuALITY (Pang et al. 2022, https://github.com/nyu-mll/quality): JSON lines.

A line is a set of questions that one writer wrote about one ``article`` (``title``; in HTML, or
stripped of it). A question has four ``options``, the number of the right one from 1
(``gold_label``), and ``difficult``: 1 for the hard subset. Two lines have the same article. The
published test file has no labels: what is left of it is a corpus.
"""

from typing import Annotated

from msgspec import Meta, Struct

from kit.corpus.prose import PARSERS
from kit.corpus.source import Item, LeftOut, Source, Unexpected
from kit.corpus.types import FullText, Id, Question


class ChoiceQuestion(Struct):
    question: FullText
    options: Annotated[list[FullText], Meta(min_length=2)]
    gold_label: int | None = None
    difficult: int = 0
    question_unique_id: str = ""


class QuestionSet(Struct):
    set_unique_id: Id
    title: str
    article: FullText
    questions: list[ChoiceQuestion]


def add_questions(published: QuestionSet, source: Source) -> None:
    """Add the article, cut into passages, and the questions about it.

    Which passages are needed is not published. So a question has one support, its article, which
    any of the passages carries. ``type`` is ``hard`` or ``easy``.
    """
    is_html = published.article.lstrip().startswith("<")
    parts = PARSERS[".html" if is_html else ".txt"](published.article)
    passages = source.add_document(published.title, parts)
    article = tuple(passage.id for passage in passages)
    if not article:
        raise Unexpected("expected text, there is none", "article")

    for index, question in enumerate(published.questions):
        if question.gold_label is None:
            raise LeftOut(
                "questions without gold_label, as in the published test file: left out; "
                "their article is a corpus"
            )
        if question.gold_label not in range(1, len(question.options) + 1):
            raise Unexpected(
                f"expected the number of an option, got {question.gold_label}",
                f"questions[{index}].gold_label",
            )
        if len(set(question.options)) < len(question.options):
            source.note("an option is given twice", f"questions[{index}].options")

        item = Question(
            question.question_unique_id or f"{published.set_unique_id}_question_{index}",
            question.question,
            question.options[question.gold_label - 1],
            (article,),
            type="hard" if question.difficult else "easy",
            options=tuple(question.options),
        )
        source.add_question(Item(item, article))
