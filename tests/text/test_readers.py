"""Readers: the extractive one on a tiny BERT, what it learns from, and a language model on a server on loopback."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from kit.corpus import Benchmark, Corpus, Passage, Question, SubQuestion
from kit.corpus.example import example
from kit.errors import InputError
from kit.store import Store
from kit.text import Encoder, language_model
from kit.text.precision import one_thread
from kit.text.prompts import answer_prompt
from kit.text.readers import ExtractiveReader, LanguageModelReader, Learning, reader
from kit.text.span_model import NOWHERE, SPAN, tokenise
from kit.text.span_training import Example, Lesson, Lessons, closed_answers, lessons_of, loss_of

TOWNS = ["Oslo", "Lima", "Bern", "Rome", "Cork", "Nice", "Bath", "Kiel"]
LEARNING = Learning(epochs=8, tokens=1024, learning_rate=1e-3)
CORPUS = example().corpus
TOWN, RIVER = example().test
QUESTIONS = ["Where is the river?", "Who wrote it?", "Where is the river?"]
FOUND = ["Oll\nThe Oll is a river.", "Selby Quay\nA town."]
CONTEXTS = [FOUND, [], FOUND]


@pytest.fixture(autouse=True)
def quickly():
    with one_thread():  # models as small as these are slower on several threads
        yield


def people(n: int, kind: str) -> list[Question]:
    """Half ask for a town, half whether somebody swims, which those with an even number do."""
    questions = []
    for i in range(n):
        support = ((f"p{i}",),)
        if i % 4 < 2:
            questions.append(Question(f"{kind}{i}", f"Where does person {i} live?", TOWNS[i % 8], support))
        else:
            answer = "no" if i % 2 else "yes"
            questions.append(Question(f"{kind}{i}", f"Does person {i} ever swim?", answer, support))
    return questions


@pytest.fixture
def benchmark() -> Benchmark:
    texts = [f"lives in {TOWNS[i % 8]} and {'never' if i % 2 else 'always'} swims" for i in range(48)]
    corpus = Corpus(Passage(f"p{i}", f"person {i}", text, f"p{i}") for i, text in enumerate(texts))
    return Benchmark("people", corpus, train=people(48, "t"), dev=people(12, "d"))


@pytest.fixture
def make(tiny_model: str, tmp_path: Path):
    def made(folder: str = "store", learning: Learning = LEARNING) -> ExtractiveReader:
        return ExtractiveReader(tiny_model, learning, Store(tmp_path / folder))

    return made


def weights(reader: ExtractiveReader) -> dict[str, np.ndarray]:
    return load_file(reader.folder / "reader.safetensors")


def same(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def test_it_learns_and_answers(make, benchmark: Benchmark) -> None:
    learned = make()
    learned.fit(benchmark)
    losses = [row["loss"] for row in learned.history if "loss" in row]
    quarter = len(losses) // 4
    assert np.mean(losses[-quarter:]) < 0.85 * np.mean(losses[:quarter])
    assert sum("em" in row for row in learned.history) == 2 * LEARNING.epochs + 1
    questions = ["Where does person 3 live?", "Where does person 3 live?", "Does person 3 ever swim?"]
    context = [[benchmark.corpus["p3"].full_text, benchmark.corpus["p4"].full_text]] * 3
    first, again, closed = learned.answer(questions, context)
    assert first == again
    assert {first, closed} <= {"yes", "no"} or first in questions[0] + " ".join(context[0])
    assert learned.answer(questions[2:], context[2:]) == [closed]
    assert learned.answer([], []) == []
    # Without a passage there are the question's own words, and what is no span.
    assert len(learned.answer(["Does person 1 ever swim?", ""], [[], []])) == 2


def test_answers_are_kept_and_replayed_without_the_model(make, benchmark: Benchmark, monkeypatch) -> None:
    questions, contexts = ["Where does person 3 live?", "Does person 5 ever swim?"], [["person 3 lives in Rome"], []]
    first = make(learning=Learning(epochs=1))
    first.fit(benchmark)
    answers = first.answer(questions, contexts)
    again = make(learning=Learning(epochs=1))
    again.fit(benchmark)
    assert again.folder == first.folder and again.history == first.history
    monkeypatch.delattr("kit.text.span_model.SpanModel.read")
    assert again.answer(questions[::-1], contexts[::-1]) == answers[::-1]
    with pytest.raises(AttributeError):
        again.answer(["Something new?"], [[]])


def test_without_dev_questions_the_last_weights_are_kept(make, benchmark: Benchmark) -> None:
    reader = make(learning=Learning(epochs=1))
    reader.fit(Benchmark("people", benchmark.corpus, train=benchmark.train))
    learned = {name: weight for name, weight in weights(reader).items() if name.startswith("learned/")}
    untrained = Lessons(reader.base, [benchmark], seed=0).model.network.state_dict()
    assert not same(learned, {f"learned/{name}": weight.numpy() for name, weight in untrained.items()})


def test_questions_of_another_corpus_are_learned_from_too(make, benchmark: Benchmark) -> None:
    hand = example()
    more = Benchmark("hand", hand.corpus, train=hand.test, dev=hand.test)
    lessons = Lessons(make().base, [benchmark, more], seed=0)
    supports = {lesson.question: {lessons.texts[row] for row in lesson.supports} for lesson in lessons.train}
    for question, corpus in ((benchmark.train[0], benchmark.corpus), (hand.test[0], hand.corpus)):
        assert supports[question.text] == {corpus[id].full_text for id in question.supporting_ids}
    near = {lessons.texts[row] for lesson in lessons.train[-len(hand.test) :] for row in lesson.near}
    assert near <= {passage.full_text for passage in hand.corpus.passages}
    assert {lesson.question for lesson in lessons.dev} <= {question.text for question in benchmark.dev}
    folders = set()
    for others in ([], [more]):
        reader = make(learning=Learning(epochs=1))
        reader.fit(benchmark, others)
        folders.add(reader.folder)
    assert len(folders) == 2


def test_the_loss_by_hand() -> None:
    first, last = (torch.log(torch.tensor([row, row])) for row in ([0.5, 0.25, 0.25], [0.1, 0.4, 0.5]))
    kinds = torch.log(torch.tensor([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]]))
    # A span in two places: 0.5 · (0.5 · 0.4 + 0.25 · 0.5); and nowhere: 0.3.
    batch = [Example(None, SPAN, ((0, 1), (2, 2))), Example(None, NOWHERE)]
    expected = -(math.log(0.5 * (0.5 * 0.4 + 0.25 * 0.5)) + math.log(0.3)) / 2
    assert loss_of(batch, first, last, kinds).item() == pytest.approx(expected)


def test_no_training_questions_is_one_plain_line(make, benchmark: Benchmark) -> None:
    for train in ((), [Question("q", "Where?", "", (("p0",),))], [Question("q", "Where?", "Oslo", ())]):
        with pytest.raises(InputError) as error:
            make().fit(Benchmark("people", benchmark.corpus, train=train))
        expected = "record people: expected training questions with answers and supports (--train FILE)"
        assert str(error.value).startswith(expected) and "\n" not in str(error.value)
    with pytest.raises(InputError, match="has to learn before it answers"):
        make().answer(["Where?"], [[]])


def test_readers_by_name() -> None:
    assert isinstance(reader("extractive"), ExtractiveReader)
    assert reader("t5:some/model").name == "t5:some/model"
    assert reader("replay:server:some-model").model.replay
    with pytest.raises(
        InputError, match="expected a reader: extractive, or a language model such as server:MODEL; not 'x'"
    ):
        reader("x")
    with pytest.raises(InputError, match="field model: expected a language model as t5:FOLDER-OR-NAME"):
        reader("gpt:x")


# ---- lessons


def test_a_lesson_a_question_and_a_step() -> None:
    taught = lessons_of([TOWN, RIVER], CORPUS, steps=True)
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
    assert [lesson.answers for lesson in lessons_of([TOWN, RIVER], CORPUS, steps=False)] == [("Selby Quay",), ("Oll",)]


def test_what_cannot_be_learned_from_is_left_out() -> None:
    steps = (SubQuestion("Which is #3?", "x", 0), SubQuestion("Sum", "1", None), SubQuestion("Empty", "", 0))
    questions = [Question("a", "?", "", (("oll",),)), Question("b", "?", "Oll", (), decomposition=())]
    assert lessons_of(questions, CORPUS, steps=True) == []
    (only,) = lessons_of([Question("c", "?", "", (("oll",),), decomposition=steps[:2])], CORPUS, steps=True)
    assert only.question == "Which is #3?"  # a reference to no step stays
    assert lessons_of([], Corpus([]), steps=True) == []


def test_closed_answers_are_common_and_stand_in_no_support() -> None:
    texts = ["two sisters", "a mill", "no boats"]

    def of(answer: str, row: int) -> Lesson:
        return Lesson("?", (answer,), (row,), (), False)

    taught = [of("2", 0), of("2", 1), of("mill", 1), of("mill", 1), of("no", 2), of("3", 0), of("", 0), of("", 0)]
    assert closed_answers(taught, texts) == ("yes", "no", "2")  # 3 is rare, the mill is a span


@pytest.fixture
def lessons(tiny_model: str) -> Lessons:
    """Of the example's passages, with two as a closed answer."""
    found = Lessons(Encoder(tiny_model), [Benchmark("example", CORPUS, train=[TOWN, RIVER])], seed=0)
    found.model.closed = ("yes", "no", "2")
    found.tokens |= dict(zip(["step"], tokenise(found.model.tokenizer, ["step"])))
    return found


def draws(lessons: Lessons, lesson: Lesson) -> list[Example]:
    return [made for seed in range(40) for made in lessons.examples(lesson, np.random.default_rng(seed))]


def test_spans_are_those_in_supports_and_in_the_question(lessons: Lessons) -> None:
    lesson = Lesson(TOWN.text, ("Selby Quay",), (0, 1), (2, 3, 4, 5), False)
    seen = draws(lessons, lesson)
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


def test_a_closed_answer_needs_all_supports(lessons: Lessons) -> None:
    seen = draws(lessons, Lesson(TOWN.text, ("No",), (0, 1), (2,), False))
    assert {(made.kind, len(made.spans)) for made in seen} == {(NOWHERE + 2, 0), (NOWHERE, 0)}
    both = {CORPUS["harbour"].full_text, CORPUS["moravec"].full_text}
    assert all((made.kind != NOWHERE) == (both <= set(made.window.sources)) for made in seen)


def test_a_step_always_has_its_support_and_mostly_others(lessons: Lessons) -> None:
    seen = draws(lessons, Lesson("step", ("Ines Moravec",), (0,), (1, 2), True))
    assert {made.kind for made in seen} == {SPAN}
    assert all(CORPUS["harbour"].full_text in made.window.sources for made in seen)
    assert {len(made.window.sources) - 1 for made in seen} == {1, 2, 3}


def test_an_answer_that_is_nowhere_teaches_nothing(lessons: Lessons) -> None:
    assert all(made.kind == NOWHERE for made in draws(lessons, Lesson("step", ("Oslo",), (0,), (), False)))


# ---- a language model


def asking(text: str, folder: Path) -> LanguageModelReader:
    return LanguageModelReader(language_model(text, longest_answer=6, store=Store(folder)))


def test_answers_come_from_the_papers_prompts_and_are_replayed(server, tmp_path: Path) -> None:
    live = asking(f"server:{server.model}@{server.url}", tmp_path)
    answers = live.answer(QUESTIONS, CONTEXTS)
    assert answers[0] == answers[2]
    prompts = [answer_prompt(question, context) for question, context in zip(QUESTIONS, CONTEXTS)]
    assert answers == [answer.text.strip() for answer in live.model.generate(prompts)]
    assert live.usage()["calls"].tolist() == [2, 2]
    replay = asking(f"replay:server:{server.model}", tmp_path)
    assert replay.answer(QUESTIONS, CONTEXTS) == answers
    assert replay.usage()["calls"].tolist() == [0, 2]
    with pytest.raises(InputError, match="no stored answer to 1 of 1 prompts"):
        replay.answer(["When?"], [[]])
