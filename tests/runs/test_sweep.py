"""Grids whose cells are done once, whatever ends in between."""

import sqlite3
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from kit.corpus import Benchmark, example
from kit.errors import InputError
from kit.evaluation import evaluate
from kit.retrievers import BM25, RETRIEVERS, make
from kit.runs import sweep
from kit.runs.sweep import grid, summary, sweep_notebook, sweep_retriever

CELLS = grid({"branching": [1, 3], "budget": [4, 6]})


def n_kept(store: Path) -> int:
    """The cells that are kept."""
    with sqlite3.connect(store / "sweeps.sqlite") as connection:
        return connection.execute("SELECT count(*) FROM entry").fetchone()[0]


def test_a_grid_by_hand() -> None:
    first, second = {"branching": 1, "budget": 4}, {"branching": 1, "budget": 6}
    assert [first, second, first | {"branching": 3}, second | {"branching": 3}] == CELLS
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

    monkeypatch.setattr(sweep, "evaluate", print)  # nobody is asked
    pd.testing.assert_frame_equal(sweep_retriever("kgp-tfidf", CELLS, hand, ks=(3,)), table)
    again = sweep_retriever("kgp-tfidf", [CELLS[2], CELLS[2]], hand, ks=(3,))
    assert again["branching"].tolist() == [3] * 4


def test_other_data_training_or_cut_offs_are_other_cells(own_store: Path) -> None:
    hand = example()
    part = Benchmark("part", hand.corpus, test=hand.test[:1])
    others = [(hand, None, (3,)), (hand, None, (2,)), (part, None, (3,)), (hand, part, (3,))]
    for n, (benchmark, training, ks) in enumerate(others, 1):
        table = sweep_retriever("kgp-tfidf", CELLS[:1], benchmark, training, ks=ks)
        assert len(table) == len(benchmark.test) and f"recall@{ks[0]}" in table and n_kept(own_store) == n


def test_settings_are_checked_before_anything_is_evaluated(own_store: Path) -> None:
    with pytest.raises(InputError, match="has no setting 'branchs'"):
        sweep_retriever("kgp-tfidf", [*CELLS, {"branchs": 1}], example())
    assert not own_store.exists()


def test_an_interrupted_sweep_goes_on_where_it_was(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []

    class Interrupted(BM25):
        """The cell 2 is interrupted the first time that it learns."""

        def __init__(self, number: int = 0) -> None:
            super().__init__()
            self.number = number

        def fit(self, benchmark: Benchmark) -> None:
            begun.append(self.number)
            if begun == [0, 1, 2]:
                raise KeyboardInterrupt

    monkeypatch.setitem(RETRIEVERS, "interrupted", Interrupted)
    cells = grid({"number": [0, 1, 2, 3]})
    with pytest.raises(KeyboardInterrupt):
        sweep_retriever("interrupted", cells, example())
    assert n_kept(own_store) == 2
    assert sweep_retriever("interrupted", cells, example())["number"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert begun == [0, 1, 2, 2, 3]


def test_a_worker_that_dies_is_told_and_what_is_done_stays_done(own_store: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"

    def square(number: int) -> list[dict]:
        """With the last number the first time, what joblib raises when a worker's process has died."""
        with log.open("a") as sink:
            sink.write(str(number))
        if number == 3 and log.read_text().count("3") == 1:
            raise BrokenProcessPool
        return [{"square": number * number}]

    tasks = [partial(square, number) for number in range(4)]
    work = grid({"n": list(range(4))}), [b"0", b"1", b"2", b"3"], tasks
    with pytest.raises(InputError, match=r"a worker died .*; the same command goes on where it stopped"):
        sweep._table(*work)
    assert n_kept(own_store) == 3
    assert sweep._table(*work)["square"].tolist() == [0, 1, 4, 9]
    assert sorted(log.read_text()) == list("01233")


def test_a_notebook_over_a_grid(project) -> None:
    project.write(
        "01_one",
        'with open(log, "a") as sink:\n    sink.write(f"{size}/{seed}\\n")',
        'from kit.runs import start\nlesson = start("01_one", data=data, scale="smoke", seed=seed)',
        "from kit.evaluation.statistics import Estimate",
        'if seed:\n    lesson.claim("kgp-01", Estimate(1, 1, 1, 10), criterion="SF-EM")\nlesson.done()',
        parameters=f'data = ""\nscale = "class"\nseed = 0\nsize = ""\nlog = "{project.log}"',
    )
    cells, told = [{"size": "a/b", "seed": 1}, {"size": "b"}], {"scale": "smoke", "data": project.data}
    for _ in (1, 2):
        table = sweep_notebook("01", cells, told, project.notebooks)
        assert table[["size", "setting_seed", "seed", "claim"]].to_numpy().tolist() == [["a/b", 1, 1, "kgp-01"]]
        assert summary(table, 2)["effect"].tolist() == [1]
    assert sorted(project.logged) == ["a/b/1", "b/0"]  # once each
    folders = {folder.name for folder in (project.output / "sweeps" / "01_one").iterdir()}
    assert folders == {"size=a%2Fb,seed=1", "size=b"}


def test_a_notebook_that_fails_or_tells_nothing(project) -> None:
    project.write("01_broken", "frame = {}\nframe[size]", parameters="size = 1")
    project.write("02_silent", parameters="size = 1")
    with pytest.raises(InputError, match=r"01_broken: failed in the cell: frame = \{\}"):
        sweep_notebook("01", [{"size": 2}], {"data": project.data}, project.notebooks)
    with pytest.raises(InputError, match=r"expected a notebook that tells what it found by lesson.done\(\)"):
        sweep_notebook("02", [{"size": 2}], {"data": project.data}, project.notebooks)


@pytest.mark.parametrize(
    ("which", "cell", "line"),
    [
        ("0", {}, "field notebook: expected one notebook, but 2 begin with '0'"),
        ("01", {"hue": "red"}, "field parameter hue: expected one of: rate"),
    ],
)
def test_bad_options_of_a_notebook_write_nothing(project, which: str, cell: dict, line: str) -> None:
    for name in ("01_first", "02_second"):
        project.write(name, parameters="rate = 0.5\nseed = 0")
    with pytest.raises(InputError) as caught:
        sweep_notebook(which, [cell], {}, project.notebooks)
    assert line in str(caught.value)
    assert not project.output.exists()
