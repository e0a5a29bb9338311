"""IIRC: questions on a passage with links, articles in a file of their own, typed answers."""

import json

import pytest

from kit.corpus import check, load, load_corpus
from kit.errors import InputError


def change(path, **fields):
    """Write the first question with other fields."""
    [passage] = json.loads(path.read_bytes())
    passage["questions"][0] |= fields
    path.write_text(json.dumps([passage]))
    return path


def test_the_corpus_is_the_passages_and_the_articles_that_the_questions_need(iirc):
    benchmark = load(iirc)
    assert benchmark.name == "iirc-dev"
    assert {passage.title for passage in benchmark.corpus} == {"Ada Brill", "Lowick", "Grey Ferry"}
    lowick = next(passage for passage in benchmark.corpus if passage.title == "Lowick")
    assert lowick.text.splitlines() == [
        "Lowick lies on the Ode. Its mill burned in 1850.",
        "It was made of oak.",
        "The town has a fair.",
    ]


def test_supports_are_the_passages_with_the_words_of_the_context_its_own_first(iirc):
    benchmark = load(iirc)
    titles = [
        [benchmark.corpus[name].title for name in question.supporting_ids]
        for question in benchmark.test
    ]
    assert titles == [["Ada Brill", "Lowick"], ["Ada Brill", "Lowick"], ["Grey Ferry"]]


def test_answers_of_each_type(iirc):
    first, second, third = load(iirc).test
    assert (first.id, first.type, first.answer) == ("q_1", "span", "the Ode")
    assert (second.type, second.answer, second.aliases) == ("value", "30", ("30 years",))
    assert (third.type, third.answer) == ("binary", "no")
    spans = [{"text": "Ada", "passage": "main"}, {"text": " Tam "}]
    change(iirc, answer={"type": "span", "answer_spans": spans})
    assert load(iirc).test[0].answer == "Ada, Tam"


def test_what_cannot_be_asked_is_left_out_and_told(iirc):
    problems, notes = check(iirc)
    assert not problems
    assert notes == [f"{iirc}, record 1: a question that cannot be answered (type none): left out"]
    for fields, reason in (
        ({"answer": {"type": "bad"}}, "marked as bad"),
        ({"context": []}, "without context"),
        ({"context": [{"text": "Marl.", "passage": "Marlow"}]}, "in no article of context_art"),
        ({"context": [{"text": "Words that are not there.", "passage": "main"}]}, "word for word"),
        ({"context": [{"text": " ", "passage": "main"}]}, "word for word"),
    ):
        problems, notes = check(change(iirc, **fields))
        assert not problems and any(reason in note for note in notes), reason
        assert [question.id for question in load(iirc).test] == ["q_2", "q_3"]
        change(iirc, answer={"type": "binary", "answer_value": "yes"})


def test_a_context_across_two_passages_is_a_support_in_each(iirc):
    years = range(1800, 1840)
    sentences = [f"In {year} the fair was held for the {year - 1700}th time." for year in years]
    articles = iirc.with_name("context_articles.json")
    texts = json.loads(articles.read_bytes())
    articles.write_text(json.dumps(texts | {"lowick": " ".join(sentences)}))
    # Ten words and a full stop: eighteen sentences make a passage of 198 tokens.
    context = [{"text": " ".join(sentences[17:19]), "passage": "Lowick"}]
    change(iirc, context=context)
    benchmark = load(iirc)
    first, second = benchmark.test[0].supporting
    assert [benchmark.corpus[name].position for (name,) in (first, second)] == [0, 1]
    assert benchmark.corpus[first[0]].document == benchmark.corpus[second[0]].document
    assert benchmark.corpus[second[0]].text.startswith(sentences[18])


def test_a_question_of_its_own_passages_has_the_articles_that_its_passage_needs(iirc):
    benchmark = load(iirc, setting="per-question")
    titles = {passage.title for passage in benchmark.collection(benchmark.test[2])}
    assert titles == {"Ada Brill", "Lowick", "Grey Ferry"}


def test_articles_may_lie_in_the_folder_above_and_must_be_there(iirc, problem_of):
    below = iirc.parent / "iirc_train_dev" / "dev.json"
    below.parent.mkdir()
    iirc.rename(below)
    assert len(load(below).test) == 3
    articles = iirc.with_name("context_articles.json")
    articles.write_text('{"lowick": 3}')
    assert problem_of(below) == f"{articles}, field [...]: expected text, got a whole number"
    articles.unlink()
    assert "expected context_articles.json, the articles that it links to" in problem_of(below)


def test_a_question_without_an_id_gets_one_of_its_content(iirc):
    change(iirc, qid="")
    first = load(iirc).test[0].id
    assert first == load(iirc).test[0].id and len(first) == 16


def test_it_is_a_corpus_without_its_questions(iirc):
    assert len(load_corpus([iirc])) == 3
    with pytest.raises(InputError, match="expected at least one record"):
        iirc.write_text("[]")
        load(iirc)
