"""MDR: its training pairs and its beam by hand and against every path looked at."""

from itertools import permutations

import numpy as np
import pytest

from kit.corpus import Benchmark, EvidenceGraph, Question, example
from kit.methods import make
from kit.methods.baselines.mdr import MDR, orders, path_text
from kit.methods.trace import NodeVisit, Seed
from kit.text import Encoder

TEXT = "Which river floods the birthplace of the director of the film The Glass Harbour?"
CORPUS = example().corpus


def question(hops: int, edges: tuple[tuple[int, int], ...] | None, kind: str = "") -> Question:
    evidence = None if edges is None else EvidenceGraph(hops, edges)
    supporting = tuple((str(support),) for support in range(hops))
    return Question("q", "?", "", supporting, type=kind, evidence=evidence)


@pytest.mark.parametrize(
    ("reasoned", "expected"),
    [
        (question(3, ((0, 1), (1, 2))), [(0, 1, 2)]),
        (question(2, ()), [(0, 1), (1, 0)]),
        (question(4, ((0, 1), (2, 3))), [(0, 1, 2, 3), (2, 3, 0, 1)]),
        (question(3, ((0, 2), (1, 2))), [(0, 1, 2), (1, 0, 2)]),
        (question(2, None, "bridge"), [(0, 1)]),
        (question(2, None, "comparison"), [(0, 1), (1, 0)]),
        (question(1, None, "comparison"), [(0,)]),
    ],
)
def test_orders_that_the_reasoning_allows(
    reasoned: Question, expected: list[tuple[int, ...]]
) -> None:
    assert list(orders(reasoned)) == expected


def test_a_path_with_the_support_that_comes_next() -> None:
    _, river = example().test
    harbour = CORPUS["harbour"]
    moravec = CORPUS["moravec"]
    expected = [
        (TEXT, "harbour"),
        (f"{TEXT}\n{harbour.title}\n{harbour.text}", "moravec"),
        (f"{TEXT}\n{moravec.title}\n{moravec.text}\n{harbour.title}\n{harbour.text}", "quay"),
    ]
    assert [MDR(start="untrained", hops=hops).pairs(river, CORPUS) for hops in (1, 2, 5)] == [
        expected[:1],
        expected[:2],
        expected,
    ]


def every_path(hops: int) -> list[tuple[float, tuple[int, ...]]]:
    """All paths over the six passages with the sums of their inner products, best first."""
    vectors = Encoder().encode([passage.full_text for passage in CORPUS.passages])
    scored = []
    for path in permutations(range(len(CORPUS)), hops):
        passages = [CORPUS.passages[row] for row in path]
        texts = [path_text(TEXT, passages[:hop]) for hop in range(hops)]
        products = Encoder().encode(texts, role="query") * vectors[list(path)]
        scored.append((float(np.sum(products)), path))
    return sorted(scored, reverse=True)


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_a_wide_beam_finds_the_best_of_all_paths(hops: int, indexed) -> None:
    ranking = indexed("mdr", start="untrained", hops=hops, beam=200, branches=6).retrieve(TEXT, 6)
    expected = list(dict.fromkeys(row for _, path in every_path(hops) for row in path))
    assert ranking.ids == tuple(CORPUS.passages[row].id for row in expected)
    assert ranking.scores[0] == pytest.approx(every_path(hops)[0][0], abs=1e-5)


def test_two_first_hops_and_the_best_next_one(indexed) -> None:
    ranking = indexed("mdr", start="untrained", hops=2, beam=2, branches=1).explain(TEXT, 6)
    seeds = [event for event in ranking.trace.events if isinstance(event, Seed)]
    visits = [event for event in ranking.trace.events if isinstance(event, NodeVisit)]
    dense = {path[0]: score for score, path in every_path(1)}
    first = list(dense)[:2]
    assert [seed.passage for seed in seeds] == [CORPUS.passages[row].id for row in first]
    assert [seed.score for seed in seeds] == pytest.approx([dense[row] for row in first], abs=1e-5)
    best = sorted(
        (next(pair for pair in every_path(2) if pair[1][0] == row) for row in first), reverse=True
    )
    assert [(visit.round, visit.source, visit.passage) for visit in visits] == [
        (1, CORPUS.passages[a].id, CORPUS.passages[b].id) for _, (a, b) in best
    ]
    assert [visit.score for visit in visits] == pytest.approx(
        [score for score, _ in best], abs=1e-5
    )
    # The passages of the two paths, then the others as the question finds them, scored no higher.
    expected = list(dict.fromkeys([*best[0][1], *best[1][1], *dense]))
    assert ranking.ids == tuple(CORPUS.passages[row].id for row in expected)
    assert (np.diff(ranking.scores) <= 0).all()


def test_only_the_path_length_is_learned(tiny_model: str, own_store) -> None:
    lesson = Benchmark("lesson", CORPUS, train=example().test, dev=example().test)
    first = MDR(start="untrained", encoder=tiny_model, epochs=1, batch=2)
    first.fit(lesson)
    assert all(row["measured"] < 0 for row in first.history if "measured" in row)
    for is_same, other in ((True, {"beam": 3, "branches": 2}), (False, {"hops": 2})):
        again = first.variant(**other)
        again.fit(lesson)
        assert (again.learned.name == first.learned.name) == is_same


def test_the_second_hop_goes_to_the_nearest_neighbour(indexed) -> None:
    free = indexed("mdr", start="untrained", hops=2, beam=2, branches=1)
    among = free.variant(graph="entity+structure")
    trace = among.explain(TEXT, 6).trace
    assert trace.seeds == free.explain(TEXT, 6).trace.seeds  # the first hop is the same
    neighbours = {
        seed.passage: among.graph.neighbours(CORPUS.row[seed.passage]) for seed in trace.seeds
    }
    for visit in trace.events[len(trace.seeds) :]:
        [f] = Encoder().encode([path_text(TEXT, [CORPUS[visit.source]])], role="query")
        rows = neighbours[visit.source]
        assert CORPUS.row[visit.passage] == rows[np.argmax(free.vectors[rows] @ f)]
    # The first hop compares all six, the second those that a path may go on to.
    assert trace.n_scored == 6 + sum(map(len, neighbours.values()))
    assert free.explain(TEXT, 6).trace.n_scored == 6 + 2 * 5


def test_a_rankings_paths_are_the_beams_best_first(indexed) -> None:
    retriever = indexed("mdr", start="untrained", hops=2, beam=2, branches=1)
    ranking = retriever.retrieve(TEXT, 6)
    assert len(ranking.paths) == 2 and all(len(path) == 2 for path in ranking.paths)
    first = dict.fromkeys(passage for path in ranking.paths for passage in path)
    assert ranking.ids[: len(first)] == tuple(first)
    assert ranking.n_walked == len(first) < len(ranking.ids) == 6


@pytest.mark.parametrize("name", ["dpr", "mdr", "kgp-mdr"])
def test_of_no_epoch_comes_the_untrained_encoder(name: str, tiny_model: str, own_store) -> None:
    lesson = Benchmark("lesson", CORPUS, train=example().test, dev=example().test)
    untrained = make(name, start="untrained", epochs=0, encoder=tiny_model)
    untrained.fit(lesson)
    assert untrained.learned is None and not untrained.history


def test_the_agent_of_kgp_is_the_encoder_that_mdr_learned(tiny_model: str, own_store) -> None:
    lesson = Benchmark("lesson", CORPUS, train=example().test, dev=example().test)
    settings = {"start": "untrained", "encoder": tiny_model, "batch": 2}
    mdr = make("mdr", **settings)
    agent = make("kgp-mdr", **settings)
    for method in (mdr, agent):
        method.fit(lesson)
    assert agent.learned.name == mdr.learned.name
    assert agent.history == mdr.history and agent.history


def test_a_path_too_long_to_read_is_cut_at_its_oldest_passage() -> None:
    passages = [CORPUS["harbour"], CORPUS["moravec"], CORPUS["quay"]]
    question, latest, *_ = path_text(TEXT, passages).split("\n")
    assert (question, latest) == (TEXT, CORPUS["quay"].title)
    assert path_text(TEXT, []) == TEXT
