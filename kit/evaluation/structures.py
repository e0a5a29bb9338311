"""Questions about pages and tables: whether what they ask for is fetched, exactly or among other passages."""

from __future__ import annotations

import pandas as pd

from kit.corpus import Corpus
from kit.corpus.pdf import structures
from kit.errors import InputError
from kit.evaluation import metrics, statistics
from kit.evaluation.experiment import Experiment

#: The types of questions that ask for structures (:mod:`kit.corpus.formats.pdf_folder`).
STRUCTURAL = ("page", "table", "page and table")


def held_passages(corpus: Corpus) -> pd.DataFrame:
    """The edges from pages and tables to the passages that they hold, a row an edge (kgp.txt §3).

    Columns: document, kind (page or table), label, passage (id), position (in the document, from 0), holds (text or
    table). No rows for a corpus without pages.
    """
    rows = [
        (it.document, it.kind, it.label, passage.id, passage.position, passage.kind)
        for it, held in structures(corpus).items()
        for passage in (corpus.passages[row] for row in held)
    ]
    return pd.DataFrame(rows, columns=["document", "kind", "label", "passage", "position", "holds"])


def fetched_structures(experiment: Experiment, passages: int = 30) -> pd.DataFrame:
    """How the structural questions of an experiment fared, a row a retriever, context and question.

    Columns: measure, retriever, context, question, type, value (1 or 0). ``Struct-EM`` (:func:`metrics.struct_em`) is
    of all that a retriever fetches where it ends by itself. Rankings that end nowhere are cut: after ``passages``, the
    context of a reader (kgp.txt §5.1), and after ``as many as asked``, a number that nobody tells a retriever.
    ``all among the first N passages`` says whether these hold all that is asked for, whatever else they hold; it
    is 0 by construction where more are asked for. Raises InputError where no ranking is as long as the corpus.
    """
    most = len(experiment.benchmark.corpus)
    if max(len(ranking.ids) for of in experiment.rankings.values() for ranking in of.values()) < most:
        raise InputError(f"expected rankings of all {most:,} passages", field="k")
    questions = [question for question in experiment.questions if question.type in STRUCTURAL]
    rows = []
    for name, rankings in experiment.rankings.items():
        ids = {question.id: list(dict.fromkeys(rankings[question.id].ids)) for question in questions}
        ends = any(len(of) < most for of in ids.values())
        for question in questions:
            found = ids[question.id]
            contexts = {f"{passages} passages": found[:passages], "as many as asked": found[: question.hops]}
            contexts = {"what it fetches": found} if ends else contexts
            exact = [("Struct-EM", context, metrics.struct_em(question, of)) for context, of in contexts.items()]
            among = metrics.full_at(question, found, passages)
            rows += [
                (measure, name, context, question.id, question.type, value)
                for measure, context, value in [*exact, (f"all among the first {passages} passages", "", among)]
            ]
    return pd.DataFrame(rows, columns=["measure", "retriever", "context", "question", "type", "value"])


def structure_scores(fetched: pd.DataFrame, seed: int = 0, *, draws: int = statistics.DRAWS) -> pd.DataFrame:
    """Means of :func:`fetched_structures` by type of question, with 95 % intervals: mean, low, high, n."""
    return statistics.by_group(fetched, ["measure", "retriever", "context", "type"], "value", seed, draws=draws)
