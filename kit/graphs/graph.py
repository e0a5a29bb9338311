"""The graph of passages: nodes are passages, edges have kinds, and cliques stay unwritten.

Two passages that share a keyword are neighbours, so a keyword that d passages hold stands for
d·(d−1)/2 edges. What is kept is the incidence of passages and keywords; edges are worked out for
the rows that are asked for.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import networkx as nx
import numpy as np
from numpy import ndarray
from scipy import sparse
from scipy.sparse import csr_array

from kit.corpus import Corpus
from kit.corpus.structures import Structure
from kit.corpus.types import Strings
from kit.text import BipartiteIncidence

_BLOCK = 4_000_000  # entries of an adjacency block, before equal ones are merged: about 50 MB
_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Rows = ndarray | slice
Ends = tuple[ndarray, ndarray]  # of edges: sources as indices into given rows, and targets


def _columns(matrix: csr_array, rows: Rows) -> Ends:
    """What the given rows (n,) hold: indices into ``rows``, and columns; row after row."""
    block = matrix[rows]
    counts = np.diff(block.indptr)
    sources = np.repeat(np.arange(len(counts)), counts)
    return sources, block.indices


@dataclass
class TermBipartite:
    """Undirected edges between passages that hold a term in common.

    They are kept as the edges from passages to terms.
    """

    incidence: BipartiteIncidence

    @cached_property
    def terms(self) -> csr_array:
        """Passages × terms, of ones: products count shared terms."""
        matrix = self.incidence.matrix
        return csr_array(
            (np.ones(matrix.nnz, np.int32), matrix.indices, matrix.indptr),
            shape=matrix.shape,
        )

    @cached_property
    def passages(self) -> csr_array:
        """Terms × passages."""
        return csr_array(self.terms.T)

    def out(self, rows: Rows) -> csr_array:
        """The given rows of the adjacency matrix, self-loops included: (rows, passages)."""
        return self.terms[rows] @ self.passages

    undirected = out

    def linked(self, rows: ndarray) -> Ends:
        """See :meth:`PassageGraph.linked`; here a row is among its own neighbours."""
        sources, terms = _columns(self.terms, rows)
        via, targets = _columns(self.passages, terms)
        return sources[via], targets

    def cost(self) -> ndarray:
        """For each passage, the entries of its adjacency row before equal ones are merged."""
        return self.terms @ np.diff(self.passages.indptr)

    def connecting(self) -> csr_array:
        """Passages × what joins them: two that hold the same are connected."""
        return self.terms

    def shared(self, source: int, target: int) -> Strings:
        """The terms that make an edge."""
        common = np.intersect1d(
            self.terms[[source]].indices,
            self.terms[[target]].indices,
        )
        return tuple(dict.fromkeys(self.incidence.terms[common]))

    def subset(self, rows: ndarray) -> Self:
        """The edges between the given passages, renumbered."""
        incidence = BipartiteIncidence(
            self.incidence.matrix[rows],
            self.incidence.terms,
        )
        return TermBipartite(incidence)


@dataclass
class EdgeList:
    """Edges written out, from row to column of ``matrix`` (passages × passages).

    Walking follows their direction. The methods are those of :class:`TermBipartite`.
    """

    matrix: csr_array

    @classmethod
    def of(cls, sources: Sequence[int], targets: Sequence[int], n: int) -> Self:
        """From the two ends of each edge, over ``n`` passages."""
        ones = np.ones(len(sources), np.int8)
        return cls(csr_array((ones, (sources, targets)), shape=(n, n)))

    @cached_property
    def _both_ways(self) -> csr_array:
        return self.matrix + self.matrix.T

    def out(self, rows: Rows) -> csr_array:
        return self.matrix[rows]

    def undirected(self, rows: Rows) -> csr_array:
        return self._both_ways[rows]

    def linked(self, rows: ndarray) -> Ends:
        return _columns(self._both_ways, rows)

    def cost(self) -> ndarray:
        return np.diff(self._both_ways.indptr)

    def connecting(self) -> csr_array:
        return self.matrix + sparse.eye_array(
            self.matrix.shape[0],
            dtype=np.int8,
        )

    def shared(self, source: int, target: int) -> Strings:
        return ()

    def subset(self, rows: ndarray) -> Self:
        return EdgeList(self.matrix[rows][:, rows])


class ContainsEdges(EdgeList):
    """Directed edges from pages and tables of documents to the passages in them (KGP §3).

    ``nodes`` has the rows of each. None leads out of a passage, so a walk over passages never takes
    one, and ``matrix`` (passages × passages) is empty: a question that names a structure enters the
    graph through its node.
    """

    def __init__(
        self,
        nodes: Mapping[Structure, ndarray],
        n_passages: int,
    ) -> None:
        super().__init__(csr_array((n_passages, n_passages), dtype=np.int8))
        self.nodes = dict(nodes)

    def content(self, node: Structure) -> ndarray:
        """The rows in a node, sorted; none for a structure that no document has."""
        return np.sort(self.nodes.get(node, np.zeros(0, int)))

    def subset(self, rows: ndarray) -> Self:
        """The nodes that contain any of the given passages."""
        nodes = {}
        for node, content in self.nodes.items():
            within = np.flatnonzero(np.isin(rows, content))
            if len(within):
                nodes[node] = within
        return ContainsEdges(nodes, len(rows))


Relations = Mapping[str, TermBipartite | EdgeList]  # by edge kind


class PassageGraph:
    """Passages and the relations between them, by edge kind.

    A node is a row of ``corpus``. As a simple graph (``density``, ``degrees``, ``n_edges``) two
    passages are joined once, whatever the number of kinds, keywords or directions that join them,
    and never to themselves.
    """

    def __init__(
        self,
        corpus: Corpus,
        relations: Relations,
    ) -> None:
        self.corpus = corpus
        self.relations = dict(relations)

    def __repr__(self) -> str:
        kinds = "+".join(self.relations)
        return f"PassageGraph({self.n_nodes:,} passages, {kinds})"

    @property
    def n_nodes(self) -> int:
        return len(self.corpus)

    def neighbours(self, rows: int | Sequence[int] | ndarray) -> ndarray:
        """The rows that the given ones reach in one step, sorted.

        A row is no neighbour of itself.
        """
        rows = np.atleast_1d(np.asarray(rows, int))
        neighbours = [np.zeros(0, int)]
        for relation in self.relations.values():
            edges = relation.out(rows).tocoo()
            is_other = edges.col != rows[edges.row]
            neighbours.append(edges.col[is_other])
        return np.unique(np.concatenate(neighbours))

    def linked(self, rows: ndarray) -> Ends:
        """Every edge at the given rows (n,), directions ignored.

        Returns indices into ``rows``, and the rows at the other ends. Only what the edges hold is
        touched, so the cost is the sum of the degrees. A neighbour comes once for each term and
        kind that joins it; a row is no neighbour of itself.
        """
        ends = [relation.linked(rows) for relation in self.relations.values()]
        sources, targets = np.concatenate([np.zeros((2, 0), int), *ends], axis=1)
        is_other = targets != rows[sources]
        return sources[is_other], targets[is_other]

    @cached_property
    def degrees(self) -> ndarray:
        """The number of distinct neighbours of each passage, directions ignored: (passages,)."""
        if not self.relations or not self.n_nodes:
            return np.zeros(self.n_nodes, int)
        costs = sum(relation.cost() for relation in self.relations.values())
        total = np.cumsum(costs + 1)
        cuts = np.arange(_BLOCK, total[-1], _BLOCK)
        ends = np.unique([0, *np.searchsorted(total, cuts), self.n_nodes])

        # Those of the simple graph's adjacency: equal entries merged, without self-loops.
        degrees = []
        for start, end in pairwise(ends):
            block = slice(start, end)
            joined = sum(relation.undirected(block) != 0 for relation in self.relations.values())
            joined.sum_duplicates()
            edges = joined.tocoo()
            is_other = edges.col != edges.row + start
            degrees.append(
                np.bincount(
                    edges.row[is_other],
                    minlength=end - start,
                )
            )
        return np.concatenate(degrees)

    @property
    def n_edges(self) -> int:
        return int(self.degrees.sum()) // 2

    @property
    def mean_degree(self) -> float:
        """2|E| / |V|."""
        return 2 * self.n_edges / max(self.n_nodes, 1)

    @property
    def density(self) -> float:
        """2|E| / (|V| (|V| − 1)) (GNN-Ret §4.4)."""
        return self.mean_degree / max(self.n_nodes - 1, 1)

    @cached_property
    def n_components(self) -> int:
        """Connected components.

        They are those of passages and what joins them, a far smaller graph than the cliques.
        """
        if not self.relations:
            return self.n_nodes
        joins = sparse.hstack([relation.connecting() for relation in self.relations.values()])
        bipartite = sparse.block_array(
            [
                [None, joins],
                [joins.T, None],
            ]
        )
        _, labels = sparse.csgraph.connected_components(bipartite)
        return len(np.unique(labels[: self.n_nodes]))

    def subgraph(self, rows: Sequence[int] | ndarray) -> Self:
        """The graph between the given passages, renumbered in the given order."""
        rows = np.asarray(rows, int)
        relations = {}
        for kind, relation in self.relations.items():
            relations[kind] = relation.subset(rows)
        return PassageGraph(self.corpus.subset(rows), relations)

    def edges(self, kind: str) -> ndarray:
        """All edges of a kind, written out: (2, edges), sources above targets.

        Undirected ones stand there both ways.
        """
        matrix = self.relations[kind].out(slice(None)).tocoo()
        is_other = matrix.row != matrix.col
        ends = np.stack([matrix.row[is_other], matrix.col[is_other]])
        return ends.astype(np.int64)

    def to_networkx(self) -> nx.Graph:
        """A simple graph.

        Nodes carry ``passage`` (its id) and ``title``, edges the ``kinds`` and ``shared`` terms
        that make them, as in ``entity+structure`` and ``Ines Moravec; Selby``: all is plain text.
        """
        graph = nx.Graph()
        for row, passage in enumerate(self.corpus.passages):
            graph.add_node(row, passage=_in_xml(passage.id), title=_in_xml(passage.title))
        for kind, relation in self.relations.items():
            undirected = np.unique(np.sort(self.edges(kind), axis=0), axis=1)
            for source, target in undirected.T.tolist():
                edge = graph.get_edge_data(source, target, {"kinds": "", "shared": ""})
                kinds = [edge["kinds"], kind]
                shared = [edge["shared"], *relation.shared(source, target)]
                graph.add_edge(
                    source,
                    target,
                    kinds="+".join(filter(None, kinds)),
                    shared=_in_xml("; ".join(filter(None, shared))),
                )
        return graph

    def to_pyg(self) -> Any:
        """PyG ``Data`` with ``edge_index`` (2, edges) and ``edge_type`` (edges,).

        A type is an index into ``edge_kinds``.
        """
        import torch  # takes seconds, and only this needs it
        from torch_geometric.data import Data

        edges = [self.edges(kind) for kind in self.relations]
        types = [np.full(of_kind.shape[1], index) for index, of_kind in enumerate(edges)]
        no_edges = np.zeros((2, 0), np.int64)
        return Data(
            edge_index=torch.from_numpy(np.concatenate([no_edges, *edges], axis=1)),
            edge_type=torch.from_numpy(np.concatenate([no_edges[0], *types])),
            edge_kinds=list(self.relations),
            num_nodes=self.n_nodes,
        )


def _in_xml(text: str) -> str:
    """The text with U+FFFD for control characters, which no XML file can hold."""
    return _NOT_IN_XML.sub("\ufffd", text)
