"""The extractive reader on a tiny BERT: it learns, goes on where it was stopped, and keeps its answers."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from kit.corpus import Benchmark, Corpus, Passage, Question
from kit.corpus.example import example
from kit.errors import InputError
from kit.store import Store
from kit.text.readers import ExtractiveReader, Learning, reader, training
from kit.text.readers.lessons import Example
from kit.text.readers.network import NOWHERE, SPAN
from kit.text.readers.training import loss_of
from kit.text.training import Period

TOWNS = ["Oslo", "Lima", "Bern", "Rome", "Cork", "Nice", "Bath", "Kiel"]
LEARNING = Learning(epochs=8, tokens=1024, learning_rate=1e-3)


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
    monkeypatch.delattr("kit.text.readers.span_model.SpanModel.read")
    assert again.answer(questions[::-1], contexts[::-1]) == answers[::-1]
    with pytest.raises(AttributeError):
        again.answer(["Something new?"], [[]])


def test_other_questions_or_settings_are_another_training(make, benchmark: Benchmark) -> None:
    fitted = []
    fewer = Benchmark("people", benchmark.corpus, train=benchmark.train[:20], dev=benchmark.dev)
    for seed, data in ((0, benchmark), (1, benchmark), (0, fewer)):
        reader = make(learning=Learning(epochs=1, seed=seed))
        reader.fit(data)
        fitted.append(reader.folder)
    assert len(set(fitted)) == 3


def test_an_interrupted_training_goes_on_to_the_same_result(make, benchmark: Benchmark, monkeypatch) -> None:
    settings = Learning(epochs=2, tokens=512, learning_rate=1e-3)
    straight, stopped = make("one", settings), make("other", settings)
    straight.fit(benchmark)
    period, begun = training.Trainer.period, []

    def breaks(trainer: training.Trainer, number: int) -> Period:
        begun.append(number)
        if begun == [0, 1, 2]:
            raise KeyboardInterrupt
        return period(trainer, number)

    monkeypatch.setattr(training.Trainer, "period", breaks)
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(benchmark)
    stopped.fit(benchmark)
    assert begun == [0, 1, 2, 2, 3]
    assert stopped.history == straight.history
    assert same(weights(stopped), weights(straight))
    assert not list((stopped.base.store.folder / "checkpoints").iterdir())


def test_damaged_weights_are_made_again(make, benchmark: Benchmark) -> None:
    first = make(learning=Learning(epochs=1))
    first.fit(benchmark)
    before = weights(first)
    file = first.folder / "reader.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    again = make(learning=Learning(epochs=1))
    with pytest.warns(UserWarning, match="damaged"):
        again.fit(benchmark)
    assert same(before, weights(again))


def test_without_dev_questions_the_last_weights_are_kept(make, benchmark: Benchmark) -> None:
    reader = make(learning=Learning(epochs=1))
    reader.fit(Benchmark("people", benchmark.corpus, train=benchmark.train))
    learned = {name: weight for name, weight in weights(reader).items() if name.startswith("learned/")}
    untrained = training.Trainer(reader.base, [benchmark], Learning(epochs=1)).model.network.state_dict()
    assert not same(learned, {f"learned/{name}": weight.numpy() for name, weight in untrained.items()})


def test_questions_of_another_corpus_are_learned_from_too(make, benchmark: Benchmark) -> None:
    hand = example()
    more = Benchmark("hand", hand.corpus, train=hand.test, dev=hand.test)
    reader = make(learning=Learning(epochs=1))
    run = training.Trainer(reader.base, [benchmark, more], LEARNING)
    for lesson in run.taught[-len(hand.test) :]:
        assert all(
            run.texts[row] in {p.full_text for p in hand.corpus.passages} for row in lesson.supports + lesson.near
        )
    own, other = (question.text for question in (benchmark.train[0], hand.test[0]))
    supports = {lesson.question: {run.texts[row] for row in lesson.supports} for lesson in run.taught}
    assert supports[other] == {hand.corpus[id].full_text for id in hand.test[0].supporting_ids}
    assert supports[own] == {benchmark.corpus[id].full_text for id in benchmark.train[0].supporting_ids}
    assert {lesson.question for lesson in run.dev} <= {question.text for question in benchmark.dev}
    alone = make(learning=Learning(epochs=1))
    alone.fit(benchmark)
    reader.fit(benchmark, [more])
    assert alone.folder != reader.folder and not same(weights(alone), weights(reader))


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
