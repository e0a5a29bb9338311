"""Cells by several processes, some of which die.

What the workers do is defined inside the tests: workers then need not import the tests, nor torch.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import LocalCluster

from kit.corpus.example import example
from kit.errors import InputError
from kit.runs import parallel
from kit.runs.parallel import map_cells
from kit.runs.sweep import sweep_retriever


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(params=["processes", "cluster"])
def by_two(request: pytest.FixtureRequest) -> dict[str, object]:
    """The options of two workers."""
    return {"jobs": 2} if request.param == "processes" else {"scheduler": request.getfixturevalue("scheduler")}


def test_one_job_is_done_here_in_order() -> None:
    done = list(map_cells(lambda cell: (cell + 10, os.getpid()), [3, 1]))
    assert done == [(0, (13, os.getpid())), (1, (11, os.getpid()))]
    assert list(map_cells(pow, [], jobs=2)) == list(map_cells(pow, [], scheduler="tcp://nowhere:1")) == []


def test_a_killed_worker_is_replaced_and_what_is_done_stays_done(by_two: dict[str, object], tmp_path: Path) -> None:
    log, go = tmp_path / "log", tmp_path / "go"

    def square(number: int) -> int:
        """Logs that it is done; the first time that it is done for 2, its process is killed after others finished."""
        with log.open("a") as sink:
            sink.write(f"{number}\n")
        if number == 2 and not go.exists():
            while not go.exists():
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGKILL)
        return number * number

    done, before = {}, []
    for place, found in map_cells(square, range(6), **by_two):
        assert place not in done
        done[place] = found
        if len(done) == 3:
            before = list(done)
            while "2" not in log.read_text():
                time.sleep(0.01)
            go.touch()
    assert done == {n: n * n for n in range(6)}
    begun = log.read_text().split()
    assert begun.count("2") == 2 and all(begun.count(str(number)) == 1 for number in before)


def test_a_cell_that_fails_says_why(by_two: dict[str, object]) -> None:
    def fail(number: int) -> None:
        raise InputError(f"no {number}")

    with pytest.raises(InputError, match="no 3"):
        list(map_cells(fail, [3, 3], **by_two))


def test_workers_that_keep_dying_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "DEATHS", 2)
    with pytest.raises(InputError, match="workers died 2 times in a row"):
        list(map_cells(lambda _: os.kill(os.getpid(), signal.SIGKILL), [1, 2], jobs=2))


SCRIPT = """
import os, sys, time
from pathlib import Path
from kit.runs.parallel import map_cells

def main(log=sys.argv[1]):
    def sleep(cell):
        Path(log, str(cell)).write_text(str(os.getpid()))
        time.sleep(600)

    list(map_cells(sleep, [0, 1], jobs=2))

main()
"""


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    parent = subprocess.Popen([sys.executable, "-c", SCRIPT, tmp_path / "log"])
    while parent.poll() is None and len(list((tmp_path / "log").iterdir())) < 2:
        time.sleep(0.05)
    time.sleep(0.1)  # until the process's number is written too
    pids = [int(file.read_text()) for file in (tmp_path / "log").iterdir()]
    assert all(map(is_alive, pids)) and len(pids) == 2
    parent.kill()
    parent.wait()
    end = time.monotonic() + 60
    while any(map(is_alive, pids)):
        assert time.monotonic() < end
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_no_scheduler() -> None:
    for address in ("tcp://127.0.0.1:9", "nonsense", "http://127.0.0.1:9", "127.0.0.1:port"):
        with pytest.raises(InputError, match=f"field scheduler: no dask scheduler answers at '{address}'"):
            list(map_cells(pow, [2], scheduler=address))


def test_a_retriever_on_a_cluster(scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells, tables = [{"branching": 1}, {"branching": 3}], []
    for folder, options in (("here", {}), ("there", {"scheduler": scheduler})):
        monkeypatch.setenv("KIT_CACHE", str(tmp_path / folder))
        table = sweep_retriever("kgp-tfidf", cells, example(), ks=(3,), **options)
        tables.append(table.drop(columns=["seconds", "seconds_to_fit"]))
    assert tables[0].equals(tables[1]) and len(tables[0]) == 4
