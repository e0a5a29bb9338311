"""GRR's chains: the beam against all chains, its loss by hand, and what is learned."""

from itertools import permutations

import numpy as np
import pytest
import torch

from kit.corpus import Benchmark, EvidenceGraph
from kit.methods.bgr.grr import GRR, LONGEST_CHAIN, ChainNetwork, draw_chain, found_by
from kit.methods.bgr.search import Candidates
from kit.methods.bgr.training import Example
from kit.text import Encoder


@pytest.fixture(scope="module")
def network() -> ChainNetwork:
    network = ChainNetwork(Encoder(), seed=0).eval()
    with torch.no_grad():
        network.bias.zero_()
        network.length.fill_(2.0)
    return network


def test_the_beam_finds_the_best_chain(network: ChainNetwork) -> None:
    """With a beam that holds all, the chain of the highest product of probabilities."""
    torch.manual_seed(1)
    vectors = torch.randn(4, 384) / 384**0.5  # three candidates and the end
    best = {}
    with torch.no_grad():
        for length in (1, 2, 3):
            for path in permutations(range(3), length):
                state = network.begin()
                total = 0.0
                for position, target in enumerate([*path, 3]):
                    logits = network.judge(vectors, state, path[:position])
                    total += float(torch.sigmoid(logits[target]).log())
                    state = network.go_on(state, vectors[target])
                best[path] = total
        assert network.search(vectors, beam=99) == max(best, key=best.get)
        # Nothing stands twice on a chain, and it ends.
        vectors[3] = -network.begin()
        chain = network.search(vectors, beam=2)
    assert len(set(chain)) == len(chain) <= LONGEST_CHAIN


def test_the_loss_is_that_of_each_step(network: ChainNetwork, facts: Benchmark) -> None:
    chain = EvidenceGraph(2, ((0, 1),))
    question = next(question for question in facts.train if question.evidence == chain)
    example = Example(question, facts.corpus, facts.collections[question.id])
    assert draw_chain(example) == tuple(example.gold)
    with torch.no_grad():
        loss = float(network.loss([example]))
        [vectors] = network.vectors([example.candidates])
    assert vectors.shape == (26, 384) and vectors[-1].equal(network.end)
    expected = []
    state = network.begin()
    for length, target in enumerate([*example.gold, 25]):
        free = [row for row in range(26) if row not in example.gold[:length]]
        shares = torch.sigmoid(vectors @ state + network.bias).tolist()
        right = [shares[row] if row == target else 1 - shares[row] for row in free]
        expected.append(-np.log(right).sum())
        state = network.go_on(state, vectors[target])
    assert loss == pytest.approx(np.mean(expected), rel=0.02)  # bfloat16 where there is


def test_a_chain_is_evidence_each_piece_the_parent_of_the_next(
    network: ChainNetwork, facts: Benchmark
) -> None:
    assert found_by(network, Candidates(np.arange(0), ["Who?"]), 2) == []
    retriever = GRR(n_train=4, steps=1)
    retriever.fit(facts)
    assert [row["step"] for row in retriever.history if "measured" in row] == [0, 1]
    question = facts.test[0]
    ranking = retriever.variant(corpus=facts.collection(question)).retrieve(question.query, 25)
    n = ranking.evidence.n_nodes
    assert n >= 1 and len(ranking.ids) == 25
    assert ranking.evidence.edges == tuple((node, node + 1) for node in range(n - 1))
