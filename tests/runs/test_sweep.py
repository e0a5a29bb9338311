"""Grids whose cells are done once, whatever is killed in between."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from kit.corpus import Benchmark
from kit.corpus.example import example
from kit.errors import InputError
from kit.evaluation import evaluate
from kit.retrievers import make
from kit.runs import sweep
from kit.runs.sweep import experiment_of, grid, summary, sweep_notebook, sweep_retriever

CELLS = grid({"branching": [1, 3], "budget": [4, 6]})


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def n_kept(store: Path) -> int:
    """The cells that are kept."""
    file = store / "sweeps.sqlite"
    if not file.exists():
        return 0
    with sqlite3.connect(file) as connection:
        return connection.execute("SELECT count(*) FROM entry").fetchone()[0]


def test_a_grid_by_hand() -> None:
    assert CELLS == [
        {"branching": 1, "budget": 4},
        {"branching": 1, "budget": 6},
        {"branching": 3, "budget": 4},
        {"branching": 3, "budget": 6},
    ]
    assert grid({}) == [{}]


def test_a_table_as_of_each_cell_alone_and_found_again(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hand = example()
    table = sweep_retriever("kgp-tfidf", CELLS, hand, ks=(3,))
    assert list(table.columns[:4]) == ["branching", "budget", "retriever", "question"]
    assert len(table) == 4 * len(hand.test)
    assert set(table["data_hash"]) == {hand.hash}
    for cell in CELLS:
        alone = evaluate({"kgp-tfidf": make("kgp-tfidf", **cell)}, hand, ks=(3,)).table.drop(columns="seconds")
        of = table[(table["branching"] == cell["branching"]) & (table["budget"] == cell["budget"])]
        pd.testing.assert_frame_equal(of[alone.columns].reset_index(drop=True), alone)
    means = summary(table, 2)
    assert len(means) == 4 and list(means.columns) == ["branching", "budget", "recall@3", "full@3", "mrr", "seconds"]

    monkeypatch.setattr(sweep, "_evaluate", print)  # nobody is asked
    pd.testing.assert_frame_equal(sweep_retriever("kgp-tfidf", CELLS, hand, ks=(3,)), table)
    again = sweep_retriever("kgp-tfidf", [CELLS[2], CELLS[2]], hand, ks=(3,))
    assert again["branching"].tolist() == [3] * 4


def test_other_data_training_or_cut_offs_are_other_cells(own_store: Path) -> None:
    hand = example()
    part = Benchmark("part", hand.corpus, test=hand.test[:1])
    for n, (benchmark, training, ks) in enumerate([(hand, None, (3,)), (hand, None, (2,)), (part, None, (3,))], 1):
        table = sweep_retriever("kgp-tfidf", CELLS[:1], benchmark, training, ks=ks)
        assert len(table) == len(benchmark.test) and f"recall@{ks[0]}" in table and n_kept(own_store) == n
    sweep_retriever("kgp-tfidf", CELLS[:1], hand, part, ks=(3,))
    assert n_kept(own_store) == 4


def test_settings_are_checked_before_anything_is_evaluated(own_store: Path) -> None:
    with pytest.raises(InputError, match="has no setting 'branchs'"):
        sweep_retriever("kgp-tfidf", [*CELLS, {"branchs": 1}], example())
    assert not own_store.exists()


def test_cells_before_one_that_fails_are_kept(own_store: Path) -> None:
    for _ in (1, 2):
        with pytest.raises(InputError, match="field n_train"):  # noticed when it learns
            sweep_retriever("gnn-ret", [{"n_train": 0}, {"n_train": 1000}], example(), example())
        assert n_kept(own_store) == 1


# Cell 2 waits for a file: a sweep that can be stopped in the middle for certain.
SCRIPT = """
import sys, time
from pathlib import Path
from kit.corpus.example import example
from kit.retrievers import BM25, RETRIEVERS
from kit.runs.sweep import grid, sweep_retriever

folder = Path(sys.argv[1])

class Waiting(BM25):
    name = "waiting"

    def __init__(self, number=0):
        super().__init__()
        self.number = number

    def fit(self, benchmark):
        with (folder / "log").open("a") as sink:
            sink.write(f"{self.number}\\n")
        while self.number == 2 and not (folder / "go").exists():
            time.sleep(0.02)

RETRIEVERS["waiting"] = Waiting
print(sweep_retriever("waiting", grid({"number": [0, 1, 2, 3]}), example())["number"].tolist())
"""


def test_a_killed_sweep_goes_on_where_it_was(own_store: Path, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    log, command = tmp_path / "log", [sys.executable, tmp_path / "script.py", tmp_path]
    first = subprocess.Popen(command)
    while first.poll() is None and not (log.exists() and "2" in log.read_text()):
        time.sleep(0.05)
    first.kill()
    first.wait()
    assert n_kept(own_store) == 2

    (tmp_path / "go").touch()
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == f"{[0, 0, 1, 1, 2, 2, 3, 3]}\n", done.stderr
    assert log.read_text().split() == ["0", "1", "2", "2", "3"]


def test_a_notebook_over_a_grid(project) -> None:
    project.write(
        "01_one",
        'with open(log, "a") as sink:\n    sink.write(f"{size}/{seed}\\n")',
        'from kit.runs import start\nlesson = start("01_one", scale="smoke", seed=seed)',
        "from kit.evaluation.statistics import Estimate",
        'if seed:\n    lesson.claim("kgp-01", Estimate(1, 1, 1, 10), criterion="SF-EM")\nlesson.done()',
        parameters=f'data = ""\nscale = "class"\nseed = 0\nsize = ""\nlog = "{project.log}"',
    )
    cells = [{"size": "a/b", "seed": 1}, {"size": "b"}]
    for _ in (1, 2):
        table = sweep_notebook("01", cells, scale="smoke", jobs=2, notebooks=project.notebooks)
        assert table[["size", "setting_seed", "seed", "claim"]].to_numpy().tolist() == [["a/b", 1, 1, "kgp-01"]]
        assert summary(table, 2)["effect"].tolist() == [1]
    assert sorted(project.logged) == ["a/b/1", "b/0"]  # once each
    assert {folder.name for folder in (project.output / "sweeps" / "01_one").iterdir()} == {
        "size=a%2Fb,seed=1",
        "size=b",
    }


def test_a_notebook_that_fails_or_tells_nothing(project) -> None:
    project.write("01_broken", "frame = {}\nframe[size]", parameters="size = 1")
    project.write("02_silent", parameters="size = 1")
    with pytest.raises(InputError, match=r"01_broken: failed in the cell: frame = \{\}"):
        sweep_notebook("01", [{"size": 2}], notebooks=project.notebooks)
    with pytest.raises(InputError, match=r"expected a notebook that tells what it found by lesson.done\(\)"):
        sweep_notebook("02", [{"size": 2}], notebooks=project.notebooks)


@pytest.mark.parametrize(
    ("which", "cell", "options", "line"),
    [
        ("0", {}, {}, "field notebook: expected one notebook, but 2 begin with '0'"),
        ("01", {"hue": "red"}, {}, "field parameter hue: expected one of: rate"),
        ("01", {"rate": "fast"}, {}, "field parameter rate: expected a value like 0.5, not 'fast'"),
        ("01", {"seed": -1}, {}, "field seed: expected a whole number from 0, not -1"),
        ("01", {}, {"data": "no/such.json"}, "no such file"),
        ("01", {"rate": 1}, {"scheduler": "nonsense"}, "no dask scheduler answers at 'nonsense'"),
    ],
)
def test_bad_options_of_a_notebook_write_nothing(project, which: str, cell: dict, options: dict, line: str) -> None:
    for name in ("01_first", "02_second"):
        project.write(name, parameters="rate = 0.5\nseed = 0")
    with pytest.raises(InputError) as caught:
        sweep_notebook(which, [cell], notebooks=project.notebooks, **options)
    assert line in str(caught.value)
    assert not project.output.exists()


def test_a_table_is_an_experiment_of_its_cells() -> None:
    hand = example()
    table = sweep_retriever("tfidf", [{}], hand, ks=(2, 5))
    both = pd.concat([table, table], ignore_index=True)
    found = experiment_of(both, ["a", "b"], hand, ks=(5, 2), seed=0, n_resamples=100)
    assert found.compare("a", "recall@2")["difference"].tolist() == [0]
    assert found.summary(by="hops")["retriever"].unique().tolist() == ["a", "b"]
