"""ReasonGraphQA: facts of a question, and its evidence graph by their texts (BGR §4)."""

from copy import deepcopy

from kit.corpus import check, load


def test_nodes_are_matched_by_text_and_stand_in_an_order_that_the_graph_allows(
    write, reasongraphqa
):
    benchmark = load(write("test.json", reasongraphqa), setting="per-question")
    two, single = benchmark.test
    assert benchmark.name == "reasongraphqa-test" and len(benchmark.corpus) == 6
    assert [benchmark.corpus[name].text for (name,) in two.supporting] == [
        "The Ode Bridge spans the Ode.",
        "The Ode Bridge is 120 metres long.",
        "The Lim Bridge spans the Lim.",
        "The Lim Bridge is 90 metres long.",
    ]
    assert two.evidence.edges == ((0, 1), (2, 3)) and two.structure == "multi-chain multi-hop"
    assert (two.type, single.type, single.answer) == ("SelectBetween", "QueryName", "Ada Lind")
    assert [len(rows) for rows in benchmark.collections.values()] == [5, 2]
    assert single.evidence.edges == ()


def test_what_does_not_fit_is_told_with_its_place(write, reasongraphqa):
    records = [*reasongraphqa, deepcopy(reasongraphqa[0])]
    records[0]["order_true_fact"][1]["relation"]["after"] = ["The Ode is a poem."]
    records[1]["order_true_fact"][0]["facts"] = "The Ode is a river."
    records[2]["question"] += "?"
    two = records[2]["order_true_fact"]
    two[1]["relation"] = {"before": [two[0]["facts"]], "after": [two[0]["facts"]]}
    errors, _ = check(write("broken.json", records))
    fields = ("order_true_fact[1].relation.after", "order_true_fact[0].facts", "order_true_fact")
    words = ("of this list, not 'The", "facts, not 'The Ode is a r", "a cycle")
    for error, field, expected in zip(errors, fields, words):
        assert f"field {field}: expected" in error and expected in error
    assert len(errors) == 3
