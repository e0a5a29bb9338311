"""Paths of facts on the six passages: each of the two steps by hand, and what the paths add."""

import numpy as np
import pytest

STORY = "Which river floods the birthplace of the director of the film The Glass Harbour?"


@pytest.fixture
def beams(indexed):
    return indexed("beams", beams=2, longest=2, tried=3)


def test_a_path_goes_on_over_a_common_name(beams) -> None:
    ends = beams.facts.ends.tolist()
    sharing = beams.sharing.toarray() > 0
    for first, of_first in enumerate(ends):
        for second, of_second in enumerate(ends):
            assert sharing[first, second] == bool(set(of_first) & set(of_second))


def test_the_best_paths_are_those_of_a_search_by_hand(beams) -> None:
    [vector] = beams.encoder.encode([STORY], role="query")
    texts = beams.facts.texts
    likeness = beams.fact_vectors @ vector
    sharing = beams.sharing.toarray() > 0
    scored = {}
    for start in np.argsort(-likeness)[:2].tolist():
        scored[start,] = likeness[start]
        others = [fact for fact in np.argsort(-likeness).tolist() if sharing[start, fact]]
        for fact in [fact for fact in others if fact != start][:3]:
            [joined] = beams.encoder.encode([f"{texts[start]}. {texts[fact]}"])
            scored[start, fact] = joined @ vector
    longer = sorted((path for path in scored if len(path) == 2), key=scored.get)[-2:]
    kept = {path for path in scored if len(path) == 1} | set(longer)
    best = sorted(kept, key=lambda path: -scored[path])[:2]

    paths, cosines = beams.best_paths(vector)
    assert paths == best
    assert cosines == pytest.approx([scored[path] for path in best], abs=1e-5)


def test_facts_of_paths_join_those_near_the_query(beams, indexed) -> None:
    [vector] = beams.encoder.encode([STORY], role="query")
    nearest, worth = indexed("hipporag2").telling_facts(vector)
    facts, counts = beams.telling_facts(vector)
    by_fact = dict(zip(facts.tolist(), counts))
    assert all(by_fact[fact] >= value for fact, value in zip(nearest.tolist(), worth))
    paths, _ = beams.best_paths(vector)
    assert set(by_fact) == set(nearest.tolist()).union(*paths)
    assert 0 <= min(counts) and max(counts) == 1
