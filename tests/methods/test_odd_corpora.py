"""Corpora and questions in which there is nothing to find: every method gives a ranking."""

from collections.abc import Sequence

import numpy as np
import pytest

from kit.corpus import Corpus, Passage, Query, Question, example
from kit.corpus.types import Queries
from kit.errors import InputError
from kit.evaluation import evaluate
from kit.methods import METHODS, Ranking, Retriever, make
from kit.methods.loops.small_plan import PLANNER

LEXICAL = {"bm25", "tfidf", "golden", *(name for name in METHODS if name.startswith("kgp-"))}
SETTINGS = {"kgp-chat": {"model": f"t5:{PLANNER}"}}  # without a server

TEXTS = {
    "empty": [],
    "wordless": ["?!", "…", "—", "..."],
    "blank": ["", " ", ""],
    "stop words": ["the of and", "to be or not", "a"],
    "Chinese": ["塞尔比码头位于奥尔河畔", "莫拉韦茨出生在港口", "河水每年春天泛滥", "北方的小镇"],
    "nameless": ["the river floods the streets", "a mill stands by the water", "they sing"],
    "one": ["Selby Quay lies on the river Oll."],
    "equal": ["Selby Quay lies on the river Oll."] * 4,
}
UNKNOWN = ["", "the", "zzz qqq", "?! <b>", "谁出生在港口？", "What is on page 3 and in Table 2?"]
KNOWN = "Which river floods Selby Quay?"
WORDS = {"nameless", "one", "equal"}  # corpora that have a word of it


def corpus_of(texts: Sequence[str]) -> Corpus:
    return Corpus(Passage(f"p{row}", "", text, f"d{row}") for row, text in enumerate(texts))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", TEXTS)
def test_every_method_ranks_all_or_where_it_searches_by_words_nothing(
    name: str, kind: str, indexed
) -> None:
    corpus = corpus_of(TEXTS[kind])
    retriever = indexed(name, corpus, **SETTINGS.get(name, {}))
    for text in (*UNKNOWN, KNOWN):
        finds = name not in LEXICAL or (text == KNOWN and kind in WORDS)
        for k in (2, 99):
            ranking = retriever.retrieve(text, k)
            length = min(k, len(corpus)) if finds else 0
            assert len(ranking.ids) == len(set(ranking.ids)) == len(ranking.scores) == length
            assert (np.diff(ranking.scores) <= 1e-6).all()
            assert retriever.explain(text, k).ids == ranking.ids
    assert retriever.retrieve_many([], 2) == []


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("text", UNKNOWN)
def test_a_search_by_words_that_matches_nothing_finds_nothing(
    name: str, text: str, indexed
) -> None:
    retriever = indexed(name, **SETTINGS.get(name, {}))
    assert len(retriever.retrieve(text, 3).ids) == (0 if name in LEXICAL else 3)


def test_passages_in_file_order_are_no_finds_and_a_note_counts_the_questions() -> None:
    hand = example()
    unknown = Question("unknown", "谁出生在港口？", "", (("harbour",),))
    questions = [unknown, hand.test[0]]
    experiment = evaluate(["bm25", "dense"], hand.asking(questions), ks=(1, 6), progress=False)
    recall = experiment.table.set_index(["retriever", "question"])["recall@6"]
    assert recall["bm25", "unknown"] == 0  # the support is the first passage of the file
    assert recall["dense", "unknown"] == 1  # of six passages
    assert "bm25 finds nothing for 1 of 2 questions: no passage has a word" in experiment.caption
    assert "dense finds" not in experiment.caption
    assert experiment.record()["caption"] == experiment.caption


# ---- what a ranking has to be


class Fixed(Retriever):
    """Ranks as it is told."""

    name = "fixed"

    def __init__(self, ids: tuple[str, ...], scores: Sequence[float]) -> None:
        self.ranking = Ranking(ids, np.array(scores))

    def rank(self, queries: Queries, k: int) -> list[Ranking]:
        return [self.ranking] * len(queries)


@pytest.mark.parametrize(
    ("ids", "scores"),
    [
        (("harbour", "harbour"), (2, 1)),
        (("harbour", "quay"), (1,)),
        (("harbour", "nowhere"), (2, 1)),
        (("harbour", "quay"), (1, np.nan)),
        (("harbour", "quay", "novel"), (3, 2, 1)),
    ],
    ids=["twice", "without score", "unknown", "not a number", "too long"],
)
def test_a_method_that_breaks_the_rules_is_told(ids: tuple, scores: tuple) -> None:
    retriever = Fixed(ids, scores)
    retriever.index(example().corpus)
    for ask in (retriever.retrieve, retriever.explain):
        with pytest.raises(InputError, match=r"record fixed: expected at most 2 passages .* twice"):
            ask(Query("q", "?"), 2)


def test_a_list_of_ids_is_not_a_ranking() -> None:
    retriever = Fixed(("harbour",), (1,))
    retriever.ranking = ["harbour"]
    retriever.index(example().corpus)
    with pytest.raises(InputError, match="what fixed ranks: expected a Ranking, not"):
        retriever.retrieve("?", 2)


def test_a_row_below_zero_is_not_the_last_passage() -> None:
    retriever = make("bm25")
    retriever.index(example().corpus)
    with pytest.raises(InputError, match="record bm25: expected rows of the corpus, not -1"):
        retriever.ids(np.array([0, -1]))
