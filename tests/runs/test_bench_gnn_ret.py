"""The benchmark of GNN-Ret at a size that says nothing of its speed."""

from __future__ import annotations

import re

import numpy as np
import pytest
from click.testing import CliRunner

from kit.cli import cli
from kit.corpus import Corpus, Passage
from kit.errors import InputError
from kit.runs.bench_gnn_ret import SENDERS, bench_gnn_ret, random_graph


def test_a_row_a_size_degree_and_number_of_senders() -> None:
    done = CliRunner().invoke(cli, ["bench", "gnn-ret", "--passages", "80,160", "--degrees", "6"])
    assert done.exit_code == 0, done.output
    head, *rows, first, second = done.output.splitlines()
    assert head.split("  ")[-1].strip() == "peak MiB"
    cells = [[float(cell.replace(",", "")) for cell in row.split()] for row in rows]
    assert [(cell[0], cell[2]) for cell in cells] == [(80, 5), (80, 10), (160, 5), (160, 10)]
    assert all(3 < cell[1] < 9 and cell[-1] > 50 for cell in cells)
    for senders, line in zip(SENDERS, (first, second)):
        assert re.match(rf"mean degree 6, K = {senders}, 2 times the passages: messages × [\d.]+, added ×", line)


def test_a_degree_that_no_graph_of_that_size_has() -> None:
    with pytest.raises(InputError, match="field degrees: expected mean degrees below 300 passages, not 672"):
        next(bench_gnn_ret([300, 1000], [336, 672]))


@pytest.mark.parametrize(("n", "degree"), [(3000, 40), (3000, 300)])
def test_the_random_graph_has_the_degree_that_was_asked_for(n: int, degree: int) -> None:
    corpus = Corpus(Passage(str(row), "", "", str(row)) for row in range(n))
    graph = random_graph(corpus, degree, np.random.default_rng(0))
    assert graph.mean_degree == pytest.approx(degree, rel=0.05)
