"""Which edges of a question's own evidence graph a method found, and how deep they lie."""

from collections.abc import Iterator, Mapping

from pandas import DataFrame

from kit.corpus import Question
from kit.corpus.types import Questions
from kit.evaluation.metrics import QUESTION
from kit.methods import Ranking

#: Each method's ranking of each question, by the question's id.
Rankings = Mapping[str, Mapping[str, Ranking]]


def edge_recalls(questions: Questions, rankings: Rankings) -> DataFrame:
    """Which of a question's own edges a method found, a row per method and edge.

    Columns: question, retriever, depth (the steps from the question to the edge's end), edge (two
    supports), recall (1 where it was found). Questions without an evidence graph are left out.
    """
    rows = []
    for name, by_question in rankings.items():
        for question in questions:
            if question.evidence:
                rows += _recalls(name, question, by_question[question.id])
    return DataFrame(
        rows,
        columns=[
            "question",
            "retriever",
            "depth",
            "edge",
            "recall",
        ],
    )


def _recalls(name: str, question: Question, ranking: Ranking) -> Iterator[tuple]:
    edges = named_edges(ranking)
    depths = depths_of(question)
    names = [carriers[0] for carriers in question.supporting]
    for parent, child in question.evidence.rooted.edges:
        edge = (
            names[parent] if parent != QUESTION else "",
            names[child],
        )
        yield (
            question.id,
            name,
            depths[child],
            (parent, child),
            float(edge in edges),
        )


def named_edges(ranking: Ranking) -> set[tuple[str, str]]:
    """The edges of a ranking's graph between ids of passages; the question's is empty."""
    if ranking.evidence is None:
        return set()
    names = dict(enumerate(ranking.ids)) | {QUESTION: ""}
    return {(names[parent], names[child]) for parent, child in ranking.evidence.rooted.edges}


def depths_of(question: Question) -> dict[int, int]:
    """The longest way in steps from the question to each piece of its evidence."""
    depths = {}
    for chain in question.evidence.chains:
        for steps, node in enumerate(chain, start=1):
            depths[node] = max(steps, depths.get(node, 0))
    return depths
