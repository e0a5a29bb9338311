"""Algorithm 1 by hand on the six passages, its agents (on a real server too), and any walk.

The graph of the six passages: harbour – moravec – quay – oll, moravec – moravec-later – novel.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit import timer
from kit.corpus import Corpus, Passage, Query, example, export, load
from kit.errors import InputError
from kit.graphs import build
from kit.lab.cli import cli
from kit.learning.training import one_thread
from kit.methods import Ranking, make
from kit.methods.baselines.mdr import path_text
from kit.methods.kgp.walk import AgentInput
from kit.methods.loops.agents import SmallAgent
from kit.methods.loops.steps import Hole, Step
from kit.methods.trace import NodeVisit
from kit.text import DEFAULT_ENCODER, Encoder, TfidfIndex
from kit.text.language_models import SequenceToSequence, language_model
from kit.text.prompts import evidence_prompt

RIVER = "Which river floods the birthplace of the director of the film The Glass Harbour?"
WALK = {"budget": 6, "branching": 3}
DIRECTED, BORN = "is a silent film directed by", "She was born in"


def visits(ranking) -> list[tuple[int, tuple[str, ...]]]:
    """Round and path of each visit."""
    steps = [step for step in ranking.trace.events if isinstance(step, NodeVisit)]
    return [
        (step.round, tuple(filter(None, (*step.before, step.source, step.passage))))
        for step in steps
    ]


# ---- by hand


def test_the_queue_goes_breadth_first_and_a_repeated_passage_counts_once(indexed):
    ranking = indexed("kgp-tfidf", **WALK, depth=3).explain(RIVER, 6)
    assert [seed.passage for seed in ranking.trace.seeds] == ["harbour", "novel"]  # ⌊6 / 3⌋
    assert visits(ranking) == [
        (0, ("harbour",)),
        (0, ("novel",)),
        (1, ("harbour", "moravec")),
        (1, ("novel", "moravec-later")),
        (2, ("harbour", "moravec", "quay")),  # not back to harbour
        (2, ("harbour", "moravec", "moravec-later")),  # again: five distinct ones so far
        (2, ("novel", "moravec-later", "moravec")),
    ]
    assert ranking.trace.n_scored == 2 + 1 + 1 + 2 + 1


def test_paths_are_ranked_by_their_standardised_scores_and_passages_by_first_appearance(indexed):
    # Of the words of the question only quay has one, "river", among the neighbours: its cosine is
    # c, all others are 0. Steps: 0, 0, c, 0, 0 have mean c/5 and deviation 2c/5, so c becomes 2 and
    # 0 becomes −1/2. Seeds become 1 and −1.
    retriever = indexed("kgp-tfidf", **WALK, depth=3)
    ranking = retriever.retrieve(RIVER, 6)
    assert ranking.ids == ("harbour", "moravec", "quay", "moravec-later", "novel", "oll")
    oll = retriever.tfidf.scores([RIVER])[0, 4]  # not on the walk: below the lowest path, by TF-IDF
    assert ranking.scores.tolist() == pytest.approx([2.5, 2.5, 2.5, 0, -2, -3 + oll], abs=1e-5)


def clique(n: int) -> Corpus:
    """Passages that all share a title's name, and one that stands alone."""
    passages = [Passage(f"p{i}", "", "the mill", "mill", i) for i in range(n)]
    return Corpus([*passages, Passage("alone", "", "a quay", "quay")])


def test_a_walk_in_a_component_smaller_than_the_budget_does_not_try_all_paths(indexed):
    corpus = clique(9)
    chosen = {"graph": "structure", "budget": 10, "branching": 3, "depth": 10}
    retriever = indexed("kgp-tfidf", corpus, **chosen)
    everyone = build("structure", corpus, reach=9)
    walked = visits(retriever.variant(over=everyone).explain("mill", 9))
    # Each passage goes on once after each number of steps, in three ways at most: in all its paths
    # it would be visited some ten thousand times.
    grown = [path[:-1] for _, path in walked if len(path) > 1]
    ends = {(path[-1], len(path)) for path in grown}
    assert len(set(grown)) == len(ends)
    assert len(walked) <= 3 + 3 * len(ends) and len(ends) <= 9 * 9
    assert {path[-1] for _, path in walked} == {f"p{i}" for i in range(9)}


def test_what_a_walk_found_is_told_from_what_filled_it_up(indexed):
    # At the usual depth the walk ends with four of six passages.
    ranking = indexed("kgp-tfidf", **WALK).retrieve(RIVER, 6)
    assert ranking.paths == (("harbour", "moravec"), ("novel", "moravec-later"))
    assert ranking.n_walked == 4
    assert ranking.ids[:4] == ("harbour", "moravec", "novel", "moravec-later")
    assert set(ranking.ids[4:]) == {"quay", "oll"}
    deeper = indexed("kgp-tfidf", **WALK, depth=4).explain(RIVER, 6)
    assert deeper.n_walked == 6 and indexed("tfidf").retrieve(RIVER, 6).n_walked == 0


# ---- agents


def test_the_sentence_encoder_reads_the_question_or_the_path(indexed):
    corpus = example().corpus
    vectors = Encoder(DEFAULT_ENCODER).encode([passage.full_text for passage in corpus.passages])
    agent_input = AgentInput(Query("", RIVER), (0, 1), np.array([2, 3]))
    path = path_text(RIVER, corpus.passages[:2])
    agents = {"kgp-dense": ({}, RIVER), "kgp-mdr": ({"start": "untrained"}, path)}
    for name, (start, text) in agents.items():
        [output] = indexed(name, **start).score([agent_input])
        f = Encoder(DEFAULT_ENCODER).encode([text], role="query")[0]
        assert output.scores.tolist() == pytest.approx((vectors[2:4] @ f).tolist(), abs=1e-6)


def test_a_variant_walks_another_graph_or_corpus_and_leaves_the_first_as_it_was(indexed):
    corpus = example().corpus
    first = indexed("kgp-tfidf", **WALK)
    # Two passages of one document are all edges of structure, and the seeds, harbour and novel,
    # have none.
    for other in (
        first.variant(over=build("structure", corpus)),
        first.variant(graph="structure"),
    ):
        assert other.explain(RIVER, 6).trace.n_scored == 2 < first.explain(RIVER, 6).trace.n_scored
    assert first.variant(corpus=corpus.subset([0, 1])).retrieve(RIVER, 6).ids == (
        "harbour",
        "moravec",
    )
    assert len(first.retrieve(RIVER, 6).ids) == 6
    assert first.variant(branching=1).tfidf is first.tfidf


def test_a_running_clock_is_told_of_matching_and_changes_no_ranking(indexed):
    retriever = indexed("kgp-tfidf", **WALK, depth=3)
    with timer.running() as clock:
        timed = retriever.retrieve(RIVER, 6)
    assert clock.seconds["matching"] > 0
    assert timed.ids == retriever.retrieve(RIVER, 6).ids


# ---- agents that write


@pytest.fixture
def apart(own_store: Path, monkeypatch: pytest.MonkeyPatch):
    """Nothing that was answered before, or elsewhere, changes what is asked."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with one_thread():
        yield


def answered(model: str, data: Path, run: Path) -> dict[str, Ranking]:
    """`kit evaluate kgp-chat`, with its rankings in ``run``.

    Comes back with the same once more from the store, explained.
    """
    options = [f"--set={name}={value}" for name, value in {"model": model, **WALK}.items()]
    cli.main(
        ["evaluate", "kgp-chat", "--data", str(data), "--trec", str(run), *options],
        standalone_mode=False,
    )
    retriever = make("kgp-chat", model=model, **WALK)
    retriever.index(load(data).corpus)
    return {question.id: retriever.explain(question.query, 6) for question in load(data).test}


def test_candidates_are_ranked_by_what_the_model_writes(apart, tiny_t5: Path, indexed) -> None:
    corpus, question = example().corpus, example().test[0]
    retriever = indexed("kgp-chat", model=f"t5:{tiny_t5}", **WALK)
    visits = [
        step
        for step in retriever.explain(question.query, 6).trace.events
        if isinstance(step, NodeVisit)
    ]
    model, index = SequenceToSequence(str(tiny_t5)), TfidfIndex(corpus)
    for visit in visits:
        path = [
            corpus[passage].full_text.replace("\n", " ")
            for passage in (*visit.before, visit.source)
            if passage
        ]
        (answer,) = model.generate(
            [evidence_prompt(question.text, path, "prefixed_evidence")], progress=False
        )
        assert visit.generated_evidence == answer.text
        scores = index.scores([answer.text or question.text])[0]
        assert visit.score == pytest.approx(scores[corpus.row[visit.passage]], abs=1e-6)
    usage = retriever.usage().set_index("source")["calls"]
    assert usage["live"] == len({(*visit.before, visit.source) for visit in visits})


class Planned(SmallAgent):
    """Plans the two steps of the film, as far as the question's steps go."""

    def plan(self, trajectories, policy="ras"):
        holes = [Hole("The Glass Harbour", DIRECTED), Hole("Ines Moravec", BORN)]
        left = [holes[len(trajectory.steps) :] for trajectory in trajectories]
        return [Step(rest[0].text, (rest[0],)) if rest else None for rest in left]


def test_the_small_model_looks_for_what_the_passages_of_a_path_leave_open(indexed) -> None:
    corpus = example().corpus
    retriever = indexed("kgp-t5", **WALK)
    retriever.agent = Planned(retriever.model, corpus, "rules")
    path = (corpus.row["harbour"], corpus.row["moravec"])
    inputs = [AgentInput(Query("", "Who?"), path[:n], np.array([1])) for n in range(3)]
    assert retriever.generated_evidence(inputs) == [
        f"Who? The Glass Harbour {DIRECTED}",
        f"Who? Ines Moravec {BORN}",
        f"Who? Ines Moravec {BORN} Selby Quay",
    ]


def test_a_chat_model_is_asked_as_in_listing_1_and_replayed_without_its_server(
    apart, server, tmp_path: Path
) -> None:
    data = export(example(), tmp_path / "example", "kit")
    runs = (tmp_path / "first.trec", tmp_path / "replayed.trec")
    first = answered(f"server:{server.model}@{server.url}", data, runs[0])
    replay = f"replay:server:{server.model}"  # without an address
    replayed = answered(replay, data, runs[1])
    assert runs[0].read_bytes() == runs[1].read_bytes()
    assert [ranking.trace for ranking in replayed.values()] == [
        ranking.trace for ranking in first.values()
    ]
    for question in load(data).test:
        visit = next(
            step for step in first[question.id].trace.events if isinstance(step, NodeVisit)
        )
        prompt = evidence_prompt(question.text, [])
        (answer,) = language_model(replay).generate([prompt], progress=False)
        assert visit.generated_evidence == answer.text != ""


def test_a_chat_model_must_be_named() -> None:
    with pytest.raises(
        InputError,
        match="field model: expected a language model as hf:FOLDER-OR-NAME, hf:",
    ):
        make("kgp-chat")


# ---- what holds of any walk

texts = st.lists(
    st.sampled_from(["mill", "quay", "ferry", "choir", "lamp"]), min_size=1, max_size=3
).map(" ".join)
corpora = st.lists(st.tuples(texts, st.integers(0, 3)), min_size=1, max_size=14).map(
    lambda rows: Corpus(
        Passage(f"p{i}", "", text, f"d{document}", i) for i, (text, document) in enumerate(rows)
    )
)


@settings(max_examples=60, deadline=None)
@given(
    corpora,
    texts,
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(1, 9),
    st.sampled_from(["random", "tfidf"]),
)
def test_any_walk(indexed, corpus, question, branching, depth, budget, agent):
    chosen = {"graph": "tfidf+structure", "branching": branching, "depth": depth, "budget": budget}
    retriever = indexed(f"kgp-{agent}", corpus, **chosen)
    queries = [Query("a", question), Query("b", "mill lamp")]
    together = retriever.retrieve_many(queries, len(corpus))
    ranking, other = (retriever.explain(query, len(corpus)) for query in queries)
    paths = [path for _, path in visits(ranking)]
    for path in paths:
        assert len(set(path)) == len(path) <= depth
        for source, passage in pairwise(path):
            assert corpus.row[passage] in retriever.graph.neighbours(corpus.row[source])
    walked = {path[-1] for path in paths}
    assert len(walked) <= budget
    assert sum(len(path) == 1 for path in paths) <= max(1, budget // branching)
    for path in paths:
        assert sum(path == longer[:-1] for longer in paths) <= branching
        assert path[:-1] in [
            (),
            *paths[: paths.index(path)],
        ]  # a path grows from one that was there before
    assert walked == set(ranking.ids[: len(walked)])
    matches = retriever.tfidf.scores([question]).any()
    assert set(ranking.ids) == (set(corpus.row) if matches else set())
    assert (np.diff(ranking.scores) <= 1e-9).all()
    assert [alike.ids for alike in together] == [ranking.ids, other.ids]
    assert not together[0].trace.events
