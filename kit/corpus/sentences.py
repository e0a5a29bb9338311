"""Text into sentences, and paragraphs into passages of a sentence each.

Formats that don't give sentences have them by a plain rule, no model: one ends at ``.``, ``!``, ``?`` or ``…`` (with
closing quotes and brackets) before white space and what can begin a sentence; not after an abbreviation that a name or
number follows, nor after an initial.
"""

import re
from collections import Counter

from msgspec.structs import replace

from kit.corpus.source import Item, Source
from kit.corpus.types import EvidenceGraph, Passage, Question

_END = re.compile(r"""(?<![.!?…])[.!?…]+["'”’)\]]*\s+(?=["'“‘(\[]*[^\W_a-z])""")
_INITIAL = re.compile(r"(?:^|[\s(.\-])[^\W\d_]\.$")
_ABBREVIATION = re.compile(
    r"\b(?:Mr|Mrs|Ms|Mx|Dr|Prof|Rev|Hon|Fr|St|Ste|Mt|Ft|Gen|Col|Maj|Capt|Cpt|Cmdr|Lt|Sgt|Gov|Sen|Rep|Pres|Msgr|"
    r"Messrs|Mme|Mlle|vs|v|cf|ca|c|b|d|r|e\.g|i\.e|viz|al|No|Nos|Vol|vol|pp|p|ed|eds|trans|approx|Op|op|Ed|"
    r"Bros|Jan|Feb|Mar|Apr|Aug|Sept|Sep|Oct|Nov|Dec)\.$"
)


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, without the white space around them; none for a blank text."""
    sentences, start = [], 0
    for end in _END.finditer(text):
        last_word = text[max(start, end.start() - 20) : end.end()].rstrip()
        if _ABBREVIATION.search(last_word) or _INITIAL.search(last_word):
            continue
        sentences.append(text[start : end.end()].strip())
        start = end.end()
    sentences.append(text[start:].strip())
    return [sentence for sentence in sentences if sentence]


def by_sentence(source: Source) -> Source:
    """The same with sentences as passages, and questions that are asked of them.

    A sentence has the id of its paragraph, a dot and its index there, the paragraph's title and document, and its place
    in the document. A table, or a paragraph without text, is one passage.
    """
    made, parts = Source(source.format), {}
    ends: Counter[str] = Counter()  # of documents
    for passage in sorted(source.paragraphs.values(), key=lambda passage: passage.position):
        id, start, texts = passage.id, ends[passage.document], _sentences(passage, source)
        ends[passage.document] += max(texts) + 1
        parts[id] = {f"{id}.{n}": replace(passage, id=f"{id}.{n}", text=texts[n], position=start + n) for n in texts}
    for id in source.paragraphs:  # the order of the file is kept
        made.paragraphs |= parts[id]
    for question_id, item in source.items.items():
        own = tuple(part for id in item.own for part in parts[id])
        made.items[question_id] = replace(item, question=_ask(item, parts, made.paragraphs), own=own)
    return made


def _sentences(passage: Passage, source: Source) -> dict[int, str]:
    """The sentences that are not blank, by their index."""
    if passage.kind != "text":
        return {0: passage.text}
    texts = source.sentences.get(passage.id) or split_sentences(passage.text)
    return {index: text.strip() for index, text in enumerate(texts) if text.strip()} or {0: ""}


def _ask(item: Item, parts: dict[str, dict[str, Passage]], sentences: dict[str, Passage]) -> Question:
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
