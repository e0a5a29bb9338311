"""The atlas: the committed files, what its questions promise, and what holds for any seed."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from kit_data_atlas import Atlas, build, write
from kit_data_atlas.evidence import text_of
from kit_data_atlas.phrasings import RELATIONS
from kit_data_atlas.questions import called, leaks, mentions
from kit_data_atlas.solver import solve
from kit_data_atlas.world import Entity, Literal

from kit import paths
from kit.corpus import Benchmark, Question, generated
from kit.errors import InputError

SPLITS = ("train", "dev", "test")
KINDS = ("single-chain single-hop", "single-chain multi-hop", "multi-chain single-hop", "multi-chain multi-hop")
STRUCTURES = {1: KINDS[:1], 2: KINDS[1:3], 3: KINDS[1:], 4: KINDS[1:]}


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return build(0, "class")


def questions(benchmark: Benchmark) -> list[Question]:
    return [*benchmark.train, *benchmark.dev, *benchmark.test]


def answer(atlas: Atlas, question: Question) -> str:
    found = solve(atlas.world, atlas.drafts[question.id].expression)
    return found if isinstance(found, str) else text_of(found)


def supporting_documents(benchmark: Benchmark) -> list[set[str]]:
    asked = [getattr(benchmark, split) for split in SPLITS]
    return [{benchmark.corpus[id].document for one in part for id in one.supporting_ids} for part in asked]


def test_committed_files_are_what_the_generator_writes(atlas, tmp_path):
    written = write(atlas.benchmark, tmp_path)
    assert sorted(path.stem for path in written) == ["dev", "passages", "test", "train"]
    for path in written:
        assert path.read_bytes() == (paths.ATLAS / path.name).read_bytes(), path.name


def test_sizes(atlas):
    corpus = atlas.benchmark.corpus
    assert (len(corpus), len(corpus.documents)) == (pytest.approx(2000, rel=0.1), pytest.approx(800, rel=0.1))
    assert [len(getattr(atlas.benchmark, split)) for split in SPLITS] == [600, 200, 500]
    assert len(generated("atlas", seed=2, size=1000).corpus) == pytest.approx(1000, rel=0.1)
    with pytest.raises(InputError, match="class, large"):
        generated("atlas", size="huge")
    with pytest.raises(InputError, match="more countries"):
        generated("atlas", size=450, train=5000, dev=10, test=10)


def test_seeds_differ_and_repeat():
    hashes = [generated("atlas", seed=seed, size=600, train=40, dev=20, test=40).hash for seed in (3, 3, 4)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_documents_are_readable_paragraphs_in_order_under_a_title_of_their_own(atlas):
    corpus = atlas.benchmark.corpus
    for passage in corpus.passages:
        assert 45 <= len(passage.text.split()) <= 125, passage.text
        assert re.search(r"[{}\[\]<>|]|\(n\)|  ", passage.text) is None, passage.text
        assert (passage.text[0].isupper() or passage.text[0].isdigit()) and passage.text.endswith(".")
    for rows in corpus.documents.values():
        assert [corpus.passages[row].position for row in rows] == list(range(len(rows))) and len(rows) <= 5
    titles = {(corpus.passages[row].title, name) for name, rows in corpus.documents.items() for row in rows}
    assert len(titles) == len({title for title, _ in titles}) == len(corpus.documents)


def test_namesakes_are_told_apart_and_films_share_titles_with_novels(atlas):
    people = [entity for entity in atlas.world.entities if entity.kind == "person"]
    shared = {name for name, count in Counter(person.name for person in people).items() if count > 1}
    assert len(shared) >= 5
    for person in people:
        assert person.title == (f"{person.name} ({person.job})" if person.name in shared else person.name)
    titles = {entity.title for entity in atlas.world.entities}
    assert sum(title.endswith(" (film)") and title.replace("(film)", "(novel)") in titles for title in titles) >= 5


def test_articles_tell_aliases_others_use_them_and_keep_to_their_subjects_gender(atlas):
    passages, texts = atlas.benchmark.corpus.passages, {}
    for passage in passages:
        texts[passage.title] = f"{texts.get(passage.title, '')} {passage.text}"
    other = [entity for entity in atlas.world.entities if entity.aliases]
    assert len(other) > 50 and all(alias in texts[entity.title] for entity in other for alias in entity.aliases)
    everything = " ".join(texts.values())
    assert sum(everything.count(entity.aliases[0]) > 1 for entity in other) > 20
    wrong = {"men": r"\b(she|her|herself|daughter of an?)\b", "women": r"\b(he|him|his|himself|son of an?)\b"}
    for entity in atlas.world.entities:
        if entity.kind == "person":
            assert not re.search(wrong[entity.gender], texts[entity.title], re.IGNORECASE), entity.title


@pytest.mark.parametrize("split", SPLITS)
def test_every_hop_structure_and_type_is_well_represented(atlas, split):
    asked = getattr(atlas.benchmark, split)
    assert len({question.text for question in asked}) == len(asked)
    for field, most, share in (("hops", 4, 0.18), ("structure", 4, 0.15), ("type", 5, 0.12)):
        counts = Counter(getattr(question, field) for question in asked)
        assert len(counts) == most and min(counts.values()) >= share * len(asked)
    cells = Counter((question.hops, question.structure) for question in asked)
    assert set(cells) == {(hops, structure) for hops, allowed in STRUCTURES.items() for structure in allowed}
    assert min(cells.values()) >= 0.04 * len(asked)


def test_yes_and_no_are_both_common(atlas):
    answers = Counter(question.answer for question in questions(atlas.benchmark) if question.type == "boolean")
    assert set(answers) == {"yes", "no"} and min(answers.values()) >= 0.35 * sum(answers.values())


def test_each_question_has_one_answer_and_names_neither_it_nor_a_bridge(atlas):
    for question in questions(atlas.benchmark):
        assert answer(atlas, question) == question.answer, question.text
        draft = atlas.drafts[question.id]
        assert not leaks(draft, solve(atlas.world, draft.expression)), question.text
    question = next(q for q in atlas.benchmark.test if q.type == "query" and q.structure == "single-chain multi-hop")
    draft = atlas.drafts[question.id]
    found = solve(atlas.world, draft.expression)
    bridge = next(entity for entity in draft.hidden if entity is not found)
    assert leaks(type(draft)(**{**vars(draft), "text": f"{draft.text} Not {called(bridge)[0].upper()}."}), found)


def test_no_document_is_evidence_in_two_splits(atlas):
    train, dev, test = supporting_documents(atlas.benchmark)
    assert not train & test and not dev & test and not train & dev


def test_supports_are_distinct_and_state_their_facts_in_the_order_of_the_triples(atlas):
    corpus, labels = atlas.benchmark.corpus, {relation.label for relation in RELATIONS.values()}
    for question in questions(atlas.benchmark):
        assert len(question.supporting_ids) == question.hops == len(question.supporting)
        supports = zip(atlas.drafts[question.id].supports, question.triples, question.supporting_ids)
        for fact, (subject, label, _), id in supports:
            surfaces = fact.object.surfaces if isinstance(fact.object, Entity) else (fact.object.text,)
            assert corpus[id].title == fact.subject.title
            assert any(mentions(corpus[id].text, surface) for surface in surfaces), (question.text, corpus[id].text)
            assert label in labels and corpus[id].title.startswith((f"The {subject}", subject))


def test_a_fact_is_stated_in_one_passage_only(atlas):
    """No other passage of an article names the object of a fact, unless another of its facts has that object."""
    passages = {}
    for passage in atlas.benchmark.corpus.passages:
        passages.setdefault(passage.title, []).append(passage)
    for fact in atlas.world.facts:
        if not isinstance(fact.object, Entity):
            continue
        names = {surface for surface in fact.object.surfaces if not mentions(fact.subject.title, surface)}
        for passage in passages[fact.subject.title]:
            others = [other.object for other in atlas.world.of[fact.subject.id] if other.passage == passage.id]
            entities = [other for other in others if isinstance(other, Entity)]
            if passage.id != fact.passage and fact.object not in entities:
                known = {surface for other in entities for surface in other.surfaces}
                stray = {surface for surface in names if mentions(passage.text, surface)}
                assert not {surface for surface in stray if not any(surface in other for other in known)}, passage.text


def test_decompositions_chain_and_evidence_shares_an_entity(atlas):
    for question in questions(atlas.benchmark):
        steps, draft = question.decomposition, atlas.drafts[question.id]
        assert [step.support for step in steps if step.support is not None] == list(range(question.hops))
        for place, step in enumerate(steps):
            named = {int(number) - 1 for number in re.findall(r"#(\d+)", step.text)}
            assert named == set(step.depends_on) and all(before < place for before in named)
            edges = {(steps[before].support, step.support) for before in named}
            assert step.support is None or edges <= set(question.evidence.edges)
        assert steps[-1].answer == question.answer
        used = {before for step in steps for before in step.depends_on}
        alone = question.type == "query" and question.structure == "multi-chain single-hop"
        assert alone or used == set(range(len(steps) - 1)), question
        facts = [[fact, *(it for it in draft.also if it.passage == fact.passage)] for fact in draft.supports]
        ends = [{id(end) for fact in one for end in (fact.subject, fact.object)} for one in facts]
        assert all(ends[first] & ends[second] for first, second in question.evidence.edges), question.text


def test_a_stated_list_is_counted(atlas):
    """The number that a count question asks for is the number of names in the passage's list."""
    counted = 0
    for question in questions(atlas.benchmark):
        thing = atlas.drafts[question.id].supports[-1].object
        if question.type == "count" and question.decomposition[-1].support is not None and isinstance(thing, Literal):
            if " and " in thing.text:
                assert str(len(re.split(r", | and ", thing.text))) == question.answer
                counted += 1
    assert counted > 20


def test_dates_make_sense(atlas):
    world = atlas.world
    for fact in world.facts:
        subject = fact.subject
        when = world.year(subject, {"film": "year", "book": "year", "company": "founded"}.get(subject.kind, "none"))
        if fact.relation in ("film.director", "book.author", "company.founder", "film.star"):
            born, died = world.year(fact.object, "birth_date"), world.year(fact.object, "death_date")
            assert born + 17 < when and (died is None or when <= died)
        if fact.relation == "film.based_on":
            assert world.year(fact.object, "year") < when
        if fact.relation == "person.death_date":
            assert fact.object.value.year - world.year(subject, "birth_date") > 40
        if fact.relation in ("person.award", "person.spouse", "person.education", "person.employer"):
            year, died = int(fact.qualifiers["year"]), world.year(subject, "death_date")
            assert world.year(subject, "birth_date") + 17 < year and (died is None or year <= died)


def test_every_relation_is_told_and_asked_about_in_several_ways(atlas):
    for name, relation in RELATIONS.items():
        assert len(set(relation.says)) >= 5 and len(set(relation.asks or relation.count)) >= 2, name
    assert {fact.relation for fact in atlas.world.facts} == set(RELATIONS)
    asked = {fact.relation for draft in atlas.drafts.values() for fact in draft.supports}
    assert len(asked) >= 0.95 * len(RELATIONS)


def test_nothing_is_mentioned_everywhere_in_a_large_corpus():
    large = build(1, 40 * 151)
    corpus, countries = large.benchmark.corpus, {it.name for it in large.world.entities if it.kind == "country"}
    words = Counter(word for it in corpus.passages for word in set(re.findall(r"\w+", it.full_text)) & countries)
    assert len(corpus) > 5000 and max(words.values()) < 0.035 * len(corpus)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
@example(1634994)  # two zoologists of one name
def test_any_seed_keeps_the_promises(seed):
    atlas = build(seed, 755, train=36, dev=36, test=36)
    benchmark, corpus = atlas.benchmark, atlas.benchmark.corpus
    assert len(corpus.row) == len(corpus) and all(fact.passage in corpus for fact in atlas.world.facts)
    assert [len(getattr(benchmark, split)) for split in SPLITS] == [36, 36, 36]
    for question in questions(benchmark):
        assert answer(atlas, question) == question.answer
        assert question.hops == question.evidence.n_nodes == len(question.supporting_ids)
    train, dev, test = supporting_documents(benchmark)
    assert not train & dev and not dev & test and not train & test
    assert max(Counter(entity.title for entity in atlas.world.entities).values()) == 1
