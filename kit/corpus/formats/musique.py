"""MuSiQue-Ans (Trivedi et al. 2022, https://github.com/StonyBrookNLP/musique): JSON lines, or a JSON list of the same.

A question has ``paragraphs`` (idx, title, text; titles repeat, so gold goes by idx) and ``question_decomposition``:
steps that name the paragraph that answers them and refer to earlier answers as ``#1``.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from kit.corpus.source import Item, Source, Unexpected, evidence_graph, quote
from kit.corpus.types import Question, SubQuestion


class Paragraph(msgspec.Struct):
    """A paragraph as published."""

    idx: int
    title: str
    paragraph_text: str
    is_supporting: bool


class DecompositionStep(msgspec.Struct):
    """A step of the decomposition as published."""

    question: str
    answer: str
    paragraph_support_idx: int | None


class MusiqueQuestion(msgspec.Struct):
    """A question as published."""

    id: str
    question: str
    answer: str
    paragraphs: list[Paragraph]
    question_decomposition: list[DecompositionStep]
    answer_aliases: list[str] = msgspec.field(default_factory=list)
    answerable: bool = True


def read(path: Path, source: Source) -> None:
    """Supports are the paragraphs of the steps in their order; ``type`` is the id's prefix (2hop, 3hop1 …)."""
    source.each(path, MusiqueQuestion, lambda published: source.ask(_to_item(published, source), "id", "question"))


def _to_item(published: MusiqueQuestion, source: Source) -> Item:
    if not published.answerable:
        expected = "expected an answerable question (MuSiQue-Ans; those of MuSiQue-Full have no whole evidence)"
        raise Unexpected(expected, "answerable")
    steps = published.question_decomposition
    if not steps:
        expected = "expected at least one step, the list is empty (published test files hold no gold)"
        raise Unexpected(expected, "question_decomposition")
    ids: dict[int, str] = {}
    for number, paragraph in enumerate(published.paragraphs):
        if paragraph.idx in ids:
            raise Unexpected(f"index {paragraph.idx} is given twice", f"paragraphs[{number}].idx")
        ids[paragraph.idx] = source.add(paragraph.title, paragraph.paragraph_text)
    for number, step in enumerate(steps):
        if step.paragraph_support_idx not in ids:
            field = f"question_decomposition[{number}].paragraph_support_idx"
            raise Unexpected(f"expected the idx of a paragraph, got {step.paragraph_support_idx}", field)
    of_steps = [ids[step.paragraph_support_idx] for step in steps]
    marked = [ids[paragraph.idx] for paragraph in published.paragraphs if paragraph.is_supporting]
    supports = list(dict.fromkeys([*of_steps, *marked]))
    if set(of_steps) != set(marked):
        source.tell("the steps and is_supporting name different paragraphs: all of them count", error=False)
    if not published.answer.strip():
        source.tell("the answer is empty", "answer", error=False)
    place = [supports.index(id) for id in of_steps]
    depends_on = [_earlier(step.question, number, source) for number, step in enumerate(steps)]
    edges = [(place[i], place[j]) for j, earlier in enumerate(depends_on) for i in earlier]
    prefix = re.match(r"(\dhop\d?)__", published.id)
    question = Question(
        published.id,
        published.question,
        published.answer,
        supporting=tuple((id,) for id in supports),
        aliases=tuple(published.answer_aliases),
        type=prefix[1] if prefix else "",
        decomposition=tuple(
            SubQuestion(step.question, step.answer, support, earlier)
            for step, support, earlier in zip(steps, place, depends_on)
        ),
        evidence=evidence_graph(len(supports), edges),
    )
    return Item(question, own=tuple(dict.fromkeys(ids.values())))


def _earlier(text: str, number: int, source: Source) -> tuple[int, ...]:
    """The indices of the earlier steps that the text of a step refers to."""
    references = sorted({int(digits) - 1 for digits in re.findall(r"#(\d{1,2})\b", text)})
    earlier = tuple(reference for reference in references if 0 <= reference < number)
    for reference in set(references) - set(earlier):
        remark = f"{quote(f'#{reference + 1}')} is no earlier step: read as text"
        source.tell(remark, f"question_decomposition[{number}].question", error=False)
    return earlier
