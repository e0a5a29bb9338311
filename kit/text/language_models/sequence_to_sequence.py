"""A sequence-to-sequence model of transformers on this machine, such as T5."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

from kit.text.language_models.answers import Answer, Prompt, as_request
from kit.text.language_models.base import AnswersByIndex
from kit.text.language_models.local import LocalModel

if TYPE_CHECKING:
    from transformers import PreTrainedModel

#: In a prompt: the answer begins with what stands behind it.
BEGUN = "<answer>"
_BATCH = 64  # prompts


class SequenceToSequence(LocalModel):
    """A model of one task, such as T5, which reads plain text. A long prompt loses its end."""

    prefix = "t5"
    sort = "sequence-to-sequence"
    takes_instructions = False
    is_recorded = False  # it answers alike wherever its weights are
    longest_prompt = 512

    @cached_property
    def reads_placeholders(self) -> bool:
        """Whether its vocabulary has ``<n0>``, which stands for a name; no other model's has."""
        vocabulary = self.folder and self.folder / "tokenizer.json"
        if not (vocabulary and vocabulary.is_file()):
            return False
        return '"<n0>"' in vocabulary.read_text("utf-8")

    def _read(self, source: str, **options: Any) -> PreTrainedModel:
        import torch
        from transformers import AutoModelForSeq2SeqLM

        return AutoModelForSeq2SeqLM.from_pretrained(source, dtype=torch.float32, **options)

    def _ask(self, prompts: Sequence[Prompt]) -> AnswersByIndex:
        tokenizer, _ = self.loaded
        texts = []
        begun = []  # tokens that the answers begin with
        for prompt in prompts:
            text, _, begun_text = as_request(prompt).plain_text.partition(BEGUN)
            texts.append(text)
            begun.append(tokenizer(begun_text.strip(), add_special_tokens=False)["input_ids"])

        # Answers that begin with as many tokens are written together, of these those to prompts of
        # like length, as they need less padding.
        order = sorted(range(len(texts)), key=lambda index: (len(begun[index]), len(texts[index])))
        for _, group in groupby(order, key=lambda index: len(begun[index])):
            indices = list(group)
            for start in range(0, len(indices), _BATCH):
                batch = indices[start : start + _BATCH]
                answers = self._write(
                    [texts[index] for index in batch],
                    [begun[index] for index in batch],
                )
                yield dict(zip(batch, answers))

    def _write(self, texts: list[str], begun: list[list[int]]) -> Iterator[Answer]:
        """The answers to some prompts, which begin with tokens, the same number in each."""
        import torch

        start = time.perf_counter()
        tokenizer, model = self.loaded
        tokens = tokenizer(
            texts,
            truncation=True,
            max_length=self.longest_prompt,
            padding=True,
            return_tensors="pt",
        ).to(model.device)
        started = [[model.config.decoder_start_token_id, *first] for first in begun]
        with torch.inference_mode():
            written = model.generate(
                input_ids=tokens["input_ids"],
                attention_mask=tokens["attention_mask"],
                decoder_input_ids=torch.tensor(started, device=model.device),
                max_new_tokens=self.longest_answer,
                do_sample=False,
                num_beams=1,
            )

        written = written[:, len(started[0]) :]  # (prompts, tokens); behind the end is padding
        answers = tokenizer.batch_decode(written, skip_special_tokens=True)
        n_read = tokens["attention_mask"].sum(1).tolist()
        n_written = (written != model.config.pad_token_id).sum(1).tolist()
        is_ended = (written == model.config.eos_token_id).any(1).tolist()
        seconds = round((time.perf_counter() - start) / len(texts), 4)
        for answer, *counts, ended in zip(answers, n_read, n_written, is_ended):
            finish_reason = "stop" if ended else "length"
            yield Answer(answer.strip(), *counts, seconds, finish_reason)
