"""Language models behind one small interface, made from a short text."""

from __future__ import annotations

from kit.errors import InputError
from kit.store import Store
from kit.text.language_models.base import Answer, LanguageModel, usage_lines
from kit.text.language_models.sequence_to_sequence import SequenceToSequence
from kit.text.language_models.server import ChatServer

#: The committed sequence-to-sequence model that writes evidence; where it lies in the project.
EVIDENCE_WRITER = "data/evidence_writer"
_EXPECTED = "t5:FOLDER-OR-NAME, server:MODEL, server:MODEL@URL, or one of these after replay:"


def language_model(text: str, *, longest_answer: int = 64, store: Store | None = None) -> LanguageModel:
    """The language model that a short text names, as one gives it to ``--set`` or as a notebook's parameter.

    ``t5:FOLDER-OR-NAME`` is a sequence-to-sequence model, ``server:MODEL`` one on an OpenAI-compatible server (its base
    URL in the environment's ``OPENAI_BASE_URL``, or after the name: ``server:MODEL@URL``; its key in
    ``OPENAI_API_KEY``). With ``replay:`` before it only stored answers count. Raises :class:`InputError` for others.
    """
    kind, _, rest = str(text).partition(":")
    replay = kind == "replay"
    if replay:
        kind, _, rest = rest.partition(":")
    shared = {"longest_answer": longest_answer, "replay": replay, "store": store}
    model, at, address = rest.partition("@http")
    if kind == "t5" and rest:
        return SequenceToSequence(rest, **shared)
    if kind == "server" and model:
        return ChatServer(model, url=f"http{address}" if at else None, **shared)
    raise InputError(f"expected a language model as {_EXPECTED}; not {text!r}", field="model")


__all__ = [
    "EVIDENCE_WRITER",
    "Answer",
    "ChatServer",
    "LanguageModel",
    "SequenceToSequence",
    "language_model",
    "usage_lines",
]
