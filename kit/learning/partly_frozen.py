"""An encoder in two parts: the lower layers stay and read each text once, the upper ones learn."""

import copy
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar

import torch
from msgspec.structs import replace
from numpy import ndarray
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn.functional import normalize, pad
from torch.nn.utils.rnn import pad_sequence

from kit.corpus.types import Texts
from kit.learning.unpadded import TextBatch, batches_of, can_read
from kit.precision import mixed_precision
from kit.text.encoder import Encoder, padded_to

BATCH = 12  # texts that are encoded at once
MOST_KEPT = 8_000  # texts whose states are kept
MOST_KEPT_HALF = 100_000  # the same of states in half precision, which are of fewer tokens

Output = dict[str, Any]  # of a sentence-transformers module, for a batch


class PartlyFrozenEncoder(Encoder):
    """A copy of an encoder whose upper ``layers`` learn.

    All learn where ``layers`` is 0 or no fewer than there are, or where their place is not known:
    it is that of BERT, RoBERTa and MPNet, ``encoder.layer``.

    ``upper`` is the part that learns. What ``lower`` makes of a text, float32 of shape (tokens,
    hidden size), is kept for all trainings of this process: of 8,000 texts, 1.2 GB where they have
    100 tokens of 384 numbers. Vectors are stored once the model is, by :meth:`keep`.
    """

    #: By the lower part's weights, the states of each text; only the last part's are kept.
    _states: ClassVar[dict[Any, dict[str, Tensor]]] = {}
    #: The same in half precision, of :meth:`lower_states`.
    _half_states: ClassVar[dict[Any, dict[str, Tensor]]] = {}

    def __init__(self, base: Encoder, layers: int) -> None:
        super().__init__(store=base.store, **base.settings.of_encoder())
        self._folder = None
        weights = {id(weight): weight for weight in base.model.parameters()}
        self.lower = copy.deepcopy(base.model, weights)  # shares the weights
        self.upper = copy.deepcopy(base.model)
        self.n_lower = self._split(layers)
        self.model = self.upper  # tokens and prompts are those of the base

        # Encoders that learned in their upper layers alone have one lower part.
        lower_weights = save(self.lower[0].auto_model.state_dict())
        key = (blake2b(lower_weights).digest(), self._longest)
        if key not in self._states:
            self._states.clear()
        self.kept = self._states.setdefault(key, {})

    def _split(self, n_upper: int) -> int:
        """Take the layers apart, and return how many are the lower ones; 0 where all learn."""
        below = self.lower[0].auto_model
        above = self.upper[0].auto_model
        encoder = getattr(above, "encoder", None)
        layers = getattr(encoder, "layer", ())
        if not 0 < n_upper < len(layers):
            return 0

        n_lower = len(layers) - n_upper
        below.encoder.layer = below.encoder.layer[:n_lower]
        above.encoder.layer = layers[n_lower:]
        above.embeddings = GivenStates()
        return n_lower

    def keep(self, folder: Path) -> None:
        """Be the encoder that is stored in a folder; it learns no more."""
        self.settings = replace(self.settings, encoder=str(folder))
        self._folder = folder
        del self.model  # it is loaded from there

    def write(self, folder: Path) -> None:
        """The two parts as one model again, as sentence-transformers has it."""
        model = copy.deepcopy(self.upper)
        if self.n_lower:
            network = model[0].auto_model
            below = self.lower[0].auto_model
            network.embeddings = below.embeddings
            network.encoder.layer = below.encoder.layer + network.encoder.layer
        model.save_pretrained(str(folder), create_model_card=False)

    def encode(self, texts: Texts, **options: Any) -> ndarray:
        """As of :class:`Encoder`; while it learns, nothing is stored."""
        if self._folder:
            return super().encode(texts, **options)
        return self._embed(list(texts), options.get("role", "document"))

    def _forward(self, texts: list[str], role: str) -> ndarray:
        """To the last bit what the stored model makes of them."""
        if self._folder and role == "query":  # what a user asks is read from its first layer on
            return super()._forward(texts, role)
        with torch.no_grad():
            pooled = self._run(texts, role, itemgetter("sentence_embedding"))
            return normalize(torch.stack(pooled)).cpu().numpy()

    def states(self, texts: Texts, role: str = "document") -> list[Tensor]:
        """For each text the states of its tokens, (tokens, dimension), before they are pooled."""
        if not texts:
            return []
        with mixed_precision():
            if not can_read(self.upper[0].auto_model):
                return self._run(texts, role, _unpadded)
            return self._read_unpadded(texts, role, self.upper[0].auto_model)

    def lower_states(self, texts: Texts, tokens: int) -> list[Tensor]:
        """Of the first ``tokens`` of each document what the layers below make, float32.

        Each text is read once, in full precision, and kept as float16 for all of this process.
        """
        key = (self.identity, self.n_lower, tokens)
        kept = self._half_states.setdefault(key, {})
        if len(kept) > MOST_KEPT_HALF:
            kept.clear()
        missing = sorted(set(texts).difference(kept))
        for text, states in zip(missing, self._read_lower(missing)):
            kept[text] = states[:tokens].half()
        return [kept[text].float() for text in texts]

    def forget(self) -> None:
        """Read every text anew, as where time is taken."""
        self.kept.clear()
        self._half_states.clear()

    @torch.no_grad()
    def _read_lower(self, texts: Texts) -> list[Tensor]:
        if not texts:
            return []
        if self.n_lower and can_read(self.lower[0].auto_model):
            return self._read_unpadded(texts, "document")
        return self.lower.encode_document(
            texts,
            output_value="token_embeddings",
            show_progress_bar=False,
        )

    def _read_unpadded(
        self,
        texts: Texts,
        role: str,
        upper: nn.Module | None = None,
    ) -> list[Tensor]:
        """The states of each text's tokens, with those of the upper part or below it."""
        lower = self.lower[0].auto_model if self.n_lower else upper
        token_ids = self.model.tokenizer(
            self._prompted(texts, role),
            truncation=True,
            max_length=self._longest,
        )["input_ids"]

        states = {}
        for rows in batches_of(token_ids):
            with torch.set_grad_enabled(torch.is_grad_enabled() and not self.n_lower):
                batch = TextBatch.of(lower.embeddings, rows, token_ids)
                if self.n_lower:
                    batch = batch.through(lower.encoder.layer)
            if upper is not None:
                batch = batch.through(upper.encoder.layer)
            states |= batch.by_row()
        return [states[row] for row in range(len(texts))]

    def _run(
        self,
        texts: Texts,
        role: str,
        part: Callable[[Output], Iterable[Tensor]],
    ) -> list[Tensor]:
        """A part of what the model makes of each text."""
        prompted = self._prompted(texts, role)
        results = {}
        for rows, length in self._batches(texts, role, BATCH):
            features = self._features([prompted[row] for row in rows], length)
            results.update(zip(rows, part(self.upper(features))))
        return [results[row] for row in range(len(texts))]

    def _features(self, texts: list[str], length: int) -> Output:
        """What the upper part is given: the lower one's states and a mask; or tokens."""
        if not self.n_lower:
            return self._tokenised(texts, length)

        states = {text: self.kept[text] for text in texts if text in self.kept}
        missing = [text for text in texts if text not in states]
        if missing:
            states |= self._read(missing, length)

        inputs, is_token = padded([states[text] for text in texts])
        n_more = length - inputs.shape[1]
        return {
            "inputs_embeds": pad(inputs, (0, 0, 0, n_more)),
            "attention_mask": pad(is_token.long(), (0, n_more)),
        }

    @torch.no_grad()
    def _read(self, texts: list[str], length: int) -> dict[str, Tensor]:
        """The lower part's states of texts, kept as far as there is room."""
        with torch.autocast(self.lower.device.type, enabled=False):  # once, so in full precision
            output = self.lower[0](self._tokenised(texts, length))
        states = dict(zip(texts, _unpadded(output)))
        room = max(0, MOST_KEPT - len(self.kept))
        self.kept.update(islice(states.items(), room))
        return states

    def _tokenised(self, texts: list[str], length: int) -> Output:
        from sentence_transformers.util import batch_to_device

        features = self.lower.preprocess(texts, processing_kwargs=padded_to(length))
        return batch_to_device(features, self.lower.device)


class GivenStates(nn.Module):
    """In the place of a network's embeddings: states that hold words and positions already."""

    def forward(self, inputs_embeds: Tensor, **_: Any) -> Tensor:
        """The states as they are, whatever else the network says of its input."""
        return inputs_embeds


def padded(states: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """States of shape (texts, tokens, width) of several texts, and which of them are there."""
    masks = [state.new_ones(len(state), dtype=torch.bool) for state in states]
    return pad_sequence(states, batch_first=True), pad_sequence(masks, batch_first=True)


def _unpadded(output: Output) -> list[Tensor]:
    """For each text the states of its tokens, (tokens, dimension)."""
    masks = output["attention_mask"].bool()
    return [state[mask].float() for state, mask in zip(output["token_embeddings"], masks)]
