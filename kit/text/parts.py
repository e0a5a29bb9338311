"""A text that is longer than an encoder reads, in parts that it can read."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def parts_of(text: str, tokenizer: PreTrainedTokenizerBase, room: int) -> list[str]:
    """Parts of at most ``room`` tokens, as few as can be and of nearly the same length.

    Each begins with a word, where a text has spaces between its words.
    """
    spans = tokenizer(
        text,
        add_special_tokens=False,
        return_offsets_mapping=True,
        verbose=False,
    )["offset_mapping"]
    starts = [start for start, _ in spans]  # in characters

    cuts = [0]
    first = 0  # token of the part
    while len(starts) - first > room:
        n_left = len(starts) - first
        n_parts = -(-n_left // room)
        end = first + -(-n_left // n_parts)
        words = (token for token in range(end, first, -1) if _begins_word(text, starts[token]))
        first = next(words, end)
        cuts.append(starts[first])
    return [text[start:end] for start, end in pairwise([*cuts, len(text)])]


def _begins_word(text: str, start: int) -> bool:
    """Whether a token begins after a space, or with it, as those of SentencePiece do."""
    return any(map(str.isspace, text[start - 1 : start + 1]))
