"""From paragraphs to sentences: each sentence a passage, and what that makes of supports and evidence."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from kit.corpus.sentences import split_sentences
from kit.corpus.source import Item, Source
from kit.corpus.types import EvidenceGraph, Passage, Question


def by_sentence(source: Source) -> tuple[dict[str, Passage], dict[str, tuple[str, ...]], Callable[[Item], Question]]:
    """A source's sentences as passages, by id; each paragraph's sentence ids; and how a question is asked of them.

    Published sentences are kept, other text is split by :mod:`kit.corpus.sentences`. A sentence has the id of its
    paragraph, a dot and its index there, the paragraph's title and document, and its place in the document. A table, or
    a paragraph without text, is one passage.
    """
    texts = {id: _sentences(passage, source) for id, passage in source.paragraphs.items()}
    starts: dict[str, int] = {}
    length: dict[str, int] = {}
    for passage in sorted(source.paragraphs.values(), key=lambda passage: passage.position):
        starts[passage.id] = length.get(passage.document, 0)
        length[passage.document] = starts[passage.id] + max(texts[passage.id]) + 1
    sentences = {
        f"{id}.{index}": msgspec.structs.replace(
            source.paragraphs[id], id=f"{id}.{index}", text=text, position=starts[id] + index
        )
        for id, of_paragraph in texts.items()
        for index, text in of_paragraph.items()
    }
    parts = {id: tuple(f"{id}.{index}" for index in of_paragraph) for id, of_paragraph in texts.items()}
    return sentences, parts, lambda item: _ask(item, texts)


def _sentences(passage: Passage, source: Source) -> dict[int, str]:
    """The sentences that are not blank, by their index."""
    if passage.kind != "text":
        return {0: passage.text}
    published = source.sentences.get(passage.id)
    texts = split_sentences(passage.text) if published is None else [text.strip() for text in published]
    return {index: text for index, text in enumerate(texts) if text} or {0: ""}


def _ask(item: Item, texts: dict[str, dict[int, str]]) -> Question:
    """The question with sentences as supports.

    The sentences that are named in a paragraph are a support each; a paragraph without is one support, carried by all
    its sentences. An evidence edge between two paragraphs joins all sentences of the one with all of the other; a step
    of the decomposition points at the first sentence of its paragraph's.
    """
    question = item.question
    supporting: list[tuple[str, ...]] = []
    places: list[range] = []
    for number, carriers in enumerate(question.supporting):
        ids = {text: f"{id}.{index}" for id in carriers for index, text in reversed(texts[id].items())}
        named = [(ids[text],) for text in (item.named[number] if item.named else ()) if text in ids]
        entries = named or [tuple(f"{id}.{index}" for id in carriers for index in texts[id])]
        places.append(range(len(supporting), len(supporting) + len(entries)))
        supporting += entries
    evidence = question.evidence and EvidenceGraph(
        len(supporting), tuple((a, b) for i, j in question.evidence.edges for a in places[i] for b in places[j])
    )
    steps = tuple(
        step if step.support is None else msgspec.structs.replace(step, support=places[step.support].start)
        for step in question.decomposition
    )
    return msgspec.structs.replace(question, supporting=tuple(supporting), evidence=evidence, decomposition=steps)
