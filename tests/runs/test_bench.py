"""Each benchmark at a size that says nothing of its speed."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from kit.cli import cli
from kit.corpus import Corpus, Passage
from kit.errors import InputError
from kit.runs.bench import TOP_KS, bench_gnn_ret, random_graph


def rows(*arguments: str) -> list[list[str]]:
    done = CliRunner().invoke(cli, ["bench", *arguments])
    assert done.exit_code == 0, done.output
    head, *found = done.output.splitlines()
    assert head.split("  ")[-1].strip() == "peak MiB"
    return [row.replace(",", "").split() for row in found]


def test_gnn_ret_has_a_row_a_size_degree_and_number_of_senders() -> None:
    found = rows("gnn-ret", "--passages", "80,160", "--degrees", "6")
    assert [(row[0], row[2]) for row in found] == [(str(n), str(k)) for n in (80, 160) for k in TOP_KS]
    assert all(3 < float(row[1]) < 9 and float(row[-1]) > 50 for row in found)


def test_qsgnn_and_graphs_have_a_row_a_size() -> None:
    (row,) = rows("qsgnn", "--passages", "200")
    assert 100 < int(row[0]) < 300 < int(row[2])  # passages, and their sentences
    assert [row[0] for row in rows("graphs", "--passages", "60", "--builders", "structure,entity")] == [
        "structure",
        "entity",
    ]


def test_what_can_not_be_measured_is_told_at_once() -> None:
    with pytest.raises(InputError, match="field degrees: expected mean degrees below 300 passages, not 672"):
        next(bench_gnn_ret([300, 1000], [336, 672]))
    assert "no graph builder 'trees'" in str(
        CliRunner().invoke(cli, ["bench", "graphs", "--builders", "trees"]).exception
    )


@pytest.mark.parametrize(("n", "degree"), [(3000, 40), (3000, 300)])
def test_the_random_graph_has_the_degree_that_was_asked_for(n: int, degree: int) -> None:
    corpus = Corpus(Passage(str(row), "", "", str(row)) for row in range(n))
    graph = random_graph(corpus, degree, np.random.default_rng(0))
    assert graph.mean_degree == pytest.approx(degree, rel=0.05)
