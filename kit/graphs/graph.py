"""The graph of passages: nodes are passages, edges have kinds, and cliques stay unwritten.

Two passages that share a keyword are neighbours, so a keyword that d passages hold stands for d·(d−1)/2 edges. What is
kept is the incidence of passages and keywords; edges are worked out for the rows that are asked for, or block by block
where all of them are to be counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
from joblib import Parallel, delayed
from scipy import sparse

from kit.corpus import Corpus
from kit.text import Incidence

if TYPE_CHECKING:
    from torch_geometric.data import Data

_BLOCK = 4_000_000  # entries of an adjacency block, before equal ones are merged: about 50 MB


def _slices(matrix: sparse.csr_array, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The columns that the given rows (n,) hold: places in ``rows``, and the columns; row after row."""
    starts = matrix.indptr[rows]
    counts = matrix.indptr[rows + 1] - starts
    place = np.repeat(np.arange(len(rows)), counts)
    first = np.cumsum(counts) - counts
    return place, matrix.indices[np.arange(len(place)) + np.repeat(starts - first, counts)]


@dataclass(frozen=True)
class SharedTerms:
    """Undirected edges between passages that hold a term in common."""

    incidence: Incidence

    @cached_property
    def _terms_by_passage(self) -> sparse.csr_array:
        """Passages × terms, of ones: products count shared terms."""
        matrix = self.incidence.matrix
        return sparse.csr_array((np.ones(matrix.nnz, np.int32), matrix.indices, matrix.indptr), shape=matrix.shape)

    @cached_property
    def _passages_by_term(self) -> sparse.csr_array:
        return sparse.csr_array(self._terms_by_passage.T)

    def out(self, rows: np.ndarray | slice) -> sparse.csr_array:
        """The given rows of the adjacency matrix, self-loops included; shape (rows, passages)."""
        return self._terms_by_passage[rows] @ self._passages_by_term

    undirected = out

    def linked(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See :meth:`PassageGraph.linked`; a row is among its own neighbours here."""
        place, terms = _slices(self._terms_by_passage, rows)
        again, targets = _slices(self._passages_by_term, terms)
        return place[again], targets

    def cost(self) -> np.ndarray:
        """For each passage, the entries that its row of the adjacency takes before equal ones are merged."""
        return self._terms_by_passage @ np.diff(self._passages_by_term.indptr)

    def components_matrix(self) -> sparse.csr_array:
        """A graph over passages and terms with the same connected passages, far smaller than the cliques."""
        return sparse.csr_array(sparse.block_array([[None, self._terms_by_passage], [self._passages_by_term, None]]))

    def shared(self, source: int, target: int) -> tuple[str, ...]:
        matrix = self._terms_by_passage
        common = np.intersect1d(matrix[[source]].indices, matrix[[target]].indices)
        return tuple(dict.fromkeys(self.incidence.terms[common]))

    def subset(self, rows: np.ndarray) -> SharedTerms:
        return SharedTerms(Incidence(sparse.csr_array(self.incidence.matrix[rows]), self.incidence.terms))


@dataclass(frozen=True)
class Links:
    """Edges written out, from row to column of ``matrix`` (passages × passages); walking follows their direction."""

    matrix: sparse.csr_array

    @cached_property
    def _both_ways(self) -> sparse.csr_array:
        return sparse.csr_array(self.matrix + self.matrix.T)

    def out(self, rows: np.ndarray | slice) -> sparse.csr_array:
        return self.matrix[rows]

    def undirected(self, rows: np.ndarray | slice) -> sparse.csr_array:
        return self._both_ways[rows]

    def linked(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See :meth:`PassageGraph.linked`."""
        return _slices(self._both_ways, rows)

    def cost(self) -> np.ndarray:
        return np.diff(self._both_ways.indptr)

    def components_matrix(self) -> sparse.csr_array:
        return self.matrix

    def shared(self, source: int, target: int) -> tuple[str, ...]:
        return ()

    def subset(self, rows: np.ndarray) -> Links:
        return Links(sparse.csr_array(self.matrix[rows][:, rows]))


Relation = SharedTerms | Links


class PassageGraph:
    """Passages and the relations between them, by edge kind.

    A node is a row of ``corpus``. As a simple graph (``density``, ``degrees``, ``n_edges``) two passages are joined
    once, whatever the number of kinds, keywords or directions that join them, and never to themselves.
    """

    def __init__(self, corpus: Corpus, relations: Mapping[str, Relation]) -> None:
        self.corpus = corpus
        self.relations = dict(relations)

    def __or__(self, other: PassageGraph) -> PassageGraph:
        """The union of two graphs over one corpus, with the kinds of both."""
        return PassageGraph(self.corpus, self.relations | other.relations)

    @property
    def n_nodes(self) -> int:
        return len(self.corpus)

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(self.relations)

    def neighbours(self, rows: int | Sequence[int] | np.ndarray) -> np.ndarray:
        """The rows that the given ones reach in one step, sorted; a row is no neighbour of itself."""
        rows = np.atleast_1d(np.asarray(rows, int))
        found = []
        for relation in self.relations.values():
            block = relation.out(rows)
            sources = np.repeat(rows, np.diff(block.indptr))
            found.append(block.indices[block.indices != sources])
        return np.unique(np.concatenate(found)) if found else np.zeros(0, int)

    def linked(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Every edge at the given rows (n,), directions ignored: places in ``rows``, and the rows at the other ends.

        Only what the edges hold is touched, so the cost is the sum of the degrees. A neighbour comes once for each
        term and kind that joins it; a row is no neighbour of itself.
        """
        parts = [relation.linked(rows) for relation in self.relations.values()]
        place, target = (np.concatenate([np.zeros(0, int), *part]) for part in (zip(*parts) if parts else ((), ())))
        others = target != rows[place]
        return place[others], target[others]

    @cached_property
    def degrees(self) -> np.ndarray:
        """The number of distinct neighbours of each passage, directions ignored; shape (passages,)."""
        if not self.relations or not self.n_nodes:
            return np.zeros(self.n_nodes, int)
        # Threads: scipy's sparse products leave the interpreter lock.
        counts = Parallel(n_jobs=2, prefer="threads")(delayed(self._count)(block) for block in self._blocks())
        return np.concatenate(counts)

    def _count(self, block: slice) -> np.ndarray:
        return np.diff(self._undirected(block).indptr)

    def _undirected(self, block: slice) -> sparse.csr_array:
        """Rows of the simple graph's adjacency: no self-loops, equal entries merged."""
        merged = sum((relation.undirected(block) != 0 for relation in self.relations.values()), start=0)
        merged = sparse.csr_array(merged, dtype=np.int8)
        merged.sum_duplicates()
        rows = np.repeat(np.arange(block.start, block.stop), np.diff(merged.indptr))
        merged.data[merged.indices == rows] = 0
        merged.eliminate_zeros()
        return merged

    def _blocks(self) -> Iterator[slice]:
        cost = np.cumsum(sum(relation.cost() for relation in self.relations.values()) + 1)
        start = 0
        while start < self.n_nodes:
            spent = cost[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(cost, spent + _BLOCK, side="right")))
            yield slice(start, stop)
            start = stop

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
    def components(self) -> np.ndarray:
        """The connected component of each passage, numbered from 0; shape (passages,)."""
        # Passages come first in every relation's matrix; the terms of each relation follow in a range of their own.
        rows, columns, size = [], [], self.n_nodes
        for relation in self.relations.values():
            matrix = relation.components_matrix().tocoo()
            shift = size - self.n_nodes
            rows.append(np.where(matrix.row < self.n_nodes, matrix.row, matrix.row + shift))
            columns.append(np.where(matrix.col < self.n_nodes, matrix.col, matrix.col + shift))
            size += matrix.shape[0] - self.n_nodes
        row, column = (np.concatenate(part) if part else np.zeros(0, int) for part in (rows, columns))
        joined = sparse.csr_array((np.ones(len(row), np.int8), (row, column)), shape=(size, size))
        labels = sparse.csgraph.connected_components(joined, directed=False)[1][: self.n_nodes]
        return np.unique(labels, return_inverse=True)[1]

    @property
    def n_components(self) -> int:
        return int(self.components.max(initial=-1)) + 1

    def subgraph(self, rows: Sequence[int] | np.ndarray) -> PassageGraph:
        """The graph between the given passages, renumbered in the given order."""
        rows = np.asarray(rows, int)
        return PassageGraph(
            self.corpus.subset(rows), {kind: relation.subset(rows) for kind, relation in self.relations.items()}
        )

    def edges(self, kind: str) -> np.ndarray:
        """All edges of a kind, written out: shape (2, edges), sources above targets; undirected ones both ways."""
        matrix = self.relations[kind].out(slice(0, self.n_nodes)).tocoo()
        keep = matrix.row != matrix.col
        return np.stack([matrix.row[keep], matrix.col[keep]]).astype(np.int64)

    def to_networkx(self) -> nx.Graph:
        """A simple graph; nodes carry ``id`` and ``title``, edges the ``kinds`` and ``shared`` terms that make them."""
        graph = nx.Graph()
        graph.add_nodes_from(
            (row, {"id": passage.id, "title": passage.title}) for row, passage in enumerate(self.corpus.passages)
        )
        for kind, relation in self.relations.items():
            for source, target in self.edges(kind).T.tolist():
                if graph.has_edge(source, target) and kind in graph.edges[source, target]["kinds"]:
                    continue
                kinds, shared = (graph.get_edge_data(source, target, {}).get(name, ()) for name in ("kinds", "shared"))
                graph.add_edge(source, target, kinds=(*kinds, kind), shared=shared + relation.shared(source, target))
        return graph

    def to_pyg(self) -> Data:
        """PyG ``Data`` with ``edge_index`` (2, edges) and ``edge_type`` (edges,), an index into ``edge_kinds``."""
        import torch  # takes seconds, and only this needs it
        from torch_geometric.data import Data

        parts = [self.edges(kind) for kind in self.kinds]
        types = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
        index = np.concatenate([np.zeros((2, 0), np.int64), *parts], axis=1)
        return Data(
            edge_index=torch.from_numpy(index),
            edge_type=torch.from_numpy(types.astype(np.int64)),
            edge_kinds=list(self.kinds),
            num_nodes=self.n_nodes,
        )
