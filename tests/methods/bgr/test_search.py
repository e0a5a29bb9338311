"""The search of Eq. 2, with judgements that are written down beforehand."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from kit.corpus import Corpus, Passage
from kit.methods.bgr.graphs import BACKWARD, FORWARD, QUESTION, NodePath
from kit.methods.bgr.search import Candidates, SearchResult, search

FOUR = Candidates(np.arange(4), ["Who?", "a", "b", "c", "d"])
JUDGED = {
    (): [2, 1, -3, -3],
    (0,): [9, 1, -3, -3],
    (1,): [-3, 9, -3, -3],
    (0, 1): [9, 9, -3, -4],
}


class Judge:
    """Stands for a network: its logits are given by path."""

    def __init__(self, judged: Mapping[NodePath, Sequence[float]]) -> None:
        self.judged = judged

    def compare(self, texts: Sequence[str]) -> None:
        assert list(texts) == FOUR.texts

    def read_paths(self, texts: Sequence[str]) -> list[str]:
        return list(texts)

    def scorer(
        self, matches: None, direction: str, paths: Sequence[NodePath], states: Sequence[str]
    ) -> tuple[Tensor, None]:
        assert all(state.startswith(f"{direction}: Who?") for state in states)
        return torch.tensor([self.judged[path] for path in paths], dtype=torch.float), None


def searched(
    judged: Mapping[NodePath, Sequence[float]] = JUDGED,
    direction: str = FORWARD,
    successors: int = 0,
    at_least_one: bool = True,
) -> SearchResult:
    return search(Judge(judged), FOUR, direction, successors=successors, at_least_one=at_least_one)


def test_a_search_goes_on_by_what_is_above_the_least_logit() -> None:
    result = searched()
    # Nothing stands twice on a path.
    assert result.taken == {(): [0, 1], (0,): [1], (1,): [], (0, 1): []}
    assert result.edges() == [(QUESTION, 0), (0, 1)]  # 1 is read in the light of 0
    assert searched(direction=BACKWARD).edges() == [(QUESTION, 1), (1, 0)]


def test_the_best_is_evidence_where_none_is_judged_to_be() -> None:
    unsure = JUDGED | {(): [-3, -2, -4, -9]}
    assert searched(unsure).taken == {(): [1], (1,): []}
    nothing = searched(unsure, at_least_one=False)
    assert nothing.taken == {(): []} and nothing.edges() == []


def test_with_one_successor_it_is_a_chain() -> None:
    assert searched(successors=1).taken == {(): [0], (0,): [1], (0, 1): []}


def test_few_words_of_evidence_on_a_path_are_read() -> None:
    long = Passage("a", "Long", "word " * 60, "a")
    short = Passage("b", "Short", "one", "b")
    candidates = Candidates.of("Who?", np.arange(2), Corpus([long, short]))
    text = candidates.path_text((0, 1), FORWARD)
    assert text.splitlines() == ["forward: Who?", "Long" + " word" * 39, "Short one"]
