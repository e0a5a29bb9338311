"""Facts as triples, with the sentences that they come from (qsgnn.txt Eq. 1): what "OpenIE" stands for there.

Three ways behind one call, :func:`extract`: rules that need no model, files of HippoRAG's OpenIE, and a language model
asked with the prompts of Appendix A.10 (:mod:`kit.text.open_information`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from tqdm.auto import tqdm

from kit.corpus import Corpus, Passage
from kit.corpus.sentences import split_sentences
from kit.text.entities import surfaces
from kit.text.mentions import Mentions, fold, names_in

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
#: A day, a month of a year, or a year: the values that questions ask for and that have no capital letter.
DATE = re.compile(rf"\b(?:(?:\d{{1,2}} )?(?:{_MONTHS})(?: \d{{1,2}},)? \d{{4}}|(?:{_MONTHS}) \d{{1,2}}|[12]\d{{3}})\b")
_BREAK = re.compile(r"[;:()—–]|,(?=\s)|[.!?](?=\s|$)")
_POSSESSIVE = re.compile(r"^['’]s\b")
LONGEST = 10  # words that are said of an object
_EDGES = " ,.;:!?\"'“”‘’()—–-"


class Triple(msgspec.Struct, frozen=True):
    """(subject, verb, object), and the index of the sentence that says so, or None where only the passage is known."""

    subject: str
    relation: str
    object: str
    sentence: int | None = None


class Extraction(msgspec.Struct, frozen=True):
    """A passage's sentences, which the paper calls chunks, and its triples."""

    sentences: tuple[str, ...]
    triples: tuple[Triple, ...]


class Mention(NamedTuple):
    """A name or a date in a sentence: where it begins and ends, and the name of the entity that it means."""

    start: int
    end: int
    entity: str


def extract(corpus: Corpus, source: str = "rules") -> list[Extraction]:
    """An extraction a passage, by ``rules``, from the file of ``openie:FILE``, or by a language model.

    Language models are named as :func:`kit.text.language_model` has it. Raises :class:`InputError` for a file that is
    unsound or lacks a passage, and where a model can't be asked.
    """
    if source == "rules":
        return by_rules(corpus)
    from kit.text.language_models import language_model
    from kit.text.open_information import LONGEST_ANSWER, by_model, from_file

    kind, _, rest = source.partition(":")
    if kind == "openie":
        return from_file(corpus, Path(rest))
    return by_model(corpus, language_model(source, longest_answer=LONGEST_ANSWER))


def by_rules(corpus: Corpus) -> list[Extraction]:
    """Triples without a model: the title as subject, each other name or date of a sentence as object.

    What is said of the object are the last words before it (ten at most, back to another mention or a break), or else
    the first after it. A name means the document that it is the title or an alias of, where there is one; of two
    namesakes it means neither. One extraction a passage.
    """
    known = surfaces(corpus)
    names = {name for passage in corpus.passages for name in names_in(f"{passage.title}\n{passage.text}")}
    finder = Mentions(names | known.keys())
    meaning = {name: _meant(corpus, of) for name, of in known.items()}
    return [_by_rules(passage, finder, meaning) for passage in tqdm(corpus.passages, desc="triples", unit="passage")]


def _meant(corpus: Corpus, documents: dict[str, float]) -> str:
    """The title of the document that a surface means best, or ``""`` where two are as good."""
    best = max(documents.values())
    meant = [document for document, weight in documents.items() if weight == best]
    return corpus.passages[corpus.documents[meant[0]][0]].title if len(meant) == 1 else ""


def _by_rules(passage: Passage, finder: Mentions, meaning: dict[str, str]) -> Extraction:
    sentences = tuple(split_sentences(passage.text))
    triples = [
        Triple(passage.title, relation, mention.entity, number)
        for number, sentence in enumerate(sentences)
        for mention, relation in _said(sentence, _mentions(sentence, finder, meaning), passage.title)
    ]
    return Extraction(sentences, tuple(dict.fromkeys(triples)))


def _mentions(sentence: str, finder: Mentions, meaning: dict[str, str]) -> list[Mention]:
    """Mentions from left to right, none within another: titles and aliases first, then the longer ones."""
    found = [(False, Mention(match.start(), match.end(), match[0])) for match in DATE.finditer(sentence)]
    for start, surface in finder.find(sentence):
        if sentence[start].isupper() or sentence[start].isdigit():
            end = start + len(surface)
            found.append((surface in meaning, Mention(start, end, meaning.get(surface) or sentence[start:end])))
    kept: list[Mention] = []
    for _, mention in sorted(found, key=lambda of: (not of[0], of[1].start - of[1].end, of[1].start)):
        if all(mention.end <= other.start or other.end <= mention.start for other in kept):
            kept.append(mention)
    return sorted(kept)


def _said(sentence: str, mentions: Sequence[Mention], title: str) -> list[tuple[Mention, str]]:
    """Each mention of something else than the subject, with the few words that are said of it."""
    found = []
    own = set(fold(title).split())
    breaks = [match.start() for match in _BREAK.finditer(sentence)]
    for place, mention in enumerate(mentions):
        if own.issuperset(fold(mention.entity).split()):  # the subject itself, or its short name
            continue
        low = max([mentions[place - 1].end if place else 0, *(end + 1 for end in breaks if end < mention.start)])
        following = mentions[place + 1].start if place + 1 < len(mentions) else len(sentence)
        high = min([following, *(end for end in breaks if end >= mention.end)])
        words = _words(sentence[low : mention.start])[-LONGEST:] or _words(sentence[mention.end : high])[:LONGEST]
        found.append((mention, " ".join(words) or "is mentioned with"))
    return found


def _words(part: str) -> list[str]:
    return _POSSESSIVE.sub("", part).strip(_EDGES).split()
