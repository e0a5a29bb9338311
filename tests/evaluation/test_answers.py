"""Answers of a reader that is plain to see through, their means, a judge, and the record that is written."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from kit.corpus import Benchmark, Question, example, load
from kit.errors import InputError
from kit.evaluation import evaluate, statistics
from kit.evaluation.answers import (
    AnswerOptions,
    brief_reader,
    contexts_of,
    judge_answers,
    lessons_of,
    read_answers,
    summarise_answers,
    with_spans,
)
from kit.store import Store
from kit.text.language_models import Answer, LanguageModel
from kit.text.reader import Reader

QUESTIONS = (
    Question("q1", "one", "The answer of a", (("a",), ("b",)), type="bridge"),
    Question("q2", "two", "b", (("c",),), aliases=("answer of c",), type="comparison"),
)


class FirstPassage(Reader):
    """Answers with the title of the first passage, and remembers what it was asked."""

    name = "first passage"

    def __init__(self) -> None:
        self.asked: list[tuple[list[str], list[list[str]]]] = []

    def answer(self, questions: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[str]:
        self.asked.append((list(questions), [list(context) for context in contexts]))
        return [f"The answer of {context[0].partition(chr(10))[0]}!" if context else "" for context in contexts]


class Judge(LanguageModel):
    """Finds right what it is told to, and wavers at an empty answer."""

    identity = "judge"

    def _ask(self, prompts: Sequence[str]) -> Iterator[Mapping[int, Answer]]:
        for place, prompt in enumerate(prompts):
            graded = prompt.partition("You are grading the following question:")[2]
            prediction = graded.partition("Prediction: ")[2].partition("\n")[0]
            yield {place: Answer({"": "0 or 1?", "The answer of a!": "1"}.get(prediction, "0"), 7, 1, 0.5)}


@pytest.fixture
def asked(benchmark: Benchmark) -> Benchmark:
    return Benchmark("small", benchmark.corpus, test=QUESTIONS)


@pytest.fixture
def experiment(alphabetical, reverse, asked: Benchmark):
    return evaluate({"a to z": alphabetical, "z to a": reverse}, asked, ks=(2, 3), progress=False)


def test_a_row_a_retriever_and_question(experiment) -> None:
    reader = FirstPassage()
    table = read_answers(reader, QUESTIONS, {"none": [[], []]} | contexts_of(experiment, 2))
    assert list(table) == ["retriever", "question", "hops", "type", "answer", "em", "f1", "accuracy", "words"]
    # Articles go: "answer of a" is "answer of", which also stands in "answer of f".
    assert table.values.tolist() == [
        ["none", "q1", 2, "bridge", "", 0, 0, 0, 0],
        ["none", "q2", 1, "comparison", "", 0, 0, 0, 0],
        ["a to z", "q1", 2, "bridge", "The answer of a!", 1, 1, 1, 2],
        ["a to z", "q2", 1, "comparison", "The answer of a!", 0, pytest.approx(0.8), 0, 2],
        ["z to a", "q1", 2, "bridge", "The answer of f!", 0, pytest.approx(0.8), 1, 3],
        ["z to a", "q2", 1, "comparison", "The answer of f!", 0, pytest.approx(2 / 3), 0, 3],
    ]
    assert reader.asked[0] == (["one", "two"], [[], []]) and reader.asked[2][1] == [["f\n", "e\n"]] * 2


def test_a_context_for_each_seed(alphabetical, reverse, asked: Benchmark) -> None:
    found = evaluate({"x": alphabetical, "x, seed 1": reverse, "y": reverse}, asked, ks=(2,), progress=False)
    assert contexts_of(found, 1) == {"x": [["a\n"]] * 2, "x, seed 1": [["f\n"]] * 2, "y": [["f\n"]] * 2}
    assert contexts_of(found.only(["x"]), 1, QUESTIONS[1:]) == {"x": [["a\n"]], "x, seed 1": [["f\n"]]}


def test_means_with_their_intervals(experiment) -> None:
    table = read_answers(FirstPassage(), QUESTIONS, contexts_of(experiment, 1))
    summary = summarise_answers(table, seed=3, n_resamples=200)
    assert summary["metric"].unique().tolist() == ["em", "f1", "accuracy", "words"]
    assert summary["retriever"].tolist() == ["a to z", "z to a"] * 4
    assert summary["mean"].tolist() == pytest.approx([0.5, 0, 0.9, (0.8 + 2 / 3) / 2, 0.5, 0.5, 2, 3])
    expected = statistics.interval(table["f1"].to_numpy()[:2], 3, n_resamples=200)
    assert summary.loc[2, ["mean", "low", "high"]].tolist() == pytest.approx(expected[:3])


def test_a_judge_counts_what_it_does_not_say_as_wrong(experiment, tmp_path: Path) -> None:
    table = read_answers(FirstPassage(), QUESTIONS, {"none": [[], []]} | contexts_of(experiment, 2))
    judged = judge_answers(table, experiment, Judge("judge", store=Store(tmp_path)))
    assert judged["judged"].tolist() == [0, 0, 1, 1, 0, 0]
    assert judged["unclear"].tolist() == [1, 1, 0, 0, 0, 0]
    assert "judged" not in table


def test_a_question_without_an_answer_is_one_plain_line(benchmark: Benchmark) -> None:
    with pytest.raises(InputError) as error:
        read_answers(FirstPassage(), benchmark.test, {"x": [["a"]] * 3})
    assert str(error.value) == "record q1, field answer: expected an answer to compare with"


# ---- what the command line asks for


def test_a_record_with_answers(experiment, tmp_path: Path) -> None:
    reading = AnswerOptions("extractive", 2, 3, none=True, judge=None)
    reading.reader, reading.judge = FirstPassage(), Judge("judge", store=Store(tmp_path))
    answers = reading.answers(experiment)
    record = experiment.record(answers) | reading.record()
    assert [result["retriever"] for result in record["results"]] == ["a to z", "z to a", "none"]
    first, _, none = record["results"]
    assert (first["em"], first["judged"], none["unclear"]) == (0.5, 1.0, 1.0)
    assert first["em_ci"] == [0, 1] and first["recall@2"] == experiment.record()["results"][0]["recall@2"]
    assert {"em", "words_ci"} <= none.keys() and "mrr" not in none
    assert record["reader"] == {"name": "first passage", "n_passages": 2}
    # Six answers, of which two pairs are the same prompt twice.
    used = {"model": "judge", "source": "live", "calls": 6, "prompt_tokens": 42, "answer_tokens": 6, "seconds": 3.0}
    assert record["judge"]["usage"][0] == used


def test_without_a_reader_nothing_is_added(experiment) -> None:
    reading = AnswerOptions(None, None, 3, none=False, judge=None)
    reading.fit(experiment.benchmark)
    assert reading.answers(experiment) is None and reading.record() == reading.usages() == {}


@pytest.mark.parametrize(
    ("reader", "n", "judge", "line"),
    [
        (None, 2, None, "field reader: expected a reader (--reader)"),
        (None, None, "server:x", "field reader: expected a reader (--reader)"),
        ("extractive", 4, None, "field read: expected a number from 1 to 3, the largest k, not 4"),
        ("extractive", 0, None, "field read: expected a number from 1 to 3, the largest k, not 0"),
        ("intensive", None, None, "field reader: expected a reader: extractive, or a language model"),
        ("extractive", 2, "x", "field model: expected a language model as"),
    ],
)
def test_bad_wishes_are_one_plain_line(reader: str | None, n: int | None, judge: str | None, line: str) -> None:
    with pytest.raises(InputError) as error:
        AnswerOptions(reader, n, 3, none=False, judge=judge)
    assert str(error.value).startswith(line)


def test_what_a_reader_learns_from(monkeypatch: pytest.MonkeyPatch) -> None:
    atlas, hand = load(), example()
    assert lessons_of(atlas) == [atlas]
    other = Benchmark("hand", hand.corpus, train=hand.test, dev=hand.test)
    assert [of.name for of in lessons_of(other)] == ["hand", "atlas"]
    learned = []
    monkeypatch.setattr("kit.text.reader.ExtractiveReader.fit", lambda self, *of: learned.append(of))
    brief_reader(other, 2)
    ((own, [more]),) = learned
    assert (own.name, len(own.train), len(own.dev)) == ("hand", 2, 1) and not own.test
    assert (more.name, len(more.train), len(more.dev)) == ("atlas", 2, 1)


def test_answers_that_can_be_copied(benchmark: Benchmark) -> None:
    """A passage's text is its title here. Of a yes one can't say where it stands."""
    questions = [Question(answer, "?", answer, (("b",), ("e",))) for answer in ("E!", "c", "", "yes", "b", "e")]
    assert [of.answer for of in with_spans(questions, benchmark.corpus, 2)] == ["E!", "b"]
