"""What is made of a large corpus is made once."""

from pathlib import Path

import pytest

from kit.corpus import Corpus, Passage
from kit.text.derived import LARGE, kept

MADE = []  # by `lengths`: the factors


def lengths(corpus: Corpus, factor: int) -> list[tuple[str, int]]:
    """What a test derives of a corpus; it says when it is called."""
    MADE.append(factor)
    return [(passage.id, factor * len(passage.text)) for passage in corpus.passages]


def derived(corpus: Corpus, factor: int) -> list[tuple[str, int]]:
    return kept(lengths, list[tuple[str, int]], corpus, corpus.hash, factor)


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    monkeypatch.setenv("KIT_CACHE", str(tmp_path))
    MADE.clear()
    return MADE


def collection(n: int, text: str = "a text") -> Corpus:
    return Corpus(Passage(str(row), "", text, str(row)) for row in range(n))


def test_what_a_large_corpus_gives_is_made_once(calls: list[int]) -> None:
    first = derived(collection(LARGE), 2)
    assert derived(collection(LARGE), 2) == first == lengths(collection(LARGE), 2)
    assert calls == [2, 2]  # the second by the test itself


def test_another_corpus_or_setting_is_another_result(calls: list[int]) -> None:
    derived(collection(LARGE), 2)
    assert derived(collection(LARGE), 3)[0] == ("0", 18)
    assert derived(collection(LARGE, "longer text"), 2)[0] == ("0", 22)
    assert calls == [2, 3, 2]


def test_what_a_small_corpus_gives_is_not_kept(calls: list[int], tmp_path: Path) -> None:
    derived(collection(LARGE - 1), 2)
    derived(collection(LARGE - 1), 2)
    assert calls == [2, 2]
    assert not list(tmp_path.iterdir())
