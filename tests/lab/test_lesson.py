"""What a run is told and reads, and the record that it leaves."""

import json
import subprocess
import warnings
from collections import Counter
from pathlib import Path

import msgspec
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kit
from kit.corpus import Benchmark, Question, example, export, load_training
from kit.errors import InputError, note
from kit.evaluation.statistics import Estimate
from kit.graphs import BUILDERS
from kit.lab import provenance as origin
from kit.lab.lesson import Lesson, start
from kit.lab.provenance import provenance
from kit.lab.reading import SCALES, Run, find_data, sample
from kit.methods import make
from kit.methods.baselines.dpr import DPR
from kit.paths import ROOT
from kit.text import DEFAULT_ENCODER
from kit.views import Figure

TABLE = pd.DataFrame({"density": [0.1, 0.2], "sf_em": [0.5, 0.75]})


def begin(project, **options: object) -> Lesson:
    return start("03_quality", **{"data": str(project.data), **options})


def drawn() -> Figure:
    figure = Figure("Denser graphs cover more")
    figure.subplots().plot([0.1, 0.2], [0.5, 0.75])
    return figure


def record(lesson: Lesson) -> dict:
    return json.loads((lesson.folder / "03_quality.json").read_text())


def test_what_was_not_shown_to_be_better_than_its_start_decides_nothing(project) -> None:
    lesson = begin(project)
    networks = [make("mdr", seed=n) for n in range(3)]
    gain = Estimate(0.05, 0.01, 0.09, 100, differ=30, rival=0.5)
    assert lesson.claim("kgp-08", gain, networks).verdict == "undecided"
    assert not lesson.learned(networks, gain._replace(low=-0.01))
    assert lesson.claim("kgp-08", gain, networks).verdict == "undecided"
    assert lesson.learned(networks, gain)
    assert lesson.claim("kgp-08", gain, networks).verdict == "mechanism reproduced"
    assert lesson.claim("kgp-08", gain, networks, untestable="a bound").why == "a bound"


def test_committed_numbers_of_a_figure_are_at_hand(project, tmp_path, monkeypatch) -> None:
    lesson = begin(project)
    monkeypatch.setattr("kit.paths.PUBLISHED", tmp_path / "published")
    assert lesson.published("curves") is None
    folder = tmp_path / "published" / lesson.folder.name
    folder.mkdir(parents=True)
    TABLE.to_csv(folder / "03_curves.csv", index=False)
    assert lesson.published("curves").equals(TABLE)


def test_record_says_where_the_numbers_come_from(project) -> None:
    lesson = begin(project, seed=3, n_questions=6, colour="red")
    lesson.figure(drawn(), "curves", TABLE)
    for case, effect, low in (
        ("tfidf", 0.9, 0.8),
        ("tfidf", 0.7, 0.6),
        ("knn", 0.1, -0.2),
    ):  # a cell that ran twice
        measured = Estimate(effect, low, effect + 0.3, 6)
        lesson.claim("kgp-01", measured, criterion="SF-EM over chance", case=case)
    assert list(lesson.done()["verdict"]) == ["reproduced", "undecided"]

    written = record(lesson)
    source = written["provenance"]
    assert written["notebook"] == "03_quality"
    assert written["figures"] == ["03_curves.csv", "03_curves.png", "03_curves.svg"]
    findings = [
        (finding["case"], finding["effect"], finding["seed"]) for finding in written["findings"]
    ]
    assert findings == [("tfidf", 0.7, 3), ("knn", 0.1, 3)]
    assert (source["kit"], source["data"], source["encoder"]) == (
        kit.__version__,
        "hotpotqa-dev",
        DEFAULT_ENCODER,
    )
    assert (source["scale"], source["seed"], source["questions"]) == ("class", 3, 6)
    assert source["parameters"] == {"n_questions": 6, "colour": "red"}
    assert source["passages"] == 36  # 12 questions of 1, 2, 3 hops, and one paragraph more
    assert (
        source["seconds"] >= 0 and source["data_hash"] == begin(project).benchmark.hash
    )  # that of the whole data
    assert str(project.data.parent) not in json.dumps(written)


@pytest.mark.parametrize(
    ("options", "folder"),
    [
        ({}, "hotpotqa-dev"),
        ({"scale": "smoke"}, "hotpotqa-dev-smoke"),
        ({"n_questions": 4}, "hotpotqa-dev-trial"),
        ({"seed": 1}, "hotpotqa-dev-trial"),
        ({"n_seeds": 3}, "hotpotqa-dev-trial"),  # another value than the notebook's
        ({"n_seeds": 5}, "hotpotqa-dev"),
        ({"setting": "per-question"}, "hotpotqa-dev-trial"),
        ({"setting": "closed"}, "hotpotqa-dev"),  # a notebook's own choice
    ],
)
def test_a_trial_never_writes_where_committed_figures_are(
    project, options: dict, folder: str
) -> None:
    assert begin(project, **options).folder == project.output / "figures" / folder


def test_the_same_run_writes_the_same_bytes_and_figures_of_others_stay(project) -> None:
    lesson = begin(project)
    lesson.figure(drawn(), "curves", TABLE)
    lesson.figure(drawn(), "hops", TABLE)
    lesson.done()
    before = {path: path.read_bytes() for path in lesson.folder.glob("03_curves.*")}
    (lesson.folder / "04_recall.svg").write_text("another notebook's")
    for damaged in (False, True):
        if damaged:
            (lesson.folder / "03_quality.json").write_text('{"figures": [')
        lesson = begin(project)
        lesson.figure(drawn(), "curves", TABLE)
        lesson.done()
        assert {path: path.read_bytes() for path in lesson.folder.glob("03_curves.*")} == before
        kept = {path.name for path in lesson.folder.iterdir()}
        assert kept == {path.name for path in before} | {"03_quality.json", "04_recall.svg"}


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"seed": -1}, "field seed: expected a whole number from 0, not -1"),
        ({"scale": "tiny"}, "field scale: expected one of 'class', 'paper', 'smoke', not 'tiny'"),
        ({"data": "absent.json"}, "absent.json"),
        ({"train": "absent.json"}, "absent.json"),
    ],
)
def test_bad_parameters_are_told(project, options: dict, line: str) -> None:
    with pytest.raises(InputError) as caught:
        begin(project, **options)
    assert line in str(caught.value)
    assert not project.output.exists()


@pytest.fixture
def town(tmp_path: Path) -> str:
    """The six passages in the kit's own format: a question to learn from, to choose on, to ask."""
    town, river = example().test
    again = msgspec.structs.replace(
        town, id="town-again", text="Where was the director of that film born?"
    )
    benchmark = Benchmark("town", example().corpus, train=[town], dev=[again], test=[river])
    return str(export(benchmark, tmp_path / "town", "kit"))


def test_one_learns_from_the_datas_own_questions_from_a_file_or_not_at_all(
    project, town: str
) -> None:
    def learned(**options: object) -> Lesson:
        lesson = begin(project, **options)
        lesson.done()
        source = record(lesson)["provenance"]
        training = lesson.training
        named = (training.name, training.hash) if training else ("", "")
        assert (source["training"], source["training_hash"]) == named
        return lesson

    assert (
        learned().training
        is learned(data=town).training
        is learned(data=town, train=None).training
        is None
    )
    from_town = learned(data=town, train="")
    splits = [
        [question.id for question in part]
        for part in (from_town.training.train, from_town.training.dev, from_town.training.test)
    ]
    assert splits == [["town"], ["town-again"], []] and [
        question.id for question in from_town.questions
    ] == ["river"]
    assert from_town.training.corpus is from_town.benchmark.corpus

    other = learned(data=town, train=str(project.data))
    assert other.training.hash == load_training([project.data]).hash and not other.training.test
    assert len(other.benchmark.corpus) == 6  # what is searched stays as it was
    assert other.folder.name == f"{from_town.folder.name}-trial"
    assert not begin(project, train=town).folder.name.endswith(
        "-trial"
    )  # data without any questions of its own

    transductive = learned(data=town, train=str(project.data), transductive=True).training
    assert [question.id for question in transductive.train] == [
        question.id for question in other.training.train
    ]
    assert len(transductive.corpus) == len(other.training.corpus) + 6


def test_a_training_file_is_read_in_the_setting_of_the_run(project) -> None:
    _, training = Run(
        data=str(project.data), train=str(project.data), setting="per-question"
    ).read()
    assert training.collections


def test_a_relative_path_is_from_the_working_folder_or_the_project(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_data("") is None and find_data("absent.json") == Path("absent.json")
    assert find_data("pyproject.toml") == ROOT / "pyproject.toml"
    Path("pyproject.toml").touch()
    assert find_data("pyproject.toml") == Path("pyproject.toml")


@given(st.lists(st.integers(1, 4), max_size=40), st.integers(1, 50), st.integers(0, 5))
def test_a_sample_has_the_size_asked_each_hop_count_in_its_share_and_is_the_same_again(
    hops, n, seed
) -> None:
    questions = [
        Question(f"q{i}", "?", "", tuple((f"p{j}",) for j in range(hop)))
        for i, hop in enumerate(hops)
    ]
    chosen = sample(questions, n, seed)
    assert len(chosen) == min(n, len(questions)) and [
        question for question in questions if question in chosen
    ] == list(chosen)
    assert sample(questions, n, seed) == chosen
    for hop, count in Counter(hops).items():
        share = sum(question.hops == hop for question in chosen)
        assert abs(share - min(n, len(questions)) * count / len(questions)) <= 1


def test_each_scale_has_the_same_sizes_and_sweeps_every_builder() -> None:
    assert len({frozenset(vars(scale)) for scale in SCALES.values()}) == 1
    assert all(set(scale.densities) == set(BUILDERS) for scale in SCALES.values())


def test_a_scale_limits_what_is_learned_from() -> None:
    _, few = Run(scale="smoke").read()
    smoke = SCALES["smoke"]
    assert (len(few.train), len(few.dev)) == (smoke.n_training, smoke.n_dev)
    _, every = Run().read()
    assert (len(every.train), len(every.dev), every.test) == (600, 200, ())


def test_all_layers_of_an_encoder_learn_on_a_gpu_and_at_paper_scale(project, monkeypatch) -> None:
    taught = [
        begin(project, train=str(project.data), scale=scale).learning
        for scale in ("smoke", "class", "paper")
    ]
    assert [DPR(**learning).settings.layers for learning in taught] == [3, 3, 0]
    assert [learning["n_train"] for learning in taught] == [
        8,
        10,
        0,
    ]  # of the ten that are not held out as dev questions
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    assert begin(project, train=str(project.data)).learning == taught[2] | {
        "n_train": taught[1]["n_train"]
    }


def test_commit_and_whether_what_matters_was_changed(tmp_path: Path, monkeypatch) -> None:
    def git(*arguments: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        return subprocess.run(
            ["git", *who, *arguments], check=True, capture_output=True, text=True
        ).stdout.strip()

    def checkout() -> tuple:
        made = provenance(example())
        return made["commit"], made["changed"]

    monkeypatch.setattr(origin, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert checkout() == (None, None)  # no checkout
    git("init", "-q")
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit" / "a.py").write_text("a = 1\n")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    (tmp_path / "new.svg").write_text("made by a run")
    head = git("rev-parse", "HEAD")
    assert checkout() == (head, False)
    (tmp_path / "kit" / "a.py").write_text("a = 2\n")
    assert checkout() == (head, True)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert checkout() == (None, None)  # no git


def test_what_the_kit_warns_of_is_a_plain_line_of_the_notebook(project, capsys) -> None:
    others = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda *warning: others.append(str(warning[0]))
        begin(project)
        capsys.readouterr()
        note("two rows are left out")
        assert capsys.readouterr() == ("note: two rows are left out\n", "") and others == []
        warnings.warn_explicit("old", DeprecationWarning, "elsewhere.py", 7)
        assert others == ["old"]
