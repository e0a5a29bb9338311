"""HippoRAG 2 against networkx, on facts by hand; and where there is no fact."""

import networkx as nx
import numpy as np
import pytest

from kit.corpus import Corpus, Passage, example
from kit.methods.peers.facts import facts_of, synonyms
from kit.text.triples import Extraction, Triple

FILM = Triple("The Glass Harbour", "directed by", "Ines Moravec")
BORN = Triple("ines moravec", "born in", "Selby Quay")
AGAIN = Triple("The glass harbour", "Directed by", "Ines Moravec")
STORY = "Which river floods the birthplace of the director of the film The Glass Harbour?"


def test_facts_and_names_that_fold_alike_are_one() -> None:
    extractions = [Extraction((), (FILM, BORN)), Extraction((), (AGAIN,)), Extraction((), ())]
    facts = facts_of(extractions)
    assert facts.entities == ["The Glass Harbour", "Ines Moravec", "Selby Quay"]
    assert facts.texts == [
        "The Glass Harbour directed by Ines Moravec",
        "ines moravec born in Selby Quay",
    ]
    assert facts.ends.tolist() == [[0, 1], [1, 2]]
    assert facts.related.toarray().tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]  # two passages
    assert facts.contained.toarray().tolist() == [[1, 1, 0], [1, 1, 0], [1, 0, 0]]
    assert facts.stated.toarray().tolist() == [[1, 1, 0], [1, 0, 0]]


def test_names_are_alike_far_above_the_usual_cosine() -> None:
    vectors = np.eye(6, dtype=np.float32)
    vectors[5] = vectors[4]
    alike = synonyms(vectors, 2.0).toarray()
    assert alike[4, 5] == alike[5, 4] == pytest.approx(1)
    assert alike.sum() == pytest.approx(2)
    narrow = np.hstack([np.full((6, 1), 0.7**0.5, np.float32), 0.3**0.5 * vectors])
    assert (synonyms(narrow, 2.0).toarray() > 0).tolist() == (alike > 0).tolist()
    assert synonyms(vectors[:1], 2.0).shape == (1, 1)


def test_scores_are_those_of_networkx(indexed) -> None:
    corpus = example().corpus
    retriever = indexed("hipporag2", facts=2, entities=3)
    ranking = retriever.retrieve(STORY, len(corpus))

    facts = retriever.facts
    query = retriever.encoder.encode([STORY], role="query")[0]
    cosines = retriever.encoder.encode(facts.texts) @ query
    likeness = (cosines - cosines.min()) / (cosines.max() - cosines.min())
    heard = {}
    for fact in np.argsort(-likeness)[:2]:
        for entity in facts.ends[fact]:
            n_passages = facts.contained.toarray()[entity].sum()
            heard.setdefault(int(entity), []).append(likeness[fact] / n_passages)
    means = {entity: np.mean(values) for entity, values in heard.items()}
    restart = dict(sorted(means.items(), key=lambda item: -item[1])[:3])

    texts = [passage.full_text for passage in corpus.passages]
    dense = retriever.encoder.encode(texts) @ query
    first = len(facts.entities)
    for row, value in enumerate((dense - dense.min()) / (dense.max() - dense.min())):
        restart[first + row] = 0.05 * value
    graph = nx.from_scipy_sparse_array(retriever.adjacency)
    expected = nx.pagerank(graph, alpha=0.5, personalization=restart, tol=1e-12, max_iter=1000)
    for passage, score in zip(ranking.ids, ranking.scores):
        assert score == pytest.approx(expected[first + corpus.row[passage]], abs=1e-5)


def test_without_a_fact_it_ranks_by_cosine(indexed) -> None:
    texts = {"a": "nothing here has a name", "b": "rivers flood the plain"}
    corpus = Corpus([Passage(name, "", text, name) for name, text in texts.items()])
    ranked, dense = (indexed(name, corpus) for name in ("hipporag2", "dense"))
    question = "a flooded plain"
    assert ranked.retrieve(question, 2).ids == dense.retrieve(question, 2).ids == ("b", "a")
    assert ranked.retrieve_many([], 5) == []
