"""HotpotQA as published: paragraphs, named sentences, and what can be wrong with them."""

import pytest

from kit.corpus import check, load
from kit.errors import InputError


def test_paragraphs_are_the_supports_in_the_order_of_the_facts(write, hotpotqa):
    benchmark = load(write("dev.json", hotpotqa))
    bridge, comparison = benchmark.test
    assert benchmark.name == "hotpotqa-dev"
    assert [passage.title for passage in benchmark.corpus.passages] == [
        "Ada Brill",
        "Nell Horn",
        "Grey Ferry",
        "Oster Horn",
    ]
    assert [benchmark.corpus[id].title for id in bridge.supporting_ids] == ["Grey Ferry", "Ada Brill"]
    assert benchmark.corpus.passages[0].text == "Ada Brill was born in Lowick. She kept bees. She painted boats."
    assert (bridge.id, bridge.answer, bridge.type, bridge.hops) == ("h1", "Lowick", "bridge", 2)
    assert bridge.evidence is None and bridge.decomposition == ()
    assert comparison.type == "comparison"


def test_named_sentences_are_the_supports_of_the_sentence_unit(write, hotpotqa):
    benchmark = load(write("dev.json", hotpotqa), unit="sentence")
    bridge = benchmark.test[0]
    assert [benchmark.corpus[id].text for id in bridge.supporting_ids] == [
        "It is by Ada Brill.",
        "Ada Brill was born in Lowick.",
        "She painted boats.",
    ]
    assert all(len(carriers) == 1 for carriers in bridge.supporting)
    assert [(p.title, p.position) for p in benchmark.corpus.passages][:4] == [
        ("Ada Brill", 0),
        ("Ada Brill", 1),
        ("Ada Brill", 2),
        ("Nell Horn", 0),
    ]
    assert len(benchmark.corpus) == 7  # the blank sentence of Oster Horn is none


@pytest.mark.parametrize("index", [1, 7])
def test_a_fact_beyond_the_sentences_counts_through_its_paragraph_and_is_noted(write, hotpotqa, index):
    hotpotqa[1]["supporting_facts"][1][1] = index  # 1 is a blank sentence, 7 is none
    path = write("dev.json", hotpotqa)
    errors, [note] = check(path)
    assert not errors
    assert note.endswith(
        f"record 2, field supporting_facts[1]: 'Oster Horn' has no sentence {index}: the paragraph counts in its place"
    )
    question = load(path, unit="sentence").test[1]
    assert len(question.supporting) == 2
    assert [id.rsplit(".")[-1] for id in question.supporting[1]] == ["0"]


def test_sentences_are_named_by_their_text_where_files_split_a_paragraph_differently(write, hotpotqa):
    second = hotpotqa[1]
    second["context"].append(["Ada Brill", ["Ada Brill was born in Lowick. She kept bees.", "She painted boats."]])
    second["supporting_facts"] = [["Nell Horn", 0], ["Ada Brill", 1]]
    benchmark = load(write("dev.json", hotpotqa), unit="sentence")
    assert [benchmark.corpus[id].text for id in benchmark.test[1].supporting_ids] == [
        "Nell Horn is a cape.",
        "She painted boats.",
    ]


FACTS = "field supporting_facts[0]: expected"
HORNS = [["Nell Horn", ["One."]], ["Nell Horn", ["Two."]], ["Oster Horn", ["Three."]]]


@pytest.mark.parametrize(
    ("field", "value", "line"),
    [
        ("_id", None, "record 2, field _id: missing"),
        ("_id", "", "field _id: expected an id without white space"),
        ("_id", "h 2", "field _id: expected an id without white space"),
        ("_id", "h1", "record 2 (id 'h1'), field id: expected an id of its own, an earlier record has it"),
        ("question", None, "field question: missing"),
        ("question", " ", "field question: expected text that is not blank"),
        ("question", 3, "field question: expected text, got a whole number"),
        ("answer", ["a"], "field answer: expected text, got a list"),
        ("context", [], "field context: expected a list of length >= 1"),
        ("context", [["Nell Horn"]], "field context[0]: expected a list of length 2"),
        ("context", {"title": []}, "field context: expected a list, got an object"),
        ("context", [["Nell Horn", ["a", None]]], "field context[0][1][1]: expected text, got null"),
        ("context", HORNS, f"{FACTS} the title of one paragraph of context, 'Nell Horn' is the title of"),
        ("supporting_facts", [], "field supporting_facts: expected a list of length >= 1"),
        ("supporting_facts", [["Nell Horn", "0"]], "field supporting_facts[0][1]: expected a whole number, got text"),
        ("supporting_facts", [["Nell Horn", -1]], "field supporting_facts[0][1]: expected a whole number >= 0"),
        ("supporting_facts", [["Ada", 0]], f"{FACTS} the title of one paragraph of context, 'Ada' is none"),
    ],
)
def test_what_is_wrong_ends_in_one_line_with_record_and_field(write, told, hotpotqa, field, value, line):
    hotpotqa[1][field] = value
    if value is None:
        del hotpotqa[1][field]
    path = write("dev.json", hotpotqa)
    shown = told(path, format="hotpotqa")
    assert shown.startswith(f"{path}, record 2") and line in shown


def test_load_raises_the_first_of_several_and_counts_the_rest(write, hotpotqa):
    hotpotqa[0]["question"] = ""
    hotpotqa[1]["supporting_facts"] = [["Nowhere", 0]]
    path = write("dev.json", hotpotqa)
    with pytest.raises(InputError, match=r"record 1 .*that is not blank \(and 1 more: `kit data check` tells all\)$"):
        load(path)
    assert len(check(path)[0]) == 2
