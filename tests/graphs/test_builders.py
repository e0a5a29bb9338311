"""The builders: by hand where a hand suffices, else against another implementation."""

from pathlib import Path

import pytest
from sklearn.neighbors import NearestNeighbors

from kit.corpus import Corpus, Passage, example
from kit.errors import InputError, Note
from kit.graphs import BUILDERS, build
from kit.text import Encoder


def named_edges(name: str, **settings: object) -> set[frozenset[str]]:
    graph = build(name, example().corpus, **settings)
    ids = [passage.id for passage in graph.corpus.passages]
    return {frozenset({ids[a], ids[b]}) for a, b in graph.to_networkx().edges}


def pairs(*names: str) -> set[frozenset[str]]:
    return {frozenset(name.split("/")) for name in names}


def test_entity_by_hand() -> None:
    strict = pairs("harbour/moravec", "moravec/quay", "quay/oll", "moravec-later/novel")
    assert named_edges("entity", prior=0.6) == strict
    # The title of the film is also the novel's, each meaning has half of 1 − log 2 / log 64 = 5/6.
    assert named_edges("entity", prior=0.42) == strict
    assert named_edges("entity", prior=0.41) == strict | pairs("harbour/novel")
    # Without specificity it has ½.
    assert named_edges("entity", prior=0.5, specificity=False) == strict | pairs("harbour/novel")
    assert named_edges("entity", prior=0.51, specificity=False) == strict


def test_frequent_names_join_passages_without_specificity_alone() -> None:
    """As TAGME's graph has it: a name in a quarter of the passages joins them all."""
    passages = [Passage(str(n), f"Page {n}", "By the Oll.", str(n)) for n in range(25)]
    passages += [Passage(str(n), f"Page {n}", "Nothing.", str(n)) for n in range(25, 100)]
    corpus = Corpus(passages)
    with pytest.warns(Note, match="no two of 100 passages mention the same name"):
        assert build("entity", corpus).n_edges == 0
    assert build("entity", corpus, specificity=False).n_edges == 25 * 24 // 2


def test_entities_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "entities.tsv"
    file.write_text("quay\tOll\tOll\nnovel\tthe river\tOll\nharbour\tOll\tPoll\n", "utf-8")
    assert named_edges("entity", annotations=str(file)) == pairs("quay/novel")


def test_tfidf_by_hand() -> None:
    titles = pairs("harbour/moravec", "moravec/quay", "quay/oll", "harbour/novel")
    assert named_edges("tfidf", n_keywords=0) == titles
    # With every term of two passages a keyword, the prize joins two more, and so does each common
    # word.
    assert named_edges("tfidf", n_keywords=100) == titles | pairs("moravec-later/novel")
    # Without titles: no keyword, no edge.
    assert named_edges("tfidf", n_keywords=0, titles=False) == set()
    assert pairs("moravec-later/novel") < named_edges("tfidf", n_keywords=100, titles=False)


def test_structure_joins_neighbours_in_a_document() -> None:
    corpus = Corpus(
        Passage(f"{d}{n}", d, "", d, n)
        for d, size in (("a", 4), ("b", 1), ("c", 2))
        for n in range(size)
    )
    edges = {tuple(edge) for edge in build("structure", corpus).edges("structure").T.tolist()}
    assert edges == {(0, 1), (1, 2), (2, 3), (5, 6), (1, 0), (2, 1), (3, 2), (6, 5)}
    assert build("structure", corpus, reach=3).neighbours(0).tolist() == [1, 2, 3]
    shuffled = Corpus(
        Passage(f"a{n}", "a", "", "a", n) for n in (2, 0, 1)
    )  # positions count, not rows
    assert build("structure", shuffled).neighbours(0).tolist() == [2]


def test_knn_agrees_with_scikit_learn() -> None:
    corpus = example().corpus
    vectors = Encoder().encode([passage.full_text for passage in corpus.passages])
    _, expected = NearestNeighbors(n_neighbors=3, metric="cosine").fit(vectors).kneighbors()
    graph = build("knn", corpus, k=3)
    for row in range(len(corpus)):
        assert graph.neighbours(row).tolist() == sorted(expected[row].tolist())


def test_knn_with_equal_passages_and_few() -> None:
    same = Corpus(Passage(str(n), "t", "the same text", str(n)) for n in range(5))
    assert [len(build("knn", same, k=2).neighbours(row)) for row in range(5)] == [2] * 5
    assert build("knn", same.subset([0, 1]), k=4).neighbours(0).tolist() == [1]
    assert build("knn", same.subset([0]), k=4).n_edges == 0


@pytest.mark.parametrize("name", BUILDERS)
def test_no_passages(name: str) -> None:
    assert build(name, Corpus([])).n_edges == 0


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        (
            "taggme",
            {},
            "no graph builder 'taggme'; known are .* and tfidf, knn, entity, structure$",
        ),
        ("entty+knn", {}, "no graph builder 'entty'; .*; did you mean 'entity'?"),
        (
            "entity",
            {"pror": 1},
            "has no setting 'pror'; it has annotations, prior, .*; did you mean 'prior'?",
        ),
        ("entity+", {}, "no graph builder ''"),
        ("entity", {"k": 3}, "the graph builder entity has no setting 'k'; it has .*prior"),
        ("knn", {"k": "many"}, "field k: expected a whole number from 1, not 'many'"),
        ("entity+knn", {"prior": 2.0}, "field prior: expected a number from 0 to 1, not 2.0"),
    ],
)
def test_bad_names_and_settings_are_one_plain_line(
    name: str, settings: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        build(name, example().corpus, **settings)
