"""Graph quality: the six passages by hand."""

import numpy as np
import pandas as pd
import pytest
from msgspec.structs import replace

from kit.corpus import Benchmark, Corpus, Passage, Question, example
from kit.evaluation.graph_quality import (
    at_equal_size,
    describe_graph,
    find_seeds,
    graph_quality,
    measure,
)
from kit.graphs import EdgeList, PassageGraph, build


def test_quality_by_hand() -> None:
    hand = example()
    seeds = find_seeds(hand.corpus, hand.test, 2)
    assert seeds == [[0, 5], [0, 5]]  # harbour, novel
    graph = build("entity", hand.corpus, prior=0.6)
    table = graph_quality(graph, hand.test, seeds).set_index("question")
    # Neighbours: moravec of harbour, moravec-later of novel. The second question's third support
    # is a step further.
    assert table["neighbourhood"].tolist() == [4, 4]
    assert table["sf_em"].tolist() == [1, 0]
    assert table["covered"].tolist() == pytest.approx([1, 2 / 3])
    assert table["precision"].tolist() == [0.5, 0.5]
    # harbour–moravec is an edge; of the three pairs harbour, moravec, quay two are.
    assert table["joined"].tolist() == pytest.approx([1, 2 / 3])
    # Of two edges at harbour and moravec, to each other and to quay, one joins supports; of three
    # at harbour, moravec and quay, two do.
    assert table["relevant"].tolist() == pytest.approx([1 / 2, 2 / 3])
    alone = graph_quality(build("structure", hand.corpus.subset([0, 1, 3])), hand.test, [[0], [0]])
    assert alone["relevant"].tolist() == [0, 0]  # no edge
    assert [describe_graph(graph)[name] for name in ("nodes", "edges", "components")] == [6, 4, 2]
    one = replace(hand.test[0], supporting=(("quay",),))
    # A single support has no pair.
    assert graph_quality(graph, [one], [[0]])[["joined", "relevant"]].isna().all(axis=None)


def test_relevant_edges_count_once_whatever_joins_them_and_between_supports_alone() -> None:
    names = ["a", "a-again", "b", "c"]
    corpus = Corpus(Passage(name, name, "", name) for name in names)
    twice = EdgeList.of([0, 2, 0, 0], [2, 0, 1, 3], 4)  # a → b → a, a → a-again, a → c
    graph = PassageGraph(corpus, {"one": twice, "two": EdgeList.of([0], [2], 4)})
    question = Question("q", "?", "", (("a", "a-again"), ("b",)))
    # a–b, a–a-again (the same support), a–c.
    table = graph_quality(graph, [question], [[0]])
    assert table["relevant"].tolist() == pytest.approx([1 / 3])


def test_graphs_at_equal_size() -> None:
    hand = example()
    quality = []
    sizes = []
    swept = [("entity", {"prior": prior}) for prior in (0.9, 0.6, 0.3)] + [
        ("knn", {"k": k}) for k in (1, 5)
    ]
    for name, setting in swept:
        graph = build(name, hand.corpus, **setting)
        about = {"builder": name, "value": next(iter(setting.values()))}
        quality.append(
            graph_quality(graph, hand.test, find_seeds(hand.corpus, hand.test, 1)).assign(
                builder=name, value=about["value"]
            )
        )
        sizes.append(about | describe_graph(graph))
    quality = pd.concat(quality, ignore_index=True)
    sizes = pd.DataFrame(sizes)
    # Mean degree 2 · 4 / 6 at 0.6 and 2 · 5 / 6 at 0.3; knn has 1 and 5: both reach 1.5, between
    # their settings.
    joined = at_equal_size(quality, sizes[sizes["mean_degree"] > 0], "joined", size=1.5)
    assert list(joined.columns) == ["entity", "knn"] and list(joined.index) == [
        question.id for question in hand.test
    ]
    share = np.log(1.5) / np.log(5)
    low, high = (
        quality[(quality["builder"] == "knn") & (quality["value"] == k)]["joined"].to_numpy()
        for k in (1, 5)
    )
    assert joined["knn"].tolist() == pytest.approx(((1 - share) * low + share * high).tolist())
    assert list(at_equal_size(quality, sizes, "joined", size=1.5)) == [
        "knn"
    ]  # entity starts without edges


def test_per_question_graphs_are_built_from_the_own_collection() -> None:
    hand = example()
    benchmark = Benchmark(
        "own",
        hand.corpus,
        test=hand.test,
        collections={"town": np.arange(2), "river": np.arange(6)},
    )
    assert measure("knn", benchmark, benchmark.test, k=1)["nodes"] == 4  # the mean of two and six


def test_a_graph_without_an_edge_and_a_question_without_a_seed_are_told() -> None:
    texts = ("the Oll floods a mill", "a novel of winter", "seven ships")
    corpus = Corpus(Passage(f"p{n}", "", text, f"p{n}") for n, text in enumerate(texts))
    # The question's one support is a seed: SF-EM is 1, and no edge had a part in it.
    mill = Question("mill", "Which mill?", "", (("p0",),))
    unknown = Question("unknown", "谁出生在港口？", "", (("p0",),))
    alone = measure("structure", Benchmark("alone", corpus, test=[mill]), [mill])
    assert (alone["edges"], alone["sf_em"]) == (0, 1)
    assert alone["notes"] == [
        "Graphs without an edge: 1 of 1. "
        "There sf_em, covered and precision are those of the seeds alone."
    ]

    linked = measure("knn", Benchmark("linked", corpus, test=[mill, unknown]), [mill, unknown], k=1)
    assert (linked["sf_em"], linked["neighbourhood"] > 1) == (0.5, True)
    assert linked["notes"] == ["Questions without a seed: 1 of 2. No passage has a word of theirs."]
    assert measure("entity", example(), example().test, prior=0.6)["notes"] == []
