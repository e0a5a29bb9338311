"""What is measured for claims of GNN-Ret, by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from kit.corpus import Corpus, EvidenceGraph, Passage, Question, SubQuestion
from kit.graphs import build
from kit.lab.claims import gnn_ret as claims
from kit.lab.claims.gnn_ret_answers import MOST, Answers, Loops, stops
from kit.lab.claims.gnn_ret_measures import best_alpha, places_gained
from kit.methods.loops.agents import Agent
from kit.methods.loops.steps import NextSteps, Trajectories

FEW = {"seed": 0, "n_resamples": 200}
GAINS = {
    ("gnn-ret", "mean"): 0.1,
    ("all send", "all send, mean"): 0.2,
    ("trained", "trained, mean"): 0.3,
    ("adjacent passages", "shared entities"): -0.2,
    ("adjacent passages", "dense"): 0.1,
    ("shared entities", "dense"): 0.3,
    ("gnn-ret", "all send"): 0.05,
    ("K = 10", "all send"): 0.04,
    ("all send", "gnn-ret"): 2.0,
    ("all send", "K = 10"): 1.0,
}


class Measurement:
    """An experiment that knows its gains."""

    def __init__(self, gains, rankings=(), differ: int = 20) -> None:
        self.gains = gains
        self.rankings = dict.fromkeys(rankings)
        self.draws = FEW
        self.differ = differ
        self.benchmark = SimpleNamespace(corpus=SimpleNamespace(documents={"a": [], "b": []}))

    def gain(self, name, over, metric):
        value = self.gains[name, over]
        return SimpleNamespace(value=value, differ=self.differ, metric=metric)

    def gain_over_best(self, name, rivals, metric):
        return SimpleNamespace(value=0.0), rivals


def effects(measured) -> list[tuple[str, str, float]]:
    return [(one.criterion, one.case, pytest.approx(one.effect.value)) for one in measured]


@pytest.fixture
def contexts() -> pd.DataFrame:
    rows = []
    for budget in (1_000, 3_500):
        for row in range(10):
            rows.append(("dense", f"q{row}", budget, float(row < 4)))
            rows.append(("gnn-ret", f"q{row}", budget, float(row < budget / 500)))
    return pd.DataFrame(rows, columns=["retriever", "question", "budget", "full"])


def test_the_usual_context_and_all_others(contexts) -> None:
    assert effects(claims.gnn_ret_01(contexts, **FEW)) == [("", "", 0.3)]
    assert effects(claims.gnn_ret_13(contexts, **FEW)) == [("", "1,000 tokens", -0.2)]


def test_each_baseline_and_the_answers_of_a_reader() -> None:
    gains = {("gnn-ret", "dense"): 0.1, ("gnn-ret on dpr", "dpr"): 0.2}
    experiment = Measurement(gains, ["dense", "gnn-ret"])
    right = pd.DataFrame({"gnn-ret": [1.0, 1.0], "dense": [1.0, 0.0]})
    answers = Answers(right, "ras", MOST, ("reader",), "cannot read")

    measured = list(claims.gnn_ret_02(experiment, {}, answers))
    assert effects(measured) == [
        ("Recall@10", "dense", 0.1),
        ("Recall@17", "dense", 0.1),
        ("answers", "dense", 0.5),
    ]
    assert measured[-1].trained == ("reader",) and measured[-1].untestable == "cannot read"

    with_dpr = Measurement(gains, ["dense", "gnn-ret", "gnn-ret on dpr"])
    assert effects(claims.gnn_ret_14(with_dpr, {}, [answers])) == [
        ("recall", "distances of dense", 0.1),
        ("recall", "distances of dpr", 0.2),
        ("answers", f"reader ras, {MOST}", 0.5),
    ]


def test_parts_and_edges() -> None:
    parts = Measurement(GAINS)
    assert [one[2] for one in effects(claims.gnn_ret_03(parts, {}))] == [0.1, 0.2]
    assert len(list(claims.gnn_ret_03(parts, {"trained": None}))) == 3
    assert effects(claims.gnn_ret_04(parts, has_adjacency=False)) == [
        ("keywords over none", "", 0.3)
    ]
    assert len(list(claims.gnn_ret_04(parts, has_adjacency=True))) == 3
    assert effects(claims.gnn_ret_05(parts, parts)) == [
        ("across documents", "", -0.2),
        ("long documents", "2 documents", -0.2),
    ]
    [alike] = claims.gnn_ret_05(Measurement(GAINS, differ=3))
    assert alike.untestable == "adjacency changes 3 questions"
    assert list(claims.gnn_ret_05()) == []
    assert effects(claims.gnn_ret_16(parts))[:2] == [
        ("recall", "K = 5", 0.05),
        ("time saved", "K = 5", 2),
    ]


def test_training_is_compared_with_one_half_and_cells_with_the_usual_one() -> None:
    gains = {("depth 1", "untrained"): -0.1, ("depth 2", "depth 1"): 0.01}
    deep = Measurement(gains | {("depth 3", "depth 1"): 0.02, ("a", claims.USUAL_CELL): 0.03})
    networks = {"depth 1": "first", "depth 1, seed 1": "second", "depth 2": "third"}
    [one] = claims.gnn_ret_10(deep, networks, "depth 1", "untrained", "gnn-ret")
    assert one.case == "gnn-ret" and one.trained == ("first", "second")
    two, three = claims.gnn_ret_12(deep, networks)
    assert two.criterion == "two over one" and len(two.trained) == 3
    assert three.effect.value == 0.02
    cells = ["a", claims.USUAL_CELL]
    assert effects(claims.gnn_ret_15(deep, {}, cells)) == [("", "a", 0.03)]
    assert list(claims.gnn_ret_15(deep, {}, ["a"])) == []


def test_the_best_alpha_on_dev_with_how_sure_that_is() -> None:
    recalls = np.array([[0.2, 0.9, 0.4]] * 8)  # all questions agree
    assert best_alpha(recalls, [0.3, 0.4, 0.5], **FEW)[:4] == (0.4, 0.4, 0.4, 8)
    one_by_one = np.eye(3)[[0, 1, 1]]
    torn = best_alpha(one_by_one, [0.3, 0.4, 0.5], **FEW)
    assert (torn.value, torn.low, torn.high) == (0.4, 0.3, 0.4)
    assert best_alpha(np.ones((4, 3)), [0.3, 0.4, 0.5], **FEW).value == 0.5
    [measured] = claims.gnn_ret_11(recalls, [0.3, 0.4, 0.5], **FEW)
    assert measured.trained == () and measured.effect.value == 0.4
    assert list(claims.gnn_ret_11(recalls[:1], [0.3, 0.4, 0.5], **FEW)) == []


@pytest.fixture
def steps() -> Measurement:
    experiment = Measurement({}, ["gnn-ret"])
    rows = []
    values = {
        "gnn-ret": (0, 0),
        "sub-questions alone": (0, 1),
        "memory, no graph": (0, 1),
        "graph, no memory": (1, 1),
        "rgnn-ret": (1, 1),
    }
    for name, full in values.items():
        rows += [(name, "a", full[0]), (name, "b", full[1])]
    experiment.table = pd.DataFrame(rows, columns=["retriever", "question", "full@17"])
    return experiment


def test_memory_and_graph_are_compared_with_neither(steps) -> None:
    measured = effects(claims.gnn_ret_06(steps, ["a", "b"]))
    assert [one[2] for one in measured] == [0, 0.5, 0.5, 0]
    assert {one[1] for one in measured} == {"gold sub-questions"}
    assert list(claims.gnn_ret_06(steps, [])) == []


def test_what_memory_spares_where_bridges_are_wrong() -> None:
    rows = []
    for name, recalls in {"rgnn-ret, β = 1": (1.0, 0.2), "rgnn-ret, β = 0.9": (0.9, 0.5)}.items():
        for share, recall in zip((0.0, 0.5), recalls):
            for question in "ab":
                rows.append((name, question, share, recall))
    wrong = pd.DataFrame(rows, columns=["retriever", "question", "share", "recall"])
    [spared] = claims.gnn_ret_07(wrong, "rgnn-ret, β = 1", **FEW)
    assert spared.case == "β = 0.9, 50% wrong"
    assert spared.effect.value == pytest.approx(0.8 - 0.4)
    assert list(claims.gnn_ret_07(wrong.iloc[:0], "rgnn-ret, β = 1", **FEW)) == []


def test_targets_with_all_their_seeds() -> None:
    rows = []
    for name, recall in {"all": 0.2, "own": 0.6, "own, seed 1": 0.8, "later": 0.5}.items():
        rows += [(f"target: {name}", question, recall) for question in "ab"]
    recalls = pd.DataFrame(rows, columns=["retriever", "question", "recall"])
    networks = {"target: own": 1, "target: own, seed 1": 2, "target: later": 3, "target: all": 4}
    later, single = claims.gnn_ret_09(recalls, networks, **FEW)
    assert later.effect.value == pytest.approx(-0.2) and later.trained == (1, 2, 3)
    assert single.effect.value == pytest.approx(0.5) and single.criterion == "own over all"
    assert list(claims.gnn_ret_09(recalls.iloc[:0], networks, **FEW)) == []


@pytest.fixture
def loops() -> Loops:
    values = pd.DataFrame(
        {
            "gnn-ret": [0.0, 1.0],
            "selfask (gold)": [1.0, 1.0],
            "ircot (gold)": [0.0, 0.0],
            "ircot (gold), rgnn-ret": [0.0, 1.0],
            "iter-retgen (gold)": [0.0, 1.0],
            "iter-retgen (gold), rgnn-ret": [0.0, 1.0],
            "rgnn-ret (gold)": [1.0, 1.0],
        }
    )
    return Loops({"recall": values}, {"recall": ("planner",)}, {"recall": ""}, " (gold)")


def test_loops_that_see_golden_answers_are_a_bound(loops, steps) -> None:
    [beaten] = claims.gnn_ret_08(loops, **FEW)
    assert beaten.effect.value == 0 and beaten.case == "over selfask (gold)"
    assert beaten.untestable.startswith("a bound")

    lifted = list(claims.gnn_ret_20(loops, **FEW))
    assert effects(lifted) == [("recall", "ircot (gold)", 0.5), ("recall", "iter-retgen (gold)", 0)]
    assert all(one.untestable and one.trained == ("planner",) for one in lifted)

    bound, *others = claims.gnn_ret_19(loops, steps, ["a", "b"], **FEW)
    assert bound.case == "gold plan" and bound.effect.value == -0.5
    assert [one.effect.value for one in others] == [-0.5, 0.5, 0]
    assert list(claims.gnn_ret_19(**FEW)) == []


def test_without_self_critique_nothing_is_said_of_it(loops) -> None:
    values = loops.values["recall"].rename(columns=lambda name: name.replace(" (gold)", ""))
    without_gold = Loops({"recall": values}, loops.trained, loops.unread)
    [beaten] = claims.gnn_ret_08(without_gold, **FEW)
    assert beaten.untestable == "no self-critique: a small plan is its own"
    assert not without_gold.bound


class Stops(Agent):
    """SelfAsk stops at once; the critique says whether the last answer is a place."""

    def plan(self, trajectories: Trajectories, policy: str = "ras") -> NextSteps:
        assert policy == "selfask"
        return [None] * len(trajectories)

    def suffices(self, trajectories: Trajectories) -> list[bool]:
        return [trajectory.last_answer == "Selby Quay" for trajectory in trajectories]


def test_who_stops_after_the_last_sub_question_and_not_before() -> None:
    parts = (SubQuestion("Who?", "Ines Moravec", 0), SubQuestion("Where?", "Selby Quay", 1, (0,)))
    supports = (("film",), ("woman",))
    question = Question("q", "?", "Selby Quay", supports, decomposition=parts)
    undivided = Question("other", "?", "Selby Quay", supports)
    by_question = stops(Stops(), [question, undivided])
    assert by_question.index.tolist() == ["q"]
    assert by_question.loc["q"].to_dict() == {"selfask": False, "self-critique": True}
    [measured] = claims.gnn_ret_21(by_question, "hf:model", **FEW)
    assert (measured.effect.value, measured.case) == (1, "hf:model")


def test_the_time_of_messages_grows_with_the_edges() -> None:
    times = pd.DataFrame({"top_k": [5, 5, 10, 10], "question": [0, 1, 0, 1]})
    times["edges"] = [10, 20, 100, 200]
    times["seconds_messages"] = times["edges"] / 1000
    exponent, share = claims.gnn_ret_17(times, 0.5, **FEW)
    assert exponent.effect.value == pytest.approx(1)
    assert share.effect.value == pytest.approx(0.015 / 0.5)


def test_places_gained_take_off_what_passages_of_the_same_rank_gain() -> None:
    """The last support b rises from rank 3 to 0; c and d around it fall by one each: 3 + 1.

    The first support a falls from 0 to 1, as do the others around it: nothing beyond.
    """
    question = Question("q", "?", "", (("a",), ("b",)), evidence=EvidenceGraph(2, ((0, 1),)))
    last, first = places_gained(question, ("a", "c", "d", "b"), ("b", "a", "c", "d"))
    assert (last, first) == pytest.approx((4, 0))
    assert np.isnan(places_gained(question, ("a", "c"), ("a", "c"))[0])


def test_ranks_and_places_of_the_last_support_less_those_of_the_first() -> None:
    ends = pd.DataFrame({"first": [1.0, 2.0], "last": [4.0, 7.0]})
    ranks, more, first = claims.gnn_ret_18(ends, ends, **FEW)
    assert (ranks.effect.value, more.effect.value, first.effect.value) == (4, 4, 1.5)
    assert list(claims.gnn_ret_18(ends.iloc[:0], ends.iloc[:0], **FEW)) == []


def test_density_and_the_slope_of_edges_on_the_logarithm_of_the_corpus() -> None:
    corpus = Corpus([Passage(name, name, "Text.", "document", n) for n, name in enumerate("abc")])
    graph = build("structure", corpus)  # a path: degrees 1, 2, 1 of at most 2
    parts = pd.DataFrame({"passages": np.exp([1, 2, 3]), "edges_per_passage": [2.0, 4.0, 6.0]})
    density, growth = claims.gnn_ret_22(graph, parts)
    assert density.effect.value == pytest.approx(2 / 3)
    assert growth.effect.value == pytest.approx(2)
    assert len(list(claims.gnn_ret_22(graph, parts.iloc[:1]))) == 1
