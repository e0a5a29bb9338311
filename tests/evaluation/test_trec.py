"""TREC runs as they are written; test_cli.py has what other tools make of them."""

from pathlib import Path
from urllib.parse import unquote

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.corpus import Benchmark, Corpus, Passage, Question
from kit.corpus.exporting import encode_id, export
from kit.errors import InputError
from kit.evaluation.metrics import recall_at, reciprocal_rank
from kit.evaluation.trec import write_runs
from kit.methods import Ranking
from kit.methods.base import ranking_from_scores

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
]


def test_written_runs(tmp_path: Path) -> None:
    ranking = {"q 1": Ranking(("a", "b c"), np.array([2.5, -1.0], np.float32))}
    write_runs({"my run": ranking}, tmp_path / "run.txt")
    assert (
        tmp_path / "run.txt"
    ).read_text() == "q%201 Q0 a 1 2.5 my%20run\nq%201 Q0 b%20c 2 -1.0 my%20run\n"
    write_runs({"bm25": ranking, "runs/theirs 2": ranking}, tmp_path / "run.txt")
    assert {path.name for path in tmp_path.iterdir()} == {
        "run.txt",
        "run-bm25.txt",
        "run-runs-theirs-2.txt",
    }
    with pytest.raises(InputError, match="the names a/b, a b give the same files"):
        write_runs({"a/b": ranking, "a b": ranking}, tmp_path / "run.txt")


def test_each_score_is_below_the_one_before(tmp_path: Path) -> None:
    # Equal scores stand in corpus order, and a method that merges rankings may put a passage above
    # one of higher score.
    scores = np.array([0.2, 0.9, 0.1, 0.0, 0.0, 0.0])
    write_runs({"t": {"q1": Ranking(tuple("cabdef"), scores)}}, tmp_path / "run.txt")
    lines = (tmp_path / "run.txt").read_text().splitlines()
    written = np.array([line.split()[4] for line in lines], np.float32)  # as trec_eval reads it
    assert (np.diff(written) < 0).all()
    assert written == pytest.approx(scores.clip(max=0.2), abs=1e-7)


def test_trec_eval_ranks_as_the_kit_does_where_scores_are_equal(tmp_path: Path) -> None:
    """Recall and reciprocal rank by ir_measures (trec_eval) on 200 rankings with ties."""
    generator = np.random.default_rng(0)
    corpus = Corpus(Passage(f"p{row}", "", "", f"p{row}") for row in range(30))
    questions = []
    rankings = {}
    for n in range(200):
        supports = generator.choice(30, generator.integers(1, 5), replace=False)
        carriers = tuple((f"p{row}",) for row in supports)
        question = Question(f"q{n}", "?", "", carriers)
        scale = generator.choice([1e-30, 1e-3, 1, 1e6])
        scores = scale * generator.integers(-1, 3, 30).astype(np.float32)
        questions.append(question)
        rankings[question.id] = ranking_from_scores(corpus, scores, int(generator.integers(1, 31)))

    write_runs({"ties": rankings}, tmp_path / "run.txt")
    export(Benchmark("ties", corpus, test=questions), tmp_path / "qrels.txt", "qrels")
    run = list(ir_measures.read_trec_run(str(tmp_path / "run.txt")))
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "qrels.txt")))
    cut_offs = (1, 2, 5, 10)
    measures = [ir_measures.RR, *(ir_measures.R @ k for k in cut_offs)]
    theirs = {
        (row.query_id, str(row.measure)): row.value
        for row in ir_measures.iter_calc(measures, qrels, run)
    }
    for question in questions:
        ids = rankings[question.id].ids
        assert theirs[question.id, "RR"] == pytest.approx(reciprocal_rank(question, ids))
        for k in cut_offs:
            assert theirs[question.id, f"R@{k}"] == pytest.approx(recall_at(question, ids, k))


def test_other_tools_read_hard_ids(tmp_path: Path) -> None:
    rankings = {
        name: Ranking(tuple(reversed(HARD)), np.arange(len(HARD), 0, -1.0)) for name in HARD
    }
    write_runs({"x": rankings}, tmp_path / "run.txt")
    ids_read = {}
    for scored in ir_measures.read_trec_run(str(tmp_path / "run.txt")):
        ids_read.setdefault(unquote(scored.query_id), []).append(unquote(scored.doc_id))
    assert ids_read == {name: list(reversed(HARD)) for name in HARD}


@given(st.text(min_size=1), st.text(min_size=1))
def test_encoded_ids_are_single_fields_and_differ(one: str, other: str) -> None:
    assert encode_id(one).split() == [encode_id(one)]
    assert (encode_id(one) == encode_id(other)) == (one == other)
