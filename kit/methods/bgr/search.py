"""BGR's search: which candidates each path goes on to, until none does (BGR §5.1, Eq. 2).

    Ẽ_{i+1} = E_{i+1} ∪ Ẽ_i,  H_{i+1} = {h_i ∪ ẽ_i | ẽ_i ∈ Ẽ_i}                           (2)

H_i, the paths of one length, are those that are judged together; Ẽ_i of a path is what was
``taken`` from it. All questions and both directions are searched level by level together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from kit.methods.bgr.network import LONGEST_PATH, CandidateMatches, EvidenceNetwork

MOST_EDGES = 25  # of one search, and paths of one length (bgr-i09)
MOST_WORDS = 40  # of a passage as evidence on a path; BGR reads 30 tokens


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


class Acceptance(NamedTuple):
    """What of the judged candidates comes next on a path."""

    threshold: float  # a logit above it is evidence
    successors: int = 0  # at most so many; 0: any number
    at_least_one: bool = True  # the empty path goes on to the best one in any case

    def taken(self, logits: ndarray, path: NodePath) -> list[int]:
        """The accepted candidates, the surest first."""
        order = np.argsort(-logits, kind="stable").tolist()
        accepted = [position for position in order if logits[position] > self.threshold]
        if self.at_least_one and not path and not accepted:
            accepted = order[:1]
        return accepted[: self.successors or None]


@dataclass
class Search:
    """A search in one direction: how all candidates were judged on each path.

    Candidates are positions among those given. What is on a path already has the logit −∞.
    """

    candidates: Candidates
    matches: CandidateMatches
    direction: str
    acceptance: Acceptance
    logits: dict[NodePath, ndarray] = field(default_factory=dict)

    @property
    def is_backward(self) -> bool:
        """Whether it began at the last evidence."""
        return self.direction == BACKWARD

    @property
    def taken(self) -> dict[NodePath, list[int]]:
        """What each path goes on to, of all paths that the search comes to."""
        taken = {}
        paths = [()]
        while paths:
            path = paths.pop()
            if path in self.logits:
                taken[path] = self.acceptance.taken(self.logits[path], path)
                paths += [(*path, position) for position in taken[path]]
        return taken

    def at(self, threshold: float) -> Self:
        """The same search with a threshold that is no lower; nothing is judged anew."""
        return replace(self, acceptance=self.acceptance._replace(threshold=threshold))

    def positions(self) -> Edges:
        """Edges between candidates and the question, acyclic, in the search's order."""
        edges = edges_of(depth_first(self.taken), self.is_backward)
        return list(acyclic(edges[:MOST_EDGES]).edges)

    def edges(self) -> Edges:
        """The same between rows of the corpus."""
        return in_rows(self.positions(), self.candidates.rows)


Searches = dict[str, Search]  # of a question, by direction


def in_rows(edges: Edges, rows: ndarray) -> Edges:
    """Edges between positions among candidates as edges between rows of the corpus."""
    names = [*rows.tolist(), QUESTION]  # at its index, −1, which is the last
    return [(names[parent], names[child]) for parent, child in edges]


def searches_of(
    network: EvidenceNetwork,
    candidates: Sequence[Candidates],
    acceptances: Mapping[str, Acceptance],
) -> list[Searches]:
    """For each question a search in each direction for which there is an acceptance."""
    all_matches = network.compare([question.texts for question in candidates])
    searches = []
    for question, matches in zip(candidates, all_matches):
        directions = {
            direction: Search(question, matches, direction, acceptance)
            for direction, acceptance in acceptances.items()
        }
        searches.append(directions)
    follow(network, [search for directions in searches for search in directions.values()])
    return searches


def follow(network: EvidenceNetwork, searches: Sequence[Search]) -> None:
    """Search until no path goes on; all is judged that the acceptance of each asks for.

    Of the paths of one length of a search the 25 whose last step is surest are judged. One that is
    not ends there; backward, :func:`acyclic` then lets the question lead to its end.
    """
    all_paths = [[()] for _ in searches]  # H_0
    while any(all_paths):
        judge(network, searches, all_paths)
        all_paths = [_longer(search, paths) for search, paths in zip(searches, all_paths)]


@torch.no_grad()
def judge(
    network: EvidenceNetwork,
    searches: Sequence[Search],
    all_paths: Sequence[Sequence[NodePath]],
) -> None:
    """Eq. 1 on some paths of each search, which are read together; the logits are put into it."""
    texts = []
    directions = []
    for search, paths in zip(searches, all_paths):
        texts += [search.candidates.path_text(path, search.direction) for path in paths]
        directions += len(paths) * [search.direction]
    states = network.read_paths(texts, directions)

    end = 0
    for search, paths in zip(searches, all_paths):
        start = end
        end += len(paths)
        if not paths:
            continue
        all_logits, _ = network.scorer(search.matches, search.direction, paths, states[start:end])
        for path, logits in zip(paths, all_logits.cpu().numpy()):
            logits[list(path)] = -np.inf  # no evidence twice on a path
            search.logits[path] = logits


def _longer(search: Search, paths: Sequence[NodePath]) -> list[NodePath]:
    """Eq. 2: the paths that are judged next, the surest of them."""
    longer = {}
    for path in paths:
        if len(path) + 1 == LONGEST_PATH:
            continue
        logits = search.logits[path]
        for position in search.acceptance.taken(logits, path):
            longer[*path, position] = logits[position]
    return sorted(longer, key=longer.get, reverse=True)[:MOST_EDGES]
