"""An adapter: its loss by hand, that it learns, and that what is kept answers as it did."""

from functools import partial
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch.nn.functional import log_softmax

from kit.learning.adapters import (
    WEIGHTS,
    Adapter,
    AdapterSettings,
    Pair,
    adapted,
    answer_loss,
    foreseen,
    released,
)
from kit.store import Store
from kit.text.language_models import CausalModel, Request

PAIRS = [
    Pair(Request("Who wrote the book?"), "an author"),
    Pair(Request("When?"), "winter"),
    Pair(Request("Where does the river rise?"), "hills"),
]
SETTINGS = AdapterSettings(epochs=60, batch=3, learning_rate=3e-2, checks=1)


@pytest.fixture
def base(chat_model: Path, tmp_path: Path) -> CausalModel:
    return CausalModel(str(chat_model), longest_answer=6, store=Store(tmp_path))


@pytest.fixture
def adapter(base: CausalModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Adapter:
    monkeypatch.setenv("KIT_CACHE", str(tmp_path))
    return Adapter("reader", base, SETTINGS)


@pytest.mark.parametrize("device", ["cpu", "cuda"])  # one by one, or together
def test_the_loss_is_of_the_answers_tokens_alone(
    device: str, base: CausalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kit.learning.adapters.device", lambda: device)
    examples = []
    for pair in PAIRS:  # of different lengths
        answer = base.tokens_of_answer(pair.answer)
        assert answer[-1] == 102  # the end is learned, too
        examples.append((base.tokens_of(pair.request) + answer, len(answer)))

    _, model = base.loaded
    model.float()
    expected = []
    for tokens, length in examples:
        with torch.no_grad():
            logits = model(torch.tensor([tokens])).logits[0]
        likelihoods = log_softmax(logits, -1)
        for position in range(len(tokens) - length, len(tokens)):
            expected.append(-likelihoods[position - 1, tokens[position]].item())
    mean = sum(expected) / len(expected)
    assert answer_loss(partial(foreseen, model), examples).item() == pytest.approx(mean, rel=1e-4)


def test_an_untrained_adapter_changes_nothing(base: CausalModel) -> None:
    pair = PAIRS[0]
    answer = base.tokens_of_answer(pair.answer)
    batch = [(base.tokens_of(pair.request) + answer, len(answer))]
    _, model = base.loaded
    model.float()
    before = answer_loss(partial(foreseen, model), batch).item()
    changed = adapted(base, SETTINGS)
    assert answer_loss(partial(foreseen, changed), batch).item() == pytest.approx(before)

    released(changed)
    assert "lora" not in str(model)


def test_it_learns_and_what_is_kept_answers(
    adapter: Adapter, base: CausalModel, tmp_path: Path
) -> None:
    folder = adapter.learn(PAIRS, PAIRS)
    assert {weight.dtype for weight in load_file(folder / WEIGHTS).values()} == {torch.float16}
    named = (folder / "adapter_config.json").read_text("utf-8")
    assert base.model_name in named  # of a model that was fetched its name, and no folder

    learned = CausalModel(f"{base.model_name}+{folder}", longest_answer=8, store=Store(tmp_path))
    answers = learned.generate([pair.request for pair in PAIRS], progress=False)
    assert [answer.text for answer in answers] == [pair.answer for pair in PAIRS]

    # Learned once: the same pairs and settings are found.
    again = Adapter("reader", CausalModel(base.model_name, store=base.store), SETTINGS)
    again.store = adapter.store
    assert again.learn(PAIRS, PAIRS) == folder
    assert "loaded" not in vars(again.base)
