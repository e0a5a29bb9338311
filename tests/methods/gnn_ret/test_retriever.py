"""GNN-Ret: its equations by hand, against the network written out in full, and what it learns."""

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
from kit.methods.gnn_ret import printed
from kit.methods.gnn_ret.descent import competitors, gradient_descent, hinge
from kit.methods.gnn_ret.messages import nearest, pass_messages
from kit.methods.gnn_ret.recurrent import RGNNRet
from kit.methods.gnn_ret.retriever import GNNRet
from kit.methods.training import recalls


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
    dense_rows = h.topk(h.shape[1], largest=False).indices.numpy()
    layers = list(pass_messages(h, dense_rows, alphas, top_k, message, graph))
    return h[0].tolist(), layers


def test_one_sender_reaches_its_neighbours() -> None:
    h, [layer] = run(H0, torch.tensor([0.5]), 1)
    # a sends 0.2 to b and c; d has no neighbour that sends, e has none at all, nobody sends to a.
    assert h == pytest.approx([0.2, (0.4 + 0.2) / 2, (0.7 + 0.2) / 2, 0.9, 0.3])
    assert (layer.active_nodes.tolist(), layer.edge_index.tolist()) == ([[0]], [[0, 0], [0, 1]])
    assert layer.receivers.tolist() == [1, 2]
    assert layer.before.tolist() == pytest.approx([0.4, 0.7])


def test_the_smallest_message_counts_and_a_sender_may_move_away() -> None:
    # Senders a (0.2), e (0.3), b (0.4). c hears a and b: the minimum is 0.2 (Eq. 1). a hears b.
    h, [layer] = run(H0, torch.tensor([0.25]), 3)
    assert h == pytest.approx(
        [0.25 * 0.2 + 0.75 * 0.4, 0.25 * 0.4 + 0.75 * 0.2, 0.25 * 0.7 + 0.75 * 0.2, 0.9, 0.3]
    )
    assert layer.sent.tolist() == pytest.approx([0.2, 0.3, 0.4])


def test_the_mean_message() -> None:
    h, _ = run(H0, torch.tensor([0.5]), 3, "mean")
    assert h == pytest.approx([0.3, 0.3, 0.5 * 0.7 + 0.5 * (0.2 + 0.4) / 2, 0.9, 0.3])


def test_senders_are_chosen_anew_in_each_layer() -> None:
    # Layer 1: a sends, b = 0.3, c = 0.45. Layer 2 has other weights; a still leads, and e is now
    # level with b.
    h, layers = run(H0, torch.tensor([0.5, 0.0]), 1)
    assert [layer.active_nodes.tolist() for layer in layers] == [[[0]], [[0]]]
    assert h == pytest.approx([0.2, 0.2, 0.2, 0.9, 0.3])
    # With two senders, layer 1 (a, e) brings b to 0.3 as well; layer 2 has a, then b: row 1 comes
    # before e's row 4.
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
    # Eighths: a weight near 0 makes distances equal in single precision, not in double.
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
            aggregate = min if message == "min" else np.mean
            messages = [aggregate(distances) if distances else None for distances in heard]
            row[:] = [
                h_i if m_i is None else alpha * h_i + (1 - alpha) * m_i
                for h_i, m_i in zip(row, messages)
            ]
    retriever = GNNRet(top_k=top_k, message=message)
    retriever.graph = graph
    retriever.learned = {"alpha": alphas}
    dense_rows = retriever.dense_rows(h, k)
    logs = retriever.propagate(h, dense_rows)
    np.testing.assert_allclose(h.numpy(), expected, atol=1e-5)
    rows = nearest(h, dense_rows, np.concatenate([log.receivers for log in logs]), k)
    distances = np.take_along_axis(h.numpy(), rows, 1)
    # The nearest of all, though few were looked at.
    np.testing.assert_array_equal(distances, np.sort(h.numpy(), 1)[:, :k])


def test_the_hinge_by_hand() -> None:
    h = torch.tensor([[0.2, 0.6, 0.3, 0.9, 0.4]])
    supports = torch.tensor([[True, False, False, True, False]])
    # O = 3: the rows 0, 2 and 4 are nearest; without the support 0 the negatives are 2 and 4.
    assert hinge(h, supports, 3, 0.01).tolist() == pytest.approx(
        [0.01 + (0.2 + 0.9) / 2 - (0.3 + 0.4) / 2]
    )
    assert hinge(h, torch.tensor([[True, False, False, False, False]]), 3, 0.01).tolist() == [0.0]
    no_support = torch.zeros(1, 5, dtype=bool)
    assert hinge(h, no_support, 3, 0.01).tolist() == [0.0]
    no_negative = torch.ones(1, 5, dtype=bool)
    assert hinge(h, no_negative, 3, 0.01).tolist() == [0.0]
    # The nearest by these are 0, 3 and 4: 4 is the negative.
    before = torch.tensor([[0.0, 0.9, 0.9, 0.1, 0.2]])
    assert hinge(h, supports, 3, 0.01, before).tolist() == pytest.approx(
        [0.01 + (0.2 + 0.9) / 2 - 0.4]
    )


def test_gradients_are_those_of_the_equations_and_not_of_the_misprint() -> None:
    """Two layers on a path a – b – c, one sender, and the support c (App. A.1).

    Layer 1: a (0.1) sends to b: b¹ = α¹·0.5 + (1 − α¹)·0.1. Layer 2 with K = 2: a and b send;
    c hears b: c² = α²·0.8 + (1 − α²)·b¹; b hears a: b² = α²·b¹ + (1 − α²)·0.1;
    a hears b: a² = α²·0.1 + (1 − α²)·b¹.
    """
    first, second = (torch.tensor([alpha], requires_grad=True) for alpha in (0.6, 0.3))
    h = torch.tensor([[0.1, 0.5, 0.8]])
    dense_rows = np.array([[0, 1, 2]])
    path = graph_of(3, [(0, 1), (1, 2)])
    list(pass_messages(h, dense_rows, first, 1, "min", path))
    list(pass_messages(h, dense_rows, second, 2, "min", path))
    b1 = 0.6 * 0.5 + 0.4 * 0.1
    assert h[0].tolist() == pytest.approx(
        [0.3 * 0.1 + 0.7 * b1, 0.3 * b1 + 0.7 * 0.1, 0.3 * 0.8 + 0.7 * b1]
    )
    loss = hinge(h, torch.tensor([[False, False, True]]), 2, 0.01).sum()
    assert loss.item() > 0  # c is farther than its negatives a and b
    gradient_first, gradient_second = torch.autograd.grad(loss, [first, second])
    # Eq. 10 with the means of Eqs. 6 to 8: ∂ℓ/∂h is +1 for the support and −1/2 for each negative.
    at_last = {"a": -0.5, "b": -0.5, "c": 1.0}
    # Eq. 11 at l = 2: the sum of ∂ℓ/∂h_j² · (h_j¹ − m_j²).
    expected = at_last["a"] * (0.1 - b1) + at_last["b"] * (b1 - 0.1) + at_last["c"] * (0.8 - b1)
    assert gradient_second.item() == pytest.approx(expected, abs=1e-6)
    # Eq. 12 as Eq. 2 has it: what b¹ passed on weighs 1 − α² (printed: −α²), what b kept α².
    at_b = (1 - 0.3) * (at_last["a"] + at_last["c"]) + 0.3 * at_last["b"]
    assert gradient_first.item() == pytest.approx(at_b * (0.5 - 0.1), abs=1e-6)


def test_printed_gradients_of_two_layers_by_hand() -> None:
    """The network of the test above, by Eqs. 9 to 12 as they are printed.

    O = 2: the nearest after the messages are b and a, and c, the support, is beyond them.
    """
    alphas = torch.tensor([0.6, 0.3])
    h = torch.tensor([[0.1, 0.5, 0.8]])
    path = graph_of(3, [(0, 1), (1, 2)])
    logs = []
    for alpha, top_k in zip(alphas, (1, 2)):
        dense_rows = h.argsort(1).numpy()
        logs += pass_messages(h, dense_rows, alpha[None], top_k, "min", path)
    b1 = 0.6 * 0.5 + 0.4 * 0.1
    support = torch.tensor([[False, False, True]])

    nearest_two = competitors(h, 2)
    assert sorted(nearest_two[0].tolist()) == [0, 1]
    of_h = printed.of_received(nearest_two, support, logs)
    assert of_h.tolist() == [[-1, -1, 0]]  # Eqs. 9 and 10: without means, without c
    # Eq. 11 at l = 2: a hears b, b hears a.
    second = -(0.1 - b1) - (b1 - 0.1)
    # Eq. 12: a sent to b, b to a and c; the message weighs −α². Layer 1: b alone received.
    at_b1 = -0.3 * (-1 + 0)
    first = at_b1 * (0.5 - 0.1)
    gradients = printed.of_alphas(of_h, logs, alphas)
    assert gradients[0].tolist() == pytest.approx([first, second], abs=1e-6)

    # With O = 3 the support counts, with +1.
    of_h = printed.of_received(competitors(h, 3), support, logs)
    assert of_h.tolist() == [[-1, -1, 1]]
    gradients = printed.of_alphas(of_h, logs, alphas)
    expected = [-0.3 * (-1 + 1) * (0.5 - 0.1), second + (0.8 - b1)]
    assert gradients[0].tolist() == pytest.approx(expected, abs=1e-6)
    nothing = printed.of_received(nearest_two, torch.zeros(1, 3, dtype=torch.bool), logs)
    assert nothing.tolist() == [[0, 0, 0]]


def test_a_loss_can_bring_its_gradients() -> None:
    weights = {"alpha": torch.tensor([0.2, 0.7], requires_grad=True), "beta": torch.tensor(0.4)}
    weights["beta"].requires_grad_()
    gradients = {"alpha": torch.tensor([[1.0, 2.0], [3.0, 5.0]]), "beta": torch.tensor([0.5, 1.5])}
    losses = printed.with_gradients(torch.tensor([7.0, 9.0]), gradients, weights)
    assert losses.tolist() == [7, 9]
    alpha, beta = torch.autograd.grad(losses.mean(), list(weights.values()))
    assert (alpha.tolist(), beta.item()) == ([2, 3.5], 1)


def test_descent_by_the_printed_gradients_takes_their_step(own_store: Path) -> None:
    hand = example()
    settings = {"init_alpha": 0.5, "n_candidates": 3, "top_k": 2, "margin": 0.5}
    learner = GNNRet(n_train=1, learns_by="printed", **settings)
    question = hand.test[0]
    learner.fit(Benchmark("hand", hand.corpus, train=[question]))
    plain = GNNRet(alpha=0.5, **settings)
    plain.index(hand.corpus)
    h = plain.distances(plain.encode([question.text]))
    logs = plain.propagate(h, plain.dense_rows(h, 0))
    of_h = printed.of_received(competitors(h, 3), plain.mask([question.supporting_ids]), logs)
    gradient = printed.of_alphas(of_h, logs, plain.alphas)[0, 0]
    assert learner.history[0]["loss"] == pytest.approx(plain.losses([question])().item(), abs=1e-6)
    stepped = (0.5 - gradient).clamp(0, 1).item()
    assert learner.history[1]["alpha1"] == pytest.approx(stepped, abs=1e-6)


# ---- chosen by what is found


def test_alpha_can_be_the_best_on_dev_questions(own_store: Path) -> None:
    """Ten passages hear the nearest one; the support is the last that dense retrieval finds."""
    hand = example()
    extra = [
        Passage(f"more-{n}", f"More {n}", f"A film by a director, part {n}.", f"more-{n}")
        for n in range(12)
    ]
    corpus = Corpus([*hand.corpus.passages, *extra])
    benchmark = Benchmark("hand", corpus, dev=hand.test)
    learner = GNNRet(learns_by="recall", top_k=2)
    learner.fit(benchmark)
    assert [row["alpha1"] for row in learner.history] == pytest.approx(np.arange(11) / 10)
    on_dev = [row["recall@10"] for row in learner.history]
    for alpha, recall in zip(np.arange(11) / 10, on_dev):
        fixed = GNNRet(alpha=alpha, top_k=2)
        fixed.index(corpus)
        assert recall == pytest.approx(np.mean(recalls(fixed, hand.test, 10)))
    assert learner.alphas.item() == pytest.approx(np.argmax(on_dev) / 10)

    recurrent = RGNNRet(learns_by="recall", top_k=2)
    recurrent.fit(benchmark)
    assert len(recurrent.history) == 11 * 11 and {"alpha", "beta"} == recurrent.parameters.keys()


def test_the_number_of_candidates_can_be_chosen_on_dev_questions(own_store: Path) -> None:
    hand = example()
    benchmark = Benchmark("hand", hand.corpus, train=hand.test, dev=hand.test)
    learner = GNNRet(n_train=2, n_candidates=0, top_k=2, margin=0.5)
    learner.fit(benchmark)
    # Of six passages ten and more are the same, and all are found: the first is chosen.
    assert {row["n_candidates"] for row in learner.history} == {5}
    five = GNNRet(n_train=2, n_candidates=5, top_k=2, margin=0.5)
    five.fit(benchmark)
    assert learner.alphas.equal(five.alphas)


@pytest.mark.parametrize("settings", [{"learns_by": "recall"}, {"n_train": 1, "n_candidates": 0}])
def test_what_is_chosen_needs_dev_questions(settings: dict, own_store: Path) -> None:
    hand = example()
    benchmark = Benchmark("hand", hand.corpus, train=hand.test)
    with pytest.raises(InputError, match="record hand: expected dev questions with supports"):
        GNNRet(**settings).fit(benchmark)


def test_at_alpha_0_receivers_tie_with_their_sender(indexed) -> None:
    ranking = indexed("gnn-ret", top_k=2, alpha=0.0).retrieve(example().test[0].query, 6)
    score = dict(zip(ranking.ids, ranking.scores.tolist()))
    assert score["harbour"] == score["moravec"] and score["novel"] == score["moravec-later"]


def test_descent_keeps_the_lowest_loss_and_the_weights_between_0_and_1() -> None:
    x = torch.tensor([1.0])
    # 0.3 is met, then left.
    history = gradient_descent({"alpha": x}, lambda: (x - 0.3).abs().sum() * 0.05)
    assert x.item() == pytest.approx(0.3, abs=1e-6) and not x.requires_grad
    assert history[0] == {"loss": pytest.approx(0.035), "alpha1": 1.0}
    for slope, end in ((0.4, 0.0), (-0.4, 1.0)):
        x = torch.tensor([0.5])
        gradient_descent({"alpha": x}, lambda x=x, slope=slope: slope * x.sum())
        assert x.item() == end


def test_descent_stops_at_a_small_gradient_and_after_five_rises() -> None:
    x = torch.tensor([0.5])
    assert len(gradient_descent({"alpha": x}, lambda: (0.0009 * x).sum())) == 1 and x.item() == 0.5
    # The loss rises whatever x does.
    x = torch.tensor([0.5])
    rising = iter(range(100))
    history = gradient_descent({"alpha": x}, lambda: 0.01 * x.sum() + next(rising))
    assert len(history) == 6 and x.item() == 0.5
    # Nothing depends on the weight.
    assert len(gradient_descent({"alpha": x}, lambda: torch.tensor(1.0))) == 1


def test_a_variant_is_the_retriever_made_with_the_setting_and_indexes_only_what_changes(
    indexed,
) -> None:
    query = example().test[1].query
    first = indexed("gnn-ret", top_k=2)
    other = first.variant(top_k=1, layers=2)
    made = indexed("gnn-ret", top_k=1, layers=2)
    assert other.retrieve(query, 6).ids == made.retrieve(query, 6).ids
    assert other.graph is first.graph and first.settings.top_k == 2
    other = first.variant(graph="structure")
    assert list(other.graph.relations) == ["structure"] != list(first.graph.relations)
    other = first.variant(corpus=first.corpus.subset([0, 1]))
    assert set(other.retrieve(query, 6).ids) == {"harbour", "moravec"}
    first.learned = {"alpha": torch.tensor([0.9])}
    assert first.variant(top_k=1).alphas is first.alphas


def test_training_is_seeded_also_in_collections_and_too_few_questions_are_named(
    own_store: Path,
) -> None:
    hand = example()
    pooled = Benchmark("hand", hand.corpus, train=hand.test)
    collections = {question.id: np.arange(6) for question in hand.test}
    with pytest.raises(InputError, match=r"expected 3 training questions .* found 2"):
        GNNRet(n_train=3).fit(pooled)
    first, again, apart = (GNNRet(n_train=2) for _ in range(3))
    first.fit(pooled)
    apart.fit(replace(pooled, collections=collections))
    shutil.rmtree(own_store)
    again.fit(pooled)
    assert first.history[0]["alpha1"] == 1.0 and 0 <= first.alphas.item() <= 1
    assert again.alphas.item() == first.alphas.item()
    assert apart.alphas.item() == pytest.approx(first.alphas.item(), abs=1e-4)


def test_what_was_learned_is_found_again_and_trained_anew_with_another_setting(
    own_store: Path,
) -> None:
    hand = example()
    pooled = Benchmark("hand", hand.corpus, train=hand.test)
    first, stored = (GNNRet(n_train=2) for _ in range(2))
    first.fit(pooled)
    [weights] = own_store.glob("gnn-ret/*/weights.safetensors")
    written = weights.stat().st_mtime_ns
    stored.fit(pooled)  # to the last bit
    assert weights.stat().st_mtime_ns == written
    assert stored.alphas.equal(first.alphas) and stored.history == first.history
    GNNRet(n_train=2, alpha=0.3).fit(pooled)  # which is not what descent begins at
    assert len(list(own_store.glob("gnn-ret/*/weights.safetensors"))) == 1
    GNNRet(n_train=2, margin=0.02).fit(pooled)
    assert len(list(own_store.glob("gnn-ret/*/weights.safetensors"))) == 2
    GNNRet().fit(pooled)  # learns nothing
    assert len(list(own_store.glob("gnn-ret/*/weights.safetensors"))) == 2


def test_in_collections_each_question_has_the_graph_of_its_own(own_store: Path) -> None:
    """The first loss is the mean of those over each question's collection alone."""
    hand = example()
    town, river = hand.test
    collections = {town.id: np.array([0, 1, 2]), river.id: np.arange(6)}
    apart = Benchmark("hand", hand.corpus, train=hand.test, collections=collections)
    settings = {"init_alpha": 0.5, "n_candidates": 3, "top_k": 2, "margin": 0.5}
    learner = GNNRet(n_train=2, **settings)
    learner.fit(apart)
    losses = []
    for question in hand.test:
        retriever = GNNRet(alpha=0.5, **settings)
        retriever.index(apart.collection(question))
        losses.append(retriever.losses([question])().item())
    assert learner.history[0]["loss"] == pytest.approx(np.mean(losses), abs=1e-6)
