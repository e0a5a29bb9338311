"""Training on pairs: how they are made into batches, the loss, and what is learned."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kit.corpus import example
from kit.learning.contrastive import (
    Pair,
    TrainingSettings,
    finetune,
    make_batches,
    sample_negatives,
)
from kit.learning.training import Slot, read_history
from kit.store import Store
from kit.text import Encoder

TEXTS = [passage.full_text for passage in example().corpus.passages]
PAIRS = [
    Pair("Who directed the film The Glass Harbour?", 0, frozenset({0}), (5,)),
    Pair("In which town was Ines Moravec born?", 1, frozenset({1}), (2, 3)),
    Pair("Which river floods Selby Quay?", 3, frozenset({3}), (4,)),
    Pair("What does a harbour pilot count?", 5, frozenset({5})),
]
TRAINING = TrainingSettings(epochs=2, batch=2, learning_rate=1e-2, rank=0)


def pair(positive: int, *supports: int) -> Pair:
    return Pair(f"query {positive}", positive, frozenset({positive, *supports}))


def trained(base: Encoder, *arguments: object) -> Path:
    """Where what was learned is kept; ``arguments`` as of :func:`finetune`, without the slot."""
    return Path(finetune(base, *arguments, Slot(base.store, "trained", "key")).name)


@pytest.fixture
def base(tiny_model: str, tmp_path: Path) -> Encoder:
    return Encoder(tiny_model, Store(tmp_path))


def test_no_support_of_a_question_is_a_negative_of_it() -> None:
    # 0 and 1 are of one question; 2 needs 0 too.
    pairs = [pair(0, 1), pair(1, 0), pair(2, 0), pair(3)]
    batches = make_batches(pairs, 4, np.random.default_rng(0))
    rows = sorted(sorted(pair.positive for pair in batch) for batch in batches)
    assert rows[0] in ([0], [0, 3])
    # 5 is what the other looks for.
    assert sample_negatives([PAIRS[0], PAIRS[3]], np.random.default_rng(0)) == []
    # One has no negative of its own, so the other's is there for both.
    assert sample_negatives([PAIRS[2], PAIRS[3]], np.random.default_rng(0)) == [4, 4]


@given(
    st.lists(st.frozensets(st.integers(0, 9), min_size=1, max_size=3), max_size=30),
    st.integers(1, 6),
)
def test_every_pair_is_dealt_once(questions: list[frozenset[int]], size: int) -> None:
    pairs = [Pair(str(row), min(supports), supports) for row, supports in enumerate(questions)]
    batches = make_batches(pairs, size, np.random.default_rng(0))
    dealt = sorted(int(pair.query) for batch in batches for pair in batch)
    assert dealt == list(range(len(pairs)))
    for batch in batches:
        assert 1 <= len(batch) <= size
        for first, second in permutations(batch, 2):
            assert first.positive not in second.supports


def test_training_brings_queries_to_their_passages(base: Encoder) -> None:
    untouched = {name: weight.clone() for name, weight in base.model.state_dict().items()}
    folder = trained(base, PAIRS, (), TEXTS, TRAINING)
    losses = [row["loss"] for row in read_history(folder)]
    assert len(losses) == 4 and sum(losses[2:]) < sum(losses[:2])
    assert all(weight.equal(base.model.state_dict()[name]) for name, weight in untouched.items())
    queries = [pair.query for pair in PAIRS]
    positives = [TEXTS[pair.positive] for pair in PAIRS]
    others = positives[1:] + positives[:1]

    def margin(encoder: Encoder) -> float:
        difference = encoder.encode(positives) - encoder.encode(others)
        return np.sum(encoder.encode(queries, role="query") * difference)

    assert margin(Encoder(str(folder), base.store)) > margin(base)
    assert not [file for file in folder.rglob("*") if file.suffix in (".bin", ".pt", ".pkl")]


def test_the_loss_by_hand(base: Encoder) -> None:
    batch = [PAIRS[0], PAIRS[2]]  # their negatives are 5 and 4
    queries = base.encode([pair.query for pair in batch], role="query")
    candidates = base.encode([TEXTS[row] for row in (0, 3, 5, 4)])
    logits = 20 * queries @ candidates.T
    expected = np.mean(np.log(np.exp(logits).sum(1)) - logits[[0, 1], [0, 1]])
    training = TrainingSettings(epochs=1, batch=2, learning_rate=1e-9)
    folder = trained(base, batch, (), TEXTS, training)
    assert read_history(folder)[0]["loss"] == pytest.approx(expected, rel=1e-4)


def test_the_held_out_loss_by_hand_chooses_the_model(base: Encoder) -> None:
    """Pairs that ask for the opposite of what is learned: the base is best, and is kept."""
    question = PAIRS[0].query
    dev = [Pair(question, 5, frozenset({5}), (0,))]
    training = TrainingSettings(epochs=3, batch=2, learning_rate=1e-2)
    queries = base.encode([question], role="query")
    logits = 20 * queries @ base.encode([TEXTS[5], TEXTS[0]]).T
    expected = float(np.log(np.exp(logits).sum()) - logits[0, 0])

    folder = trained(base, PAIRS[:2], dev, TEXTS, training)
    checks = [row["measured"] for row in read_history(folder) if "measured" in row]
    assert checks[0] == pytest.approx(-expected, abs=2e-2)  # in half the precision
    assert max(checks) == checks[0] and len(checks) == 3  # two without a gain end it
    vectors = Encoder(str(folder), base.store).encode(TEXTS)
    np.testing.assert_allclose(vectors, base.encode(TEXTS), atol=1e-6)


def test_dev_pairs_like_the_training_keep_what_was_learned(base: Encoder) -> None:
    training = TrainingSettings(epochs=4, batch=2, learning_rate=1e-2)
    folder = trained(base, PAIRS, PAIRS, TEXTS, training)
    checks = [row["measured"] for row in read_history(folder) if "measured" in row]
    assert max(checks) > checks[0] + 0.1


def test_training_reads_what_search_reads(base: Encoder) -> None:
    """Two passages that differ after 80 words alone: the loss tells them apart."""
    filler = "mill " * 80
    texts = [f"{filler} herring", f"{filler} lantern"]
    pairs = [Pair("herring", 0, frozenset({0})), Pair("lantern", 1, frozenset({1}))]
    logits = 20 * base.encode(["herring", "lantern"], role="query") @ base.encode(texts).T
    expected = np.mean(np.log(np.exp(logits).sum(1)) - np.diagonal(logits))
    [first, *_] = read_history(trained(base, pairs, (), texts, TrainingSettings()))
    assert first["loss"] == pytest.approx(expected, abs=5e-3)
    assert abs(expected - np.log(2)) > 1e-2  # to whom both are the same


def test_in_a_low_rank_only_some_matrices_change(base: Encoder) -> None:
    training = TrainingSettings(epochs=2, batch=2, learning_rate=1e-2, rank=1)
    learned = Encoder(str(trained(base, PAIRS, (), TEXTS, training)), base.store)
    before = base.model.state_dict()
    ranks = set()
    for name, weight in learned.model.state_dict().items():
        change = weight - before[name]
        if change.any():
            ranks.add(int(torch.linalg.matrix_rank(change, atol=1e-5)))
    assert ranks == {1}


def test_a_pair_among_the_passages_of_several_corpora() -> None:
    assert PAIRS[1].moved(10) == Pair(PAIRS[1].query, 11, frozenset({11}), (12, 13))
