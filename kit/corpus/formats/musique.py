"""MuSiQue-Ans (Trivedi et al. 2022, https://github.com/StonyBrookNLP/musique): JSON lines, or a JSON list of the same.

A question has ``paragraphs`` (idx, title, text; titles repeat, so gold goes by idx) and ``question_decomposition``:
steps that name the paragraph that answers them and refer to earlier answers as ``#1``.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from kit.corpus import records
from kit.corpus.problems import Problems, quote
from kit.corpus.source import Item, Source, evidence_graph
from kit.corpus.types import Question, SubQuestion

_REFERENCE = re.compile(r"#(\d{1,2})\b")
_TYPE = re.compile(r"(\dhop\d?)__")


class Paragraph(msgspec.Struct):
    """A paragraph as published."""

    idx: int
    title: str
    paragraph_text: str
    is_supporting: bool


class Step(msgspec.Struct):
    """A step of the decomposition as published."""

    question: str
    answer: str
    paragraph_support_idx: int | None


class Record(msgspec.Struct):
    """A question as published."""

    id: str
    question: str
    answer: str
    paragraphs: list[Paragraph]
    question_decomposition: list[Step]
    answer_aliases: list[str] = msgspec.field(default_factory=list)
    answerable: bool = True


def read(path: Path, problems: Problems) -> Source:
    """Supports are the paragraphs of the steps in their order; ``type`` is the id's prefix (2hop, 3hop1 …)."""
    source = Source("musique")
    decoder = msgspec.json.Decoder(Record)
    for raw in records.read(path, problems):
        record = records.decode(raw, decoder, problems, path)
        if record is not None:
            where = {"record": records.label(raw, record.id), "file": path}
            item = _item(record, source, problems, where)
            if item is not None:
                source.ask(item, problems, id_field="id", text_field="question", **where)
    return source


def _item(record: Record, source: Source, problems: Problems, where: dict[str, object]) -> Item | None:
    if not record.answerable:
        expected = "expected an answerable question (MuSiQue-Ans; those of MuSiQue-Full have no whole evidence)"
        problems.error(expected, field="answerable", **where)
        return None
    ids: dict[int, str] = {}
    for number, paragraph in enumerate(record.paragraphs):
        if paragraph.idx in ids:
            problems.error(f"index {paragraph.idx} is given twice", field=f"paragraphs[{number}].idx", **where)
            return None
        ids[paragraph.idx] = source.add(paragraph.title, paragraph.paragraph_text)
    of_steps = _supports(record, ids, problems, where)
    if of_steps is None:
        return None
    marked = [ids[paragraph.idx] for paragraph in record.paragraphs if paragraph.is_supporting]
    supports = list(dict.fromkeys([*of_steps, *marked]))
    if set(of_steps) != set(marked):
        problems.note("the steps and is_supporting name different paragraphs: all of them count", **where)
    if not record.answer.strip():
        problems.note("the answer is empty", field="answer", **where)
    depends_on = [_earlier(step, number, problems, where) for number, step in enumerate(record.question_decomposition)]
    place = [supports.index(id) for id in of_steps]
    question = Question(
        record.id,
        record.question,
        record.answer,
        supporting=tuple((id,) for id in supports),
        aliases=tuple(record.answer_aliases),
        type=prefix[1] if (prefix := _TYPE.match(record.id)) else "",
        decomposition=tuple(
            SubQuestion(step.question, step.answer, support, earlier)
            for step, support, earlier in zip(record.question_decomposition, place, depends_on)
        ),
        evidence=evidence_graph(
            len(supports), [(place[i], place[j]) for j, earlier in enumerate(depends_on) for i in earlier]
        ),
    )
    return Item(question, own=tuple(dict.fromkeys(ids.values())))


def _supports(record: Record, ids: dict[int, str], problems: Problems, where: dict[str, object]) -> list[str] | None:
    """The ids of the steps' paragraphs; None where one can't be told."""
    if not record.question_decomposition:
        expected = "expected at least one step, the list is empty (published test files hold no gold)"
        problems.error(expected, field="question_decomposition", **where)
        return None
    found = []
    for number, step in enumerate(record.question_decomposition):
        if step.paragraph_support_idx not in ids:
            field = f"question_decomposition[{number}].paragraph_support_idx"
            problems.error(f"expected the idx of a paragraph, got {step.paragraph_support_idx}", field=field, **where)
        else:
            found.append(ids[step.paragraph_support_idx])
    return found if len(found) == len(record.question_decomposition) else None


def _earlier(step: Step, number: int, problems: Problems, where: dict[str, object]) -> tuple[int, ...]:
    """The indices of the earlier steps that a step refers to."""
    references = sorted({int(digits) - 1 for digits in _REFERENCE.findall(step.question)})
    for reference in references:
        if not 0 <= reference < number:
            remark = f"{quote(f'#{reference + 1}')} is no earlier step: read as text"
            problems.note(remark, field=f"question_decomposition[{number}].question", **where)
    return tuple(reference for reference in references if 0 <= reference < number)
