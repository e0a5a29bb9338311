"""Long texts to passages of whole sentences."""

import re
from collections.abc import Iterable, Iterator

from kit.corpus.sentences import split_sentences
from kit.corpus.types import Texts

#: Of a passage, at most (GNN-Ret §5.1). Tokens are words and marks of punctuation here.
PASSAGE_TOKENS = 200
#: A letter of Chinese, Japanese or Korean, a word of any other script, a mark.
_TOKEN = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]|[^\W\u3040-\u9fff\uac00-\ud7af]+|[^\w\s]")


def n_tokens(text: str) -> int:
    """How many words and marks of punctuation a text has."""
    return len(_TOKEN.findall(text))


def cut(paragraphs: Texts, most: int, heading: str = "") -> Iterator[str]:
    """Paragraphs as passages of at most ``most`` tokens, of whole sentences.

    The first begins with the heading, in a line of its own. A sentence that is too long by itself
    is cut between words.
    """
    passage = heading
    n = n_tokens(heading)
    for paragraph in paragraphs:
        separator = "\n"
        for piece in _pieces(paragraph, most):
            n_added = n_tokens(piece)
            if passage and n + n_added > most:
                yield passage
                passage = ""
                n = 0
            passage += separator + piece if passage else piece
            separator = " "
            n += n_added
    if passage:
        yield passage


def _pieces(paragraph: str, most: int) -> Iterable[str]:
    """The sentences of a paragraph, those in parts that have more than ``most`` tokens."""
    for sentence in split_sentences(paragraph):
        ends = [token.end() for token in _TOKEN.finditer(sentence)][most - 1 :: most]
        for start, end in zip([0, *ends], [*ends, len(sentence)]):
            if piece := sentence[start:end].strip():
                yield piece
