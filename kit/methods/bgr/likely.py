"""The most likely graph: what both directions together find most probable. It is not the paper's.

Each direction is a probability of any graph G: on each path through G it takes what follows there
and leaves every other candidate.

    log p_d(G) = Σ_{h ∈ paths of G} Σ_{e ∈ E} log σ(± logit_d(e | h)),  + where e follows h in G

    G = argmax_{G ∈ 𝒢} log p_F(G) + log p_B(G) + λ · |G|

Here 𝒢 are the graphs of both searches at some thresholds, of each pair of them the union and what
they share; |G| counts the pieces of evidence, and λ is the ``bonus`` of each, as two wrong
directions agree more easily on what to leave.
"""

from collections.abc import Sequence
from itertools import islice

import networkx as nx
import numpy as np

from kit.methods.bgr.graphs import (
    BACKWARD,
    FORWARD,
    QUESTION,
    Edges,
    NodePath,
    acyclic,
    decisions_of,
)
from kit.methods.bgr.network import LONGEST_PATH, EvidenceNetwork
from kit.methods.bgr.search import Search, Searches, judge

THRESHOLDS = (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0)  # of candidate graphs
MOST_PATHS = 60  # through a graph; one with more is no candidate

Decisions = list[tuple[NodePath, tuple[int, ...]]]


class Candidate:
    """A graph between positions among a question's candidates, and how likely it is."""

    def __init__(self, edges: Edges) -> None:
        self.edges = edges
        graph = nx.DiGraph(edges)
        graph.remove_node(QUESTION)
        self.n_nodes = len(graph)
        self.decisions = {
            direction: list(islice(decisions_of(graph, direction == BACKWARD), MOST_PATHS + 1))
            for direction in (FORWARD, BACKWARD)
        }

    @property
    def is_small(self) -> bool:
        """Whether it has few enough paths to be judged."""
        return all(len(steps) <= MOST_PATHS for steps in self.decisions.values())

    def missing(self, search: Search) -> list[NodePath]:
        """Paths of the graph that a search has not come to."""
        return [
            path
            for path, _ in self.decisions[search.direction]
            if len(path) < LONGEST_PATH and path not in search.logits
        ]

    def log_likelihood(self, search: Search) -> float:
        """log p_d of the direction of a search by which all paths are judged."""
        total = 0.0
        for path, next_nodes in self.decisions[search.direction]:
            if len(path) >= LONGEST_PATH:
                continue
            signed = -search.logits[path]
            signed[list(next_nodes)] *= -1
            total -= float(np.logaddexp(0, -signed).sum())
        return total


def graphs_of(searches: Searches) -> list[Candidate]:
    """𝒢 of a question, each graph once."""
    graphs = {}
    for threshold in THRESHOLDS:
        ahead = searches[FORWARD].at(threshold).positions()
        back = searches[BACKWARD].at(threshold).positions()
        shared = [edge for edge in back if edge in set(ahead)]
        for edges in (ahead, back, [*back, *ahead], shared):
            made = list(acyclic(edges).edges)
            graphs.setdefault(frozenset(made), made)
    candidates = [Candidate(edges) for edges in graphs.values() if edges]
    return [candidate for candidate in candidates if candidate.is_small]


def judged_graphs(
    network: EvidenceNetwork,
    all_searches: Sequence[Searches],
) -> list[list[Candidate]]:
    """𝒢 of each question, with all of their paths judged in both directions."""
    all_graphs = list(map(graphs_of, all_searches))
    flat = []
    all_missing = []
    for searches, graphs in zip(all_searches, all_graphs):
        for search in searches.values():
            flat.append(search)
            missing = [path for graph in graphs for path in graph.missing(search)]
            all_missing.append(list(dict.fromkeys(missing)))
    judge(network, flat, all_missing)
    return all_graphs


def most_likely(graphs: Sequence[Candidate], searches: Searches, bonus: float) -> Edges:
    """The best of 𝒢; no edges where there is none."""
    if not graphs:
        return []

    def score(graph: Candidate) -> float:
        directions = [graph.log_likelihood(search) for search in searches.values()]
        return sum(directions) + bonus * graph.n_nodes

    return max(graphs, key=score).edges
