"""Sequence-to-sequence models of transformers, such as T5, on this machine."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from kit.paths import ROOT
from kit.store import Store
from kit.text.encoder import content_of_model
from kit.text.language_models.base import Answer, LanguageModel

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_BATCH = 64
MOST_NAMES = 40  # of a prompt; what goes beyond is NEW
NEW, YEAR = "<new>", "<year>"
PLACEHOLDERS = (NEW, YEAR, *(f"<n{number}>" for number in range(MOST_NAMES)))
TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|[^\w\s]")
_NUMBERED = re.compile(r"<n(\d+)>|<new>|<year>")


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
        content = self.model_name if self._folder is None else content_of_model(self._folder)
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


class Names:
    """Names as numbers, so that a small model can copy a name that it has never met.

    It reads and writes ``<n0>`` for the first name of the prompt, ``<n1>`` for the second …, and they are put back into
    what it wrote. A name is a word with a capital letter that is not, in lower case, a word of the ``vocabulary``.
    Numbers of four digits are years.
    """

    def __init__(self, vocabulary: Container[str]) -> None:
        self.vocabulary = vocabulary
        self.numbers: dict[str, int] = {}

    def hide(self, text: str, *, learn: bool) -> str:
        """The text in lower case with spaces between all tokens, and a placeholder for each name.

        ``learn``: a name that has no number yet gets the next one; otherwise, and when there are too many, it is new.
        """
        return " ".join(part for token in TOKEN.findall(text) for part in self._hidden(token, learn))

    def _hidden(self, token: str, learn: bool) -> list[str]:
        if token.isdecimal():
            return [YEAR if len(token) == 4 else token]
        name, mark, owner = token.replace("’", "'").partition("'s")
        if len(name) < 2 or not name[0].isupper() or name.lower() in self.vocabulary:
            return [token.lower()]
        if learn and name not in self.numbers and len(self.numbers) < MOST_NAMES:
            self.numbers[name] = len(self.numbers)
        number = self.numbers.get(name)
        return [NEW if number is None else f"<n{number}>", *([mark + owner] if mark else [])]

    def show(self, text: str) -> str:
        """The names in the place of their placeholders; those of new names and of years are left out."""
        names = dict(enumerate(self.numbers))
        found = _NUMBERED.sub(lambda match: names.get(int(match[1]), "") if match[1] else "", text)
        return " ".join(found.split())
