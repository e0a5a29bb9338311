"""The atlas as committed: its files, its questions and what they promise."""

from __future__ import annotations

import re
from collections import Counter

import msgspec
import pytest
from kit_data_atlas import Atlas, build, generate, write
from kit_data_atlas.evidence import text_of
from kit_data_atlas.phrasings import RELATIONS
from kit_data_atlas.questions import called, leaks, mentions
from kit_data_atlas.solver import Size, solve
from kit_data_atlas.world import Entity, Literal

from kit import paths
from kit.corpus.types import Benchmark, Question
from kit.errors import InputError

SPLITS = ("train", "dev", "test")
STRUCTURES = {
    1: ["single-chain single-hop"],
    2: ["single-chain multi-hop", "multi-chain single-hop"],
    3: ["single-chain multi-hop", "multi-chain single-hop", "multi-chain multi-hop"],
    4: ["single-chain multi-hop", "multi-chain single-hop", "multi-chain multi-hop"],
}


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return build(0, "class")


def questions(benchmark: Benchmark) -> list[Question]:
    return [*benchmark.train, *benchmark.dev, *benchmark.test]


def test_committed_files_are_what_the_generator_writes(atlas, tmp_path):
    for path in write(atlas.benchmark, tmp_path):
        assert path.read_bytes() == (paths.ATLAS / path.name).read_bytes(), path.name
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "dev.jsonl",
        "passages.jsonl",
        "test.jsonl",
        "train.jsonl",
    ]


def test_written_records_read_back(atlas, tmp_path):
    write(atlas.benchmark, tmp_path)
    lines = (tmp_path / "test.jsonl").read_bytes().splitlines()
    assert tuple(msgspec.json.decode(line, type=Question) for line in lines) == atlas.benchmark.test


def test_size(atlas):
    assert len(atlas.benchmark.corpus) == pytest.approx(2000, rel=0.1)
    assert len(atlas.benchmark.corpus.documents) == pytest.approx(800, rel=0.1)
    assert [len(getattr(atlas.benchmark, split)) for split in SPLITS] == [600, 200, 500]


def test_an_unknown_size_is_bad_input():
    with pytest.raises(InputError, match="class, large"):
        generate(size="huge")


def test_passages_are_readable_paragraphs(atlas):
    for passage in atlas.benchmark.corpus.passages:
        assert 45 <= len(passage.text.split()) <= 125, passage.text
        assert re.search(r"[{}\[\]<>|]|\(n\)|  ", passage.text) is None, passage.text
        assert passage.text[0].isupper() or passage.text[0].isdigit()
        assert passage.text.endswith(".")


def test_documents_have_one_to_five_passages_in_order(atlas):
    corpus = atlas.benchmark.corpus
    for rows in corpus.documents.values():
        assert [corpus.passages[row].position for row in rows] == list(range(len(rows)))
        assert 1 <= len(rows) <= 5
        assert len({corpus.passages[row].title for row in rows}) == 1


def test_no_two_documents_share_a_title(atlas):
    corpus = atlas.benchmark.corpus
    titles = [corpus.passages[rows[0]].title for rows in corpus.documents.values()]
    assert len(titles) == len(set(titles))


def test_namesakes_are_told_apart_by_profession(atlas):
    people = [entity for entity in atlas.world.entities if entity.kind == "person"]
    shared = {name for name, count in Counter(person.name for person in people).items() if count > 1}
    assert len(shared) >= 5
    for person in people:
        assert person.title == (f"{person.name} ({person.job})" if person.name in shared else person.name)


def test_films_share_titles_with_the_books_they_adapt(atlas):
    titles = {entity.title for entity in atlas.world.entities}
    assert sum(title.endswith(" (film)") and title.replace("(film)", "(novel)") in titles for title in titles) >= 5


@pytest.mark.parametrize("split", SPLITS)
def test_every_hop_structure_and_type_is_well_represented(atlas, split):
    asked = getattr(atlas.benchmark, split)
    hops = Counter(question.hops for question in asked)
    assert set(hops) == {1, 2, 3, 4} and min(hops.values()) >= 0.18 * len(asked)
    structures = Counter(question.structure for question in asked)
    assert len(structures) == 4 and min(structures.values()) >= 0.15 * len(asked)
    types = Counter(question.type for question in asked)
    assert set(types) == {"query", "comparison", "count", "boolean", "qualifier"}
    assert min(types.values()) >= 0.12 * len(asked)
    cells = Counter((question.hops, question.structure) for question in asked)
    for hop, allowed in STRUCTURES.items():
        for structure in allowed:
            assert cells.pop((hop, structure)) >= 0.04 * len(asked)
    assert not cells


def test_yes_and_no_are_both_common(atlas):
    answers = Counter(question.answer for question in questions(atlas.benchmark) if question.type == "boolean")
    assert set(answers) == {"yes", "no"} and min(answers.values()) >= 0.35 * sum(answers.values())


def test_question_texts_and_ids_are_unique(atlas):
    asked = questions(atlas.benchmark)
    assert len({question.id for question in asked}) == len(asked)
    for split in SPLITS:
        texts = [question.text for question in getattr(atlas.benchmark, split)]
        assert len(texts) == len(set(texts))


def test_the_solver_finds_exactly_the_answer(atlas):
    for question in questions(atlas.benchmark):
        answer = solve(atlas.world, atlas.drafts[question.id].expression)
        if isinstance(answer, Entity):
            answer = text_of(answer)
        elif isinstance(answer, Literal):
            answer = answer.text
        assert answer == question.answer, question.text


def test_questions_name_neither_answers_nor_bridges(atlas):
    for question in questions(atlas.benchmark):
        draft = atlas.drafts[question.id]
        assert not leaks(draft, solve(atlas.world, draft.expression)), question.text
        for step in question.decomposition[:-1]:
            if len(question.evidence.edges) and step.answer in {entity.name for entity in draft.hidden}:
                assert not mentions(question.text, step.answer), question.text


def test_a_leak_is_noticed(atlas):
    question = next(q for q in atlas.benchmark.test if q.type == "query" and q.structure == "single-chain multi-hop")
    draft = atlas.drafts[question.id]
    answer = solve(atlas.world, draft.expression)
    bridge = next(entity for entity in draft.hidden if entity is not answer)
    draft = type(draft)(**{**vars(draft), "text": f"{draft.text} Not {called(bridge)[0].upper()}."})
    assert leaks(draft, answer)


def test_no_document_is_evidence_in_two_splits(atlas):
    corpus = atlas.benchmark.corpus
    evidence = {
        split: {corpus[id].document for question in getattr(atlas.benchmark, split) for id in question.supporting_ids}
        for split in SPLITS
    }
    assert not evidence["train"] & evidence["test"]
    assert not evidence["dev"] & evidence["test"]
    assert not evidence["train"] & evidence["dev"]


def test_supports_are_distinct_and_state_their_facts(atlas):
    corpus = atlas.benchmark.corpus
    for question in questions(atlas.benchmark):
        assert len(question.supporting_ids) == question.hops == len(question.supporting)
        draft = atlas.drafts[question.id]
        for fact, (id,) in zip(draft.supports, question.supporting):
            surfaces = fact.object.surfaces if isinstance(fact.object, Entity) else (fact.object.text,)
            assert corpus[id].title == fact.subject.title
            assert any(mentions(corpus[id].text, surface) for surface in surfaces), (question.text, corpus[id].text)


def test_a_fact_is_stated_in_one_passage_only(atlas):
    """No other passage of an article names the object of a fact, unless another of its facts has that object."""
    corpus, passages = atlas.benchmark.corpus, {}
    for passage in corpus.passages:
        passages.setdefault(passage.title, []).append(passage)
    for fact in atlas.world.facts:
        if not isinstance(fact.object, Entity):
            continue
        named = {surface for surface in fact.object.surfaces if not mentions(fact.subject.title, surface)}
        for passage in passages[fact.subject.title]:
            others = [other.object for other in atlas.world.of[fact.subject.id] if other.passage == passage.id]
            entities = [other for other in others if isinstance(other, Entity)]
            if passage.id != fact.passage and fact.object not in entities:
                known = {surface for other in entities for surface in other.surfaces}
                stray = {surface for surface in named if mentions(passage.text, surface)}
                assert not {surface for surface in stray if not any(surface in other for other in known)}, passage.text


def test_decompositions_chain(atlas):
    for question in questions(atlas.benchmark):
        supports = [step.support for step in question.decomposition if step.support is not None]
        assert supports == list(range(question.hops))
        for place, step in enumerate(question.decomposition):
            named = {int(number) - 1 for number in re.findall(r"#(\d+)", step.text)}
            assert named == set(step.depends_on) and all(before < place for before in named)
            edges = {(question.decomposition[before].support, step.support) for before in named}
            assert step.support is None or edges <= set(question.evidence.edges)
        assert question.decomposition[-1].answer == question.answer
        used = {before for step in question.decomposition for before in step.depends_on}
        alone = question.type == "query" and question.structure == "multi-chain single-hop"
        assert alone or used == set(range(len(question.decomposition) - 1)), question


def test_evidence_links_by_names(atlas):
    """Where one support is read in the light of another, they share an entity that graph methods can walk along."""
    for question in questions(atlas.benchmark):
        facts = [[fact] for fact in atlas.drafts[question.id].supports]
        for fact in atlas.drafts[question.id].also:
            next(one for one in facts if one[0].passage == fact.passage).append(fact)
        for first, second in question.evidence.edges:
            ends = [
                {id(end) for fact in facts[node] for end in (fact.subject, fact.object)} for node in (first, second)
            ]
            assert ends[0] & ends[1], question.text


def test_triples_are_in_the_order_of_the_supports(atlas):
    labels = {relation.label for relation in RELATIONS.values()}
    for question in questions(atlas.benchmark):
        assert len(question.triples) >= question.hops
        for (subject, label, _), (id,) in zip(question.triples, question.supporting):
            title = atlas.benchmark.corpus[id].title
            assert label in labels and title.startswith(("The " + subject, subject))


def test_a_stated_list_is_counted(atlas):
    """The number that a count question asks for is the number of names in the passage's list."""
    counted = 0
    for question in questions(atlas.benchmark):
        draft = atlas.drafts[question.id]
        fact = draft.supports[-1]
        if isinstance(draft.expression, Size) and isinstance(fact.object, Literal) and " and " in fact.object.text:
            names = re.split(r", | and ", fact.object.text)
            assert str(len(names)) == question.answer
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


def test_at_least_five_phrasings_a_relation():
    for name, relation in RELATIONS.items():
        assert len(set(relation.says)) >= 5, name
        asked = relation.asks or relation.count
        assert len(set(asked)) >= 2, name


def test_relations_are_all_told_and_asked_about(atlas):
    assert {fact.relation for fact in atlas.world.facts} == set(RELATIONS)
    asked = {fact.relation for draft in atlas.drafts.values() for fact in draft.supports}
    assert len(asked) >= 0.95 * len(RELATIONS)


def test_seeds_differ_and_repeat():
    size = {"size": 600, "train": 40, "dev": 20, "test": 40}
    assert generate(3, **size).hash == generate(3, **size).hash != generate(4, **size).hash


def test_nothing_is_mentioned_everywhere_in_a_large_corpus():
    atlas = build(1, 70 * 151)
    corpus = atlas.benchmark.corpus
    assert len(corpus) > 9000 and not atlas.benchmark.test
    countries = {entity.name for entity in atlas.world.entities if entity.kind == "country"}
    words = Counter(word for p in corpus.passages for word in set(re.findall(r"\w+", p.full_text)) & countries)
    assert max(words.values()) < 0.02 * len(corpus)


def test_too_few_countries_for_the_questions_is_bad_input():
    with pytest.raises(InputError, match="more countries"):
        generate(0, 450, train=5000, dev=10, test=10)


def test_a_corpus_of_about_so_many_passages():
    assert len(generate(2, 1000).corpus) == pytest.approx(1000, rel=0.1)


def test_aliases_are_told_and_used(atlas):
    """An article gives its subject's other name, and other articles use it."""
    texts = {}
    for passage in atlas.benchmark.corpus.passages:
        texts[passage.title] = f"{texts.get(passage.title, '')} {passage.text}"
    other = [entity for entity in atlas.world.entities if entity.aliases]
    assert len(other) > 50
    assert all(alias in texts[entity.title] for entity in other for alias in entity.aliases)
    everything = " ".join(text for text in texts.values())
    assert sum(everything.count(entity.aliases[0]) > 1 for entity in other) > 20


def test_articles_keep_to_the_gender_of_their_subject(atlas):
    wrong = {"men": r"\b(she|her|herself|daughter of an?)\b", "women": r"\b(he|him|his|himself|son of an?)\b"}
    genders = {entity.title: entity.gender for entity in atlas.world.entities if entity.kind == "person"}
    for passage in atlas.benchmark.corpus.passages:
        gender = genders.get(passage.title)
        assert not gender or not re.search(wrong[gender], passage.text, re.IGNORECASE), passage.text
