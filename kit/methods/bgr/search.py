"""BGR's search: which candidates each path goes on to, until none does (bgr.txt §5.1, Eq. 2).

    Ẽ_{i+1} = E_{i+1} ∪ Ẽ_i,  H_{i+1} = {h_i ∪ ẽ_i | ẽ_i ∈ Ẽ_i}                           (2)

H_i, the paths of one length, are ``paths``; Ẽ_i of a path is what was ``taken`` from it.
"""

from typing import NamedTuple, Self

import numpy as np
import torch
from numpy import ndarray

from kit.corpus import Corpus
from kit.methods.bgr.graphs import (
    BACKWARD,
    QUESTION,
    Edges,
    NodePath,
    acyclic,
    depth_first,
    edges_of,
)
from kit.methods.bgr.network import LONGEST_PATH, EvidenceNetwork

#: The least logit of evidence, chosen by F1, EM and GM on the atlas's dev questions; a lower one
#: finds more, less exactly (bgr-i06).
LEAST_LOGIT = -1.0
MOST_EDGES = 25  # of one search (bgr-i09)
MOST_WORDS = 40  # of a passage as evidence on a path; bgr.txt reads 30 tokens


class Candidates(NamedTuple):
    """A question and the passages that may be its evidence; a path holds positions among these."""

    rows: ndarray  # of the corpus
    texts: list[str]  # the question, then the passages

    @classmethod
    def of(
        cls,
        question: str,
        rows: ndarray,
        corpus: Corpus,
    ) -> Self:
        """Rows of a corpus as candidates."""
        return cls(rows, [question, *(corpus.passages[row].full_text for row in rows)])

    def path_text(self, path: NodePath, direction: str) -> str:
        """What the encoder reads of a path."""
        question, *passages = self.texts
        lines = [f"{direction}: {question}"]
        for position in path:
            words = passages[position].split()
            lines.append(" ".join(words[:MOST_WORDS]))
        return "\n".join(lines)


class SearchResult(NamedTuple):
    """A search in one direction: what each path went on to, and how all candidates were judged.

    Candidates are positions among ``rows``. ``logits`` are those above :data:`LEAST_LOGIT`: what is
    above 0 is evidence.
    """

    direction: str
    rows: ndarray
    taken: dict[NodePath, list[int]]
    logits: dict[NodePath, ndarray]

    def edges(self) -> Edges:
        """Edges between rows of the corpus and the question, acyclic, in the search's order."""
        edges = edges_of(depth_first(self.taken), self.direction == BACKWARD)
        graph = acyclic(edges[:MOST_EDGES])
        rows = [*self.rows.tolist(), QUESTION]  # at its index, −1, which is the last
        return [(rows[parent], rows[child]) for parent, child in graph.edges]


@torch.no_grad()
def search(
    network: EvidenceNetwork,
    candidates: Candidates,
    direction: str,
    *,
    successors: int,
    at_least_one: bool,
) -> SearchResult:
    """Search level by level; the arguments are those settings of :class:`BGR`."""
    result = SearchResult(direction, candidates.rows, {}, {})
    matches = network.compare(candidates.texts)
    paths = [()]  # H_0
    while paths:
        states = network.read_paths([candidates.path_text(path, direction) for path in paths])
        all_logits, _ = network.scorer(matches, direction, paths, states)  # Eq. 1

        longer = []
        for path, logits in zip(paths, all_logits.cpu().numpy() - LEAST_LOGIT):
            logits[list(path)] = -np.inf  # no evidence twice on a path
            result.logits[path] = logits

            accepted = _best_first(logits, must_take=at_least_one and not path)
            taken = accepted[: successors or None]
            result.taken[path] = taken
            longer += [(*path, position) for position in taken]  # Eq. 2
        paths = [path for path in longer if len(path) < LONGEST_PATH][:MOST_EDGES]
    return result


def _best_first(logits: ndarray, must_take: bool) -> list[int]:
    """Candidates that are judged to come next; the best where there is none and there must be."""
    order = np.argsort(-logits, kind="stable").tolist()
    accepted = [position for position in order if logits[position] > 0]
    if must_take and not accepted:
        return order[:1]
    return accepted
