"""What fits into a context, worked out by hand on the six passages of ``conftest``."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.corpus import Benchmark, Corpus, Passage, Question
from kit.errors import InputError
from kit.evaluation import count_found, evaluate, passages_to_rank, summarise_budgets, within_budgets
from kit.evaluation.trec import Run
from kit.retrievers import Ranking

TOKENS = np.array([3, 1, 2, 2, 4, 1])  # of a b c d e f


@pytest.fixture
def found(alphabetical, reverse, benchmark):
    return evaluate({"a to z": alphabetical, "z to a": reverse}, benchmark, ks=(2,), k=6, progress=False)


def test_whole_passages_until_the_next_would_not_fit(found) -> None:
    table = within_budgets(found, TOKENS, [6, 2])
    assert list(table.columns) == [
        *("retriever", "question", "hops", "type", "structure", "budget", "passages", "recall", "full")
    ]
    # a b c take 3 + 1 + 2 = 6 tokens; a alone does not fit into 2, and b, which would, comes after it.
    # f takes 1, and f e 5; d would make it 7.
    assert table[["retriever", "question", "budget", "passages", "recall", "full"]].values.tolist() == [
        ["a to z", "q1", 6, 3, 1, 1],
        ["a to z", "q1", 2, 0, 0, 0],
        ["a to z", "q2", 6, 3, 1 / 2, 0],
        ["a to z", "q2", 2, 0, 0, 0],
        ["a to z", "q3", 6, 3, 1 / 2, 0],
        ["a to z", "q3", 2, 0, 0, 0],
        ["z to a", "q1", 6, 2, 0, 0],
        ["z to a", "q1", 2, 1, 0, 0],
        ["z to a", "q2", 6, 2, 1 / 2, 0],
        ["z to a", "q2", 2, 1, 0, 0],
        ["z to a", "q3", 6, 2, 1 / 2, 0],
        ["z to a", "q3", 2, 1, 1 / 4, 0],
    ]
    assert table["type"].tolist()[4:6] == ["bridge", "bridge"]


def test_a_context_that_holds_everything_needs_all_passages(found) -> None:
    table = within_budgets(found, TOKENS, [13, 1000])
    assert (table["passages"] == 6).all() and (table["full"] == 1).all()


@pytest.mark.parametrize(("budget", "length"), [(0, 0), (1, 1), (2, 2), (5, 3), (6, 4), (12, 5), (13, 6), (1000, 6)])
def test_the_length_that_fills_a_budget_is_that_of_the_shortest_passages(budget: int, length: int) -> None:
    assert passages_to_rank(TOKENS, budget) == length  # 1 1 2 2 3 4, together 1 2 4 6 9 13


def test_a_ranking_that_is_too_short_says_how_long_it_must_be(alphabetical, benchmark) -> None:
    found = evaluate({"a to z": alphabetical}, benchmark, ks=(2,), progress=False)
    line = "record q1, field budgets: expected rankings of 4 passages for 6 tokens (k of evaluate), a to z gives 2"
    with pytest.raises(InputError) as error:
        within_budgets(found, TOKENS, [3, 6])
    assert str(error.value) == line
    # 3 tokens are full after a: the short ranking is long enough for them.
    assert within_budgets(found, TOKENS, [3])["passages"].tolist() == [1, 1, 1]


def test_each_question_has_its_own_collection(alphabetical, per_question) -> None:
    found = evaluate({"a to z": alphabetical}, per_question, ks=(2,), k=3, progress=False)
    # q1 has all of a b c; q3 has a c e f, and a c e are 9 tokens.
    assert within_budgets(found, TOKENS, [8])["passages"].tolist() == [3, 3, 2]


def test_a_repeated_passage_takes_its_place_once(benchmark) -> None:
    ranking = Ranking(tuple("aaabcdef"), -np.arange(8.0))
    found = evaluate({"x": Run("x", {q.id: ranking for q in benchmark.test})}, benchmark, ks=(8,), progress=False)
    assert within_budgets(found, TOKENS, [6])["passages"].tolist() == [3, 3, 3]


@pytest.mark.parametrize(
    ("tokens", "budgets", "line"),
    [
        (TOKENS[:5], [6], "field tokens: expected 6 lengths, one a passage, not 5"),
        (TOKENS, [], "field budgets: expected numbers of tokens from 1"),
        (TOKENS, [6, 0], "field budgets: expected numbers of tokens from 1, not"),
    ],
)
def test_bad_input(found, tokens, budgets, line) -> None:
    with pytest.raises(InputError, match=line):
        within_budgets(found, tokens, budgets)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=8), st.integers(1, 30), st.randoms(use_true_random=False))
def test_a_ranking_of_that_length_fills_as_much_as_the_whole(tokens, budget, random) -> None:
    ids = [str(row) for row in range(len(tokens))]
    benchmark = Benchmark(
        "any", Corpus(Passage(id, id, "", id) for id in ids), test=[Question("q", "?", "", ((ids[0],),))]
    )
    order = random.sample(ids, len(ids))
    short = order[: max(1, passages_to_rank(np.array(tokens), budget))]
    tables = []
    for ranked in (order, short):
        run = Run("x", {"q": Ranking(tuple(ranked), -np.arange(len(ranked), dtype=float))})
        found = evaluate({"x": run}, benchmark, ks=(len(ids),), progress=False)
        tables.append(within_budgets(found, np.array(tokens), [budget]))
    pd.testing.assert_frame_equal(*tables)


def test_summary_and_differences(found) -> None:
    summary = summarise_budgets(within_budgets(found, TOKENS, [6]), "a to z", seed=0, draws=500)
    columns = ["retriever", "budget", "metric", "mean", "low", "high", "n"]
    assert list(summary.columns) == [*columns, "difference", "difference_low", "difference_high", "p", "p_holm"]
    rows = summary.set_index(["retriever", "metric"])
    assert rows.loc[("a to z", "passages"), ["mean", "low", "high", "n"]].tolist() == [3, 3, 3, 3]
    assert rows.loc[("a to z", "full"), "mean"] == pytest.approx(1 / 3)
    assert rows.loc[("a to z", "full"), ["difference", "p", "p_holm"]].isna().all()
    # One passage less for each question: of the 8 ways to flip three signs, 2 are as extreme.
    worse = rows.loc[("z to a", "passages"), ["difference", "difference_low", "difference_high", "p", "p_holm"]]
    assert worse.tolist() == [-1, -1, -1, 0.25, 0.25]
    assert rows.loc[("z to a", "recall"), ["mean", "difference"]].tolist() == pytest.approx([1 / 3, -1 / 3])


def test_summary_by_hops_adjusts_for_all_rows_of_a_metric(found) -> None:
    summary = summarise_budgets(within_budgets(found, TOKENS, [2, 6]), "a to z", by=["hops"], seed=0, draws=100)
    assert list(summary.columns)[:3] == ["retriever", "budget", "hops"]
    assert summary.groupby(["hops", "budget"])["n"].max().to_dict() == {(2, 2): 2, (2, 6): 2, (4, 2): 1, (4, 6): 1}
    passages = summary[(summary["metric"] == "passages") & (summary["retriever"] == "z to a")]
    assert passages["p"].tolist() == [0.5, 0.5, 1, 1] and passages["p_holm"].tolist() == [1, 1, 1, 1]


def test_an_unknown_baseline(found) -> None:
    with pytest.raises(InputError, match="field baseline: expected one of a to z, z to a, not 'dense'"):
        summarise_budgets(within_budgets(found, TOKENS, [6]), "dense", seed=0)


def outcomes(dense: dict[int, str], other: dict[int, str]) -> pd.DataFrame:
    """For each number of supports, which questions are found (1) and which are not (0)."""
    rows = [
        {"retriever": name, "question": f"{hops}-{number}", "hops": hops, "full": float(full)}
        for name, found in (("dense", dense), ("gnn-ret", other))
        for hops, marks in found.items()
        for number, full in enumerate(marks)
    ]
    return pd.DataFrame(rows)


def test_questions_found_by_their_number_of_supports() -> None:
    table = count_found(outcomes({2: "1100000000", 3: "1000"}, {2: "1111111100", 3: "1000"}), "dense", seed=0)
    columns = ["retriever", "supports", "n", "found", "share", "gained", "lost", "difference", "p", "p_holm"]
    rows = table[columns].astype(object).where(table[columns].notna(), None).values.tolist()
    # McNemar: six questions changed, all of them for the better: 2 / 2⁶. Holm: three rows, of which two share a p.
    assert rows == [
        ["dense", "2", 10, 2, 0.2, None, None, None, None, None],
        ["gnn-ret", "2", 10, 8, 0.8, 6, 0, 6, 1 / 32, 3 / 32],
        ["dense", "3", 4, 1, 0.25, None, None, None, None, None],
        ["gnn-ret", "3", 4, 1, 0.25, 0, 0, 0, 1, 1],
        ["dense", "all", 14, 3, 3 / 14, None, None, None, None, None],
        ["gnn-ret", "all", 14, 9, 9 / 14, 6, 0, 6, 1 / 32, 3 / 32],
    ]
    both = table[table["retriever"] == "gnn-ret"]
    assert both.loc[both["supports"] == "3", ["low", "high"]].values.tolist() == [[0, 0]]
    low, high = both.loc[both["supports"] == "2", ["low", "high"]].iloc[0]
    assert 2 <= low < 6 < high <= 10


def test_gains_and_losses_are_told_apart() -> None:
    table = count_found(outcomes({2: "1100"}, {2: "0111"}), "dense", seed=0)
    assert table["supports"].tolist() == ["2", "2"]  # one number of supports is all there are
    assert table.loc[1, ["gained", "lost", "difference", "p"]].tolist() == [2, 1, 1, 1.0]


def test_another_metric_of_an_experiment(found) -> None:
    counted = count_found(found.table, "a to z", "full@2", seed=0, draws=100)
    assert counted.set_index(["retriever", "supports"])["found"].to_dict() == {
        ("a to z", "2"): 1,
        ("z to a", "2"): 0,
        ("a to z", "4"): 0,
        ("z to a", "4"): 0,
        ("a to z", "all"): 1,
        ("z to a", "all"): 0,
    }
