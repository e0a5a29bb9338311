"""BGR: Eq. 1 on tokens that one can check by hand, the search of Eq. 2, and what is learned."""

from unittest.mock import Mock

import numpy as np
import pytest
import torch

from kit.corpus import (
    Benchmark,
    Corpus,
    EvidenceGraph,
    Passage,
    Query,
    Question,
    SubQuestion,
    single_facts,
)
from kit.errors import InputError
from kit.methods.bgr.graphs import QUESTION
from kit.methods.bgr.retriever import (
    BACKWARD,
    BGR,
    FORWARD,
    LONGEST,
    MOST_TOKENS,
    Match,
    Reading,
    evidence_ranking,
    in_steps,
)
from kit.methods.trace import Expansion, Merge
from kit.text import Encoder
from kit.worlds import generated


@pytest.fixture(scope="module")
def facts() -> Benchmark:
    return single_facts(generated("atlas", size="small"))


@pytest.fixture(scope="module")
def fitted(facts: Benchmark) -> BGR:
    retriever = BGR(n_train=12, steps=4)
    retriever.fit(facts)
    return retriever


def test_tokens_are_matched_by_what_is_like_them() -> None:
    a, b, c, none = *torch.eye(4)[:3], torch.zeros(4)
    match = Match(4, heads=1, compared=4, plan=1)
    with torch.no_grad():
        match.project.weight.copy_(torch.eye(4))
        for weigh in match.weigh.values():
            weigh.weight.zero_()
    tokens = torch.stack([torch.stack(text) for text in ([a, b], [b, none], [c, a])])
    mask = torch.tensor([[True, True], [True, False], [True, True]])
    compared = match.compare(Reading(tokens, mask, tokens.mean(1)))
    assert compared.weights[..., 0].tolist() == [
        [0.5, 0.5],
        [1, 0],
        [0.5, 0.5],
    ]  # padding weighs nothing
    inside, around, alike = compared.pairs.unbind(-1)
    assert inside[1:, 0].tolist() == [
        1,
        0.5,
    ]  # all of the first candidate stands in the question, of the second a
    assert around[1:, 0].tolist() == [
        0.5,
        0.5,
    ]  # and of the question b stands in the one, a in the other
    assert (inside[2, 1], around[2, 1], alike[1, 0]) == (0, 0, 0.25)
    paths = [(), (0,)]
    logits, likeness = match(compared, FORWARD, paths, [torch.stack([a, c]), torch.stack([a, b])])
    assert logits.shape == likeness.shape == (2, 2)
    # Vectors of mean tokens: (a + c) / √2 with b / 2 and with (c + a) / 2, both made unit, times 20.
    assert torch.allclose(likeness[0], torch.tensor([0.0, 20.0]), atol=1e-4)


def test_candidates_hear_of_each_other_in_no_order_and_paths_do_not() -> None:
    match, tokens = Match(8, heads=2, compared=4, plan=3, hidden=8).eval(), torch.randn(6, 5, 8)
    mask = torch.arange(5) < torch.tensor([5, 3, 4, 5, 2, 3])[:, None]
    paths, states = [(), (2,), (2, 0)], [torch.randn(n, 8) for n in (4, 7, 9)]

    def judge(
        of: list[int], paths: list = paths, states: list = states, tokens: torch.Tensor = tokens
    ) -> torch.Tensor:
        own = [0, *(place + 1 for place in of)]
        compared = match.compare(Reading(tokens[own], mask[own], tokens[own].mean(1)))
        return match(compared, BACKWARD, [tuple(map(of.index, path)) for path in paths], states)[0]

    with torch.no_grad():
        found = judge([0, 1, 2, 3, 4])
        order = [3, 0, 4, 2, 1]
        assert torch.allclose(judge(order), found[:, order], atol=1e-5)
        alone = torch.cat(
            [judge([0, 1, 2, 3, 4], [path], [state]) for path, state in zip(paths, states)]
        )
        assert torch.allclose(alone, found, atol=1e-5)  # what fills up shorter paths is not read
        other = tokens.clone()
        other[5] += 1
        changed = judge([0, 1, 2, 3, 4], tokens=other) - found
        assert (changed.abs() > 1e-7).all()  # another last candidate is another context for each


def test_candidates_are_read_by_the_layers_that_do_not_learn(fitted: BGR, facts: Benchmark) -> None:
    question, model = facts.test[0], Encoder().model[0]
    there = fitted.variant(corpus=facts.collection(question))
    reading = there._read(question.query, range(len(there.corpus)))
    texts = [question.text, *(passage.full_text for passage in there.corpus.passages)]
    with torch.no_grad():
        layers = model.auto_model(
            **model.preprocess(texts[:4]), output_hidden_states=True
        ).hidden_states
    for number in range(4):
        n = int(reading.mask[number].sum())
        assert n <= MOST_TOKENS and torch.allclose(
            reading.tokens[number, :n], layers[3][number, :n], atol=1e-5
        )
        mean = torch.nn.functional.normalize(layers[3][number, :n].mean(0), dim=0)
        assert torch.allclose(reading.vectors[number], mean, atol=1e-5)
    assert not reading.tokens.requires_grad and len(reading.tokens) == len(texts)


@pytest.mark.parametrize(
    ("drawn", "text", "supporting", "edges"),
    [
        (
            (0, 3),
            "Who wrote A? Who wed that? How old is B? Which is older, B or that?",
            ("p", "q", "r"),
            ((0, 1),),
        ),
        ((1, 1), "Who wed Ann?", ("q",), ()),
        ((1, 2), "Who wed Ann? How old is B?", ("q", "r"), ()),
        (
            (3, 3),
            "Who?",
            ("p", "q", "r"),
            ((0, 1),),
        ),  # nothing is to be found for what only compares
    ],
)
def test_a_question_in_steps(
    drawn: tuple[int, int], text: str, supporting: tuple[str, ...], edges: tuple
) -> None:
    steps = (
        SubQuestion("Who wrote A?", "Ann", 0),
        SubQuestion("Who wed #1?", "Bo", 1, (0,)),
        SubQuestion("How old is B?", "7", 2),
        SubQuestion("Which is older, B or #2?", "B", None, (1, 2)),
    )
    whole = Question(
        "x",
        "Who?",
        "B",
        (("p",), ("q",), ("r",)),
        decomposition=steps,
        evidence=EvidenceGraph(3, ((0, 1),)),
    )
    asked = in_steps(whole, Mock(integers=Mock(side_effect=drawn)))
    assert (asked.id, asked.text, asked.evidence) == (
        "x",
        text,
        EvidenceGraph(len(supporting), edges),
    )
    assert asked.supporting == tuple((id,) for id in supporting)


def test_a_search_goes_on_by_what_is_above_one_half(
    fitted: BGR, facts: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = facts.test[0]
    there = fitted.variant(corpus=facts.collection(question))
    judged = {
        (): [2, 1, -3, -3],
        (0,): [9, 1, -3, -3],
        (1,): [-3, 9, -3, -3],
        (0, 1): [9, 9, -3, -4],
    }

    def judge(
        compared: object, direction: str, paths: list, states: list
    ) -> tuple[torch.Tensor, None]:
        return torch.tensor([judged[path] for path in paths], dtype=torch.float), None

    monkeypatch.setattr(there.network["match"], "forward", judge)
    found = there.search(question.query, np.arange(4), FORWARD)
    assert found.taken == {(): [0, 1], (0,): [1], (1,): [], (0, 1): []}  # nothing twice on a path
    assert found.edges(FORWARD) == [(QUESTION, 0), (0, 1)]  # 1 is read in the light of 0
    assert there.search(question.query, np.arange(4), BACKWARD).edges(BACKWARD) == [
        (QUESTION, 1),
        (1, 0),
    ]
    judged[()] = [-3, -2, -4, -9]
    assert there.search(question.query, np.arange(4), FORWARD).taken == {(): [1], (1,): []}
    nothing = there.variant(at_least_one=False)
    assert nothing.search(question.query, np.arange(4), FORWARD).taken == {(): []}
    assert nothing.retrieve(question.query, 3).evidence.n_nodes == 0
    judged[()] = [2, 1, -3, -3]
    chain = there.variant(successors=1).search(question.query, np.arange(4), FORWARD)
    assert chain.taken == {(): [0], (0,): [1], (0, 1): []}


def test_evidence_comes_first_and_no_path_is_endless(facts: Benchmark) -> None:
    ranking = evidence_ranking(facts.corpus, [(QUESTION, 7), (7, 3), (QUESTION, 9)], [3, 5], 4)
    assert ranking.ids == tuple(facts.corpus.passages[row].id for row in (7, 3, 9, 5))
    assert (ranking.evidence.n_nodes, ranking.evidence.edges) == (3, ((0, 1),))
    cut = evidence_ranking(facts.corpus, [(QUESTION, 7), (7, 3)], [], 1)
    assert (len(cut.ids), cut.evidence.n_nodes, cut.evidence.edges) == (1, 1, ())


@pytest.mark.parametrize("direction", ["both", FORWARD, BACKWARD])
def test_each_question_is_searched_by_itself_and_no_search_sees_gold(
    fitted: BGR, facts: Benchmark, direction: str
) -> None:
    retriever = fitted.variant(direction=direction, candidates=10)
    retriever.index(facts.corpus.subset(range(200)))
    queries = [question.query for question in facts.test[:4]]
    together = retriever.retrieve_many(queries, 10)
    alone = [retriever.retrieve(Query("", query.text), 10) for query in reversed(queries)]
    assert [it.ids for it in together] == [it.ids for it in reversed(alone)]
    assert [it.evidence for it in together] == [it.evidence for it in reversed(alone)]
    assert not retriever.sees_gold and all(len(it.ids) == 10 for it in together)


def test_few_words_of_evidence_on_a_path_are_read(fitted: BGR) -> None:
    retriever = fitted.variant()
    long, short = Passage("a", "Long", "word " * 60, "a"), Passage("b", "Short", "one", "b")
    retriever.corpus = Corpus([long, short])
    text = retriever._text(Query("q", "Who?"), np.arange(2), (0, 1), FORWARD)
    assert text.splitlines() == ["forward: Who?", "Long" + " word" * 39, "Short one"]


def test_a_trace_tells_every_path_and_the_merge(fitted: BGR, facts: Benchmark) -> None:
    question = facts.test[1]
    there = fitted.variant(corpus=facts.collection(question))
    ranking = there.explain(question.query, 25)
    assert ranking.ids == there.retrieve(question.query, 25).ids
    *searched, merged = ranking.trace.events
    assert isinstance(merged, Merge) and {it.direction for it in searched} == {FORWARD, BACKWARD}
    roots = [it for it in searched if isinstance(it, Expansion) and not it.path]
    assert len(roots) == 2 and all(
        len(it.candidates) == 25 and len(it.path) < LONGEST for it in roots
    )
    assert {child for _, child in merged.kept} == set(ranking.ids[: ranking.evidence.n_nodes])


def test_it_learns_from_the_empty_path_and_another_in_both_directions(facts: Benchmark) -> None:
    """The loss of a question is the mean over two paths of the sum over free candidates (bgr-i07), worked out anew."""
    retriever = BGR()
    retriever._see(Encoder())
    retriever.index(facts.corpus)
    question = next(it for it in facts.train if it.evidence == EvidenceGraph(2, ((0, 1),)))
    rows = facts.collections[question.id]
    gold = [rows.tolist().index(facts.corpus.row[id]) for id in question.supporting_ids]
    retriever.network.eval()  # without dropout
    torch.manual_seed(0)
    with torch.no_grad():
        drawn = zip(*[list(retriever._losses([question], {question.id: rows})) for _ in range(8)])
    match = retriever.network["match"]
    for direction, order, found in zip((FORWARD, BACKWARD), (gold, gold[::-1]), drawn):
        losses, ranked = [], []
        for length in range(3):
            path, target = tuple(order[:length]), order[length : length + 1]
            states = retriever.learner.states(
                [retriever._text(question.query, rows, path, direction)]
            )
            with torch.no_grad():
                compared = match.compare(retriever._read(question.query, rows))
                logits, likeness = (
                    it[0].double() for it in match(compared, direction, [path], states)
                )
            sure = torch.sigmoid(logits)
            losses.append(
                sum(
                    -torch.log(sure[i] if i in target else 1 - sure[i])
                    for i in range(25)
                    if i not in path
                )
            )
            if target:
                others = [i for i in range(25) if i not in (*path, *target)]
                ranked.append(-torch.log_softmax(likeness[[*target, *others]], 0)[0])
        with_next = float(np.mean(losses[:2]) + np.mean(ranked))
        with_end = float(np.mean([losses[0], losses[2]]) + ranked[0])
        assert {float(it) for it in found} != {float(found[0])}  # either is drawn
        for it in found:
            assert min(abs(float(it) / right - 1) for right in (with_next, with_end)) < 1e-3


def test_what_was_learned_is_found_again_and_needs_graphs(fitted: BGR, facts: Benchmark) -> None:
    again = BGR(n_train=12, steps=4, direction=FORWARD)
    again.fit(facts)
    assert all(again.learned[name].equal(weight) for name, weight in fitted.learned.items())
    # An epoch has three steps of four questions: the fourth begins another.
    assert [it["step"] for it in again.history if "loss" in it] == [1, 2, 3, 4]
    assert [it["step"] for it in again.history if "measured" in it] == [0, 4]
    with pytest.raises(InputError, match="field steps: bgr was trained with 4: train another"):
        fitted.variant(steps=5)
    with pytest.raises(
        InputError,
        match=r"expected 101 training questions with evidence graphs .* for bgr, found 100",
    ):
        BGR(n_train=101).fit(facts)
