"""Algorithm 1 by hand on the six passages, what holds of any walk, and the agents' order on the atlas.

The graph of the six passages: harbour – moravec – quay – oll, moravec – moravec-later – novel.
"""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.corpus import Corpus, Passage, Query
from kit.corpus.example import example
from kit.graphs import build
from kit.retrievers import NodeVisit
from kit.retrievers.kgp import AgentInput
from kit.retrievers.mdr import path_text
from kit.text import DEFAULT_ENCODER, Encoder

RIVER = "Which river floods the birthplace of the director of the film The Glass Harbour?"


def visits(ranking) -> list[tuple[int, tuple[str, ...]]]:
    """Round and path of each visit."""
    steps = [step for step in ranking.trace.events if isinstance(step, NodeVisit)]
    return [(step.round, tuple(id for id in (*step.before, step.source, step.passage) if id)) for step in steps]


# ---- by hand


def test_the_queue_goes_breadth_first_and_a_repeated_passage_counts_once(indexed):
    ranking = indexed("kgp-tfidf", budget=6, branching=3, depth=3).explain(RIVER, 6)
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
    # Of the words of the question only quay has one, "river", among the neighbours: its cosine is c, all others are 0.
    # Steps: 0, 0, c, 0, 0 have mean c/5 and deviation 2c/5, so c becomes 2 and 0 becomes −1/2. Seeds become 1 and −1.
    retriever = indexed("kgp-tfidf", budget=6, branching=3, depth=3)
    ranking = retriever.retrieve(RIVER, 6)
    assert ranking.ids == ("harbour", "moravec", "quay", "moravec-later", "novel", "oll")
    oll = retriever.tfidf.scores([RIVER])[0, 4]  # not on the walk: below the lowest path, by TF-IDF
    assert ranking.scores.tolist() == pytest.approx([2.5, 2.5, 2.5, 0, -2, -3 + oll], abs=1e-5)


# ---- agents


def test_the_sentence_encoder_reads_the_question_or_the_path(indexed):
    corpus = example().corpus
    vectors = Encoder(DEFAULT_ENCODER).encode([passage.full_text for passage in corpus.passages])
    asked = AgentInput(Query("", RIVER), (0, 1), np.array([2, 3]))
    for name, text in (("kgp-dense", RIVER), ("kgp-mdr", path_text(RIVER, corpus.passages[:2]))):
        [output] = indexed(name).score([asked])
        f = Encoder(DEFAULT_ENCODER).encode([text], role="query")[0]
        assert output.scores.tolist() == pytest.approx((vectors[2:4] @ f).tolist(), abs=1e-6)


def test_a_variant_walks_another_graph_or_corpus_and_leaves_the_first_as_it_was(indexed):
    corpus = example().corpus
    placed = indexed("kgp-tfidf", budget=6, branching=3)
    # Two passages of one document are all edges of structure, and the seeds, harbour and novel, have none.
    for other in (placed.variant(over=build("structure", corpus)), placed.variant(graph="structure")):
        assert other.explain(RIVER, 6).trace.n_scored == 2 < placed.explain(RIVER, 6).trace.n_scored
    assert placed.variant(corpus=corpus.subset([0, 1])).retrieve(RIVER, 6).ids == ("harbour", "moravec")
    assert len(placed.retrieve(RIVER, 6).ids) == 6 and placed.variant(branching=1).tfidf is placed.tfidf


# ---- what holds of any walk

texts = st.lists(st.sampled_from(["mill", "quay", "ferry", "choir", "lamp"]), min_size=1, max_size=3).map(" ".join)
corpora = st.lists(st.tuples(texts, st.integers(0, 3)), min_size=1, max_size=14).map(
    lambda rows: Corpus(Passage(f"p{i}", "", text, f"d{of}", i) for i, (text, of) in enumerate(rows))
)


@settings(max_examples=60, deadline=None)
@given(corpora, texts, st.integers(1, 4), st.integers(1, 4), st.integers(1, 9), st.sampled_from(["random", "tfidf"]))
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
        assert path[:-1] in [(), *paths[: paths.index(path)]]  # a path grows from one that was there before
    assert walked == set(ranking.ids[: len(walked)])
    assert set(ranking.ids) == set(corpus.row) and (np.diff(ranking.scores) <= 1e-9).all()
    assert [each.ids for each in together] == [ranking.ids, other.ids] and not together[0].trace.events
