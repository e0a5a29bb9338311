"""From paragraphs to sentences: each sentence a passage, and what that makes of supports and evidence."""

from collections import Counter

from msgspec.structs import replace

from kit.corpus.sentences import split_sentences
from kit.corpus.source import Item, Source
from kit.corpus.types import EvidenceGraph, Passage, Question


def by_sentence(source: Source) -> Source:
    """The same with sentences as passages, and questions that are asked of them.

    Published sentences are kept, other text is split by :mod:`kit.corpus.sentences`. A sentence has the id of its
    paragraph, a dot and its index there, the paragraph's title and document, and its place in the document. A table, or
    a paragraph without text, is one passage.
    """
    made, parts = Source(source.format), {}
    ends: Counter[str] = Counter()  # of documents
    starts, texts = {}, {}
    for passage in sorted(source.paragraphs.values(), key=lambda passage: passage.position):
        starts[passage.id], texts[passage.id] = ends[passage.document], _sentences(passage, source)
        ends[passage.document] += max(texts[passage.id]) + 1
    for id, passage in source.paragraphs.items():
        parts[id] = tuple(f"{id}.{index}" for index in texts[id])
        for part, (index, text) in zip(parts[id], texts[id].items()):
            made.paragraphs[part] = replace(passage, id=part, text=text, position=starts[id] + index)
    for item in source.items:
        own = tuple(part for id in item.own for part in parts[id])
        made.items.append(replace(item, question=_ask(item, parts, made.paragraphs), own=own))
    return made


def _sentences(passage: Passage, source: Source) -> dict[int, str]:
    """The sentences that are not blank, by their index."""
    if passage.kind != "text":
        return {0: passage.text}
    texts = source.sentences.get(passage.id) or split_sentences(passage.text)
    return {index: text.strip() for index, text in enumerate(texts) if text.strip()} or {0: ""}


def _ask(item: Item, parts: dict[str, tuple[str, ...]], sentences: dict[str, Passage]) -> Question:
    """The question with sentences as supports.

    The sentences that are named in a paragraph are a support each; a paragraph without is one support, carried by all
    its sentences. An evidence edge between two paragraphs joins all sentences of the one with all of the other; a step
    of the decomposition points at the first sentence of its paragraph's.
    """
    question = item.question
    supporting: list[tuple[str, ...]] = []
    places: list[range] = []
    for number, carriers in enumerate(question.supporting):
        every = [part for id in carriers for part in parts[id]]
        ids = {sentences[part].text: part for part in reversed(every)}
        named = [(ids[text],) for text in (item.named[number] if item.named else ()) if text in ids]
        start = len(supporting)
        supporting += named or [tuple(every)]
        places.append(range(start, len(supporting)))
    evidence = question.evidence and EvidenceGraph(
        len(supporting), tuple((a, b) for i, j in question.evidence.edges for a in places[i] for b in places[j])
    )
    steps = tuple(
        step if step.support is None else replace(step, support=places[step.support].start)
        for step in question.decomposition
    )
    return replace(question, supporting=tuple(supporting), evidence=evidence, decomposition=steps)
