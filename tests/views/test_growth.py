"""Titles of RAS's figures say no more than the numbers behind them."""

import pandas as pd
import pytest

from kit.evaluation.growth import BACKWARD, FORWARD
from kit.evaluation.statistics import Estimate
from kit.views import growth

FEW = {"seed": 0, "n_resamples": 200}
QUESTIONS = [f"q{n}" for n in range(40)]


@pytest.mark.parametrize(
    ("gain", "sentence"),
    [
        (Estimate(0.2, 0.1, 0.3, 40), "Right answers rise by 20.0 points from 1 step to 5"),
        (Estimate(-0.2, -0.3, -0.1, 40), "Right answers fall by 20.0 points from 1 step to 5"),
        (
            Estimate(0.2, -0.1, 0.3, 40),
            "Right answers change by no more than chance from 1 step to 5",
        ),
        (
            Estimate(0.2, 0.1, 0.3, 4),
            "4 observations are too few to see how right answers change from 1 step to 5",
        ),
    ],
)
def test_a_change_is_announced_where_it_holds(gain: Estimate, sentence: str) -> None:
    assert growth.change_sentence("right answers", gain, "from 1 step to 5") == sentence


def test_searches_of_two_directions_are_compared() -> None:
    kinds = [FORWARD] * 40 + [BACKWARD] * 40
    table = pd.DataFrame({"kind": kinds, "answered": [1.0] * 40 + [0.0, 1.0] * 20})
    figure = growth.searches(table, **FEW)
    assert figure.title == "Answered searches fall by 50.0 points from forward to backward ones"
    assert figure.table["mean"].tolist() == [1, 0.5]
    assert "no searches" in growth.searches(table[:0], **FEW).title


def test_answers_by_steps_and_by_triples_are_paired() -> None:
    parts = []
    for steps, right in ((1, 0.0), (2, 1.0)):
        parts.append(pd.DataFrame({"question": QUESTIONS, "em": right, "held": 1.0, "at": steps}))
    table = pd.concat(parts)
    figure = growth.by_step(table.rename(columns={"at": "steps"}), **FEW)
    assert figure.title == "Right answers rise by 100.0 points from 1 step to 2"
    figure = growth.by_share({"messages": table.rename(columns={"at": "triples"})}, **FEW)
    assert figure.title == "Right answers rise by 100.0 points from no triples to all"
    assert set(figure.table["n"]) == {40}


def test_sources_of_triples_are_compared() -> None:
    parts = []
    for source, share in (("rules", 0.0), ("model", 1.0)):
        parts.append(
            pd.DataFrame({"question": QUESTIONS, "source": source, "pair": share, "triple": 0.0})
        )
    figure = growth.triples_read(pd.concat(parts), **FEW)
    assert figure.title == "Gold pairs that are read rise by 100.0 points from rules to model"


def test_a_planners_right_actions() -> None:
    rows = {"question": QUESTIONS, "n_searches": 0, "wanted": "ask", "action": [True, False] * 20}
    assert growth.right_actions(pd.DataFrame(rows), **FEW).title.endswith("in 50.0%")


def test_what_a_part_of_graph_llm_is_worth() -> None:
    parts = []
    for name, f1 in (("GraphLLM", 1.0), ("without LoRA", 0.25)):
        parts.append(pd.DataFrame({"question": QUESTIONS, "retriever": name, "f1": f1}))
    title = growth.by_variant(pd.concat(parts), **FEW).title
    assert title == "Without LoRA loses 75.0 points of F1 against GraphLLM"


def test_the_planners_right_steps() -> None:
    steps = pd.DataFrame(
        {"question": QUESTIONS, "hops": 2, "action": True, "step": [True, False] * 20}
    )
    title = growth.right_steps(steps, **FEW).title
    assert title.endswith("in 100.0% and writes 50.0% exactly")
