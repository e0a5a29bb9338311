"""The multi-information level knowledge graph (qsgnn.txt §3.1): entities ``o``, sentences ``c``, documents ``d``.

Edges within a level: ``oo``, two entities of a triple, and ``cc``, adjacent sentences of a passage. Between levels, by
containment: ``oc`` and ``od``, an entity and the sentence or passage that a triple of it comes from; ``od`` has a name
and the passages that share it (:class:`kit.graphs.builders.Entity`), too; and ``cd``, a sentence and its passage. All
are simple and go both ways (qsgnn-i18 to i20).
"""

import itertools
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch_geometric.data import HeteroData
from torch_geometric.transforms import ToUndirected
from torch_geometric.utils import index_to_mask

from kit.corpus import Corpus
from kit.graphs.builders import Entity
from kit.text import Encoder
from kit.text.entities import fold
from kit.text.triples import Extraction

KINDS = ("oo", "cc", "oc", "od", "cd")


@dataclass(frozen=True)
class MultiLevelGraph:
    """The graph as PyG's ``HeteroData``, and the texts of its nodes; documents are the corpus's passages.

    ``data`` has for each level the nodes' numbers (``n_id``) and, once encoded, their vectors (``x``), and for each
    kind of ``KINDS``, such as ``data["od"]``, an ``edge_index`` from the first level to the second, each edge once. An
    entity's text is the form in which it was met first; forms that fold alike are one (qsgnn-i19).
    """

    corpus: Corpus
    entities: tuple[str, ...]
    chunks: tuple[str, ...]
    data: HeteroData

    @classmethod
    def of(cls, corpus: Corpus, extractions: Sequence[Extraction]) -> Self:
        """The graph of a corpus whose passages have these extractions, one each."""
        entities: dict[
            str, tuple[int, str]
        ] = {}  # each one's number and first form, by its folded form
        chunks: list[str] = []
        pairs: dict[str, list[tuple[int, int]]] = {kind: [] for kind in KINDS}

        for document, (passage, extraction) in enumerate(
            zip(corpus.passages, extractions, strict=True)
        ):
            first = len(chunks)
            chunks += [f"{passage.title}\n{sentence}" for sentence in extraction.sentences]
            here = range(first, len(chunks))
            pairs["cc"] += itertools.pairwise(here)
            pairs["cd"] += [(chunk, document) for chunk in here]
            for triple in extraction.triples:
                names = triple.subject, triple.object
                ends = [entities.setdefault(fold(name), (len(entities), name))[0] for name in names]
                pairs["oo"] += [(min(ends), max(ends))] if ends[0] != ends[1] else []
                pairs["od"] += [(end, document) for end in ends]
                pairs["oc"] += [
                    (end, first + triple.sentence) for end in ends if triple.sentence is not None
                ]
        # A name that passages share is contained in them all, whether or not a triple has it.
        linked = Entity().relations(corpus)["entity"].incidence
        shared = [
            entities.setdefault(fold(name), (len(entities), name))[0] for name in linked.terms
        ]
        pairs["od"] += [
            (shared[term], int(document)) for document, term in zip(*linked.matrix.nonzero())
        ]
        data = HeteroData()
        for level, size in {"o": len(entities), "c": len(chunks), "d": len(corpus)}.items():
            data[level].n_id = torch.arange(size)
        for kind, edges in pairs.items():
            simple = np.array(list(dict.fromkeys(edges)), np.int64).reshape(-1, 2).T
            data[kind[0], kind, kind[1]].edge_index = torch.from_numpy(np.ascontiguousarray(simple))
        return cls(corpus, tuple(name for _, name in entities.values()), tuple(chunks), data)

    def without(self, level: str) -> Self:
        """The graph with no entities (``o``) or no chunks (``c``), as in the paper's ablations."""
        data = self.data.subgraph({level: torch.empty(0, dtype=torch.long)})
        return replace(self, data=data, **{{"o": "entities", "c": "chunks"}[level]: ()})

    def encoded(self, encoder: Encoder, documents: np.ndarray) -> Self:
        """The graph with vectors of all nodes, ``x`` (nodes, dimension) of a level; ``documents`` are those at hand."""
        data = copy(self.data)
        for level, texts in (("o", self.entities), ("c", self.chunks)):
            data[level].x = torch.from_numpy(encoder.encode(texts)).reshape(-1, documents.shape[1])
        data["d"].x = torch.from_numpy(documents)
        return replace(self, data=data)

    def adjacency(self, kind: str) -> sparse.csr_array:
        """Nodes of the first level × those of the second, 1 for an edge; ``do`` is ``od`` turned round."""
        edges = (
            self.data[kind].edge_index
            if kind in KINDS
            else self.data[kind[::-1]].edge_index.flip(0)
        )
        shape = tuple(self.data[level].num_nodes for level in kind)
        return sparse.csr_array(
            (np.ones(edges.shape[1], np.float32), tuple(edges.numpy())), shape=shape
        )

    def subgraph(self, documents: Tensor) -> HeteroData:
        """Some documents, what they contain, and the edges among all these, in both directions."""
        chosen = index_to_mask(documents, len(self.corpus))
        nodes = {"d": documents}
        for kind in ("od", "cd"):
            inner, outer = self.data[kind].edge_index
            nodes[kind[0]] = inner[chosen[outer]].unique()
        return ToUndirected()(self.data.subgraph(nodes))
