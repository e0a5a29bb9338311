"""What a reader learns from: lessons of questions and steps, and the examples that are drawn from them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kit.corpus import Corpus, Question, SubQuestion
from kit.corpus.example import example
from kit.text import Encoder
from kit.text.readers.lessons import FILLED, Example, Examples, Lesson, closed_answers, lessons
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


def test_a_step_always_has_its_support_and_mostly_others(examples: Examples) -> None:
    seen = draws(examples, Lesson("step", ("Ines Moravec",), (0,), (1, 2), True))
    assert {made.kind for made in seen} == {SPAN}
    assert all(CORPUS["harbour"].full_text in made.window.sources for made in seen)
    assert {len(made.window.sources) - 1 for made in seen} == {1, 2, 3}


def test_distractors_join_up_to_a_size(examples: Examples) -> None:
    examples.passages = [words.part(0, 10) for words in examples.passages] * 30
    lesson = Lesson("step", ("x",), (0,), tuple(range(1, 180)), True)
    sizes = [10 * len(examples.with_distractors([0], lesson, np.random.default_rng(seed))) for seed in range(200)]
    assert min(sizes) < 0.1 * FILLED and 0.9 * FILLED < max(sizes) <= FILLED


def test_an_answer_that_is_nowhere_teaches_nothing(examples: Examples) -> None:
    assert all(made.kind == NOWHERE for made in draws(examples, Lesson("step", ("Oslo",), (0,), (), False)))


def test_the_upper_half_of_the_transformer_learns() -> None:
    bert = Encoder().model[0].auto_model
    network = SpanNetwork(bert, 2, 0)
    learning = {name for name, weight in network.named_parameters() if weight.requires_grad}
    assert {name.split(".")[1] for name in learning if name.startswith("upper")} == {"0", "1", "2"}
    assert {name.split(".")[0] for name in learning} == {"upper", "ends", "kinds", "marks"}
    assert torch.equal(network.upper[0].attention.self.query.weight, bert.encoder.layer[3].attention.self.query.weight)
    assert network.upper[0] is not bert.encoder.layer[3]  # the encoder's own is left alone


def test_the_lower_half_reads_each_text_by_itself_and_once(monkeypatch) -> None:
    network = SpanNetwork(Encoder().model[0].auto_model.eval(), 2, 0)
    ids = np.array([101, 2040, 2328, 102])
    states = network.lower.states(ids)
    assert states.shape == (4, 384) and not states.requires_grad
    assert network.lower.states(ids.copy()) is states
    monkeypatch.setattr("kit.text.readers.network.KEPT", 3)
    network.lower.states(np.array([101, 102]))  # more than is kept: the others are forgotten
    assert network.lower.states(ids) is not states and torch.equal(network.lower.states(ids), states)
