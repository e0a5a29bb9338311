"""The reranker: where it begins, what it learns, and what its trace tells."""

from pathlib import Path

import numpy as np
import pytest
import torch

from kit.corpus import Benchmark, Corpus, Passage, Question, example
from kit.errors import InputError
from kit.methods import make
from kit.methods.graph_reranker.logistic import Logistic, Scored, regression
from kit.methods.graph_reranker.retriever import BELOW, GraphReranker
from kit.methods.trace import Hearing, InitialScore
from kit.store import Store

SMALL = {"width": 4, "candidates": 12, "epochs": 20, "start": "untrained"}


NAMES = "Ada Bo Cleo Dora Edda Finn Gerd Hans Inga Jon Kaja Lars Mia Nils Olga Per".split()
TOWNS = "Arum Brix Calm Dorn Esk Fald Grum Holt Irl Jarn Kolm Lund Marn Nyr Orm Pell".split()


@pytest.fixture(scope="module")
def world() -> Benchmark:
    """People and their towns: a question names the person, a support is the town's passage."""
    passages = []
    questions = []
    for row, (name, town) in enumerate(zip(NAMES, TOWNS)):
        person = f"{name} Vestby"
        passages += [
            Passage(
                f"p{row}", person, f"{person} was born in {town}. The father sold fish.", person
            ),
            Passage(f"t{row}", town, f"{town} lies by a river. It has {row + 3} mills.", town),
        ]
        question = Question(
            f"q{row}",
            f"How many mills stand where {person} was born?",
            str(row + 3),
            ((f"p{row}",), (f"t{row}",)),
        )
        questions.append(question)
    return Benchmark(
        "people",
        Corpus(passages),
        train=questions[:10],
        dev=questions[10:13],
        test=questions[13:],
    )


@pytest.fixture(scope="module")
def trained(world: Benchmark, tmp_path_factory: pytest.TempPathFactory) -> GraphReranker:
    retriever = GraphReranker(**SMALL)
    retriever.store = Store(tmp_path_factory.mktemp("store"))
    retriever.fit(world)
    retriever.index(world.corpus)
    return retriever


def test_before_training_the_ranking_is_the_logistic_one(world: Benchmark) -> None:
    rankings = []
    for name in ("logistic", "graph-reranker"):
        method = make(name, start="untrained")
        method.index(world.corpus)
        rankings.append(method.retrieve_many([question.query for question in world.test], 120))
    for logistic, reranked in zip(*rankings):
        assert logistic.ids == reranked.ids


def test_at_step_0_of_a_training_it_is_that_of_the_model_that_was_fitted(
    world: Benchmark, tmp_path: Path
) -> None:
    logistic = Logistic(start="untrained")
    logistic.store = Store(tmp_path)
    logistic.fit(world)
    logistic.index(world.corpus)
    reranker = GraphReranker(start="untrained")
    reranker.index(world.corpus)
    reranker.network.begin_with(logistic.weights)
    for question in world.test:
        expected = logistic.retrieve(question.query, 30)
        assert reranker.retrieve(question.query, 30).ids == expected.ids


def test_it_learns(trained: GraphReranker) -> None:
    measured = [row["measured"] for row in trained.history if "measured" in row]
    assert max(measured) > measured[0] + 0.05
    losses = [row["loss"] for row in trained.history if "loss" in row]
    assert np.mean(losses[-3:]) < np.mean(losses[:3]) - 0.1


def test_what_is_no_candidate_follows_in_the_logistic_order(
    trained: GraphReranker, world: Benchmark
) -> None:
    query = world.test[0].query
    ranking = trained.retrieve(query, 30)
    reranked = trained.rerank(
        query.text, trained.graph_of_corpus.scorers.encode([query.text])[0], 30
    )
    assert set(ranking.ids[:12]) == set(trained.ids(reranked.rows[:12]))
    assert ranking.ids[12:] == trained.ids(reranked.rows[12:])
    assert ranking.scores[12] == pytest.approx(ranking.scores[11] - BELOW, abs=1e-4)
    assert (np.diff(ranking.scores) <= 0).all()


def test_edges_that_are_left_out_carry_nothing(trained: GraphReranker, world: Benchmark) -> None:
    query = world.test[0].query
    scores = {
        edges: trained.variant(edges=edges).retrieve(query, 12).scores.tolist()
        for edges in ("oo+cc+oc+od+cd", "cd", "")
    }
    assert len(set(map(tuple, scores.values()))) == 3
    with pytest.raises(InputError, match="kind of edges"):
        GraphReranker(edges="oo+dd", start="untrained")


def test_the_trace_tells_what_was_heard(trained: GraphReranker, world: Benchmark) -> None:
    query = world.test[1].query
    ranking = trained.explain(query, 5)
    assert ranking.ids == trained.retrieve(query, 5).ids
    events = ranking.trace.events
    starts = {event.passage: event.score for event in events if isinstance(event, InitialScore)}
    rounds = [
        [event for event in events if isinstance(event, Hearing) and event.round == index]
        for index in (0, 1)
    ]
    assert len(starts) == len(rounds[0]) == len(rounds[1]) == 12
    for first, second in zip(*rounds):
        assert first.before == pytest.approx(starts[first.passage])
        assert first.after == second.before
        for sender in first.senders:
            assert sender.passage != first.passage and 0 < sender.share <= 1
            assert sender.passage in starts
    final = {event.passage: event.after for event in rounds[1]}
    assert ranking.scores == pytest.approx([final[name] for name in ranking.ids], abs=1e-5)
    assert any(event.senders for event in rounds[0])


def test_weights_belong_to_their_settings(trained: GraphReranker) -> None:
    with pytest.raises(InputError, match="was trained with 4"):
        trained.variant(width=8)
    with pytest.raises(InputError, match="start=untrained"):
        GraphReranker(width=8)
    with pytest.raises(InputError, match="training questions"):
        GraphReranker(**SMALL).fit(Benchmark("none", example().corpus))


def test_what_comes_with_the_kit_ranks_and_carries_over() -> None:
    """The weights are of no one encoder, unless nodes know q ⊙ x."""
    reranker = GraphReranker(encoder="intfloat/multilingual-e5-small")
    assert not reranker.is_of_one_encoder and reranker.learned
    assert Logistic(encoder="intfloat/multilingual-e5-small").learned
    benchmark = example()
    reranker = GraphReranker()
    reranker.index(benchmark.corpus)
    assert reranker.history
    for question in benchmark.test:
        assert len(reranker.retrieve(question.query, 6).ids) == 6


def test_products_of_vectors_are_known_where_asked(world: Benchmark) -> None:
    reranker = GraphReranker(products=True, **SMALL)
    reranker.index(world.corpus)
    torch.nn.init.ones_(reranker.network.outer.weight)
    query = world.test[0].query
    before = reranker.retrieve(query, 12).scores
    torch.nn.init.zeros_(reranker.network.products["d"].weight)
    assert np.abs(reranker.retrieve(query, 12).scores - before).max() > 1e-4
    assert reranker.is_of_one_encoder


def test_a_regression_finds_the_score_that_tells() -> None:
    generator = np.random.default_rng(0)
    scores = generator.standard_normal((400, 6)).astype(np.float32)
    is_support = scores[:, 2] + 0.1 * scores[:, 3] > 1
    scored = Scored("", np.zeros(2), np.arange(400), scores, is_support)
    weights, loss = regression([scored])
    assert np.argmax(weights[:6]) == 2 and weights[2] > 5 * weights[3] > 0 and loss < 0.2
