"""One question, asked of one method: what it finds, where that stands, and why."""

from operator import attrgetter
from pathlib import Path

from pandas import DataFrame

from kit.arguments import expect, whole
from kit.corpus import Corpus, Passage, Question
from kit.errors import InputError
from kit.files import atomic_write
from kit.methods import make
from kit.methods.trace import (
    Event,
    Expansion,
    InitialScore,
    Message,
    NodeVisit,
    SubQuestionEvent,
    Trace,
)
from kit.views.frames import replay
from kit.views.replay_page import replay_page

_DEPTH = 100  # passages of the ranking whose steps are traced, at least
_MOST_SOURCES = 3  # of what a passage hears, named


def ask(
    question: str,
    corpus: Corpus,
    *,
    method: str = "gnn-ret",
    k: int = 5,
    html: str | Path | None = None,
    **settings: object,
) -> DataFrame:
    """The passages that a method finds for a question, best first.

    Columns: rank, score, passage (its id), title, place (document, and page or part), text, and
    why, by the trace: ``""`` where the passage's own text is all that counts. ``html`` is a file to
    write the steps of the retrieval to, as a page that needs nothing else.

    Raises :class:`InputError` for a question that is blank or that nothing matches, and for a
    method or a setting that does not exist.
    """
    expect(str, question, "question")
    expect(Corpus, corpus, "corpus")
    k = whole(k, "k")
    if not question.strip():
        raise InputError("expected a question", field="question")
    retriever = make(method, **settings)
    retriever.index(corpus)
    ranking = retriever.explain(question, max(k, _DEPTH))
    if not ranking.ids:
        raise InputError(f"{method} finds nothing for these words", field="question")
    if html:
        asked_for = Question("", question, "", ())
        graph = getattr(retriever, "graph", None)
        steps = replay(ranking, corpus, asked_for, graph)
        atomic_write(Path(html), replay_page(steps, f"{method}: {question}").html.encode())

    rows = []
    for rank, (passage_id, score) in enumerate(zip(ranking.ids[:k], ranking.scores), start=1):
        passage = corpus[passage_id]
        rows.append(
            {
                "rank": rank,
                "score": float(score),
                "passage": passage_id,
                "title": passage.title,
                "place": place(passage, corpus),
                "text": passage.text,
                "why": why(passage_id, ranking.trace, corpus, question),
            }
        )
    return DataFrame(rows)


def place(passage: Passage, corpus: Corpus) -> str:
    """Where a passage stands: its document, and the page or the part of it."""
    if passage.page:
        return f"{passage.document}, page {passage.page}"
    n_parts = len(corpus.documents[passage.document])
    part = f", part {passage.position + 1} of {n_parts}" if n_parts > 1 else ""
    return f"{passage.document}{part}"


# ---- why


def why(passage_id: str, trace: Trace, corpus: Corpus, question: str) -> str:
    """Why a passage was found, by the first events of each kind that tell of it."""
    reasons = {}
    heard = []
    asked_text = ""
    for event in trace.events:
        if isinstance(event, SubQuestionEvent):
            asked_text = "the question itself" if event.text == question else f"“{event.text}”"
        elif isinstance(event, Message) and event.target == passage_id != event.source:
            heard.append(event)
        elif reason := _reason(event, passage_id, corpus, asked_text):
            reasons.setdefault(type(event), reason)
    if heard:
        reasons[InitialScore] = _heard(heard, corpus)
    return "; ".join(reasons.values())


def _reason(event: Event, passage_id: str, corpus: Corpus, asked_text: str) -> str:
    """What an event alone says of a passage, or ``""``."""
    if isinstance(event, Expansion):
        return _taken(event, corpus) if passage_id in event.taken else ""
    if getattr(event, "passage", None) != passage_id:
        return ""
    if isinstance(event, InitialScore):
        return "by its own text alone"
    if isinstance(event, NodeVisit):
        return _visited(event, corpus)
    return f"found for {asked_text}" if asked_text else ""


def _taken(expansion: Expansion, corpus: Corpus) -> str:
    path = " → ".join(_name(passage, corpus) for passage in expansion.path)
    return f"taken {expansion.direction} from {path or 'the question'}"


def _heard(messages: list[Message], corpus: Corpus) -> str:
    """What a passage hears from its neighbours, the nearest first."""
    values = {}
    for message in sorted(messages, key=attrgetter("value"), reverse=True):
        values.setdefault(message.source, message.value)
    named = [f"{_name(source, corpus)} ({value:.3f})" for source, value in values.items()]
    line = ", ".join(named[:_MOST_SOURCES])
    if len(named) > _MOST_SOURCES:
        line += f" and {len(named) - _MOST_SOURCES} more"
    return f"hears from {line}, by its own text {messages[0].before:.3f}"


def _visited(visit: NodeVisit, corpus: Corpus) -> str:
    if not visit.source:
        return "the walk begins here"
    reached = f"reached from {_name(visit.source, corpus)}"
    if visit.generated_evidence:
        reached += f", looking for “{visit.generated_evidence}”"
    return reached


def _name(passage_id: str, corpus: Corpus) -> str:
    """A passage as a reason names it: by its title if that tells it from others, or its place."""
    passage = corpus[passage_id]
    is_alone = len(corpus.documents[passage.document]) == 1
    return passage.title if is_alone and passage.title else place(passage, corpus)
