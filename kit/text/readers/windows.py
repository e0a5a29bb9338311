"""Windows: a question and as many passages, in their order, as a transformer reads at once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

LONGEST = 1024  # tokens of a window: ten short passages
LONGEST_TEXT = 512  # tokens of the question or a passage in it, which a BERT has positions for
LONGEST_SPAN = 30  # tokens of an answer


class Tokens(NamedTuple):
    """A text in tokens: their numbers, where each begins and ends in the text, and which word each is part of."""

    text: str
    ids: tuple[int, ...]
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    words: tuple[int, ...]

    def part(self, start: int, end: int) -> Tokens:
        return Tokens(self.text, *(values[start:end] for values in self[1:]))


class Window(NamedTuple):
    """What is read at once: ``[CLS] question [SEP] [CLS] passage [SEP] [CLS] passage [SEP]``.

    ``sizes`` are the tokens of each text with its two. Arrays over the tokens: ``ids``; ``texts``, the place of the
    token's text in ``sources`` (0 for the question), -1 for ``[CLS]`` and ``[SEP]``; ``begins`` and ``ends``, its
    characters in that text; ``opens`` and ``closes``, whether a word begins or ends with it; ``shared``, where else its
    word stands: 1 in the question, 2 in another passage, 3 in both, 0 nowhere.
    """

    sources: tuple[str, ...]
    sizes: tuple[int, ...]
    ids: np.ndarray
    texts: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    opens: np.ndarray
    closes: np.ndarray
    shared: np.ndarray

    def span(self, first: int, last: int) -> str:
        """The text from one token to another of the same text."""
        return self.sources[self.texts[first]][self.begins[first] : self.ends[last]]

    def occurrences(self, answers: Sequence[str]) -> list[tuple[int, int]]:
        """First and last token of each place where one of the texts stands in whole words, in whatever case."""
        found = []
        for number, source in enumerate(self.sources):
            own = np.flatnonzero(self.texts == number)
            opening = {int(self.begins[place]): int(place) for place in own if self.opens[place]}
            closing = {int(self.ends[place]): int(place) for place in own if self.closes[place]}
            for answer in filter(None, answers):
                for match in re.finditer(re.escape(answer), source, re.IGNORECASE):
                    first, last = opening.get(match.start()), closing.get(match.end())
                    if first is not None and last is not None and last - first < LONGEST_SPAN:
                        found.append((first, last))
        return sorted(set(found))


def tokenise(tokenizer: PreTrainedTokenizerBase, texts: Sequence[str]) -> list[Tokens]:
    """Each text in tokens, without special ones and however long it is."""
    if not texts:
        return []
    settings = {"add_special_tokens": False, "return_offsets_mapping": True, "truncation": False, "verbose": False}
    found = tokenizer(list(texts), **settings)
    rows = []
    for number, (text, ids, places) in enumerate(zip(texts, found["input_ids"], found["offset_mapping"])):
        begins, ends = zip(*places) if places else ((), ())
        rows.append(Tokens(text, tuple(ids), begins, ends, tuple(found.word_ids(number))))
    return rows


def pack(
    question: Tokens, passages: Sequence[Tokens], *, separators: tuple[int, int], longest: int = LONGEST
) -> list[Window]:
    """The windows of at most ``longest`` tokens that hold all passages in their order, whole wherever they fit.

    A passage too long for a window is cut into parts; of a question longer than half a window, the end is left out.
    Without passages there is one window with the question alone. ``separators`` are the numbers of [CLS] and [SEP].
    """
    question = question.part(0, min(longest // 2, LONGEST_TEXT) - 2)
    room = longest - len(question.ids) - 2
    most = min(room, LONGEST_TEXT) - 2
    parts = [passage.part(start, start + most) for passage in passages for start in range(0, len(passage.ids), most)]
    filled: list[list[Tokens]] = [[]]
    left = room
    for part in parts:
        if len(part.ids) + 2 > left:
            filled.append([])
            left = room
        filled[-1].append(part)
        left -= len(part.ids) + 2
    return [_window([question, *parts], separators) for parts in filled]


def _window(parts: Sequence[Tokens], separators: tuple[int, int]) -> Window:
    start, separator = separators
    columns: list[list] = [[] for _ in range(7)]
    for number, (part, shared) in enumerate(zip(parts, _shared(parts))):
        changes = [one != other for one, other in zip(part.words, part.words[1:])]
        size = len(part.ids)
        values = (
            [start, *part.ids, separator],
            [-1, *[number] * size, -1],
            [0, *part.begins, 0],
            [0, *part.ends, 0],
            [False, *[True, *changes][:size], False],
            [False, *[*changes, True][:size], False],
            [0, *shared, 0],
        )
        for column, more in zip(columns, values):
            column += more
    sizes = tuple(len(part.ids) + 2 for part in parts)
    return Window(tuple(part.text for part in parts), sizes, *map(np.array, columns))


def _shared(parts: Sequence[Tokens]) -> list[list[int]]:
    """``shared`` of each part's tokens; parts of one passage count as several."""
    words = []
    for part in parts:
        pieces: dict[int, tuple[int, ...]] = {}
        for id, word in zip(part.ids, part.words):
            pieces[word] = (*pieces.get(word, ()), id)
        words.append([pieces[word] for word in part.words])
    asked = set(words[0])
    passages = Counter(word for of in words[1:] for word in set(of))
    return [
        [(number > 0 and word in asked) + 2 * (passages[word] > (number > 0)) for word in of]
        for number, of in enumerate(words)
    ]
