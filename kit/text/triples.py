"""Facts as triples, with the sentences that they come from (qsgnn.txt Eq. 1; f_t2t of ras.txt Eq. 7).

Four ways behind one call, :func:`extract`: rules that need no model, files of HippoRAG's OpenIE, the kit's own small
model, and a chat model asked with the prompts of qsgnn.txt, Appendix A.10.
"""

import json
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

import msgspec
from tqdm.auto import tqdm

from kit.corpus import Corpus, Passage
from kit.corpus.sentences import split_sentences
from kit.corpus.source import Source
from kit.errors import InputError
from kit.text.entities import fold
from kit.text.language_models import LanguageModel, SequenceToSequence, language_model
from kit.text.placeholders import PLACEHOLDER, EntityLinker, Mention, Placeholders, linker_of
from kit.text.prompts import extraction_prompt

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


def extract(
    corpus: Corpus, source: str = "rules", rows: Sequence[int] | None = None
) -> list[Extraction]:
    """Of each passage of ``rows``, by default all: by ``rules``, from the file of ``openie:FILE``, or by a model.

    A sequence-to-sequence model is asked as :func:`by_small_model` does, another :func:`language_model` in words.
    Raises :class:`InputError` for a file that is unsound or lacks a passage, and where a model can't be asked.
    """
    part = corpus if rows is None else corpus.subset(rows)
    if source == "rules":
        return [by_rules(corpus)[row] for row in (range(len(corpus)) if rows is None else rows)]
    if source.startswith("openie:"):
        return from_file(part, Path(source.removeprefix("openie:")))
    model = language_model(source, longest_answer=LONGEST_ANSWER)
    if isinstance(model, SequenceToSequence):
        return by_small_model(part, model, linker_of(corpus))
    return by_model(part, model)


@lru_cache(maxsize=2)
def by_rules(corpus: Corpus) -> list[Extraction]:
    """Triples without a model: the title as subject, each other name or date of a sentence as object.

    What is said of the object are the last words before it (``LONGEST`` at most, back to another mention or a break),
    or else the first after it. See :class:`kit.text.placeholders.EntityLinker` for what a name means.
    """
    linker, found = linker_of(corpus), []
    for passage in tqdm(corpus.passages, desc="triples", unit="passage"):
        sentences = split_sentences(passage.text)
        said = (_said(sentence, linker.mentions(sentence), passage.title) for sentence in sentences)
        found.append(_about_title(passage, sentences, said))
    return found


def _about_title(
    passage: Passage, sentences: list[str], said: Iterable[Iterable[tuple[str, str]]]
) -> Extraction:
    """From the relations and objects that each sentence tells of the passage's title."""
    triples = (
        Triple(passage.title, *each, number) for number, of in enumerate(said) for each in of
    )
    return Extraction(tuple(sentences), tuple(dict.fromkeys(triples)))


def _said(sentence: str, mentions: Sequence[Mention], title: str) -> Iterator[tuple[str, str]]:
    """The few words that are said of each mention of something else than the subject, and what it means."""
    own = set(fold(title).split())
    breaks = [match.start() for match in _BREAK.finditer(sentence)]
    ends, starts = (
        [0, *(end for _, end, _ in mentions)],
        [*(start for start, _, _ in mentions), len(sentence)],
    )
    for place, (start, end, entity) in enumerate(mentions):
        if own.issuperset(fold(entity).split()):  # the subject itself, or its short name
            continue
        low = max([ends[place], *(at + 1 for at in breaks if at < start)])
        high = min([starts[place + 1], *(at for at in breaks if at >= end)])
        sides = sentence[low:start], sentence[end:high]
        before, after = (_POSSESSIVE.sub("", side).strip(_EDGES).split() for side in sides)
        yield " ".join(before[-LONGEST:] or after[:LONGEST]) or "is mentioned with", entity


def fact_prompt(linker: EntityLinker, passage: Passage, sentence: str) -> tuple[str, Placeholders]:
    """What the small model reads of a sentence, and what its placeholders stand for."""
    mentions, names = linker.mentions(sentence, numbers=True), Placeholders()
    subject = [mention for mention in mentions if linker.is_subject(mention.entity, passage.title)]
    return f"facts : {names.hide(sentence, mentions, subject)}", names


def by_small_model(corpus: Corpus, model: LanguageModel, linker: EntityLinker) -> list[Extraction]:
    """Triples by ``data/planner``: of each sentence, ``employer = <n0> , year = <n1> ; spouse = <n2>``, or ``none``.

    The subject is the title, as in :func:`by_rules`; the year becomes (subject, "employer: year", <n1>).
    """
    split = [(passage, split_sentences(passage.text)) for passage in corpus.passages]
    asked = [
        fact_prompt(linker, passage, sentence)
        for passage, sentences in split
        for sentence in sentences
    ]
    replies = model.generate([prompt for prompt, _ in asked])
    said = (_facts(reply.text, names) for reply, (_, names) in zip(replies, asked))
    return [
        _about_title(passage, sentences, islice(said, len(sentences)))
        for passage, sentences in split
    ]


def _facts(reply: str, names: Placeholders) -> Iterator[tuple[str, str]]:
    """Relations and objects that the small model wrote."""
    for fact in reply.split(" ; "):
        first = ""
        for part in fact.split(" , "):
            relation, _, value = part.partition(" = ")
            first, relation = (first, f"{first}: {relation}") if first else (relation, relation)
            numbered = PLACEHOLDER.findall(value)
            for object in filter(None, map(names.entity, numbered) if numbered else [value]):
                yield relation, object


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
        expected = (
            f"expected triples of every passage, found none of {len(missing)} of {len(corpus)}"
        )
        raise InputError(expected, file=path, record=missing[0].title)
    return _extractions(
        corpus, [told[passage.title, passage.text] for passage in corpus.passages], str(path)
    )


def by_model(corpus: Corpus, model: LanguageModel) -> list[Extraction]:
    """Triples by a language model, two prompts a passage: for its named entities, then for triples about these.

    Sentences are split by the kit, not by the model, which may rewrite them (qsgnn-i21).
    """
    replies = model.generate(
        [extraction_prompt("entities", passage) for passage in corpus.passages]
    )
    listed = [_listed(reply.text, "named_entities") or [] for reply in replies]
    names = [[name for name in of if isinstance(name, str)] for of in listed]
    asked = zip(corpus.passages, names)
    replies = model.generate([extraction_prompt("triples", passage, of) for passage, of in asked])
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


def _extractions(
    corpus: Corpus, told: Iterable[Sequence[object] | None], source: str
) -> list[Extraction]:
    """One a passage; what is no triple of texts, or no list at all, is left out, with one warning that counts it."""
    found, bad = [], 0
    for passage, triples in zip(corpus.passages, told, strict=True):
        sentences = tuple(split_sentences(passage.text))
        lists = [
            [isinstance(one, str) and one.strip() for one in of]
            for of in triples or ()
            if isinstance(of, list)
        ]
        sound = [triple for triple in lists if len(triple) == 3 and all(triple)]
        bad += 1 if triples is None else len(triples) - len(sound)
        kept = (Triple(*triple, _sentence(sentences, triple)) for triple in sound)
        found.append(Extraction(sentences, tuple(dict.fromkeys(kept))))
    if bad:
        warnings.warn(
            f"{source}: left out {bad} of the extracted triples, which are not three texts",
            stacklevel=3,
        )
    return found


def _sentence(sentences: Sequence[str], triple: Sequence[str]) -> int | None:
    """The first sentence that has both ends of a triple, else the first with its object, else with its subject."""
    subject, object = (
        re.compile(rf"(?<!\w){re.escape(fold(triple[place]))}(?!\w)") for place in (0, 2)
    )
    folded = list(map(fold, sentences))
    for wanted in ((subject, object), (object,), (subject,)):
        for number, sentence in enumerate(folded):
            if all(name.search(sentence) for name in wanted):
                return number
    return None
