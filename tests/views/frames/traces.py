"""Traces that are small enough to work out by hand. Scores of messages are 1 − distance."""

import numpy as np

from kit.corpus import Corpus
from kit.graphs import PassageGraph
from kit.graphs.graph import EdgeList
from kit.methods import Ranking
from kit.methods.trace import AnyEvent, InitialScore, Message, NodeVisit, Seed, Trace
from kit.views import Replay

SCORES = {"p2": 0.8, "p4": 0.6, "p0": 0.4, "p1": 0.2, "p3": 0.1}
SENDERS = (Seed(0, "p2", 0.8), Seed(0, "p4", 0.6))
MIN = (Message(0, "p2", "p0", 0.8, 0.5, 0.4, 0.6), Message(0, "p4", "p1", 0.6, 0.5, 0.2, 0.4))
MEAN = (Message(0, "p2", "p1", 0.8, 0.25, 0.2, 0.45), Message(0, "p4", "p1", 0.6, 0.25, 0.2, 0.45))
VISITS = (
    Seed(0, "p2", 0.6),
    Seed(0, "p4", 0.5),
    NodeVisit(0, "p4", "", 0.8),
    NodeVisit(0, "p2", "", 0.7),
    NodeVisit(1, "p1", "p4", 0.4, "Marrow is a port."),
    NodeVisit(1, "p0", "p2", 0.9, "Ada Lund was born."),
    NodeVisit(2, "p3", "p1", 0.5, "", ("p4",)),
    NodeVisit(2, "p0", "p1", 0.2, "", ("p4",)),
)
WALK = Ranking(
    ("p2", "p0", "p4", "p1", "p3"), np.array([1.5, 1.5, 0.5, 0.5, 0.5]), Trace(VISITS, 9)
)


def graph_of(corpus: Corpus, *pairs: tuple[int, int]) -> PassageGraph:
    ends = np.array([*pairs, *(pair[::-1] for pair in pairs)]).T
    return PassageGraph(corpus, {"entity": EdgeList.of(*ends, len(corpus))})


def ranked(*ids: str, events: tuple[AnyEvent, ...]) -> Ranking:
    return Ranking(ids, np.linspace(1, 0, len(ids)), Trace(events))


def scored(scores: dict[str, float], turn: int = 0) -> tuple[InitialScore, ...]:
    return tuple(InitialScore(turn, passage, score) for passage, score in scores.items())


def steps(shown: Replay) -> list[str]:
    return [frame.step for frame in shown.frames]


def states(shown: Replay, step: int, field: str = "note") -> dict[str, str]:
    return {state.node: getattr(state, field) for state in shown.frames[step].states}


def order(shown: Replay, step: int) -> list[tuple[str, int]]:
    [column] = shown.frames[step].columns
    return [(item.node, item.moved) for item in column.items]
