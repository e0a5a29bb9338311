"""An encoder in two parts: its lower layers, which stay and read each text once, and the upper ones, which learn."""

import copy
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from kit.learning.training import mixed_precision
from kit.text.encoder import Encoder

_TOGETHER = 12  # texts that are encoded at once
_KEPT = 8_000  # texts
#: What so many lower layers of an encoder made of texts so far, by its identity.
_states = lru_cache(maxsize=1)(lambda encoder, layers: {})


class PartlyFrozenEncoder(Encoder):
    """A copy of an encoder whose upper ``layers`` learn; all where that is 0 or no fewer, or their place is not known.

    That place is BERT's, RoBERTa's and MPNet's, ``encoder.layer``. ``upper`` is the part that learns. What the lower
    one makes of a text, float32 of shape (tokens, hidden size), is kept for all trainings of this process: of 8,000
    texts, 1.2 GB where they have 100 tokens of 384 numbers. Vectors are stored once the model is, by :meth:`keep`.
    """

    def __init__(self, base: Encoder, layers: int) -> None:
        super().__init__("in training", base.store)
        weights = {id(weight): weight for weight in base.model.parameters()}
        self.upper, self.lower = (
            copy.deepcopy(base.model),
            copy.deepcopy(base.model, weights),
        )  # shares the weights
        network, below = self.upper[0].auto_model, self.lower[0].auto_model
        held = getattr(getattr(network, "encoder", None), "layer", ())
        self.split = len(held) - layers if 0 < layers < len(held) else 0
        self.known = {}
        if self.split:
            self.known = _states(base.identity, self.split)
            del (
                network.embeddings
            )  # in their place come the lower part's states, which hold the positions
            network.embeddings = lambda inputs_embeds, **_: inputs_embeds
            network.encoder.layer, below.encoder.layer = (
                held[self.split :],
                below.encoder.layer[: self.split],
            )

    def keep(self, folder: Path) -> None:
        """Be the encoder that is stored in a folder; it learns no more."""
        self.name, self._folder = str(folder), folder

    def write(self, folder: Path) -> None:
        """The two parts as one model again, as sentence-transformers has it."""
        model = copy.deepcopy(self.upper)
        if self.split:
            network, below = model[0].auto_model, self.lower[0].auto_model
            network.embeddings, network.encoder.layer = (
                below.embeddings,
                below.encoder.layer + network.encoder.layer,
            )
        model.save_pretrained(str(folder), create_model_card=False)

    def encode(self, texts: Sequence[str], **how: Any) -> np.ndarray:
        return (
            super().encode(texts, **how)
            if self._folder
            else self._embed(list(texts), how.get("role", "document"))
        )

    def _embed(self, texts: list[str], role: str) -> np.ndarray:
        if self._folder and role == "query":  # what a user asks is read from its first layer on
            return super()._embed(texts, role)
        with torch.no_grad():
            return torch.nn.functional.normalize(self.vectors(texts, role)).cpu().numpy()

    def vectors(
        self, texts: Sequence[str], role: str = "document", tokens: int | None = None
    ) -> Tensor:
        """Of shape (texts, dimension), as the model pools them: with gradients, where these are asked for.

        What the upper part reads of a text are its first ``tokens``, by default all.
        """
        return torch.stack(
            [found["sentence_embedding"] for found in self._each(texts, role, tokens)]
        ).float()

    def states(
        self, texts: Sequence[str], role: str = "document", tokens: int | None = None
    ) -> list[Tensor]:
        """Of each text the states of its tokens, (tokens, dimension), before they are pooled; as :meth:`vectors`."""
        found = self._each(texts, role, tokens)
        return [of["token_embeddings"][of["attention_mask"].bool()].float() for of in found]

    def _each(self, texts: Sequence[str], role: str, tokens: int | None) -> list[dict[str, Tensor]]:
        """What the model makes of each text."""
        texts = [(self.upper.prompts.get(role) or "") + text for text in texts]
        # By length and few at once, so that hardly any padding is computed.
        order, found = sorted(range(len(texts)), key=lambda place: len(texts[place])), {}
        with mixed_precision():  # the encoder alone: a loss in bfloat16 has two digits
            for start in range(0, len(order), _TOGETHER):
                part = order[start : start + _TOGETHER]
                read = self._read([texts[place] for place in part])
                read |= {
                    name: of[:, :tokens]
                    for name, of in read.items()
                    if isinstance(of, torch.Tensor)
                }
                made = {
                    name: of
                    for name, of in self.upper(read).items()
                    if isinstance(of, torch.Tensor)
                }
                found |= {
                    place: {name: of[row] for name, of in made.items()}
                    for row, place in enumerate(part)
                }
        return [found[place] for place in range(len(texts))]

    def _read(self, texts: list[str]) -> dict[str, Tensor]:
        """For the upper part: the lower one's states of shape (texts, tokens, hidden size), and a mask; or tokens."""
        from sentence_transformers.util import batch_to_device

        found = {text: self.known[text] for text in texts if text in self.known}
        if new := [text for text in texts if text not in found]:
            features = batch_to_device(self.lower.preprocess(new), self.lower.device)
            if not self.split:
                return features
            with torch.no_grad():
                states = self.lower[0](features)["token_embeddings"].float()
            found |= {
                text: state[mask]
                for text, state, mask in zip(new, states, features["attention_mask"].bool())
            }
            self.known.update(
                [(text, found[text]) for text in new][: max(0, _KEPT - len(self.known))]
            )
        parts = {"inputs_embeds": [found[text] for text in texts]}
        parts["attention_mask"] = [
            state.new_ones(len(state), dtype=torch.long) for state in parts["inputs_embeds"]
        ]
        return {name: pad_sequence(part, batch_first=True) for name, part in parts.items()}
