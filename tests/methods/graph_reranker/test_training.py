"""What a network does not know while it learns."""

import pytest
import torch

from kit.corpus import example
from kit.methods import make
from kit.methods.graph_reranker.features import LEVELS, Batch, side_by_side
from kit.methods.graph_reranker.training import without_some

HAND = example()


@pytest.fixture(scope="module")
def graphs() -> Batch:
    """Those of two questions over the six passages."""
    reranker = make("graph-reranker", start="untrained", candidates=4)
    reranker.index(HAND.corpus)
    vectors = reranker.graph_of_corpus.scorers.encode([question.text for question in HAND.test])
    parts = []
    for question, vector in zip(HAND.test[:2], vectors):
        parts.append(reranker.rerank(question.text, vector, 4).graph)
    return side_by_side(parts)


@pytest.mark.parametrize(("share", "factor"), [(0, 1), (1, 0)])
def test_all_numbers_are_known_or_none(share: float, factor: float, graphs: Batch) -> None:
    changed = without_some(graphs, share)
    for level in LEVELS:
        assert torch.equal(changed.numbers[level], factor * graphs.numbers[level])
    assert changed.scores is graphs.scores
    assert changed.edges is graphs.edges


def test_a_number_is_unknown_to_all_nodes_of_a_question_and_level(graphs: Batch) -> None:
    torch.manual_seed(0)
    n_unknown = 0
    n_known = 0
    for _ in range(20):
        changed = without_some(graphs, 0.3)
        for level in LEVELS:
            sizes = [len(part.rows[level]) for part in graphs.parts]
            before = graphs.numbers[level].split(sizes)
            after = changed.numbers[level].split(sizes)
            for all_known, some_known in zip(before, after):
                for column in range(all_known.shape[1]):
                    is_known = torch.equal(some_known[:, column], all_known[:, column])
                    assert is_known or not some_known[:, column].any()
                    n_known += is_known
                    n_unknown += not is_known
    # A column of zeros counts as known, so that somewhat less than .3 are unknown.
    assert 0.15 < n_unknown / (n_unknown + n_known) < 0.35
