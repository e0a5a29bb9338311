"""TREC files: what is written is read back, and bad files are told plainly; test_cli.py has what other tools read."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.corpus import Benchmark, Corpus, Passage, Question
from kit.corpus.exporting import encode_id
from kit.errors import InputError
from kit.evaluation.trec import read_run, write_runs
from kit.retrievers import Ranking

HARD = ["San Jose", "100%", "a%20b", "a b", "tab\there", "new\nline", "zero\u00a0width", "ünï", "#1", "x\u2028y"]


def holding(ids: list[str]) -> Benchmark:
    questions = [Question(id, "", "", ((id,),)) for id in ids]
    return Benchmark("hard", Corpus(Passage(id, "", "", id) for id in ids), test=questions)


def test_written_runs(tmp_path: Path) -> None:
    ranking = {"q 1": Ranking(("a", "b c"), np.array([2.5, -1.0], np.float32))}
    write_runs({"my run": ranking}, tmp_path / "run.txt")
    assert (tmp_path / "run.txt").read_text() == "q%201 Q0 a 1 2.5 my%20run\nq%201 Q0 b%20c 2 -1.0 my%20run\n"
    write_runs({"bm25": ranking, "runs/theirs 2": ranking}, tmp_path / "run.txt")
    assert {path.name for path in tmp_path.iterdir()} == {"run.txt", "run-bm25.txt", "run-runs-theirs-2.txt"}
    with pytest.raises(InputError, match="the names a/b, a b give the same files"):
        write_runs({"a/b": ranking, "a b": ranking}, tmp_path / "run.txt")


def test_hard_ids_come_back(tmp_path: Path) -> None:
    rankings = {id: Ranking(tuple(reversed(HARD)), np.arange(len(HARD), 0, -1.0)) for id in HARD}
    write_runs({"x": rankings}, tmp_path / "run.txt")
    found = read_run(tmp_path / "run.txt", holding(HARD)).scores
    assert {id: list(scores) for id, scores in found.items()} == {id: list(reversed(HARD)) for id in HARD}


@given(st.text(min_size=1), st.text(min_size=1))
def test_encoded_ids_are_single_fields_and_differ(one: str, other: str) -> None:
    assert encode_id(one).split() == [encode_id(one)]
    assert (encode_id(one) == encode_id(other)) == (one == other)


def test_ids_written_by_others(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("q Q0 100% 1 2.0 other\r\n\r\nq Q0 q 2 1.0 other\r\n")
    assert read_run(path, holding(["q", "100%"])).scores == {"q": {"100%": 2.0, "q": 1.0}}


def test_order_is_by_score_then_as_in_the_file(tmp_path: Path, benchmark: Benchmark) -> None:
    path = tmp_path / "run.txt"
    path.write_text("q1 Q0 f 9 1.0 t\nq1 Q0 b 1 0.5 t\nq1 Q0 d 2 1.0 t\nq1 Q0 a 7 3e-1 t\n")
    [ranking] = read_run(path, benchmark).retrieve_many([benchmark.test[0].query], 3)
    assert ranking.ids == ("f", "d", "b") and ranking.scores.tolist() == [1, 1, 0.5]
    # A method that merges rankings may put a passage above one of higher score.
    write_runs({"t": {"q1": Ranking(("c", "a", "b"), np.array([0.2, 0.9, 0.1]))}}, path)
    assert read_run(path, benchmark).retrieve_many([benchmark.test[0].query], 3)[0].ids == ("c", "a", "b")


@pytest.mark.parametrize(
    ("text", "record"),
    [
        ("q1 Q0 a 1 2.0\n", 1),  # no tag
        ("q1 Q0 a 1 2.0 t\nq9 Q0 a 1 2.0 t\n", 2),  # no question of the benchmark
        ("q1 Q0 zz 1 2.0 t\n", 1),  # no passage of it
        ("q1 Q0 a 1 nan t\n", 1),
        ("q1 Q0 a 1 2 t\n\nq1 Q0 a 2 1 t\n", 3),  # twice
    ],
)
def test_bad_runs(text: str, record: int, tmp_path: Path, benchmark: Benchmark) -> None:
    path = tmp_path / "run.txt"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_run(path, benchmark)
    told = "expected question Q0 passage rank score tag, in UTF-8, with ids of the benchmark, a passage once a question"
    assert str(error.value) == f"{path}, record {record}: {told}, not {text.splitlines()[record - 1]!r}"


def test_runs_that_cannot_be_read(tmp_path: Path, benchmark: Benchmark) -> None:
    (tmp_path / "latin").write_bytes("q1 Q0 \xe9 1 2 t".encode("latin-1"))
    (tmp_path / "empty").write_text("\n \n")
    cases = {"latin": "record 1: expected .* UTF-8", "empty": "found no line", "absent": "no such file"}
    for name, message in (cases | {"": "cannot be read"}).items():
        with pytest.raises(InputError, match=message):
            read_run(tmp_path / name, benchmark)
