"""2WikiMultiHopQA as published: triples, the order and the graph of them, and sub-questions."""

import pytest

from kit.corpus import SubQuestion, check, load
from kit.errors import InputError


def titles(benchmark, question):
    return [benchmark.corpus[name].title for name in question.supporting_ids]


def test_supports_stand_in_the_order_of_the_triples(write, twowiki):
    benchmark = load(write("dev.json", twowiki))
    question = benchmark.test[0]
    assert benchmark.name == "2wikimultihopqa-dev"
    assert titles(benchmark, question) == [
        "Salt Road",
        "Tin Moon (1931 film)",
        "Ina Koll",
        "Jan Vesper",
    ]
    assert question.triples[1] == ("Tin Moon", "director", "Jan Vesper (director)")
    assert question.type == "bridge_comparison"


def test_the_evidence_graph_and_the_sub_questions_follow_the_triples(write, twowiki):
    bridge, chain = load(write("dev.json", twowiki)).test
    assert bridge.evidence.edges == ((0, 2), (1, 3)) and bridge.structure == "multi-chain multi-hop"
    # Where the names differ, the triples' order decides.
    assert chain.evidence.edges == ((0, 1),) and chain.structure == "single-chain multi-hop"
    steps = bridge.decomposition
    assert steps[0] == SubQuestion(
        "Who directed Tin Moon?", "Tin Moon was directed by Jan Vesper.", support=1
    )
    assert [step.support for step in steps] == [1, 0, 2, 3]
    assert [step.depends_on for step in steps] == [(), (), (1,), (0,)]


def test_a_comparison_has_no_edges_and_a_triple_may_share_its_support(write, twowiki):
    [_, chain] = twowiki
    chain |= {
        "type": "comparison",
        "context": [
            ["Ada Brill", ["Ada Brill, 1840 to 1901."]],
            ["Tam Orr", ["Tam Orr, 1790 to 1850."]],
        ],
        "supporting_facts": [["Tam Orr", 0], ["Ada Brill", 0]],
        "evidences": [
            ["Tam Orr", "date of birth", "1790"],
            ["Ada Brill", "date of birth", "1840"],
            ["Ada Brill", "date of death", "1901"],
        ],
        "evidences_id": None,
    }
    benchmark = load(write("dev.json", [chain]))
    [question] = benchmark.test
    assert titles(benchmark, question) == ["Tam Orr", "Ada Brill"]
    assert question.evidence.edges == () and question.structure == "multi-chain single-hop"


@pytest.mark.parametrize("data_format", [None, "2wikimultihopqa"])
@pytest.mark.parametrize("is_blank", [True, False])
def test_a_test_file_is_a_corpus(write, twowiki, data_format, is_blank):
    for question in twowiki:
        for field in ("supporting_facts", "evidences"):
            question[field] = []
            if not is_blank:
                del question[field]
        question["answer"] = ""
    path = write("test.json", twowiki)
    problems, [note] = check(path, data_format)
    assert not problems
    assert "record 1 and 1 more: a question without supporting_facts, as in published" in note
    with pytest.raises(InputError, match=r"expected questions, this is a corpus .* left out"):
        load(path, data_format=data_format)


def test_a_support_that_the_context_lacks_keeps_its_place_in_the_chain(write, twowiki):
    [_, chain] = twowiki
    graph = load(write("dev.json", [chain])).test[0].evidence
    first_support = chain["supporting_facts"][0][0]
    paragraph = next(entry for entry in chain["context"] if entry[0] == first_support)
    chain["context"].remove(paragraph)
    corpus = write("wiki.json", [{"title": first_support, "text": " ".join(paragraph[1])}])
    with pytest.warns(UserWarning, match="its title is looked for"):
        benchmark = load(write("lacking.json", [chain]), corpus=[corpus])
    [question] = benchmark.test
    assert question.evidence == graph and first_support in titles(benchmark, question)
