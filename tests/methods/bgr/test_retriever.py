"""BGR: its ranking, its trace, and what is learned and found again."""

from pathlib import Path

import numpy as np
import pytest
import torch

from kit.corpus import Benchmark, Query
from kit.errors import InputError
from kit.methods.bgr.evidence import evidence_ranking
from kit.methods.bgr.graphs import BACKWARD, FORWARD, QUESTION, acyclic, merge
from kit.methods.bgr.network import LONGEST_PATH
from kit.methods.bgr.retriever import BGR
from kit.methods.trace import Expansion, Merge


def test_evidence_comes_first_and_is_cut_with_the_ranking(facts: Benchmark) -> None:
    ranking = evidence_ranking(facts.corpus, [(QUESTION, 7), (7, 3), (QUESTION, 9)], [3, 5], 4)
    assert ranking.ids == tuple(facts.corpus.passages[row].id for row in (7, 3, 9, 5))
    assert (ranking.evidence.n_nodes, ranking.evidence.edges) == (3, ((0, 1),))
    cut = evidence_ranking(facts.corpus, [(QUESTION, 7), (7, 3)], [], 1)
    assert (len(cut.ids), cut.evidence.n_nodes, cut.evidence.edges) == (1, 1, ())
    assert evidence_ranking(facts.corpus, [], [3, 5], 3).evidence.n_nodes == 0


@pytest.mark.parametrize("direction", ["both", FORWARD, BACKWARD])
def test_each_question_is_searched_by_itself_and_no_search_sees_gold(
    fitted: BGR, facts: Benchmark, direction: str
) -> None:
    retriever = fitted.variant(direction=direction, candidates=10)
    retriever.index(facts.corpus.subset(range(200)))
    queries = [question.query for question in facts.test[:4]]
    together = retriever.retrieve_many(queries, 10)
    alone = [retriever.retrieve(Query("", query.text), 10) for query in reversed(queries)]
    alone.reverse()
    assert [ranking.ids for ranking in together] == [ranking.ids for ranking in alone]
    assert [ranking.evidence for ranking in together] == [ranking.evidence for ranking in alone]
    assert not retriever.sees_gold
    assert all(len(ranking.ids) == 10 for ranking in together)

    # Beyond the candidates the nearest passages follow, which are not judged.
    longer = retriever.retrieve(queries[0], 15)
    assert len(longer.ids) == 15 and longer.ids[:10] == together[0].ids
    assert longer.evidence == together[0].evidence


def test_a_trace_tells_every_path_and_the_merge(fitted: BGR, facts: Benchmark) -> None:
    question = facts.test[1]
    retriever = fitted.variant(corpus=facts.collection(question))
    ranking = retriever.explain(question.query, 25)
    assert ranking.ids == retriever.retrieve(question.query, 25).ids
    *expansions, merged = ranking.trace.events
    assert isinstance(merged, Merge)
    assert all(isinstance(event, Expansion) for event in expansions)
    assert {event.direction for event in expansions} == {FORWARD, BACKWARD}
    assert all(len(event.path) < LONGEST_PATH for event in expansions)
    roots = [event for event in expansions if not event.path]
    assert [len(event.candidates) for event in roots] == [25, 25]
    assert merged.reason.startswith("the most likely graph")
    assert {child for _, child in merged.kept} == set(ranking.ids[: ranking.evidence.n_nodes])


def test_probabilities_are_shown_against_the_threshold(fitted: BGR, facts: Benchmark) -> None:
    """A logit above −1 is a probability above .27, which a trace has to say."""
    question = facts.test[0]
    retriever = fitted.variant(corpus=facts.collection(question), threshold=-1.0, rule="code")
    *expansions, merged = retriever.explain(question.query, 25).trace.events
    assert merged.reason.startswith("code: BSC = ")
    for event in expansions:
        assert event.threshold == 0.2689
        above = {passage for passage, share in event.candidates if share > event.threshold}
        assert set(event.taken) == above or (not event.path and not above)
        search = retriever.search(question.query, np.arange(25), event.direction)
        path = tuple(retriever.corpus.row[passage] for passage in event.path)
        best, share = event.candidates[0]
        logit = search.logits[path][retriever.corpus.row[best]]
        assert share == pytest.approx(1 / (1 + np.exp(-logit)), abs=1e-3)


@pytest.mark.parametrize("rule", ["chosen", "code", "eq3", "text"])
def test_eq3_as_it_is_set_or_chosen(fitted: BGR, facts: Benchmark, rule: str) -> None:
    question = facts.test[2]
    retriever = fitted.variant(corpus=facts.collection(question), rule=rule)
    ranking = retriever.explain(question.query, 25)
    ahead, back = (
        retriever.search(question.query, np.arange(25), direction).edges()
        for direction in (FORWARD, BACKWARD)
    )
    if rule == "chosen":
        edges = fitted.choices.merged({FORWARD: ahead, BACKWARD: back})
    else:
        edges = merge(ahead, back, 0.2, rule)
    edges = list(acyclic(edges).edges)
    assert ranking.ids == evidence_ranking(retriever.corpus, edges, range(25), 25).ids


def test_weights_that_ship_are_small_and_judge_alike(
    fitted: BGR, facts: Benchmark, tmp_path: Path
) -> None:
    folder = fitted.learn([facts])  # found again
    fitted.ship(folder, tmp_path)
    assert (tmp_path / "weights.safetensors").stat().st_size < 3.5e6
    assert (tmp_path / "history.json").read_text() == (folder / "history.json").read_text()

    shipped = BGR(start="untrained")
    shipped.restore(tmp_path)
    assert shipped.choices == fitted.choices
    question = facts.test[0]
    searches = [
        retriever.variant(corpus=facts.collection(question)).search(
            question.query, np.arange(25), FORWARD
        )
        for retriever in (fitted, shipped)
    ]
    logits = [search.logits[()] for search in searches]
    np.testing.assert_allclose(*logits, atol=0.1)


def test_the_kits_weights_are_not_of_eq1_as_printed() -> None:
    with pytest.raises(InputError, match=r"field judge: .*expected start=untrained"):
        BGR(judge="printed")


def test_what_was_learned_is_found_again_and_needs_graphs(fitted: BGR, facts: Benchmark) -> None:
    values = {"start": "untrained", "n_train": 12, "steps": 4, "learning_rate": 2e-3}
    again = BGR(**values, direction=FORWARD)
    again.fit(facts)
    learned = fitted.learned.weights
    assert all(again.learned.weights[name].equal(weight) for name, weight in learned.items())
    assert again.choices == fitted.choices
    # An epoch has three steps of four questions: the fourth begins another.
    assert [row["step"] for row in again.history if "loss" in row] == [1, 2, 3, 4]
    assert [row["step"] for row in again.history if "measured" in row] == [0, 4]
    with pytest.raises(InputError, match="field steps: bgr was trained with 4: train another"):
        fitted.variant(steps=5)
    with pytest.raises(
        InputError,
        match=r"expected 101 training questions with evidence graphs .* for bgr.* found 100",
    ):
        BGR(start="untrained", n_train=101).fit(facts)


def test_training_has_a_network_of_its_own(facts: Benchmark, own_store) -> None:
    """What was indexed stays as it was, whatever its variants learn."""
    question = facts.test[0]
    untrained = BGR(start="untrained", n_train=4, steps=1)
    untrained.index(facts.collection(question))
    before = untrained.retrieve(question.query, 25)
    weights = {name: weight.clone() for name, weight in untrained.network.state_dict().items()}
    learner = untrained.variant()
    learner.fit(facts)
    after = untrained.network.state_dict()
    assert all(torch.equal(after[name], weight) for name, weight in weights.items())
    assert untrained.retrieve(question.query, 25).ids == before.ids
    assert untrained.learned is None and learner.learned is not None
