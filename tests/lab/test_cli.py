"""The command line: results in files, bad input in one plain line."""

import io
import os
import re
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
from kit.corpus import (
    Benchmark,
    Corpus,
    Passage,
    Question,
    example,
    export,
    load,
    load_training,
)
from kit.errors import InputError
from kit.evaluation import evaluate
from kit.lab.cli import main
from kit.methods import METHODS, WRAPPERS
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


def test_index(data: Path, own_store: Path) -> None:
    done = kit("index", "bm25", "dense", "--data", data)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    times = r"6 passages; [\d.]+ s, from now on [\d.]+ s"
    assert all(map(re.fullmatch, [f"bm25: {times}", f"dense: {times}"], lines))
    assert (own_store / "vectors.sqlite").exists()


def test_graph(data: Path, tmp_path: Path) -> None:
    files = ("--json", tmp_path / "out.json", "--html", tmp_path / "out.html")
    done = kit("graph", "entity", "--data", data, "--set", "prior=0.6", *files)
    assert done.returncode == 0, done.stderr
    assert "Passages, joined by shared entities" in (tmp_path / "out.html").read_text("utf-8")
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
    assert "errors: 0, notes: 0" in kit("data", "check", data).stdout
    made = kit("data", "make", "atlas", tmp_path / "atlas", "--seed", 3)
    assert made.returncode == 0, made.stderr
    assert kit("data", "check", tmp_path / "atlas").returncode == 0


def test_claims_are_printed_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published = tmp_path / "published"
    published.mkdir()
    monkeypatch.setattr("kit.paths.PUBLISHED", published)
    monkeypatch.setenv("KIT_OUTPUT", str(tmp_path / "output"))
    assert "0 of 96 claims are tested" in kit("claims").stdout and not any(published.iterdir())

    atlas = PUBLISHED / "atlas"
    shutil.copytree(atlas, tmp_path / "output" / "figures" / "atlas")
    assert "- atlas: " in kit("claims").stdout  # stale, where code has changed since
    assert kit("claims", "--markdown").returncode == 0  # of what is published, which is nothing
    page = (published / "CLAIMS.md").read_text("utf-8")
    assert page.startswith("# ") and "atlas: " not in page
    shutil.copytree(atlas, published / "atlas")
    assert kit("claims", "--markdown").returncode == 0
    assert "- atlas: " in (published / "CLAIMS.md").read_text("utf-8")


@pytest.fixture
def lessons(tmp_path: Path) -> Path:
    """A folder in the kit's own format with 40 questions to learn from."""
    return export(generated("atlas", size=150, train=40), tmp_path / "lessons", "kit")


def test_learning_from_a_training_file(
    data: Path, lessons: Path, tmp_path: Path, own_store: Path
) -> None:
    files = ["--json", tmp_path / "out.json", "--trec", tmp_path / "run.trec"]
    files += ["--data", data, "--train", lessons, "--set", "n_train=20"]
    done = kit("evaluate", "gnn-ret", "rgnn-ret", "dense", *files)
    assert done.returncode == 0, done.stderr
    reason = f"is trained: nothing in {own_store} was learned by these settings, data and code"
    for name in ("gnn-ret", "rgnn-ret"):
        assert f"kit: {name} {reason}\n" in done.stderr
    assert "is trained" not in kit("evaluate", "gnn-ret", *files).stderr
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
        (["evaluate", "bm25", "--set", "depth=2"], "no setting 'depth' of bm25"),
        (["methods", "gnnret"], "no retriever 'gnnret'; known are bm25, "),
        (["data", "fetch", "musik"], "; did you mean 'musique'?"),
        (
            ["evaluate", "bm25", "--format", "hotpot"],
            "Invalid value for '--format': 'hotpot' is not one of 'hotpotqa', ",
        ),
        (["graph", "knn", "--setting", "pool"], "'pool' is not one of 'pooled', 'per-question', "),
        (["run", "--scale", "clas"], "'clas' is not one of 'smoke', 'class', 'paper'."),
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
        (["index", "nothing"], "no retriever 'nothing'"),
        (["sweep", "bm25"], "Missing option '-g'"),
        (["sweep", "gnn-ret", "-g", "alpha=1", "--jobs", "0"], "Invalid value for '--jobs'"),
        (
            ["run", "02", "--train", "a", "--train", "b"],
            "expected one file, not 2: a notebook learns from one",
        ),
        (
            ["evaluate", "bm25", "--read", "2"],
            "field reader: expected --reader beside --read and --judge: its answers are meant",
        ),
        (
            ["evaluate", "bm25", "--judge", "server:x"],
            "field reader: expected --reader beside --read ",
        ),
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


# ---- what is known before long work


FILES = [
    "evaluate gnn-ret --data ./nowhere",
    "evaluate gnn-ret --corpus ./nowhere",
    "evaluate gnn-ret --train ./nowhere",
    "evaluate gnn-ret --train . --also ./nowhere",
    "sweep gnn-ret -g alpha=1 --data ./nowhere",
    "graph entity --data ./nowhere",
    "ask who --data ./nowhere",
    "data export out --to kit --data ./nowhere",
    "data fetch wikipedia --of ./nowhere",
]


def test_a_typo_is_told_before_anything_long_is_loaded() -> None:
    """Of a method, of a setting and of a file, in every command that takes them."""
    code = """if True:
        import sys
        from kit.lab.cli import main
        for command in sys.argv[1:]:
            sys.argv = ["kit", *command.split()]
            try:
                main()
            except SystemExit as ended:
                assert ended.code == 2
        print(sorted({"torch", "transformers", "pandas", "networkx"} & set(sys.modules)))
    """
    commands = [
        "evaluate bm25 gnnret",
        "evaluate bm25 gnn-ret --set alhpa=1",
        "ask who --method gnnret",
        "ask who --set alhpa=1",
        "sweep gnnret -g alpha=1",
        "sweep gnn-ret -g alhpa=1,2",
        *FILES,
    ]
    command = [sys.executable, "-c", code, *commands]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    lines = done.stderr.splitlines()
    for command, line in zip(FILES, lines[6:], strict=True):
        option = command.split()[-2]
        assert line == f"kit: Invalid value for '{option}': Path './nowhere' does not exist."
    assert [line.rpartition("; ")[2] for line in lines[:6]] == [
        "did you mean 'gnn-ret'?",
        "did you mean 'alpha'?",
    ] * 3
    assert lines[0].startswith("kit: no retriever 'gnnret'; known are bm25, tfidf, dense, ")
    assert lines[1].startswith("kit: no setting 'alhpa' of bm25, gnn-ret; ")


ADDRESS = "server:m: expected the server's address in OPENAI_BASE_URL, or a key in OPENAI_API_KEY"
NOWHERE = "field encoder: './nowhere' is no folder"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("evaluate bm25 --reader server:m", ADDRESS),
        ("evaluate bm25 --reader extractive --judge server:m", ADDRESS),
        ("evaluate kgp-chat --set model=server:m", ADDRESS),
        ("evaluate ircot --set model=server:m", ADDRESS),
        ("sweep ircot -g model=gold,server:m", ADDRESS),
        ("ask who --method ras --set planner=server:m", ADDRESS),
        ("evaluate bm25 dense --set encoder=./nowhere", NOWHERE),
        ("sweep dense -g encoder=./nowhere", NOWHERE),
        ("ask who --set encoder=./nowhere", NOWHERE),
        ("graph knn --set encoder=./nowhere", NOWHERE),
        ("evaluate gnn-ret --set graph=entitiy", "no graph builder 'entitiy'; known are unions"),
        ("sweep kgp-tfidf -g graph=entity,tfdf", "no graph builder 'tfdf'; known are unions"),
        ("evaluate qsgnn --set triples=openie:nowhere", "nowhere: no such file"),
        ("evaluate bm25 --json /proc/out", "/proc/out: can't be written ("),
        ("evaluate bm25 --csv /proc/out", "/proc/out: can't be written ("),
        ("evaluate bm25 --trec /proc/out", "/proc/out: can't be written ("),
        ("evaluate bm25 tfidf --trec {}/run", "{}/run-tfidf: expected a file in a folder that"),
        ("sweep bm25 -g a=1 --csv /proc/out", "/proc/out: can't be written ("),
        ("graph entity --json /proc/out", "/proc/out: can't be written ("),
        ("graph entity --html /proc/out", "/proc/out: can't be written ("),
        ("ask who --html /proc/out", "/proc/out: can't be written ("),
    ],
)
def test_what_is_not_there_is_told_before_anything_is_read(
    command: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("load", "load_corpus"):
        monkeypatch.setattr(f"kit.corpus.{name}", lambda *_, **__: pytest.fail("data are read"))
    (tmp_path / "run-tfidf").mkdir()
    done = kit(*command.format(tmp_path).split())
    assert done.returncode == 2 and done.stderr.startswith(f"kit: {line.format(tmp_path)}")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "command",
    ["evaluate bm25 --reader server:m@http://127.0.0.1:9/v1", "sweep kgp-tfidf -g depth=1"],
)
def test_nothing_costly_is_done_that_could_not_be_kept(
    command: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("KIT_CACHE", str(tmp_path / "file"))
    for call in ("kit.text.language_models.ChatServer._ask", "kit.lab.sweep.evaluate"):
        monkeypatch.setattr(call, lambda *_, **__: pytest.fail("it is done"))
    done = kit(*command.split(), "--data", data)
    line = f"kit: {tmp_path / 'file'}: can't be written (File exists); KIT_CACHE names another"
    assert done.returncode == 2 and done.stderr.split("\r")[-1].startswith(line)


def test_questions_without_answers_are_told_before_anything_is_retrieved(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = data / "test.jsonl"
    file.write_text(re.sub(r'"answer": ?"[^"]*"', '"answer":" "', file.read_text()))
    monkeypatch.setattr("kit.evaluation.evaluate", lambda *_, **__: pytest.fail("it is retrieved"))
    done = kit("evaluate", "bm25", "--data", data, "--reader", "server:m@http://127.0.0.1:9/v1")
    assert done.returncode == 2 and "expected an answer to compare with" in done.stderr


OWN = """
import kit
from kit.methods.base import ranking_from_order


class ByTitle(kit.Retriever):
    name = "by-title"

    def rank(self, queries, k):
        titles = sorted(self.corpus.passages, key=lambda passage: passage.title)
        return [ranking_from_order([passage.id for passage in titles[:k]]) for _ in queries]

class Plain:
    name = "plain"
"""
PLAIN = "<class 'own_mine.Plain'>"


def test_a_method_of_your_own_is_named_by_its_file(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kit.methods.METHODS", dict(METHODS))
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    options = ["--data", data, "--k", "2", "--json", tmp_path / "out.json"]
    done = kit("evaluate", f"{file}:ByTitle", "bm25", *options)
    assert done.returncode == 0, done.stderr
    results = read(tmp_path / "out.json")["results"]
    assert [result["retriever"] for result in results] == ["by-title", "bm25"]
    listing = kit("ask", "Who?", "--method", f"{file}:ByTitle", "--data", data, "--k", 1).stdout
    assert listing.startswith("1. Ines Moravec (")

    broken = tmp_path / "broken.py"
    broken.write_text("class")
    why = "expected a file that Python can run (SyntaxError: invalid syntax (broken.py, line 1))"
    for name, line in {
        f"{broken}:ByTitle": f"{broken}: {why}",
        f"{file}:Other": f"{file}: expected a class Other of retrievers",
        f"{file}:Plain": f"expected a subclass of kit.Retriever with a name, not {PLAIN}",
        f"{tmp_path}/nowhere.py:ByTitle": f"{tmp_path}/nowhere.py: no such file",
    }.items():
        assert kit("evaluate", name).stderr == f"kit: {line}\n"


def test_the_methods_are_listed() -> None:
    listing = kit("methods").stdout
    names = [line.split()[0] for line in listing.splitlines() if not line.startswith(" ")]
    assert names == [*METHODS, *WRAPPERS]
    assert "bm25 (does not train): no settings" in listing
    assert "gnn-ret (may train): encoder, " in listing
    assert "alpha: a number from 0 to 1 (default 0.5): " in kit("methods", "gnn-ret").stdout


# ---- results in links, pipes and consoles


def test_results_go_where_links_lead(data: Path, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    options = []
    for name in ("json", "csv", "trec"):
        (tmp_path / name).symlink_to(Path("results") / name)
        options += [f"--{name}", tmp_path / name]
    done = kit("evaluate", "bm25", "--data", data, *options)
    assert done.returncode == 0, done.stderr
    for name in ("json", "csv", "trec"):
        assert (tmp_path / name).is_symlink() and (tmp_path / "results" / name).stat().st_size
    assert len(list((tmp_path / "results").iterdir())) == 3


def command_line(*arguments: object, **environment: str) -> subprocess.Popen:
    """The command line in a process of its own."""
    command = [sys.executable, "-m", "kit.lab.cli", *map(str, arguments)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"TQDM_DISABLE": "1"} | environment,
    )


@pytest.mark.parametrize("command", ["evaluate bm25", "sweep kgp-tfidf -g depth=1", "graph entity"])
def test_results_are_written_though_nobody_reads_the_table(
    command: str, data: Path, tmp_path: Path
) -> None:
    option = "--json" if command.startswith("graph") else "--csv"
    arguments = [*command.split(), "--data", data, option, tmp_path / "out"]
    process = command_line(*arguments, PYTHONUNBUFFERED="1")
    process.stdout.close()
    assert process.stderr.read() == b""
    process.wait()
    assert (tmp_path / "out").stat().st_size


def test_an_output_that_is_full_is_told(data: Path) -> None:
    command = [sys.executable, "-m", "kit.lab.cli", "data", "check", data]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        "kit: the output can't be written ([Errno 28] No space left on device)\n"
    )


#: A title in Greek, a sign and quotation marks that few consoles have.
HARD = '{"id": "p", "title": "Γάμμα", "text": "Café “Rosé” at −5° — 7×7…", "document": "d"}\n'


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp437", "koi8-r"])
def test_no_character_breaks_a_console(encoding: str, data: Path) -> None:
    """What a console lacks is spelled; no sign of a number is lost."""
    with (data / "passages.jsonl").open("a", encoding="utf-8") as sink:
        sink.write(HARD)
    process = command_line(
        "ask", "Café Rosé", "--method", "bm25", "--k", 1, "--data", data, PYTHONIOENCODING=encoding
    )
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    shown = output.decode("utf-8" if encoding == "ascii" else encoding)
    assert "-5" in shown.replace("−", "-") and "Caf" in shown
    if encoding == "cp1252":
        assert r"\u0393" in shown and "Café “Rosé” at -5° — 7×7…" in shown
    if encoding == "koi8-r":
        assert r'Caf\xe9 "Ros\xe9" at -5° - 7x7\u2026' in shown


@pytest.mark.parametrize(
    "command", ["claims", "methods", "--help", "evaluate bm25", "graph entity"]
)
def test_no_command_breaks_in_an_ascii_locale(command: str, data: Path) -> None:
    arguments = command.split()
    if command.startswith(("evaluate", "graph")):
        arguments += ["--data", data.rename(data.with_name("Zürich γ"))]
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    process = command_line(*arguments, **locale)
    _, errors = process.communicate()
    assert process.returncode == 0 and b"Traceback" not in errors


def test_an_error_has_a_line_of_its_own(data: Path) -> None:
    """A progress bar that it leaves is taken away."""
    with mock.patch("kit.methods.baselines.classic.BM25.rank", side_effect=InputError("broken")):
        done = kit("evaluate", "bm25", "--data", data)
    assert "question" in done.stderr and done.stderr.split("\r")[-1] == "kit: broken\n"


def test_a_query_that_is_a_document_finds_itself_only_where_that_is_wanted(tmp_path: Path) -> None:
    # Quora's queries are documents, too; each is to find its duplicate.
    texts = {"1": "Who made the mill?", "2": "Who has made the mill?", "3": "What is a quay?"}
    corpus = Corpus(Passage(name, "", text, name) for name, text in texts.items())
    duplicate = Question("1", texts["1"], "", (("2",),))
    folder = export(Benchmark("quora", corpus, test=[duplicate]), tmp_path / "quora", "beir")
    recalls = []
    for choice in ([], ["--keep-identical-ids"]):
        files = ("--json", tmp_path / "out.json", "--trec", tmp_path / "run.txt")
        done = kit("evaluate", "bm25", "--data", folder, "--k", "1", *files, *choice)
        assert done.returncode == 0, done.stderr
        assert ("the id of a passage" in done.stdout) == (not choice)
        [line] = (tmp_path / "run.txt").read_text().splitlines()
        [result] = read(tmp_path / "out.json")["results"]
        recalls.append((result["recall@1"], line.split()[2]))
    assert recalls == [(1, "2"), (0, "1")]


def test_a_graph_without_an_edge_is_told(data: Path) -> None:
    done = kit("graph", "entity", "--data", data, "--set", "prior=1")
    assert done.returncode == 0, done.stderr
    assert "Graphs without an edge: 1 of 1. There sf_em" in done.stdout
