"""A causal language model of transformers on this machine, such as SmolLM2."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from kit.errors import note
from kit.paths import ADAPTERS
from kit.text.encoder import content_of_model
from kit.text.language_models.answers import Answer, Prompt, Request, as_request, split_thought
from kit.text.language_models.base import AnswersByIndex
from kit.text.language_models.local import LocalModel, folder_of
from kit.text.language_models.smollm2 import SMOLLM2

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

_TOKENS_AT_ONCE = 4_096  # of a batch, padding included


class CausalModel(LocalModel):
    """A model that chats, alone or with an adapter: ``NAME-OR-FOLDER+ADAPTER``.

    It is asked as its chat template has it; a model without one goes on with the plain text. An
    adapter is a folder of peft's, by its path or by its name in ``data/adapters``. Of a prompt that
    is too long, the beginning is left out: the question stands at the end.
    """

    prefix = "hf"
    sort = "causal language"
    longest_prompt = 4_096

    def __init__(self, model: str, **settings: Any) -> None:
        super().__init__(model, **settings)
        self.model_name, _, self.adapter_name = model.partition("+")
        self.takes_instructions = not self.adapter_name  # else it knows its task

    @cached_property
    def adapter(self) -> Path | None:
        """The adapter's folder. Raises :class:`InputError` where it is named and not there."""
        folder = folder_of(self.adapter_name, ADAPTERS) if self.adapter_name else None
        if self.adapter_name and folder is None:
            raise self.error(f"no adapter {self.adapter_name!r}: expected a folder, or a name")
        return folder

    @property
    def _content(self) -> str:
        """That of the model, and of the adapter.

        What is fetched is known before it is there: its answers are replayed on any machine.
        """
        is_fetched = self.model_name == SMOLLM2.name
        content = SMOLLM2.sha256 if is_fetched else super()._content
        return f"{content} {content_of_model(self.adapter)}" if self.adapter else content

    def expect_ready(self) -> None:
        if self.model_name == SMOLLM2.name and self.folder is None and not self.replay:
            raise self.error("it is not here yet: kit data fetch smollm2 brings it")

    def _read(self, source: str, **options: Any) -> PreTrainedModel:
        import torch
        from transformers import AutoModelForCausalLM

        from kit.precision import has_bfloat16

        options["dtype"] = torch.bfloat16 if has_bfloat16() else torch.float32
        # torch's own attention answers otherwise in bfloat16 on a CPU where a prompt is padded.
        options["attn_implementation"] = "eager"
        model = AutoModelForCausalLM.from_pretrained(source, **options)
        if self.adapter:
            from peft import PeftModel

            model = PeftModel.from_pretrained(model, str(self.adapter))
            model = model.merge_and_unload()
        return model

    # ---- how it is asked

    def _ask(self, prompts: Sequence[Prompt]) -> AnswersByIndex:
        by_stop = defaultdict(dict)  # the tokens of those that end alike, by their index
        for index, request in enumerate(map(as_request, prompts)):
            if request.choices:
                yield {index: self._choose(request)}
            else:
                by_stop[request.stop][index] = self.tokens_of(request)
        for stop, tokens in by_stop.items():
            for batch in _batches(tokens):
                yield dict(zip(batch, self._write([tokens[index] for index in batch], stop)))

    def tokens_of(self, request: Request) -> list[int]:
        """What the model reads, cut to the longest prompt."""
        tokenizer, _ = self.loaded
        tokens = self._templated(request)
        n_over = len(tokens) - self.longest_prompt
        if n_over > 0:
            note(f"{self.name} reads {self.longest_prompt:,} tokens: prompts lose their beginning")
            kept = tokenizer(request.prompt, add_special_tokens=False)["input_ids"][n_over:]
            tokens = self._templated(replace(request, prompt=tokenizer.decode(kept)))
        return tokens

    def tokens_of_answer(self, answer: str) -> list[int]:
        """What the model would have written, its end included."""
        tokenizer, _ = self.loaded
        return [*tokenizer(answer, add_special_tokens=False)["input_ids"], self._ends[0]]

    def _templated(self, request: Request) -> list[int]:
        tokenizer, _ = self.loaded
        if not tokenizer.chat_template:
            return tokenizer(request.plain_text)["input_ids"]
        return tokenizer.apply_chat_template(
            request.messages,
            add_generation_prompt=True,
            enable_thinking=False,
            return_dict=False,
        )

    def _write(self, prompts: Sequence[Sequence[int]], stop: str) -> Iterator[Answer]:
        """The answers to some prompts, given as tokens, each up to a text that ends it."""
        import torch
        from transformers import GenerationConfig

        start = time.perf_counter()
        tokenizer, model = self.loaded
        ends = self._ends
        greedy = GenerationConfig(
            max_new_tokens=self.longest_answer,
            do_sample=False,
            eos_token_id=ends,
            pad_token_id=ends[0],
            stop_strings=stop or None,
        )

        longest = max(map(len, prompts))
        n_pads = [longest - len(prompt) for prompt in prompts]
        padded = [[ends[0]] * n + [*prompt] for n, prompt in zip(n_pads, prompts)]
        is_token = torch.arange(longest) >= torch.tensor(n_pads)[:, None]
        with torch.inference_mode():
            written = model.generate(
                torch.tensor(padded, device=model.device),
                attention_mask=is_token.long().to(model.device),
                generation_config=greedy,
                tokenizer=tokenizer,
            )

        seconds = round((time.perf_counter() - start) / len(prompts), 4)
        for prompt, answer in zip(prompts, written[:, longest:].tolist()):
            end = next((n for n, token in enumerate(answer) if token in ends), None)
            reply = tokenizer.decode(answer[:end], skip_special_tokens=True)
            is_ended = end is not None
            if stop and stop in reply:
                reply, _, _ = reply.partition(stop)
                is_ended = True
            text, thought = split_thought(reply)
            yield Answer(
                text.strip(),
                len(prompt),
                len(answer) if end is None else end + 1,
                seconds,
                "stop" if is_ended else "length",
                thought,
            )

    def _choose(self, request: Request) -> Answer:
        """The likeliest of the choices, all read in one pass behind the prompt."""
        import torch

        start = time.perf_counter()
        _, model = self.loaded
        prompt = self.tokens_of(request)
        choices = list(map(self.tokens_of_answer, request.choices))
        positions, sees = _side_by_side(len(prompt), list(map(len, choices)))
        mask = torch.zeros(sees.shape, dtype=model.dtype)
        mask = mask.masked_fill(~sees, torch.finfo(model.dtype).min)
        with torch.inference_mode():
            logits = model(
                torch.tensor([[*prompt, *chain.from_iterable(choices)]], device=model.device),
                attention_mask=mask[None, None].to(model.device),
                position_ids=positions[None].to(model.device),
                logits_to_keep=1 + sum(map(len, choices)),
            ).logits[0]
        # Foreseen at the end of the prompt, then at each token of the choices: (…, vocabulary).
        foreseen = logits.float().log_softmax(-1)

        log_likelihoods = []
        behind = 1
        for choice in choices:
            before = [0, *range(behind, behind + len(choice) - 1)]
            log_likelihoods.append(round(foreseen[before, choice].sum().item(), 4))
            behind += len(choice)
        likeliest = max(range(len(choices)), key=log_likelihoods.__getitem__)
        return Answer(
            request.choices[likeliest],
            len(prompt),
            0,
            round(time.perf_counter() - start, 4),
            "stop",
            log_likelihoods=tuple(log_likelihoods),
        )

    @cached_property
    def _ends(self) -> list[int]:
        """Tokens that end an answer."""
        tokenizer, model = self.loaded
        ends = model.generation_config.eos_token_id
        ends = ends if isinstance(ends, list) else [ends]
        return list(
            dict.fromkeys(end for end in (tokenizer.eos_token_id, *ends) if end is not None)
        )


def _batches(tokens: Mapping[int, Sequence[int]]) -> Iterator[list[int]]:
    """The indices of prompts that are answered together, the longest first.

    So it shows at once what does not fit into the memory.
    """
    batch = []
    for index in sorted(tokens, key=lambda index: -len(tokens[index])):
        if batch and len(tokens[batch[0]]) * (len(batch) + 1) > _TOKENS_AT_ONCE:
            yield batch
            batch = []
        batch.append(index)
    yield batch


def _side_by_side(n_before: int, lengths: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Where tokens stand, (tokens,), and what each sees, (tokens, tokens), of texts in a row.

    They stand behind a common beginning as if there were only one of them: a text sees what was
    before all, and itself.
    """
    import torch

    positions = [*range(n_before)]
    owners = [0] * n_before  # of each token its text; 0 is the beginning
    for text, length in enumerate(lengths, start=1):
        positions += range(n_before, n_before + length)
        owners += [text] * length
    owner = torch.tensor(owners)
    sees = (owner == 0) | (owner == owner[:, None])
    return torch.tensor(positions), sees.tril()
