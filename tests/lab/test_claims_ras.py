"""What is measured for claims of RAS, by hand."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from kit.corpus import Benchmark, Query, Question, example
from kit.lab.claims import ras as claims
from kit.lab.claims.claims import CLAIMS
from kit.lab.claims.measured import Measured
from kit.lab.claims.ras import connection_gains, connects, growth_slopes, named_answers
from kit.lab.claims.ras_language import (
    NO_TOKEN,
    SEPARATE,
    WHOLE,
    answered_by_variants,
    answers_of_variants,
)
from kit.lab.claims.ras_measures import FROM_PROFILE, RAW, law_of_saving, seconds_saved
from kit.methods import make
from kit.methods.loops.agents import GoldAgent, SmallAgent
from kit.methods.loops.steps import Step, Trajectory

FEW = {"seed": 0, "n_resamples": 200}
BY = ("Harbour", "director", "Moravec")
BORN = ("Moravec", "born in", "Selby Quay")
FAR = ("Oll", "rises in", "Hills")
ONES = np.ones(4)
ZEROS = np.zeros(4)
RAS = SimpleNamespace(name="ras", sees_gold=False)  # whatever was trained


def by_case(measured: list[Measured]) -> dict[tuple[str, str], Measured]:
    return {(effect.criterion, effect.case): effect for effect in measured}


def loop(question: str, *parts: tuple) -> Trajectory:
    """A loop with a step per part, of which each is a list of triples."""
    steps = [Step("", triples=tuple(part)) for part in parts]
    graph = {triple: 0 for part in parts for triple in part}
    return Trajectory(Query("q", question), steps, graph)


def asking(answer: str) -> Question:
    return Question("q", "Where?", answer, (("p",),))


def test_ras_01_compares_with_as_many_passages_of_one_search() -> None:
    rows = pd.DataFrame({"retriever": "ras", "full": ONES, "dense_full": [0.0, 1, 1, 1]})
    rows = pd.concat([rows, rows.assign(retriever="gold", dense_full=0.0)])
    small = SimpleNamespace(name="ras", sees_gold=False, agent=object.__new__(SmallAgent))
    gold = SimpleNamespace(name="ras", sees_gold=True, agent=GoldAgent())
    dense = SimpleNamespace(name="dense", sees_gold=False)
    planned, bound = claims.ras_01(rows, {"ras": small, "gold": gold}, dense, **FEW)
    assert (planned.effect.value, planned.trained, planned.untestable) == (0.25, (small,), "")
    assert (bound.effect.value, bound.trained) == (1, ())
    assert bound.untestable.startswith("a bound")


def test_ras_02_measures_the_saving_and_its_distance_from_the_law() -> None:
    saved = {(100, 0.1): np.full(4, law_of_saving(0.1) + 0.05)}
    measured = by_case(list(claims.ras_02(saved, **FEW)))
    case = "K/N = 0.1, 100 vectors"
    assert measured["saving", case].effect.value == pytest.approx(law_of_saving(0.1) + 0.05)
    assert measured["law", case].effect.value == pytest.approx(0.05)
    assert set(seconds_saved(80, [0.5], repeat=3)) == {(20, 0.5), (80, 0.5)}


@pytest.fixture
def scoping() -> pd.DataFrame:
    """Within a scope half is found with the shift, nothing without; in all of the corpus, all."""
    parts = []
    for profile, found_in_scope in ((RAW, [0.0] * 4), (FROM_PROFILE, [0.0, 0, 1, 1])):
        for share in (0.1, 0.25, 0.5, 1.0):
            hits = found_in_scope if share < 1 else [1.0] * 4
            parts.append(
                pd.DataFrame(
                    {"profile": profile, "K/N": share, "found": hits, "question": range(4)}
                )
            )
    return pd.concat(parts).assign(metric="recall@5")


def test_ras_03_and_04_compare_scopes_and_profiles(scoping: pd.DataFrame) -> None:
    effects = list(claims.ras_03(scoping, **FEW))
    assert [effect.case for effect in effects] == ["K/N = 0.1", "K/N = 0.25", "K/N = 0.5"]
    assert [effect.effect.value for effect in effects] == [-0.5] * 3
    divergences = {RAW: 2 * ONES, FROM_PROFILE: ONES}
    measured = by_case(list(claims.ras_04(scoping, divergences, **FEW)))
    assert measured["divergence", ""].effect.value == 1
    assert measured["recall", "K/N = 0.25"].effect.value == 0.5


def test_ras_05_is_no_test_but_has_its_effects() -> None:
    triples = pd.DataFrame({"dense": ONES, "ras": ONES})
    effects = list(claims.ras_05(triples, triples.assign(dense=0.0), RAS, **FEW))
    assert [effect.effect.value for effect in effects] == [1, 0]
    assert all(effect.untestable for effect in effects)


def test_ras_06_draws_the_shuffles_of_a_question_together() -> None:
    rows = {"triples": [0, 1] * 6, "f1": [0, 1, 0, 0] * 3, "question": ["a", "a", "b", "b"] * 3}
    [measured] = claims.ras_06(pd.DataFrame(rows), RAS, **FEW)
    effect = measured.effect
    assert (effect.value, effect.n, effect.differ) == (0.5, 2, 1)


def test_ras_07_compares_heads_and_is_no_test() -> None:
    [measured] = claims.ras_07({"text and graph": ONES, "text": ZEROS}, RAS, **FEW)
    assert measured.effect.value == 1 and measured.untestable


def test_ras_07_and_13_compare_graph_llm_with_what_it_is_without_a_part() -> None:
    parts = {WHOLE: 1.0, NO_TOKEN: 0.75, SEPARATE: 0.25}
    answers = [pd.DataFrame({"question": range(4), "retriever": p, "f1": parts[p]}) for p in parts]
    table = pd.concat(answers)
    [token] = claims.ras_07({}, RAS, table, **FEW)
    assert (token.effect.value, token.case, token.untestable) == (0.25, WHOLE, "")
    [roles] = claims.ras_13(table, RAS, **FEW)
    assert roles.effect.value == 0.75


def test_ras_09_compares_nothing_with_what_is_found() -> None:
    right = pd.DataFrame({"none": ONES, "dense": [1.0, 1, 0, 0], "golden": ONES})
    [measured] = claims.ras_09(right, "hf:model", **FEW)
    assert (measured.effect.value, measured.case) == (0.5, "hf:model, dense")


def test_answers_of_variants_are_scored_by_question() -> None:
    right, wrong = (Trajectory(Query("q", "Where?"), answer=text) for text in ("Oll", "Ohm"))
    table = answers_of_variants({"one": [right], "other": [wrong]}, [asking("Oll")])
    assert table[["retriever", "em", "searches"]].values.tolist() == [
        ["one", 1, 0],
        ["other", 0, 0],
    ]


def test_each_variant_of_graph_llm_learns_and_answers(
    chat_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_CACHE", str(tmp_path))
    monkeypatch.setattr("kit.methods.ras.graph_llm.LONGEST_PLAN", 8)
    hand = example()
    ras = make("ras", planner="gold", triples="rules", top_k=1)
    ras.index(hand.corpus)
    training = Benchmark("hand", hand.corpus, train=hand.test[:2])
    sizes = {"base": str(chat_model), "hidden": 8, "layers": 1, "rank": 1}
    queries = [question.query for question in hand.test[:1]]
    answered = answered_by_variants(ras, training, queries, **sizes)
    assert set(answered) > {WHOLE, NO_TOKEN, SEPARATE, "without LoRA", "without retrieval"}
    [unasked] = answered["without retrieval"]
    assert unasked.n_retrievals == 0 and len(unasked.exchanges) == 1
    assert all(one.n_retrievals <= 1 for one in answered["without planning"])


def test_a_graph_connects_by_whole_names() -> None:
    question = "Where was the director of Harbour born?"
    assert connects([BY, BORN], question, ["Selby Quay"]) == 1
    assert connects([BORN], question, ["Selby Quay"]) == 0  # no name of the question
    assert connects([BY, BORN], "Who made Harbours?", ["Selby Quay"]) == 0  # no whole word
    assert connects([FAR, BORN], "Where does the Oll end?", ["Selby Quay"]) == 0


def test_ras_08_grows_beyond_chance_only_if_its_own_triples_tell() -> None:
    """After one sub-query no answer, after two there is: slope 1. Others' triples never have it."""
    rounds = [[[BY], [BY, BORN]], [[FAR], [FAR]]]
    answers = [["Selby Quay"], ["Nowhere"]]
    slopes = growth_slopes(rounds, answers, **FEW)
    assert slopes["growth"].value == slopes["growth over chance"].value == 0.5
    # Where other questions' graphs are the same, the growth is that of any graph.
    alike = growth_slopes([rounds[0]] * 2, [answers[0]] * 2, **FEW)
    assert alike["growth"].value == 1 and alike["growth over chance"].value < 1


def test_ras_08_connects_beyond_chance_only_with_the_triples_that_fit() -> None:
    texts = ["Where was the director of Harbour born?", "Where does the Oll rise?"]
    answers = [["Selby Quay"], ["Hills"]]
    measured = connection_gains([[[BY], [BORN]], [[FAR], []]], texts, answers, **FEW)
    assert measured["merged over separate"].value == 0.5  # the second needs no merging
    assert measured["connected over chance"].value == 0.5
    twins = connection_gains([[[BY], [BORN]]] * 2, texts[:1] * 2, answers[:1] * 2, **FEW)
    assert twins["merged over separate"].value == 1
    assert twins["connected over chance"].value < 1


def test_ras_08_is_of_questions_whose_answer_is_a_name() -> None:
    loops = [loop("Who directed Harbour?", [BY], [BORN]), loop("Where is the Oll?", [FAR], [])]
    questions = [asking("Selby Quay"), asking("Hills")]
    effects = list(claims.ras_08(loops, questions, RAS, **FEW))
    criteria = ["growth", "growth over chance", "merged over separate", "connected over chance"]
    assert [effect.criterion for effect in effects] == criteria
    assert effects[2].effect.value == 0.5
    named = named_answers(loops * 2, [asking("yes"), asking("3"), *questions])
    assert [answers for _, answers in named] == [("Selby Quay",), ("Hills",)]


def test_ras_10_compares_the_two_effects() -> None:
    """The better answerer brings 1 with either planner, the better planner 0."""

    def effect(right: list) -> float:
        [measured] = claims.ras_10(right, "readers", (RAS,), **FEW)
        assert measured.case == "readers" and measured.trained == (RAS,)
        return measured.effect.value

    assert effect([[ONES, ONES], [ZEROS, ZEROS]]) == 1
    assert effect([[ONES, ZEROS], [ONES, ZEROS]]) == -1
    assert effect([[ONES, ZEROS], [ZEROS, ZEROS]]) == pytest.approx(0)


def test_ras_11_compares_graphs_that_hold_the_answer() -> None:
    loops = {
        "gold triples": [loop("?", [BORN])] * 2,
        "the small model": [loop("?", [BORN]), loop("?", [FAR])],
        "triples by rules": [loop("?", [FAR])] * 2,
    }
    effects = by_case(list(claims.ras_11(loops, [asking("Selby Quay")] * 2, RAS, **FEW)))
    assert effects["gold over patterns", ""].effect.value == 0.5
    assert effects["patterns over rules", ""].effect.value == 0.5
    assert effects["patterns over rules", ""].untestable


def test_ras_12_is_a_slope_over_the_logarithm_of_the_data() -> None:
    curve = pd.DataFrame(
        {"share": [0.1, 1] * 3, "action": [0.5, 1] * 3, "question": list("aabbcc")}
    )
    [measured] = claims.ras_12(curve, RAS, **FEW)
    assert measured.effect.value == 0.5 and measured.criterion == "slope"


def test_ras_14_has_a_case_per_rival_and_for_our_addition() -> None:
    full = pd.DataFrame({"ras": ONES, "by name": ONES, "dense": ZEROS, "rgnn-ret, planned": ONES})
    effects = by_case(list(claims.ras_14(full.assign(ras=[1.0, 1, 0, 0]), RAS, **FEW)))
    values = {case: effect.effect.value for (_, case), effect in effects.items()}
    assert values == {
        "dense": 0.5,
        "by name, dense": 1,
        "rgnn-ret, planned": -0.5,
        "by name, rgnn-ret, planned": 0,
    }


def test_ras_15_needs_sub_questions_about_what_was_left_out() -> None:
    empty = np.array([1.0, 1, 0, 0])
    unseen = np.array([True, True, False, False])
    effects = by_case(list(claims.ras_15(empty, unseen, [ONES, ZEROS], **FEW)))
    assert effects["empty vectors", ""].effect.value == 1
    assert effects["recall lost", ""].effect.value == 1
    assert not list(claims.ras_15(empty, unseen, [ONES[:0], ONES[:0]], **FEW))


def test_docstrings_begin_with_the_words_of_the_claims() -> None:
    for name in [name for name in vars(claims) if name.startswith("ras_") and name[4:].isdigit()]:
        first = getattr(claims, name).__doc__.split("\n\n")[0]
        assert " ".join(first.split()) == CLAIMS[name.replace("_", "-")].claim, name
