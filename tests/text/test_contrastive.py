"""Training on pairs: how they are dealt out, and what is kept, resumed and made again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file

from kit.corpus.example import example
from kit.store import Store
from kit.text import Encoder, contrastive
from kit.text.contrastive import Pair, Training, deal, finetune, plan, sample_negatives, slope

TEXTS = [passage.full_text for passage in example().corpus.passages]
PAIRS = [
    Pair("Who directed the film The Glass Harbour?", 0, frozenset({0}), (5,)),
    Pair("In which town was Ines Moravec born?", 1, frozenset({1}), (2, 3)),
    Pair("Which river floods Selby Quay?", 3, frozenset({3}), (4,)),
    Pair("What does a harbour pilot count?", 5, frozenset({5})),
]
TRAINING = Training(epochs=2, batch=2, learning_rate=1e-2, seed=0)


def pair(positive: int, *supports: int) -> Pair:
    return Pair(f"query {positive}", positive, frozenset({positive, *supports}))


@pytest.fixture
def base(tiny_model: str, tmp_path: Path) -> Encoder:
    return Encoder(tiny_model, Store(tmp_path))


def weights(folder: Path) -> dict[str, np.ndarray]:
    return load_file(folder / "model.safetensors")


def same(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def history(folder: Path) -> list[dict[str, float]]:
    return json.loads((folder / "history.json").read_text("utf-8"))


def test_the_learning_rate_rises_for_a_tenth_of_the_steps_and_falls_to_nothing() -> None:
    assert [slope(step, 20) for step in (0, 1, 2, 11, 19)] == pytest.approx([0.5, 1, 1, 0.5, 1 / 18])
    assert slope(0, 1) == 1


def test_no_support_of_a_question_is_a_negative_of_it() -> None:
    # 0 and 1 are of one question; 2 needs 0 too.
    pairs = [pair(0, 1), pair(1, 0), pair(2, 0), pair(3)]
    batches = deal(pairs, 4, np.random.default_rng(0))
    assert sorted(sorted(each.positive for each in batch) for batch in batches)[0] in ([0], [0, 3])
    assert sample_negatives([PAIRS[0], PAIRS[3]], np.random.default_rng(0)) == []  # 5 is what the other looks for
    # One has no negative of its own, so the other's is there for both.
    assert sample_negatives([PAIRS[2], PAIRS[3]], np.random.default_rng(0)) == [4, 4]


@given(st.lists(st.frozensets(st.integers(0, 9), min_size=1, max_size=3), max_size=30), st.integers(1, 6))
def test_every_pair_is_dealt_once(questions: list[frozenset[int]], size: int) -> None:
    pairs = [Pair(str(number), min(supports), supports) for number, supports in enumerate(questions)]
    batches = deal(pairs, size, np.random.default_rng(0))
    assert sorted(int(each.query) for batch in batches for each in batch) == list(range(len(pairs)))
    for batch in batches:
        assert 1 <= len(batch) <= size
        for one in batch:
            assert all(one.positive not in other.supports for other in batch if other is not one)


def test_an_epoch_is_cut_into_periods_and_dealt_anew() -> None:
    pairs = [pair(row) for row in range(12)]
    periods = plan(pairs, Training(2, 3, 0.1, 0))
    assert [len(period) for period in periods] == [2, 2, 2, 2]
    assert periods[:2] != periods[2:] and periods == plan(pairs, Training(2, 3, 0.1, 0))
    assert [len(period) for period in plan(pairs[:1], TRAINING)] == [1, 1]


def test_training_brings_queries_to_their_passages(base: Encoder, tmp_path: Path) -> None:
    untouched = {name: weight.clone() for name, weight in base.model.state_dict().items()}
    folder = finetune(base, PAIRS, TEXTS, TRAINING, None, "key")
    losses = [row["loss"] for row in history(folder)]
    assert [row["step"] for row in history(folder)] == [1, 2, 3, 4] and sum(losses[2:]) < sum(losses[:2])
    assert all(weight.equal(base.model.state_dict()[name]) for name, weight in untouched.items())
    trained = Encoder(str(folder), base.store)
    queries, positives = [each.query for each in PAIRS], [TEXTS[each.positive] for each in PAIRS]
    others = positives[1:] + positives[:1]
    margins = [
        np.sum(each.encode(queries, role="query") * (each.encode(positives) - each.encode(others)))
        for each in (trained, base)
    ]
    assert margins[0] > margins[1]
    assert not any((tmp_path / "checkpoints").iterdir())
    assert not [file for file in folder.rglob("*") if file.suffix in (".bin", ".pt", ".pkl")]


def test_the_loss_by_hand(base: Encoder) -> None:
    batch = [PAIRS[0], PAIRS[2]]  # their negatives are 5 and 4
    queries = base.encode([each.query for each in batch], role="query")
    candidates = base.encode([TEXTS[row] for row in (0, 3, 5, 4)])
    logits = 20 * queries @ candidates.T
    expected = np.mean(np.log(np.exp(logits).sum(1)) - logits[[0, 1], [0, 1]])
    folder = finetune(base, batch, TEXTS, Training(1, 2, 1e-9, 0), None, "key")
    assert history(folder)[0]["loss"] == pytest.approx(expected, rel=1e-4)


def test_the_best_model_is_kept_and_training_stops_when_nothing_gets_better(base: Encoder) -> None:
    training = Training(epochs=4, batch=2, learning_rate=1e-2, seed=0)
    seen = []

    def measure(encoder: Encoder) -> float:
        seen.append(encoder.encode(TEXTS))
        return [0.5, 0.7, 0.7, 0.6, 1.0][len(seen) - 1]

    folder = finetune(base, PAIRS, TEXTS, training, measure, "stopped")
    assert [row["measured"] for row in history(folder) if "measured" in row] == [0.5, 0.7, 0.7, 0.6]
    assert [row["step"] for row in history(folder) if "measured" in row] == [0, 1, 2, 3]
    np.testing.assert_allclose(seen[0], base.encode(TEXTS), atol=1e-3)  # measured in half the precision
    np.testing.assert_allclose(Encoder(str(folder), base.store).encode(TEXTS), seen[1], atol=1e-3)
    assert np.abs(seen[1] - seen[0]).max() > 1e-2


def test_an_interrupted_training_ends_as_if_it_never_was(
    tiny_model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = [Store(tmp_path / name) for name in "ab"]
    whole = finetune(Encoder(tiny_model, stores[0]), PAIRS, TEXTS, TRAINING, None, "key")
    steps: list[int] = []
    real = contrastive.sample_negatives

    def killed_at(last: int):
        def draw(batch, generator):
            steps.append(len(batch))
            if len(steps) == last:
                raise KeyboardInterrupt
            return real(batch, generator)

        return draw

    base = Encoder(tiny_model, stores[1])
    monkeypatch.setattr(contrastive, "sample_negatives", killed_at(4))
    with pytest.raises(KeyboardInterrupt):
        finetune(base, PAIRS, TEXTS, TRAINING, None, "key")
    assert [path.name for path in (tmp_path / "b" / "checkpoints").iterdir()] == ["key-3"]
    assert base.store.get_folder("trained", "key") is None
    steps.clear()
    monkeypatch.setattr(contrastive, "sample_negatives", killed_at(0))
    resumed = finetune(base, PAIRS, TEXTS, TRAINING, None, "key")
    assert len(steps) == 1  # of four
    assert same(weights(resumed), weights(whole)) and history(resumed) == history(whole)
    assert not any((tmp_path / "b" / "checkpoints").iterdir())


def test_a_damaged_checkpoint_is_not_gone_on_from(base: Encoder, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(Store, "drop_folder", lambda *_: None)  # as if killed before it
    folder = finetune(base, PAIRS, TEXTS, TRAINING, None, "key")
    file = tmp_path / "checkpoints" / "key-4" / "state.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    run = contrastive._Run(base, PAIRS, TEXTS, TRAINING, "key")
    with pytest.warns(UserWarning, match="checkpoints/key-4 is damaged"):
        run.resume()
    assert (run.done, run.step) == (3, 3) and history(folder)[:3] == run.history
