"""Triples that others extract: files of HippoRAG's OpenIE, and language models asked as in qsgnn.txt Appendix A.10."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from kit.corpus import Corpus, Passage
from kit.corpus.formats import hipporag
from kit.corpus.sentences import split_sentences
from kit.corpus.source import Source
from kit.errors import InputError
from kit.text.language_models import LanguageModel
from kit.text.mentions import fold
from kit.text.triples import Extraction, Triple

LONGEST_ANSWER = 512  # tokens of a language model's reply
_RADIO = (
    "Radio City\\n Radio City is India's first private FM radio station and was started on 3 July 2001. It plays "
    "Hindi, English and regional songs. Radio City recently forayed into New Media in May 2008 with the launch of a "
    "music portal - PlanetRadiocity.com that offers music related news, videos, songs, and other music-related "
    "features."
)
_NAMED = ["Radio City", "India", "3 July 2001", "Hindi", "English", "May 2008", "PlanetRadiocity.com"]
_TRIPLES = [
    ["Radio City", "located in", "India"],
    ["Radio City", "is", "private FM radio station"],
    ["Radio City", "started on", "3 July 2001"],
    ["Radio City", "plays songs in", "Hindi"],
    ["Radio City", "plays songs in", "English"],
    ["Radio City", "forayed into", "New Media"],
    ["Radio City", "launched", "PlanetRadiocity.com"],
    ["PlanetRadiocity.com", "launched in", "May 2008"],
    ["PlanetRadiocity.com", "is", "music portal"],
    ["PlanetRadiocity.com", "offers", "news"],
    ["PlanetRadiocity.com", "offers", "videos"],
    ["PlanetRadiocity.com", "offers", "songs"],
]


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


def entity_prompt(passage: Passage) -> str:
    """Figure 11."""
    return (
        "Goal:\nYour task is to extract named entities from the given paragraph. Respond with a JSON list of "
        "entities.\n"
        f"Example:\n- Output -:\n{json.dumps({'named_entities': _NAMED})}\n- Input -:\n{_RADIO}\n\n"
        f"- Input -:\n{_paragraph(passage)}\n- Output -:\n"
    )


def triple_prompt(passage: Passage, names: Sequence[str]) -> str:
    """Figure 12."""
    return (
        "Goal:\nYour task is to construct an RDF (Resource Description Framework) graph from the given passages and "
        "named entity lists. Respond with a JSON list of triples, with each triple representing a relationship in the "
        "RDF graph.\nPay attention to the following requirements:\n"
        "- Each triple should contain at least one, but preferably two, of the named entities in the list for each "
        "passage.\n- Clearly resolve pronouns to their specific names to maintain clarity.\n"
        f"Example:\n- Output -:\n{json.dumps({'triples': _TRIPLES})}\n- Input -:\n{_listed(_RADIO, _NAMED)}\n\n"
        f"- Input -:\n{_listed(_paragraph(passage), names)}\n- Output -:\n"
    )


def _listed(paragraph: str, names: Sequence[str]) -> str:
    asked = "Convert the paragraph into a JSON dict, it has a named entity list."
    return f"{asked}\nParagraph:\n{paragraph}\nNamed_entities:\n{json.dumps(list(names), ensure_ascii=False)}"


def _paragraph(passage: Passage) -> str:
    return f"{passage.title}\\n {passage.text}"


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
