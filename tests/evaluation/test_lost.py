"""Where supports were lost, on five passages whose graph and rankings are made by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from pandas import DataFrame

from kit.corpus import Benchmark, Corpus, Passage, Query, Question
from kit.errors import InputError
from kit.evaluation import evaluate
from kit.evaluation.lost import lost_supports, shares
from kit.graphs.graph import EdgeList, PassageGraph
from kit.methods import Ranking, Retriever
from kit.views.lost import in_words, lost

TITLES = ("Oll", "Selby", "Mill", "Tower", "Island")
CORPUS = Corpus(Passage(title, title, f"On {title}.", title) for title in TITLES)
QUESTION = Question("q", "What floods Oll?", "x", tuple((title,) for title in TITLES))


class Ordered(Retriever):
    """The passages in the order of the corpus."""

    name = "ordered"

    def rank(self, queries: list[Query], k: int) -> list[Ranking]:
        return [Ranking(self.ids(range(5))[:k], 1 / np.arange(1, 6)[:k]) for _ in queries]


@pytest.fixture
def experiment(monkeypatch):
    # Oll – Selby – Mill – Tower; the island has no edge. Oll is the seed.
    chain = {"by hand": EdgeList.of([0, 1, 2], [1, 2, 3], 5)}
    graph = PassageGraph(CORPUS, chain)
    monkeypatch.setattr("kit.evaluation.lost.build", lambda builder, corpus: graph)
    benchmark = Benchmark("by hand", CORPUS, test=(QUESTION,))
    return evaluate({"ordered": Ordered()}, benchmark, ks=(1, 5), progress=False)


def test_each_stage_by_hand(experiment) -> None:
    table = lost_supports(experiment, k=1, reach=2, n_seeds=1)
    expected = ["found", "ranked too low", "ranked too low", "out of reach", "without an edge"]
    assert table["stage"].tolist() == expected
    assert table["steps"].tolist() == [0, 1, 2, np.inf, np.inf]
    assert table["rank"].tolist() == [1, 2, 3, 4, 5]
    assert table["named"].tolist() == [True, False, False, False, False]


def test_one_that_is_found_may_not_be_used(experiment) -> None:
    for em, stage in ((0.0, "found, answer wrong"), (1.0, "found")):
        answered = DataFrame({"retriever": ["ordered"], "question": ["q"], "em": [em]})
        answers = replace(experiment, table=answered)
        table = lost_supports(experiment, k=1, n_seeds=1, answers=answers)
        assert table["stage"].tolist()[0] == stage
        assert "found, answer wrong" not in table["stage"].tolist()[1:]


def test_shares_add_up(experiment) -> None:
    table = lost_supports(experiment, k=1, reach=2, n_seeds=1)
    means = shares(table).set_index("stage")
    assert means["mean"].to_dict() == pytest.approx(
        {
            "without an edge": 0.2,
            "out of reach": 0.2,
            "ranked too low": 0.4,
            "found, answer wrong": 0,
            "found": 0.2,
        }
    )
    assert set(means["n"]) == {5}
    by_name = shares(table, ["named"])
    assert by_name.groupby("named")["mean"].sum().tolist() == pytest.approx([1, 1])


def test_it_is_told_and_drawn(experiment) -> None:
    table = lost_supports(experiment, k=3, reach=2, n_seeds=1)
    assert in_words(table) == "Ordered loses Tower (out of reach); Island (without an edge)."
    another = table.assign(retriever="dense")
    assert in_words(pd.concat([table, another])).startswith(
        "Ordered and dense retrieval lose Tower"
    )
    figure = lost(table)
    assert figure.title == "Where supports were lost with ordered and others"  # too few
    many = lost(table.loc[table.index.repeat(40)])
    assert many.title == (
        "Ordered finds 100% of the supports that the question names, "
        "50% of the supports that the question does not name"
    )
    texts = [text.get_text() for ax in many.axes for text in ax.texts]
    assert texts == ["100%", "50%", "25%", "25%"]
    by_hops = lost(table, "hops")
    assert by_hops.axes[0].get_title(loc="left") == "5 hops (5)"


def test_a_cut_beyond_the_rankings_is_an_error(experiment) -> None:
    with pytest.raises(InputError, match="expected at most 5, not 6"):
        lost_supports(experiment, k=6)
