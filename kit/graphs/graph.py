"""The graph of passages: nodes are passages, edges have kinds, and cliques stay unwritten.

Two passages that share a keyword are neighbours, so a keyword that d passages hold stands for d·(d−1)/2 edges. What is
kept is the incidence of passages and keywords; edges are worked out for the rows that are asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import networkx as nx
import numpy as np
from scipy import sparse

from kit.corpus import Corpus
from kit.corpus.structures import Structure
from kit.text import BipartiteIncidence

_BLOCK = 4_000_000  # entries of an adjacency block, before equal ones are merged: about 50 MB


def _columns(matrix: sparse.csr_array, rows: np.ndarray | slice) -> tuple[np.ndarray, np.ndarray]:
    """The columns that the given rows (n,) hold: places in ``rows``, and the columns; row after row."""
    block = matrix[rows]
    return np.repeat(np.arange(block.shape[0]), np.diff(block.indptr)), block.indices


@dataclass
class TermBipartite:
    """Undirected edges between passages that hold a term in common, kept as the edges from passages to terms."""

    incidence: BipartiteIncidence

    @cached_property
    def terms(self) -> sparse.csr_array:
        """Passages × terms, of ones: products count shared terms."""
        matrix = self.incidence.matrix
        return sparse.csr_array(
            (np.ones(matrix.nnz, np.int32), matrix.indices, matrix.indptr), shape=matrix.shape
        )

    @cached_property
    def passages(self) -> sparse.csr_array:
        """Terms × passages."""
        return sparse.csr_array(self.terms.T)

    def out(self, rows: np.ndarray | slice) -> sparse.csr_array:
        """The given rows of the adjacency matrix, self-loops included; shape (rows, passages)."""
        return self.terms[rows] @ self.passages

    undirected = out

    def linked(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See :meth:`PassageGraph.linked`; a row is among its own neighbours here."""
        place, terms = _columns(self.terms, rows)
        again, targets = _columns(self.passages, terms)
        return place[again], targets

    def cost(self) -> np.ndarray:
        """For each passage, the entries of its row of the adjacency before equal ones are merged."""
        return self.terms @ np.diff(self.passages.indptr)

    def connecting(self) -> sparse.csr_array:
        """Passages × what joins them: two that hold one thing are connected."""
        return self.terms

    def shared(self, source: int, target: int) -> tuple[str, ...]:
        """The terms that make an edge."""
        common = np.intersect1d(self.terms[[source]].indices, self.terms[[target]].indices)
        return tuple(dict.fromkeys(self.incidence.terms[common]))

    def subset(self, rows: np.ndarray) -> Self:
        return TermBipartite(
            BipartiteIncidence(sparse.csr_array(self.incidence.matrix[rows]), self.incidence.terms)
        )


@dataclass
class EdgeList:
    """Edges written out, from row to column of ``matrix`` (passages × passages); walking follows their direction."""

    matrix: sparse.csr_array

    @classmethod
    def of(cls, sources: Sequence[int], targets: Sequence[int], n: int) -> Self:
        return cls(
            sparse.csr_array((np.ones(len(sources), np.int8), (sources, targets)), shape=(n, n))
        )

    @cached_property
    def _both_ways(self) -> sparse.csr_array:
        return sparse.csr_array(self.matrix + self.matrix.T)

    def out(self, rows: np.ndarray | slice) -> sparse.csr_array:
        return self.matrix[rows]

    def undirected(self, rows: np.ndarray | slice) -> sparse.csr_array:
        return self._both_ways[rows]

    def linked(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _columns(self._both_ways, rows)

    def cost(self) -> np.ndarray:
        return np.diff(self._both_ways.indptr)

    def connecting(self) -> sparse.csr_array:
        return self.matrix + sparse.eye_array(self.matrix.shape[0], dtype=np.int8)

    def shared(self, source: int, target: int) -> tuple[str, ...]:
        return ()

    def subset(self, rows: np.ndarray) -> Self:
        return EdgeList(sparse.csr_array(self.matrix[rows][:, rows]))


class ContainsEdges(EdgeList):
    """Directed edges from structural nodes, the pages and tables of documents, to the passages in them (kgp.txt §3).

    ``nodes`` has the rows of each. None leads out of a passage, so a walk over passages never takes one, and ``matrix``
    (passages × passages) is empty: a question that names a structure enters the graph through its node.
    """

    def __init__(self, nodes: Mapping[Structure, np.ndarray], n_passages: int) -> None:
        super().__init__(sparse.csr_array((n_passages, n_passages), dtype=np.int8))
        self.nodes = dict(nodes)

    def content(self, node: Structure) -> np.ndarray:
        """The rows in a node, sorted; none for a structure that no document has."""
        return np.sort(self.nodes.get(node, np.zeros(0, int)))

    def subset(self, rows: np.ndarray) -> Self:
        """The nodes that contain any of the given passages."""
        within = {
            node: np.flatnonzero(np.isin(rows, content)) for node, content in self.nodes.items()
        }
        return ContainsEdges(
            {node: content for node, content in within.items() if len(content)}, len(rows)
        )


class PassageGraph:
    """Passages and the relations between them, by edge kind.

    A node is a row of ``corpus``. As a simple graph (``density``, ``degrees``, ``n_edges``) two passages are joined
    once, whatever the number of kinds, keywords or directions that join them, and never to themselves.
    """

    def __init__(self, corpus: Corpus, relations: Mapping[str, TermBipartite | EdgeList]) -> None:
        self.corpus, self.relations = corpus, dict(relations)

    @property
    def n_nodes(self) -> int:
        return len(self.corpus)

    def neighbours(self, rows: int | Sequence[int] | np.ndarray) -> np.ndarray:
        """The rows that the given ones reach in one step, sorted; a row is no neighbour of itself."""
        rows = np.atleast_1d(np.asarray(rows, int))
        found = [np.zeros(0, int)]
        for relation in self.relations.values():
            place, targets = _columns(relation.out(rows), slice(None))
            found.append(targets[targets != rows[place]])
        return np.unique(np.concatenate(found))

    def linked(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Every edge at the given rows (n,), directions ignored: places in ``rows``, and the rows at the other ends.

        Only what the edges hold is touched, so the cost is the sum of the degrees. A neighbour comes once for each
        term and kind that joins it; a row is no neighbour of itself.
        """
        parts = [relation.linked(rows) for relation in self.relations.values()]
        place, target = (
            np.concatenate([np.zeros(0, int), *part])
            for part in (zip(*parts) if parts else ((), ()))
        )
        others = target != rows[place]
        return place[others], target[others]

    @cached_property
    def degrees(self) -> np.ndarray:
        """The number of distinct neighbours of each passage, directions ignored; shape (passages,)."""
        if not self.relations or not self.n_nodes:
            return np.zeros(self.n_nodes, int)
        cost = np.cumsum(sum(relation.cost() for relation in self.relations.values()) + 1)
        ends = np.unique(
            [0, *np.searchsorted(cost, np.arange(_BLOCK, cost[-1], _BLOCK)), self.n_nodes]
        )
        return np.concatenate([self._count(slice(*block)) for block in pairwise(ends)])

    def _count(self, block: slice) -> np.ndarray:
        """The degrees of some rows: those of the simple graph's adjacency, equal entries merged, without self-loops."""
        merged = sparse.csr_array(
            sum(relation.undirected(block) != 0 for relation in self.relations.values())
        )
        merged.sum_duplicates()
        rows = np.repeat(np.arange(block.start, block.stop), np.diff(merged.indptr))
        return np.bincount(
            rows[rows != merged.indices] - block.start, minlength=block.stop - block.start
        )

    @property
    def n_edges(self) -> int:
        return int(self.degrees.sum()) // 2

    @property
    def mean_degree(self) -> float:
        """2|E| / |V|."""
        return 2 * self.n_edges / self.n_nodes if self.n_nodes else 0.0

    @property
    def density(self) -> float:
        """2|E| / (|V| (|V| − 1)) (gnn-ret.txt §4.4)."""
        return self.mean_degree / (self.n_nodes - 1) if self.n_nodes > 1 else 0.0

    @cached_property
    def n_components(self) -> int:
        """Connected components: those of passages and what joins them, a far smaller graph than the cliques."""
        if not self.relations:
            return self.n_nodes
        joins = sparse.hstack([relation.connecting() for relation in self.relations.values()])
        _, labels = sparse.csgraph.connected_components(
            sparse.block_array([[None, joins], [joins.T, None]])
        )
        return len(np.unique(labels[: self.n_nodes]))

    def subgraph(self, rows: Sequence[int] | np.ndarray) -> Self:
        """The graph between the given passages, renumbered in the given order."""
        relations = {
            kind: relation.subset(np.asarray(rows, int))
            for kind, relation in self.relations.items()
        }
        return PassageGraph(self.corpus.subset(rows), relations)

    def edges(self, kind: str) -> np.ndarray:
        """All edges of a kind, written out: shape (2, edges), sources above targets; undirected ones both ways."""
        matrix = self.relations[kind].out(slice(0, self.n_nodes)).tocoo()
        keep = matrix.row != matrix.col
        return np.stack([matrix.row[keep], matrix.col[keep]]).astype(np.int64)

    def to_networkx(self) -> nx.Graph:
        """A simple graph; nodes carry ``id`` and ``title``, edges the ``kinds`` and ``shared`` terms that make them."""
        graph = nx.Graph()
        graph.add_nodes_from(
            (row, {"id": it.id, "title": it.title}) for row, it in enumerate(self.corpus.passages)
        )
        for kind, relation in self.relations.items():
            for source, target in np.unique(np.sort(self.edges(kind), axis=0), axis=1).T.tolist():
                known = graph.get_edge_data(source, target, {"kinds": (), "shared": ()})
                shared = known["shared"] + relation.shared(source, target)
                graph.add_edge(source, target, kinds=(*known["kinds"], kind), shared=shared)
        return graph

    def to_pyg(self) -> Any:
        """PyG ``Data`` with ``edge_index`` (2, edges) and ``edge_type`` (edges,), an index into ``edge_kinds``."""
        import torch  # takes seconds, and only this needs it
        from torch_geometric.data import Data

        parts = [self.edges(kind) for kind in self.relations]
        types = torch.from_numpy(
            np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
        )
        edge_index = torch.from_numpy(np.concatenate([np.zeros((2, 0), np.int64), *parts], axis=1))
        return Data(
            edge_index=edge_index,
            edge_type=types,
            edge_kinds=list(self.relations),
            num_nodes=self.n_nodes,
        )
