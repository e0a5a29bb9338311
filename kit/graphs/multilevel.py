"""The multi-information level knowledge graph (qsgnn.txt §3.1): entities, chunks (sentences) and documents (passages).

Edges within a level: ``oo``, two entities of a triple, and ``cc``, adjacent sentences of a passage. Between levels, by
containment: ``oc`` and ``od``, an entity and the sentence or passage that a triple of it comes from, and ``cd``, a
sentence and its passage. All are simple and go both ways (qsgnn-i18 to i20).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from kit.corpus import Corpus
from kit.text.mentions import fold
from kit.text.triples import Extraction

if TYPE_CHECKING:
    from torch_geometric.data import HeteroData

    from kit.text import Encoder

#: The letters that the paper has for the levels, and what PyG knows them by.
LEVELS = {"o": "entity", "c": "chunk", "d": "document"}
KINDS = ("oo", "cc", "oc", "od", "cd")


@dataclass(frozen=True)
class MultiLevelGraph:
    """Nodes of three levels, and the edges of each kind.

    ``entities`` and ``chunks`` hold the text of each node; documents are the corpus's passages. ``edges`` has for each
    kind of ``KINDS`` an array (2, edges): nodes of the first level, nodes of the second; of ``oo`` and ``cc`` each edge
    once. An entity's text is the form in which it was met first; forms that fold alike are one (qsgnn-i19).
    """

    corpus: Corpus
    entities: tuple[str, ...]
    chunks: tuple[str, ...]
    edges: dict[str, np.ndarray]

    @classmethod
    def of(cls, corpus: Corpus, extractions: Sequence[Extraction]) -> MultiLevelGraph:
        """The graph of a corpus whose passages have these extractions, one each."""
        number: dict[str, int] = {}
        names: list[str] = []
        chunks: list[str] = []
        pairs: dict[str, list[tuple[int, int]]] = {kind: [] for kind in KINDS}

        def entity(name: str) -> int:
            if (found := number.setdefault(fold(name), len(names))) == len(names):
                names.append(name)
            return found

        for document, (passage, extraction) in enumerate(zip(corpus.passages, extractions, strict=True)):
            first = len(chunks)
            chunks += [f"{passage.title}\n{sentence}" for sentence in extraction.sentences]
            here = range(first, len(chunks))
            pairs["cc"] += itertools.pairwise(here)
            pairs["cd"] += [(chunk, document) for chunk in here]
            for triple in extraction.triples:
                ends = entity(triple.subject), entity(triple.object)
                if ends[0] != ends[1]:
                    pairs["oo"].append((min(ends), max(ends)))
                for end in ends:
                    pairs["od"].append((end, document))
                    if triple.sentence is not None:
                        pairs["oc"].append((end, first + triple.sentence))
        edges = {kind: np.array(list(dict.fromkeys(of)), np.int64).reshape(-1, 2).T for kind, of in pairs.items()}
        return cls(corpus, tuple(names), tuple(chunks), edges)

    def without(self, level: str) -> MultiLevelGraph:
        """The graph with no entities (``o``) or no chunks (``c``), as in the paper's ablations."""
        edges = {kind: of[:, :0] if level in kind else of for kind, of in self.edges.items()}
        return replace(self, edges=edges, **({"entities": ()} if level == "o" else {"chunks": ()}))

    def size(self, level: str) -> int:
        """The number of nodes of a level, ``o``, ``c`` or ``d``."""
        return {"o": len(self.entities), "c": len(self.chunks), "d": len(self.corpus)}[level]

    def texts(self, level: str) -> tuple[str, ...]:
        """What the encoder reads of each node of a level."""
        if level == "d":
            return tuple(passage.full_text for passage in self.corpus.passages)
        return self.entities if level == "o" else self.chunks

    @cached_property
    def adjacency(self) -> dict[str, sparse.csr_array]:
        """For each kind the nodes of its first level × those of its second; 1 where there is an edge."""
        return {kind: self._matrix(kind, of) for kind, of in self.edges.items()}

    @cached_property
    def contained(self) -> dict[str, sparse.csr_array]:
        """Documents × the entities (``o``) or chunks (``c``) that they contain."""
        return {kind[0]: self._matrix("d" + kind[0], self.edges[kind][::-1]) for kind in ("od", "cd")}

    def _matrix(self, kind: str, edges: np.ndarray) -> sparse.csr_array:
        shape = self.size(kind[0]), self.size(kind[1])
        return sparse.csr_array((np.ones(edges.shape[1], np.float32), tuple(edges)), shape=shape)

    def part(self, documents: np.ndarray) -> MultiLevelPart:
        """The graph of some documents: they, what they contain, and the edges between these."""
        nodes = {level: np.unique(of[documents].indices) for level, of in self.contained.items()} | {"d": documents}
        edges = {}
        for kind, whole in self.adjacency.items():
            block = whole[nodes[kind[0]]][:, nodes[kind[1]]].tocoo()
            edges[kind] = np.stack([block.row, block.col]).astype(np.int64)
        return MultiLevelPart(nodes, edges)

    def to_pyg(self, encoder: Encoder) -> HeteroData:
        """The graph for PyG: ``x`` of each level (nodes, dimension), ``edge_index`` of each kind, and its reverse."""
        import torch
        from torch_geometric.data import HeteroData
        from torch_geometric.transforms import ToUndirected

        data = HeteroData()
        for letter, level in LEVELS.items():
            data[level].x = torch.from_numpy(encoder.encode(self.texts(letter)))
        for kind in KINDS:
            source, target = (LEVELS[letter] for letter in kind)
            data[source, kind, target].edge_index = torch.from_numpy(self.edges[kind])
        return ToUndirected()(data)


@dataclass(frozen=True)
class MultiLevelPart:
    """Some nodes of a graph: for each level their numbers in it, and the edges among them, by places in these."""

    nodes: dict[str, np.ndarray]
    edges: dict[str, np.ndarray]
