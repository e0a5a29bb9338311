"""QSGNN as a whole: what it learns, what an interruption changes (nothing), and what its switches take away."""

from itertools import count
from pathlib import Path

import numpy as np
import pytest
import torch

from kit.corpus import Benchmark, Query, example
from kit.errors import InputError
from kit.methods import make
from kit.methods.qsgnn.questions import Synthetic
from kit.methods.qsgnn.retriever import QSGNN, WALK, nt_xent
from kit.text import Encoder

HAND = example()
LEARN = Benchmark("hand", HAND.corpus, train=HAND.test, dev=HAND.test)
FEW = {"dimension": 16, "synthetic": 12, "epochs": 1, "documents": 4}
RIVER = "Which river floods Selby Quay?"


@pytest.mark.parametrize(
    ("positives", "negatives", "loss"),
    [
        ([1], [0, 0], np.log(np.e + 2) - 1),
        (
            [1, 0],
            [0, 0],
            (np.log(np.e + 2) - 1 + np.log(3)) / 2,
        ),  # two supports, each against the same negatives
        ([0], [0] * 30, np.log(31)),  # chance: at the paper's τ the loss moves little,
        (
            [1],
            [-1] * 30,
            np.log(1 + 30 * np.exp(-2)),
        ),  # from 3.43 to 1.62 when all cosines are at their ends
    ],
)
def test_the_loss_by_hand(positives: list[float], negatives: list[float], loss: float) -> None:
    """Eq. 5 with τ = 1."""
    assert nt_xent(*map(torch.Tensor, (positives, negatives)), 1.0).item() == pytest.approx(
        loss, rel=1e-5
    )


def test_the_documents_around_a_query_are_those_that_gnn_ret_finds(indexed) -> None:
    retriever = indexed("qsgnn", **FEW)
    film = retriever.graph.data["d"].x[:1].numpy()
    (rows,) = retriever.walk.rows(film, 4)
    found = (
        indexed("gnn-ret", **WALK)
        .retrieve_many([Query("", HAND.corpus.passages[0].full_text)], 4)[0]
        .ids
    )
    assert rows[0] == 0 and retriever.ids(rows) == found
    heard, _ = retriever.attend(RIVER)
    assert retriever.ids(heard["d"].n_id) == retriever.walk.retrieve(RIVER, 4).ids
    assert (
        indexed("qsgnn", **FEW, ablate="entity").walk.settings.graph == "structure"
    )  # nor a walk along entities


def test_the_graph_in_training_holds_supports_and_as_many_negatives_as_are_asked_for(
    indexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, scores = [], []
    monkeypatch.setattr("kit.methods.qsgnn.retriever.TRAINING_DOCUMENTS", 2)
    monkeypatch.setattr("kit.methods.qsgnn.retriever.MOST_SUPPORTS", 1)
    monkeypatch.setattr(
        "kit.methods.qsgnn.retriever.nt_xent",
        lambda own, others, _: scores.append(others) or own.sum(),
    )
    retriever = indexed("qsgnn", **FEW, negatives=3)
    last = int(retriever.walk.rows(Encoder().encode([RIVER], role="query"), 6)[0, -1])
    monkeypatch.setattr(
        QSGNN, "document_scores", lambda self, q, of: seen.append(of) or [torch.zeros(len(of[0]))]
    )
    retriever._loss(([Synthetic(RIVER, (last,))], np.random.default_rng(0)))
    assert len(seen[0][0]) == 4 and seen[0][0][0] == last and len(set(seen[0][0])) == 4
    assert len(scores[0]) == 3


def test_scores_are_cosines_with_the_query_after_the_last_layer(indexed) -> None:
    """Eq. 6."""
    retriever = indexed("qsgnn", **FEW | {"documents": 0})
    vector = Encoder().encode([RIVER], role="query")
    with torch.no_grad():
        h, q, _ = retriever.network(retriever.batch([np.arange(6)]), torch.from_numpy(vector))
    scores = torch.cosine_similarity(h["d"], q).numpy()
    ranking = retriever.retrieve(RIVER, 3)
    assert list(ranking.ids) == [HAND.corpus.passages[row].id for row in np.argsort(-scores)[:3]]
    np.testing.assert_allclose(ranking.scores, np.sort(scores)[::-1][:3], rtol=1e-5)


def test_documents_without_nodes_are_worth_their_best_sentence(indexed) -> None:
    """Eq. 6 over chunks."""
    vector = Encoder().encode([RIVER], role="query")
    retriever = indexed("qsgnn", **FEW | {"documents": 0}, ablate="document")
    with torch.no_grad():
        h, q, _ = retriever.network(retriever.batch([np.arange(6)]), torch.from_numpy(vector), "c")
    scores = torch.cosine_similarity(h["c"], q).numpy()
    owner = retriever.graph.data["cd"].edge_index[1].numpy()
    expected = [scores[owner == document].max() for document in (4, 1, 2)]
    twice = np.concatenate([vector, vector])
    first, second = retriever.document_scores(twice, [np.array([3, 5, 0]), np.array([4, 1, 2])])
    assert len(first) == 3 and len(second) == 3
    whole = retriever.document_scores(vector, [np.arange(6)])[0].detach().numpy()
    np.testing.assert_allclose(whole[[4, 1, 2]], expected, rtol=1e-5)


def test_it_ranks_every_passage_once_before_and_after_training(own_store: Path) -> None:
    retriever = make("qsgnn", **FEW)
    for fit in (False, True):
        if fit:
            retriever.fit(LEARN)
        retriever.index(HAND.corpus)
        ranking = retriever.retrieve(RIVER, 6)
        assert sorted(ranking.ids) == sorted(HAND.corpus.row)
        assert (np.diff(ranking.scores) <= 0).all()
        assert (ranking.scores[:4] >= -1).all() and (ranking.scores[4:] < -1 + 1e-6).all()
    assert [row["stage"] for row in retriever.history if "loss" in row] == [0] * 2 + [1] * 2
    assert [row["step"] for row in retriever.history if "measured" in row] == [0, 1, 2, 3, 4]
    assert not list((own_store / "checkpoints").glob("*"))
    assert len(retriever.retrieve(Query("", ""), 6).ids) == 6
    # What was learned goes along with a variant, another corpus included.
    part = retriever.variant(corpus=HAND.corpus.subset([0, 1, 3]))
    assert torch.equal(
        part.network.state_dict()["compress.weight"], retriever.learned["compress.weight"]
    )
    assert len(part.retrieve(RIVER, 6).ids) == 3 and len(retriever.retrieve(RIVER, 6).ids) == 6
    for other in ({"dimension": 8}, {"layers": 1}, {"encoder": "another"}):
        with pytest.raises(
            InputError,
            match=rf"field {next(iter(other))}: qsgnn was trained with .*: train another",
        ):
            retriever.variant(**other)


@pytest.mark.parametrize(
    "kind", ["co", "oc", "od", "do", "cd"]
)  # a sentence hears of one document alone: dc is 1
def test_all_weights_of_an_edge_between_levels_learn(kind: str, own_store: Path) -> None:
    retriever = make("qsgnn", **FEW)
    retriever.index(HAND.corpus)
    before = retriever.network.layers[0].inter[kind].state_dict()
    retriever.fit(LEARN)
    for name, weight in before.items():
        assert not torch.equal(retriever.learned[f"layers.0.inter.{kind}.{name}"], weight)


def test_an_interrupted_training_goes_on_to_the_same_weights(
    own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = make("qsgnn", **FEW)
    whole.fit(LEARN)
    monkeypatch.setenv("KIT_CACHE", str(own_store / "other"))
    period, begun = QSGNN._period, count()

    def stop(self: QSGNN, *about: object) -> object:
        if next(begun) == 3:
            raise KeyboardInterrupt
        return period(self, *about)

    with monkeypatch.context() as stopping, pytest.raises(KeyboardInterrupt):
        stopping.setattr(QSGNN, "_period", stop)
        make("qsgnn", **FEW).fit(LEARN)
    again = make("qsgnn", **FEW)
    again.fit(LEARN)
    assert again.history == whole.history
    torch.testing.assert_close(again.learned, whole.learned, rtol=0, atol=0)


def test_the_same_training_is_found_again(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = make("qsgnn", **FEW)
    first.fit(LEARN)
    monkeypatch.setattr(QSGNN, "_train", None)
    again = make("qsgnn", **FEW | {"documents": 2})  # which is a matter of retrieval
    again.fit(LEARN)
    assert again.history == first.history


@pytest.mark.parametrize(
    ("ablate", "gone"),
    [
        ("entity", {"oo", "oc", "co", "od", "do"}),
        ("chunk", {"cc", "oc", "co", "cd", "dc"}),
        ("document", {"od", "do", "cd", "dc"}),
        ("intra", {"oo", "cc"}),
    ],
)
def test_what_an_ablation_takes_away(ablate: str, gone: set[str], indexed) -> None:
    parts = FEW | {"documents": 0}
    (_, whole), (_, less) = (
        indexed("qsgnn", **parts, ablate=part).attend(RIVER) for part in ("", ablate)
    )
    for kind in whole[0]:
        heard = sum(len(layer.get(kind, ())) for layer in less)
        assert heard == (0 if kind in gone else 2 * len(whole[0][kind]))


@pytest.mark.parametrize("documents", [0, 4])
def test_what_a_node_hears_by_edges_of_a_kind_sums_to_one(documents: int, indexed) -> None:
    graph, layers = indexed("qsgnn", **FEW | {"documents": documents}).attend(RIVER)
    assert graph["d"].num_nodes == (documents or 6) and len(layers) == 2
    for layer in layers:
        assert len(layer) == len(graph.edge_types)
        for kind, weights in layer.items():
            receiver = graph[tuple(kind)].edge_index[1]
            sums = np.bincount(receiver, weights, graph[kind[1]].num_nodes)
            np.testing.assert_allclose(sums[np.unique(receiver)], 1, rtol=1e-5)


def test_without_the_query_each_sender_of_another_level_is_heard_alike(indexed) -> None:
    graph, layers = indexed("qsgnn", **FEW, ablate="query").attend(RIVER)
    for kind in ("od", "cd"):
        receiver = graph[tuple(kind)].edge_index[1]
        for layer in layers:
            np.testing.assert_allclose(layer[kind], 1 / np.bincount(receiver)[receiver], rtol=1e-5)
