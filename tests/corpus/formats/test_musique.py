"""MuSiQue as published: gold by paragraph index, decomposition, references to earlier answers."""

import pytest

from kit.corpus import SubQuestion, check, load, load_corpus
from kit.errors import InputError


@pytest.mark.parametrize("name", ["dev.jsonl", "dev.json"])
def test_supports_follow_the_steps_and_go_by_index(write, musique, name):
    benchmark = load(write(name, musique))
    question = benchmark.test[0]
    texts = [benchmark.corpus[name].text for name in question.supporting_ids]
    assert texts == [
        "Lowick lies on the Ode.",
        "Marl burned in 1820.",
        "In 1820 Tam Orr bridged it.",
    ]
    assert benchmark.name == "musique-dev"
    assert (question.type, question.aliases) == ("3hop2", ("T. Orr",))
    assert len(benchmark.corpus) == 5  # one paragraph is in both questions


def test_references_make_dependencies_and_the_evidence_graph(write, musique):
    first, second = load(write("dev.jsonl", musique)).test
    assert first.decomposition[2] == SubQuestion(
        "Who bridged #1 in #2 ?", "Tam Orr", support=2, depends_on=(0, 1)
    )
    assert first.evidence.edges == ((0, 2), (1, 2)) and first.structure == "multi-chain multi-hop"
    assert second.evidence.edges == ((0, 1),) and second.structure == "single-chain multi-hop"


def test_no_graph_where_sharing_a_paragraph_closes_a_cycle(write, musique):
    steps = musique[0]["question_decomposition"]
    steps[1]["question"] = "When did #1 burn?"
    steps[2]["paragraph_support_idx"] = 3
    musique[0]["paragraphs"][1]["is_supporting"] = False
    question = load(write("dev.jsonl", musique)).test[0]
    assert [step.support for step in question.decomposition] == [0, 1, 0]
    assert question.evidence is None


def test_a_number_that_is_no_earlier_step_is_text(write, musique):
    musique[1]["question_decomposition"][0]["question"] = "Which #1 hit came from Lowick?"
    path = write("dev.jsonl", musique)
    assert load(path).test[1].decomposition[0].depends_on == ()
    errors, [note] = check(path)
    assert not errors and "'#1' is no earlier step" in note


def test_a_test_file_is_a_corpus_and_one_line_says_what_it_lacks(write, musique):
    for question in musique:
        del question["question_decomposition"], question["answer"]
        for paragraph in question["paragraphs"]:
            del paragraph["is_supporting"]
    path = write("test.jsonl", musique)
    problems, [note] = check(path)
    assert not problems
    assert "record 1 and 1 more: a question without question_decomposition, as in publis" in note
    with pytest.raises(InputError, match=r"expected questions, this is a corpus .* left out"):
        load(path)
    with pytest.warns(UserWarning, match="without question_decomposition"):
        assert len(load_corpus([path])) == 5


def test_unanswerable_questions_of_musique_full_are_left_out(write, musique):
    twin = musique[0] | {"answerable": False}  # published under the same id
    path = write("full.jsonl", [musique[0], twin, musique[1]])
    line = f"{path}, record 2: an unanswerable question, as in MuSiQue-Full: left out"
    assert check(path) == ([], [line])
    with pytest.warns(UserWarning, match="an unanswerable question"):
        assert load(path).test == load(write("answerable.jsonl", musique)).test
