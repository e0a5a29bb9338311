"""A span head on a transformer: where an answer begins and ends, and of which kind it is."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from kit.text.attention import FUSED
from kit.text.readers.windows import LONGEST_SPAN, Window

SPAN, NOWHERE = 0, 1  # kinds of answers; those that are no span follow
PLACES = 50  # of spans in a window, the likeliest, over which those of one text are summed
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
        layers = transformer.encoder.layer
        self.module = nn.ModuleDict({"embeddings": transformer.embeddings, "layers": layers[: len(layers) // 2]})
        self.module.eval()  # without dropout
        self.device = transformer.device
        self._known: dict[bytes, Tensor] = {}
        self._size = 0  # tokens

    def states(self, ids: np.ndarray) -> Tensor:
        """(tokens, width), in half precision; one text at a time, so that the others of a batch don't matter."""
        key = ids.tobytes()
        if key not in self._known:
            if self._size > KEPT:
                self._known.clear()
                self._size = 0
            with torch.no_grad():
                states = self.module["embeddings"](torch.as_tensor(ids, device=self.device)[None])
                for layer in self.module["layers"]:
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
    in between (as in DrQA, Chen et al. 2017): a few hundred questions are few to learn from that names are to match.
    """

    def __init__(self, transformer: PreTrainedModel, n_closed: int, seed: int) -> None:
        super().__init__()
        self.lower, self.config = LowerHalf(transformer), transformer.config
        self.upper = copy.deepcopy(transformer.encoder.layer[len(self.lower.module["layers"]) :])
        for layer in self.upper:
            layer.attention.self.config._attn_implementation = FUSED
        width = transformer.config.hidden_size
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.ends, self.kinds = nn.Linear(width, 2), nn.Linear(width, 2 + n_closed)
        self.marks = nn.Embedding.from_pretrained(torch.zeros(4, width), freeze=False)
        self.to(transformer.device)

    @property
    def device(self) -> torch.device:
        return self.lower.device

    def everything(self) -> dict[str, Tensor]:
        """The weights with those of the lower half, to be written."""
        parts = {"lower": self.lower.module, "learned": self}
        return {f"{part}/{name}": weight for part, of in parts.items() for name, weight in of.state_dict().items()}

    def load_everything(self, weights: dict[str, Tensor]) -> None:
        for part, module in (("lower/", self.lower.module), ("learned/", self)):
            own = {name.removeprefix(part): weight for name, weight in weights.items() if name.startswith(part)}
            module.load_state_dict(own)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """First (windows, tokens), last (windows, tokens), kinds (windows, kinds)."""
        texts = (
            torch.cat([self.lower.states(ids) for ids in np.split(window.ids, np.cumsum(window.sizes)[:-1])])
            for window in batch.windows
        )
        states = nn.utils.rnn.pad_sequence(list(texts), batch_first=True).float() + self.marks(batch.shared)
        for layer in self.upper:
            states = layer(states, attention_mask=batch.read[:, None, None])
        first, last = self.ends(states).float().unbind(-1)
        first, last = (
            values.masked_fill(~may, -1e4).log_softmax(1)
            for values, may in ((first, batch.opens), (last, batch.closes))
        )
        return first, last, self.kinds(states[:, 0]).float().log_softmax(1)


def best_span(window: Window, first: np.ndarray, last: np.ndarray) -> tuple[float, str]:
    """The likeliest text of a span with its log probability, summed over its places; (-inf, "") where there is none."""
    starts = np.flatnonzero(window.opens)[:, None]
    ends = starts + np.arange(LONGEST_SPAN)
    inside = ends < len(window.ids)
    ends = np.where(inside, ends, 0)
    allowed = inside & window.closes[ends] & (window.texts[starts] == window.texts[ends])
    scores = np.where(allowed, first[starts] + last[ends], -np.inf)
    found: dict[str, float] = {}
    written: dict[str, str] = {}  # as at its likeliest place
    for place in np.argsort(-scores, axis=None, kind="stable")[: min(PLACES, allowed.sum())]:
        start, length = np.unravel_index(place, scores.shape)
        text = window.span(starts[start, 0], ends[start, length])
        written.setdefault(text.lower(), text)
        found[text.lower()] = np.logaddexp(found.get(text.lower(), -np.inf), scores[start, length])
    best = max(found, key=found.__getitem__, default="")
    return float(found.get(best, -np.inf)), written.get(best, "")
