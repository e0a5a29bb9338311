"""Sweeps of walks by hand on the six passages, and what holds of any of them.

The graph of the six passages: harbour – moravec – quay – oll, moravec – moravec-later – novel. TF-IDF puts harbour and
novel first for both questions.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kit.corpus import Benchmark, Corpus, Query
from kit.corpus.example import example
from kit.errors import InputError
from kit.evaluation import evaluate
from kit.evaluation.walks import (
    MDRAmongNeighbours,
    ask,
    best_inner,
    by_agent,
    by_branching,
    indexed,
    mean_ranks,
    paired,
    random_walks,
    runner_up,
    second_hop_scored,
    summarise,
    to_read,
    tuning_part,
    turns,
)
from kit.retrievers import KGP, MDR, make
from kit.retrievers.mdr import path_text

HAND = example()
RIVER = HAND.test[1]


def walker(name: str = "kgp-tfidf", **settings: int) -> KGP:
    return make(name, **({"budget": 6, "branching": 3, "depth": 3} | settings))


def per_question() -> Benchmark:
    """The first question is asked of all six passages, the second of harbour, moravec and quay alone."""
    rows = {"town": np.arange(6), "river": np.array([0, 1, 3])}
    return Benchmark("example", HAND.corpus, test=HAND.test, collections=rows)


def test_turns_tell_the_queue() -> None:
    placed = indexed(walker(), HAND.corpus)
    table = turns(placed, placed.retrieve(RIVER.query, 6))
    assert table["path"].tolist() == ["(seeds)", "harbour", "novel", "harbour → moravec", "novel → moravec-later"]
    assert table["candidates"].tolist() == [
        "harbour, novel",
        "moravec",
        "moravec-later",
        "moravec-later, quay",
        "moravec",
    ]
    assert table["queued"].tolist() == [2, 1, 1, 2, 1]
    assert table["visited"].iloc[3].startswith("quay 0.") and table["visited"].iloc[3].endswith("moravec-later 0.000")


def test_asking_counts_supports_and_comparisons() -> None:
    # Of the river question's supports harbour, moravec and quay, all are on the walk, which compares 7 candidates.
    table = ask(indexed(walker(), HAND.corpus), [RIVER])
    row = {"question": "river", "hops": 3, "recall@5": 1.0, "recall@30": 1.0, "full@30": 1.0, "scored": 7}
    assert table.to_dict("records") == [row]


def test_a_copy_is_indexed_and_the_original_keeps_its_corpus() -> None:
    first = indexed(walker(), HAND.corpus)
    second = indexed(first, HAND.corpus.subset([0, 1]))
    assert (len(first.corpus), len(second.corpus)) == (6, 2) and first.agent is not second.agent


def test_random_walks_are_the_mean_of_those_of_the_seeds() -> None:
    random = walker("kgp-random", branching=1, budget=3)
    table = random_walks(random, HAND, HAND.test, draws=4)
    alone = [
        ask(indexed(walker("kgp-random", branching=1, budget=3, seed=seed), HAND.corpus), HAND.test)
        for seed in range(4)
    ]
    for column in ("recall@5", "full@30", "scored"):
        assert table[column].tolist() == pytest.approx(np.mean([part[column] for part in alone], axis=0).tolist())
    with pytest.raises(InputError, match="at least 1 draw, not 0"):
        random_walks(random, HAND, HAND.test, draws=0)


def test_each_question_walks_in_its_own_collection() -> None:
    # Among harbour, moravec and quay there is no novel: the seeds are harbour and moravec or quay.
    table = random_walks(walker("kgp-random"), per_question(), HAND.test, draws=2).set_index("question")
    assert table.loc["river", "recall@30"] == 1  # three passages, all of them supports
    assert by_branching({"kgp-tfidf": walker()}, per_question(), HAND.test, (3,))["question"].tolist() == [
        "town",
        "river",
    ]


def test_agents_stand_beside_chance_in_the_order_of_the_questions() -> None:
    experiment = evaluate({"kgp-tfidf": walker()}, HAND, ks=(5, 6), draws=100, progress=False)
    chance = random_walks(walker("kgp-random"), HAND, HAND.test, draws=2)
    table = by_agent(experiment, ["kgp-tfidf"], chance)
    assert table["retriever"].tolist() == ["random"] * 2 + ["kgp-tfidf"] * 2
    assert table["question"].tolist() == ["town", "river"] * 2
    assert table["scored"].tolist()[2:] == ask(indexed(walker(), HAND.corpus), HAND.test)["scored"].tolist()


def test_branching_takes_seeds_from_the_budget() -> None:
    table = by_branching({"kgp-tfidf": walker(depth=2)}, HAND, [RIVER], (1, 10, 30)).set_index("branching")
    assert table["seeds"].tolist() == [30, 3, 1]
    # b = 1: all six are seeds and nothing else is compared but the five or fewer neighbours of each that are left.
    # b = 30: the seed harbour, then its only neighbour moravec: two comparisons, and depth 2 ends the walk.
    assert table.loc[30, "scored"] == 2


def test_the_best_inner_branching_is_no_end_and_the_least_of_equals() -> None:
    rows = [(1, 0.9), (2, 0.4), (3, 0.6), (5, 0.6), (30, 0.8)]
    table = pd.DataFrame(rows, columns=["branching", "full@30"]).assign(retriever="a")
    assert best_inner(table, "a") == 3
    with pytest.raises(InputError, match="at least 3"):
        best_inner(table.iloc[:2], "a")


def test_means_with_intervals_and_paired_differences() -> None:
    rows = [("a", "q1", 1.0), ("a", "q2", 1.0), ("b", "q1", 0.0), ("b", "q2", 1.0), ("b", "q3", 1.0)]
    table = pd.DataFrame(rows, columns=["retriever", "question", "full@30"])
    found = summarise(table, ["retriever"], ["full@30"], seed=0, draws=100).set_index("retriever")
    assert found.loc["a", ["mean", "low", "high", "n"]].tolist() == [1, 1, 1, 2]
    assert found.loc["b", "mean"] == pytest.approx(2 / 3)
    assert paired(table, "retriever", "full@30", "a", "b", seed=0, draws=100).difference == 0.5  # q3 has no pair


def test_mean_ranks_share_places() -> None:
    means = {"a": (0.9, 0.5, 0.5), "b": (0.8, 0.5, 0.4), "c": (0.1, 0.1, 0.4)}
    rows = [
        (name, *both) for name, values in means.items() for both in zip(("recall@5", "recall@30", "full@30"), values)
    ]
    ranks = mean_ranks(pd.DataFrame(rows, columns=["retriever", "metric", "mean"]), ["a", "b", "c"])
    assert ranks["rank"].tolist() == pytest.approx([(1 + 1.5 + 1) / 3, (2 + 1.5 + 2.5) / 3, (3 + 3 + 2.5) / 3])


# ---- MDR among neighbours


@pytest.fixture
def mdr() -> MDR:
    """Untrained: the sentence encoder as it comes."""
    mdr = make("mdr", beam=2, branches=1)
    mdr.index(HAND.corpus)
    return mdr


def test_the_second_hop_goes_to_the_nearest_neighbour(mdr) -> None:
    among = MDRAmongNeighbours(mdr)
    among.fit(HAND)
    among.index(HAND.corpus)
    trace = among.retrieve(RIVER.query, 6).trace
    assert trace.seeds == mdr.retrieve(RIVER.query, 6).trace.seeds  # the first hop is the same
    for step in trace.events[len(trace.seeds) :]:
        source = HAND.corpus.row[step.source]
        near = among.graph.neighbours(source)
        [f] = mdr.encoder.encode([path_text(RIVER.text, [HAND.corpus[step.source]])], role="query")
        assert HAND.corpus.row[step.passage] == near[np.argmax(mdr.vectors[near] @ f)]


def test_where_all_are_neighbours_nothing_is_restricted(mdr) -> None:
    among = MDRAmongNeighbours(mdr, graph="knn")  # ten neighbours: all of the six passages
    among.index(HAND.corpus)
    for question in HAND.test:
        assert among.retrieve(question.query, 6).ids == mdr.retrieve(question.query, 6).ids


def test_a_path_without_neighbours_stays(mdr) -> None:
    among = MDRAmongNeighbours(mdr, graph="structure")  # joins moravec and moravec-later alone
    among.index(HAND.corpus)
    ranking = among.retrieve(Query("", "floods of a river in a fishing town"), 6)
    seeds = [seed.passage for seed in ranking.trace.seeds]
    assert "moravec" not in seeds and len(ranking.trace.events) == len(seeds) and len(ranking.ids) == 6


def test_passages_scored_in_the_second_hop(mdr) -> None:
    among = MDRAmongNeighbours(mdr)
    experiment = evaluate({"among": among}, HAND, ks=(5,), draws=100, progress=False)
    table = second_hop_scored(among, experiment, "among")
    degrees = dict(zip(among.corpus.row, among.graph.degrees.tolist()))
    for question, row in zip(HAND.test, table.itertuples()):
        firsts = [seed.passage for seed in experiment.rankings["among"][question.id].trace.seeds]
        assert row.everywhere == 2 * 5 and row.neighbours == sum(degrees[id] for id in firsts)


def test_the_runner_up_is_the_best_of_those_named() -> None:
    experiment = evaluate(["tfidf", "bm25", "golden"], HAND, ks=(5, 30), k=30, draws=100, progress=False)
    assert runner_up(experiment, ["bm25", "tfidf"]) == "bm25"  # both find everything in six passages


def test_a_reader_is_given_the_supports_alone_as_gold_context() -> None:
    experiment = evaluate(["tfidf", "bm25", "golden"], HAND, ks=(5, 30), k=30, draws=100, progress=False)
    cut = to_read(experiment, ["tfidf", "golden"], 1)
    assert cut.questions == HAND.test[:1] and list(cut.rankings) == ["tfidf", "golden"]
    assert cut.rankings["golden"]["town"].ids == ("harbour", "moravec")
    assert cut.rankings["tfidf"] == {"town": experiment.rankings["tfidf"]["town"]}


def test_settings_are_chosen_on_development_questions() -> None:
    training = Benchmark("example", Corpus(HAND.corpus.passages), dev=HAND.test)
    part = tuning_part(training, 1, seed=0)
    assert len(part.test) == 1 and part.test[0] in HAND.test
    assert {id for id in part.test[0].supporting_ids} <= set(part.corpus.row)
