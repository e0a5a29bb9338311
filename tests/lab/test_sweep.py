"""Grids whose cells are done once, whatever ends in between."""

import sqlite3
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pandas as pd
import pytest

from kit.corpus import Benchmark, example
from kit.errors import InputError
from kit.evaluation import evaluate
from kit.lab import sweep
from kit.lab.sweep import combinations, sweep_retriever
from kit.methods import METHODS, make
from kit.methods.baselines.classic import BM25
from kit.settings import BaseSettings

CELLS = combinations({"branching": [1, 3], "budget": [4, 6]})


def n_kept(store: Path) -> int:
    """The cells that are kept."""
    with sqlite3.connect(store / "sweeps.sqlite") as connection:
        return connection.execute("SELECT count(*) FROM entry").fetchone()[0]


def test_a_grid_by_hand() -> None:
    first, second = {"branching": 1, "budget": 4}, {"branching": 1, "budget": 6}
    assert [first, second, first | {"branching": 3}, second | {"branching": 3}] == CELLS
    assert combinations({}) == [{}]


def test_a_table_as_of_each_cell_alone_and_found_again(
    own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand = example()
    table = sweep_retriever("kgp-tfidf", CELLS, hand, ks=(3,))
    assert list(table.columns[:4]) == ["branching", "budget", "retriever", "question"]
    assert len(table) == 4 * len(hand.test)
    assert set(table["data_hash"]) == {hand.hash}
    for cell in CELLS:
        alone = evaluate({"kgp-tfidf": make("kgp-tfidf", **cell)}, hand, ks=(3,)).table.drop(
            columns="seconds"
        )
        same_cell = (table["branching"] == cell["branching"]) & (table["budget"] == cell["budget"])
        rows = table[same_cell]
        pd.testing.assert_frame_equal(rows[alone.columns].reset_index(drop=True), alone)
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
        assert (
            len(table) == len(benchmark.test)
            and f"recall@{ks[0]}" in table
            and n_kept(own_store) == n
        )


def test_settings_are_checked_before_anything_is_evaluated(own_store: Path) -> None:
    with pytest.raises(InputError, match="has no setting 'branchs'"):
        sweep_retriever("kgp-tfidf", [*CELLS, {"branchs": 1}], example())
    assert not own_store.exists()


@pytest.mark.parametrize(
    ("problem", "line"),
    [(KeyboardInterrupt, None), (BrokenProcessPool, "a worker died .*; the same command goes on")],
)
def test_a_sweep_that_was_stopped_goes_on_where_it_was(
    problem: type[BaseException], line: str | None, own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []

    class Stopped(BM25):
        """The cell 2 is interrupted the first time that it learns, or a worker's process dies."""

        name = "stopped"

        class Settings(BaseSettings, frozen=True):
            cell: int = 0

        def fit(self, benchmark: Benchmark) -> None:
            begun.append(self.settings.cell)
            if begun == [0, 1, 2]:
                raise problem

    monkeypatch.setitem(METHODS, "stopped", Stopped)
    cells = combinations({"cell": [0, 1, 2, 3]})
    with pytest.raises(InputError if line else KeyboardInterrupt, match=line):
        sweep_retriever("stopped", cells, example())
    assert n_kept(own_store) == 2
    assert sweep_retriever("stopped", cells, example())["cell"].tolist() == [
        0,
        0,
        1,
        1,
        2,
        2,
        3,
        3,
    ]
    assert begun == [0, 1, 2, 2, 3]
