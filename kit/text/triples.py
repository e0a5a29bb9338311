"""Facts as triples, with the sentences that they come from (qsgnn.txt Eq. 1): what "OpenIE" stands for there.

Three ways behind one call, :func:`extract`: rules that need no model, files of HippoRAG's OpenIE, and a language model
asked with the prompts of Appendix A.10.
"""

import json
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec
from tqdm.auto import tqdm

from kit.corpus import Corpus
from kit.corpus.sentences import split_sentences
from kit.corpus.source import Source
from kit.errors import InputError
from kit.text.entities import Mentions, fold, names_in, surfaces
from kit.text.language_models import LanguageModel, language_model
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


def extract(corpus: Corpus, source: str = "rules") -> list[Extraction]:
    """An extraction a passage, by ``rules``, from the file of ``openie:FILE``, or by a :func:`language_model`.

    Raises :class:`InputError` for a file that is unsound or lacks a passage, and where a model can't be asked.
    """
    if source == "rules":
        return by_rules(corpus)
    if source.startswith("openie:"):
        return from_file(corpus, Path(source.removeprefix("openie:")))
    return by_model(corpus, language_model(source, longest_answer=LONGEST_ANSWER))


@lru_cache(maxsize=2)
def by_rules(corpus: Corpus) -> list[Extraction]:
    """Triples without a model: the title as subject, each other name or date of a sentence as object.

    What is said of the object are the last words before it (``LONGEST`` at most, back to another mention or a break),
    or else the first after it. A name means the document that it is the title or an alias of; of two namesakes neither.
    """
    known = surfaces(corpus)
    names = {name for passage in corpus.passages for name in names_in(f"{passage.title}\n{passage.text}")}
    finder, meaning = Mentions(names | known.keys()), {}
    for name, documents in known.items():
        meant = [document for document, weight in documents.items() if weight == max(documents.values())]
        meaning[name] = corpus.passages[corpus.documents[meant[0]][0]].title if len(meant) == 1 else ""
    found = []
    for passage in tqdm(corpus.passages, desc="triples", unit="passage"):
        sentences = tuple(split_sentences(passage.text))
        triples = [
            Triple(passage.title, relation, entity, number)
            for number, sentence in enumerate(sentences)
            for relation, entity in _said(sentence, _mentions(sentence, finder, meaning), passage.title)
        ]
        found.append(Extraction(sentences, tuple(dict.fromkeys(triples))))
    return found


Mention = tuple[int, int, str]  # where a name or a date begins and ends in a sentence, and what it means


def _mentions(sentence: str, finder: Mentions, meaning: dict[str, str]) -> list[Mention]:
    """Mentions from left to right, none within another: titles and aliases first, then the longer ones."""
    found = [(True, -len(date[0]), date.start(), date[0]) for date in DATE.finditer(sentence)]
    for start, surface in finder.find(sentence):
        if sentence[start].isupper() or sentence[start].isdigit():
            written = sentence[start : start + len(surface)]
            found.append((surface not in meaning, -len(surface), start, meaning.get(surface) or written))
    kept: list[Mention] = []
    for _, minus_length, start, entity in sorted(found, key=lambda mention: mention[:3]):
        end = start - minus_length
        if all(end <= other_start or other_end <= start for other_start, other_end, _ in kept):
            kept.append((start, end, entity))
    return sorted(kept)


def _said(sentence: str, mentions: Sequence[Mention], title: str) -> Iterator[tuple[str, str]]:
    """The few words that are said of each mention of something else than the subject, and what it means."""
    own = set(fold(title).split())
    breaks = [match.start() for match in _BREAK.finditer(sentence)]
    ends, starts = [0, *(end for _, end, _ in mentions)], [*(start for start, _, _ in mentions), len(sentence)]
    for place, (start, end, entity) in enumerate(mentions):
        if own.issuperset(fold(entity).split()):  # the subject itself, or its short name
            continue
        low = max([ends[place], *(at + 1 for at in breaks if at < start)])
        high = min([starts[place + 1], *(at for at in breaks if at >= end)])
        words = _words(sentence[low:start])[-LONGEST:] or _words(sentence[end:high])[:LONGEST]
        yield " ".join(words) or "is mentioned with", entity


def _words(part: str) -> list[str]:
    return _POSSESSIVE.sub("", part).strip(_EDGES).split()


class _Record(msgspec.Struct):
    """A paragraph of an OpenIE file."""

    title: str
    text: str
    extracted_triples: list[list[str]]


def from_file(corpus: Corpus, path: Path) -> list[Extraction]:
    """The triples of an OpenIE file as HippoRAG publishes them, for each passage those of its title and text.

    What is no triple there (published files have lists of two and of four texts) is left out, with one warning.
    """
    source = Source()
    records: list[_Record] = []
    source.each(path, _Record, records.append)
    source.raise_first()
    told = {(record.title, record.text.strip()): record.extracted_triples for record in records}
    missing = [passage for passage in corpus.passages if (passage.title, passage.text) not in told]
    if missing:
        expected = f"expected triples of every passage, found none of {len(missing)} of {len(corpus)}"
        raise InputError(expected, file=path, record=missing[0].title)
    return _extractions(corpus, [told[passage.title, passage.text] for passage in corpus.passages], str(path))


def by_model(corpus: Corpus, model: LanguageModel) -> list[Extraction]:
    """Triples by a language model, two prompts a passage: for its named entities, then for triples about these.

    Sentences are split by the kit, not by the model, which may rewrite them (qsgnn-i21).
    """
    replies = model.generate([entity_prompt(passage) for passage in corpus.passages])
    listed = [_listed(reply.text, "named_entities") or [] for reply in replies]
    names = [[name for name in of if isinstance(name, str)] for of in listed]
    replies = model.generate([triple_prompt(passage, of) for passage, of in zip(corpus.passages, names)])
    return _extractions(corpus, [_listed(reply.text, "triples") for reply in replies], model.name)


def _listed(reply: str, key: str) -> list[object] | None:
    """The list that a reply has under a key, or is; None where it has none."""
    start = min((reply.find(opens) for opens in "{[" if opens in reply), default=0)
    try:
        found, _ = json.JSONDecoder().raw_decode(reply[start:])
    except (ValueError, RecursionError):
        return None
    found = found.get(key) if isinstance(found, dict) else found
    return found if isinstance(found, list) else None


def _extractions(corpus: Corpus, told: Iterable[Sequence[object] | None], source: str) -> list[Extraction]:
    """One a passage; what is no triple of texts, or no list at all, is left out, with one warning that counts it."""
    found, bad = [], 0
    for passage, triples in zip(corpus.passages, told, strict=True):
        sentences = tuple(split_sentences(passage.text))
        sound = [triple for triple in triples or () if _is_triple(triple)]
        bad += 1 if triples is None else len(triples) - len(sound)
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
