"""Readers: the extractive one on a tiny BERT, what it learns from, and a language model on a server on loopback."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from kit.corpus import Benchmark, Corpus, Passage, Question, SubQuestion, example
from kit.errors import InputError
from kit.store import Store
from kit.text import Encoder, language_model
from kit.text.prompts import answer_prompt
from kit.text.reader import ExtractiveReader, LanguageModelReader, Learning, reader
from kit.text.span_reader import SPAN, Example, Lesson, SpanNetwork, Window, closed_answers, lessons_of, loss_of
from kit.text.training import read_history

TOWNS = ["Oslo", "Lima", "Bern", "Rome", "Cork", "Nice", "Bath", "Kiel"]
LEARNING = Learning(epochs=8, tokens=1024, learning_rate=1e-3)
CORPUS = example().corpus
TEXTS = {passage.id: passage.full_text for passage in CORPUS.passages}
TOWN, RIVER = example().test


@pytest.fixture
def benchmark() -> Benchmark:
    """Half ask for a town, half whether somebody swims, which those with an even number do."""
    texts = [f"lives in {TOWNS[i % 8]} and {'never' if i % 2 else 'always'} swims" for i in range(48)]
    corpus = Corpus(Passage(f"p{i}", f"person {i}", text, f"p{i}") for i, text in enumerate(texts))
    questions = [
        Question(f"q{i}", f"Where does person {i} live?", TOWNS[i % 8], ((f"p{i}",),))
        if i % 4 < 2
        else Question(f"q{i}", f"Does person {i} ever swim?", "no" if i % 2 else "yes", ((f"p{i}",),))
        for i in range(48)
    ]
    return Benchmark("people", corpus, train=questions, dev=questions[:12])


@pytest.fixture
def make(tiny_model: str, tmp_path: Path):
    return lambda learning=LEARNING: ExtractiveReader(tiny_model, learning, Store(tmp_path))


def test_it_learns_and_its_answers_are_kept(make, benchmark: Benchmark, monkeypatch) -> None:
    learned = make()
    learned.fit(benchmark)
    history = read_history(learned.folder)
    losses = [row["loss"] for row in history if "loss" in row]
    quarter = len(losses) // 4
    assert np.mean(losses[-quarter:]) < 0.85 * np.mean(losses[:quarter])
    assert sum("em" in row for row in history) == 2 * LEARNING.epochs + 1
    questions = ["Where does person 3 live?", "Where does person 3 live?", "Does person 3 ever swim?", ""]
    contexts = [[benchmark.corpus["p3"].full_text, benchmark.corpus["p4"].full_text]] * 3 + [[]]
    first, second, closed, empty = answers = learned.answer(questions, contexts)
    assert first == second
    assert {first, closed, empty} <= {"yes", "no"} or first in questions[0] + " ".join(contexts[0])
    again = make()
    again.fit(benchmark)
    assert again.folder == learned.folder
    monkeypatch.delattr("kit.text.span_reader.SpanNetwork.read")
    assert again.answer(questions[::-1], contexts[::-1]) == answers[::-1]
    with pytest.raises(AttributeError):
        again.answer(["Something new?"], [[]])


def test_other_benchmarks_are_learned_from_too_and_dev_questions_are_not_needed(make, benchmark: Benchmark) -> None:
    alone, both = make(Learning(epochs=1)), make(Learning(epochs=1))
    alone.fit(Benchmark("people", benchmark.corpus, train=benchmark.train))
    both.fit(benchmark, [Benchmark("hand", CORPUS, train=example().test)])
    assert alone.folder != both.folder
    assert not [row for row in read_history(alone.folder) if "em" in row]


def test_the_loss_by_hand() -> None:
    first, last = (torch.log(torch.tensor([row, row])) for row in ([0.5, 0.25, 0.25], [0.1, 0.4, 0.5]))
    kinds = torch.log(torch.tensor([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]]))
    # A span in two places: 0.5 · (0.5 · 0.4 + 0.25 · 0.5); and a closed answer: 0.3.
    batch = [Example(None, SPAN, ((0, 1), (2, 2))), Example(None, SPAN + 1)]
    expected = -(math.log(0.5 * (0.5 * 0.4 + 0.25 * 0.5)) + math.log(0.3)) / 2
    assert loss_of(batch, first, last, kinds).item() == pytest.approx(expected)


@pytest.mark.parametrize(
    "train", [(), [Question("q", "Where?", "", (("p0",),))], [Question("q", "Where?", "Oslo", ())]]
)
def test_no_training_questions_is_one_plain_line(make, benchmark: Benchmark, train: list[Question]) -> None:
    with pytest.raises(InputError, match=r"^record people: expected training questions with answers and supports \(--"):
        make().fit(Benchmark("people", benchmark.corpus, train=train))


def test_readers_by_name() -> None:
    assert isinstance(reader("extractive"), ExtractiveReader)
    assert reader("t5:some/model").name == "t5:some/model"
    assert reader("replay:server:some-model").model.replay
    expected = "expected a reader: extractive, or a language model such as server:MODEL; not 'x'"
    with pytest.raises(InputError, match=expected):
        reader("x")


def test_a_lesson_a_question_and_a_step() -> None:
    lessons = lessons_of([TOWN, RIVER], CORPUS, steps=True)
    rows = {text: row for row, text in enumerate(TEXTS.values())}
    found = [(lesson.question, lesson.answers, [rows[text] for text in lesson.supports]) for lesson in lessons]
    assert found == [
        (TOWN.text, ("Selby Quay",), [0, 1]),
        ("Who directed the film The Glass Harbour?", ("Ines Moravec",), [0]),
        ("In which town was Ines Moravec born?", ("Selby Quay",), [1]),
        (RIVER.text, ("Oll",), [0, 1, 3]),
        ("Which river floods Selby Quay?", ("Oll",), [3]),
    ]
    assert [lesson.is_step for lesson in lessons] == [False, True, True, False, True]
    assert all({*lesson.near} == set(TEXTS.values()) - {*lesson.supports} for lesson in lessons)
    assert [lesson.answers for lesson in lessons_of([TOWN, RIVER], CORPUS, steps=False)] == [("Selby Quay",), ("Oll",)]


def test_what_cannot_be_learned_from_is_left_out() -> None:
    steps = (SubQuestion("Which is #4?", "x", 0), SubQuestion("Sum", "1", None), SubQuestion("Empty", "", 0))
    questions = [Question("a", "?", "", (("oll",),), decomposition=steps), Question("b", "?", "Oll", ())]
    (only,) = lessons_of(questions, CORPUS, steps=True)
    assert only.question == "Which is #4?"  # a reference to no step stays
    assert lessons_of([], Corpus([]), steps=True) == []


def test_closed_answers_are_common_and_stand_in_no_support() -> None:
    sisters, mill, boats = "two sisters", "a mill", "no boats"
    taught = [("2", sisters), ("2", mill), ("mill", mill), ("mill", mill), ("no", boats), ("3", sisters)]
    taught += [("", sisters), ("", sisters)]
    lessons = [Lesson("?", (answer,), (support,), (), False) for answer, support in taught]
    assert closed_answers(lessons) == ("yes", "no", "2")  # 3 is rare, the mill is a span


@pytest.fixture
def draws(tiny_model: str):
    """Examples drawn from a lesson; two is a closed answer."""
    transformer = Encoder(tiny_model).model[0]
    network = SpanNetwork(transformer.auto_model, transformer.tokenizer, ("yes", "no", "2"))

    def draw(question: str, answer: str, supports: list[str], near: list[str]) -> list[Example]:
        lesson = Lesson(question, (answer,), tuple(map(TEXTS.get, supports)), tuple(map(TEXTS.get, near)), False)
        made = [lesson.example(network, np.random.default_rng(seed)) for seed in range(40)]
        return [each for each in made if each]

    return draw


def test_spans_are_those_in_supports_and_in_the_question(draws) -> None:
    others = [id for id in TEXTS if id not in ("harbour", "moravec")]
    seen = draws(TOWN.text, "Selby Quay", ["harbour", "moravec"], others)
    assert len(seen) == 40
    for made in seen:
        shown = made.window.texts[1:]
        assert made.kind == SPAN and {TEXTS["harbour"], TEXTS["moravec"]} <= set(shown)
        # Selby Quay has a passage of its own, which is no support here.
        assert all(made.window.texts[made.window.piece[first]] == TEXTS["moravec"] for first, _ in made.spans)
        assert all(made.window.text(*span) == "Selby Quay" for span in made.spans)
    assert len({tuple(made.window.texts) for made in seen}) > 5  # another order each time


def test_a_closed_answer_has_no_place_and_one_that_is_nowhere_teaches_nothing(draws) -> None:
    assert {(made.kind, len(made.spans)) for made in draws(TOWN.text, "No", ["harbour", "moravec"], [])} == {(2, 0)}
    assert draws("Where?", "Oslo", ["harbour"], ["moravec"]) == []


def test_supports_are_always_there_and_mostly_others(draws) -> None:
    seen = draws("step", "Ines Moravec", ["harbour"], ["moravec", "oll"])
    assert all(TEXTS["harbour"] in made.window.texts for made in seen)
    assert {1, 3} <= {len(made.window.texts) - 1 for made in seen} <= {1, 2, 3}


@pytest.fixture(scope="module")
def minilm():
    return Encoder().model.tokenizer


def test_words_know_where_they_begin_and_where_else_they_stand(minilm) -> None:
    texts = ["Who built the mill?", "Skarstrom built it; the mill-pond, too.", "A pond."]
    window = Window(minilm, texts[0], texts[1:])
    assert window.ids.tolist() == [id for text in texts for id in minilm(text)["input_ids"]]
    spans = window.spans(["skarstrom", "MILL"], texts)
    assert [window.text(*span) for span in spans] == ["mill", "Skarstrom", "mill"]
    assert window.spans(["kars", "Skar", "built it; th", "", "Skarstrom mill"], texts) == []
    assert window.spans(["pond"], texts[2:]) == [(window.sizes[0] + window.sizes[1] + 2,) * 2]
    marks = dict(zip(zip(window.piece.tolist(), minilm.convert_ids_to_tokens(window.ids)), window.shared.tolist()))
    assert (marks[0, "who"], marks[0, "built"], marks[1, "built"], marks[1, "pond"], marks[1, "it"]) == (0, 2, 1, 2, 0)
    assert (marks[1, "mill"], marks[0, "[CLS]"]) == (1, 0)


def test_long_passages_are_read_in_parts_and_the_last_are_left_out(minilm, monkeypatch: pytest.MonkeyPatch) -> None:
    passages = ["river " * 400, "hill " * 400, "town " * 1200]
    window = Window(minilm, "q", passages)
    assert window.sizes.tolist() == [3, 402, 402, 512, 512, 182]
    read = [id for id in window.ids[window.piece > 0] if id > 102]  # without [CLS] and [SEP]
    assert read == minilm(" ".join(passages), add_special_tokens=False, verbose=False)["input_ids"]
    assert window.text(4, 5) == "river river" and window.text(1500, 1501) == "town town"
    monkeypatch.setattr("kit.text.span_reader.LONGEST", 1000)
    assert Window(minilm, "q", passages).sizes.tolist() == [3, 402, 402]
    assert len(Window(minilm, "q " * 600, [])) == 512
    assert len(Window(minilm, "", [])) == 2


def test_the_best_span_stays_in_one_text_and_in_its_order(minilm) -> None:
    window = Window(minilm, "q", ["a b", "c d"])
    # [CLS] q [SEP] [CLS] a b [SEP] [CLS] c d [SEP]
    first = np.log([0.01, 0.01, 0.01, 0.01, 0.1, 0.5, 0.01, 0.01, 0.33, 0.01, 0.01])
    last = np.log([0.01, 0.01, 0.01, 0.01, 0.3, 0.05, 0.01, 0.01, 0.1, 0.48, 0.01])
    # b to d would be likelier, but ends in another passage; c to d is next.
    score, text = window.best_span(first, last)
    assert (text, round(float(np.exp(score)), 3)) == ("c d", 0.158)
    assert Window(minilm, "", []).best_span(np.zeros(2), np.zeros(2)) == (-np.inf, "")


def test_a_language_model_is_asked_with_the_papers_prompts(server, tmp_path: Path) -> None:
    questions, context = ["Where is the river?", "Who wrote it?", "Where is the river?"], [TEXTS["oll"], TEXTS["quay"]]
    contexts = [context, [], context]
    model = language_model(f"server:{server.model}@{server.url}", longest_answer=6, store=Store(tmp_path))
    answers = LanguageModelReader(model).answer(questions, contexts)
    prompts = [answer_prompt(question, context) for question, context in zip(questions, contexts)]
    assert answers == [answer.text.strip() for answer in model.generate(prompts)] and answers[0] == answers[2]
    assert LanguageModelReader(model).usage()["calls"].tolist() == [2, 2]
