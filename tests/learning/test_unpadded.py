"""Texts without padding: what the network makes of each by itself, and the same gradients."""

from pathlib import Path

import pytest
import torch

from kit.learning.partly_frozen import PartlyFrozenEncoder
from kit.learning.unpadded import MOST_TOKENS, TextBatch, batches_of, can_read
from kit.text import Encoder
from tests.learning.test_partly_frozen import TEXTS, encoder


@pytest.mark.parametrize("kind", ["Bert", "Roberta"])
def test_it_makes_what_the_network_makes(kind: str, tmp_path: Path) -> None:
    base = encoder(kind, tmp_path)
    network = base.model[0].auto_model.eval()
    ids = base.model.tokenizer(TEXTS, truncation=True, max_length=128)["input_ids"]
    [rows] = batches_of(ids)
    batch = TextBatch.of(network.embeddings, rows, ids).through(network.encoder.layer)
    states = batch.by_row()
    for row, text in enumerate(ids):
        alone = network(input_ids=torch.tensor([text])).last_hidden_state[0]
        torch.testing.assert_close(states[row], alone, atol=1e-5, rtol=1e-4)

    # The gradients, too.
    weight = network.encoder.layer[1].attention.self.query.weight
    sum(state.square().sum() for state in states.values()).backward()
    unpadded = weight.grad.clone()
    weight.grad = None
    for text in ids:
        network(input_ids=torch.tensor([text])).last_hidden_state.square().sum().backward()
    torch.testing.assert_close(unpadded, weight.grad, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("kind", ["Bert", "MPNet"])
@pytest.mark.parametrize("layers", [0, 2])
def test_states_of_a_learner(kind: str, layers: int, tmp_path: Path) -> None:
    base = encoder(kind, tmp_path)
    assert can_read(base.model[0].auto_model) == (kind == "Bert")
    learner = PartlyFrozenEncoder(base, layers)
    assert learner.states([]) == [] == learner.lower_states([], 5)
    states = learner.states(TEXTS)
    whole = base.model.encode(TEXTS, output_value="token_embeddings")
    for state, expected in zip(states, whole):
        torch.testing.assert_close(state, expected, atol=0.1, rtol=0.1)  # bfloat16 where there is
    sum(state.square().sum() for state in states).backward()
    below = learner.lower[0].auto_model.embeddings.word_embeddings.weight
    assert below.grad is None


def test_what_does_not_learn_is_read_once_and_kept_in_half(tmp_path: Path) -> None:
    learner = PartlyFrozenEncoder(encoder("Bert", tmp_path), 2)
    states = learner.lower_states(TEXTS, 5)
    layers = learner.lower[0].auto_model
    ids = learner.model.tokenizer(TEXTS[0], return_tensors="pt")["input_ids"]
    expected = layers(input_ids=ids).last_hidden_state[0, :5]
    torch.testing.assert_close(states[0], expected, atol=2e-3, rtol=2e-3)
    assert all(state.dtype == torch.float32 and len(state) <= 5 for state in states)
    learner.lower = None  # to read a text is to fail
    again = learner.lower_states(TEXTS[::-1], 5)
    assert all(state.equal(other) for state, other in zip(again[::-1], states))


def test_batches_are_of_like_lengths_and_not_too_large() -> None:
    ids = [[0] * n for n in (7, MOST_TOKENS, 3, 5, 2 * MOST_TOKENS)]
    assert batches_of(ids) == [[2, 3, 0], [1], [4]]
    assert batches_of([]) == []


def test_the_default_encoder_is_read_so() -> None:
    assert can_read(Encoder().model[0].auto_model)
