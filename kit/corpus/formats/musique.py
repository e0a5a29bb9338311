"""MuSiQue-Ans (Trivedi et al. 2022, https://github.com/StonyBrookNLP/musique): JSON lines, or a JSON list of the same.

A question has ``paragraphs`` (idx, title, text; titles repeat, so gold goes by idx) and ``question_decomposition``:
steps that name the paragraph that answers them and refer to earlier answers as ``#1``.
"""

import re
from typing import Annotated

import msgspec
from msgspec import Meta

from kit.corpus.source import Item, Source, Unexpected, quote
from kit.corpus.types import EvidenceGraph, FullText, Id, Question, SubQuestion


class Paragraph(msgspec.Struct):
    idx: int
    title: str
    paragraph_text: str
    is_supporting: bool


class DecompositionStep(msgspec.Struct):
    question: str
    answer: str
    paragraph_support_idx: int | None


class MusiqueQuestion(msgspec.Struct):
    id: Id
    question: FullText
    answer: str
    paragraphs: list[Paragraph]
    question_decomposition: Annotated[list[DecompositionStep], Meta(min_length=1)]
    answer_aliases: tuple[str, ...] = ()
    answerable: bool = True


def to_item(published: MusiqueQuestion, source: Source) -> Item:
    """The question; supports are the paragraphs of its steps in order, ``type`` is the id's prefix (2hop, 3hop1 …)."""
    if not published.answerable:
        expected = "expected an answerable question (MuSiQue-Ans; those of MuSiQue-Full have no whole evidence)"
        raise Unexpected(expected, "answerable")
    ids = {it.idx: source.add(it.title, it.paragraph_text) for it in published.paragraphs}
    if len(ids) < len(published.paragraphs):
        raise Unexpected("an idx is given twice", "paragraphs")
    for number, step in enumerate(published.question_decomposition):
        if step.paragraph_support_idx not in ids:
            field = f"question_decomposition[{number}].paragraph_support_idx"
            raise Unexpected(
                f"expected the idx of a paragraph, got {step.paragraph_support_idx}", field
            )
    of_steps = [ids[step.paragraph_support_idx] for step in published.question_decomposition]
    marked = [ids[paragraph.idx] for paragraph in published.paragraphs if paragraph.is_supporting]
    if set(of_steps) != set(marked):
        source.note("the steps and is_supporting name different paragraphs: all of them count")
    supports = list(dict.fromkeys([*of_steps, *marked]))
    steps = tuple(
        SubQuestion(
            step.question, step.answer, supports.index(id), _earlier(step.question, number, source)
        )
        for number, (step, id) in enumerate(zip(published.question_decomposition, of_steps))
    )
    edges = [
        (steps[earlier].support, step.support) for step in steps for earlier in step.depends_on
    ]
    prefix = re.match(r"(\dhop\d?)__", published.id)
    about = {
        "aliases": published.answer_aliases,
        "type": prefix[1] if prefix else "",
        "decomposition": steps,
    }
    evidence = EvidenceGraph.of(len(supports), edges)
    supporting = tuple((id,) for id in supports)
    question = Question(
        published.id, published.question, published.answer, supporting, evidence=evidence, **about
    )
    return Item(question, own=tuple(dict.fromkeys(ids.values())))


def _earlier(text: str, number: int, source: Source) -> tuple[int, ...]:
    """The indices of the steps before this one that its text refers to; any other ``#12`` is text."""
    references = sorted({int(digits) - 1 for digits in re.findall(r"#(\d{1,2})\b", text)})
    for reference in (it for it in references if not 0 <= it < number):
        field = f"question_decomposition[{number}].question"
        source.note(f"{quote(f'#{reference + 1}')} is no earlier step: read as text", field)
    return tuple(reference for reference in references if 0 <= reference < number)
