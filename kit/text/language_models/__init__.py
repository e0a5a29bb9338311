"""Language models: prompts in, texts and token counts out; all behind one interface."""

from kit.errors import InputError
from kit.store import Store
from kit.text.language_models.answers import Answer, Prompt, Request, as_request
from kit.text.language_models.base import LanguageModel
from kit.text.language_models.causal import CausalModel
from kit.text.language_models.chat_server import ChatServer
from kit.text.language_models.local import is_encoder_decoder
from kit.text.language_models.sequence_to_sequence import BEGUN, SequenceToSequence

#: What stands before the colon, and the class that it means.
MODELS = {"hf": CausalModel, "t5": SequenceToSequence, "server": ChatServer}


def language_model(
    text: str, *, longest_answer: int = 64, store: Store | None = None
) -> LanguageModel:
    """The language model that a short text names, as in ``--set`` or a notebook's parameter.

    ``hf:FOLDER-OR-NAME`` is a model of transformers on this machine, ``hf:FOLDER-OR-NAME+ADAPTER``
    a causal one with an adapter, ``t5:`` another name for ``hf:`` before a sequence-to-sequence
    model, ``server:MODEL`` one on an OpenAI-compatible server. Its base URL stands in the
    environment's ``OPENAI_BASE_URL``, or after the name: ``server:MODEL@URL``; its key in
    ``OPENAI_API_KEY``. Right behind the name may stand how it samples:
    ``server:MODEL,temperature=0.7,seed=1``. With ``replay:`` before it only stored answers count.
    Raises :class:`InputError` for other texts.
    """
    described = str(text).removeprefix("replay:")
    kind, _, name = described.partition(":")
    if kind not in MODELS or not name or name.startswith(("@http", ",")):
        expected = (
            "hf:FOLDER-OR-NAME, hf:FOLDER-OR-NAME+ADAPTER, t5:FOLDER-OR-NAME, server:MODEL, "
            "server:MODEL@URL, or one of these after replay:"
        )
        raise InputError(f"expected a language model as {expected}; not {text!r}", field="model")
    model = MODELS[kind]
    if model is CausalModel and is_encoder_decoder(name):
        model = SequenceToSequence
    return model(
        name,
        longest_answer=longest_answer,
        replay=described != str(text),
        store=store,
    )
