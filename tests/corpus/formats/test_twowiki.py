"""2WikiMultiHopQA as published: triples, the order and the graph that they give, and sub-questions."""

import pytest

from kit.corpus import SubQuestion, load


def titles(benchmark, question):
    return [benchmark.corpus[id].title for id in question.supporting_ids]


def test_supports_stand_in_the_order_of_the_triples(write, twowiki):
    benchmark = load(write("dev.json", twowiki))
    question = benchmark.test[0]
    assert benchmark.name == "2wikimultihopqa-dev"
    assert titles(benchmark, question) == ["Salt Road", "Tin Moon (1931 film)", "Ina Koll", "Jan Vesper"]
    assert question.triples[1] == ("Tin Moon", "director", "Jan Vesper (director)")
    assert question.type == "bridge_comparison"


def test_the_evidence_graph_links_objects_to_subjects(write, twowiki):
    bridge, chain = load(write("dev.json", twowiki)).test
    assert bridge.evidence.edges == ((0, 2), (1, 3))
    assert bridge.structure == "multi-chain multi-hop"
    assert chain.evidence.edges == ((0, 1),)  # by the Wikidata ids: the names differ
    assert chain.structure == "single-chain multi-hop"


def test_sub_questions_point_at_the_support_of_the_triple_that_they_ask_for(write, twowiki):
    steps = load(write("dev.json", twowiki)).test[0].decomposition
    assert steps[0] == SubQuestion("Who directed Tin Moon?", "Tin Moon was directed by Jan Vesper.", support=1)
    assert [step.support for step in steps] == [1, 0, 2, 3]
    assert [step.depends_on for step in steps] == [(), (), (1,), (0,)]


def test_named_sentences_follow_their_paragraphs(write, twowiki):
    benchmark = load(write("dev.json", twowiki), unit="sentence")
    bridge, chain = benchmark.test
    assert [benchmark.corpus[id].text for id in bridge.supporting_ids] == [
        "Salt Road is a film by Ina Koll.",
        "Tin Moon is a film by Jan Vesper.",
        "She was born in 1890.",
        "Jan Vesper was born in 1902.",
    ]
    assert [len(carriers) for carriers in chain.supporting] == [1, 1]


def test_a_comparison_has_no_edges_and_a_triple_may_share_its_support(write, twowiki):
    [_, chain] = twowiki
    chain |= {
        "type": "comparison",
        "context": [["Ada Brill", ["Ada Brill, 1840 to 1901."]], ["Tam Orr", ["Tam Orr, 1790 to 1850."]]],
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


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"evidences": [["a", "b"]]}, "field evidences[0]: expected a list of length 3"),
        ({"evidences": None}, "field evidences: expected a list, got null"),
        ({"qa_pairs": [{"question": "Who?"}]}, "field qa_pairs[0].answer: missing"),
    ],
)
def test_what_is_wrong_ends_in_one_line(write, told, twowiki, change, line):
    twowiki[1] |= change
    assert f"record 2 (id 'w2'), {line}" in told(write("dev.json", twowiki))
