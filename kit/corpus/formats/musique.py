"""MuSiQue-Ans (Trivedi et al. 2022, https://github.com/StonyBrookNLP/musique).

The file has JSON lines, or is a JSON list. A question has ``paragraphs`` (idx, title,
text; titles repeat, so gold goes by idx) and ``question_decomposition``: steps that name the
paragraph that answers them and refer to earlier answers as ``#1``.
"""

import re

from msgspec import Struct

from kit.corpus.source import Item, LeftOut, Source, Unexpected
from kit.corpus.types import (
    EvidenceGraph,
    FullText,
    Id,
    Indices,
    Question,
    Strings,
    SubQuestion,
)


class Paragraph(Struct):
    idx: int
    title: str
    paragraph_text: str
    is_supporting: bool = False


class DecompositionStep(Struct):
    question: str
    answer: str
    paragraph_support_idx: int | None


class MusiqueQuestion(Struct):
    id: Id
    question: FullText
    paragraphs: list[Paragraph]
    answer: str = ""
    question_decomposition: list[DecompositionStep] = []
    answer_aliases: Strings = ()
    answerable: bool = True


def to_item(published: MusiqueQuestion, source: Source) -> Item:
    """The question; its paragraphs are added to the source.

    Supports are the paragraphs of its steps, in their order. ``type`` is the id's prefix (2hop,
    3hop1 …).
    """
    ids = {
        paragraph.idx: source.add_paragraph(paragraph.title, paragraph.paragraph_text)
        for paragraph in published.paragraphs
    }
    if not published.answerable:
        raise LeftOut("an unanswerable question, as in MuSiQue-Full: left out")
    if not published.question_decomposition:
        raise LeftOut(
            "a question without question_decomposition, as in published test files: left out; "
            "its paragraphs are a corpus"
        )
    _check_indices(published, ids)

    of_steps = [ids[step.paragraph_support_idx] for step in published.question_decomposition]
    marked = [ids[paragraph.idx] for paragraph in published.paragraphs if paragraph.is_supporting]
    if set(of_steps) != set(marked):
        source.note("the steps and is_supporting name different paragraphs: all of them count")
    supports = list(dict.fromkeys([*of_steps, *marked]))

    steps = []
    edges = []
    for index, step in enumerate(published.question_decomposition):
        support = supports.index(of_steps[index])
        depends_on = _earlier_steps(step.question, index, source)
        steps.append(SubQuestion(step.question, step.answer, support, depends_on))
        edges += [(steps[earlier].support, support) for earlier in depends_on]

    prefix = re.match(r"(\dhop\d?)__", published.id)
    question = Question(
        published.id,
        published.question,
        published.answer,
        tuple((passage_id,) for passage_id in supports),
        aliases=published.answer_aliases,
        type=prefix[1] if prefix else "",
        decomposition=tuple(steps),
        evidence=EvidenceGraph.acyclic(len(supports), edges),
    )
    return Item(question, tuple(dict.fromkeys(ids.values())))


def _check_indices(published: MusiqueQuestion, ids: dict[int, str]) -> None:
    """Raise Unexpected where ``idx`` does not tell which paragraph is meant."""
    if len(ids) < len(published.paragraphs):
        raise Unexpected("an idx is given twice", "paragraphs")
    for index, step in enumerate(published.question_decomposition):
        if step.paragraph_support_idx not in ids:
            raise Unexpected(
                f"expected the idx of a paragraph, got {step.paragraph_support_idx}",
                f"question_decomposition[{index}].paragraph_support_idx",
            )


def _earlier_steps(text: str, index: int, source: Source) -> Indices:
    """The earlier steps that the text of a step refers to; any other ``#12`` is text."""
    earlier = []
    for reference in sorted({int(digits) for digits in re.findall(r"#(\d{1,2})\b", text)}):
        if reference in range(1, index + 1):
            earlier.append(reference - 1)
        else:
            source.note(
                f"'#{reference}' is no earlier step: read as text",
                f"question_decomposition[{index}].question",
            )
    return tuple(earlier)
