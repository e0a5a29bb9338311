"""HotpotQA as published: paragraphs, facts, and what can be wrong with them."""

import pytest

from kit.corpus import check, load
from kit.errors import InputError


def test_paragraphs_are_the_supports_in_the_order_of_the_facts(write, hotpotqa):
    benchmark = load(write("dev.json", hotpotqa))
    bridge, comparison = benchmark.test
    assert benchmark.name == "hotpotqa-dev"
    titles = [passage.title for passage in benchmark.corpus.passages]
    assert titles == ["Ada Brill", "Nell Horn", "Grey Ferry", "Oster Horn"]
    assert [benchmark.corpus[name].title for name in bridge.supporting_ids] == [
        "Grey Ferry",
        "Ada Brill",
    ]
    assert (
        benchmark.corpus.passages[0].text
        == "Ada Brill was born in Lowick. She kept bees. She painted boats."
    )
    assert (bridge.id, bridge.answer, bridge.type, bridge.hops) == ("h1", "Lowick", "bridge", 2)
    assert bridge.evidence is None and bridge.decomposition == ()
    assert comparison.type == "comparison"


@pytest.mark.parametrize("index", [1, 7])
def test_a_fact_beyond_the_sentences_counts_through_its_paragraph_and_is_noted(
    write, hotpotqa, index
):
    hotpotqa[1]["supporting_facts"][1][1] = index  # 1 is a blank sentence, 7 is none
    path = write("dev.json", hotpotqa)
    errors, [note] = check(path)
    line = f"'Oster Horn' has no sentence {index}: the paragraph counts in its place"
    assert not errors and note == f"{path}, record 2, field supporting_facts[1]: {line}"
    benchmark = load(path)
    assert [benchmark.corpus[name].title for name in benchmark.test[1].supporting_ids] == [
        "Nell Horn",
        "Oster Horn",
    ]


def test_load_raises_the_first_of_several_and_counts_the_rest(write, hotpotqa):
    hotpotqa[0]["question"] = ""
    hotpotqa[1]["supporting_facts"] = [["Nowhere", 0]]
    path = write("dev.json", hotpotqa)
    with pytest.raises(
        InputError,
        match=r"record 1 .*that is not blank \(and 1 more: `kit data check` tells all\)$",
    ):
        load(path)
    assert len(check(path)[0]) == 2
