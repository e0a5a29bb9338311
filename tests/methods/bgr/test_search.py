"""The search of Eq. 2, with judgements that are written down beforehand."""

from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from kit.corpus import Corpus, Passage
from kit.methods.bgr.graphs import BACKWARD, FORWARD, QUESTION, NodePath
from kit.methods.bgr.search import MOST_EDGES, Acceptance, Candidates, Search, searches_of

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

    def compare(self, all_texts: Sequence[Sequence[str]]) -> list[None]:
        assert all(list(texts) == FOUR.texts for texts in all_texts)
        return [None for _ in all_texts]

    def read_paths(self, texts: Sequence[str], directions: Sequence[str]) -> list[str]:
        pairs = zip(texts, directions, strict=True)
        assert all(text.startswith(f"{direction}: Who?") for text, direction in pairs)
        return list(texts)

    def scorer(
        self, matches: None, direction: str, paths: Sequence[NodePath], states: Sequence[str]
    ) -> tuple[Tensor, None]:
        assert len(states) == len(paths)
        assert all(state.startswith(f"{direction}: Who?") for state in states)
        return torch.tensor([self.judged[path] for path in paths], dtype=torch.float), None


def searched(
    judged: Mapping[NodePath, Sequence[float]] = JUDGED,
    direction: str = FORWARD,
    *acceptance: float,
) -> Search:
    acceptances = {direction: Acceptance(*(acceptance or (-1.0,)))}
    [searches] = searches_of(Judge(judged), [FOUR], acceptances)
    return searches[direction]


def test_a_search_goes_on_by_what_is_above_the_threshold() -> None:
    result = searched()
    # Nothing stands twice on a path.
    assert result.taken == {(): [0, 1], (0,): [1], (1,): [], (0, 1): []}
    assert result.edges() == [(QUESTION, 0), (0, 1)]  # 1 is read in the light of 0
    assert searched(direction=BACKWARD).edges() == [(QUESTION, 1), (1, 0)]


def test_the_best_is_evidence_where_none_is_judged_to_be() -> None:
    unsure = JUDGED | {(): [-3, -2, -4, -9]}
    assert searched(unsure).taken == {(): [1], (1,): []}
    nothing = searched(unsure, FORWARD, -1.0, 0, False)
    assert nothing.taken == {(): []} and nothing.edges() == []


def test_with_one_successor_it_is_a_chain() -> None:
    assert searched(JUDGED, FORWARD, -1.0, 1).taken == {(): [0], (0,): [1], (0, 1): []}


def test_few_words_of_evidence_on_a_path_are_read() -> None:
    long = Passage("a", "Long", "word " * 60, "a")
    short = Passage("b", "Short", "one", "b")
    candidates = Candidates.of("Who?", np.arange(2), Corpus([long, short]))
    text = candidates.path_text((0, 1), FORWARD)
    assert text.splitlines() == ["forward: Who?", "Long" + " word" * 39, "Short one"]


def test_several_searches_are_as_each_alone() -> None:
    acceptances = {FORWARD: Acceptance(-1.0), BACKWARD: Acceptance(1.5)}
    together = searches_of(Judge(JUDGED), [FOUR, FOUR], acceptances)
    for searches in together:
        assert searches[FORWARD].edges() == searched().edges()
        assert searches[BACKWARD].edges() == searched(JUDGED, BACKWARD, 1.5).edges()


@given(
    st.lists(st.integers(-3, 3), min_size=80, max_size=80),
    st.sampled_from([FORWARD, BACKWARD]),
    st.sampled_from([-1.5, 0.5, 2.5]),
)
def test_a_higher_threshold_needs_no_other_search(
    values: list[int], direction: str, threshold: float
) -> None:
    judged = {}
    for length in range(4):
        for path in permutations(range(4), length):
            start = len(judged) % 20 * 4
            judged[path] = values[start : start + 4]
    judged |= {path: [-9.0] * 4 for path in permutations(range(4))}
    lowest = searched(judged, direction, -2.5)
    anew = searched(judged, direction, threshold)
    assert lowest.at(threshold).taken == anew.taken
    assert lowest.at(threshold).positions() == anew.positions()


def test_of_too_many_paths_the_surest_are_judged() -> None:
    n = MOST_EDGES + 5
    many = Candidates(np.arange(n), ["Who?", *("x" for _ in range(n))])
    first = np.linspace(1, 2, n)  # the last is the surest

    class Many(Judge):
        def compare(self, all_texts: Sequence[Sequence[str]]) -> list[None]:
            return [None]

        def scorer(self, matches: None, direction: str, paths: list, states: list) -> tuple:
            rows = [np.full(n, -3.0) if path else first for path in paths]
            return torch.tensor(np.stack(rows)), None

    [searches] = searches_of(Many({}), [many], {FORWARD: Acceptance(0.0)})
    judged = {path for path in searches[FORWARD].logits if path}
    assert judged == {(position,) for position in range(5, n)}
