"""An encoder in two parts: together what it was; only the upper one learns, the lower reads a text once."""

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
    "DistilBert": {
        "dim": 32,
        "hidden_dim": 64,
        "n_layers": 3,
        "n_heads": 2,
    },  # its layers have another name
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
    assert (learner.split == 0) == (n in (0, 3) or kind == "DistilBert")
    for role in ("query", "document"):
        np.testing.assert_allclose(learner.encode(TEXTS, role=role), base.encode(TEXTS), atol=1e-6)
    learner.write(tmp_path / "whole")
    whole, before = Encoder(str(tmp_path / "whole")).model.state_dict(), base.model.state_dict()
    assert set(whole) == set(before) and all(whole[name].equal(before[name]) for name in before)


def test_the_default_encoder_too() -> None:
    for n in (1, 2, 3):
        np.testing.assert_allclose(
            PartlyFrozenEncoder(Encoder(), n).encode(TEXTS), Encoder().encode(TEXTS), atol=1e-5
        )


def test_only_the_upper_layers_learn(tmp_path: Path) -> None:
    base = encoder("Bert", tmp_path)
    pairs = [Pair(f"Who wrote of {number}?", number, frozenset({number})) for number in range(4)]
    trained = finetune(
        base,
        pairs,
        TEXTS,
        TrainingSettings(epochs=2, batch=2, learning_rate=1e-2, layers=2),
        None,
        "key",
    )
    before, after = base.model, trained.model
    same = [
        name
        for name, weight in after.state_dict().items()
        if weight.equal(before.state_dict()[name])
    ]
    fixed = (
        "0.model.embeddings.",
        "0.model.encoder.layer.0.",
        "0.model.pooler.",
    )  # no gradient comes to the last
    assert {name for name in after.state_dict() if name.startswith(fixed)} == set(same)
    again = Encoder(trained.name, Store(tmp_path / "other"))
    for role in ("query", "document"):
        np.testing.assert_allclose(
            trained.encode(TEXTS, role=role), again.encode(TEXTS, role=role), atol=1e-6
        )
    assert np.abs(trained.encode(TEXTS) - base.encode(TEXTS)).max() > 1e-2
    assert (
        len(after[0].auto_model.encoder.layer) == 3
        and after[0].auto_model.config.num_hidden_layers == 3
    )


def test_a_text_goes_through_the_lower_layers_once(tmp_path: Path) -> None:
    base = encoder("Bert", tmp_path)
    first, second = PartlyFrozenEncoder(base, 2), PartlyFrozenEncoder(base, 2)
    found = first.vectors(TEXTS)
    kept = dict(first.known)
    tokens = [
        len(each)
        for each in base.model.tokenizer(list(kept), truncation=True, max_length=128)["input_ids"]
    ]
    assert [state.shape for state in kept.values()] == [(n, 32) for n in tokens]  # no padding
    second.lower = None  # to read a text is to fail
    assert second.vectors(TEXTS[::-1]).flip(0).allclose(found, atol=1e-6)
    assert all(first.known[text] is state for text, state in kept.items())
    with pytest.raises(AttributeError, match="NoneType"):
        second.vectors(["Another one."])


def test_what_is_kept_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kit.learning.partly_frozen._KEPT", 1)
    learner = PartlyFrozenEncoder(encoder("Bert", tmp_path), 2)
    learner.known.clear()  # of other tests
    found = learner.vectors(["Short."]), learner.vectors(TEXTS)
    assert list(learner.known) == ["Short."] and found[0].allclose(found[1][-2], atol=1e-6)
