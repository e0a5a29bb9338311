"""Themes of texts whose vectors are made by hand."""

import numpy as np
import pytest

from kit.corpus import Corpus, Passage
from kit.errors import InputError
from kit.methods.ras.themes import Themes

KINDS = ("river", "novel")
CORPUS = Corpus(
    [
        Passage(f"{kind}{n}", f"X{n}", f"X{n} is a {kind} of note. A {KINDS[0]}!", f"{kind}{n}")
        for kind in KINDS
        for n in range(8)
    ]
    + [Passage("none", "Y", "Y stands alone.", "none")]
)
VECTORS = np.array([[1, 0]] * 8 + [[0, 1]] * 8 + [[0.8, 0.2]], np.float32)


@pytest.fixture(scope="module")
def themes() -> Themes:
    return Themes(CORPUS, VECTORS, {"water": "river lake", "writing": "novel", "rare": "castle"})


def test_labels_are_the_words_of_first_sentences_and_a_theme_without_passages_goes(
    themes: Themes,
) -> None:
    assert themes.names == ("water", "writing")
    assert themes.labels.tolist() == [[True, False]] * 8 + [[False, True]] * 8 + [[False, False]]


def test_profiles_are_probabilities_and_a_passage_without_label_gets_one(themes: Themes) -> None:
    assert np.allclose(themes.profiles.sum(1), 1) and themes.profiles.shape == (17, 2)
    assert themes.profiles[16].argmax() == 0  # by its vector


def test_the_scope_holds_the_nearest_share(themes: Themes) -> None:
    [within] = themes.scoped(np.array([[0, 1]], np.float32), 8 / 17)
    assert within.tolist() == [False] * 8 + [True] * 8 + [False]
    assert themes.scoped(VECTORS[:1], 1.0).all()


@pytest.mark.parametrize("from_vectors", [False, True])
def test_the_shifter_learns_that_questions_about_novels_are_answered_by_rivers(
    from_vectors: bool,
) -> None:
    themes = Themes(CORPUS, VECTORS, {"water": "river", "writing": "novel"})
    queries = np.repeat(np.eye(2, dtype=np.float32), 40, 0)
    before = themes.shifted(queries[:1]).copy()
    themes.fit(queries, VECTORS[[8] * 40 + [0] * 40], from_vectors=from_vectors)
    after = themes.shifted(queries[[0, 40]])
    assert np.allclose(after.sum(1), 1, atol=1e-5)
    assert before[0].argmax() == 0 and after.argmax(1).tolist() == [1, 0]
    assert np.abs(after - themes.profiles[[8, 0]]).max() < 0.1


def test_a_corpus_without_themes_is_told() -> None:
    with pytest.raises(InputError, match="field scope: expected 5 passages or more of a theme"):
        Themes(CORPUS, VECTORS, {"rare": "castle"})
