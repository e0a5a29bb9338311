"""The setting ``facts``: each question over 25 single facts of its own (BGR §4.3)."""

from collections import Counter
from dataclasses import replace

import pytest
from msgspec import UNSET
from msgspec.structs import replace as with_fields

from kit.corpus import (
    Benchmark,
    Corpus,
    EvidenceGraph,
    Passage,
    Question,
    load,
    load_training,
    single_facts,
)
from kit.corpus.facts import N_FACTS
from kit.corpus.sentences import split_sentences
from kit.errors import InputError
from kit.paths import ATLAS

TEXT = "It is {0} metres long. It was built in 19{0:02d}."
PASSAGES = [Passage(f"p{i}", f"Bridge {i}", TEXT.format(i), f"p{i}") for i in range(40)]
QUESTION = Question(
    "q",
    "Is Bridge 7 longer than Bridge 8?",
    "no",
    (("p7",), ("p8",)),
    evidence=EvidenceGraph(2),
    facts=("It is 7 metres long.", "It is 8 metres long."),
)
SMALL = Benchmark("small", Corpus(PASSAGES), test=[QUESTION])


def test_supports_are_sentences_and_the_database_has_a_third_of_each_kind() -> None:
    made = single_facts(SMALL)
    assert len(made.corpus) == 80 and made.test[0].supporting == (("p7.0",), ("p8.0",))
    database = made.collection(made.test[0])
    assert len(database) == len(set(database.row)) == N_FACTS
    assert {"p7.0", "p7.1", "p8.0", "p8.1"} <= set(
        database.row
    )  # the documents have one further sentence each
    assert database["p7.1"].full_text == "Bridge 7\nIt was built in 1907."
    assert list(single_facts(SMALL).collections["q"]) == list(made.collections["q"])


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        (UNSET, r"record q, field facts: expected the sentence of each support"),
        (
            ("It is 7 metres long.", "It is blue."),
            r"expected a sentence of its support, not 'It is blue\.'",
        ),
    ],
)
def test_questions_have_to_name_their_sentences(facts: object, line: str) -> None:
    with pytest.raises(InputError, match=line):
        single_facts(replace(SMALL, test=[with_fields(QUESTION, facts=facts)]))


def test_a_question_without_facts_has_the_hash_that_it_always_had() -> None:
    plain = replace(SMALL, test=[with_fields(QUESTION, facts=UNSET)])
    assert plain.hash == "a572056989ca22b6" != SMALL.hash


def test_each_support_of_the_atlas_is_stated_by_one_sentence_of_its_passage() -> None:
    atlas = load()
    for question in (*atlas.train, *atlas.dev, *atlas.test):
        for (passage_id,), fact in zip(question.supporting, question.facts, strict=True):
            assert split_sentences(atlas.corpus[passage_id].text).count(fact) == 1
    facts = load(setting="facts")
    assert Counter(map(len, facts.collections.values())) == {N_FACTS: 1300}
    for question in facts.test:
        rows = {facts.corpus.row[passage_id] for passage_id in question.supporting_ids}
        assert rows <= {*facts.collections[question.id]}


def test_a_kit_folder_is_learned_from_in_this_setting() -> None:
    training = load_training([ATLAS], setting="facts")
    assert len(training.train) == 600 and len(training.collections) == 800


def test_passages_without_words_end_in_one_line():
    passages = [Passage("p0", "", "It is.", "p0"), Passage("p1", "", "…", "p1")]
    question = Question("q", "Is it?", "yes", (("p0",),), facts=("It is.",))
    with pytest.raises(InputError, match=r"^expected words in the passages, there are none"):
        single_facts(Benchmark("wordless", Corpus(passages), test=[question]))
