"""IIRC (Ferguson et al. 2020): a JSON list of passages, each with the questions about it.

A passage has ``title``, ``text``, ``links`` and ``questions``. A question has ``context``, the
spans that its annotator needed (``passage``: ``main`` or the title of a linked article, ``text``),
``question_links``, the titles that its writer had in mind, and an ``answer`` by its ``type``:
``span`` (``answer_spans``), ``binary`` and ``value`` (``answer_value``, and ``answer_unit`` where
there is one), or ``none``. The articles are in ``context_articles.json``: an object from titles in
small letters to texts with HTML's links. The file is looked for beside the questions and in the
folder above, as the two archives are unpacked.

The fields are those that the authors' code reads
(https://github.com/jferguson144/IIRC-baseline: ``make_drop_style.py``, ``util.py``), as does
IRCoT's (https://github.com/StonyBrookNLP/ircot: ``processing_scripts/process_iirc.py``).
"""

import html
import re
from hashlib import blake2b
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import Struct

from kit.corpus.prose import Part
from kit.corpus.records import BROKEN, composed, in_words, read_utf8, writable
from kit.corpus.sentences import split_sentences
from kit.corpus.source import Item, LeftOut, Source
from kit.corpus.types import FullText, Passage, Question, Strings
from kit.errors import InputError

ARTICLES = "context_articles.json"
MAIN = "main"  # what a span calls the passage of its question
_TAG = re.compile("<[^>]*>")

Documents = dict[str, list[Passage]]  # the key of a document to its passages


def _key(title: str) -> str:
    """Of an article in small letters, as the articles' file has it; of the main passage none."""
    return "" if title == MAIN else title.lower()


class Span(Struct):
    text: str
    passage: str = MAIN


class Answer(Struct):
    type: str
    answer_spans: list[Span] = []
    answer_value: str | int | float = ""
    answer_unit: str | None = ""


class LinkedQuestion(Struct):
    question: FullText
    answer: Answer
    context: list[Span] = []
    question_links: list[str] = []
    qid: str = ""

    @property
    def titles(self) -> list[str]:
        """Of the linked articles that are needed."""
        in_context = [span.passage for span in self.context if span.passage != MAIN]
        return [*in_context, *self.question_links]


class MainPassage(Struct):
    title: str
    text: FullText
    questions: list[LinkedQuestion]


def read_file(path: Path, source: Source) -> None:
    """The questions, and as a corpus their passages and the articles that they need.

    That is how GNN-Ret (Appendix B) makes its corpus; each article is cut into passages. A
    question's own are its passage and the articles that the questions about it need.

    Raises InputError: the articles are missing or no object of texts.
    """
    articles = _read_articles(path)
    added = {}

    def article(title: str) -> list[Passage]:
        key = _key(title)
        if key not in added:
            plain = html.unescape(_TAG.sub("", articles.get(key, "")))
            added[key] = source.add_document(title, map(Part, plain.splitlines()))
        return added[key]

    def add_passage(published: MainPassage) -> None:
        lines = published.text.splitlines()
        documents = {_key(MAIN): source.add_document(published.title, map(Part, lines))}
        for question in published.questions:
            documents |= {_key(title): article(title) for title in question.titles}

        passages = chain.from_iterable(documents.values())
        collection = tuple(dict.fromkeys(passage.id for passage in passages))
        for question in published.questions:
            try:
                source.add_question(Item(_question(question, published, documents), collection))
            except LeftOut as error:
                source.add_flaw(str(error))

    source.read_records(path, MainPassage, add_passage)


def _read_articles(path: Path) -> dict[str, str]:
    """The text of each article, by its title in small letters."""
    folders = list(path.absolute().parents)[:2]
    files = [folder / ARTICLES for folder in folders if (folder / ARTICLES).is_file()]
    if not files:
        raise InputError(
            f"expected {ARTICLES}, the articles that it links to, beside it or in the folder above",
            file=path,
        )
    try:
        texts = writable(composed(read_utf8(files[0])))
        articles = msgspec.json.decode(texts, type=dict[str, str])
    except BROKEN as error:
        expected, field = in_words(error)
        raise InputError(expected, file=files[0], field=field) from None
    return {title.lower(): text for title, text in articles.items()}


def _question(
    published: LinkedQuestion,
    passage: MainPassage,
    documents: Documents,
) -> Question:
    """The question; its supports are those of its passage, then of the articles."""
    answer, aliases = _answers(published.answer)
    supporting = {}
    for span in sorted(published.context, key=lambda span: span.passage != MAIN):
        passages = documents[_key(span.passage)]
        if not passages:
            raise LeftOut(f"a question whose context is in no article of {ARTICLES}: left out")
        supporting |= dict.fromkeys(_supports(span.text, passages))
    if not supporting:
        raise LeftOut("a question without context: left out")

    content = "\n".join([passage.title, passage.text, published.question])
    return Question(
        published.qid or blake2b(content.encode(), digest_size=8).hexdigest(),
        published.question,
        answer,
        tuple(supporting),
        aliases=aliases,
        type=published.answer.type,
    )


def _answers(answer: Answer) -> tuple[str, Strings]:
    """The answer and its aliases; several spans are one answer, with commas between them."""
    if answer.type == "span":
        return ", ".join(span.text.strip() for span in answer.answer_spans), ()
    if answer.type in ("binary", "value"):
        value = str(answer.answer_value).strip()
        with_unit = f"{value} {answer.answer_unit or ''}".strip()
        return value, (with_unit,) if with_unit != value else ()
    if answer.type == "none":
        raise LeftOut("a question that cannot be answered (type none): left out")
    raise LeftOut("a question that is marked as bad: left out")


def _supports(span: str, passages: list[Passage]) -> list[Strings]:
    """The carriers of a span or, where it lies in several passages, of each of its sentences."""
    words = " ".join(html.unescape(span).split())
    whole = _carriers(words, passages)
    parts = [whole] if whole else [_carriers(part, passages) for part in split_sentences(words)]
    if not any(parts):
        raise LeftOut("a question whose context is not in its article, word for word: left out")
    return list(filter(None, parts))


def _carriers(words: str, passages: list[Passage]) -> Strings:
    """The ids of the passages that have the words."""
    if not words:
        return ()
    return tuple(passage.id for passage in passages if words in " ".join(passage.text.split()))
