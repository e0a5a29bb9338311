"""Every metric against values by hand, against ir_measures, and for what holds of any ranking."""

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.corpus import EvidenceGraph, Question
from kit.errors import InputError
from kit.evaluation import metrics

PASSAGES = list("abcdefghij")


def ask(*supporting: tuple[str, ...]) -> Question:
    return Question("q", "?", "!", supporting)


# Two supports: b, and whichever of d and e is found first.
TWO = ask(("b",), ("d", "e"))


@pytest.mark.parametrize(
    ("ids", "k", "recall", "full"),
    [
        ("abcde", 1, 0.0, 0.0),
        ("abcde", 2, 0.5, 0.0),
        ("abcde", 3, 0.5, 0.0),
        ("abcde", 4, 1.0, 1.0),
        ("ebd", 2, 1.0, 1.0),  # e carries the second support, d is not needed
        ("de", 2, 0.5, 0.0),  # d and e carry the same one
        ("aaab", 2, 0.5, 0.0),  # a repeated passage takes one place only
        ("", 5, 0.0, 0.0),
    ],
)
def test_recall_and_full(ids: str, k: int, recall: float, full: float) -> None:
    assert metrics.recall_at(TWO, ids, k) == recall
    assert metrics.full_at(TWO, ids, k) == full


def test_reciprocal_rank() -> None:
    for ids, value in {"bcd": 1, "acd": 1 / 3, "ae": 1 / 2, "aaae": 1 / 2, "ac": 0}.items():
        assert metrics.reciprocal_rank(TWO, ids) == value


@pytest.mark.parametrize(
    ("ids", "em", "covered", "precision"),
    [
        ("bd", 1.0, 1.0, 1.0),
        ("abcd", 1.0, 1.0, 0.5),
        ("abde", 1.0, 1.0, 0.75),  # both carriers of the second support are relevant
        ("abc", 0.0, 0.5, 1 / 3),
        ("ac", 0.0, 0.0, 0.0),
        ("", 0.0, 0.0, 0.0),
    ],
)
def test_metrics_of_a_set(ids: str, em: float, covered: float, precision: float) -> None:
    assert metrics.sf_em(TWO, ids) == em
    assert metrics.covered(TWO, ids) == covered
    assert metrics.precision(TWO, ids) == precision


def test_more_supports_than_k() -> None:
    four = ask(("a",), ("b",), ("c",), ("d",))
    assert metrics.recall_at(four, "abcd", 2) == metrics.recall_ceiling(four, 2) == 0.5
    assert metrics.full_at(four, "abcd", 2) == 0
    assert metrics.recall_ceiling(four, 4) == metrics.recall_ceiling(four, 10) == 1


@pytest.mark.parametrize(
    "name", ["recall_at", "full_at", "reciprocal_rank", "sf_em", "covered", "precision"]
)
def test_question_without_supports(name: str) -> None:
    cut_off = [1] if name.endswith("_at") else []
    with pytest.raises(
        InputError, match="record q, field supporting: expected at least one supporting passage"
    ):
        getattr(metrics, name)(ask(), "a", *cut_off)


rankings = st.permutations(PASSAGES).flatmap(
    lambda ids: st.integers(0, len(ids)).map(lambda n: ids[:n])
)
carriers = st.lists(st.sampled_from(PASSAGES), min_size=1, max_size=4, unique=True)
single = carriers.map(lambda ids: ask(*[(i,) for i in ids]))
questions = st.lists(carriers.map(tuple), min_size=1, max_size=4).map(
    lambda supporting: ask(*supporting)
)


@given(single, rankings, st.integers(1, 12))
def test_agrees_with_ir_measures(question: Question, ids: list[str], k: int) -> None:
    qrels = [ir_measures.Qrel("q", letter, 1) for letter in question.supporting_ids]
    run = [ir_measures.ScoredDoc("q", letter, -float(rank)) for rank, letter in enumerate(ids)]
    run = run or [ir_measures.ScoredDoc("q", "nothing relevant", 0.0)]
    theirs = ir_measures.calc_aggregate([ir_measures.R @ k, ir_measures.RR], qrels, run)
    assert metrics.recall_at(question, ids, k) == pytest.approx(theirs[ir_measures.R @ k])
    assert metrics.recall_at(question, ids, k) <= metrics.recall_ceiling(question, k)
    assert metrics.reciprocal_rank(question, ids) == pytest.approx(theirs[ir_measures.RR])


@given(questions, rankings)
def test_properties_of_rankings(question: Question, ids: list[str]) -> None:
    recall = [metrics.recall_at(question, ids, k) for k in range(1, 12)]
    full = [metrics.full_at(question, ids, k) for k in range(1, 12)]
    assert recall == sorted(recall) and full == sorted(full)
    assert all(f == (r == 1) for f, r in zip(full, recall))
    assert 0 <= metrics.reciprocal_rank(question, ids) <= 1
    assert metrics.sf_em(question, ids) <= recall[-1] == metrics.covered(question, ids)
    assert metrics.support_ranks(question, ids) == metrics.support_ranks(question, [*ids, *ids])


def test_struct_em_wants_the_asked_structures_and_no_other() -> None:
    for ids, value in {"bde": 1, "edb": 1, "bbde": 1, "bd": 0, "bdea": 0, "": 0, "a": 0}.items():
        assert metrics.struct_em(TWO, list(ids)) == value


CHAIN = Question("q", "?", "!", (("a",), ("b", "c")), evidence=EvidenceGraph(2, ((0, 1),)))


@pytest.mark.parametrize(
    ("ids", "edges", "gm", "gs", "ged", "ged_labelled", "precision", "recall"),
    [
        ("ab", [(0, 1)], 1, 1, 0, 0, 1, 1),
        ("ca", [(1, 0)], 1, 1, 0, 0, 1, 1),  # c carries the second support, too
        ("ab", [], 0, 0, 2, 2, 1, 1),  # a star: Q→b for a→b
        ("ba", [(0, 1)], 0, 1, 0, 4, 1, 1),  # turned round
        ("xa", [(0, 1)], 0, 1, 0, 6, 1 / 2, 1 / 2),
        ("a", [], 0, 0, 2, 2, 1, 1 / 2),
        ("abc", [(0, 1)], 0, 0, 2, 2, 2 / 3, 1),
        ("", [], 0, 0, 4, 4, 0, 0),
    ],
)
def test_an_evidence_graph(ids, edges, gm, gs, ged, ged_labelled, precision, recall) -> None:
    measured = metrics.graph_measures(CHAIN, ids, EvidenceGraph.acyclic(len(ids), edges))
    f1 = 2 * precision * recall / max(precision + recall, 1)
    expected = (gm, gs, ged, ged_labelled, f1, precision, recall, float(precision == recall == 1))
    assert measured == pytest.approx(dict(zip(metrics.GRAPH_MEASURES, expected)))


@given(st.data())
def test_a_graph_that_matches_has_its_structure_and_its_set(data: st.DataObject) -> None:
    def graph(n: int) -> EvidenceGraph:
        pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
        return EvidenceGraph.acyclic(
            n, data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
        )

    n = data.draw(st.integers(1, 4))
    question = Question("q", "?", "!", tuple((letter,) for letter in "abcd"[:n]), evidence=graph(n))
    ids = data.draw(st.permutations("abcde"))[: data.draw(st.integers(1, 4))]
    measured = metrics.graph_measures(question, ids, graph(len(ids)))
    assert measured["gm"] <= min(measured["gs"], measured["evidence_em"]) and (
        measured["gm"] == 1
    ) == (measured["ged_labelled"] == 0)
    assert (measured["gs"] == 1) == (measured["ged"] == 0) and measured["ged"] <= measured[
        "ged_labelled"
    ]
    perfect = metrics.graph_measures(question, "abcd"[:n], question.evidence)
    assert perfect["gm"] == perfect["evidence_f1"] == 1


def test_graphs_need_a_question_with_one() -> None:
    with pytest.raises(
        InputError, match="field evidence: expected a question with an evidence graph"
    ):
        metrics.graph_measures(TWO, "ab", EvidenceGraph(2))
