"""TREC files: what is written is read back, other tools read it too, and bad files are told plainly."""

from pathlib import Path

import ir_measures
import numpy as np
import pytest

from kit.corpus import Benchmark, Corpus, Passage, Question, load
from kit.corpus.exporting import write_qrels
from kit.errors import InputError
from kit.evaluation import evaluate
from kit.evaluation.trec import read_run, write_runs
from kit.retrievers import Ranking

HARD = [
    "San Jose",
    "100%",
    "a%20b",
    "a b",
    "tab\there",
    "new\nline",
    "zero\u00a0width",
    "ünï",
    "#1",
    "x\u2028y",
    "\x1f",
]


def holding(ids: list[str]) -> Benchmark:
    questions = [Question(id, "", "", ((id,),)) for id in ids]
    return Benchmark("hard", Corpus(Passage(id, "", "", id) for id in ids), test=questions)


def test_written_runs_and_qrels(tmp_path: Path, benchmark: Benchmark) -> None:
    ranking = {"q 1": Ranking(("a", "b c"), np.array([2.5, -1.0], np.float32))}
    assert write_runs({"my run": ranking}, tmp_path / "run.txt") == [tmp_path / "run.txt"]
    assert (tmp_path / "run.txt").read_text() == "q%201 Q0 a 1 2.5 my%20run\nq%201 Q0 b%20c 2 -1.0 my%20run\n"
    paths = write_runs({"bm25": ranking, "runs/theirs 2": ranking}, tmp_path / "run.txt")
    assert [path.name for path in paths] == ["run-bm25.txt", "run-runs-theirs-2.txt"]
    with pytest.raises(InputError, match="the names a/b, a b give the same files"):
        write_runs({"a/b": ranking, "a b": ranking}, tmp_path / "run.txt")
    write_qrels(benchmark.test[:2], tmp_path / "qrels.txt")
    assert (tmp_path / "qrels.txt").read_text() == "q1 0 a 1\nq1 0 b 1\nq2 0 c 1\nq2 0 d 1\nq2 0 e 1\n"


def test_hard_ids_come_back_and_so_do_those_that_others_wrote(tmp_path: Path) -> None:
    rankings = {id: Ranking(tuple(reversed(HARD)), np.arange(len(HARD), 0, -1.0)) for id in HARD}
    write_runs({"x": rankings}, tmp_path / "run.txt")
    found = read_run(tmp_path / "run.txt", holding(HARD)).scores
    assert {id: list(scores) for id, scores in found.items()} == {id: list(reversed(HARD)) for id in HARD}
    (tmp_path / "run.txt").write_text("q Q0 100% 1 2.0 other\r\n\r\nq Q0 q 2 1.0 other\r\n")
    assert read_run(tmp_path / "run.txt", holding(["q", "100%"])).scores == {"q": {"100%": 2.0, "q": 1.0}}


def test_order_is_by_score_then_as_in_the_file(tmp_path: Path, benchmark: Benchmark) -> None:
    path = tmp_path / "run.txt"
    path.write_text("q1 Q0 f 9 1.0 t\nq1 Q0 b 1 0.5 t\nq1 Q0 d 2 1.0 t\nq1 Q0 a 7 3e-1 t\n")
    [ranking] = read_run(path, benchmark).retrieve_many([benchmark.test[0].query], 3)
    assert ranking.ids == ("f", "d", "b") and ranking.scores.tolist() == [1, 1, 0.5]
    # A method that merges rankings may put a passage above one of higher score.
    write_runs({"t": {"q1": Ranking(("c", "a", "b"), np.array([0.2, 0.9, 0.1]))}}, path)
    assert read_run(path, benchmark).retrieve_many([benchmark.test[0].query], 3)[0].ids == ("c", "a", "b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1 Q0 a 1 2.0\n", "record 1: expected question Q0 passage rank score tag, in UTF-8, not 'q1 Q0 a 1 2.0'"),
        ("q1 Q0 a 1 2.0 t\nq9 Q0 a 1 2.0 t\n", "record 2, field question: expected a question of the benchmark, not"),
        ("q1 Q0 zz 1 2.0 t\n", "record 1, field passage: expected a passage of the benchmark, once under a question,"),
        ("q1 Q0 a 1 nan t\n", "record 1, field score: expected a number, not 'q1 Q0 a 1 nan t'"),
        ("q1 Q0 a 1 2 t\n\nq1 Q0 a 2 1 t\n", "record 3, field passage: expected a passage of the benchmark, once"),
        ("\n \n", "expected a TREC run, found no line"),
        ("q1 Q0 \xe9 1 2 t", "record 1: expected question Q0 passage rank score tag, in UTF-8, not"),
    ],
)
def test_bad_runs(text: str, message: str, tmp_path: Path, benchmark: Benchmark) -> None:
    path = tmp_path / "run.txt"
    path.write_text(text, "latin-1")
    with pytest.raises(InputError) as error:
        read_run(path, benchmark)
    assert str(path) in str(error.value) and message in str(error.value)


def test_runs_that_cannot_be_read(tmp_path: Path, benchmark: Benchmark) -> None:
    for name, message in (("absent", "no such file"), ("", "cannot be read")):
        with pytest.raises(InputError, match=message):
            read_run(tmp_path / name, benchmark)


@pytest.mark.realdata
@pytest.mark.parametrize("file", ["hotpotqa/dev.json", "2wikimultihopqa/dev.json", "musique/dev.jsonl"])
@pytest.mark.parametrize("setting", ["pooled", "per-question"])
def test_real_runs_measure_the_same_elsewhere(file: str, setting: str, realdata: Path, tmp_path: Path) -> None:
    benchmark = load(realdata / file, setting=setting)
    found = evaluate(["bm25"], benchmark, ks=(2, 5), progress=False)
    (path,) = write_runs(found.rankings, tmp_path / "run.txt")
    write_qrels(benchmark.test, tmp_path / "qrels.txt")
    qrels, run = str(tmp_path / "qrels.txt"), ir_measures.read_trec_run(str(path))
    theirs = ir_measures.calc_aggregate([ir_measures.R @ 5], ir_measures.read_trec_qrels(qrels), run)
    assert found.table["recall@5"].mean() == pytest.approx(theirs[ir_measures.R @ 5], abs=1e-9)
    again = evaluate({"bm25": read_run(path, benchmark)}, benchmark, ks=(2, 5), progress=False)
    assert again.table[found.metrics].equals(found.table[found.metrics])
