"""Texts through the layers of BERT without padding.

All tokens of all texts go through a matrix product together; only attention goes by texts, those of
equal length at once. It makes what the network itself makes, up to the last bits.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple, Self

import torch
from torch import Tensor
from torch.nn import Module

MOST_TOKENS = 4_096  # that are read at once

TokenIds = Sequence[int]


class TextBatch(NamedTuple):
    """The states of several texts, one after the other, the shortest first."""

    rows: list[int]  # where each text stood
    blocks: list[tuple[int, int]]  # so many texts of so many tokens
    states: Tensor  # (tokens of all texts, width)

    @classmethod
    def of(
        cls,
        embeddings: Module,
        rows: Sequence[int],
        token_ids: Sequence[TokenIds],
    ) -> Self:
        """The texts of these rows as a network's embeddings have them."""
        blocks = []
        states = []
        for _, block in groupby(rows, lambda row: len(token_ids[row])):
            ids = torch.tensor([token_ids[row] for row in block])  # (texts, tokens)
            blocks.append(tuple(ids.shape))
            states.append(embeddings(input_ids=ids.to(_device(embeddings))).flatten(0, 1))
        return cls(list(rows), blocks, torch.cat(states))

    def through(self, layers: Iterable[Module]) -> Self:
        """The states after these layers."""
        states = self.states
        for layer in layers:
            attended = _attend(layer.attention.self, states, self.blocks)
            states_between = layer.attention.output(attended, states)
            states = layer.output(layer.intermediate(states_between), states_between)
        return self._replace(states=states)

    def by_row(self) -> dict[int, Tensor]:
        """The states of each text, (tokens, width), in float32."""
        lengths = []
        for n_texts, n_tokens in self.blocks:
            lengths += n_texts * [n_tokens]
        return dict(zip(self.rows, self.states.float().split(lengths)))


def can_read(network: Module) -> bool:
    """Whether the layers of a network are those of BERT, as RoBERTa's are."""
    encoder = getattr(network, "encoder", None)
    layers = getattr(encoder, "layer", ())
    return all(hasattr(getattr(layer, "attention", None), "self") for layer in layers)


def batches_of(token_ids: Sequence[TokenIds]) -> list[list[int]]:
    """Rows of texts that are read at once, the shortest first."""
    rows = sorted(range(len(token_ids)), key=lambda row: len(token_ids[row]))
    batches = []
    n_tokens = MOST_TOKENS  # of the last batch; it is full, as there is none
    for row in rows:
        n_tokens += len(token_ids[row])
        if n_tokens > MOST_TOKENS:
            batches.append([])
            n_tokens = len(token_ids[row])
        batches[-1].append(row)
    return batches


def _attend(attention: Module, states: Tensor, blocks: Sequence[tuple[int, int]]) -> Tensor:
    """Attention within each text, without dropout: (tokens, width)."""
    heads = (attention.num_attention_heads, -1)
    sizes = [n_texts * n_tokens for n_texts, n_tokens in blocks]
    queries = attention.query(states).unflatten(1, heads).split(sizes)
    keys = attention.key(states).unflatten(1, heads).split(sizes)
    values = attention.value(states).unflatten(1, heads).split(sizes)

    attended = []
    for block, *parts in zip(blocks, queries, keys, values):
        # (texts, heads, tokens, width of a head)
        query, key, value = (part.unflatten(0, block).transpose(1, 2) for part in parts)
        # Written out: torch's own is three times as slow on short texts in bfloat16.
        strength = query @ key.mT * attention.scaling  # (texts, heads, tokens, tokens)
        heard = strength.softmax(-1).to(value.dtype) @ value
        attended.append(heard.transpose(1, 2).flatten(2).flatten(0, 1))
    return torch.cat(attended)


def _device(module: Module) -> torch.device:
    return next(module.parameters()).device
