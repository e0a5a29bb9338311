"""Worlds of their own words keep the atlas's promises, and share no wording."""

import re
from random import Random

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kit.corpus import SubQuestion, load
from kit.corpus.facts import single_facts
from kit.corpus.types import Questions
from kit.worlds import generated
from kit.worlds.atlas import build
from kit.worlds.atlas.dialects import dialect, rewrite
from kit.worlds.atlas.phrasings import PLAIN, slots
from kit.worlds.atlas.statistics import templates
from tests.worlds.test_atlas import check_promises, questions

UNFILLED = re.compile(r"[{}\[\]<>|]|\(n\)|  ")


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32), st.booleans())
def test_a_world_of_any_words_keeps_the_promises(seed, crowded):
    atlas = build(
        seed,
        755,
        own_words=True,
        crowded=crowded,
        train=36,
        dev=36,
        test=36,
    )
    check_promises(atlas)
    for passage in atlas.benchmark.corpus.passages:
        assert UNFILLED.search(passage.text) is None, passage.text
    for question in questions(atlas):
        for text in (question.text, *[step.text for step in question.decomposition]):
            assert UNFILLED.search(text) is None, text
    facts = single_facts(atlas.benchmark)  # each support is stated by one sentence
    assert all(len(rows) == 25 for rows in facts.collections.values())


def test_rewriting_keeps_slots_and_pools():
    text = "{S} was founded by {founded} in the <city> city in {year}"
    texts = {rewrite(Random(seed), text) for seed in range(300)}
    assert len(texts) > 10
    assert all(sorted(slots(text)) == ["S", "founded", "year"] for text in texts)
    assert all("<city>" in text for text in texts)
    assert "in {year} {S} was set up by {founded} in the <city> town" in texts

    rewritten = {rewrite(Random(seed), "Who directed {x}?") for seed in range(300)}
    expected = {"Who directed {x}?", "Tell me who made {x}.", "Name the person who shot {x}."}
    assert expected <= rewritten


def test_every_relation_has_other_words_and_all_its_fields():
    first, second = (dialect(Random(seed)) for seed in (1, 2))
    for name, plain in PLAIN.relations.items():
        for language in (first, second):
            relation = language.relations[name]
            for field in plain.__struct_fields__:
                assert bool(getattr(relation, field)) == bool(getattr(plain, field)), (name, field)
        says = {first.relations[name].says, second.relations[name].says, plain.says}
        assert len(says) == 3


def test_worlds_share_few_titles_and_templates():
    atlas = load()
    worlds = [
        generated(
            "atlas",
            seed=seed,
            size="small",
            own_words=True,
        )
        for seed in (1, 2)
    ]
    titles = [{passage.title for passage in world.corpus.passages} for world in (atlas, *worlds)]
    assert len(titles[0] & titles[1]) < 30 and len(titles[1] & titles[2]) < 10

    templates_of_atlas = set(templates(_steps(atlas.train)))
    same_words = np.mean(
        [template in templates_of_atlas for template in templates(_steps(atlas.test))]
    )
    own_words = np.mean(
        [template in templates_of_atlas for template in templates(_steps(worlds[0].train))]
    )
    assert same_words > 0.7 and own_words < 0.35


def _steps(split: Questions) -> list[SubQuestion]:
    return [step for question in split for step in question.decomposition]


def test_articles_go_with_the_words_that_take_a_place():
    for seed in (1, 2, 3):
        language = dialect(Random(seed))
        texts = []
        for relation in language.relations.values():
            texts += [*relation.says, *relation.asks, *relation.noun, *relation.clause]
        for part in language.parts.values():
            for row in part:
                texts += [*row.opening, *row.filler]
        wrong = re.compile(r"\b(?:a [aeio]|an [^aeiouhLA\[])")
        assert not [text for text in texts if wrong.search(text)]
