"""The most likely graph, worked out by hand; and what is chosen on dev questions."""

from math import exp, log

import numpy as np
import pytest

from kit.methods.bgr.choices import Choices, Trial, choose, marks
from kit.methods.bgr.graphs import BACKWARD, FORWARD
from kit.methods.bgr.graphs import QUESTION as Q
from kit.methods.bgr.likely import Candidate, graphs_of, judged_graphs, most_likely
from kit.methods.bgr.network import LONGEST_PATH
from kit.methods.bgr.search import Acceptance, Candidates, Searches, searches_of
from tests.methods.bgr.test_search import Judge

THREE = Candidates(np.arange(3), ["Who?", "a", "b", "c"])
AHEAD = {(): [3, -3, -3], (0,): [-3, 0.2, -3], (0, 1): [-3, -3, -4]}
BACK = {(): [0.4, 2, -5], (1,): [1, -3, -3], (0,): [-3, -1, -3], (1, 0): [0, 0, -2]}


class BothWays(Judge):
    """A judge with logits for each direction; any other path leads nowhere."""

    def compare(self, all_texts: list) -> list[None]:
        return [None for _ in all_texts]

    def scorer(self, matches: None, direction: str, paths: list, states: list) -> tuple:
        of_direction = {FORWARD: AHEAD, BACKWARD: BACK}[direction]
        self.judged = {path: of_direction.get(path, [-6, -6, -6]) for path in paths}
        return super().scorer(matches, direction, paths, states)


def searched() -> Searches:
    acceptances = {direction: Acceptance(-2.0) for direction in (FORWARD, BACKWARD)}
    [searches] = searches_of(BothWays({}), [THREE], acceptances)
    return searches


def log_sigmoid(*logits: float) -> float:
    return sum(-log(1 + exp(-logit)) for logit in logits)


def test_the_graphs_of_both_their_unions_and_what_they_share() -> None:
    graphs = [sorted(graph.edges) for graph in graphs_of(searched())]
    # Forward finds 0 → 1 below .2, and 0 alone above; so does what both share there.
    assert [(Q, 0), (0, 1)] in graphs
    assert [(Q, 0)] in graphs
    assert len(graphs) == len({frozenset(graph) for graph in graphs})


def test_each_decision_counts_in_both_directions() -> None:
    searches = searched()
    chain = Candidate([(Q, 0), (0, 1)])
    ahead = log_sigmoid(3, 3, 3) + log_sigmoid(0.2, 3) + log_sigmoid(4)
    assert chain.log_likelihood(searches[FORWARD]) == pytest.approx(ahead)
    # Backward 1 is the last, 0 before it; what is on the path does not count.
    back = log_sigmoid(-0.4, 2, 5) + log_sigmoid(1, 3) + log_sigmoid(2)
    assert chain.log_likelihood(searches[BACKWARD]) == pytest.approx(back)

    single = Candidate([(Q, 0)])
    assert single.missing(searches[FORWARD]) == []
    ahead = log_sigmoid(3, 3, 3) + log_sigmoid(-0.2, 3)
    assert single.log_likelihood(searches[FORWARD]) == pytest.approx(ahead)


def test_the_best_sum_wins_and_a_bonus_draws_towards_more_evidence() -> None:
    searches = searched()
    [graphs] = judged_graphs(BothWays({}), [searches])
    for bonus in (-9.0, 0.0, 1.5, 9.0):
        sums = [
            sum(graph.log_likelihood(search) for search in searches.values())
            + bonus * graph.n_nodes
            for graph in graphs
        ]
        best = graphs[int(np.argmax(sums))]
        assert most_likely(graphs, searches, bonus) == best.edges
    assert most_likely(graphs, searches, -9.0) == [(Q, 0)]
    assert most_likely(graphs, searches, 0.0) == [(Q, 0), (0, 1)]
    assert most_likely([], searches, 0.0) == []


def test_a_path_as_long_as_any_may_be_is_not_judged() -> None:
    """A union of two searches may have longer ones than either."""
    searches = searched()
    length = LONGEST_PATH + 2
    long = Candidate([(Q, 0), *((node, node + 1) for node in range(length))])
    for search in searches.values():
        search.logits.clear()
        missing = long.missing(search)
        assert missing and all(len(path) < LONGEST_PATH for path in missing)
        for path in missing:
            search.logits[path] = np.zeros(length + 1)
        assert np.isfinite(long.log_likelihood(search))


def test_a_graph_of_very_many_paths_is_no_candidate() -> None:
    edges = [(Q, 0), *((n, m) for n in range(9) for m in range(n + 1, 10))]  # 2^9 paths
    assert not Candidate(edges).is_small
    assert Candidate([(Q, 0), (0, 1)]).is_small


def test_what_is_best_on_dev_is_chosen() -> None:
    searches = searched()
    [graphs] = judged_graphs(BothWays({}), [searches])
    single = [(Q, 0)]
    choices = choose([Trial(single, searches, graphs)])
    # Above .2 forward leaves 1. Backward finds 0 alone at no threshold that is tried.
    assert choices.forward == 0.5
    graph = Trial(single, searches, graphs).merged(choices)
    assert graph == single and choices.base == FORWARD
    assert choose([]) == Choices()


def test_marks_are_graph_match_and_f1() -> None:
    gold = [(Q, 0), (0, 1)]
    assert marks(gold[::-1], gold) == (1, 1)
    assert marks([(Q, 0), (Q, 1)], gold) == (0, 1)
    assert marks([(Q, 0)], gold) == (0, pytest.approx(2 / 3))
    assert marks([], gold) == (0, 0)
