"""QSGNN as a whole: what it learns, what an interruption changes (nothing), and what its switches take away."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from kit.corpus import Benchmark, Query
from kit.corpus.example import example
from kit.errors import InputError
from kit.retrievers import make
from kit.retrievers.qsgnn import QSGNN
from kit.retrievers.qsgnn_surroundings import Surroundings
from kit.retrievers.qsgnn_training import Run, nt_xent
from kit.text import Encoder
from kit.text.triples import by_rules

HAND = example()
LEARN = Benchmark("hand", HAND.corpus, train=HAND.test, dev=HAND.test)
FEW = {"dimension": 16, "synthetic": 12, "epochs": 1, "documents": 4}


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KIT_CACHE", str(tmp_path))
    return tmp_path


def test_the_loss_by_hand() -> None:
    """Eq. 5 with τ = 1: one positive at cosine 1 and two negatives at 0."""
    loss = nt_xent(torch.tensor([1.0]), torch.tensor([0.0, 0.0]), 1.0)
    assert loss.item() == pytest.approx(np.log(np.e + 2) - 1)
    # Two supports, each against the same negatives: the mean.
    both = nt_xent(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 0.0]), 1.0)
    assert both.item() == pytest.approx((np.log(np.e + 2) - 1 + np.log(3)) / 2)


def test_the_loss_moves_little_at_the_papers_temperature() -> None:
    """With 30 negatives and τ = 1 from ln 31 = 3.43, chance, to 1.62, all cosines at their ends."""
    assert nt_xent(torch.zeros(1), torch.zeros(30), 1.0).item() == pytest.approx(3.43, abs=0.005)
    assert nt_xent(torch.ones(1), -torch.ones(30), 1.0).item() == pytest.approx(1.62, abs=0.005)


def test_around_a_query_are_the_nearest_and_those_that_share_entities() -> None:
    surroundings = Surroundings.of(HAND.corpus, by_rules(HAND.corpus), Encoder())
    query = surroundings.vectors["d"][:1]  # that of the film
    (rows,) = surroundings.around(query, 6)
    assert rows[0] == 0 and sorted(rows) == sorted(set(rows)) and len(rows) <= 6
    (few,) = surroundings.around(query, 2)
    np.testing.assert_array_equal(few, rows[:2])


def test_it_ranks_every_passage_once_before_and_after_training(own_store: Path) -> None:
    retriever = make("qsgnn", **FEW)
    for fit in (False, True):
        if fit:
            retriever.fit(LEARN)
        retriever.index(HAND.corpus)
        ranking = retriever.retrieve("Which river floods Selby Quay?", 6)
        assert sorted(ranking.ids) == sorted(HAND.corpus.row)
        assert (np.diff(ranking.scores) <= 0).all()
        assert (ranking.scores[:4] >= -1).all() and (ranking.scores[4:] < -1 + 1e-6).all()
    assert [row["stage"] for row in retriever.history if "loss" in row] == [0] * 2 + [1] * 2


def test_the_whole_graph_needs_no_search() -> None:
    retriever = make("qsgnn", **FEW | {"documents": 0})
    retriever.index(HAND.corpus)
    rankings = retriever.retrieve_many([question.query for question in HAND.test], 3)
    assert all(len(ranking.ids) == 3 and (ranking.scores >= -1).all() for ranking in rankings)


def test_an_interrupted_training_goes_on_to_the_same_weights(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = make("qsgnn", **FEW)
    whole.fit(LEARN)
    monkeypatch.setenv("KIT_CACHE", str(own_store / "other"))
    periods, checked = Run._period, []

    def stop(self: Run, *period: object) -> None:
        if len(checked) == 3:
            raise KeyboardInterrupt
        checked.append(period)
        periods(self, *period)

    monkeypatch.setattr(Run, "_period", stop)
    with pytest.raises(KeyboardInterrupt):
        make("qsgnn", **FEW).fit(LEARN)
    monkeypatch.setattr(Run, "_period", periods)
    again = make("qsgnn", **FEW)
    again.fit(LEARN)
    assert again.history == whole.history
    for name, weight in whole.network.state_dict().items():
        assert torch.equal(again.network.state_dict()[name], weight), name


def test_the_same_training_is_found_again(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = make("qsgnn", **FEW)
    first.fit(LEARN)
    monkeypatch.setattr(QSGNN, "_train", None)
    again = make("qsgnn", **FEW | {"documents": 2})  # which is a matter of retrieval
    again.fit(LEARN)
    assert again.history == first.history


@pytest.mark.parametrize(
    ("without", "gone"),
    [("entity", {"oo", "oc", "od"}), ("chunk", {"cc", "oc", "cd"}), ("intra", set())],
)
def test_what_an_ablation_takes_away(without: str, gone: set[str]) -> None:
    whole, less = QSGNN(**FEW), QSGNN(**FEW, without=without)
    for retriever in (whole, less):
        retriever.index(HAND.corpus)
    batches = [retriever.surroundings.batch([np.arange(6)]) for retriever in (whole, less)]
    for kind, of in batches[0].edges.items():
        if gone & {kind, kind[::-1]}:
            assert batches[1].edges[kind].shape == (2, 0)
        else:
            assert torch.equal(batches[1].edges[kind], of)
    assert bool(less.network.layers[0].intra) == (without != "intra")


def test_without_the_query_it_is_only_asked_at_the_end() -> None:
    """Then all queries see the same vectors of the documents."""
    vectors = []
    for without in ("", "query"):
        retriever = QSGNN(**FEW | {"documents": 0}, without=without)
        retriever.index(HAND.corpus)
        batch = retriever.surroundings.batch([np.arange(6)])
        queries = torch.from_numpy(Encoder().encode([question.text for question in HAND.test]))
        with torch.no_grad():
            vectors.append([retriever.network(batch, query[None])[0]["d"] for query in queries])
    assert not torch.allclose(vectors[0][0], vectors[0][1])
    assert torch.equal(vectors[1][0], vectors[1][1])


@pytest.mark.parametrize("documents", [0, 4])
def test_attention_is_that_of_the_retrieval(documents: int) -> None:
    """Its scores are the ranking's, and what a node hears by edges of a kind sums to 1."""
    retriever = QSGNN(**FEW | {"documents": documents})
    retriever.index(HAND.corpus)
    query = "Which river floods Selby Quay?"
    heard, ranking = retriever.attend(query), retriever.retrieve(query, 4)
    ids = [HAND.corpus.passages[row].id for row in heard.nodes["d"]]
    assert len(ids) == (documents or 6) and len(heard.layers) == 2
    assert [ids[i] for i in np.argsort(-heard.scores, kind="stable")[:4]] == list(ranking.ids)
    np.testing.assert_allclose(np.sort(heard.scores)[::-1][:4], ranking.scores, rtol=1e-5)
    for layer in heard.layers:
        assert set(layer) == set(heard.edges)
        for kind, (_, receiver) in heard.edges.items():
            sums = np.bincount(receiver, layer[kind], len(heard.nodes[kind[1]]))
            np.testing.assert_allclose(sums[np.unique(receiver)], 1, rtol=1e-5)


def test_attention_that_the_query_does_not_steer() -> None:
    """Between levels all senders count alike, and within a level all queries hear the same."""
    retriever = QSGNN(**FEW)
    retriever.index(HAND.corpus)
    queries = [question.text for question in HAND.test]
    off, other = (retriever.attend(query, steered=False, documents=0) for query in queries)
    for kind, (_, receiver) in off.edges.items():
        for layer, too in zip(off.layers, other.layers):
            np.testing.assert_array_equal(layer[kind], too[kind])
            if kind[0] != kind[1]:
                np.testing.assert_allclose(layer[kind], 1 / np.bincount(receiver)[receiver], rtol=1e-5)
    on, different = (retriever.attend(query, documents=0) for query in queries)
    assert not np.allclose(on.layers[0]["oo"], different.layers[0]["oo"])
    assert not np.allclose(on.layers[0]["cd"], off.layers[0]["cd"])


@pytest.mark.parametrize(
    ("setting", "value"),
    [("without", "doc"), ("start", "warm"), ("layers", 0), ("temperature", 0), ("documents", -1), ("negatives", 1.5)],
)
def test_settings_that_make_no_sense(setting: str, value: object) -> None:
    with pytest.raises(InputError, match=setting):
        make("qsgnn", **{setting: value})


def test_it_needs_questions_to_learn_from() -> None:
    with pytest.raises(InputError, match="expected some training questions"):
        make("qsgnn").fit(Benchmark("none", HAND.corpus))


def test_pre_training_needs_none(own_store: Path) -> None:
    retriever = make("qsgnn", **FEW, without="fine-tuning")
    retriever.fit(Benchmark("none", HAND.corpus))
    assert {row["stage"] for row in retriever.history if "loss" in row} == {0}


def test_no_checkpoint_is_left_behind_and_an_empty_question_is_answered(own_store: Path) -> None:
    retriever = make("qsgnn", **FEW)
    retriever.fit(LEARN)
    assert not list((own_store / "checkpoints").glob("*"))
    retriever.index(HAND.corpus)
    assert len(retriever.retrieve(Query("", ""), 6).ids) == 6
