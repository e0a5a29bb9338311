"""How a question and its passages are packed and read, by hand: one token a word, [CLS] is 1 and [SEP] is 2."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kit.text import Encoder
from kit.text.span_model import Tokens, Window, best_span, pack, tokenise


def words(text: str, first: int) -> Tokens:
    """Words of one letter, numbered from ``first``."""
    n = len(text.split())
    begins = tuple(range(0, 2 * n, 2))
    return Tokens(text, tuple(range(first, first + n)), begins, tuple(at + 1 for at in begins), tuple(range(n)))


def packed(question: Tokens, *passages: Tokens, longest: int) -> list[Window]:
    return pack(question, passages, separators=(1, 2), longest=longest)


def test_passages_fill_windows_in_their_order() -> None:
    question = words("q r", 10)
    # Each window has room for 12 - 2 - 2 = 8: a passage of two takes 4, one of three 5.
    windows = packed(question, words("a b", 20), words("c d", 30), words("e f g", 40), words("h", 50), longest=12)
    assert [window.ids.tolist() for window in windows] == [
        [1, 10, 11, 2, 1, 20, 21, 2, 1, 30, 31, 2],
        [1, 10, 11, 2, 1, 40, 41, 42, 2, 1, 50, 2],
    ]
    first = windows[0]
    assert first.sizes == (4, 4, 4) and windows[1].sizes == (4, 5, 3)
    assert first.texts.tolist() == [-1, 0, 0, -1, -1, 1, 1, -1, -1, 2, 2, -1]
    assert first.opens.tolist() == first.closes.tolist() == [0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0]
    assert (first.span(5, 6), first.span(9, 9), first.span(2, 2)) == ("a b", "c", "r")


def test_words_that_stand_elsewhere_are_marked() -> None:
    question = Tokens("q r", (10, 11), (0, 2), (1, 3), (0, 1))
    one = Tokens("q s t", (10, 12, 13), (0, 2, 4), (1, 3, 5), (0, 1, 2))
    other = Tokens("s q tu", (12, 10, 13, 14), (0, 2, 4, 5), (1, 3, 5, 6), (0, 1, 2, 2))  # t is a part of a word here
    (window,) = packed(question, one, other, longest=30)
    # [CLS] q r [SEP] [CLS] q s t [SEP] [CLS] s q t u [SEP]
    assert window.shared.tolist() == [0, 2, 0, 0, 0, 3, 2, 0, 0, 0, 2, 3, 0, 0, 0]
    (window,) = packed(question, one, longest=30)
    assert window.shared.tolist() == [0, 2, 0, 0, 0, 1, 0, 0, 0]


def test_what_is_too_long_is_cut() -> None:
    windows = packed(words("q r s t u v", 10), words("a b c d e f g", 20), words("h", 30), longest=9)
    # Two tokens of the question are left, and room for three of a passage with its own two.
    assert [window.ids.tolist()[4:] for window in windows] == [
        [1, 20, 21, 22, 2],
        [1, 23, 24, 25, 2],
        [1, 26, 2],
        [1, 30, 2],
    ]
    assert windows[1].span(5, 5) == "d"
    assert all(window.ids[:4].tolist() == [1, 10, 11, 2] for window in windows)
    windows = packed(words("q", 10), words(" ".join("x" * 600), 20), longest=1024)
    assert [window.sizes for window in windows] == [(3, 512, 92)]  # a text as long as a BERT reads


def test_without_passages_there_is_the_question() -> None:
    (window,) = packed(words("q r", 10), longest=8)
    assert window.ids.tolist() == [1, 10, 11, 2]
    (window,) = packed(words("", 10), longest=8)
    assert window.ids.tolist() == [1, 2]


@given(st.integers(0, 12), st.lists(st.integers(0, 30), max_size=6), st.integers(10, 40))
def test_nothing_is_lost_and_nothing_is_too_long(n: int, sizes: list[int], longest: int) -> None:
    passages = [words(" ".join("x" * size), 100 * number) for number, size in enumerate(sizes, 1)]
    windows = packed(words(" ".join("q" * n), 10), *passages, longest=longest)
    assert all(len(window.ids) <= longest for window in windows)
    read = [int(id) for window in windows for id in window.ids[window.texts > 0]]
    assert read == [id for passage in passages for id in passage.ids]


def test_real_tokens_know_where_words_begin_and_end() -> None:
    tokenizer = Encoder().model.tokenizer
    texts = ["Who built Skarstrom's mill?", "Maren Skarstrom built it; the mill-pond, too."]
    question, passage = tokenise(tokenizer, texts)
    (window,) = pack(question, [passage], separators=(tokenizer.cls_token_id, tokenizer.sep_token_id))
    assert window.ids.tolist() == [id for text in texts for id in tokenizer(text)["input_ids"]]
    assert [window.span(*span) for span in window.occurrences(["maren skarstrom", "MILL"])] == [
        "mill",
        "Maren Skarstrom",
        "mill",
    ]
    assert window.occurrences(["aren", "Skar", "built it; th", "", "Skarstrom mill"]) == []
    pieces = tokenizer.convert_ids_to_tokens(window.ids)
    opening = [not piece.startswith("##") for piece in pieces if piece[0] != "["]
    assert opening == window.opens[window.texts >= 0].tolist()


def test_the_best_span_stays_in_one_text_and_in_its_order() -> None:
    (window,) = packed(words("q", 10), words("a b", 20), words("c d", 30), longest=20)
    # [CLS] q [SEP] [CLS] a b [SEP] [CLS] c d [SEP]
    first = np.log([0.01, 0.01, 0.01, 0.01, 0.1, 0.5, 0.01, 0.01, 0.33, 0.01, 0.01])
    last = np.log([0.01, 0.01, 0.01, 0.01, 0.3, 0.05, 0.01, 0.01, 0.1, 0.48, 0.01])
    # b to d would be likelier, but ends in another passage; c to d is next.
    score, text = best_span(window, first, last)
    assert (text, round(float(np.exp(score)), 3)) == ("c d", 0.158)


def test_the_places_of_a_text_are_summed() -> None:
    (window,) = packed(words("A", 10), words("b", 20), words("a", 30), longest=20)
    # [CLS] A [SEP] [CLS] b [SEP] [CLS] a [SEP]: b has one place with 0.6 · 0.6, a has two with 0.5 · 0.4 each.
    first, last = np.full(9, -9.0), np.full(9, -9.0)
    first[[1, 4, 7]], last[[1, 4, 7]] = np.log([0.5, 0.6, 0.5]), np.log([0.4, 0.6, 0.4])
    score, text = best_span(window, first, last)
    assert (text, round(float(np.exp(score)), 3)) == ("A", 0.4)  # as it is written at its likeliest place, the first


def test_where_there_is_no_word_there_is_no_span() -> None:
    (window,) = packed(words("", 10), longest=8)
    assert best_span(window, np.zeros(2), np.zeros(2)) == (-np.inf, "")
