"""Facts as triples, with the sentences that say so (QSGNN Eq. 1; f_t2t of RAS Eq. 7).

Five ways stand behind one call, :func:`extract`: rules that need no model, files of HippoRAG's
OpenIE, the kit's own small model, and other language models with the prompts of QSGNN, Appendix
A.10, or of RAS, Appendix E.1.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

import msgspec
from msgspec import Struct

from kit import cost
from kit.corpus import Corpus, Passage, PlainTriple
from kit.corpus.formats import HippoRagParagraph
from kit.corpus.sentences import split_sentences
from kit.corpus.source import Source
from kit.corpus.types import Strings, Texts
from kit.errors import InputError, note
from kit.progress import progress_bar
from kit.text.derived import kept
from kit.text.entities import SurfaceMatcher, fold
from kit.text.language_models import LanguageModel, language_model
from kit.text.placeholders import PLACEHOLDER, EntityLinker, Mentions, Placeholders, linker_of
from kit.text.prompts import extraction_prompt, triples_request
from kit.text.replies import listed_in, plain_reply
from kit.text.scripts import PUNCTUATION

LONGEST = 10  # words that are said of an object
LONGEST_ANSWER = 512  # tokens of a language model's reply
_BREAK = re.compile(rf"[;:()—–{PUNCTUATION}]|,(?=\s)|[.!?](?=\s|$)")
_POSSESSIVE = re.compile(r"^['’]s\b")
#: Of "subject| P> predicate| O> object)", as models write it: bars and brackets may differ.
_PARTS = re.compile(r"(?s)(.*?)[|\])]?\s*\bP\s*>(.*?)[|\])]?\s*\bO\s*>(?:(.*)\)|([^)\]]*)\])")
_EDGES = " ,.;:!?\"'“”‘’()—–-" + PUNCTUATION


Statement = tuple[str, str]  # what is said of an object, and the object


class Triple(Struct, frozen=True):
    """(subject, verb, object), and the index of the sentence that says so.

    ``sentence`` is None where only the passage is known.
    """

    subject: str
    relation: str
    object: str
    sentence: int | None = None


class Extraction(Struct, frozen=True):
    """A passage's sentences, which the paper calls chunks, and its triples."""

    sentences: Strings
    triples: tuple[Triple, ...]


Extractions = list[Extraction]  # of passages in order


def extract(
    corpus: Corpus,
    source: str = "rules",
    rows: Sequence[int] | None = None,
    *,
    of_ras: bool = False,
) -> Extractions:
    """The triples of each passage of ``rows``, by default of all.

    They come by ``rules``, from the file of ``openie:FILE``, or from a :func:`language_model`. The
    kit's own is asked as in :func:`by_small_model`, other sequence-to-sequence models and, for RAS
    (``of_ras``), all others as in :func:`by_text_to_triples`, else as in :func:`by_model`. Raises
    :class:`InputError` for a file that is unsound or lacks a passage, and where a model can't be
    asked.
    """
    if source == "rules":
        extractions = by_rules(corpus)
        if rows is None:
            return list(extractions)
        return [extractions[row] for row in rows]

    part = corpus if rows is None else corpus.subset(rows)
    if source.startswith("openie:"):
        return from_file(part, Path(source.removeprefix("openie:")))
    model = language_model(source, longest_answer=LONGEST_ANSWER)
    if model.reads_placeholders:
        return by_small_model(part, model, linker_of(corpus))
    if of_ras or not model.takes_instructions:
        return by_text_to_triples(part, model)
    return by_model(part, model)


# ---- by rules


@lru_cache(maxsize=2)
def by_rules(corpus: Corpus) -> Extractions:
    """Triples without a model: the title is the subject, other names and dates are objects.

    What is said of an object are the last words before it (``LONGEST`` at most, back to another
    mention or a break), or else the first after it. For what a name means, see
    :class:`kit.text.placeholders.EntityLinker`. Those of a large corpus are kept in the store.
    """
    return kept(_by_rules, Extractions, corpus, corpus.hash)


def _by_rules(corpus: Corpus) -> Extractions:
    linker = linker_of(corpus)
    extractions = []
    for passage in progress_bar(corpus.passages, desc="triples", unit="passage"):
        sentences = split_sentences(passage.text)
        statements = [
            _statements(sentence, linker.mentions(sentence), passage.title)
            for sentence in sentences
        ]
        extractions.append(_about_title(passage, sentences, statements))
    return extractions


def _about_title(
    passage: Passage,
    sentences: list[str],
    statements: Iterable[Iterable[Statement]],
) -> Extraction:
    """From the relations and objects that each sentence states of the passage's title."""
    triples = {}
    for index, of_sentence in enumerate(statements):
        for relation, entity in of_sentence:
            triples[Triple(passage.title, relation, entity, index)] = None
    return Extraction(tuple(sentences), tuple(triples))


def _statements(
    sentence: str,
    mentions: Mentions,
    title: str,
) -> Iterator[Statement]:
    """The few words that are said of each mention but the subject's, and what it means."""
    subject = set(fold(title).split())
    breaks = [match.start() for match in _BREAK.finditer(sentence)]
    ends = [0, *(mention.end for mention in mentions)]
    starts = [*(mention.start for mention in mentions), len(sentence)]
    for index, (start, end, entity) in enumerate(mentions):
        if subject.issuperset(fold(entity).split()):  # or its short name
            continue
        low = max([ends[index], *(at + 1 for at in breaks if at < start)])
        high = min([starts[index + 1], *(at for at in breaks if at >= end)])
        before = _words(sentence[low:start])
        after = _words(sentence[end:high])
        words = before[-LONGEST:] or after[:LONGEST]
        yield " ".join(words) or "is mentioned with", entity


def _words(text: str) -> list[str]:
    return _POSSESSIVE.sub("", text).strip(_EDGES).split()


# ---- by the small model


def fact_prompt(linker: EntityLinker, passage: Passage, sentence: str) -> tuple[str, Placeholders]:
    """What the small model reads of a sentence, and what its placeholders stand for."""
    names = Placeholders()
    mentions = linker.mentions(sentence, numbers=True)
    subject = [mention for mention in mentions if linker.is_subject(mention.entity, passage.title)]
    return f"facts : {names.hide(sentence, mentions, subject)}", names


def by_small_model(corpus: Corpus, model: LanguageModel, linker: EntityLinker) -> Extractions:
    """Triples by ``data/planner``, sentence by sentence.

    It writes ``employer = <n0> , year = <n1> ; spouse = <n2>``, or ``none``. The subject is the
    title, as in :func:`by_rules`; the year becomes (subject, "employer: year", <n1>).
    """
    requests = []
    split = [split_sentences(passage.text) for passage in corpus.passages]
    for passage, sentences in zip(corpus.passages, split):
        requests += [fact_prompt(linker, passage, sentence) for sentence in sentences]
    replies = model.generate([prompt for prompt, _ in requests])
    statements = (_facts(reply.text, names) for reply, (_, names) in zip(replies, requests))
    return [
        _about_title(passage, sentences, islice(statements, len(sentences)))
        for passage, sentences in zip(corpus.passages, split)
    ]


def _facts(reply: str, names: Placeholders) -> Iterator[Statement]:
    """Relations and objects that the small model wrote."""
    for fact in reply.split(" ; "):
        first = ""
        for part in fact.split(" , "):
            relation, _, value = part.partition(" = ")
            if first:
                relation = f"{first}: {relation}"
            else:
                first = relation
            placeholders = PLACEHOLDER.findall(value)
            entities = map(names.entity, placeholders) if placeholders else [value]
            for entity in filter(None, entities):
                yield relation, entity


# ---- from a file, by a model that is asked in words


class _Record(HippoRagParagraph):
    """A paragraph of an OpenIE file."""

    extracted_triples: list[list[str]]


def from_file(corpus: Corpus, path: Path) -> Extractions:
    """The triples of an OpenIE file as HippoRAG publishes them.

    A passage is found by its title and text. What is no triple there (published files have lists of
    two and of four texts) is left out, with one warning.
    """
    source = Source()
    records = []
    source.read_records(path, _Record, records.append)
    source.raise_first()
    by_content = {
        (record.title, record.text.strip()): record.extracted_triples for record in records
    }

    contents = [(passage.title, passage.text) for passage in corpus.passages]
    missing = [content for content in contents if content not in by_content]
    if missing:
        raise InputError(
            f"expected triples of every passage, found none of {len(missing)} of {len(contents)}",
            file=path,
            record=missing[0][0],
        )
    return _extractions(corpus, map(by_content.get, contents), str(path))


def by_model(corpus: Corpus, model: LanguageModel) -> Extractions:
    """Triples by a language model, in two prompts per passage.

    The first asks for its named entities, the second for triples about these. Sentences are split
    by the kit, not by the model, which may rewrite them (qsgnn-i21).
    """
    replies = model.generate(
        [extraction_prompt("entities", passage) for passage in corpus.passages]
    )
    prompts = []
    for passage, reply in zip(corpus.passages, replies):
        entities = listed_in(reply.text, "named_entities") or ()
        names = [name for name in entities if isinstance(name, str)]
        prompts.append(extraction_prompt("triples", passage, names))
    replies = model.generate(prompts)
    lists = [listed_in(reply.text, "triples") for reply in replies]
    cost.count(unread=lists.count(None))
    return _extractions(corpus, lists, model.name)


def by_text_to_triples(corpus: Corpus, model: LanguageModel) -> Extractions:
    """Triples by a language model that writes them as RAS's does (RAS C.2 and Figure 20).

    A sequence-to-sequence model learned to, and reads nothing but the passage; another is told.
    """
    requests = [passage.full_text for passage in corpus.passages]
    if model.takes_instructions:
        requests = list(map(triples_request, requests))
    lists = [written_triples(reply.text) for reply in model.generate(requests)]
    cost.count(unread=lists.count([]))
    return _extractions(corpus, lists, model.name)


def written_triples(reply: str) -> list[list[str]]:
    """What stands in each ``(S> subject| P> predicate| O> object)`` of a reply.

    One that is cut or lacks a part has fewer than three texts.
    """
    written = re.split(r"[(\[]?\bS\s*>", plain_reply(reply))[1:]
    triples = []
    for text in written:
        parts = _PARTS.match(text)
        triples.append(list(filter(None, parts.groups())) if parts else [text])
    return triples


def _extractions(
    corpus: Corpus,
    lists: Iterable[Sequence[object] | None],
    source: str,
) -> Extractions:
    """From a list per passage, or None.

    What is no triple of texts, or no list at all, is left out, with one warning that counts it.
    """
    extractions = []
    n_bad = 0
    for passage, values in zip(corpus.passages, lists, strict=True):
        if values is None:
            n_bad += 1
            values = ()
        sentences = tuple(split_sentences(passage.text))
        triples = {}
        for value in values:
            texts = _three_texts(value)
            if texts:
                triples[Triple(*texts, _sentence(sentences, texts))] = None
            else:
                n_bad += 1
        extractions.append(Extraction(sentences, tuple(triples)))
    if n_bad:
        note(
            f"{source}: left out {n_bad} of the extracted triples, which are no three texts or cut"
        )
    return extractions


def _three_texts(value: object) -> list[str] | None:
    try:
        texts = [text.strip() for text in msgspec.convert(value, PlainTriple)]
    except msgspec.ValidationError:
        return None
    return texts if all(texts) else None


def _sentence(sentences: Texts, triple: Texts) -> int | None:
    """The first sentence that has both ends of a triple, else its object, else its subject."""
    subject, _, entity = map(fold, triple)
    matcher = SurfaceMatcher({subject, entity})
    held = [{surface for _, surface in matcher.find(fold(sentence))} for sentence in sentences]
    for ends in ({subject, entity}, {entity}, {subject}):
        for index, surfaces in enumerate(held):
            if ends <= surfaces:
                return index
    return None
