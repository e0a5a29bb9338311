"""A benchmark in numbers."""

import pandas as pd

from kit.corpus.types import Benchmark


def describe(benchmark: Benchmark) -> pd.DataFrame:
    """Counts and sizes of the questions, a row for each split, hop count and structure that there is.

    Columns: ``split``, ``hops``, ``structure``; ``questions`` (count), ``decomposed`` (those with sub-questions) and
    three means: ``words`` of a question, ``support_words`` of a supporting passage, ``passages`` that it is asked of.
    """
    asked = pd.DataFrame({"it": pd.Series(benchmark.splits).explode()}).reset_index(names="split")
    length = {passage.id: len(passage.text.split()) for passage in benchmark.corpus.passages}
    asked["hops"], asked["structure"] = asked["it"].map(lambda it: it.hops), asked["it"].map(lambda it: it.structure)
    asked["decomposed"] = asked["it"].map(lambda it: bool(it.decomposition))
    asked["words"] = asked["it"].map(lambda it: len(it.text.split()))
    asked["support_words"] = asked["it"].map(lambda it: pd.Series(it.supporting_ids).map(length).mean())
    asked["passages"] = asked["it"].map(lambda it: len((benchmark.collections or {}).get(it.id, benchmark.corpus)))
    means = {name: (name, "mean") for name in ("words", "support_words", "passages")}
    groups = asked.groupby(["split", "hops", "structure"], sort=False)
    return groups.agg(questions=("words", "size"), decomposed=("decomposed", "sum"), **means).reset_index()


def describe_corpus(benchmark: Benchmark) -> pd.DataFrame:
    """The corpus in one row: ``passages``, ``documents``, ``titles`` (counts), mean and largest ``words`` a passage."""
    passages = pd.DataFrame([(it.document, it.title, len(it.text.split())) for it in benchmark.corpus.passages])
    documents, titles = passages[0].nunique(), passages[1].nunique()
    sizes = {"words": passages[2].mean(), "most_words": passages[2].max()}
    return pd.DataFrame([{"passages": len(passages), "documents": documents, "titles": titles, **sizes}])
