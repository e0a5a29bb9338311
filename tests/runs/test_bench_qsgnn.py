"""The benchmark runs, on a small world, and says what it measured."""

from __future__ import annotations

from kit.runs.bench_qsgnn import bench_qsgnn


def test_a_row_a_size() -> None:
    head, row = bench_qsgnn([200])
    values = dict(zip(("passages", "entities", "sentences", "edges"), row.replace(",", "").split()))
    assert head.split()[0] == "passages" and 100 < int(values["passages"]) < 300
    assert int(values["sentences"]) > int(values["passages"])
    dense, around, whole = (float(each) for each in row.replace(",", "").split()[5:8])
    assert 0 <= dense < around and whole > 0
