"""Whole articles: the same questions, passages of at most 200 tokens, carriers that say it all."""

import re
from collections import Counter
from random import Random

import pytest
from click.testing import CliRunner

from kit.corpus import Benchmark, load
from kit.corpus.prose.cutting import n_tokens
from kit.worlds.atlas import Atlas, build, generate, main
from kit.worlds.atlas.generate import SIZES, Size
from kit.worlds.atlas.long_articles import LongArticles, in_long_articles


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return build(3, 250, train=20, dev=10, test=40)


@pytest.fixture(scope="module")
def long(atlas: Atlas) -> Benchmark:
    return in_long_articles(*atlas, Random("articles 3"))


def test_documents_have_ten_to_forty_passages_of_at_most_200_tokens(atlas, long):
    sizes = {name: len(rows) for name, rows in long.corpus.documents.items()}
    assert len(sizes) == len(atlas.world.entities)
    assert 10 <= min(sizes.values()) and 30 <= max(sizes.values()) <= 40
    tokens = [n_tokens(passage.text) for passage in long.corpus]
    assert max(tokens) <= 200 and 90 < sum(tokens) / len(tokens)
    assert max(Counter(passage.text for passage in long.corpus).values()) == 1
    for rows in long.corpus.documents.values():
        passages = [long.corpus.passages[row] for row in rows]
        assert [passage.position for passage in passages] == list(range(len(passages)))
        assert len({passage.title for passage in passages}) == 1


def test_the_same_questions_are_asked(atlas, long):
    for split, questions in atlas.benchmark.splits.items():
        same = getattr(long, split)
        assert [question.text for question in same] == [question.text for question in questions]
        assert [question.evidence for question in same] == [
            question.evidence for question in questions
        ]


def test_the_first_carrier_is_in_the_facts_own_article_and_has_its_sentence(atlas, long):
    several = 0
    for question in long.test:
        facts = atlas.drafts[question.id].supports
        for carriers, sentence, fact in zip(
            question.supporting, question.facts, facts, strict=True
        ):
            first = long.corpus[carriers[0]]
            assert sentence in first.text and first.document == f"a{fact.subject.id:05d}"
            assert len(set(carriers)) == len(carriers)
            several += len(carriers) > 1
    assert several > 20


def test_every_carrier_names_both_ends_of_the_fact(atlas, long):
    """That a fact is stated again shows in the names of the two, or the value."""
    for question in long.test:
        for carriers, fact in zip(question.supporting, atlas.drafts[question.id].supports):
            for carrier in carriers[1:]:
                text = long.corpus[carrier].text
                assert fact.subject.name.removeprefix("the ") in text
                target = fact.object
                forms = getattr(target, "surfaces", None) or (target.text,)
                assert any(form.removeprefix("the ") in text for form in forms), text


def test_no_fact_is_stated_in_a_passage_that_does_not_count(atlas):
    """A sentence that names its subject stands only where it counts."""
    world = atlas.world
    articles = LongArticles(world, atlas.benchmark.corpus.passages, Random(1))
    passages = [passage for entity in world.entities[:40] for passage in articles.article(entity)]
    for fact in world.facts:
        if fact.subject.name in fact.sentence:
            holding = {passage.id for passage in passages if fact.sentence in passage.text}
            assert holding <= set(articles.carriers[fact]), fact.sentence


def test_a_document_is_evidence_in_one_split(long):
    documents = []
    for split in ("train", "dev", "test"):
        carriers = [ids for question in getattr(long, split) for ids in question.supporting_ids]
        documents.append({long.corpus[name].document for name in carriers})
    train, dev, test = documents
    assert not train & test and not dev & test and not train & dev


def test_what_is_open_in_a_phrasing_is_said_of_a_thing_in_one_way(long):
    """The flag of a country has one colour in all sections of all articles."""
    flags = set()
    for passage in long.corpus:
        flags.update(re.findall(r"he flag shows a [a-z ]+ ground", passage.text))
    countries = 3
    assert flags and len(flags) <= countries


def test_the_command_writes_a_folder_of_the_kits_own(tmp_path, monkeypatch):
    monkeypatch.setitem(SIZES, "small", Size(3, 10, 5, 20))
    folder = tmp_path / "articles"
    result = CliRunner().invoke(main, [str(folder), "--size", "small", "--articles"])
    assert result.exit_code == 0 and "20 test questions" in result.output
    benchmark = load(folder, setting="per-question")
    assert benchmark.corpus.hash == generate(0, "small", articles=True).corpus.hash
    pool = benchmark.collection(benchmark.test[0])
    assert len(pool.documents) == 12 and len(pool) >= 120
