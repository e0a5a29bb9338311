"""What is measured for claims of BGR, by hand."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
import pytest

from kit.corpus import example
from kit.evaluation import Experiment, mean_over_seeds
from kit.lab.claims import bgr
from kit.lab.claims.bgr_answers import EvidenceAnswers
from kit.lab.claims.bgr_graphs import MAY_BE_EMPTY, RULES, reading
from kit.lab.claims.measured import Measured

FEW = {"seed": 0, "n_resamples": 100}
QUESTIONS = example().test  # of two facts and of three
ALL_MEASURES = (
    "gm",
    "gs",
    "evidence_f1",
    "evidence_em",
    "evidence_precision",
    "evidence_recall",
)
ONES = {measure: 1.0 for measure in ALL_MEASURES}


def graphs(**values: dict[str, float]) -> Experiment:
    """An experiment of two seeds, in which a graph's measures are 0 but for those given."""
    rows = []
    for name, measures in values.items():
        for seed in ("", ", seed 1"):
            for question in QUESTIONS:
                about = {
                    "retriever": name + seed,
                    "question": question.id,
                }
                rows.append(about | dict.fromkeys(ALL_MEASURES, 0.0) | measures)
    runs = pd.DataFrame(rows)
    return Experiment(
        table=mean_over_seeds(runs),
        rankings={name: {} for name in values},
        seconds_to_fit={},
        benchmark=example(),
        questions=QUESTIONS,
        ks=(),
        draws=FEW,
        runs=runs,
    )


def effects(
    measured: Iterable[Measured],
) -> dict[tuple[str, str], float]:
    return {(part.criterion, part.case): part.effect.value for part in measured}


def answers(matches: dict[str, float]) -> EvidenceAnswers:
    right = {name: np.full((4, 2), value) for name, value in matches.items()}
    return EvidenceAnswers(right, np.zeros((0, 3)), np.zeros(0), "")


def test_bgr_01_compares_each_reading_with_the_better_direction() -> None:
    merged = dict.fromkeys((*map(reading, RULES), "chosen", "likely"), ONES)
    experiment = graphs(
        forward={"gm": 0.5},
        backward={"evidence_f1": 0.25},
        **merged,
    )
    values = effects(bgr.bgr_01(experiment, {}))
    assert len(values) == 15
    assert values["GM", "rule: code"] == 0.5 and values["set F1", "the most likely graph"] == 0.75
    read = answers({"forward": 0.5, "backward": 0.25, "bgr": 1.0})
    assert effects(bgr.bgr_01(experiment, {}, read))["answers", "rule: code"] == 0.5


def test_bgr_02_and_03_are_of_opposite_sign() -> None:
    empty = {"evidence_f1": 0.25}
    single = {
        "forward": ONES,
        "backward": {"gm": 0.25, "evidence_f1": 0.5},
    }
    experiment = graphs(
        **single,
        **{
            f"forward{MAY_BE_EMPTY}": {},
            f"backward{MAY_BE_EMPTY}": empty,
        },
    )
    assert effects(bgr.bgr_02(experiment, {})) == {
        ("GM", ""): -0.75,
        ("GS", ""): -1.0,
    }
    assert effects(bgr.bgr_03(experiment, {})) == {
        ("set F1", "at least one evidence"): 0.5,
        ("set F1", "may be empty"): -0.25,
        ("set EM", "at least one evidence"): 1.0,
        ("set EM", "may be empty"): 0.0,
    }


def test_slopes_by_depth_leave_out_depths_at_the_floor() -> None:
    """Forward falls from 1 to 0 over depths 1 and 2, backward stays at ½; depth 3 tells nothing."""
    recalls = pd.DataFrame(
        {
            "question": ["q", "r"] * 3,
            "depth": [1, 1, 2, 2, 3, 3],
            "forward": [1, 1, 0.5, 0.5, 0, 0],
            "backward": [0.5, 0.5, 0.5, 0.5, 0.02, 0],
        }
    )
    slopes = bgr.slopes_by_depth(recalls, **FEW)
    values = {name: measured.value for name, measured in slopes.items()}
    assert values == {
        "forward": -0.5,
        "backward": 0,
        "backward over forward": 0.5,
    }
    assert slopes["forward"].n == 2  # questions, not their depths
    assert bgr.slopes_by_depth(recalls[recalls["depth"] != 2], **FEW) == {}

    long = recalls.melt(
        ["question", "depth"],
        ["forward", "backward"],
        "retriever",
        "recall",
    )
    measured = bgr.bgr_04(long, {}, **FEW)
    assert effects(measured) == {(name, ""): value for name, value in values.items()}


def test_bgr_05_needs_questions_of_one_chain_and_of_several_for_its_third_criterion() -> None:
    narrow = {"evidence_precision": 1.0, "evidence_recall": 0.5}
    experiment = graphs(bgr=ONES, grr=narrow, mdr=narrow)
    values = effects(bgr.bgr_05(experiment, {}))
    assert set(values.values()) == {0.5}
    assert {criterion for criterion, _ in values} == {
        "precision over recall",
        "recall gained",
    }


def test_bgr_06_compares_the_inner_gamma_with_both_ends() -> None:
    names = {reading("code", gamma): {} for gamma in (0.0, 1.0)}
    experiment = graphs(
        **{reading("code", 0.3): {"gm": 0.5, "evidence_f1": 1.0}},
        **names,
    )
    measured = list(bgr.bgr_06(experiment, {}, {"code": 0.3}))
    assert effects(measured) == {
        ("over γ = 0", "rule: code"): 0.75,
        ("over γ = 1", "rule: code"): 0.75,
    }
    assert "γ = 0.3" in measured[0].how


def test_gains_by_structure_are_over_the_better_direction_of_each() -> None:
    """Of the hard ones backward is better (½), and merged has 1; of the simple ones forward."""
    structures = [bgr.HARDEST] * 2 + [bgr.SIMPLEST] * 2 + ["other"]
    matched = {
        "bgr": np.array([[1, 1, 0.5, 0.5, 0]]).T,
        "forward": np.array([[0, 0, 1, 1, 1]]).T,
        "backward": np.array([[0.5, 0.5, 0, 0, 1]]).T,
    }
    measured = bgr.gains_by_structure(matched, structures, **FEW)
    assert measured["simplest"].value == -0.5 and measured["interaction"].value == 1.0
    assert bgr.gains_by_structure(matched, [bgr.HARDEST] * 5, **FEW) == {}


def test_bgr_07_measures_nothing_without_both_structures() -> None:
    single = {"forward": ONES, "backward": ONES}
    assert list(bgr.bgr_07(graphs(bgr=ONES, **single), {})) == []


def test_bgr_08_is_a_slope_over_chains_and_hops_unless_no_graph_is_right() -> None:
    [measured] = bgr.bgr_08(graphs(bgr={}), {})
    assert measured.effect.value == 0 and "floor" in measured.untestable


def test_bgr_09_is_what_the_graph_adds() -> None:
    right = {
        "with": np.array([1, 1, 0]),
        "without": np.array([1, 0, 0]),
    }
    [measured] = bgr.bgr_09(right, "model", **FEW)
    assert measured.effect.value == pytest.approx(1 / 3) and measured.case == "model"


def test_bgr_10_has_a_case_for_each_rival() -> None:
    names = ("dense", "bm25", "dpr", "mdr", "grr")
    rivals = {name: {"evidence_f1": 0.25} for name in names}
    values = effects(bgr.bgr_10(graphs(bgr=ONES, **rivals), {}, {}))
    assert list(values) == [("", name) for name in rivals] and set(values.values()) == {0.75}


def test_the_coefficient_gives_the_graph_nothing_that_the_exact_set_explains() -> None:
    """Answers are right exactly where the set is; half of these graphs are exact, too."""
    generator = np.random.default_rng(0)
    exact_set = np.repeat([1.0, 0.0], 200)
    graph = exact_set * np.tile([1.0, 0.0], 200)
    f1 = np.where(exact_set == 1, 1, 0.5)
    measures = np.column_stack([f1, exact_set, graph])
    right = generator.random(400) < 0.2 + 0.6 * exact_set
    with_set = bgr.coefficient_of_graphs(measures, right, 400, **FEW)
    assert with_set.low < 0 < with_set.high
    graph_tells = generator.random(400) < 0.2 + 0.6 * graph
    tells = bgr.coefficient_of_graphs(measures, graph_tells, 400, **FEW)
    assert tells.low > 0 and tells.n == 400


def test_bgr_11_needs_right_and_wrong_answers() -> None:
    assert list(bgr.bgr_11(answers({"bgr": 1.0}), {})) == []
    measures = np.eye(3)[[0, 1, 2, 2]]
    read = EvidenceAnswers(
        {"bgr": np.ones((4, 1))},
        measures,
        np.array([1, 0, 1, 1]),
        "why",
    )
    [measured] = bgr.bgr_11(read, {}, n_resamples=2)
    assert measured.untestable == "why" and measured.case == "reader ras"


def test_bgr_12_says_nothing_without_questions_of_several_types() -> None:
    assert list(bgr.bgr_12(graphs(bgr=ONES), {})) == []


def test_bgr_13_is_a_ratio_that_one_network_cannot_test() -> None:
    seconds = {
        "both": np.array([2.0]),
        "forward": np.array([1.0]),
        "backward": np.array([1.0]),
    }
    [measured] = bgr.bgr_13(seconds, {}, **FEW)
    assert measured.effect.value == 1.0 and measured.untestable


def test_bgr_14_compares_the_shape_alone() -> None:
    others = dict.fromkeys(("forward", "backward", "bgr", "mdr"), ONES)
    experiment = graphs(chat={"gs": 1.0}, **others)
    assert set(effects(bgr.bgr_14(experiment, {}, "chat")).values()) == {1.0}
