"""KGP's agents that write: a sequence-to-sequence model and a chat model (kgp.txt §4, §8.1, Listing 1)."""

from __future__ import annotations

import pandas as pd

from kit.corpus import Benchmark
from kit.errors import InputError
from kit.retrievers.base import expect_whole
from kit.retrievers.kgp import KGP
from kit.retrievers.kgp_agents import WritingAgent
from kit.text.language_models import EVIDENCE_WRITER, SequenceToSequence, language_model
from kit.text.prompts import evidence_prompt, prefixed_evidence_prompt

LEARNING_RATE = 3e-4  # of fine-tuning


class KGPWriting(KGP):
    """The walk of an agent that writes the evidence that it looks for."""

    agent: WritingAgent

    def usage(self) -> pd.DataFrame:
        """Calls, tokens and seconds of the model so far: :meth:`kit.text.language_models.LanguageModel.usage`."""
        return self.agent.model.usage()


class KGPT5(KGPWriting):
    """The walk of a sequence-to-sequence model (kgp.txt, "KGP-T5").

    ``writer`` is the model, as :func:`kit.text.language_models.language_model` takes it; by default the committed one,
    which has learned from invented encyclopedias (:mod:`kit.text.language_models.atlas_writer`). It is taken as it
    comes, or fine-tuned first: ``writer_epochs`` times through the training questions, the best on dev being kept.
    """

    name = "kgp-t5"

    def __init__(self, writer: str = f"t5:{EVIDENCE_WRITER}", writer_epochs: int = 0, **walk: object) -> None:
        super().__init__(**walk)
        expect_whole(0, writer_epochs=writer_epochs)
        self.base = language_model(writer)
        self.agent = WritingAgent(self.base, prefixed_evidence_prompt)
        if writer_epochs and not isinstance(self.base, SequenceToSequence):
            raise InputError(f"expected t5:FOLDER-OR-NAME to be trained, not {writer!r}", field="writer")
        self.epochs = writer_epochs

    def fit(self, benchmark: Benchmark) -> None:
        if self.epochs:
            from kit.text.language_models.evidence import Finetuning, train_evidence_writer  # takes seconds

            settings = Finetuning(epochs=self.epochs, learning_rate=LEARNING_RATE)
            self.agent = WritingAgent(train_evidence_writer(self.base, benchmark, settings), prefixed_evidence_prompt)


class KGPChat(KGPWriting):
    """The walk of a chat model (kgp.txt, Table 2), ``model``: ``server:MODEL`` or ``replay:server:MODEL``.

    See :func:`kit.text.language_models.language_model`. The answers are kept, so that a run is repeated without the
    server.
    """

    name = "kgp-chat"

    def __init__(self, model: str = "", **walk: object) -> None:
        super().__init__(**walk)
        self.agent = WritingAgent(language_model(model), evidence_prompt)
