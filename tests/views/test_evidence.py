"""Figures of evidence graphs bring their numbers, and titles that these allow."""

import pandas as pd
import pytest

from kit.corpus import EvidenceGraph, example
from kit.evaluation import Experiment, evaluate
from kit.evaluation.evidence_edges import (
    depths_of,
    edge_recalls,
    named_edges,
)
from kit.methods import Ranking, make
from kit.views import evidence

FEW = {"seed": 0, "n_resamples": 100}


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    methods = {"dense": make("dense"), "bm25": make("bm25")}
    return evaluate(
        methods,
        example(),
        ks=(5,),
        graphs=True,
        progress=False,
        **FEW,
    )


def test_edges_are_found_by_their_names_and_lie_as_deep_as_their_ends() -> None:
    river = example().test[1]
    assert depths_of(river) == {0: 1, 1: 2, 2: 3}
    ids = ("moravec", "harbour", "novel")
    evidence_graph = EvidenceGraph(2, ((1, 0),))
    ranking = Ranking(ids, [3, 2, 1], evidence=evidence_graph)
    assert named_edges(ranking) == {
        ("", "harbour"),
        ("harbour", "moravec"),
    }
    recalls = edge_recalls([river], {"made": {river.id: ranking}})
    by_depth = recalls.set_index("depth")["recall"]
    assert by_depth.to_dict() == {1: 1, 2: 1, 3: 0}


def test_measures_have_a_panel_each(
    experiment: Experiment,
) -> None:
    figure = evidence.measures(experiment)
    assert set(figure.table["metric"]) == set(evidence.MEASURES)
    assert figure.title.startswith("Graph match is 0.000 for all")


def test_few_edges_are_not_compared(
    experiment: Experiment,
) -> None:
    figure = evidence.edges_by_depth(experiment)
    assert figure.title == "Too few edges lie deep enough to compare depths"
    assert set(figure.table["retriever"]) == {"dense", "bm25"}


def test_curves_along_gamma_say_how_much_it_changes() -> None:
    rows = [(rule, gamma, gamma / 2) for rule in ("code", "eq3") for gamma in (0.0, 1.0)]
    table = pd.DataFrame(rows, columns=["rule", "gamma", "gm"])
    figure = evidence.by_gamma(table, ["gm"], **FEW)
    assert figure.title == "Graph match is 0.00 to 0.50 over all γ and readings of Eq. 3"


def test_by_type_and_by_structure(experiment: Experiment) -> None:
    assert len(evidence.by_type(experiment, "dense").table)
    figure = evidence.by_structure(experiment, "dense")
    assert "too few" in figure.title
