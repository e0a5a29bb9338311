"""A span head on a transformer: where an answer begins and ends, and of which kind it is."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from transformers import PreTrainedModel

from kit.text.readers.windows import LONGEST_SPAN, Window

SPAN, NOWHERE = 0, 1  # kinds of answers; those that are no span follow
KEPT = 2**18  # tokens whose states are kept: 0.2 GB at a width of 384


class Batch:
    """Windows as tensors (windows, tokens): which tokens there are, and where a span may begin or end."""

    def __init__(self, windows: Sequence[Window], device: torch.device) -> None:
        def padded(name: str) -> Tensor:
            rows = [torch.as_tensor(getattr(window, name)) for window in windows]
            return nn.utils.rnn.pad_sequence(rows, batch_first=True).to(device)

        self.windows = windows
        self.opens, self.closes, self.shared = padded("opens"), padded("closes"), padded("shared")
        lengths = torch.tensor([len(window.ids) for window in windows], device=device)
        self.read = torch.arange(self.shared.shape[1], device=device) < lengths[:, None]


class LowerHalf:
    """The embeddings and the lower half of the layers of a BERT, which stay what they are and read each text by itself.

    What they make of a text is kept, since passages come back with other questions and in other windows.
    """

    def __init__(self, transformer: PreTrainedModel) -> None:
        self.embeddings = transformer.embeddings
        self.layers = transformer.encoder.layer[: len(transformer.encoder.layer) // 2]
        self.device = transformer.device
        self._known: dict[bytes, Tensor] = {}
        self._size = 0  # tokens

    def states(self, ids: np.ndarray) -> Tensor:
        """(tokens, width), in half precision where that is used; one text at a time, so that others don't matter."""
        key = ids.tobytes()
        if key not in self._known:
            if self._size > KEPT:
                self._known.clear()
                self._size = 0
            with torch.no_grad():
                states = self.embeddings(torch.as_tensor(ids, device=self.device)[None])
                for layer in self.layers:
                    states = layer(states)
            self._known[key] = states[0].bfloat16()
            self._size += len(ids)
        return self._known[key]


class SpanNetwork(nn.Module):
    """Log probabilities: of a span's first and last token among all that open or close a word, and of the kinds.

    The kinds are ``SPAN``, ``NOWHERE`` (the window does not hold the answer), and each of the ``n_closed`` answers that
    are no span, such as yes and no. A span may lie in the question, which is how one of several named things is chosen.

    The transformer is a BERT. Its lower half (no part of this module) reads the question and each passage by itself,
    and the upper half, which learns, all of them together (as in Cao et al. 2020, DeFormer): less than half the time,
    and no limit to a window but memory. Words that stand in the question and a passage, or in two passages, are marked
    in between (as in DrQA, Chen et al. 2017): a few hundred questions are too few to learn that names are to be matched.
    """

    def __init__(self, transformer: PreTrainedModel, n_closed: int, seed: int) -> None:
        super().__init__()
        self.lower = LowerHalf(transformer)
        self.upper = copy.deepcopy(transformer.encoder.layer[len(self.lower.layers) :])
        width = transformer.config.hidden_size
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.ends, self.kinds = nn.Linear(width, 2), nn.Linear(width, 2 + n_closed)
        self.marks = nn.Embedding.from_pretrained(torch.zeros(4, width), freeze=False)
        self.to(transformer.device)

    @property
    def device(self) -> torch.device:
        return self.lower.device

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """First (windows, tokens), last (windows, tokens), kinds (windows, kinds)."""
        texts = (
            torch.cat([self.lower.states(ids) for ids in np.split(window.ids, np.cumsum(window.sizes)[:-1])])
            for window in batch.windows
        )
        states = nn.utils.rnn.pad_sequence(list(texts), batch_first=True).float() + self.marks(batch.shared)
        # PyTorch's fused attention: in plain matrix products, attention would take most of the time in long windows.
        with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]):
            for layer in self.upper:
                states = layer(states, attention_mask=batch.read[:, None, None])
        first, last = self.ends(states).float().unbind(-1)
        first, last = (
            values.masked_fill(~may, -1e4).log_softmax(1)
            for values, may in ((first, batch.opens), (last, batch.closes))
        )
        return first, last, self.kinds(states[:, 0]).float().log_softmax(1)


def best_span(window: Window, first: np.ndarray, last: np.ndarray) -> tuple[float, str]:
    """The likeliest span of one text with its log probability, and (-inf, "") where there is none."""
    starts, ends = np.flatnonzero(window.opens), np.flatnonzero(window.closes)
    lengths = ends[None, :] - starts[:, None]
    allowed = (lengths >= 0) & (lengths < LONGEST_SPAN) & (window.texts[starts][:, None] == window.texts[ends])
    scores = np.where(allowed, first[starts][:, None] + last[ends], -np.inf)
    if not allowed.any():
        return -np.inf, ""
    start, end = np.unravel_index(scores.argmax(), scores.shape)
    return float(scores[start, end]), window.span(starts[start], ends[end])
