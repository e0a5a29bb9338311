"""Gold evidence graphs, counted by hand."""

from kit.corpus import Benchmark, Corpus, EvidenceGraph, Passage, Question, load
from kit.worlds.evidence_graphs import count_shapes, evidence_table

SINGLE = EvidenceGraph(1)
CHAIN = EvidenceGraph(3, ((0, 1), (1, 2)))
FORK = EvidenceGraph(3, ((0, 1), (0, 2)))
JOIN = EvidenceGraph(3, ((0, 2), (1, 2)))
RENAMED = EvidenceGraph(3, ((2, 0), (1, 0)))  # is JOIN, with other names
PAIR = EvidenceGraph(2)


def of(*graphs: EvidenceGraph | None) -> list[Question]:
    return [
        Question(
            id=f"q{index}",
            text="Who?",
            answer="Ann",
            evidence=graph,
            supporting=tuple((f"p{node}",) for node in range(graph.n_nodes if graph else 1)),
        )
        for index, graph in enumerate(graphs)
    ]


def test_table_2_by_hand():
    corpus = Corpus([Passage(f"p{node}", "Title", "Text.", "d", node) for node in range(3)])
    benchmark = Benchmark(
        "graphs",
        corpus,
        train=of(SINGLE, CHAIN, JOIN),
        test=of(RENAMED, PAIR, FORK, None),
    )
    table = evidence_table(benchmark)
    assert table.index.tolist() == ["train", "test", "all"]
    structures = table.iloc[:, :4]
    assert structures.loc["train"].tolist() == [1, 1, 0, 1]
    assert structures.loc["all"].tolist() == [1, 1, 1, 3]
    assert table["questions"].tolist() == [3, 3, 6]  # one of test has no graph
    assert table["shapes"].tolist() == [3, 3, 5]  # JOIN and RENAMED are one
    assert table.loc["train", "nodes"] == (1 + 3 + 3) / 3
    assert table.loc["train", "edges"] == (1 + 3 + 4) / 3  # with those from the question


def test_the_atlas_has_the_shapes_of_its_readme():
    test = load().test
    assert count_shapes([question.evidence for question in test]) == 16
