"""Single steps of a method with sub-questions, and wrong sub-questions: by hand, and as properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kit.corpus import Corpus, Passage, Question, SubQuestion
from kit.corpus.example import example
from kit.evaluation import recalls_with_wrong_steps, step_recalls, with_wrong_steps
from kit.graphs import PassageGraph
from kit.retrievers import RGNNRet
from kit.retrievers.rgnn_ret import gold_steps

TOWN, RIVER = example().test


class ByLetters(RGNNRet):
    """Ranks the passages a to d that a sub-question names, in the order of their names in it; no edges, no memory."""

    def __init__(self) -> None:
        super().__init__(top_k=1, alpha=1.0, beta=1.0)

    def index(self, corpus: Corpus) -> None:
        self.corpus, self.graph = corpus, PassageGraph(corpus, {})
        self.vectors = np.eye(len(corpus), dtype=np.float32)

    def encode(self, texts: list[str]) -> np.ndarray:
        vectors = [
            [0.5 ** text.index(passage.id) if passage.id in text else 0 for passage in self.corpus.passages]
            for text in texts
        ]
        return np.array(vectors, np.float32)


@pytest.fixture
def letters() -> ByLetters:
    retriever = ByLetters()
    retriever.index(Corpus(Passage(id, id, "", id) for id in "abcd"))
    return retriever


def asking(id: str, supporting: str, *steps: tuple[str, int | None]) -> Question:
    """A question with a support for each word of ``supporting``, whose letters all carry it."""
    decomposition = tuple(SubQuestion(text, "", support) for text, support in steps)
    return Question(id, "?", "", tuple(map(tuple, supporting.split())), decomposition=decomposition)


QUESTIONS = [
    asking("whole", "a b"),
    asking("chain", "a b", ("ac", 0), ("cb", 1)),
    asking("computing", "d bc", ("da", 0), ("a", None), ("ac", 1)),
    asking("computing only", "a", ("a", None)),
]


@pytest.mark.parametrize(("k", "recalls"), [(1, [1, 0, 1, 0]), (2, [1, 1, 1, 1])])
def test_each_step_finds_its_own_support(letters: ByLetters, k: int, recalls: list[float]) -> None:
    table = step_recalls(letters, QUESTIONS, k)
    assert list(table.columns) == ["question", "hops", "step", "recall"]
    # A question without sub-questions, and a step without a support, have no row; steps keep their numbers.
    assert table[["question", "hops", "step"]].to_numpy().tolist() == [
        ["chain", 2, 1],
        ["chain", 2, 2],
        ["computing", 2, 1],
        ["computing", 2, 3],
    ]
    assert table["recall"].tolist() == recalls


def test_without_sub_questions_the_table_is_empty(letters: ByLetters) -> None:
    for questions in ([], QUESTIONS[:1], QUESTIONS[3:]):
        table = step_recalls(letters, questions)
        assert table.empty and list(table.columns) == ["question", "hops", "step", "recall"]


@pytest.fixture(scope="module")
def indexed() -> RGNNRet:
    """No messages and no memory: each step is a dense search for the sub-question as it is filled in."""
    retriever = RGNNRet(alpha=1.0, beta=1.0)
    retriever.index(example().corpus)
    return retriever


def test_on_the_six_passages_each_sub_question_finds_its_passage_first(indexed: RGNNRet) -> None:
    assert step_recalls(indexed, [TOWN, RIVER], 1)["recall"].tolist() == [1, 1, 1, 1, 1]
    # Both steps of TOWN now ask for the river, and quay comes first.
    assert step_recalls(indexed, with_wrong_steps([TOWN, RIVER], 1, 0), 1)["recall"].tolist() == [0, 0, 1, 1, 1]


def test_a_wrong_sub_question_is_filled_in_and_none_of_the_own() -> None:
    town, river = with_wrong_steps([TOWN, RIVER], 1, 0)
    # Of RIVER's sub-questions, the first two are TOWN's as well.
    assert [step.text for step in town.decomposition] == ["Which river floods Selby Quay?"] * 2
    # All that TOWN asks RIVER asks itself: there is no wrong one to take.
    assert river == RIVER
    assert [(step.answer, step.support, step.depends_on) for step in town.decomposition] == [
        ("Ines Moravec", 0, ()),
        ("Selby Quay", 1, (0,)),
    ]
    restored = replace(town, decomposition=TOWN.decomposition)
    assert restored == TOWN


def test_a_question_without_sub_questions_neither_changes_nor_lends() -> None:
    plain = replace(RIVER, decomposition=())
    assert with_wrong_steps([TOWN, plain], 1, 0) == [TOWN, plain]
    assert with_wrong_steps([], 1, 0) == []


@st.composite
def asked(draw: st.DrawFn) -> list[Question]:
    """Questions of up to four sub-questions each, some of them in common."""
    steps = draw(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=4), max_size=6))
    return [asking(f"q{i}", "a", *((text, 0) for text in own)) for i, own in enumerate(steps)]


def texts(questions: list[Question]) -> list[list[str]]:
    return [[step.text for step in gold_steps(question.gold_query)] for question in questions if question.decomposition]


SEEDS = st.integers(0, 2**32)


@given(asked(), SEEDS)
def test_no_share_changes_nothing_and_the_whole_share_everything(questions: list[Question], seed: int) -> None:
    assert with_wrong_steps(questions, 0, seed) == questions
    pool = {text for own in texts(questions) for text in own}
    for own, new in zip(texts(questions), texts(with_wrong_steps(questions, 1, seed)), strict=True):
        if pool <= set(own):
            assert new == own
        else:
            assert set(new) <= pool - set(own) and len(new) == len(own)


@given(asked(), st.floats(0, 1), st.floats(0, 1), SEEDS)
def test_a_larger_share_replaces_the_same_ones_and_more(
    questions: list[Question], one: float, other: float, seed: int
) -> None:
    fewer, more = (texts(with_wrong_steps(questions, share, seed)) for share in sorted([one, other]))
    for own, before, after in zip(texts(questions), fewer, more, strict=True):
        assert all(b in (text, a) for text, b, a in zip(own, before, after, strict=True))


@given(asked(), st.floats(0, 1), SEEDS)
def test_the_same_seed_replaces_the_same_ones_and_nothing_else_changes(
    questions: list[Question], share: float, seed: int
) -> None:
    changed = with_wrong_steps(questions, share, seed)
    assert with_wrong_steps(questions, share, seed) == changed
    assert [replace(new, decomposition=old.decomposition) for old, new in zip(questions, changed)] == questions


def test_about_the_share_is_replaced_and_another_seed_replaces_others() -> None:
    questions = [asking(f"q{i}", "a", (f"first {i}", 0), (f"second {i}", 0)) for i in range(500)]
    wrong = [
        {(i, j) for i, (a, b) in enumerate(zip(texts(questions), texts(new))) for j in (0, 1) if a[j] != b[j]}
        for new in (with_wrong_steps(questions, 0.3, seed) for seed in (0, 1))
    ]
    assert all(len(found) == pytest.approx(300, abs=45) for found in wrong)  # three standard deviations
    assert wrong[0] != wrong[1]


def test_recalls_with_wrong_steps_are_those_of_the_changed_questions() -> None:
    hand = example()
    retriever = RGNNRet(top_k=2)
    retriever.index(hand.corpus)
    found = recalls_with_wrong_steps({"it": retriever}, hand.test, (0.0, 1.0), n_draws=2, k=1)
    assert list(found.columns) == ["question", "hops", "step", "recall", "variant", "share", "draw"]
    for (share, draw), of in found.groupby(["share", "draw"]):
        expected = step_recalls(retriever, with_wrong_steps(hand.test, share, draw), 1)
        assert of[expected.columns].reset_index(drop=True).equals(expected)
