"""GNN-Ret: its equations on four passages by hand, against the network written out in full, and on real questions."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kit.corpus import Benchmark, Corpus, Passage, example
from kit.errors import InputError
from kit.graphs import EdgeList, PassageGraph
from kit.methods.gnn_ret.retriever import GNNRet, gradient_descent, hinge, nearest, pass_messages


def graph_of(n: int, edges: list[tuple[int, int]]) -> PassageGraph:
    corpus = Corpus(Passage(str(row), f"t{row}", "", str(row)) for row in range(n))
    return PassageGraph(corpus, {"link": EdgeList.of(*np.array(edges, int).reshape(-1, 2).T, n)})


#: a – b, a – c, b – c, c – d; e stands alone.
FIVE = graph_of(5, [(0, 1), (0, 2), (1, 2), (2, 3)])
H0 = [0.2, 0.4, 0.7, 0.9, 0.3]


def run(
    h: list[float],
    alphas: torch.Tensor,
    top_k: int,
    message: str = "min",
    graph: PassageGraph = FIVE,
):
    """The distances after the messages, and the layers."""
    h = torch.tensor([h])
    near = h.topk(h.shape[1], largest=False).indices.numpy()
    layers = list(pass_messages(h, near, alphas, top_k, message, graph))
    return h[0].tolist(), layers


def test_one_sender_reaches_its_neighbours() -> None:
    h, [layer] = run(H0, torch.tensor([0.5]), 1)
    # a sends 0.2 to b and c; d has no neighbour that sends, e has none at all, and nobody sends to a.
    assert h == pytest.approx([0.2, (0.4 + 0.2) / 2, (0.7 + 0.2) / 2, 0.9, 0.3])
    assert (layer.active_nodes.tolist(), layer.edge_index.tolist()) == ([[0]], [[0, 0], [0, 1]])
    assert layer.heard.tolist() == [1, 2] and layer.before.tolist() == pytest.approx([0.4, 0.7])


def test_the_smallest_message_counts_and_a_sender_may_move_away() -> None:
    # Senders a (0.2), e (0.3), b (0.4). c hears a and b: the minimum is 0.2 (Eq. 1). a hears b alone.
    h, [layer] = run(H0, torch.tensor([0.25]), 3)
    assert h == pytest.approx(
        [0.25 * 0.2 + 0.75 * 0.4, 0.25 * 0.4 + 0.75 * 0.2, 0.25 * 0.7 + 0.75 * 0.2, 0.9, 0.3]
    )
    assert layer.sent.tolist() == pytest.approx([0.2, 0.3, 0.4])


def test_the_mean_message() -> None:
    h, _ = run(H0, torch.tensor([0.5]), 3, "mean")
    assert h == pytest.approx([0.3, 0.3, 0.5 * 0.7 + 0.5 * (0.2 + 0.4) / 2, 0.9, 0.3])


def test_senders_are_chosen_anew_in_each_layer() -> None:
    # Layer 1: a sends, b = 0.3, c = 0.45. Layer 2 has other weights; a still leads, and e is now level with b.
    h, layers = run(H0, torch.tensor([0.5, 0.0]), 1)
    assert [layer.active_nodes.tolist() for layer in layers] == [[[0]], [[0]]]
    assert h == pytest.approx([0.2, 0.2, 0.2, 0.9, 0.3])
    # With two senders, layer 1 (a, e) brings b to 0.3 as well; layer 2 (a, then b: row 1 comes before e's row 4).
    h, layers = run(H0, torch.tensor([0.5, 0.5]), 2)
    assert [layer.active_nodes.tolist() for layer in layers] == [[[0, 4]], [[0, 1]]]
    assert h == pytest.approx([(0.2 + 0.3) / 2, (0.3 + 0.2) / 2, (0.45 + 0.2) / 2, 0.9, 0.3])


@st.composite
def networks(draw: st.DrawFn):
    n = draw(st.integers(2, 12))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(
        lambda pair: pair[0] != pair[1]
    )
    graph = graph_of(n, draw(st.lists(pairs, unique=True, max_size=30)))
    queries = draw(st.integers(1, 3))
    order = [draw(st.permutations(range(n))) for _ in range(queries)]
    h = (
        torch.tensor(order)
        + 0.37 * torch.rand(queries, n, generator=torch.Generator().manual_seed(n))
    ) / n
    # Eighths: a weight near 0 makes distances equal in single precision that are not in the test's double.
    alphas = torch.tensor(
        draw(st.lists(st.integers(0, 8).map(lambda eighths: eighths / 8), min_size=1, max_size=3))
    )
    return (
        graph,
        h,
        alphas,
        draw(st.integers(1, n)),
        draw(st.integers(1, n)),
        draw(st.sampled_from(["min", "mean"])),
    )


@given(networks())
def test_the_same_as_every_passage_and_edge_looked_at(network) -> None:
    graph, h, alphas, top_k, k, message = network
    n = h.shape[1]
    expected = h.numpy().astype(float)
    for alpha in alphas.tolist():
        for row in expected:
            active = np.lexsort((np.arange(n), row))[:top_k]
            heard = [
                [row[j] for j in active if j in graph.neighbours(i) or i in graph.neighbours(j)]
                for i in range(n)
            ]
            m = [(min if message == "min" else np.mean)(of) if of else None for of in heard]
            row[:] = [
                old if new is None else alpha * old + (1 - alpha) * new for old, new in zip(row, m)
            ]
    retriever = GNNRet(top_k=top_k, message=message)
    retriever.graph, retriever.learned = graph, {"alpha": alphas}
    near = retriever.near(h, k)
    logs = retriever.propagate(h, near)
    np.testing.assert_allclose(h.numpy(), expected, atol=1e-5)
    rows = nearest(h, near, np.concatenate([log.heard for log in logs]), k)
    found = np.take_along_axis(h.numpy(), rows, 1)
    np.testing.assert_array_equal(
        found, np.sort(h.numpy(), 1)[:, :k]
    )  # the nearest of all, though few were looked at


def test_the_hinge_by_hand() -> None:
    h = torch.tensor([[0.2, 0.6, 0.3, 0.9, 0.4]])
    supports = torch.tensor([[True, False, False, True, False]])
    # O = 3: the rows 0, 2 and 4 are nearest; without the support 0 the negatives are 2 and 4.
    assert hinge(h, supports, 3, 0.01).tolist() == pytest.approx(
        [0.01 + (0.2 + 0.9) / 2 - (0.3 + 0.4) / 2]
    )
    assert hinge(h, torch.tensor([[True, False, False, False, False]]), 3, 0.01).tolist() == [0.0]
    assert hinge(h, torch.zeros(1, 5, dtype=bool), 3, 0.01).tolist() == [
        0.0
    ]  # no support: nothing to lose
    assert hinge(h, torch.ones(1, 5, dtype=bool), 3, 0.01).tolist() == [0.0]  # no negative
    before = torch.tensor(
        [[0.0, 0.9, 0.9, 0.1, 0.2]]
    )  # the nearest by these are 0, 3 and 4: 4 is the negative
    assert hinge(h, supports, 3, 0.01, before).tolist() == pytest.approx(
        [0.01 + (0.2 + 0.9) / 2 - 0.4]
    )


def test_gradients_are_those_of_the_equations_and_not_of_the_misprint() -> None:
    """Two layers on a path a – b – c, one sender, and the support c (App. A.1).

    Layer 1: a (0.1) sends to b: b¹ = α¹·0.5 + (1 − α¹)·0.1. Layer 2 with K = 2: a and b send; c hears b:
    c² = α²·0.8 + (1 − α²)·b¹; b hears a: b² = α²·b¹ + (1 − α²)·0.1; a hears b: a² = α²·0.1 + (1 − α²)·b¹.
    """
    one, two = (torch.tensor([alpha], requires_grad=True) for alpha in (0.6, 0.3))
    h, near, path = (
        torch.tensor([[0.1, 0.5, 0.8]]),
        np.array([[0, 1, 2]]),
        graph_of(3, [(0, 1), (1, 2)]),
    )
    list(pass_messages(h, near, one, 1, "min", path))
    list(pass_messages(h, near, two, 2, "min", path))
    b1 = 0.6 * 0.5 + 0.4 * 0.1
    assert h[0].tolist() == pytest.approx(
        [0.3 * 0.1 + 0.7 * b1, 0.3 * b1 + 0.7 * 0.1, 0.3 * 0.8 + 0.7 * b1]
    )
    loss = hinge(h, torch.tensor([[False, False, True]]), 2, 0.01).sum()
    assert loss.item() > 0  # c is farther than its negatives a and b
    gradient_one, gradient_two = torch.autograd.grad(loss, [one, two])
    # Eq. 10 with the means of Eqs. 6 to 8: ∂ℓ/∂h is +1 for the support and −1/2 for each negative.
    at_last = {"a": -0.5, "b": -0.5, "c": 1.0}
    # Eq. 11 at l = 2: the sum of ∂ℓ/∂h_j² · (h_j¹ − m_j²).
    expected = at_last["a"] * (0.1 - b1) + at_last["b"] * (b1 - 0.1) + at_last["c"] * (0.8 - b1)
    assert gradient_two.item() == pytest.approx(expected, abs=1e-6)
    # Eq. 12 as Eq. 2 has it: what b¹ passed on weighs 1 − α² (printed: −α²), what b kept of itself α².
    at_b = (1 - 0.3) * (at_last["a"] + at_last["c"]) + 0.3 * at_last["b"]
    assert gradient_one.item() == pytest.approx(at_b * (0.5 - 0.1), abs=1e-6)


def test_descent_keeps_the_lowest_loss_and_the_weights_between_0_and_1() -> None:
    x = torch.tensor([1.0])
    history = gradient_descent(
        {"alpha": x}, lambda: (x - 0.3).abs().sum() * 0.05
    )  # 0.3 is met, then left
    assert x.item() == pytest.approx(0.3, abs=1e-6) and not x.requires_grad
    assert history[0] == {"loss": pytest.approx(0.035), "alpha1": 1.0}
    for slope, end in ((0.4, 0.0), (-0.4, 1.0)):
        x = torch.tensor([0.5])
        gradient_descent({"alpha": x}, lambda x=x, slope=slope: slope * x.sum())
        assert x.item() == end


def test_descent_stops_at_a_small_gradient_and_after_five_rises() -> None:
    x = torch.tensor([0.5])
    assert len(gradient_descent({"alpha": x}, lambda: (0.0009 * x).sum())) == 1 and x.item() == 0.5
    x, rising = torch.tensor([0.5]), iter(range(100))
    history = gradient_descent(
        {"alpha": x}, lambda: 0.01 * x.sum() + next(rising)
    )  # the loss rises whatever x does
    assert len(history) == 6 and x.item() == 0.5
    assert (
        len(gradient_descent({"alpha": x}, lambda: torch.tensor(1.0))) == 1
    )  # nothing depends on the weight


def test_a_variant_is_the_retriever_made_with_the_setting_and_indexes_only_what_changes(
    indexed,
) -> None:
    query, first = example().test[1].query, indexed("gnn-ret", top_k=2)
    other = first.variant(top_k=1, layers=2)
    assert (
        other.retrieve(query, 6).ids == indexed("gnn-ret", top_k=1, layers=2).retrieve(query, 6).ids
    )
    assert other.graph is first.graph and first.settings.top_k == 2
    assert (
        list(first.variant(graph="structure").graph.relations)
        == ["structure"]
        != list(first.graph.relations)
    )
    assert set(first.variant(corpus=first.corpus.subset([0, 1])).retrieve(query, 6).ids) == {
        "harbour",
        "moravec",
    }
    first.learned = {"alpha": torch.tensor([0.9])}
    assert first.variant(top_k=1).alphas is first.alphas


def test_training_is_seeded_also_in_collections_and_too_few_questions_are_named(
    own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand = example()
    pooled = Benchmark("hand", hand.corpus, train=hand.test)
    own = replace(pooled, collections={question.id: np.arange(6) for question in hand.test})
    with pytest.raises(InputError, match=r"expected 3 training questions .* found 2"):
        GNNRet(n_train=3).fit(pooled)
    first, again, apart, stored = (GNNRet(n_train=2) for _ in range(4))
    first.fit(pooled)
    apart.fit(own)
    shutil.rmtree(own_store)
    again.fit(pooled)
    assert first.history[0]["alpha1"] == 1.0 and 0 <= first.alphas.item() <= 1
    assert (
        again.alphas.item() == first.alphas.item() == pytest.approx(apart.alphas.item(), abs=1e-4)
    )
    monkeypatch.setattr("kit.methods.gnn_ret.retriever.gradient_descent", None)
    stored.fit(pooled)  # found again, to the last bit
    assert stored.alphas.equal(first.alphas) and stored.history == first.history
    with pytest.raises(TypeError):
        GNNRet(n_train=2, margin=0.02).fit(pooled)  # with another setting it is trained
