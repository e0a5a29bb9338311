"""The graph around a question: the candidates, what they contain, and what these say of it.

The levels and kinds of edges are those of :class:`kit.methods.qsgnn.graph.MultiLevelGraph`:
entities ``o``, sentences ``c`` and documents ``d``. Every node knows five numbers
(:data:`NUMBERS`), a document also its scores by the plain methods.

No number depends on the scale or the zero of an encoder's cosines. Those with the question and the
scores are standardised over the nodes of a level in the graph, those between the ends of edges over
all edges of a kind in the corpus.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy import ndarray
from scipy.sparse import csr_array
from torch import Tensor

from kit import timer
from kit.methods.graph_reranker.candidates import Scorers, standardised
from kit.methods.graph_reranker.words import WordIndex
from kit.methods.qsgnn.graph import MultiLevelGraph

LEVELS = "ocd"
#: The kinds of edges, as the level that sends and the level that receives.
KINDS = ("cc", "oc", "dc", "oo", "co", "do", "od", "cd")
STORED = ("cc", "oo", "co", "dc", "do")  # the first level has, or is joined to, the second
#: What a node knows: see :class:`kit.methods.graph_reranker.words.WordIndex`; whether its whole
#: name stands in the question; and the standardised cosine.
NUMBERS = ("named", "is named", "covered", "bm25", "cosine")
ALMOST_ONE = 1 - 1e-4
SMALL = 1e-9


class Edges(NamedTuple):
    """Edges of a kind, receiver by receiver."""

    index: Tensor  # (2, edges), from senders to receivers
    closeness: Tensor  # (edges,): the standardised cosine of the ends


class Surroundings(NamedTuple):
    """The graph around one question."""

    corpus: "CorpusGraph"
    query: Tensor  # the question's vector (dimension,), of unit length
    rows: dict[str, Tensor]  # of each level's nodes in the graph of the corpus
    numbers: dict[str, Tensor]  # of the nodes, (nodes, numbers)
    scores: Tensor  # of the documents by the plain methods, (documents, scores)
    edges: dict[str, Edges]


class Batch(NamedTuple):
    """Several questions' graphs as one, without an edge between them."""

    parts: Sequence[Surroundings]
    numbers: dict[str, Tensor]
    scores: Tensor
    edges: dict[str, Edges]

    def products(self, level: str) -> Tensor:
        """q ⊙ x of the level's nodes, (nodes, dimension)."""
        products = []
        for part in self.parts:
            x = part.corpus.vectors[level].index_select(0, part.rows[level])
            products.append(x * part.query)
        return torch.cat(products)

    @property
    def sizes(self) -> list[int]:
        """The documents of each question."""
        return [len(part.scores) for part in self.parts]


class CorpusGraph:
    """All nodes of a corpus with their vectors and words, from which surroundings are cut."""

    def __init__(self, graph: MultiLevelGraph, scorers: Scorers) -> None:
        """``graph`` has its nodes' vectors."""
        self.graph = graph
        self.scorers = scorers
        vocabulary = scorers.vocabulary
        self.words = {
            "o": WordIndex(vocabulary, graph.entities),
            "c": WordIndex(vocabulary, graph.chunks),
            "d": scorers.words,
        }
        self.vectors = {level: graph.data[level].x for level in LEVELS}
        self.neighbours = {kind: self._neighbours(kind) for kind in STORED}

    def passage(self, row: int) -> str:
        """The id of a document."""
        return self.graph.corpus.passages[row].id

    def entity(self, row: int) -> str:
        return self.graph.entities[row]

    def _neighbours(self, kind: str) -> csr_array:
        """Which nodes of the second level are joined to those of the first, as closeness."""
        if kind in ("cc", "oo"):
            matrix = self.graph.adjacency(kind)
            matrix = csr_array(matrix + matrix.T)
        else:
            matrix = csr_array(self.graph.adjacency(kind[::-1]).T)
        matrix.sum_duplicates()

        first, second = (self.vectors[level] for level in kind)
        owners = np.repeat(np.arange(len(first)), np.diff(matrix.indptr))
        products = first[owners] * second[matrix.indices]
        closeness = standardised(products.sum(1).numpy())
        return csr_array(
            (closeness, matrix.indices, matrix.indptr),
            shape=matrix.shape,
        )

    @timer.part("graph")
    def around(
        self,
        text: str,
        vector: ndarray,  # (dimension,), of unit length
        documents: ndarray,  # rows of the candidates
        scores: ndarray,  # (candidates, scores)
    ) -> Surroundings:
        """The graph around a question."""
        edges = {}
        rows = {"d": documents}
        chunk_of, rows["c"], closeness = _held(self.neighbours["dc"], documents)
        within = np.arange(len(rows["c"]))  # a sentence stands in one document
        edges["cd"] = _edges(within, chunk_of, closeness)
        edges["dc"] = _edges(chunk_of, within, closeness)

        document_of, entities, closeness = _held(self.neighbours["do"], documents)
        rows["o"], within = np.unique(entities, return_inverse=True)
        edges["od"] = _edges(within, document_of, closeness)
        edges["do"] = _reversed(edges["od"])
        edges["oc"] = self._among("co", rows)
        edges["co"] = _reversed(edges["oc"])
        for kind in ("oo", "cc"):
            edges[kind] = self._among(kind, rows)

        numbers = {}
        for level in LEVELS:
            numbers[level] = self._numbers(
                level,
                text,
                vector,
                rows[level],
            )
        numbers["d"] = np.column_stack([numbers["d"], standardised(scores)])
        return Surroundings(
            self,
            torch.from_numpy(vector),
            {level: torch.from_numpy(rows[level]).long() for level in LEVELS},
            {level: torch.from_numpy(numbers[level]).float() for level in LEVELS},
            torch.from_numpy(scores).float(),
            edges,
        )

    def _among(self, kind: str, rows: dict[str, ndarray]) -> Edges:
        """The edges between nodes of these rows: to those of the first level of ``kind``."""
        neighbours = self.neighbours[kind]
        first, second = (rows[level] for level in kind)
        receivers, others, closeness = _held(neighbours, first)
        position = np.full(neighbours.shape[1], -1)
        position[second] = np.arange(len(second))

        senders = position[others]
        is_inside = senders >= 0
        return _edges(
            senders[is_inside],
            receivers[is_inside],
            closeness[is_inside],
        )

    def _numbers(
        self,
        level: str,
        text: str,
        vector: ndarray,
        rows: ndarray,
    ) -> ndarray:
        """The five numbers of a level's nodes, (nodes, 5)."""
        words = self.words[level]
        vocabulary = self.scorers.vocabulary
        marks = vocabulary.marked(text)  # (words,)

        named = words.named[rows] @ marks
        is_named = named > ALMOST_ONE
        idf_of_question = max(vocabulary.idf @ marks, SMALL)
        covered = words.idf[rows] @ marks / idf_of_question
        bm25 = words.bm25[rows] @ marks
        highest = max(bm25.max(initial=0), SMALL)
        cosines = self.vectors[level].numpy()[rows] @ vector

        columns = [
            named,
            is_named,
            covered,
            bm25 / highest,
            standardised(cosines),
        ]
        return np.stack(columns, axis=1)


def _held(matrix: csr_array, rows: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """The entries of some rows, row by row: which of ``rows``, columns, and values."""
    part = matrix[rows]
    owners = np.repeat(np.arange(len(rows)), np.diff(part.indptr))
    return owners, part.indices, part.data


def _edges(senders: ndarray, receivers: ndarray, closeness: ndarray) -> Edges:
    ends = np.stack([senders, receivers])
    return Edges(
        torch.from_numpy(ends).long(),
        torch.from_numpy(closeness).float(),
    )


def _reversed(edges: Edges) -> Edges:
    """The same edges the other way, receiver by receiver."""
    order = edges.index[0].argsort(stable=True)
    index = edges.index.flip(0)
    return Edges(index[:, order], edges.closeness[order])


def side_by_side(parts: Sequence[Surroundings]) -> Batch:
    """The graphs of several questions as a batch."""
    starts = dict.fromkeys(LEVELS, 0)
    shifted = {kind: [] for kind in KINDS}
    for part in parts:
        for kind in KINDS:
            start = torch.tensor([[starts[level]] for level in kind])
            shifted[kind].append(part.edges[kind].index + start)
        for level in LEVELS:
            starts[level] += len(part.rows[level])

    edges = {}
    for kind in KINDS:
        closeness = torch.cat([part.edges[kind].closeness for part in parts])
        edges[kind] = Edges(torch.cat(shifted[kind], dim=1), closeness)
    return Batch(
        parts,
        {level: torch.cat([part.numbers[level] for part in parts]) for level in LEVELS},
        torch.cat([part.scores for part in parts]),
        edges,
    )
