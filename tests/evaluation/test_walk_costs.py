"""Sweeps over density and size: what is counted, where it is exact; of times only that they add up."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kit.corpus import Corpus, Passage
from kit.corpus.example import example
from kit.errors import InputError
from kit.evaluation.walk_costs import (
    PARTS,
    by_density,
    by_size,
    clocked,
    density_points,
    on_graph,
    part_of,
    slopes,
    time_questions,
)
from kit.evaluation.walks import indexed
from kit.graphs import build
from kit.retrievers import make

HAND = example()
RIVER = HAND.test[1]


def test_another_graph_of_the_same_corpus_is_walked() -> None:
    placed = indexed(make("kgp-tfidf", budget=6, branching=3), HAND.corpus)
    on_structure = on_graph(placed, build("structure", HAND.corpus))
    # Two passages of one document are all of its edges, and the seeds, harbour and novel, have none.
    assert on_structure.retrieve(RIVER.query, 6).trace.scored == 2
    assert placed.retrieve(RIVER.query, 6).trace.scored > 2


def test_a_clock_changes_no_ranking_and_notes_what_is_read() -> None:
    for name, reads in (("kgp-tfidf", 0), ("kgp-dense", 1), ("dense", 1), ("bm25", 0)):
        retriever = indexed(make(name), HAND.corpus)
        timed, clock = clocked(retriever)
        assert timed.retrieve(RIVER.query, 6).ids == retriever.retrieve(RIVER.query, 6).ids
        assert len(set(clock.texts)) == reads
        assert ("advice" in clock.seconds) == name.startswith("kgp")


def test_an_agent_that_reads_the_path_reads_a_text_for_each_path() -> None:
    placed = indexed(make("kgp-dense", reads="path", budget=6, branching=3), HAND.corpus)
    table, read = time_questions(placed, [RIVER])
    assert table["texts"].tolist() == [3] and read[0] == RIVER.text  # the question, and with each of two seeds
    assert all(text.startswith(RIVER.text) for text in read)
    assert (table[["seeding", "matching", "rest"]] >= 0).all(axis=None)


def test_each_graph_has_its_quality_its_times_and_its_size() -> None:
    walker = make("kgp-tfidf", budget=6, branching=3)
    quality, times, sizes = by_density(
        walker, HAND, HAND.test, {"knn": (1, 5), "joined": (5,)}, 1, {"joined": walker_encoder()}
    )
    assert sizes[["builder", "parameter", "value"]].values.tolist() == [
        ["knn", "k", 1],
        ["knn", "k", 5],
        ["joined", "k", 5],
    ]
    assert sizes["density"].tolist()[1:] == [1, 1]  # five neighbours of six passages: all
    assert quality["question"].tolist() == ["town", "river"] * 3 and times["question"].tolist() == ["town"] * 3
    whole = quality[quality["value"] == 5]
    assert whole["sf_em"].tolist() == [1] * 4 and whole["neighbourhood"].tolist() == [6] * 4
    points = density_points(quality, times, sizes, "full@30", seed=0, draws=100)
    assert points["sf_em"].tolist()[1:] == [1, 1] and len(points) == 3


def walker_encoder() -> str:
    return make("dense").encoder.name


def test_slopes_are_taken_on_the_doublings_of_the_degree() -> None:
    sizes = pd.DataFrame({"builder": "knn", "value": [1, 2, 4, 8], "mean_degree": [1, 2, 4, 8]})
    rows = [(question, value, height) for question, heights in {"a": (0, 1, 2, 9), "b": (5, 5, 5, 5)}.items()
            for value, height in zip((1, 2, 4, 8), heights)]  # fmt: skip
    table = pd.DataFrame(rows, columns=["question", "value", "seconds"]).assign(builder="knn")
    # Centred doublings −1.5, −0.5, 0.5, 1.5 with 0, 1, 2, 9: (−0.5 + 1 + 13.5) / 5.
    assert slopes(table, sizes, "knn", "seconds").tolist() == pytest.approx([14 / 5, 0])
    assert slopes(table, sizes, "knn", "seconds", share=0.5).tolist() == pytest.approx([1, 0])
    with pytest.raises(InputError, match="at least two densities"):
        slopes(table, sizes.assign(mean_degree=3), "knn", "seconds")


def test_a_part_keeps_the_supports_and_grows() -> None:
    supports = set(RIVER.supporting_ids)
    parts = [set(part_of(HAND.corpus, [RIVER], size, seed=0).row) for size in (1, 4, 6)]
    assert parts[0] == supports and parts[0] <= parts[1] <= parts[2] == set(HAND.corpus.row)
    assert len(parts[1]) in (4, 5)  # a document more, which may have two passages
    with pytest.raises(InputError, match="at most 6 passages, not 7"):
        part_of(HAND.corpus, [RIVER], 7, seed=0)


def test_cost_by_size() -> None:
    extra = (Passage(f"more-{i}", f"More {i}", f"Filler number {i}.", f"More {i}") for i in range(4))
    corpus = Corpus([*HAND.corpus.passages, *extra])
    table = by_size(
        {name: make(name) for name in ("tfidf", "dense", "kgp-dense")}, corpus, [RIVER], (4, 10, 99), seed=0
    )
    assert table.groupby("retriever")["passages"].max().tolist() == [10] * 3  # 99 is more than there are
    assert table["seconds"].tolist() == pytest.approx(table[list(PARTS)].sum(axis=1).tolist())
    encoding = table.set_index("retriever")["encoding"]
    assert (encoding["tfidf"] == 0).all() and (encoding["dense"] > 0).all()
    walks = table[table["retriever"] == "kgp-dense"]
    assert (walks[["seeding", "matching", "encoding"]] > 0).all(axis=None)
    assert np.all(table["full@30"] == 1)
    with pytest.raises(InputError, match="a size of at most 10"):
        by_size({"tfidf": make("tfidf")}, corpus, [RIVER], (99,), seed=0)
