"""RGNN-Ret: its sub-questions, its memory and its merged rankings, by hand."""

from pathlib import Path

import numpy as np
import pytest
import torch
from msgspec.structs import replace

from kit.corpus import Benchmark, Corpus, Passage, Query, example
from kit.errors import InputError
from kit.graphs import EdgeList, PassageGraph
from kit.methods.base import round_robin
from kit.methods.gnn_ret import printed
from kit.methods.gnn_ret.descent import competitors, hinge
from kit.methods.gnn_ret.recurrent import RGNNRet
from kit.methods.loops.steps import Step, gold_steps
from kit.methods.trace import InitialScore, Message, SubQuestionEvent
from kit.views.frames import replay

TOWN, RIVER = example().test


def texts(query: Query) -> list[str]:
    return [step.text for step in gold_steps(query)]


def test_gold_sub_questions_are_filled_with_gold_answers() -> None:
    assert gold_steps(RIVER.gold_query) == [
        Step("Who directed the film The Glass Harbour?", answers=("Ines Moravec",)),
        Step("In which town was Ines Moravec born?", answers=("Selby Quay",)),
        Step("Which river floods Selby Quay?", answers=("Oll",)),
    ]


def test_without_a_decomposition_the_triples_are_asked_and_without_both_the_lines() -> None:
    bare = replace(TOWN, decomposition=())
    assert texts(bare.gold_query) == ["The Glass Harbour >> directed by", "Ines Moravec >> born in"]
    assert texts(replace(bare, triples=()).gold_query) == [TOWN.text]
    assert texts(Query("", "first?\n\n second?\n")) == ["first?", " second?"]
    assert texts(Query("", "")) == [""]
    assert texts(RIVER.query) == [RIVER.text]  # without gold


def test_rankings_are_merged_in_turns() -> None:
    assert round_robin([(4, 2, 1), (2, 3, 4), (4, 0, 1)]) == [4, 2, 3]
    assert round_robin(["ab"]) == ["a", "b"]


@pytest.fixture
def four() -> RGNNRet:
    """a – b – c, and d alone; each distance is what the vectors make it."""
    retriever = RGNNRet(top_k=1, alpha=0.5, beta=0.8)
    retriever.corpus = Corpus(Passage(name, name, "", name) for name in "abcd")
    retriever.graph = PassageGraph(retriever.corpus, {"link": EdgeList.of([0, 1], [1, 2], 4)})
    return retriever


H1, H2 = [0.2, 0.6, 0.9, 0.5], [0.8, 0.7, 0.3, 0.6]


def test_the_memory_by_hand(four: RGNNRet) -> None:
    first, second = four.walk([torch.tensor([H1]), torch.tensor([H2])], 4)
    # Step 1: a sends to b. No memory yet: ĥ¹ = h¹.
    after_one = [0.2, (0.6 + 0.2) / 2, 0.9, 0.5]
    assert first.memory[0].tolist() == pytest.approx(after_one)
    # Step 2: c sends to b; the network starts from the second sub-question's own distances. Then
    # Eq. 4 mixes.
    after_two = [0.8, (0.7 + 0.3) / 2, 0.3, 0.6]
    assert second.h[0].tolist() == pytest.approx(after_two)
    mixed = [0.8 * later + 0.2 * earlier for later, earlier in zip(after_two, after_one)]
    assert second.memory[0].tolist() == pytest.approx(mixed)


def test_gradients_of_both_weights_by_hand(four: RGNNRet) -> None:
    """Eqs. 18 to 21 with the means of Eqs. 13 to 15, T = 2.

    Supports are a at step 1 and c at step 2; the target is later.
    """
    four.learned = {
        "alpha": torch.tensor([0.5], requires_grad=True),
        "beta": torch.tensor(0.8, requires_grad=True),
    }
    first, second = four.walk([torch.tensor([H1]), torch.tensor([H2])], 4)
    loss = (
        hinge(first.memory, torch.tensor([[True, False, True, False]]), 4, 0.5)
        + hinge(second.memory, torch.tensor([[False, False, True, False]]), 4, 0.5)
    ).sum() / 2
    alpha, beta = torch.autograd.grad(loss, list(four.learned.values()))
    # ∂ℓ¹/∂ĥ¹: a, c +1/2 (supports), b, d −1/2; ∂ℓ²/∂ĥ²: c +1, the others −1/3. Each times 1/T.
    loss_1 = np.array([0.5, -0.5, 0.5, -0.5]) / 2
    loss_2 = np.array([-1, -1, 3, -1]) / 3 / 2
    h1 = np.array([0.2, 0.4, 0.9, 0.5])
    h2 = np.array([0.8, 0.5, 0.3, 0.6])
    # Eq. 20, over steps that have a memory.
    assert beta.item() == pytest.approx(loss_2 @ (h2 - h1), abs=1e-6)
    # Eq. 18: what ĥ¹ does to both losses; Eq. 21: what h² does. b alone received, in both steps.
    at_h1 = loss_1 + (1 - 0.8) * loss_2
    at_h2 = 0.8 * loss_2
    expected = at_h1[1] * (0.6 - 0.2) + at_h2[1] * (0.7 - 0.3)
    assert alpha.item() == pytest.approx(expected, abs=1e-6)


def test_printed_gradients_of_the_memory_by_hand(four: RGNNRet) -> None:
    """Eqs. 16 to 21 as printed, T = 2, of the network above; c is the support of both steps."""
    states = list(four.walk([torch.tensor([H1]), torch.tensor([H2])], 4))
    is_c = torch.tensor([[False, False, True, False]])
    # Of O = 4, all, b alone received, in both steps: it is no support, so −1.
    of_steps = [
        printed.of_received(competitors(state.memory, 4), is_c, state.logs) for state in states
    ]
    assert [of_step.tolist() for of_step in of_steps] == [[[0, -1, 0, 0]]] * 2
    of_networks = [state.h for state in states]
    memories = [state.memory for state in states]
    of_own, of_beta = printed.of_memory(of_steps, of_networks, memories, torch.tensor(0.8))
    # Eqs. 18 and 19: at step 2 −1, at step 1 −1 + 0.2 · (−1); Eq. 21 takes 0.8 of each.
    assert of_own[0].tolist() == [pytest.approx([0, 0.8 * -1.2, 0, 0])]
    assert of_own[1].tolist() == [pytest.approx([0, 0.8 * -1, 0, 0])]
    # Eq. 20: b has h² = 0.5 and ĥ¹ = 0.4; of four passages and two steps.
    assert of_beta.tolist() == pytest.approx([-1 * (0.5 - 0.4) / 4 / 2])

    gradients = four._printed_gradients(
        states, [torch.tensor([H1]), torch.tensor([H2])], [is_c, is_c]
    )
    # Eq. 11 of both steps: b had 0.6 and heard 0.2, then 0.7 and 0.3. (O = 10 is all.)
    expected = 0.8 * -1.2 * (0.6 - 0.2) + 0.8 * -1 * (0.7 - 0.3)
    assert gradients["alpha"].tolist() == [pytest.approx([expected])]
    assert gradients["beta"].tolist() == of_beta.tolist()


def test_questions_of_fewer_steps_end_where_they_do() -> None:
    one = torch.ones(2, 1)
    of_own, of_beta = printed.of_memory(
        [one, one[:1]], [one, 3 * one[:1]], [one, one[:1]], torch.tensor(0.5)
    )
    # The first has two steps (1 + 0.5 · 1, then 1), the second one.
    assert of_own[0].tolist() == [[0.5 * 1.5], [0.5 * 1]] and of_own[1].tolist() == [[0.5]]
    assert of_beta.tolist() == [1 * (3 - 1) / 1 / 2, 0]


def test_descent_of_both_weights_by_the_printed_gradients(own_store: Path) -> None:
    hand = example()
    learner = RGNNRet(n_train=2, n_candidates=4, top_k=2, learns_by="printed", init_alpha=0.5)
    learner.fit(Benchmark("hand", hand.corpus, train=hand.test))
    assert list(learner.history[0]) == ["loss", "alpha1", "beta"]
    plain = RGNNRet(n_train=2, n_candidates=4, top_k=2, init_alpha=0.5)
    plain.fit(Benchmark("hand", hand.corpus, train=hand.test))
    assert learner.history[0] == plain.history[0]  # the loss is the same, not the way
    assert learner.history[1] != plain.history[1]


def test_targets_of_a_step() -> None:
    ids = ["harbour", "moravec", "quay"]
    for target, wanted in {
        "all": [ids] * 3,
        "own": [[passage] for passage in ids],
        "later": [ids, ids[1:], ids[2:]],
    }.items():
        assert [RGNNRet().targets(RIVER, t, target) for t in range(3)] == wanted


def test_batches_of_unequal_length_do_not_matter(indexed) -> None:
    queries = [TOWN.gold_query, RIVER.gold_query, TOWN.query]
    retriever = indexed("rgnn-ret", top_k=2)
    alone = [retriever.retrieve(query, 5).ids for query in queries]
    assert [ranking.ids for ranking in retriever.retrieve_many(queries, 5)] == alone
    plain = indexed("gnn-ret", top_k=2)
    assert plain.retrieve(TOWN.query, 5).ids == alone[2]  # one step, so no memory: GNN-Ret


def test_of_no_question_nothing_is_found(indexed) -> None:
    for name in ("gnn-ret", "rgnn-ret"):
        assert indexed(name).retrieve_many([], 5) == []


def test_the_trace_replays_every_step(indexed) -> None:
    retriever = indexed("rgnn-ret", top_k=2)
    [rankings] = retriever.retrieve_steps([gold_steps(RIVER.gold_query)], 6)
    events = retriever.explain(RIVER.gold_query, 6).trace.events
    rounds = [event.round for event in events]
    assert rounds == sorted(rounds)

    replayed = []
    scores = {}
    for event in events:
        if isinstance(event, SubQuestionEvent) and scores:
            replayed.append(scores)
            scores = {}
        elif isinstance(event, InitialScore):
            scores[event.passage] = event.score
        elif isinstance(event, Message):
            assert event.before == pytest.approx(scores[event.target], abs=1e-6)
            after = (1 - event.weight) * event.before + event.weight * event.value
            assert event.after == pytest.approx(after, abs=1e-6)
            scores[event.target] = event.after
    replayed.append(scores)
    for ranking, scores in zip(rankings, replayed, strict=True):
        assert scores == pytest.approx(dict(zip(ranking.ids, ranking.scores.tolist())), abs=1e-6)


def test_training_moves_both_weights_and_needs_sub_questions(own_store: Path) -> None:
    hand = example()
    retriever = RGNNRet(n_train=2, n_candidates=3, top_k=2)
    retriever.fit(Benchmark("hand", hand.corpus, train=hand.test))
    assert list(retriever.history[0]) == ["loss", "alpha1", "beta"]
    assert min(row["loss"] for row in retriever.history) < retriever.history[0]["loss"]
    bare = [replace(question, decomposition=()) for question in hand.test]
    expected = r"expected 2 training questions with sub-questions .* found 0"
    with pytest.raises(InputError, match=expected):
        RGNNRet(n_train=2).fit(Benchmark("hand", hand.corpus, train=bare))


# ---- sub-questions that a model asks

ASKED = ["A painter who turned to pictures", "A river that rises in chalk hills"]


@pytest.fixture
def asking(indexed, agent) -> RGNNRet:
    retriever = indexed("rgnn-ret", decomposer="model", alpha=0.9, top_k=2)
    retriever.agent = agent(*ASKED, town=2, river=1)
    return retriever


def test_a_model_asks_step_by_step_and_each_step_remembers_those_before(indexed, asking) -> None:
    gold = indexed("rgnn-ret", alpha=0.9, top_k=2)
    assert gold.sees_gold and gold.usage() is None
    assert not asking.sees_gold and asking.variant(decomposer="gold").sees_gold
    steps, [river] = asking.steps_of([TOWN.query, RIVER.query])
    assert [(step.text, step.answers) for step in steps] == list(
        zip(ASKED, (("answer 1",), ("answer 2",)))
    )
    assert (river.text, river.rows) == (ASKED[0], steps[0].rows)
    # The critic reads what RGNN-Ret finds for all sub-questions so far, by a variant's settings.
    assert asking.ids(steps[1].rows) == asking.retrieve_next([ASKED], 5)[0].ids
    forgetful = asking.variant(beta=1.0)
    [[_, alone]] = forgetful.steps_of([TOWN.query])
    assert (
        asking.ids(alone.rows)
        == asking.retrieve_next([ASKED[1:]], 5)[0].ids
        != asking.ids(steps[1].rows)
    )
    [rankings] = gold.retrieve_steps([[Step(text) for text in ASKED]], 6)
    merged = round_robin([ranking.ids for ranking in rankings])
    assert list(asking.retrieve(TOWN.query, 6).ids) == merged and merged[:2] == ["moravec", "oll"]
    for ranking in (asking.retrieve(TOWN.query, 6), asking.explain(TOWN.query, 6)):
        assert ranking.answer == "answer 2"  # the last sub-answer
    assert gold.retrieve(TOWN.gold_query, 6).answer == ""
    asking.agent.texts = [None]
    # The question itself.
    assert asking.retrieve(TOWN.query, 6).answer == ""
    assert asking.retrieve(TOWN.query, 6).ids == gold.retrieve(TOWN.query, 6).ids


def test_the_trace_of_a_model_is_replayed(asking) -> None:
    ranking = asking.explain(TOWN.query, 6)
    answered = [
        (event.text, event.answer)
        for event in ranking.trace.events
        if isinstance(event, SubQuestionEvent)
    ]
    assert answered == [(ASKED[0], "answer 1"), (ASKED[1], "answer 2")]
    assert ranking.ids == asking.retrieve(TOWN.query, 6).ids
    frames = replay(ranking, example().corpus, TOWN, asking.graph).frames
    assert list(dict.fromkeys(frame.sub_question for frame in frames))[:2] == [
        f"{ASKED[0]} → answer 1",
        f"{ASKED[1]} → answer 2",
    ]
