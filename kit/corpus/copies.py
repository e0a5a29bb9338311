"""Passages that a corpus holds more than once, under several ids."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain

from msgspec.structs import replace

from kit.corpus.source import content_id
from kit.corpus.types import Passage, Question, Strings


def copies_in(passages: Iterable[Passage]) -> dict[str, Strings]:
    """The ids of equal title and text, white space aside, by each of them; only where several."""
    ids_of = defaultdict(list)
    for passage in passages:
        ids_of[content_id(passage.title, passage.text)].append(passage.id)
    copies = {}
    for ids in ids_of.values():
        if len(ids) > 1:
            copies |= dict.fromkeys(ids, tuple(ids))
    return copies


def with_copies(question: Question, copies: Mapping[str, Strings]) -> Question:
    """The question with the copies of each support's passages as further carriers of it."""
    supporting = []
    for carriers in question.supporting:
        alike = chain.from_iterable(copies.get(carrier, (carrier,)) for carrier in carriers)
        supporting.append(tuple(dict.fromkeys(alike)))
    return replace(question, supporting=tuple(supporting))
