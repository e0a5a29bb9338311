"""An encoder in two parts: only the upper one learns, the lower one reads a text once."""

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Pooling, Transformer

from kit.corpus import example
from kit.learning.contrastive import Pair, TrainingSettings, finetune
from kit.learning.partly_frozen import PartlyFrozenEncoder
from kit.learning.training import Slot
from kit.store import Store
from kit.text import Encoder

TEXTS = [passage.full_text for passage in example().corpus.passages] + [
    "Short.",
    "Selby Quay " * 90,
]
SIZES = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
}
KINDS = {
    "Bert": SIZES,
    "Roberta": SIZES | {"pad_token_id": 0, "vocab_size": 30522},
    "MPNet": SIZES | {"pad_token_id": 0, "vocab_size": 30522},
    # its layers have another name
    "DistilBert": {"dim": 32, "hidden_dim": 64, "n_layers": 3, "n_heads": 2},
}


def encoder(kind: str, folder: Path) -> Encoder:
    """With random weights, and three layers."""
    torch.manual_seed(0)
    network = getattr(transformers, f"{kind}Model")(
        getattr(transformers, f"{kind}Config")(**KINDS[kind])
    )
    network.save_pretrained(folder / "network")
    Encoder().model.tokenizer.save_pretrained(folder / "network")
    words = Transformer(str(folder / "network"), max_seq_length=128)
    model = SentenceTransformer(
        modules=[words, Pooling(words.get_embedding_dimension())], device="cpu"
    )
    model.save_pretrained(str(folder / "model"), create_model_card=False)
    return Encoder(str(folder / "model"), Store(folder / "store"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_the_parts_together_are_the_encoder(kind: str, n: int, tmp_path: Path) -> None:
    base = encoder(kind, tmp_path)
    learner = PartlyFrozenEncoder(base, n)
    assert (learner.n_lower == 0) == (n in (0, 3) or kind == "DistilBert")
    for role in ("query", "document"):
        np.testing.assert_array_equal(learner.encode(TEXTS, role=role), base.encode(TEXTS))
    learner.write(tmp_path / "whole")
    whole = Encoder(str(tmp_path / "whole")).model.state_dict()
    before = base.model.state_dict()
    assert set(whole) == set(before)
    assert all(whole[name].equal(before[name]) for name in before)


def test_the_default_encoder_too() -> None:
    for n in (1, 2, 3):
        np.testing.assert_array_equal(
            PartlyFrozenEncoder(Encoder(), n).encode(TEXTS), Encoder().encode(TEXTS)
        )


def test_only_the_upper_layers_learn(tmp_path: Path) -> None:
    base = encoder("Bert", tmp_path)
    pairs = [Pair(f"Who wrote of {row}?", row, frozenset({row})) for row in range(4)]
    training = TrainingSettings(epochs=2, batch=2, learning_rate=1e-2, layers=2, rank=0)
    slot = Slot(base.store, "trained", "key")
    trained = finetune(base, pairs, (), TEXTS, training, slot)
    before = base.model.state_dict()
    after = trained.model.state_dict()
    same = {name for name, weight in after.items() if weight.equal(before[name])}
    # No gradient comes to the last of these.
    fixed = ("0.model.embeddings.", "0.model.encoder.layer.0.", "0.model.pooler.")
    assert {name for name in after if name.startswith(fixed)} == same
    again = Encoder(trained.name, Store(tmp_path / "other"))
    for role in ("query", "document"):
        np.testing.assert_array_equal(
            trained.encode(TEXTS, role=role), again.encode(TEXTS, role=role)
        )
    assert np.abs(trained.encode(TEXTS) - base.encode(TEXTS)).max() > 1e-2
    network = trained.model[0].auto_model
    assert len(network.encoder.layer) == network.config.num_hidden_layers == 3


def test_a_text_goes_through_the_lower_layers_once(tmp_path: Path) -> None:
    base = encoder("Bert", tmp_path)
    first = PartlyFrozenEncoder(base, 2)
    second = PartlyFrozenEncoder(base, 2)
    vectors = first.encode(TEXTS)
    kept = dict(first.kept)
    ids = base.model.tokenizer(list(kept), truncation=True, max_length=128)["input_ids"]
    assert [len(state) for state in kept.values()] == list(map(len, ids))  # no padding
    assert {state.shape[1] for state in kept.values()} == {32}
    second.lower = None  # to read a text is to fail
    np.testing.assert_array_equal(second.encode(TEXTS[::-1])[::-1], vectors)
    assert all(first.kept[text] is state for text, state in kept.items())
    with pytest.raises(AttributeError, match="NoneType"):
        second.encode(["Another one."])


def test_what_is_kept_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kit.learning.partly_frozen.MOST_KEPT", 1)
    learner = PartlyFrozenEncoder(encoder("Bert", tmp_path), 2)
    learner.kept.clear()  # of other tests
    alone = learner.encode(["Short."])
    among_others = learner.encode(TEXTS)
    assert list(learner.kept) == ["Short."]
    np.testing.assert_array_equal(alone[0], among_others[-2])


def test_states_of_another_encoder_are_not_taken_for_these(tmp_path: Path) -> None:
    small = encoder("Bert", tmp_path / "small")
    one_layer = PartlyFrozenEncoder(small, 1)
    one_layer.encode(["Short."])
    assert PartlyFrozenEncoder(small, 1).kept is one_layer.kept
    assert PartlyFrozenEncoder(small, 2).kept == {}
    assert PartlyFrozenEncoder(Encoder(), 1).kept == {}
