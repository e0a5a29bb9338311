"""The network of the extractive reader: where in a window an answer begins and ends."""

from collections.abc import Sequence
from copy import deepcopy
from functools import lru_cache

import torch
from torch import Tensor, nn

from kit.corpus.types import Indices, Texts
from kit.learning.partly_frozen import padded
from kit.precision import mixed_precision
from kit.readers.base import Contexts
from kit.readers.windows import Window, batches_by_length
from kit.text.encoder import Encoder

MOST_KEPT = 2_000  # texts whose states are kept: 0.2 GB at a width of 384


class SpanNetwork(nn.Module):
    """Log probabilities of a span's first and last token.

    The lower half of the encoder's BERT stays what it is and reads the question and each passage by
    itself; the upper half learns and reads all of them together (Cao et al. 2020, DeFormer): less
    than half the time, and no limit of 512 tokens.
    """

    def __init__(self, encoder: Encoder, seed: int) -> None:
        super().__init__()
        transformer = encoder.model[0]
        self.tokenizer = transformer.tokenizer
        self.bert = deepcopy(transformer.auto_model).eval()

        self.half = len(self.bert.encoder.layer) // 2
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.ends = nn.Linear(self.bert.config.hidden_size, 2)
        self.to(self.bert.device)
        # Passages come back with other questions, in other windows.
        self.states = lru_cache(MOST_KEPT)(self._read)

    @property
    def upper(self) -> nn.ModuleList:
        """The layers that learn."""
        return self.bert.encoder.layer[self.half :]

    @mixed_precision()
    def forward(self, windows: Sequence[Window]) -> Tensor:
        """Of shape (windows, tokens, 2), for the first and the last token."""
        texts = []
        for window in windows:
            texts.append(torch.cat([self.states(ids) for ids in window.ids]))
        states, is_token = padded(texts)

        states = states.float()  # (windows, tokens, width)
        for layer in self.upper:
            states = layer(states, attention_mask=is_token[:, None, None])
        scores = self.ends(states).float()  # (windows, tokens, 2)
        scores = scores.masked_fill(~is_token[..., None], -1e4)
        return scores.log_softmax(1)

    @torch.no_grad()
    def _read(self, ids: Indices) -> Tensor:
        """What the lower half makes of a text, (tokens, width), in half precision.

        One text at a time, so that the others of a batch don't matter.
        """
        states = self.bert.embeddings(torch.tensor([ids], device=self.bert.device))
        for layer in self.bert.encoder.layer[: self.half]:
            states = layer(states)
        return states[0].bfloat16()

    def loss(self, windows: Sequence[Window]) -> Tensor:
        """As of :func:`span_loss`."""
        return span_loss(windows, *self(windows).unbind(-1))

    @torch.no_grad()
    def answer(self, questions: Texts, contexts: Contexts) -> list[str]:
        """The best answer to each question from its context."""
        pairs = zip(questions, contexts, strict=True)
        windows = [Window(self.tokenizer, question, context) for question, context in pairs]
        answers = {}
        for batch in batches_by_length(windows):
            for window, ends in zip(batch, self(batch).cpu().numpy()):
                answers[window] = window.best_span(*ends.T)
        return [answers[window] for window in windows]


def span_loss(
    windows: Sequence[Window],
    first: Tensor,
    last: Tensor,
) -> Tensor:
    """Minus the mean log-likelihood of a right span, summed over all places where it stands.

    ``first`` and ``last`` are (windows, tokens).
    """
    likelihoods = []
    for row, window in enumerate(windows):
        starts, ends = map(list, zip(*window.spans))
        spans = first[row, starts] + last[row, ends]  # (spans,)
        likelihoods.append(torch.logsumexp(spans, 0))
    return -torch.stack(likelihoods).mean()
