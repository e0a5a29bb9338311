"""What a reader learns from: lessons of questions and steps, and the examples that are drawn from them."""

from __future__ import annotations

import numpy as np
import pytest

from kit.corpus import Corpus, Question, SubQuestion
from kit.corpus.example import example
from kit.text import Encoder
from kit.text.readers.lessons import Example, Examples, Lesson, closed_answers, lessons
from kit.text.readers.network import NOWHERE, SPAN, SpanNetwork
from kit.text.readers.span_model import SpanModel
from kit.text.readers.windows import tokenise

CORPUS = example().corpus
TOWN, RIVER = example().test


def test_a_lesson_a_question_and_a_step() -> None:
    taught = lessons([TOWN, RIVER], CORPUS, steps=True)
    assert [(lesson.question, lesson.answers, lesson.supports, lesson.step) for lesson in taught] == [
        (TOWN.text, ("Selby Quay",), (0, 1), False),
        ("Who directed the film The Glass Harbour?", ("Ines Moravec",), (0,), True),
        ("In which town was Ines Moravec born?", ("Selby Quay",), (1,), True),
        (RIVER.text, ("Oll",), (0, 1, 3), False),
        ("Which river floods Selby Quay?", ("Oll",), (3,), True),
    ]
    assert [sorted(lesson.near) for lesson in taught] == [
        sorted(set(range(6)) - set(lesson.supports)) for lesson in taught
    ]
    assert [lesson.answers for lesson in lessons([TOWN, RIVER], CORPUS, steps=False)] == [("Selby Quay",), ("Oll",)]


def test_what_cannot_be_learned_from_is_left_out() -> None:
    steps = (SubQuestion("Which is #3?", "x", 0), SubQuestion("Sum", "1", None), SubQuestion("Empty", "", 0))
    questions = [Question("a", "?", "", (("oll",),)), Question("b", "?", "Oll", (), decomposition=())]
    assert lessons(questions, CORPUS, steps=True) == []
    (only,) = lessons([Question("c", "?", "", (("oll",),), decomposition=steps[:2])], CORPUS, steps=True)
    assert only.question == "Which is #3?"  # a reference to no step stays
    assert lessons([], Corpus([]), steps=True) == []


def test_closed_answers_are_common_and_stand_in_no_support() -> None:
    texts = ["two sisters", "a mill", "no boats"]

    def of(answer: str, row: int) -> Lesson:
        return Lesson("?", (answer,), (row,), (), False)

    taught = [of("2", 0), of("2", 1), of("mill", 1), of("mill", 1), of("no", 2), of("3", 0), of("", 0), of("", 0)]
    assert closed_answers(taught, texts) == ("yes", "no", "2")  # 3 is rare, the mill is a span


@pytest.fixture
def examples() -> Examples:
    encoder = Encoder()
    tokenizer, network = encoder.model.tokenizer, None
    model = SpanModel(tokenizer, network, ("yes", "no", "2"))  # the network is not asked
    texts = [TOWN.text, "step", *(passage.full_text for passage in CORPUS.passages)]
    question, step, *passages = tokenise(tokenizer, texts)
    return Examples(model, {TOWN.text: question, "step": step}, passages)


def draws(examples: Examples, lesson: Lesson) -> list[Example]:
    return [made for seed in range(40) for made in examples.draw(lesson, np.random.default_rng(seed))]


def test_spans_are_those_in_supports_and_in_the_question(examples: Examples) -> None:
    lesson = Lesson(TOWN.text, ("Selby Quay",), (0, 1), (2, 3, 4, 5), False)
    seen = draws(examples, lesson)
    assert {example.kind for example in seen} == {SPAN, NOWHERE}
    for made in seen:
        shown = {source for source in made.window.sources[1:]}
        assert (made.kind == SPAN) == (CORPUS["moravec"].full_text in shown)
        # Selby Quay has a passage of its own, which is no support here.
        assert all(
            made.window.sources[made.window.texts[first]] == CORPUS["moravec"].full_text for first, _ in made.spans
        )
        assert all(made.window.span(*span) == "Selby Quay" for span in made.spans)
        assert CORPUS["harbour"].full_text in shown
    assert 0.05 < np.mean([made.kind == NOWHERE for made in seen]) < 0.5
    assert len({made.window.sources for made in seen}) > 5  # another order each time


def test_one_of_the_things_in_the_question_can_be_the_answer(examples: Examples) -> None:
    lesson = Lesson(TOWN.text, ("The Glass Harbour",), (0,), (), False)
    places = {made.window.texts[first] for made in draws(examples, lesson) for first, _ in made.spans}
    assert places == {0, 1}


def test_a_closed_answer_needs_all_supports(examples: Examples) -> None:
    seen = draws(examples, Lesson(TOWN.text, ("No",), (0, 1), (2,), False))
    assert {(made.kind, len(made.spans)) for made in seen} == {(NOWHERE + 2, 0), (NOWHERE, 0)}
    both = {CORPUS["harbour"].full_text, CORPUS["moravec"].full_text}
    assert all((made.kind != NOWHERE) == (both <= set(made.window.sources)) for made in seen)


def test_a_step_has_its_support_alone_and_always(examples: Examples) -> None:
    for made in draws(examples, Lesson("step", ("Ines Moravec",), (0,), (1, 2), True)):
        assert (made.kind, made.window.sources) == (SPAN, ("step", CORPUS["harbour"].full_text))


def test_an_answer_that_is_nowhere_teaches_nothing(examples: Examples) -> None:
    assert all(made.kind == NOWHERE for made in draws(examples, Lesson("step", ("Oslo",), (0,), (), False)))


def test_the_lower_half_of_the_transformer_stays(tiny_model: str) -> None:
    bert = Encoder().model[0].auto_model
    learning = {name for name, weight in SpanNetwork(bert, 2, 0).named_parameters() if weight.requires_grad}
    assert {name.split(".")[3] for name in learning if "layer." in name and "encoder" in name} == {"3", "4", "5"}
    assert not any("embeddings" in name for name in learning)
    assert all(weight.requires_grad for weight in bert.parameters())  # the encoder's own is left alone
