"""The extractive reader on a tiny BERT."""

import inspect
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from kit.corpus import Benchmark, Corpus, Passage, Question
from kit.errors import InputError
from kit.readers.extractive import ExtractiveReader
from kit.readers.span_network import span_loss
from kit.readers.windows import CLOSED_TEXT

TOWNS = ["Oslo", "Lima", "Bern", "Rome", "Cork", "Nice", "Bath", "Kiel"]
LEARNING = {"epochs": 8, "tokens": 1024, "learning_rate": 1e-3}


@pytest.fixture
def benchmark() -> Benchmark:
    """Half ask for a town, half whether somebody swims, which those with an even number do."""
    texts = [
        f"lives in {TOWNS[i % 8]} and {'never' if i % 2 else 'always'} swims" for i in range(48)
    ]
    corpus = Corpus(Passage(f"p{i}", f"person {i}", text, f"p{i}") for i, text in enumerate(texts))
    questions = [
        Question(f"q{i}", f"Where does person {i} live?", TOWNS[i % 8], ((f"p{i}",),))
        if i % 4 < 2
        else Question(
            f"q{i}", f"Does person {i} ever swim?", "no" if i % 2 else "yes", ((f"p{i}",),)
        )
        for i in range(48)
    ]
    return Benchmark("people", corpus, train=questions, dev=questions[:12])


@pytest.fixture
def make(tiny_model: str, own_store: Path):
    return lambda **settings: ExtractiveReader(encoder=tiny_model, **LEARNING | settings)


def test_it_learns_and_its_answers_are_kept(make, benchmark: Benchmark, monkeypatch) -> None:
    learned = make()
    learned.fit(benchmark)
    losses = [row["loss"] for row in learned.history if "loss" in row]
    quarter = len(losses) // 4
    assert np.mean(losses[-quarter:]) < 0.85 * np.mean(losses[:quarter])
    assert sum("measured" in row for row in learned.history) == 2 * LEARNING["epochs"] + 1
    questions = [
        "Where does person 3 live?",
        "Where does person 3 live?",
        "Does person 3 ever swim?",
        "",
    ]
    contexts = [[benchmark.corpus["p3"].full_text, benchmark.corpus["p4"].full_text]] * 3 + [[]]
    first, second, closed, empty = answers = learned.answer(questions, contexts)
    assert first == second
    words = set(" ".join([*questions, CLOSED_TEXT, *contexts[0]]).split())
    assert {first, closed} <= words or first in contexts[0][0]
    assert empty in CLOSED_TEXT
    again = make()
    again.fit(benchmark)
    assert again.history == learned.history
    monkeypatch.delattr("kit.readers.span_network.SpanNetwork.forward")
    assert again.answer(questions[::-1], contexts[::-1]) == answers[::-1]
    with pytest.raises(NotImplementedError):
        again.answer(["Something new?"], [[]])


def test_to_answer_before_it_has_learned_is_one_plain_line(make) -> None:
    with pytest.raises(InputError, match="extractive has learned nothing yet: call fit"):
        make().answer(["Where?"], [[]])


def test_help_shows_the_settings() -> None:
    parameters = inspect.signature(ExtractiveReader).parameters
    assert (parameters["epochs"].default, parameters["tokens"].default) == (2, 2048)


def test_dev_questions_are_not_needed(make, benchmark: Benchmark) -> None:
    alone = make(epochs=1)
    alone.fit(Benchmark("people", benchmark.corpus, train=benchmark.train))
    assert not [row for row in alone.history if "measured" in row]


def test_a_setting_that_there_is_not(make) -> None:
    with pytest.raises(
        InputError, match="the extractive reader has no setting 'layers'; it has encoder, epochs"
    ):
        make(layers=2)


def test_the_loss_by_hand() -> None:
    first, last = (
        torch.log(torch.tensor([row, row])) for row in ([0.5, 0.25, 0.25], [0.1, 0.4, 0.5])
    )
    # A span in two places: 0.5 · 0.4 + 0.25 · 0.5; and one in one: 0.25 · 0.5.
    batch = [SimpleNamespace(spans=((0, 1), (2, 2))), SimpleNamespace(spans=((1, 2),))]
    expected = -(math.log(0.5 * 0.4 + 0.25 * 0.5) + math.log(0.25 * 0.5)) / 2
    assert span_loss(batch, first, last).item() == pytest.approx(expected)


@pytest.mark.parametrize(
    "train", [(), [Question("q", "Where?", "", (("p0",),))], [Question("q", "Where?", "Oslo", ())]]
)
def test_no_training_questions_is_one_plain_line(
    make, benchmark: Benchmark, train: list[Question]
) -> None:
    with pytest.raises(
        InputError,
        match=r"^record people: expected training questions with answers and supports \(--",
    ):
        make().fit(Benchmark("people", benchmark.corpus, train=train))
