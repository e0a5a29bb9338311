"""Work that several processes share."""

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from distributed import LocalCluster

from kit.corpus import example, export
from kit.errors import InputError, Note, note
from kit.lab.cli import cli
from kit.lab.parallel import in_parallel, on_cluster


def noted(n: int) -> int:
    note(f"{n} of 3")
    return n


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_process_notes_is_told_where_its_result_goes(jobs: int) -> None:
    with pytest.warns(Note) as notes:
        results = sorted(in_parallel(noted, [(1,), (2,)], jobs))
    assert results == [1, 2]
    assert sorted(str(warning.message) for warning in notes) == ["1 of 3", "2 of 3"]


@pytest.fixture
def six_passages(tmp_path: Path) -> str:
    return str(export(example(), tmp_path / "six", "kit"))


def test_two_workers_of_a_cluster_share_a_sweep(
    six_passages: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table is that of one process, from a store that is empty each time."""
    tables = []
    with LocalCluster(n_workers=2, processes=False, dashboard_address=None) as cluster:
        for name in (cluster.scheduler_address, ""):
            monkeypatch.setenv("KIT_CACHE", str(tmp_path / f"store of {name or 'one'}"))
            table = tmp_path / "table.csv"
            command = ["sweep", "gnn-ret", "-g", "alpha=0.2,0.4,0.6,0.8", "--data", six_passages]
            command += ["--csv", str(table), "--cluster", name]
            result = CliRunner().invoke(cli, command)
            assert result.exit_code == 0, result.output
            tables.append(pd.read_csv(table).filter(regex="alpha|question|@"))
        n_done = [worker.state.executed_count for worker in cluster.workers.values()]
    pd.testing.assert_frame_equal(*tables)
    assert len(n_done) == 2 and min(n_done) >= 1


def test_a_cluster_that_does_not_answer_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kit.lab.parallel.SECONDS_TO_ANSWER", 0.5)
    address = "tcp://127.0.0.1:9"
    with pytest.raises(InputError, match=f"that answers, not {address}"):
        with on_cluster(address):
            pass
