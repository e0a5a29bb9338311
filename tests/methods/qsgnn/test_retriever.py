"""QSGNN as a whole: its graph around a query, its scores, and what its switches take away."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from kit.corpus import Benchmark, Query, example
from kit.errors import InputError
from kit.methods import make
from kit.methods.graph_reranker.candidates import WALK_LAYERS, WALK_SENDERS
from kit.methods.qsgnn.retriever import QSGNN
from kit.paths import NETWORKS
from kit.text import Encoder

HAND = example()
LEARN = Benchmark("hand", HAND.corpus, train=HAND.test, dev=HAND.test)
RIVER = "Which river floods Selby Quay?"


def untrained(**settings: object) -> QSGNN:
    usual = make("qsgnn", start="untrained", dimension=16, synthetic=12, epochs=1, documents=4)
    return usual.variant(**settings)


def small(**settings: object) -> QSGNN:
    """A small network over the six passages, untrained."""
    return untrained().variant(corpus=HAND.corpus, **settings)


def test_the_documents_around_a_query_are_those_that_gnn_ret_finds(indexed) -> None:
    retriever = small()
    film = retriever.graph.data["d"].x[:1].numpy()
    [rows] = retriever.walk.rows(film, 4)
    walk = indexed("gnn-ret", layers=WALK_LAYERS, top_k=WALK_SENDERS)
    ranking = walk.retrieve(HAND.corpus.passages[0].full_text, 4)
    assert rows[0] == 0
    assert retriever.ids(rows) == ranking.ids

    graph, _ = retriever.attend(RIVER)
    assert retriever.ids(graph["d"].n_id) == retriever.walk.retrieve(RIVER, 4).ids


def test_without_entities_it_has_the_same_documents_around_it() -> None:
    """What is taken away is of the network, not of the search for its documents."""
    whole, _ = small().attend(RIVER)
    without, _ = small(ablate="entity").attend(RIVER)
    assert without["o"].num_nodes == 0
    assert without["d"].n_id.tolist() == whole["d"].n_id.tolist()


def test_scores_are_cosines_with_the_query_after_the_last_layer() -> None:
    """Eq. 6."""
    retriever = small(documents=0)
    vector = Encoder().encode([RIVER], role="query")
    with torch.no_grad():
        h, q, _ = retriever.network(retriever.batch([np.arange(6)]), torch.from_numpy(vector))
    scores = torch.cosine_similarity(h["d"], q).numpy()
    ranking = retriever.retrieve(RIVER, 3)
    assert list(ranking.ids) == [HAND.corpus.passages[row].id for row in np.argsort(-scores)[:3]]
    np.testing.assert_allclose(ranking.scores, np.sort(scores)[::-1][:3], rtol=1e-5)


def test_documents_without_nodes_are_worth_their_best_sentence() -> None:
    """Eq. 6 over chunks."""
    vector = Encoder().encode([RIVER], role="query")
    retriever = small(documents=0, ablate="document")
    with torch.no_grad():
        h, q, _ = retriever.network(retriever.batch([np.arange(6)]), torch.from_numpy(vector), "c")
    scores = torch.cosine_similarity(h["c"], q).numpy()
    document_of_chunk = retriever.graph.data["cd"].edge_index[1].numpy()
    expected = [scores[document_of_chunk == document].max() for document in (4, 1, 2)]
    twice = np.concatenate([vector, vector])
    first, second = retriever.document_scores(twice, [np.array([3, 5, 0]), np.array([4, 1, 2])])
    assert len(first) == 3
    assert len(second) == 3
    [whole] = retriever.document_scores(vector, [np.arange(6)])
    np.testing.assert_allclose(whole.detach().numpy()[[4, 1, 2]], expected, rtol=1e-5)


@pytest.mark.parametrize("form", ["printed", "residual"])
@pytest.mark.parametrize("is_trained", [False, True])
def test_it_ranks_every_passage_once(is_trained: bool, form: str, own_store: Path) -> None:
    retriever = untrained(form=form)
    if is_trained:
        retriever.fit(LEARN)
    retriever.index(HAND.corpus)
    ranking = retriever.retrieve(RIVER, 6)
    assert sorted(ranking.ids) == sorted(HAND.corpus.row)
    assert (np.diff(ranking.scores) <= 0).all()
    assert ranking.scores[4] < min(ranking.scores[3], -1 + 1e-6)
    assert len(retriever.retrieve(Query("", ""), 6).ids) == 6


@torch.no_grad()
def test_a_residual_score_begins_as_the_logistic_one_and_a_share_of_the_cosine() -> None:
    """The untrained network of a table."""
    retriever = small(form="residual")
    base = make("logistic")
    base.index(HAND.corpus)
    for question in HAND.test:
        ranking = base.retrieve(question.text, 6)
        logistic = dict(zip(ranking.ids, ranking.scores.tolist()))
        [vector] = retriever.walk.encode([question.text])
        around = retriever.asked(question.text, vector, 4)
        [cosines] = retriever.document_scores(vector[None], [around.documents])
        [scores] = retriever.scores([around])
        for row, cosine, score in zip(around.documents, cosines, scores):
            expected = logistic[HAND.corpus.passages[row].id] + 0.2 * cosine / 0.07
            assert score.item() == pytest.approx(expected.item(), rel=1e-4)


def test_without_epochs_nothing_is_learned(own_store: Path) -> None:
    """The other untrained network, that of the printed form."""
    untaught = untrained(epochs=0, synthetic=0)
    untaught.fit(LEARN)
    untaught.index(HAND.corpus)
    never = small(epochs=0, synthetic=0)
    assert untaught.retrieve(RIVER, 6).ids == never.retrieve(RIVER, 6).ids


@pytest.mark.parametrize("form", ["printed", "residual"])
def test_what_was_learned_on_worlds_comes_with_the_kit(
    form: str, own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kit.learning.shipped.NETWORKS", own_store / "networks")
    shutil.copytree(NETWORKS / "logistic", own_store / "networks" / "logistic")
    few = {"form": form, "synthetic": 0, "epochs": 1, "documents": 4}
    with pytest.raises(
        InputError, match=f"expected weights, which .* networks qsgnn/{form}` makes"
    ):
        make("qsgnn", start="worlds", **few)
    pupil = make("qsgnn", start="untrained", **few)
    worlds = [LEARN, Benchmark("choosing", HAND.corpus.subset([0, 1, 2, 3]), dev=())]
    pupil.ship(pupil.learn(worlds), pupil.shipped_folder)
    pupil.index(HAND.corpus)

    shipped = make("qsgnn", start="worlds", **few)
    shipped.fit(Benchmark("nothing to learn", HAND.corpus))
    shipped.index(HAND.corpus)
    assert shipped.retrieve(RIVER, 6).ids == pupil.retrieve(RIVER, 6).ids
    assert not any(name.startswith("layers.1.inter.oc") for name in shipped.learned)
    assert shipped.history == pupil.history

    shipped.fit(LEARN)  # goes on from there
    name = "layers.1.inter.od.value.up.weight"
    assert not torch.equal(shipped.learned[name], pupil.learned[name])
    with pytest.raises(InputError, match=r"field rank: the weights .* are for rank=4: with"):
        make("qsgnn", start="worlds", rank=2)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
def test_it_computes_on_a_cuda_device(own_store: Path) -> None:
    retriever = untrained()
    retriever.fit(LEARN)
    retriever.index(HAND.corpus)
    assert {weight.device.type for weight in retriever.network.parameters()} == {"cuda"}
    graph, layers = retriever.attend(RIVER)
    assert graph["d"].x.device.type == layers[0]["od"].device.type == "cpu"
    on_cuda = retriever.retrieve(RIVER, 6)

    on_cpu = retriever.variant()
    on_cpu.network = retriever.network.cpu()
    on_cpu.device = torch.device("cpu")
    ranking = on_cpu.retrieve(RIVER, 6)
    assert ranking.ids == on_cuda.ids
    np.testing.assert_allclose(ranking.scores, on_cuda.scores, atol=1e-3)


def test_the_history_of_a_training(own_store: Path) -> None:
    retriever = untrained()
    retriever.fit(LEARN)
    assert [row["stage"] for row in retriever.history if "loss" in row] == [0] * 2 + [1] * 2
    assert [row["step"] for row in retriever.history if "measured" in row] == [0, 1, 2, 3, 4]
    assert not list((own_store / "checkpoints").glob("*"))


def test_what_was_learned_goes_along_with_a_variant(own_store: Path) -> None:
    retriever = untrained()
    retriever.fit(LEARN)
    retriever.index(HAND.corpus)
    part = retriever.variant(corpus=HAND.corpus.subset([0, 1, 3]))
    weight = part.network.state_dict()["compress.weight"]
    assert torch.equal(weight, retriever.learned["compress.weight"])
    assert len(part.retrieve(RIVER, 6).ids) == 3
    assert len(retriever.retrieve(RIVER, 6).ids) == 6
    for name, value in (("dimension", 8), ("layers", 1), ("encoder", "another")):
        message = rf"field {name}: qsgnn was trained with .*: train another"
        with pytest.raises(InputError, match=message):
            retriever.variant(**{name: value})


@pytest.mark.parametrize(
    ("ablate", "gone"),
    [
        ("entity", {"oo", "oc", "co", "od", "do"}),
        ("chunk", {"cc", "oc", "co", "cd", "dc"}),
        ("document", {"od", "do", "cd", "dc"}),
        ("intra", {"oo", "cc"}),
        ("inter", {"oc", "co", "od", "do", "cd", "dc"}),
    ],
)
def test_what_an_ablation_takes_away(ablate: str, gone: set[str]) -> None:
    _, whole = small(documents=0).attend(RIVER)
    _, less = small(documents=0, ablate=ablate).attend(RIVER)
    for kind in whole[0]:
        n_edges = sum(len(layer.get(kind, ())) for layer in less)
        expected = 0 if kind in gone else 2 * len(whole[0][kind])
        assert n_edges == expected


@pytest.mark.parametrize("documents", [0, 4])
def test_what_a_node_hears_by_edges_of_a_kind_sums_to_one(documents: int) -> None:
    graph, layers = small(documents=documents).attend(RIVER)
    assert graph["d"].num_nodes == (documents or 6)
    assert len(layers) == 2
    for layer in layers:
        assert len(layer) == len(graph.edge_types)
        for kind, weights in layer.items():
            receiver = graph[tuple(kind)].edge_index[1]
            sums = np.bincount(receiver, weights, graph[kind[1]].num_nodes)
            np.testing.assert_allclose(sums[np.unique(receiver)], 1, rtol=1e-5)


def test_without_the_query_each_sender_of_another_level_is_heard_alike() -> None:
    graph, layers = small(ablate="query").attend(RIVER)
    for kind in ("od", "cd"):
        receiver = graph[tuple(kind)].edge_index[1]
        for layer in layers:
            np.testing.assert_allclose(layer[kind], 1 / np.bincount(receiver)[receiver], rtol=1e-5)
