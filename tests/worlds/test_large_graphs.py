"""Questions of 5 to 10 facts over the atlas's passages."""

import networkx as nx
import pytest

from kit.corpus import load
from kit.corpus.facts import single_facts
from kit.worlds.atlas import Atlas, build
from kit.worlds.atlas.solver import below_among, named, solve, subject_of
from kit.worlds.atlas.world import World, year
from kit.worlds.evidence_graphs import evidence_table
from tests.worlds.test_atlas import check_decompositions, check_promises, questions


@pytest.fixture(scope="module")
def large() -> Atlas:
    return build(large_graphs=True)


def test_they_keep_the_promises_over_the_passages_of_the_atlas(large):
    check_promises(large)
    check_decompositions(large)
    atlas = load()
    assert {passage.id: passage for passage in large.benchmark.corpus.passages} == {
        passage.id: passage for passage in atlas.corpus.passages
    }
    for split in ("train", "dev", "test"):
        documents = [
            {
                benchmark.corpus[passage_id].document
                for question in getattr(benchmark, split)
                for passage_id in question.supporting_ids
            }
            for benchmark in (atlas, large.benchmark)
        ]
        others = [
            atlas.corpus[passage_id].document
            for other in {"train", "dev", "test"} - {split}
            for question in getattr(atlas, other)
            for passage_id in question.supporting_ids
        ]
        assert documents[0] & documents[1] and documents[1].isdisjoint(others)


def test_their_graphs_are_of_the_size_of_the_papers(large):
    assert [len(split) for split in large.benchmark.splits.values()] == [600, 200, 300]
    assert {question.hops for question in questions(large)} == {5, 6, 7, 8, 9, 10}
    table = evidence_table(large.benchmark)
    assert table.loc["all", "shapes"] >= 50 and table.loc["test", "edges"] > 5.3
    for question in questions(large):
        graph = question.evidence.rooted
        assert nx.is_directed_acyclic_graph(graph)
        assert nx.descendants(graph, -1) == set(range(question.hops))


def test_each_is_asked_of_25_facts(large):
    benchmark = single_facts(large.benchmark)
    for question in benchmark.test:
        rows = benchmark.collections[question.id]
        assert len(set(rows.tolist())) == 25
        assert {benchmark.corpus.row[fact] for fact in question.supporting_ids} <= set(
            rows.tolist()
        )


def test_a_count_over_a_set_is_solved_from_the_set():
    """Two of Ann's three films came out before 1945."""
    world = World()
    world.families.append([])
    ann = world.entity("person", "Ann", 0)
    for title, released in (("One", 1930), ("Two", 1940), ("Three", 1950)):
        film = world.entity("film", title, 0)
        world.add(film, "director", ann)
        world.add(film, "year", year(released))
    films = subject_of("film.director", named(ann))
    assert solve(world, below_among("film.year", films, 1945)) == "2"
