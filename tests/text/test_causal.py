"""A causal language model: what transformers itself would write, kept, counted and replayed."""

import shutil
from pathlib import Path

import pytest
import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from kit import paths
from kit.errors import InputError
from kit.store import Store
from kit.text import language_model
from kit.text.language_models import Request
from kit.text.language_models.causal import CausalModel
from kit.text.language_models.smollm2 import SMOLLM2

PROMPTS = ["Where is the river that rises in the chalk hills?", "When?", "Who wrote the book?"]


@pytest.fixture
def model(chat_model: Path, tmp_path: Path) -> CausalModel:
    return language_model(f"hf:{chat_model}", longest_answer=7, store=Store(tmp_path))


@pytest.fixture
def adapter(chat_model: Path, tmp_path: Path) -> Path:
    """The folder of an adapter that changes every answer."""
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(1)
    settings = LoraConfig(r=2, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    adapted = get_peft_model(LlamaForCausalLM.from_pretrained(chat_model), settings)
    adapted.save_pretrained(tmp_path / "adapter")
    return tmp_path / "adapter"


def test_it_writes_what_transformers_writes_to_each_prompt_alone(
    model: CausalModel, chat_model: Path, tokenizer: PreTrainedTokenizerFast
) -> None:
    answers = model.generate(PROMPTS, progress=False)
    dtype = model.loaded[1].dtype
    reference = LlamaForCausalLM.from_pretrained(chat_model, dtype=dtype).eval()
    for prompt, answer in zip(PROMPTS, answers):
        read = tokenizer.encode(prompt, add_special_tokens=False, return_tensors="pt")
        [written] = reference.generate(read, max_new_tokens=7, do_sample=False)
        tokens = written[read.shape[1] :].tolist()
        end = tokens.index(102) if 102 in tokens else None
        assert answer.text == tokenizer.decode(tokens[:end], skip_special_tokens=True).strip()
        assert answer.prompt_tokens == read.shape[1]
        assert answer.answer_tokens == (7 if end is None else end + 1)
        assert answer.is_cut == (end is None)
    assert len({answer.text for answer in answers}) == 3


def test_answers_are_replayed_without_weights(model: CausalModel) -> None:
    answers = model.generate(PROMPTS, progress=False)
    replay = language_model(f"replay:{model.name}", longest_answer=7, store=model.store)
    assert replay.generate(PROMPTS) == answers
    assert "loaded" not in vars(replay)


def test_it_is_asked_as_its_chat_template_has_it(model: CausalModel) -> None:
    request = Request("When?", system="Say when.", examples=(("Who?", "He."),))
    [answer] = model.generate([request], progress=False)
    [same] = model.generate(["Say when.Who?He.When?"], progress=False)  # as that of the fixture
    assert answer.text == same.text and answer.prompt_tokens == same.prompt_tokens


def test_a_model_without_a_template_goes_on_with_the_text(
    model: CausalModel, chat_model: Path, tmp_path: Path
) -> None:
    plain = tmp_path / "plain"
    shutil.copytree(chat_model, plain, ignore=shutil.ignore_patterns("*.jinja", "*.log"))
    without = CausalModel(str(plain), store=Store(tmp_path))
    assert without.loaded[0].chat_template is None
    [answer] = without.generate(["When?"], progress=False)
    assert answer.prompt_tokens == 4  # with [CLS] and [SEP], which are the tokenizer's own


def test_an_answer_ends_before_a_text_that_stops_it(model: CausalModel) -> None:
    [whole] = model.generate([PROMPTS[0]], progress=False)
    stop = whole.text.split()[2]
    [answer] = model.generate([Request(PROMPTS[0], stop=stop)], progress=False)
    assert answer.text == whole.text.partition(stop)[0].strip()
    assert answer.finish_reason == "stop" and answer.answer_tokens < whole.answer_tokens
    answers = model.generate(["When?", Request("When?", stop="never"), *PROMPTS], progress=False)
    assert answers[0].text == answers[1].text == answers[3].text


def test_of_choices_it_takes_the_likeliest(model: CausalModel) -> None:
    choices = ("yes", "the river that rises in the hills", "no")
    [answer] = model.generate([Request(PROMPTS[0], choices=choices)], progress=False)
    expected = []
    for choice in choices:  # each alone, behind the prompt
        prompt = model.tokens_of(Request(PROMPTS[0]))
        tokens = model.tokens_of_answer(choice)
        with torch.no_grad():
            logits = model.loaded[1](torch.tensor([prompt + tokens])).logits[0]
        foreseen = logits.float().log_softmax(-1)[len(prompt) - 1 : -1]
        expected.append(foreseen.gather(1, torch.tensor(tokens)[:, None]).sum().item())
    assert answer.log_likelihoods == pytest.approx(expected, rel=2e-2)
    assert answer.text == choices[expected.index(max(expected))]


def test_a_long_prompt_loses_its_beginning(model: CausalModel) -> None:
    model.longest_prompt = 4
    prompts = ["stone and more: river hill chalk book", "river hill chalk book"]
    with pytest.warns(UserWarning, match="reads 4 tokens: prompts lose their beginning"):
        first, second = model.generate(prompts, progress=False)
    assert (first.text, first.prompt_tokens) == (second.text, 4)


def test_an_adapter_answers_otherwise_and_is_known_by_its_content(
    model: CausalModel, adapter: Path
) -> None:
    adapted = CausalModel(f"{model.model_name}+{adapter}", longest_answer=7, store=model.store)
    assert adapted.identity != model.identity
    assert model.takes_instructions and not adapted.takes_instructions
    plain = [answer.text for answer in model.generate(PROMPTS, progress=False)]
    assert [answer.text for answer in adapted.generate(PROMPTS, progress=False)] != plain

    weights = adapter / "adapter_model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    again = CausalModel(f"{model.model_name}+{adapter}")
    assert again.identity not in (adapted.identity, model.identity)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("hf:no-such/folder-here/at-all", "no causal language model of this name or folder"),
        ("hf:{model}+nothing", "no adapter 'nothing': expected a folder, or a name"),
    ],
)
def test_what_is_not_there_is_told_in_one_line(
    name: str, reason: str, chat_model: Path, tmp_path: Path
) -> None:
    missing = language_model(name.format(model=chat_model), store=Store(tmp_path))
    with pytest.raises(InputError, match=reason) as error:
        missing.generate(PROMPTS, progress=False)
    assert "\n" not in str(error.value)


def test_the_fetched_model_is_known_before_it_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(paths, "writable", lambda: tmp_path)
    monkeypatch.chdir(tmp_path)
    missing = language_model("hf:smollm2", store=Store(tmp_path))
    assert missing.identity == f"greedy {SMOLLM2.sha256}, 4096"
    for ask in (missing.expect_ready, lambda: missing.generate(PROMPTS, progress=False)):
        with pytest.raises(InputError, match="not here yet: kit data fetch smollm2 brings it"):
            ask()
    language_model("replay:hf:smollm2", store=Store(tmp_path)).expect_ready()


@pytest.mark.model
def test_a_real_model_answers_a_batch_as_it_answers_one(smollm2: str, tmp_path: Path) -> None:
    prompts = ["What is the capital of France?", "Name three rivers of Germany and their sources."]
    model = language_model(smollm2, longest_answer=12, store=Store(tmp_path))
    together = model.generate(prompts, progress=False)
    assert "Paris" in together[0].text
    assert not together[0].is_cut and together[1].is_cut
    [alone] = CausalModel("smollm2", longest_answer=12, store=Store(tmp_path / "other")).generate(
        prompts[:1], progress=False
    )
    assert alone.text == together[0].text
