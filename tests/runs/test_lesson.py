from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pandas as pd
import pytest

import kit
from kit.corpus import load_training
from kit.corpus.example import example
from kit.errors import InputError
from kit.evaluation.statistics import Estimate
from kit.runs import Lesson, start
from kit.views import Figure

TABLE = pd.DataFrame({"density": [0.1, 0.2], "sf_em": [0.5, 0.75]})


def begin(project, **options: object) -> Lesson:
    return start("02_graph_quality", **{"data": str(project.data), **options})


def drawn(height: float = 0.75) -> Figure:
    figure = Figure("Denser graphs cover more")
    figure.subplots().plot([0.1, 0.2], [0.5, height])
    return figure


def record(lesson: Lesson) -> dict:
    return json.loads((lesson.folder / "02_graph_quality.json").read_text())


def files(lesson: Lesson) -> set[str]:
    return {path.name for path in lesson.folder.iterdir()}


def test_record_says_where_the_numbers_come_from(project) -> None:
    lesson = begin(project, seed=3, n_questions=6, encoder="/models/some-encoder", colour="red")
    lesson.figure(drawn(), "curves", TABLE)
    lesson.claim("kgp-01", Estimate(0.9, 0.8, 1.0, 6), criterion="SF-EM", case="tfidf")
    lesson.claim("kgp-01", Estimate(0.7, 0.6, 0.8, 6), criterion="SF-EM", case="tfidf")  # the cell, run again
    lesson.claim("kgp-01", Estimate(0.1, -0.2, 0.4, 6), criterion="SF-EM", case="knn")
    verdicts = lesson.done()
    assert list(verdicts["verdict"]) == ["reproduced", "undecided"]

    written = record(lesson)
    assert written["notebook"] == "02_graph_quality"
    assert written["figures"] == ["02_curves.csv", "02_curves.png", "02_curves.svg"]
    assert [(found["case"], found["effect"], found["seed"]) for found in written["findings"]] == [
        ("tfidf", 0.7, 3),
        ("knn", 0.1, 3),
    ]
    source = written["provenance"]
    assert (source["kit"], source["data"], source["encoder"]) == (kit.__version__, "hotpotqa-dev", "some-encoder")
    assert (source["scale"], source["seed"], source["questions"]) == ("class", 3, 6)
    assert source["parameters"] == {"n_questions": 6, "colour": "red"}
    assert (
        source["passages"] == len(lesson.benchmark.corpus) == 36
    )  # 12 questions of 1, 2, 3 hops, and one paragraph more
    assert source["seconds"] >= 0 and len(source["data_hash"]) == 16
    assert str(project.data.parent) not in json.dumps(written)


def test_data_hash_is_that_of_the_whole_data(project) -> None:
    few, all = begin(project, n_questions=3), begin(project)
    assert len(few.questions) == 3 and len(all.questions) == 12
    few.done(), all.done()
    assert record(few)["provenance"]["data_hash"] == record(all)["provenance"]["data_hash"] == all.benchmark.hash


@pytest.mark.parametrize(
    ("options", "folder"),
    [
        ({}, "hotpotqa-dev"),
        ({"scale": "smoke"}, "hotpotqa-dev-smoke"),
        ({"n_questions": 4}, "hotpotqa-dev-trial"),
        ({"seed": 1}, "hotpotqa-dev-trial"),
        ({"unit": "sentence"}, "hotpotqa-dev-trial"),
        ({"setting": "per-question"}, "hotpotqa-dev-trial"),
    ],
)
def test_a_trial_never_writes_where_committed_figures_are(project, options: dict, folder: str) -> None:
    assert begin(project, **options).folder == project.output / "figures" / folder


def test_the_same_run_writes_the_same_bytes_and_figures_of_others_stay(project) -> None:
    lesson = begin(project)
    lesson.figure(drawn(), "curves", TABLE)
    lesson.figure(drawn(), "hops", TABLE)
    lesson.done()
    before = {path: path.read_bytes() for path in lesson.folder.glob("02_curves.*")}
    (lesson.folder / "03_recall.svg").write_text("another notebook's")

    lesson = begin(project)
    lesson.figure(drawn(), "curves", TABLE)
    assert "02_hops.svg" in files(lesson)
    lesson.done()
    assert {path: path.read_bytes() for path in lesson.folder.glob("02_curves.*")} == before
    assert files(lesson) == {path.name for path in before} | {"02_graph_quality.json", "03_recall.svg"}


def test_a_damaged_record_is_written_anew(project) -> None:
    lesson = begin(project)
    lesson.figure(drawn(), "curves", TABLE)
    lesson.folder.mkdir(parents=True, exist_ok=True)
    (lesson.folder / "02_graph_quality.json").write_text('{"figures": [')
    lesson.done()
    assert record(lesson)["figures"] == ["02_curves.csv", "02_curves.png", "02_curves.svg"]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"seed": -1}, "field seed: expected a whole number from 0, not -1"),
        ({"seed": "1"}, "field seed: expected a whole number from 0, not '1'"),
        ({"seed": True}, "field seed: expected a whole number from 0, not True"),
        ({"n_questions": 0}, "field n_questions: expected a whole number from 1, not 0"),
        ({"n_questions": 2.5}, "field n_questions: expected a whole number from 1, not 2.5"),
        ({"scale": "tiny"}, "field scale: expected one of smoke, class, paper, not 'tiny'"),
    ],
)
def test_bad_parameters_are_told(project, options: dict, line: str) -> None:
    with pytest.raises(InputError) as caught:
        begin(project, **options)
    assert str(caught.value) == line
    assert not project.output.exists()


@pytest.fixture
def town(tmp_path: Path) -> Path:
    """The six passages in a folder of the kit's own format: one question to learn from, one to choose on, one asked."""
    folder, (town, river) = tmp_path / "town", example().test
    folder.mkdir()
    for name, records in {"passages": example().corpus.passages, "train": [town], "test": [river]}.items():
        (folder / f"{name}.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, records)))
    chosen_on = msgspec.structs.replace(town, id="town-again", text="Where was the director of that film born?")
    (folder / "dev.jsonl").write_bytes(msgspec.json.encode(chosen_on))
    return folder


def test_where_nothing_is_learned_there_is_no_training(project, town: Path) -> None:
    for lesson in (begin(project), begin(project, data=str(town)), begin(project, data=str(town), train=None)):
        assert lesson.training is None
        lesson.done()
        source = record(lesson)["provenance"]
        assert (source["training"], source["training_hash"]) == ("", "")


def test_one_learns_from_the_datas_own_questions(project, town: Path) -> None:
    lesson = begin(project, data=str(town), train="", n_questions=1)
    training = lesson.training
    assert [[question.id for question in part] for part in (training.train, training.dev, training.test)] == [
        ["town"],
        ["town-again"],
        [],
    ]
    assert [question.id for question in lesson.questions] == ["river"]
    assert training.corpus is lesson.benchmark.corpus
    lesson.done()
    source = record(lesson)["provenance"]
    assert (source["training"], source["training_hash"]) == (source["data"], training.hash)
    assert source["training_hash"] != source["data_hash"]


def test_a_training_file_is_learned_from_and_named_in_the_record(project, town: Path) -> None:
    lesson = begin(project, data=str(town), train=str(project.data))
    assert lesson.training.hash == load_training([project.data]).hash
    assert len(lesson.training.train) == 10 and not lesson.training.test
    assert len(lesson.benchmark.corpus) == 6  # what is searched stays as it was
    lesson.done()
    written = record(lesson)
    source = written["provenance"]
    assert (source["training"], source["training_hash"]) == ("hotpotqa-dev", lesson.training.hash)
    assert source["data_hash"] == begin(project, data=str(town)).benchmark.hash
    assert str(project.data.parent) not in json.dumps(written)
    # Other files of a name have another hash.
    project.data.write_text(json.dumps(json.loads(project.data.read_text())[1:]))
    assert begin(project, data=str(town), train=str(project.data)).training.hash != source["training_hash"]


def test_transductive_learning_knows_the_passages_that_are_searched_but_not_their_questions(
    project, town: Path
) -> None:
    lesson = begin(project, data=str(town), train=str(project.data), transductive=True)
    alone = load_training([project.data])
    assert [question.id for question in lesson.training.train] == [question.id for question in alone.train]
    titles = {passage.title for passage in lesson.benchmark.corpus.passages}
    assert titles <= {passage.title for passage in lesson.training.corpus.passages}
    assert len(lesson.training.corpus) == len(alone.corpus) + 6


@pytest.mark.parametrize("content", [None, "[{", "[]"])
def test_a_bad_training_file_writes_nothing(project, tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "train.json").write_text(content)
    with pytest.raises(InputError, match=r"train\.json"):
        begin(project, train=str(tmp_path / "train.json"))
    assert not project.output.exists()


def test_other_training_questions_than_the_datas_own_make_a_trial(project, town: Path) -> None:
    own = begin(project, data=str(town), train="")
    other = begin(project, data=str(town), train=str(town))
    assert other.folder.name == f"{own.folder.name}-trial"
    assert not begin(project, train=str(town)).folder.name.endswith("-trial")  # data without any of its own
