"""KGP's agents that write: a sequence-to-sequence model and a chat model (kgp.txt §4, §8.1, Listing 1)."""

from __future__ import annotations

import pandas as pd

from kit.retrievers.kgp import KGP
from kit.retrievers.kgp_agents import WritingAgent
from kit.text.language_models import EVIDENCE_WRITER, language_model
from kit.text.prompts import evidence_prompt, prefixed_evidence_prompt


class KGPWriting(KGP):
    """The walk of an agent that writes the evidence that it looks for."""

    agent: WritingAgent

    def usage(self) -> pd.DataFrame:
        """Calls, tokens and seconds of the model so far: :meth:`kit.text.language_models.LanguageModel.usage`."""
        return self.agent.model.usage()


class KGPT5(KGPWriting):
    """The walk of a sequence-to-sequence model (kgp.txt, "KGP-T5").

    ``writer`` is the model, as :func:`kit.text.language_models.language_model` takes it; by default the committed one,
    which has learned from invented encyclopedias. ``kit data make evidence-writer FOLDER --base MODEL`` fine-tunes
    another one, ``t5:FOLDER``.
    """

    name = "kgp-t5"

    def __init__(self, writer: str = f"t5:{EVIDENCE_WRITER}", **walk: object) -> None:
        super().__init__(**walk)
        self.agent = WritingAgent(language_model(writer), prefixed_evidence_prompt)


class KGPChat(KGPWriting):
    """The walk of a chat model (kgp.txt, Table 2), ``model``: ``server:MODEL`` or ``replay:server:MODEL``.

    See :func:`kit.text.language_models.language_model`. The answers are kept, so that a run is repeated without the
    server.
    """

    name = "kgp-chat"

    def __init__(self, model: str = "", **walk: object) -> None:
        super().__init__(**walk)
        self.agent = WritingAgent(language_model(model), evidence_prompt)
