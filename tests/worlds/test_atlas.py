"""The atlas: the committed files, what its questions promise, and what holds for any seed."""

import dataclasses
import re
from collections import Counter, defaultdict

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kit import paths
from kit.corpus import Question, load
from kit.errors import InputError
from kit.views.names import name_of
from kit.worlds import generated
from kit.worlds.atlas import Atlas, build, write
from kit.worlds.atlas.phrasings import RELATIONS
from kit.worlds.atlas.questions import called, leaks, mentions
from kit.worlds.atlas.solver import solve
from kit.worlds.atlas.statistics import beside_real, statistics
from kit.worlds.atlas.wording import text_of
from kit.worlds.atlas.world import Entity

SPLITS = ("train", "dev", "test")
KINDS = (
    "single-chain single-hop",
    "single-chain multi-hop",
    "multi-chain single-hop",
    "multi-chain multi-hop",
)
STRUCTURES = {1: KINDS[:1], 2: KINDS[1:3], 3: KINDS[1:], 4: KINDS[1:]}


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return build(0, "class")


def questions(atlas: Atlas) -> list[Question]:
    return [question for split in SPLITS for question in getattr(atlas.benchmark, split)]


def check_promises(atlas: Atlas) -> None:
    """One answer to each question, named nowhere in it; its evidence is of its split alone."""
    corpus = atlas.benchmark.corpus
    assert all(fact.passage in corpus for fact in atlas.world.facts)
    assert max(Counter(entity.title for entity in atlas.world.entities).values()) == 1
    for question in questions(atlas):
        draft = atlas.drafts[question.id]
        answer = solve(atlas.world, draft.expression)
        assert text_of(answer) == question.answer and not leaks(draft, answer), question.text
        assert question.hops == question.evidence.n_nodes == len(question.supporting_ids)
    documents = []
    for split in SPLITS:
        supporting = [question.supporting_ids for question in getattr(atlas.benchmark, split)]
        documents.append({corpus[passage_id].document for ids in supporting for passage_id in ids})
    train, dev, test = documents
    assert not train & test and not dev & test and not train & dev


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_any_seed_keeps_the_promises(seed):
    atlas = build(seed, 755, train=36, dev=36, test=36)
    assert [len(getattr(atlas.benchmark, split)) for split in SPLITS] == [36, 36, 36]
    check_promises(atlas)


def test_committed_files_are_what_the_generator_writes_and_keep_the_promises(atlas, tmp_path):
    written = write(atlas.benchmark, tmp_path)
    assert sorted(path.stem for path in written) == ["dev", "passages", "test", "train"]
    for path in written:
        assert path.read_bytes() == (paths.ATLAS / path.name).read_bytes(), path.name
    check_promises(atlas)


def test_sizes_and_seeds(atlas):
    corpus = atlas.benchmark.corpus
    assert (len(corpus), len(corpus.documents)) == (
        pytest.approx(2000, rel=0.1),
        pytest.approx(1800, rel=0.1),
    )
    assert [len(getattr(atlas.benchmark, split)) for split in SPLITS] == [600, 200, 500]
    for size, message in (("huge", "class, large"), (450, "more countries")):
        with pytest.raises(InputError, match=message):
            generated("atlas", size=size, train=5000, dev=10, test=10)
    hashes = [
        generated("atlas", seed=seed, size=600, train=40, dev=20, test=40).hash
        for seed in (3, 3, 4)
    ]
    assert hashes[0] == hashes[1] != hashes[2]


def test_passages_stand_by_themselves_in_order_under_a_title_of_their_own(atlas):
    corpus = atlas.benchmark.corpus
    names = {entity.title: entity.name for entity in atlas.world.entities}
    for passage in corpus.passages:
        assert 9 <= len(passage.text.split()) <= 240, passage.text
        assert re.search(r"[{}\[\]<>|]|\(n\)|  ", passage.text) is None, passage.text
        assert passage.text[0].isupper() and passage.text.endswith(".")
        assert names[passage.title].lower() in passage.text.lower().split(". ")[0], passage.text
    for rows in corpus.documents.values():
        passages = [corpus.passages[row] for row in rows]
        assert len(passages) <= 2
        assert [passage.position for passage in passages] == list(range(len(passages)))
        assert len({passage.title for passage in passages}) == 1


def test_articles_tell_namesakes_apart_tell_aliases_and_keep_to_their_subjects_gender(atlas):
    texts = defaultdict(str)
    for passage in atlas.benchmark.corpus.passages:
        texts[passage.title] += f" {passage.text}"
    people = [entity for entity in atlas.world.entities if entity.kind == "person"]
    names = Counter(person.name for person in people)
    shared = {name for name, count in names.items() if count > 1}
    assert len(shared) >= 5
    wrong = {
        "men": r"\b(she|her|herself|daughter of an?)\b",
        "women": r"\b(he|him|his|himself|son of an?)\b",
    }
    for person in people:
        told_apart = f"{person.name} ({person.job})"
        assert person.title == (told_apart if person.name in shared else person.name)
        assert not re.search(wrong[person.gender], texts[person.title], re.IGNORECASE), person.title
    others = [entity for entity in atlas.world.entities if entity.aliases]
    assert len(others) > 50
    for entity in others:
        assert all(alias in texts[entity.title] for alias in entity.aliases)


@pytest.mark.parametrize("split", SPLITS)
def test_every_hop_structure_and_type_is_well_represented(atlas, split):
    made = getattr(atlas.benchmark, split)
    assert len({question.text for question in made}) == len(made)
    for field, most, share in (("hops", 4, 0.09), ("structure", 4, 0.09), ("type", 5, 0.09)):
        counts = Counter(getattr(question, field) for question in made)
        assert len(counts) == most and min(counts.values()) >= share * len(made)
    cells = Counter((question.hops, question.structure) for question in made)
    assert set(cells) == {
        (hops, structure) for hops, allowed in STRUCTURES.items() for structure in allowed
    }
    assert min(cells.values()) >= 0.015 * len(made)
    answers = Counter(question.answer for question in made if question.type == "boolean")
    assert set(answers) == {"yes", "no"} and min(answers.values()) >= 0.3 * answers.total()


def test_a_question_that_names_a_bridge_is_noticed(atlas):
    question = next(
        question
        for question in atlas.benchmark.test
        if question.type == "query" and question.structure == "single-chain multi-hop"
    )
    draft = atlas.drafts[question.id]
    answer = solve(atlas.world, draft.expression)
    bridge = next(entity for entity in draft.hidden if entity is not answer)
    assert not leaks(draft, answer)
    telling = f"{draft.text} Not {called(bridge)[0].upper()}."
    assert leaks(dataclasses.replace(draft, text=telling), answer)


def test_supports_state_their_facts_in_the_order_of_the_triples(atlas):
    corpus = atlas.benchmark.corpus
    labels = {relation.label for relation in RELATIONS.values()}
    for question in questions(atlas):
        facts = atlas.drafts[question.id].supports
        supports = zip(facts, question.triples, question.supporting_ids)
        for fact, (subject, label, _), passage_id in supports:
            passage = corpus[passage_id]
            is_entity = isinstance(fact.object, Entity)
            surfaces = fact.object.surfaces if is_entity else (fact.object.text,)
            is_stated = any(mentions(passage.text, surface) for surface in surfaces)
            assert is_stated, (question.text, passage.text)
            assert label in labels and passage.title.startswith((f"The {subject}", subject))


def test_decompositions_chain(atlas):
    check_decompositions(atlas)


def check_decompositions(atlas: Atlas) -> None:
    for question in questions(atlas):
        steps = question.decomposition
        supports = [step.support for step in steps if step.support is not None]
        assert supports == list(range(question.hops))
        for index, step in enumerate(steps):
            named = {int(digits) - 1 for digits in re.findall(r"#(\d+)", step.text)}
            assert named == set(step.depends_on) and all(before < index for before in named)
            edges = {(steps[before].support, step.support) for before in named}
            assert step.support is None or edges <= set(question.evidence.edges)
        assert steps[-1].answer == question.answer


def test_a_fact_is_stated_in_one_passage_only(atlas):
    """No other passage of an article names the object of a fact.

    Unless another of its facts has that object.
    """
    passages = defaultdict(list)
    for passage in atlas.benchmark.corpus.passages:
        passages[passage.title].append(passage)
    for fact in atlas.world.facts:
        if not isinstance(fact.object, Entity):
            continue
        facts = atlas.world.about[fact.subject.id]
        for passage in passages[fact.subject.title]:
            others = [other.object for other in facts if other.passage == passage.id]
            if passage.id != fact.passage and fact.object not in others:
                expected = [fact.subject.title]
                for other in others:
                    expected += other.surfaces if isinstance(other, Entity) else ()
                stray = [name for name in fact.object.surfaces if mentions(passage.text, name)]
                assert all(name in " ".join(expected) for name in stray), passage.text


def test_it_is_like_the_real_sets_by_the_statistics_of_the_readme():
    table = beside_real(statistics(load(), "train"))
    assert len(table) >= 35 and table["value"].notna().all()
    assert table["agrees"].all(), table[~table["agrees"]].to_string()


def test_the_readme_has_the_order_of_methods_beside_the_real_sets(committed_figures):
    sets = {
        "atlas": "atlas",
        "2Wiki": "2wikimultihopqa-dev",
        "MuSiQue": "musique-dev",
        "HotpotQA": "hotpotqa-dev",
    }
    columns = {}
    for name, folder in sets.items():
        file = committed_figures / folder / "18_gains.csv"
        columns[name] = pd.read_csv(file, index_col=0)["difference"]
    gains = pd.DataFrame(columns).loc[columns["atlas"].index]
    rows = []
    for method, of_sets in gains.iterrows():
        cells = [f"{100 * gain:+.1f}" for gain in of_sets]
        rows.append(f"| {name_of(method)} | {' | '.join(cells)} |")
    alike = gains.corr("spearman")["atlas"]
    cells = [f"{rank_correlation:+.2f}" for rank_correlation in alike.iloc[1:]]
    rows.append(f"| rank correlation with the atlas | – | {' | '.join(cells)} |")
    table = "\n".join(rows)
    assert table in (paths.ROOT / "data" / "atlas" / "README.md").read_text("utf-8"), table
