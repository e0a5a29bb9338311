"""What holds for an atlas of any seed."""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from kit_data_atlas import build
from kit_data_atlas.evidence import text_of
from kit_data_atlas.generate import share_out
from kit_data_atlas.questions import PLAN, quotas
from kit_data_atlas.solver import solve
from kit_data_atlas.world import Entity

TINY = {"size": 755, "train": 36, "dev": 36, "test": 36}


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
@example(1634994)  # two zoologists of one name
def test_any_seed_keeps_the_promises(seed):
    atlas = build(seed, **TINY)
    benchmark, corpus = atlas.benchmark, atlas.benchmark.corpus
    assert len(corpus.row) == len(corpus)
    assert all(fact.passage in corpus for fact in atlas.world.facts)
    documents = []
    for asked in (benchmark.train, benchmark.dev, benchmark.test):
        assert len(asked) == 36
        documents.append({corpus[id].document for question in asked for id in question.supporting_ids})
        for question in asked:
            answer = solve(atlas.world, atlas.drafts[question.id].expression)
            assert (answer if isinstance(answer, str) else text_of(answer)) == question.answer
            assert question.hops == question.evidence.n_nodes == len(question.supporting_ids)
    assert not documents[0] & documents[1] and not documents[1] & documents[2] and not documents[0] & documents[2]
    titles = Counter(entity.title for entity in atlas.world.entities)
    assert max(titles.values()) == 1
    assert all(isinstance(entity, Entity) and entity.name for entity in atlas.world.entities)


@given(st.integers(0, 5000))
def test_quotas_add_up(total):
    counts = quotas(total)
    assert sum(counts.values()) == total and set(counts) == set(PLAN) and min(counts.values()) >= 0


@given(st.integers(3, 60), st.lists(st.integers(1, 900), min_size=3, max_size=3), st.randoms(use_true_random=False))
def test_families_are_shared_out_whole(families, totals, rng):
    shares = share_out(families, totals, rng)
    assert sorted(family for share in shares for family in share) == list(range(families))
    assert all(shares)
