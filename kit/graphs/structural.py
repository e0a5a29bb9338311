"""Structural nodes: pages and tables, with directed edges to the passages that they hold (kgp.txt §3)."""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import numpy as np
from scipy import sparse

from kit.corpus import Corpus
from kit.corpus.pdf import Structure, structures
from kit.graphs.graph import Links


@dataclass(frozen=True)
class Holds(Links):
    """Edges from structural nodes to passages: entry (i, row) of ``held`` says that ``nodes[i]`` holds the row.

    They lead into passages and none leads out, so a walk over passages never takes one, and ``matrix`` (passages ×
    passages) is empty: a question that names a structure enters the graph through its node.
    """

    nodes: tuple[Structure, ...]
    held: sparse.csr_array

    @classmethod
    def of(cls, corpus: Corpus) -> Holds:
        """The pages and tables of a corpus; none in one without."""
        found = structures(corpus)
        sources = np.repeat(np.arange(len(found)), [len(rows) for rows in found.values()])
        targets = np.concatenate([np.zeros(0, int), *found.values()])
        held = sparse.csr_array((np.ones(len(targets), np.int8), (sources, targets)), shape=(len(found), len(corpus)))
        return cls(_no_links(len(corpus)), tuple(found), held)

    def content(self, node: Structure) -> np.ndarray:
        """The rows that a node holds, sorted; none for a structure that no document has."""
        if node not in self.nodes:
            return np.zeros(0, int)
        return np.sort(self.held[[self.nodes.index(node)]].indices)

    def subset(self, rows: np.ndarray) -> Holds:
        """The nodes that hold any of the given passages."""
        held = sparse.csr_array(self.held[:, rows])
        kept = np.flatnonzero(np.diff(held.indptr))
        return Holds(_no_links(len(rows)), tuple(self.nodes[node] for node in kept), sparse.csr_array(held[kept]))

    def to_networkx(self, corpus: Corpus) -> nx.DiGraph:
        """Structural nodes and the passages' rows, with an edge from each node to what it holds."""
        graph = nx.DiGraph()
        graph.add_nodes_from((node, {"kind": node.kind, "title": str(node)}) for node in self.nodes)
        graph.add_nodes_from((row, {"kind": it.kind, "title": it.title}) for row, it in enumerate(corpus.passages))
        graph.add_edges_from((node, row) for node in self.nodes for row in self.content(node).tolist())
        return graph


def _no_links(n: int) -> sparse.csr_array:
    return sparse.csr_array((n, n), dtype=np.int8)
