"""A sequence-to-sequence model: what transformers itself would write, kept and counted."""

import shutil
from pathlib import Path

import pytest
import torch
from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

from kit import timer
from kit.errors import InputError
from kit.store import Store
from kit.text import language_model
from kit.text.language_models import Request, SequenceToSequence

PROMPTS = [
    "Where is the river that rises in the chalk hills?",
    "When?",
    "Who wrote the book of the river?",
]


@pytest.fixture
def model(tiny_t5: Path, tmp_path: Path) -> SequenceToSequence:
    return SequenceToSequence(str(tiny_t5), longest_answer=7, store=Store(tmp_path))


def test_it_writes_what_transformers_writes(
    model: SequenceToSequence, tiny_t5: Path, tokenizer: PreTrainedTokenizerFast
) -> None:
    answers = model.generate(PROMPTS, progress=False)
    reference = T5ForConditionalGeneration.from_pretrained(tiny_t5).eval()
    for prompt, answer in zip(PROMPTS, answers):
        read = tokenizer(prompt, return_tensors="pt")
        (written,) = reference.generate(**read, max_new_tokens=7, do_sample=False)
        assert answer.text == tokenizer.decode(written, skip_special_tokens=True)
        assert answer.prompt_tokens == read["input_ids"].shape[1]
        assert 1 <= answer.answer_tokens <= 7
        assert answer.is_cut == (tokenizer.eos_token_id not in written[1:])
    assert len({answer.text for answer in answers}) > 1
    # A replay needs no weights in memory.
    replay = language_model(f"replay:t5:{tiny_t5}", longest_answer=7, store=model.store)
    assert replay.generate(PROMPTS) == answers
    assert "loaded" not in vars(replay)


def test_examples_stand_before_the_prompt(model: SequenceToSequence) -> None:
    request = Request("When?", system="Say when.", examples=(("Who?", "He."),))
    (answer,) = model.generate([request], progress=False)
    (same,) = model.generate(["Say when.\n\nWho?\n\nHe.\n\nWhen?"], progress=False)
    assert answer.text == same.text and answer.prompt_tokens == same.prompt_tokens > 4


def test_stored_answers_do_not_count_while_a_timer_runs_cold(model: SequenceToSequence) -> None:
    answers = model.generate(PROMPTS, progress=False)
    with timer.running(cold=True):
        again = model.generate(PROMPTS, progress=False)
    assert [answer.text for answer in again] == [answer.text for answer in answers]
    assert model.usage()["calls"].tolist() == [6, 0]
    with timer.running(cold=False):
        model.generate(PROMPTS, progress=False)
    assert model.usage()["calls"].tolist() == [6, 3]


def test_a_model_is_known_by_its_content(
    model: SequenceToSequence, tiny_t5: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(tiny_t5, copy)
    assert SequenceToSequence(str(copy)).identity == model.identity
    weights = copy / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert SequenceToSequence(str(copy)).identity != model.identity


def test_a_long_prompt_loses_its_end(model: SequenceToSequence) -> None:
    model.longest_prompt = 5
    first, second = model.generate(
        ["river hill chalk book", "river hill chalk stone and more"], progress=False
    )
    assert (first.text, first.prompt_tokens) == (second.text, 5)


def test_nothing_is_unpickled(tiny_t5: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pickled"
    shutil.copytree(tiny_t5, folder)
    (folder / "model.safetensors").unlink()
    state = T5ForConditionalGeneration(T5Config.from_pretrained(tiny_t5)).state_dict()
    torch.save(state, folder / "pytorch_model.bin")
    (tmp_path / "empty").mkdir()
    for name in ("pickled", "empty"):
        with pytest.raises(
            InputError, match="no sequence-to-sequence model of this name or folder"
        ) as error:
            SequenceToSequence(str(tmp_path / name), store=Store(tmp_path)).generate(
                PROMPTS, progress=False
            )
        assert "\n" not in str(error.value)
