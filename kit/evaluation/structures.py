"""Whether questions about pages and tables get what these hold (KGP §5.1, Table 1: Struct-EM).

The paper defines Struct-EM nowhere. It is 1 where exactly the structures that a question asks for
were retrieved, none missing and none besides.
"""

import pandas as pd
from pandas import DataFrame

from kit.corpus import Question
from kit.evaluation.metrics import full_at, struct_em
from kit.evaluation.results import Experiment

READ = 30  # passages, the context of a reader
KINDS = ("page", "table", "page and table")  # types of questions about structures
STRUCT_EM = "Struct-EM"
ALL_AMONG = f"all among the first {READ} passages"
FETCHED = "what it fetches"
AS_MANY = "as many as are asked for"


def fetched_structures(experiment: Experiment) -> DataFrame:
    """How the questions about structures are answered by rankings of the whole corpus.

    A ranking that does not end by itself is cut: after 30 passages, and after as many as are asked
    for, a number that no retriever can know. Columns: measure, retriever, context, question, type,
    value.
    """
    n_passages = len(experiment.benchmark.corpus)
    questions = [question for question in experiment.questions if question.type in KINDS]
    tables = []
    for name, rankings in experiment.rankings.items():
        retrieved = {}
        for question in questions:
            retrieved[question.id] = list(dict.fromkeys(rankings[question.id].ids))
        ends_by_itself = any(len(ids) < n_passages for ids in retrieved.values())
        for question in questions:
            rows = _rows(
                question,
                retrieved[question.id],
                ends_by_itself,
            )
            tables.append(DataFrame(rows).assign(retriever=name))
    if not tables:
        return DataFrame(columns=["measure", "context", "question", "type", "value", "retriever"])
    return pd.concat(tables, ignore_index=True)


def _rows(question: Question, ids: list[str], ends_by_itself: bool) -> list[dict[str, object]]:
    contexts = {f"{READ} passages": ids[:READ], AS_MANY: ids[: question.hops]}
    if ends_by_itself:
        contexts = {FETCHED: ids}
    about = {"question": question.id, "type": question.type}
    rows = []
    for context, fetched in contexts.items():
        value = struct_em(question, fetched)
        rows.append({"measure": STRUCT_EM, "context": context, **about, "value": value})
    among = full_at(question, ids, READ)
    rows.append({"measure": ALL_AMONG, "context": "", **about, "value": among})
    return rows
