"""What a reader answers from the evidence that each method finds (BGR Table 3, QA)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy import ndarray
from numpy.random import default_rng
from pandas import DataFrame

from kit.corpus import Corpus
from kit.corpus.types import Questions
from kit.evaluation import SEED
from kit.evaluation.metrics import graph_measures
from kit.lab.claims.bgr_graphs import Rankings, star
from kit.lab.claims.findings import cannot_read
from kit.readers.base import Reader
from kit.readers.scoring import exact_match


@dataclass(frozen=True)
class EvidenceAnswers:
    """Exact matches of a reader's answers from the evidence of several methods.

    ``right`` has them by method (n, seeds). ``measures`` (rows, 3) are set F1, set EM and GM of
    methods × questions, ``exact`` (rows,) the exact matches of these. ``why_unread`` says why no
    finding of the reader counts, if so.
    """

    right: Mapping[str, ndarray]
    measures: ndarray
    exact: ndarray
    why_unread: str = ""

    @property
    def means(self) -> DataFrame:
        """The share of right answers of each method."""
        means = [float(np.mean(matches)) for matches in self.right.values()]
        return DataFrame({"evidence": list(self.right), "EM": means})


def read_evidence(
    rankings: Rankings,
    questions: Questions,
    passages: Corpus,
    reader: Reader,
    **draws: int,
) -> EvidenceAnswers:
    """Let a reader answer from the passages of each method's evidence.

    ``rankings`` are by name, with the seed, and question; their facts are sentences of
    ``passages``. Where a ranking has no graph, its evidence is as many first facts as are right.
    """
    right = {}
    measures = []
    for name, by_question in rankings.items():
        contexts = []
        for question in questions:
            ranking = by_question[question.id]
            graph = star(question, ranking)
            ids = ranking.ids[: graph.n_nodes]
            values = graph_measures(question, ids, graph)
            measures.append(
                [
                    values["evidence_f1"],
                    values["evidence_em"],
                    values["gm"],
                ]
            )
            contexts.append(_passages_of(ids, passages))
        right.setdefault(name.split(SEED)[0], []).append(_matches(reader, questions, contexts))

    supports = [
        _passages_of(
            [carriers[0] for carriers in question.supporting],
            passages,
        )
        for question in questions
    ]
    golden = _matches(reader, questions, supports)
    nothing = _matches(reader, questions, [[] for _ in questions])
    return EvidenceAnswers(
        right={name: np.array(seeds).T for name, seeds in right.items()},
        measures=np.array(measures),
        exact=np.concatenate([matches for seeds in right.values() for matches in seeds]),
        why_unread=cannot_read(golden, nothing, **draws),
    )


def _passages_of(facts: Sequence[str], passages: Corpus) -> list[str]:
    """The passages that facts are sentences of, each once."""
    ids = dict.fromkeys(fact.rpartition(".")[0] for fact in facts)
    return [passages[passage].full_text for passage in ids]


def _matches(
    reader: Reader,
    questions: Questions,
    contexts: Sequence[Sequence[str]],
) -> ndarray:
    answers = reader.answer([question.text for question in questions], contexts)
    pairs = zip(answers, questions, strict=True)
    return np.array([exact_match(answer, question.answers) for answer, question in pairs])


def with_and_without_order(
    reader: Reader,
    questions: Questions,
    passages: Corpus,
    seed: int = 0,
) -> dict[str, ndarray]:
    """Exact matches from the right passages in the order of the graph, and shuffled.

    Only questions of more than one fact are read.
    """
    generator = default_rng(seed)
    several = [question for question in questions if question.evidence and question.hops > 1]
    contexts = {"with": [], "without": []}
    for question in several:
        texts = [passages[carriers[0]].full_text for carriers in question.supporting]
        order = question.evidence.order
        contexts["with"].append([texts[node] for node in order])
        shuffled = generator.permutation(len(texts))
        contexts["without"].append([texts[node] for node in shuffled])
    return {name: _matches(reader, several, texts) for name, texts in contexts.items()}
