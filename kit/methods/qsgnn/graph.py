"""The multi-information level knowledge graph (QSGNN §3.1, Eq. 1).

The paper's symbols and the names here: the entities O, chunks C and documents D are the levels
``o``, ``c`` (sentences) and ``d`` (passages); E_oo, E_cc, E_oc, E_od and E_cd are the kinds of
edges ``oo`` …; C_d and T_d are the sentences and triples of a
:class:`kit.text.triples.Extraction`.

Edges within a level join two entities of a triple (``oo``) and adjacent sentences of a passage
(``cc``). Edges between levels stand for containment: of an entity in the sentence (``oc``) or the
passage (``od``) that a triple of it comes from, and of a sentence in its passage (``cd``). A name
that passages share (:class:`kit.graphs.builders.EntityBuilder`) is contained in them, too. All
edges are simple and go both ways (qsgnn-i18 to i20).
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np
import torch
from numpy import ndarray
from scipy import sparse
from torch import Tensor
from torch_geometric.data import HeteroData
from torch_geometric.transforms import ToUndirected
from torch_geometric.utils import index_to_mask

from kit.corpus import Corpus
from kit.graphs.builders import EntityBuilder
from kit.text import Encoder
from kit.text.entities import fold
from kit.text.triples import Extraction

KINDS = ("oo", "cc", "oc", "od", "cd")
NO_NODES = torch.empty(0, dtype=torch.long)


@dataclass(frozen=True)
class MultiLevelGraph:
    """The graph as PyG's ``HeteroData``, and the texts of its nodes; documents are the passages.

    ``data`` has for each level the nodes' numbers (``n_id``) and, once encoded, their vectors
    (``x``), and for each kind of ``KINDS``, such as ``data["od"]``, an ``edge_index`` from the
    first level to the second, each edge once. An entity's text is the form in which it was met
    first; forms that fold alike are one (qsgnn-i19).
    """

    corpus: Corpus
    entities: tuple[str, ...]
    chunks: tuple[str, ...]
    data: HeteroData

    @classmethod
    def build(cls, corpus: Corpus, extractions: Sequence[Extraction]) -> Self:
        """Eq. 1: the graph of a corpus whose passages have these extractions, one each."""
        draft = _Draft()
        documents = zip(corpus.passages, extractions, strict=True)
        for document, (passage, extraction) in enumerate(documents):
            draft.add_document(document, passage.title, extraction)
        draft.add_shared_names(corpus)
        return cls(
            corpus,
            tuple(draft.entities),
            tuple(draft.chunks),
            draft.to_data(len(corpus)),
        )

    def without(self, level: str) -> Self:
        """The graph with no entities (``o``) or no chunks (``c``), as in the paper's ablations."""
        data = self.data.subgraph({level: NO_NODES})
        if level == "o":
            return replace(self, data=data, entities=())
        return replace(self, data=data, chunks=())

    def encoded(self, encoder: Encoder, documents: ndarray) -> Self:
        """The graph with vectors of all nodes, ``x`` (nodes, dimension) per level.

        Those of the ``documents`` are at hand.
        """
        data = copy(self.data)
        texts_of_level = {"o": self.entities, "c": self.chunks}
        for level, texts in texts_of_level.items():
            vectors = torch.from_numpy(encoder.encode(texts))
            data[level].x = vectors.reshape(-1, documents.shape[1])  # of no text, too
        data["d"].x = torch.from_numpy(documents)
        return replace(self, data=data)

    def adjacency(self, kind: str) -> sparse.csr_array:
        """Nodes of the first level × those of the second, 1 for an edge."""
        edge_index = self.data[kind].edge_index
        first, second = edge_index.numpy()
        ones = np.ones(len(first), np.float32)
        shape = tuple(self.data[level].num_nodes for level in kind)
        return sparse.csr_array(
            (ones, (first, second)),
            shape=shape,
        )

    def subgraph(self, documents: Tensor) -> HeteroData:
        """Documents, what they contain, and the edges among all these, in both directions."""
        is_chosen = index_to_mask(documents, len(self.corpus))
        nodes = {"d": documents}
        for kind in ("od", "cd"):
            inner, outer = self.data[kind].edge_index
            nodes[kind[0]] = inner[is_chosen[outer]].unique()
        return ToUndirected()(self.data.subgraph(nodes))


class _Draft:
    """The nodes and edges that were met so far, these perhaps several times."""

    def __init__(self) -> None:
        self.entities = []  # in the forms that were met first
        self.chunks = []
        self.rows = {}  # of the entities, by their folded names
        self.edges = {kind: [] for kind in KINDS}

    def entity(self, name: str) -> int:
        """The row of the entity of this name, which may be new."""
        folded = fold(name)
        if folded not in self.rows:
            self.rows[folded] = len(self.entities)
            self.entities.append(name)
        return self.rows[folded]

    def add_document(self, document: int, title: str, extraction: Extraction) -> None:
        """A passage, its sentences C_d, and the entities of its triples T_d."""
        first = len(self.chunks)
        self.chunks += [f"{title}\n{sentence}" for sentence in extraction.sentences]
        chunks = range(first, len(self.chunks))
        self.edges["cc"] += pairwise(chunks)
        self.edges["cd"] += [(chunk, document) for chunk in chunks]

        for triple in extraction.triples:
            subject = self.entity(triple.subject)
            other = self.entity(triple.object)
            if subject != other:
                edge = sorted((subject, other))
                self.edges["oo"].append(tuple(edge))
            for end in (subject, other):
                self.edges["od"].append((end, document))
                if triple.sentence is not None:
                    self.edges["oc"].append((end, first + triple.sentence))

    def add_shared_names(self, corpus: Corpus) -> None:
        """A name that passages share is contained in them all, whether or not a triple has it."""
        shared = EntityBuilder().relations(corpus)["entity"].incidence
        rows = [self.entity(name) for name in shared.terms]
        for document, term in zip(*shared.matrix.nonzero()):
            self.edges["od"].append((rows[term], int(document)))

    def to_data(self, n_documents: int) -> HeteroData:
        data = HeteroData()
        sizes = (len(self.entities), len(self.chunks), n_documents)
        for level, size in zip("ocd", sizes):
            data[level].n_id = torch.arange(size)

        for kind, edges in self.edges.items():
            simple = list(dict.fromkeys(edges))
            edge_index = torch.tensor(simple, dtype=torch.long).reshape(-1, 2).T
            data[kind[0], kind, kind[1]].edge_index = edge_index.contiguous()
        return data
