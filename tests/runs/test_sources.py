from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.corpus import Question, load
from kit.errors import InputError
from kit.paths import ROOT
from kit.runs.scales import find_scale
from kit.runs.sources import data_for, find_data, folder_name, read_benchmark, read_training, sample


def questions(hops: list[int]) -> list[Question]:
    return [Question(f"q{i}", "?", "", tuple((f"p{j}",) for j in range(n))) for i, n in enumerate(hops)]


def test_a_sample_keeps_the_shares_of_the_hop_counts() -> None:
    asked = questions([2] * 60 + [3] * 30 + [4] * 10)
    assert Counter(question.hops for question in sample(asked, 20, seed=3)) == {2: 12, 3: 6, 4: 2}


@given(st.lists(st.integers(1, 4), max_size=40), st.integers(1, 50), st.integers(0, 5))
def test_a_sample_is_of_the_size_asked_in_order_and_the_same_again(hops: list[int], n: int, seed: int) -> None:
    asked = questions(hops)
    chosen = sample(asked, n, seed)
    assert len(chosen) == min(n, len(asked)) == len({question.id for question in chosen})
    assert [question for question in asked if question in chosen] == list(chosen)
    assert sample(asked, n, seed) == chosen
    for hop, count in Counter(hops).items():
        share = sum(question.hops == hop for question in chosen)
        assert abs(share - min(n, len(asked)) * count / len(asked)) <= 1


def test_only_a_whole_run_at_class_scale_bears_the_name_of_the_data() -> None:
    names = [
        folder_name("atlas", scale, trial=trial) for scale in ("smoke", "class", "paper") for trial in (False, True)
    ]
    assert names == ["atlas-smoke", "atlas-smoke", "atlas", "atlas-trial", "atlas-paper", "atlas-paper"]


def test_a_relative_path_is_from_the_working_folder_or_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_data("") is None and find_data(None) is None
    assert find_data("pyproject.toml") == ROOT / "pyproject.toml"
    Path("pyproject.toml").touch()
    assert find_data("pyproject.toml") == Path("pyproject.toml")
    assert find_data("absent.json") == Path("absent.json")


def test_a_notebook_about_documents_reads_its_own_unless_pdfs_are_given(tmp_path: Path) -> None:
    reports, other = ROOT / "data" / "reports", tmp_path / "dev.json"
    assert data_for("", None) is None and data_for("", other) == other
    for none in (None, other, tmp_path):
        assert data_for("data/reports", none) == reports
    (tmp_path / "plan.PDF").touch()
    assert data_for("data/reports", tmp_path) == tmp_path


def test_data_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.json"):
        read_benchmark(tmp_path / "absent.json", find_scale("class"))


def test_a_training_file_is_read_in_the_setting_and_the_unit_of_the_run(project) -> None:
    training = read_training(project.data, load(project.data), setting="per-question", unit="sentence")
    assert (training.setting, training.unit) == ("per-question", "sentence")
    # Two sentences a paragraph, and one paragraph more than a question has hops.
    question = training.train[0]
    assert len(training.collection(question)) == 2 * (question.hops + 1)
