"""Facts as triples, with the sentences that they come from (qsgnn.txt Eq. 1): what "OpenIE" stands for there.

Three ways behind one call, :func:`extract`: rules that need no model, files of HippoRAG's OpenIE, and a language model
asked with the prompts of Appendix A.10.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from tqdm.auto import tqdm

from kit.corpus import Corpus, Passage
from kit.corpus.formats import hipporag
from kit.corpus.sentences import split_sentences
from kit.corpus.source import Source
from kit.errors import InputError
from kit.text.entities import surfaces
from kit.text.language_models import LanguageModel, language_model
from kit.text.mentions import Mentions, fold, names_in
from kit.text.prompts import entity_prompt, triple_prompt

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
#: A day, a month of a year, or a year: the values that questions ask for and that have no capital letter.
DATE = re.compile(rf"\b(?:(?:\d{{1,2}} )?(?:{_MONTHS})(?: \d{{1,2}},)? \d{{4}}|(?:{_MONTHS}) \d{{1,2}}|[12]\d{{3}})\b")
_BREAK = re.compile(r"[;:()—–]|,(?=\s)|[.!?](?=\s|$)")
_POSSESSIVE = re.compile(r"^['’]s\b")
LONGEST = 10  # words that are said of an object
LONGEST_ANSWER = 512  # tokens of a language model's reply
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


# ---- told by others


class _Record(msgspec.Struct):
    """A paragraph of an OpenIE file."""

    title: str
    text: str
    extracted_triples: list[list[str]]


def from_file(corpus: Corpus, path: Path) -> list[Extraction]:
    """The triples of an OpenIE file as HippoRAG publishes them, for each passage those of its title and text.

    What is no triple there (published files have lists of two and of four texts) is left out, with one warning that
    counts it. Raises :class:`InputError` for a file that can't be read, and where a passage of the corpus is missing.
    """
    source = Source("hipporag")
    records: list[_Record] = []
    source.each(path, _Record, records.append, hipporag.openie)
    source.raise_first()
    told = {(record.title, record.text.strip()): record.extracted_triples for record in records}
    missing = [passage for passage in corpus.passages if (passage.title, passage.text) not in told]
    if missing:
        expected = f"expected triples of every passage, found none of {len(missing)} of {len(corpus)}"
        raise InputError(expected, file=path, record=missing[0].title)
    return _extractions(corpus, [told[passage.title, passage.text] for passage in corpus.passages], str(path))


def by_model(corpus: Corpus, model: LanguageModel) -> list[Extraction]:
    """Triples by a language model, two prompts a passage: for its named entities, then for triples about these.

    Sentences are split by the kit, not by the model, which may rewrite them (qsgnn-i21). Replies that are not what was
    asked for are left out, with one warning that counts them.
    """
    replies = model.generate([entity_prompt(passage) for passage in corpus.passages])
    names = [_names(_json(reply.text, "named_entities")) for reply in replies]
    prompts = [triple_prompt(passage, of) for passage, of in zip(corpus.passages, names)]
    triples = [_json(reply.text, "triples") for reply in model.generate(prompts)]
    return _extractions(corpus, triples, model.name)


def _json(reply: str, key: str) -> object:
    """What a reply has under a key, or the list that it is; None where it is neither."""
    start = min((reply.find(opens) for opens in "{[" if opens in reply), default=0)
    try:
        found, _ = json.JSONDecoder().raw_decode(reply[start:])
    except (ValueError, RecursionError):
        return None
    return found.get(key) if isinstance(found, dict) else found


def _names(found: object) -> list[str]:
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def _extractions(corpus: Corpus, told: Iterable[object], source: str) -> list[Extraction]:
    found, bad = [], 0
    for passage, triples in zip(corpus.passages, told, strict=True):
        sentences = tuple(split_sentences(passage.text))
        sound = [each for each in triples if _is_triple(each)] if isinstance(triples, list) else []
        bad += len(triples) - len(sound) if isinstance(triples, list) else 1
        kept = (Triple(*map(str.strip, triple), _sentence(sentences, triple)) for triple in sound)
        found.append(Extraction(sentences, tuple(dict.fromkeys(kept))))
    if bad:
        warnings.warn(f"{source}: left out {bad} of the extracted triples, which are not three texts", stacklevel=3)
    return found


def _is_triple(found: object) -> bool:
    return isinstance(found, list) and len(found) == 3 and all(isinstance(part, str) and part.strip() for part in found)


def _sentence(sentences: Sequence[str], triple: Sequence[str]) -> int | None:
    """The first sentence that has both ends of a triple, else the first with its object, else with its subject."""
    subject, object = (re.compile(rf"(?<!\w){re.escape(fold(triple[place]))}(?!\w)") for place in (0, 2))
    folded = list(map(fold, sentences))
    for wanted in ((subject, object), (object,), (subject,)):
        for number, sentence in enumerate(folded):
            if all(name.search(sentence) for name in wanted):
                return number
    return None
