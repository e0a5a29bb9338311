"""What the extractive reader reads and learns from: windows, spans, examples."""

import numpy as np
import pytest

from kit.corpus import Corpus, Question, SubQuestion, example
from kit.readers.windows import CLOSED_TEXT, ReadingExample, Window, examples_of, with_steps
from kit.text import Encoder

CORPUS = example().corpus
TEXTS = {passage.id: passage.full_text for passage in CORPUS.passages}
TOWN, RIVER = example().test


def test_an_example_a_question_and_a_step() -> None:
    examples = examples_of(with_steps([TOWN, RIVER]), CORPUS)
    rows = {text: row for row, text in enumerate(TEXTS.values())}
    learned_from = []
    for asking, supports, nearest in examples:
        learned_from.append((asking.text, asking.answer, [rows[text] for text in supports]))
        assert set(nearest) == set(TEXTS.values()) - set(supports)
    assert learned_from == [
        (TOWN.text, "Selby Quay", [0, 1]),
        ("Who directed the film The Glass Harbour?", "Ines Moravec", [0]),
        ("In which town was Ines Moravec born?", "Selby Quay", [1]),
        (RIVER.text, "Oll", [0, 1, 3]),
        ("Which river floods Selby Quay?", "Oll", [3]),
    ]


def test_what_cannot_be_learned_from_is_left_out() -> None:
    steps = (
        SubQuestion("Which is #4?", "x", 0),
        SubQuestion("Sum", "1", None),
        SubQuestion("Empty", "", 0),
    )
    questions = [
        Question("a", "?", "", (("oll",),), decomposition=steps),
        Question("b", "?", "Oll", ()),
    ]
    [only] = with_steps(questions)
    assert only.text == "Which is #4?"  # a reference to no step stays
    assert examples_of([], Corpus([])) == []


@pytest.fixture
def draws(minilm):
    """Windows drawn from an example."""

    def draw(question: str, answer: str, supports: list[str], nearest: list[str]) -> list[Window]:
        reading = ReadingExample(
            Question("", question, answer, ()),
            [TEXTS[id_] for id_ in supports],
            [TEXTS[id_] for id_ in nearest],
        )
        windows = [reading.window(minilm, np.random.default_rng(seed)) for seed in range(40)]
        return [window for window in windows if window]

    return draw


def test_spans_are_those_in_supports_and_in_the_question(draws) -> None:
    others = [id_ for id_ in TEXTS if id_ not in ("harbour", "moravec")]
    seen = draws(TOWN.text, "Selby Quay", ["harbour", "moravec"], others)
    assert len(seen) == 40
    for window in seen:
        assert {TEXTS["harbour"], TEXTS["moravec"]} <= set(window.texts[2:])
        # Selby Quay has a passage of its own, which is no support here.
        assert all(
            window.texts[window.rows[first]] == TEXTS["moravec"] for first, _ in window.spans
        )
        assert all(window.text(*span) == "Selby Quay" for span in window.spans)
    assert len({tuple(window.texts) for window in seen}) > 5  # another order each time


def test_a_closed_answer_stands_in_a_text_of_its_own_and_one_that_is_nowhere_teaches_nothing(
    draws,
) -> None:
    for window in draws("Is there no boat?", "No.", ["harbour", "moravec"], []):
        [(first, last)] = window.spans
        assert window.text(first, last) == "no"
        assert window.texts[window.rows[first]] == CLOSED_TEXT
    assert draws("Where?", "Oslo", ["harbour"], ["moravec"]) == []


def test_supports_are_always_there_and_mostly_others(draws) -> None:
    seen = draws("step", "Ines Moravec", ["harbour"], ["moravec", "oll"])
    assert all(TEXTS["harbour"] in window.texts for window in seen)
    assert {len(window.texts) - 2 for window in seen} == {1, 2, 3}


@pytest.fixture(scope="module")
def minilm():
    return Encoder().model.tokenizer


def test_words_know_where_they_begin(minilm) -> None:
    texts = ["Who built the mill?", "Skarstrom built it; the mill-pond, too.", "A pond."]
    window = Window(minilm, texts[0], texts[1:])
    assert window.texts == [texts[0], CLOSED_TEXT, *texts[1:]]
    assert window.ids == [tuple(minilm(text)["input_ids"]) for text in window.texts]
    spans = window.find(["skarstrom", "MILL"], texts)
    assert [window.text(*span) for span in spans] == ["mill", "Skarstrom", "mill"]
    assert window.find(["kars", "Skar", "built it; th", "", "Skarstrom mill"], texts) == []
    assert window.find(["pond"], texts[2:]) == [(sum(map(len, window.ids[:3])) + 2,) * 2]


def test_long_passages_are_read_to_a_limit_and_the_last_are_left_out(minilm) -> None:
    def sizes(question: str, passages: list[str]) -> list[int]:
        return [len(ids) for ids in Window(minilm, question, passages, longest=1000).ids]

    passages = ["river " * 400, "hill " * 400, "town " * 1200]
    window = Window(minilm, "q", passages)
    assert [len(ids) for ids in window.ids] == [3, 9, 402, 402, 512]
    assert window.text(13, 14) == "river river" and window.text(1300, 1301) == "town town"
    assert sizes("q", passages) == [3, 9, 402, 402]
    assert sizes("q " * 600, []) == [512, 9]
    assert sizes("", []) == [2, 9]


def test_the_best_span_stays_in_one_text_and_in_its_order(minilm) -> None:
    window = Window(minilm, "q", ["a b", "c d"])
    # [CLS] q [SEP] [CLS] yes no 0 1 2 3 4 [SEP], then [CLS] a b [SEP] [CLS] c d [SEP]
    before = [0.01] * 12
    first = np.log([*before, 0.01, 0.1, 0.5, 0.01, 0.01, 0.33, 0.01, 0.01])
    last = np.log([*before, 0.01, 0.3, 0.05, 0.01, 0.01, 0.1, 0.48, 0.01])
    # b to d would be likelier, but ends in another passage; c to d is next.
    assert window.best_span(first, last) == "c d"
