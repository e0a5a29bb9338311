"""What language models of transformers on this machine share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from kit import timer
from kit.paths import ROOT, models
from kit.text.encoder import content_of_model
from kit.text.language_models.base import AnswersByKey, LanguageModel
from kit.text.pretrained import is_cached

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

CONFIG = "config.json"


class LocalModel(LanguageModel):
    """A model in a folder, or by its name on the Hugging Face hub, that answers greedily.

    Weights are read from safetensors only. While a timer runs cold, no stored answer counts, as a
    user who asks for the first time must wait for each. A subclass says how it is named
    (``prefix``), what it is called in an error (``sort``), and how its weights are read
    (:meth:`_read`).
    """

    prefix: ClassVar[str]
    sort: ClassVar[str]
    longest_prompt: int  # in tokens

    def __init__(self, model: str, **settings: Any) -> None:
        super().__init__(f"{self.prefix}:{model}", **settings)
        self.model_name = model

    @cached_property
    def folder(self) -> Path | None:
        """Where it lies, if it is no model of the hub."""
        return folder_of(self.model_name)

    @cached_property
    def identity(self) -> str:
        """A local model's content, or the name of one on the hub; and where prompts are cut."""
        return f"greedy {self._content}, {self.longest_prompt}"

    @property
    def _content(self) -> str:
        return self.model_name if self.folder is None else content_of_model(self.folder)

    @cached_property
    def loaded(self) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
        """The tokenizer and the model. Raises :class:`InputError` where there is none."""
        # Imported here: torch takes seconds, and a replay never needs it.
        from transformers import AutoTokenizer
        from transformers.utils import logging

        from kit.precision import device

        self.expect_ready()
        logging.disable_progress_bar()  # of loading weights, which takes no time
        source = str(self.folder or self.model_name)
        try:
            is_local = self.folder is not None or is_cached(source)
            tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=is_local)
            model = self._read(source, local_files_only=is_local, use_safetensors=True)
        except (OSError, ValueError, KeyError) as error:
            reason = " ".join(str(error).split())
            raise self.error(f"no {self.sort} model of this name or folder ({reason})") from None
        return tokenizer, model.to(device()).eval()

    def _read(self, source: str, **options: Any) -> PreTrainedModel:
        """The model, by transformers."""
        raise NotImplementedError

    def _stored(self, keys: Sequence[bytes]) -> AnswersByKey:
        if timer.is_cold() and not self.replay:
            return {}
        return super()._stored(keys)


def folder_of(name: str, parent: Path = ROOT) -> Path | None:
    """The folder that is meant: by its path, or by its name among models that were fetched.

    A folder of the project, or of its ``parent``, is found from anywhere.
    """
    folders = [Path(name), ROOT / name, parent / name, models() / name]
    return next((folder for folder in folders if folder.is_dir()), None)


def is_encoder_decoder(name: str) -> bool:
    """Whether a model reads with an encoder and writes with a decoder, as T5 does.

    Its configuration says so; of a model that is nowhere to be found nothing does.
    """
    from huggingface_hub import hf_hub_download

    folder = folder_of(name)
    try:
        file = folder and folder / CONFIG
        file = file or hf_hub_download(name, CONFIG, local_files_only=is_cached(name))
        return bool(json.loads(Path(file).read_bytes()).get("is_encoder_decoder"))
    except (OSError, ValueError):  # of the network, of a name, or of what is no JSON
        return False
