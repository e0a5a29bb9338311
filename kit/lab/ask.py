"""One question, asked of one method."""

from pandas import DataFrame

from kit.corpus import Corpus
from kit.methods import make


def ask(
    question: str, corpus: Corpus, *, method: str = "gnn-ret", k: int = 5, **settings: object
) -> DataFrame:
    """The passages that a method finds for a question, best first.

    Columns: rank, score, passage (its id), title, text. Raises :class:`InputError` for a method or
    a setting that does not exist.
    """
    retriever = make(method, **settings)
    retriever.index(corpus)
    ranking = retriever.retrieve(question, k)
    rows = []
    for rank, (passage_id, score) in enumerate(zip(ranking.ids, ranking.scores), start=1):
        passage = corpus[passage_id]
        rows.append((rank, float(score), passage_id, passage.title, passage.text))
    return DataFrame(rows, columns=["rank", "score", "passage", "title", "text"])
