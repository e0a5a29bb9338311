"""TF-IDF search and keywords."""

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from kit.corpus import Corpus, Passage, example
from kit.text import TfidfIndex, keywords
from kit.text.entities import STOP_WORDS


def corpus_of(*texts: str, document: str | None = None) -> Corpus:
    return Corpus(
        Passage(str(n), f"t{n}", text, document or str(n), n if document else 0)
        for n, text in enumerate(texts)
    )


def held(corpus: Corpus, n: int) -> list[set[str]]:
    incidence = keywords(corpus, n)
    return [
        set(incidence.terms[row.indices])
        for row in (incidence.matrix[[r]] for r in range(len(corpus)))
    ]


def test_search_scores_are_cosines() -> None:
    corpus = example().corpus
    texts = [passage.full_text for passage in corpus.passages]
    vectorizer = TfidfVectorizer(stop_words=sorted(STOP_WORDS), sublinear_tf=True).fit(texts)
    query = "Which river floods Selby Quay?"
    expected = cosine_similarity(vectorizer.transform([query]), vectorizer.transform(texts))
    np.testing.assert_allclose(TfidfIndex(corpus).scores([query]), expected, atol=1e-6)


def test_a_corpus_without_words() -> None:
    index = TfidfIndex(Corpus([Passage("a", "the", "and", "a")]))
    assert index.scores(["river"]).tolist() == [[0]]
    assert index.nearest(["river"], 1) == [[]]
    assert held(corpus_of("", ""), 3) == [set(), set()]


def test_keywords_by_hand() -> None:
    # "river" is in two passages of three; so is "mill". Of two equal weights the first in the
    # alphabet counts.
    corpus = corpus_of("a river, a river and a mill", "the river", "the mill")
    assert held(corpus, 1) == [{"river"}, {"river"}, set()]
    assert held(corpus, 2) == [{"river", "mill"}, {"river"}, {"mill"}]


def test_a_document_shares_its_keywords_among_the_passages_that_hold_them() -> None:
    corpus = corpus_of("river river river", "mill", document="one")
    other = Corpus([*corpus.passages, Passage("x", "tx", "river mill", "x")])
    # The document's first keyword is "river" (three times in it); its second passage does not hold
    # it. So with one keyword per document, passage 2 keeps "mill" or "river", whichever comes first
    # in the alphabet: "mill", for which no other passage stands, so that it connects nothing.
    assert held(other, 1) == [set(), set(), set()]
    assert held(other, 2) == [{"river"}, {"mill"}, {"river", "mill"}]


def test_titles_are_keywords_of_those_that_mention_them() -> None:
    assert held(example().corpus, 0) == [
        {"glass harbour", "ines moravec"},
        {"ines moravec", "selby quay"},
        set(),
        {"selby quay", "oll"},
        {"oll"},
        {"glass harbour"},
    ]
