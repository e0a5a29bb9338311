"""Eq. 1 as the paper prints it: by hand, and what it does not see."""

import pytest
import torch

from kit.corpus import Benchmark
from kit.methods.bgr.graphs import BACKWARD, FORWARD
from kit.methods.bgr.network import PRIOR
from kit.methods.bgr.printed import EncodedTexts, PrintedScorer
from kit.methods.bgr.retriever import BGR


def encoded(n_texts: int, width: int = 8) -> EncodedTexts:
    states = torch.randn(n_texts, 5, width)
    mask = torch.arange(5) < torch.arange(n_texts)[:, None] % 4 + 2
    return EncodedTexts(states, mask, states.mean(1))


def test_a_feed_forward_network_judges_the_path_and_the_evidence() -> None:
    scorer = PrintedScorer(8)
    texts = encoded(4)
    first, _, last = scorer.judge
    [logits] = scorer(texts, [()])
    for candidate in range(3):
        pair = torch.cat([texts.vectors[0], texts.vectors[candidate + 1]])
        hidden = first.weight @ pair + first.bias
        hidden = torch.where(hidden > 0, hidden, hidden.exp() - 1)  # ELU
        expected = last.weight[0] @ hidden + last.bias[0] - PRIOR
        assert logits[candidate].item() == pytest.approx(expected.item(), abs=1e-5)


def test_attention_joins_a_path_with_each_piece_of_evidence_in_turn() -> None:
    scorer = PrintedScorer(8)
    texts = encoded(4)
    assert scorer.path_state(texts, ()).equal(texts.vectors[0])
    one = scorer.path_state(texts, (2,))
    two = scorer.path_state(texts, (2, 0))
    states = texts.states[1:2, : int(texts.mask[1].sum())]
    torch.testing.assert_close(two, scorer.join(one[None, None], states)[0, 0])
    # No candidate hears of another: its logit does not change with theirs.
    vectors = texts.vectors.clone()
    vectors[3] += 1
    logits = scorer(texts, [(), (1,)])
    other = scorer(texts._replace(vectors=vectors), [(), (1,)])
    assert other[:, :2].equal(logits[:, :2]) and not other[:, 2].equal(logits[:, 2])


def test_it_learns_and_each_direction_has_a_network_of_its_own(facts: Benchmark) -> None:
    retriever = BGR(start="untrained", judge="printed", n_train=4, steps=1)
    retriever.fit(facts)
    weights = retriever.learned.weights
    for name in ("encoder.0", "encoder.1", "scorers.0", "scorers.1"):
        assert any(key.startswith(name) for key in weights)
    question = facts.test[0]
    ranking = retriever.variant(corpus=facts.collection(question)).explain(question.query, 25)
    assert {event.direction for event in ranking.trace.events[:-1]} == {FORWARD, BACKWARD}
