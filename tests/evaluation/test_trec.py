"""TREC runs as they are written; test_cli.py has what other tools make of them."""

from pathlib import Path
from urllib.parse import unquote

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.corpus.exporting import encode_id
from kit.errors import InputError
from kit.evaluation.trec import write_runs
from kit.methods import Ranking

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


def test_a_score_above_the_one_before_is_lowered_to_it(tmp_path: Path) -> None:
    # A method that merges rankings may put a passage above one of higher score.
    write_runs(
        {"t": {"q1": Ranking(("c", "a", "b"), np.array([0.2, 0.9, 0.1]))}}, tmp_path / "run.txt"
    )
    scores = [line.split()[4] for line in (tmp_path / "run.txt").read_text().splitlines()]
    assert scores == ["0.2", "0.2", "0.1"]


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
