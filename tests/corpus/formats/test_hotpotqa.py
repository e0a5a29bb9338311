"""HotpotQA as published: paragraphs, facts, and what can be wrong with them."""

import pytest

from kit.corpus import check, load, load_corpus
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
    hotpotqa[1]["supporting_facts"] = [["Oster Horn", -1]]
    path = write("dev.json", hotpotqa)
    with pytest.raises(
        InputError,
        match=r"record 1 .*that is not blank \(and 1 more: `kit data check` tells all\)$",
    ):
        load(path)
    assert len(check(path)[0]) == 2


def test_a_test_file_is_a_corpus_and_one_line_says_what_it_lacks(write, hotpotqa):
    for question in hotpotqa:
        del question["supporting_facts"], question["answer"], question["type"]
    path = write("test.json", hotpotqa)
    line = (
        f"{path}, record 1 and 1 more: a question without supporting_facts, as in published test "
        "files: left out; its paragraphs are a corpus"
    )
    assert check(path) == ([], [line])
    with pytest.raises(InputError) as raised:
        load(path)
    assert str(raised.value).endswith(f"(it can be added to questions); {line}")
    with pytest.warns(UserWarning, match="a question without supporting_facts"):
        assert len(load_corpus([path])) == 4


def test_supports_that_the_context_lacks_are_looked_for_by_title_in_the_corpus(write, hotpotqa):
    hotpotqa[0]["context"] = hotpotqa[0]["context"][1:]  # without Ada Brill
    path = write("fullwiki.json", hotpotqa)
    line = (
        f"{path}, record 1: a support is no paragraph of its question, as in fullwiki files: "
        "its title is looked for in the whole corpus"
    )
    assert check(path) == ([], [line])

    lacking = r"^1 of 2 questions are left out: the corpus has not one passage with the title"
    for setting in ("pooled", "per-question"):
        with pytest.warns(UserWarning, match=lacking):
            benchmark = load(path, setting=setting)
        assert [question.id for question in benchmark.test] == ["h2"]

    ada = {"title": "Ada Brill", "text": "She was born in Lowick."}
    corpus = write("wiki.json", [ada, {"title": "Lowick", "text": "A town."}])
    with pytest.warns(UserWarning, match="its title is looked for"):
        first, _ = (benchmark := load(path, corpus=[corpus])).test
    titles = [benchmark.corpus[name].title for name in first.supporting_ids]
    assert titles == ["Grey Ferry", "Ada Brill"]

    two = write("two.json", [ada, ada | {"text": "Another Ada."}])
    with pytest.warns(UserWarning, match=lacking):
        assert len(load(path, corpus=[two]).test) == 1


def test_titles_meet_in_whatever_way_their_characters_are_composed(write, hotpotqa):
    [question, _] = hotpotqa
    question["context"][0][0] = "Ada Bru\u0308ll"
    question["supporting_facts"] = [
        [title.replace("Ada Brill", "Ada Br\u00fcll"), index]
        for title, index in question["supporting_facts"]
    ]
    path = write("dev.json", [question])
    assert check(path) == ([], [])
    benchmark = load(path)
    assert benchmark.corpus[benchmark.test[0].supporting_ids[1]].title == "Ada Br\u00fcll"
