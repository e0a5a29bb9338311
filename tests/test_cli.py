"""The command line: results in files, bad input in one plain line."""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import ir_measures
import msgspec
import pytest

from kit import __version__
from kit.cli import main
from kit.corpus import export
from kit.corpus.example import example


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def kit(*arguments: object) -> Done:
    """Run the command line in this process, as `kit ARGUMENTS` would be."""
    out, err = io.StringIO(), io.StringIO()
    with mock.patch("sys.argv", ["kit", *map(str, arguments)]), redirect_stdout(out), redirect_stderr(err):
        with pytest.raises(SystemExit) as ended:
            main()
    return Done(ended.value.code or 0, out.getvalue(), err.getvalue())


def test_the_installed_command() -> None:
    done = subprocess.run([sys.executable, "-m", "kit.cli", "--version"], capture_output=True, text=True)
    assert done.stdout == f"kit, version {__version__}\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return export(example(), tmp_path / "example.json", "hotpotqa")


def test_evaluate(data: Path, tmp_path: Path) -> None:
    done = kit("evaluate", "bm25", "tfidf", "--data", data, "--k", "2,3", "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    result = msgspec.json.decode((tmp_path / "out.json").read_bytes())
    assert {"data", "n_questions", "n_passages", "setting", "unit", "seed", "results", "provenance"} == set(result)
    assert (result["n_questions"], result["n_passages"], result["setting"]) == (2, 6, "pooled")
    for name, of in zip(("bm25", "tfidf"), result["results"]):
        assert of["retriever"] == name
        assert 0 <= of["recall@3_ci"][0] <= of["recall@3"] <= of["recall@3_ci"][1] <= 1
        assert {"full@3", "mrr", "seconds_per_query", "seconds_to_fit"} <= set(of)
    assert "tfidf - bm25" in done.stdout


def test_a_run_written_is_a_run_read(data: Path, tmp_path: Path) -> None:
    assert kit("evaluate", "bm25", "--data", data, "--trec", tmp_path / "bm25.trec").returncode == 0
    assert kit("data", "export", tmp_path / "qrels", "--to", "qrels", "--data", data).returncode == 0
    again = kit("evaluate", tmp_path / "bm25.trec", "--data", data, "--json", tmp_path / "again.json")
    assert again.returncode == 0, again.stderr
    (ours,) = msgspec.json.decode((tmp_path / "again.json").read_bytes())["results"]
    run, qrels = (
        ir_measures.read_trec_run(str(tmp_path / "bm25.trec")),
        ir_measures.read_trec_qrels(str(tmp_path / "qrels")),
    )
    theirs = ir_measures.calc_aggregate([ir_measures.R @ 2, ir_measures.RR], qrels, run)
    assert ours["recall@2"] == pytest.approx(theirs[ir_measures.R @ 2])
    assert ours["mrr"] == pytest.approx(theirs[ir_measures.RR])


def test_graph(data: Path, tmp_path: Path) -> None:
    done = kit("graph", "entity", "--data", data, "--set", "prior=0.6", "--seeds", 2, "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    result = msgspec.json.decode((tmp_path / "out.json").read_bytes())
    assert {"nodes", "edges", "density", "mean_degree", "sf_em", "precision", "seconds"} <= set(result)
    assert result["nodes"] == 6
    assert result["provenance"]["settings"] == {"prior": 0.6}


def test_data_commands(data: Path, tmp_path: Path) -> None:
    assert "0 errors, 0 notes" in kit("data", "check", data).stdout
    assert "single-chain" in kit("data", "describe").stdout
    made = kit("data", "make", tmp_path / "atlas", "--seed", 3)
    assert made.returncode == 0, made.stderr
    assert kit("data", "check", tmp_path / "atlas").returncode == 0


def test_claims_are_printed() -> None:
    assert "kgp-01" in kit("claims").stdout


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["evaluate"], "Missing argument 'RETRIEVERS...'"),
        (["evaluate", "bm52"], "no retriever 'bm52'; known are bm25, tfidf, dense"),
        (["evaluate", "bm25", "--k", "0,5"], "field k: expected whole numbers from 1 with commas between, not '0,5'"),
        (["evaluate", "bm25", "--unit", "word"], "unknown unit 'word'"),
        (["evaluate", "bm25", "--set", "depth=2"], "no retriever of bm25 has a setting 'depth'"),
        (["evaluate", "bm25", "--set", "depth"], "expected NAME=VALUE"),
        (["evaluate", "bm25", "--data", "no/such.json"], "no such file"),
        (["evaluate", "bm25", "--json", "no/such/folder.json"], "expected a file in a folder that exists"),
        (["graph", "wordnet"], "no graph builder 'wordnet'"),
        (["graph", "entity", "--set", "prior=high"], "Expected `float`, got `str`"),
        (["run", "99"], "expected the beginning of a notebook's name"),
        (["run", "--scale", "huge"], "expected one of smoke, class, paper"),
        (["run", "-p", "nonsense", "1"], "nonsense"),
        (["data", "fetch", "nothing"], "nothing"),
        (["data", "make", __file__], "expected a folder"),
        (["frobnicate"], "No such command"),
    ],
)
def test_bad_input_is_one_plain_line(arguments: list[str], line: str) -> None:
    done = kit(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("kit: ")
    assert line in done.stderr
    assert done.stderr.count("\n") == 1
    assert not done.stdout


def test_a_broken_file_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text('[{"_id": "1", "question": "Who?", "answ')
    done = kit("evaluate", "bm25", "--data", tmp_path / "broken.json", "--json", tmp_path / "out.json")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out.json").exists()
