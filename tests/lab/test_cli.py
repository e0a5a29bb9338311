"""The command line: results in files, bad input in one plain line."""

import io
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import ir_measures
import msgspec
import pandas as pd
import pytest

from kit import __version__, cost
from kit.corpus import example, export, load, load_training
from kit.evaluation import evaluate
from kit.lab.cli import main
from kit.methods.gnn_ret.retriever import GNNRet
from kit.paths import PUBLISHED, ROOT
from kit.readers.extractive import ExtractiveReader
from kit.worlds import generated


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def kit(*arguments: object) -> Done:
    """Run the command line in this process, as `kit ARGUMENTS` would be."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch("sys.argv", ["kit", *map(str, arguments)]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        with pytest.raises(SystemExit) as ended:
            main()
    return Done(ended.value.code or 0, out.getvalue(), err.getvalue())


def read(file: Path) -> dict:
    return msgspec.json.decode(file.read_bytes())


def test_the_installed_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kit.lab.cli", "--version"], capture_output=True, text=True
    )
    assert done.stdout == f"kit, version {__version__}\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return export(example(), tmp_path / "example", "kit")


def test_evaluate(data: Path, tmp_path: Path) -> None:
    done = kit(
        "evaluate", "bm25", "tfidf", "--data", data, "--k", "2,3", "--json", tmp_path / "out.json"
    )
    assert done.returncode == 0, done.stderr
    result = read(tmp_path / "out.json")
    described = {"data", "n_questions", "n_passages", "setting", "seed", "caption", "provenance"}
    assert set(result) == described | {"results"}
    assert (result["n_questions"], result["n_passages"], result["setting"]) == (2, 6, "pooled")
    for name, measured in zip(("bm25", "tfidf"), result["results"]):
        assert measured["retriever"] == name
        low, high = measured["recall@3_ci"]
        assert 0 <= low <= measured["recall@3"] <= high <= 1
        assert {"full@3", "mrr", "seconds_per_query", "seconds_to_fit"} <= set(measured)
    assert (
        "baseline" in done.stdout and done.stdout.count("tfidf") == 1 + 5
    )  # a column, and a difference a metric


def test_evaluate_graphs(tmp_path: Path) -> None:
    """Of questions that have an evidence graph; a method without one gets a star of that size."""
    done = kit(
        "evaluate",
        "bm25",
        "--data",
        ROOT / "data" / "example",
        "--graphs",
        "--json",
        tmp_path / "out.json",
    )
    assert done.returncode == 0, done.stderr
    [measured] = read(tmp_path / "out.json")["results"]
    assert {"gm", "gs", "ged", "ged_labelled", "evidence_f1", "evidence_em_ci"} <= set(measured)
    assert measured["gs"] == 0  # its questions are chains
    assert measured["evidence_precision"] == measured["evidence_recall"]


def test_other_tools_measure_the_same(data: Path, tmp_path: Path) -> None:
    files = ["--trec", tmp_path / "bm25.trec", "--json", tmp_path / "out.json"]
    assert kit("evaluate", "bm25", "--data", data, *files).returncode == 0
    assert (
        kit("data", "export", tmp_path / "qrels", "--to", "qrels", "--data", data).returncode == 0
    )
    (measured,) = read(tmp_path / "out.json")["results"]
    run = ir_measures.read_trec_run(str(tmp_path / "bm25.trec"))
    qrels = ir_measures.read_trec_qrels(str(tmp_path / "qrels"))
    theirs = ir_measures.calc_aggregate([ir_measures.R @ 2, ir_measures.RR], qrels, run)
    assert measured["recall@2"] == pytest.approx(theirs[ir_measures.R @ 2])
    assert measured["mrr"] == pytest.approx(theirs[ir_measures.RR])


def test_graph(data: Path, tmp_path: Path) -> None:
    files = ("--json", tmp_path / "out.json", "--html", tmp_path / "out.html")
    done = kit("graph", "entity", "--data", data, "--set", "prior=0.6", *files)
    assert done.returncode == 0, done.stderr
    assert "new vis.Network(" in (tmp_path / "out.html").read_text("utf-8")
    result = read(tmp_path / "out.json")
    assert {"nodes", "edges", "density", "mean_degree", "sf_em", "precision", "seconds"} <= set(
        result
    )
    assert result["nodes"] == 6
    assert result["provenance"]["settings"] == {"prior": 0.6}


def test_sweep(data: Path, tmp_path: Path, own_store: Path) -> None:
    table = tmp_path / "table.csv"
    grid = ["-g", "branching=1,3", "-g", "graph=tfidf,entity+structure"]
    done = kit("sweep", "kgp-tfidf", *grid, "--data", data, "--k", "2,3", "--csv", table)
    assert done.returncode == 0, done.stderr
    first, *cells = done.stdout.splitlines()
    assert first.split()[:3] == ["branching", "graph", "recall@2"] and len(cells) == 4
    rows = pd.read_csv(table)
    assert len(rows) == 4 * 2 and rows["branching"].tolist() == [1] * 4 + [3] * 4
    assert (
        kit("sweep", "kgp-tfidf", *grid, "--data", data, "--k", "2,3").stdout == done.stdout
    )  # times too: not again


def test_data_commands(data: Path, tmp_path: Path) -> None:
    assert "0 errors, 0 notes" in kit("data", "check", data).stdout
    made = kit("data", "make", "atlas", tmp_path / "atlas", "--seed", 3)
    assert made.returncode == 0, made.stderr
    assert kit("data", "check", tmp_path / "atlas").returncode == 0


def test_claims_are_printed_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published = tmp_path / "published"
    published.mkdir()
    monkeypatch.setattr("kit.lab.commands.notebooks.PUBLISHED", published)
    monkeypatch.setenv("KIT_OUTPUT", str(tmp_path / "output"))
    assert "0 of 90 claims are tested" in kit("claims").stdout and not any(published.iterdir())

    reports = PUBLISHED / "documents-reports"
    shutil.copytree(reports, tmp_path / "output" / "figures" / "documents-reports")
    assert "- documents-reports: " in kit("claims").stdout  # stale, where code has changed since
    assert kit("claims", "--markdown").returncode == 0  # of what is published, which is nothing
    page = (published / "CLAIMS.md").read_text("utf-8")
    assert page.startswith("# ") and "documents-reports: " not in page
    shutil.copytree(reports, published / "documents-reports")
    assert kit("claims", "--markdown").returncode == 0
    assert "- documents-reports: " in (published / "CLAIMS.md").read_text("utf-8")


@pytest.fixture
def lessons(tmp_path: Path) -> Path:
    """A folder in the kit's own format with 40 questions to learn from."""
    return export(generated("atlas", size=150, train=40), tmp_path / "lessons", "kit")


def test_learning_from_a_training_file(data: Path, lessons: Path, tmp_path: Path) -> None:
    files = ["--json", tmp_path / "out.json", "--trec", tmp_path / "run.trec"]
    files += ["--data", data, "--train", lessons, "--set", "n_train=20"]
    done = kit("evaluate", "gnn-ret", "rgnn-ret", "dense", *files)
    assert done.returncode == 0, done.stderr
    result = read(tmp_path / "out.json")
    assert (result["n_passages"], result["provenance"]["settings"]) == (6, {"n_train": 20})
    benchmark, training = load(data), load_training([lessons])
    run: dict[str, list[float]] = {}
    for scored in ir_measures.read_trec_run(str(tmp_path / "run-gnn-ret.trec")):
        run.setdefault(scored.query_id, []).append(scored.score)
    trained, untrained = (
        evaluate({"gnn": GNNRet(n_train=n)}, benchmark, training=training, progress=False).rankings[
            "gnn"
        ]
        for n in (20, 0)
    )
    for question, scores in run.items():
        assert scores == pytest.approx(trained[question].scores.tolist(), abs=1e-6)
        assert scores != pytest.approx(untrained[question].scores.tolist(), abs=1e-3)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["evaluate"], "Missing argument 'RETRIEVERS...'"),
        (["evaluate", "bm52"], "no retriever 'bm52'; known are bm25, tfidf, dense"),
        (
            ["evaluate", "bm25", "--k", "0,5"],
            "field k: expected whole numbers from 1 with commas between, not '0,5'",
        ),
        (["evaluate", "bm25", "--set", "depth=2"], "no retriever of bm25 has a setting 'depth'"),
        (["evaluate", "bm25", "--set", "depth"], "expected NAME=VALUE"),
        (
            ["evaluate", "bm25", "--json", "no/such/folder.json"],
            "expected a file in a folder that exists",
        ),
        (
            ["evaluate", "bm25", "--reader", "extractive", "--read", "0"],
            "field read: expected a number of passages",
        ),
        (
            ["graph", "entity", "--set", "prior=high"],
            "field prior: expected a number from 0 to 1, not 'high'",
        ),
        (["run", "-p", "nonsense", "1"], "nonsense"),
        (["data", "fetch", "nothing"], "nothing"),
        (["data", "make", "atlas", __file__], "is a file"),
        (["sweep", "bm25"], "Missing option '-g'"),
        (["sweep", "gnn-ret", "-g", "alpha=1", "--jobs", "0"], "Invalid value for '--jobs'"),
        (["run", "02", "--train", "a", "--train", "b"], "expected one file for a notebook"),
        (
            ["evaluate", "bm25", "--read", "2"],
            "field reader: expected a reader (--reader), whose answers are meant",
        ),
        (["evaluate", "bm25", "--judge", "server:x"], "field reader: expected a reader (--reader)"),
        (["record", "15"], "Missing option '--model'"),
        (["frobnicate"], "No such command"),
    ],
)
def test_bad_input_is_one_plain_line(
    arguments: list[str],
    line: str,
    tmp_path: Path,
    own_store: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KIT_OUTPUT", str(tmp_path / "output"))
    done = kit(*arguments)
    assert not list(tmp_path.iterdir())
    assert done.returncode == 2
    assert done.stderr.startswith("kit: ")
    assert line in done.stderr
    assert done.stderr.count("\n") == 1
    assert not done.stdout


def test_an_interruption_is_told(data: Path) -> None:
    with mock.patch("kit.corpus.load", side_effect=KeyboardInterrupt):
        done = kit("evaluate", "bm25", "--data", data)
    assert done.returncode == 130 and "kit: interrupted; what was finished is kept" in done.stderr


def test_what_is_noticed_late_writes_nothing_either(data: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text('[{"_id": "1", "question": "Who?", "answ')
    for arguments in (
        ["--data", tmp_path / "broken.json"],
        ["--data", data, "--reader", "extractive"],
    ):
        done = kit("evaluate", "bm25", *arguments, "--json", tmp_path / "out.json")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert "expected training questions with answers and supports (--train FILE)" in done.stderr
    assert not (tmp_path / "out.json").exists()


@pytest.fixture
def small(tiny_model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The extractive reader, on a model that learns in moments."""

    class Small(ExtractiveReader):
        def __init__(self) -> None:
            super().__init__(encoder=tiny_model, epochs=1)

    monkeypatch.setattr("kit.readers.extractive.ExtractiveReader", Small)


def test_an_extractive_reader_learns_and_answers(
    small: None, data: Path, lessons: Path, tmp_path: Path
) -> None:
    wanted = [
        "--reader",
        "extractive",
        "--read",
        "200tokens",
        "--k",
        2,
        "--json",
        tmp_path / "out.json",
    ]
    wanted += ["--csv", tmp_path / "out.csv", "--trec", tmp_path / "run.trec"]
    done = kit("evaluate", "bm25", "golden", "--data", data, "--train", lessons, *wanted)
    assert done.returncode == 0, done.stderr
    assert {"em", "f1", "accuracy", "words"} <= {
        line[:8].strip() for line in done.stdout.splitlines()
    }
    record = read(tmp_path / "out.json")
    assert record["reader"] == {
        "name": "extractive",
        "size": "200tokens",
        "n_questions": record["n_questions"],
    }
    assert (
        len((tmp_path / "run-bm25.trec").read_text().splitlines()) == 2 * 4
    )  # that is not cut off after two passages
    assert [result["retriever"] for result in record["results"]] == ["bm25", "golden", "none"]
    assert all(
        0 <= measured["em_ci"][0] <= measured["em"] <= measured["em_ci"][1] <= 1
        for measured in record["results"]
    )
    table = pd.read_csv(tmp_path / "out.csv", dtype={"hops": str}).set_index(
        ["retriever", "metric", "hops"]
    )
    assert {"recall@2", "em", "f1", "accuracy"} <= set(table.index.unique("metric"))
    assert table.loc[("none", "em", "all"), "mean"] == record["results"][2]["em"]
    assert table.loc[("none", "em", "all"), ["difference", "p", "p_holm"]].notna().all()


def test_a_server_reads_and_judges_and_is_replayed(
    server, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "COUNTS", cost.Counter())  # later tests cost nothing

    def ask(model: str, file: str) -> dict:
        models = ["--reader", model, "--judge", model, "--read", 1, "--json", tmp_path / file]
        done = kit("evaluate", "bm25", "--data", data, "--k", 2, *models)
        assert done.returncode == 0 and f"reader server:{server.model}" in done.stdout, done.stderr
        return read(tmp_path / file)

    live = ask(f"server:{server.model}@{server.url}", "live.json")
    again = ask(f"replay:server:{server.model}", "again.json")
    scores = {"em", "f1", "accuracy", "judged", "unclear", "words"}
    for first, second in zip(
        live["results"], again["results"], strict=True
    ):  # of bm25, none and golden
        assert {name: first[name] for name in scores} == {name: second[name] for name in scores}
    calls = [[usage["calls"] for usage in result["reader"]["usage"]] for result in (live, again)]
    assert calls == [[6, 0], [0, 6]]
    assert (
        live["reader"]["usage"][0]["answer_tokens"]
        == again["reader"]["usage"][1]["answer_tokens"]
        > 0
    )
    assert [usage["source"] for usage in again["judge"]["usage"]] == ["live", "replayed"]
