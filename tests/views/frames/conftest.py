import pytest

from kit.graphs import PassageGraph
from kit.methods.trace import Message, Seed, SubQuestionEvent
from kit.views import Replay, replay
from tests.views.frames.traces import MIN, SCORES, SENDERS, WALK, graph_of, ranked, scored


@pytest.fixture(scope="module")
def graph(corpus) -> PassageGraph:
    """Ada Lund is joined to Marrow and The Long Ferry, Marrow to The Long Ferry and Tilsby."""
    return graph_of(corpus, (0, 1), (0, 2), (1, 2), (1, 4))


@pytest.fixture
def least(corpus, questions, graph) -> Replay:
    """One layer with α = 0.5 in which each neighbour hears its nearest sender."""
    ranking = ranked("p2", "p0", "p4", "p1", "p3", events=(*scored(SCORES), *SENDERS, *MIN))
    return replay(ranking, corpus, question=questions[0], graph=graph, top=2)


@pytest.fixture
def sub_questions(corpus, questions, graph) -> Replay:
    """Two sub-questions, β = 0.9; the rankings p2 p0 p1 and p1 p0 p2, merged in turn."""
    first = (
        SubQuestionEvent(0, "Who directed The Long Ferry?", "Ada Lund"),
        *scored({"p2": 0.8, "p0": 0.6, "p1": 0.1}),
        Seed(0, "p2", 0.8),
        Message(0, "p2", "p0", 0.8, 0.5, 0.6, 0.7),
    )
    second = (
        SubQuestionEvent(1, "Where was Ada Lund born?"),
        *scored({"p1": 0.9, "p0": 0.5, "p2": 0.2}, 1),
    )
    values = {"p1": (0.1, 0.9, 0.82), "p0": (0.7, 0.5, 0.52), "p2": (0.8, 0.2, 0.26)}
    kept = (
        Message(1, passage, passage, old, 0.1, before, after)
        for passage, (old, before, after) in values.items()
    )
    ranking = ranked("p2", "p1", "p0", events=(*first, *second, *kept))
    return replay(ranking, corpus, question=questions[0], graph=graph, top=1)


@pytest.fixture
def walk(corpus, questions) -> Replay:
    """Ada Lund is joined to Marrow and The Long Ferry, Marrow to Halle and Tilsby."""
    graph = graph_of(corpus, (0, 1), (0, 2), (1, 3), (1, 4))
    return replay(WALK, corpus, question=questions[0], graph=graph, top=2)
