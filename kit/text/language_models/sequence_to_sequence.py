"""Sequence-to-sequence models of transformers, such as T5, on this machine."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from kit.paths import ROOT
from kit.store import Store
from kit.text.language_models.base import Answer, LanguageModel
from kit.text.language_models.names import Names

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_BATCH = 64
_MODEL_FILES = {".json", ".txt", ".model", ".safetensors"}


class SequenceToSequence(LanguageModel):
    """A sequence-to-sequence model in a folder, or by its name on the Hugging Face hub; it answers greedily.

    Weights are read from safetensors only, in float32, and run on a CUDA device where there is one. Of a prompt longer
    than ``longest_prompt`` tokens, the end is cut off.
    """

    def __init__(
        self,
        model: str,
        *,
        longest_prompt: int = 512,
        longest_answer: int = 64,
        replay: bool = False,
        store: Store | None = None,
    ) -> None:
        super().__init__(f"t5:{model}", longest_answer=longest_answer, replay=replay, store=store)
        self.model_name, self.longest_prompt = model, longest_prompt

    @cached_property
    def _folder(self) -> Path | None:
        """Where a model that is not on the hub lies; a folder of the project is found from anywhere."""
        folders = (Path(self.model_name), ROOT / self.model_name)
        return next((folder for folder in folders if folder.is_dir()), None)

    @cached_property
    def identity(self) -> str:
        """The content of a local model's files, or the name of one on the hub; and where prompts are cut."""
        content = self.model_name if self._folder is None else _digest(self._folder)
        return f"greedy {content}, {self.longest_prompt}"

    @cached_property
    def _loaded(self) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
        return self.load()

    def load(self) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
        """A tokenizer and a model of one's own. Raises :class:`InputError` where there is none."""
        # Imported here: torch takes seconds, and a replay never needs it.
        import torch
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()  # of loading weights, which takes no time
        if self._folder is not None:
            os.environ.setdefault("HF_HUB_OFFLINE", "1")
        source = str(self._folder or self.model_name)
        try:
            local = self._folder is not None
            tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=local)
            model = AutoModelForSeq2SeqLM.from_pretrained(
                source, local_files_only=local, use_safetensors=True, dtype=torch.float32
            )
        except (OSError, ValueError, KeyError) as error:
            what = " ".join(str(error).split())
            raise self.error(f"no sequence-to-sequence model of this name or folder ({what})") from None
        return tokenizer, model.to("cuda" if torch.cuda.is_available() else "cpu").eval()

    def _ask(self, prompts: Sequence[str]) -> Iterator[Mapping[int, Answer]]:
        import torch

        tokenizer, model = self._loaded
        vocabulary = vocabulary_beside_names(tokenizer, model)
        by_length = sorted(range(len(prompts)), key=lambda place: len(prompts[place]))  # hardly any padding
        for start in range(0, len(prompts), _BATCH):
            places = by_length[start : start + _BATCH]
            begun = time.perf_counter()
            names = [Names(vocabulary) if vocabulary else None for _ in places]
            tokens = tokenizer(
                [of.hide(prompts[place], learn=True) if of else prompts[place] for of, place in zip(names, places)],
                truncation=True,
                max_length=self.longest_prompt,
                padding=True,
                return_tensors="pt",
            ).to(model.device)
            mask = tokens["attention_mask"]
            with torch.inference_mode():
                written = model.generate(
                    input_ids=tokens["input_ids"],
                    attention_mask=mask,
                    max_new_tokens=self.longest_answer,
                    do_sample=False,
                    num_beams=1,
                )
            texts = tokenizer.batch_decode(written, skip_special_tokens=True)
            texts = [of.show(text) if of else text.strip() for of, text in zip(names, texts)]
            # The first place is where the decoder starts; after the end there is padding.
            lengths = (written[:, 1:] != model.config.pad_token_id).sum(1).tolist()
            seconds = round((time.perf_counter() - begun) / len(places), 4)
            yield {
                place: Answer(text, read, length, seconds)
                for place, text, read, length in zip(places, texts, mask.sum(1).tolist(), lengths)
            }


def vocabulary_beside_names(tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel) -> Container[str] | None:
    """The words that are no names, if this model (its configuration says so) reads and writes names as numbers."""
    return tokenizer.get_vocab() if getattr(model.config, "numbered_names", False) else None


def _digest(folder: Path) -> str:
    """A digest of the names and contents of a model's files."""
    sink = hashlib.blake2b(digest_size=16)
    for file in sorted(file for file in folder.rglob("*") if file.suffix in _MODEL_FILES):
        sink.update(file.relative_to(folder).as_posix().encode())
        with file.open("rb") as source:
            sink.update(hashlib.file_digest(source, "blake2b").digest())
    return sink.hexdigest()
