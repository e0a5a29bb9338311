"""Answers of a reader that is plain to see through, their means, a judge, and the record."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from kit.corpus import Benchmark, Question
from kit.errors import InputError
from kit.evaluation import evaluate, statistics
from kit.evaluation.answers import Reading, contexts_of, judge_answers, read_answers, reader_of
from kit.methods import Ranking
from kit.readers.base import Reader
from kit.readers.extractive import ExtractiveReader
from kit.store import Store
from kit.text.language_models import Answer, LanguageModel

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
        return [
            f"The answer of {context[0].partition(chr(10))[0]}!" if context else ""
            for context in contexts
        ]


class Judge(LanguageModel):
    """Finds right what it is told to, and wavers at an empty answer."""

    identity = "judge"

    def _ask(self, prompts: Sequence[str]) -> Iterator[Mapping[int, Answer]]:
        for index, prompt in enumerate(prompts):
            graded = prompt.partition("You are grading the following question:")[2]
            prediction = graded.partition("Prediction: ")[2].partition("\n")[0]
            yield {
                index: Answer(
                    {"": "0 or 1?", "The answer of a!": "1"}.get(prediction, "0"), 7, 1, 0.5
                )
            }


@pytest.fixture
def benchmark_with_answers(benchmark: Benchmark) -> Benchmark:
    return Benchmark("small", benchmark.corpus, test=QUESTIONS)


@pytest.fixture
def experiment(alphabetical, reverse, benchmark_with_answers: Benchmark):
    return evaluate(
        {"a to z": alphabetical, "z to a": reverse},
        benchmark_with_answers,
        ks=(2, 3),
        progress=False,
    )


def test_a_row_a_retriever_and_question(experiment) -> None:
    reader = FirstPassage()
    contexts = {
        name: texts for name, texts in contexts_of(experiment, 2).items() if name != "golden"
    }
    table = read_answers(reader, QUESTIONS, contexts)
    assert list(table) == [
        "retriever",
        "question",
        "hops",
        "type",
        "answer",
        "em",
        "f1",
        "accuracy",
        "words",
    ]
    # Articles go: "answer of a" is "answer of", which also stands in "answer of f".
    assert table.values.tolist() == [
        ["none", "q1", 2, "bridge", "", 0, 0, 0, 0],
        ["none", "q2", 1, "comparison", "", 0, 0, 0, 0],
        ["a to z", "q1", 2, "bridge", "The answer of a!", 1, 1, 1, 2],
        ["a to z", "q2", 1, "comparison", "The answer of a!", 0, pytest.approx(0.8), 0, 2],
        ["z to a", "q1", 2, "bridge", "The answer of f!", 0, pytest.approx(0.8), 1, 3],
        ["z to a", "q2", 1, "comparison", "The answer of f!", 0, pytest.approx(2 / 3), 0, 3],
    ]
    assert (
        reader.asked[0] == (["one", "two"], [[], []]) and reader.asked[2][1] == [["f\n", "e\n"]] * 2
    )


def test_contexts_between_nothing_and_the_supports(experiment) -> None:
    ends = {"none": [[], []], "golden": [["a\n", "b\n"], ["c\n"]]}
    assert contexts_of(experiment, 1) == ends | {"a to z": [["a\n"]] * 2, "z to a": [["f\n"]] * 2}
    # A letter is three tokens, with [CLS] and [SEP].
    assert contexts_of(experiment, 3, 7)["a to z"] == [["a\n", "b\n"]] * 2
    assert contexts_of(experiment, 3, 1)["a to z"] == [["a\n"]] * 2
    assert list(contexts_of(experiment, 3)) == ["none", "a to z", "z to a", "golden"]


def test_contexts_of_a_walk_can_be_its_pairs_as_in_listing_4(experiment) -> None:
    paths = (("c", "a"), ("c", "b"))
    walked = Ranking(("c", "a", "b", "d"), np.ones(4), paths=paths)
    rankings = {"kgp": {"q1": walked, "q2": walked}, "a to z": experiment.rankings["a to z"]}
    with_walk = replace(experiment, rankings=rankings)
    contexts = contexts_of(with_walk, 3, as_paths=True)
    assert contexts["kgp"] == [["c\n\na\n", "c\n\nb\n"]] * 2
    assert contexts["a to z"] == [["a\n", "b\n", "c\n"]] * 2  # which does not walk
    assert contexts_of(with_walk, 2)["kgp"] == [["c\n", "a\n"]] * 2
    reading = Reading(FirstPassage(), "1paths")
    reading.answers(with_walk)
    assert [["c\n\na\n"]] * 2 in [context for _, context in reading.reader.asked]


def test_means_by_hops_with_paired_differences(experiment) -> None:
    answers = Reading(FirstPassage(), "1").answers(experiment)
    assert answers.metrics == ["em", "f1", "accuracy", "words"]
    table = (
        answers.by_hops()
        .set_index(["retriever", "metric", "hops"])
        .sort_index(key=lambda names: names.astype(str))
    )
    assert set(table.index.unique("hops")) == {1, 2, "all"}
    assert table.loc[("a to z", "f1")]["mean"].to_dict() == pytest.approx(
        {"all": 0.9, 1: 0.8, 2: 1}
    )
    row = table.loc[("none", "f1", "all")]
    nothing = answers.table.query("retriever == 'none'")["f1"].to_numpy()
    first = answers.table.query("retriever == 'a to z'")["f1"].to_numpy()
    expected = statistics.paired(nothing, first, **experiment.draws)
    assert (row["baseline"], row["difference"], row["p"]) == (
        "a to z",
        pytest.approx(-0.9),
        expected.p,
    )
    assert row["low_difference"] == expected.low and row["mean"] == 0 and row["n"] == 2
    assert table["difference"].notna().sum() == 3 * 4 * 3  # others, metrics, and all or the hops


def test_a_judge_counts_what_it_does_not_say_as_wrong(experiment, tmp_path: Path) -> None:
    table = read_answers(FirstPassage(), QUESTIONS, contexts_of(experiment, 2))
    judged = judge_answers(table, QUESTIONS, Judge("judge", store=Store(tmp_path)))
    assert judged["judged"].tolist() == [0, 0, 1, 1, 0, 0, 1, 0]
    assert judged["unclear"].tolist() == [1, 1, 0, 0, 0, 0, 0, 0]
    assert "judged" not in table


def test_questions_without_an_answer_are_left_out_and_counted(
    alphabetical, benchmark: Benchmark
) -> None:
    """As MuSiQue's test file has them, and QReCC."""
    blank = Question("q3", "three", " ", (("c",),))
    benchmark = Benchmark("small", benchmark.corpus, test=[QUESTIONS[0], blank, QUESTIONS[1]])
    experiment = evaluate({"a to z": alphabetical}, benchmark, ks=(2,), progress=False)
    reading = Reading(FirstPassage(), "1")
    with pytest.warns(UserWarning, match="^1 of 3 questions have no answer to compare with: they"):
        answers = reading.answers(experiment)
    assert set(answers.table["question"]) == {"q1", "q2"}
    assert reading.reader.asked[0][0] == ["one", "two"]
    assert reading.record(answers)["reader"]["n_questions"] == 2
    assert set(answers.summary()["n"]) == {2} and len(experiment.table) == 3

    with pytest.raises(InputError, match="an answer to compare with, all 1 questions have none"):
        read_answers(reading.reader, [blank], {"x": [["a"]]})


def test_what_methods_answer_themselves_stands_beside_a_readers_answers(experiment) -> None:
    rankings = dict(experiment.rankings["z to a"])
    rankings["q1"] = msgspec.structs.replace(rankings["q1"], answer="answer of a")
    answering = replace(experiment, rankings=experiment.rankings | {"z to a": rankings})
    answers = Reading(FirstPassage(), "1").answers(answering)
    assert list(answers.rankings) == ["a to z", "z to a", "none", "golden", "z to a, own answer"]
    answered = answers.table[answers.table["retriever"] == "z to a, own answer"]
    assert answered[["question", "answer", "em"]].values.tolist() == [
        ["q1", "answer of a", 1.0],
        ["q2", "", 0.0],
    ]
    assert "z to a, own answer" in answering.text(answers)
    assert list(Reading(FirstPassage(), "1").answers(experiment).rankings)[-1] == "golden"


def test_a_reader_chooses_an_option_and_is_right_or_not(alphabetical, benchmark) -> None:
    """Where one option has the words of another, containment would count both as right."""
    options = ("answer of b", "The answer of a", "answer of a and b")
    choices = [
        Question(f"q{index}", "one", right, (("a",),), options=options)
        for index, right in enumerate(options)
    ]
    benchmark = Benchmark("small", benchmark.corpus, test=choices)
    experiment = evaluate({"a to z": alphabetical}, benchmark, ks=(2,), progress=False)
    answers = Reading(FirstPassage(), "1").answers(experiment).table
    read = answers[answers["retriever"] == "a to z"]
    assert read["answer"].tolist() == ["The answer of a"] * 3
    for metric in ("em", "f1", "accuracy"):
        assert read[metric].tolist() == [0, 1, 0]
    nothing = answers[answers["retriever"] == "none"]
    assert nothing["answer"].tolist() == [""] * 3 and not nothing["accuracy"].any()


# ---- what the command line asks for


def test_a_record_with_answers(experiment, tmp_path: Path) -> None:
    reading = Reading(FirstPassage(), "2")
    reading.judge = Judge("judge", store=Store(tmp_path))
    answers = reading.answers(experiment)
    record = experiment.record(answers) | reading.record(answers)
    assert [result["retriever"] for result in record["results"]] == [
        "a to z",
        "z to a",
        "none",
        "golden",
    ]
    first, _, none, golden = record["results"]
    assert (first["em"], first["judged"], none["unclear"], golden["em"]) == (0.5, 1.0, 1.0, 1.0)
    assert (
        first["em_ci"] == [0, 1]
        and first["recall@2"] == experiment.record()["results"][0]["recall@2"]
    )
    assert {"em", "words_ci"} <= none.keys() and "mrr" not in none
    assert record["reader"] == {"name": "first passage", "size": "2", "n_questions": 2}
    # Eight answers, of which the first of golden is the same prompt again.
    assert record["judge"]["usage"][0]["calls"] == 7
    assert "golden" in experiment.text(answers) and "golden" not in experiment.text()


def test_how_much_a_reader_reads_and_how_long_rankings_must_be_for_that(experiment) -> None:
    few = Reading(FirstPassage(), "30")
    many = Reading(FirstPassage(), "3501tokens")
    assert (few.n, few.n_tokens, many.n, many.n_tokens) == (30, math.inf, 71, 3501)
    Reading(few.reader, "7tokens").answers(experiment)  # a letter is three tokens
    assert few.reader.asked[1][1] == [["a\n"]] * 2  # of rankings as short as that


def test_readers_by_name() -> None:
    assert isinstance(reader_of("extractive"), ExtractiveReader) and reader_of("ras").name == "ras"
    assert reader_of("t5:some/model").name == "t5:some/model"
    assert reader_of("replay:server:some-model").model.replay


@pytest.mark.parametrize("size", ["0", "tokens", "2 words", "-1"])
def test_a_bad_size_is_one_plain_line(size: str) -> None:
    expected = "expected a number of passages, such as 30, or of tokens, such as 3500tokens"
    with pytest.raises(InputError, match=f"^field read: {expected}, not {size}$"):
        Reading(FirstPassage(), size)


def test_a_reader_or_a_judge_that_nobody_knows_is_one_plain_line() -> None:
    with pytest.raises(
        InputError, match=r"^field reader: expected a reader: extractive, ras, or a language model"
    ):
        reader_of("intensive")
    with pytest.raises(InputError, match=r"^field model: expected a language model as"):
        Reading(FirstPassage(), "2", "x")
