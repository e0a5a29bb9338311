"""DPR: dense retrieval by an encoder trained on pairs of a question and a support (kgp.txt §8.2, Table 4)."""

from __future__ import annotations

from kit.corpus import Corpus, Question
from kit.retrievers.training import TrainedRetriever


class DPR(TrainedRetriever):
    """The passages whose vectors are nearest to the query's, one encoder for both.

    The settings are those of the training: :class:`kit.retrievers.training.TrainedRetriever`.
    """

    name = "dpr"

    def pairs(self, question: Question, corpus: Corpus) -> list[tuple[str, str]]:
        """The question with each of its supports, in no order."""
        return [(question.text, id) for id in question.supporting_ids]
