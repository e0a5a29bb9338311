"""Passages, questions and what holds them. The words are those of the papers; see each class for its source."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cache, cached_property
from typing import Annotated

import msgspec
import networkx as nx
import numpy as np
from msgspec import Meta

#: What formats ask of an id (TREC files are split at white space) and of a question's text.
Id = Annotated[str, Meta(pattern=r"\A\S+\Z")]
FullText = Annotated[str, Meta(pattern=r"\S")]
SPLITS = ("train", "dev", "test")
_OneOrMore = Meta(min_length=1)
PlainTriple = tuple[str, str, str]  # subject, relation, object


class Passage(msgspec.Struct, frozen=True, gc=False):
    """A piece of text that can be retrieved: ``position`` is its place in its document, from 0; ``page`` that of a PDF;
    ``kind`` is ``text`` or ``table``.
    """

    id: Id
    title: str
    text: str
    document: Annotated[str, _OneOrMore]
    position: int = 0
    page: int | None = None
    kind: str = "text"

    @property
    def full_text(self) -> str:
        """Title, then text: what every encoder and index of the kit reads."""
        return f"{self.title}\n{self.text}"


class SubQuestion(msgspec.Struct, frozen=True):
    """One step of a decomposition. ``#1`` in ``text`` stands for the answer of the first sub-question (MuSiQue).

    ``support`` is an index in ``Question.supporting`` (None: the step only computes); ``depends_on`` are the indices of
    the earlier sub-questions whose answers it needs.
    """

    text: str
    answer: str
    support: int | None = None
    depends_on: tuple[int, ...] = ()

    def filled(self, answers: Sequence[str]) -> str:
        """The text with ``#1`` replaced by the first of the answers, and so on; a number beyond them stays."""
        known = {f"#{number}": answer for number, answer in enumerate(answers, 1)}
        return re.sub(r"#\d+", lambda match: known.get(match[0], match[0]), self.text)


class EvidenceGraph(msgspec.Struct, frozen=True):
    """A directed acyclic graph over a question's supports, or over what was retrieved for it (bgr.txt §4.4).

    Nodes are the indices of ``Question.supporting`` or of ``Ranking.ids``; an edge (i, j) says that j is read in the
    light of i, so the question reaches the sources first and the answer is read off the sinks.
    """

    n_nodes: int
    edges: tuple[tuple[int, int], ...] = ()

    def to_networkx(self) -> nx.DiGraph:
        graph = nx.DiGraph(self.edges)
        graph.add_nodes_from(range(self.n_nodes))
        return graph

    @classmethod
    def of(cls, n_nodes: int, edges: Iterable[tuple[int, int]]) -> EvidenceGraph | None:
        """The graph with these edges, or None where they make no acyclic one (two steps share a passage)."""
        graph = cls(n_nodes, tuple(sorted({(i, j) for i, j in edges if i != j})))
        return graph if nx.is_directed_acyclic_graph(graph.to_networkx()) else None

    @property
    def rooted(self) -> nx.DiGraph:
        """With the question as a node −1 that leads to the sources: an evaluated graph has its edges (bgr-i10)."""
        graph = self.to_networkx()
        graph.add_node(-1)
        graph.add_edges_from(
            [(-1, node) for node in range(self.n_nodes) if not graph.in_degree(node)]
        )
        return graph

    @property
    def order(self) -> tuple[int, ...]:
        """The nodes from sources to sinks, the lowest first where the graph leaves it open."""
        return tuple(nx.lexicographical_topological_sort(self.to_networkx()))

    @property
    @cache  # noqa: B019, as graphs are few, and this searches them whole
    def chains(self) -> tuple[tuple[int, ...], ...]:
        """The maximal paths, each from a source to a sink (bgr-i23); hops are the nodes of the longest."""
        graph = self.rooted
        sinks = [node for node in range(self.n_nodes) if not graph.out_degree(node)]
        return tuple(tuple(path[1:]) for path in nx.all_simple_paths(graph, -1, sinks))

    @property
    def structure(self) -> str:
        """Single or multi chain × single (no evidence leads to another) or multi hop (bgr.txt §4.5, Table 2)."""
        return f"{'single' if len(self.chains) == 1 else 'multi'}-chain {'multi' if self.edges else 'single'}-hop"


class Query(msgspec.Struct, frozen=True):
    """What a retriever may see of a question."""

    id: str
    text: str


class GoldQuery(Query, frozen=True):
    """A query that carries its question with the gold fields, for a retriever that says that it sees them."""

    question: Question


class Question(msgspec.Struct, frozen=True):
    """A question with its gold fields.

    ``supporting`` has one entry a support, in reasoning order where the dataset has one. An entry holds the ids of the
    passages that carry the support: several say the same, and one found is enough. Triples are (subject, verb, object).
    ``facts`` is the sentence that states each support, unset where the data set has none: then no hash knows of it.
    """

    id: Id
    text: FullText
    answer: str
    supporting: Annotated[tuple[Annotated[tuple[str, ...], _OneOrMore], ...], _OneOrMore]
    aliases: tuple[str, ...] = ()
    type: str = ""
    decomposition: tuple[SubQuestion, ...] = ()
    evidence: EvidenceGraph | None = None
    triples: tuple[tuple[str, str, str], ...] = ()
    facts: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET

    @property
    def hops(self) -> int:
        return len(self.supporting)

    @property
    def structure(self) -> str:
        """That of the evidence graph, or ``""`` where the data set has none."""
        return self.evidence.structure if self.evidence else ""

    @property
    def supporting_ids(self) -> tuple[str, ...]:
        """All passages that carry a support, in reasoning order."""
        return tuple(dict.fromkeys(id for carriers in self.supporting for id in carriers))

    @property
    def answers(self) -> tuple[str, ...]:
        """All that is right: the answer and its aliases."""
        return self.answer, *self.aliases

    @property
    def query(self) -> Query:
        return Query(self.id, self.text)

    @property
    def gold_query(self) -> GoldQuery:
        return GoldQuery(self.id, self.text, self)


class Corpus:
    """Passages in a fixed order; a passage's place in it is its row everywhere in the kit."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        self.passages: tuple[Passage, ...] = tuple(passages)

    def __len__(self) -> int:
        return len(self.passages)

    def __getitem__(self, id: str) -> Passage:
        return self.passages[self.row[id]]

    def __contains__(self, id: object) -> bool:
        return id in self.row

    @cached_property
    def row(self) -> dict[str, int]:
        return {passage.id: row for row, passage in enumerate(self.passages)}

    @cached_property
    def documents(self) -> dict[str, np.ndarray]:
        """Document to the rows of its passages, in the order of their positions."""
        rows: dict[str, list[int]] = {passage.document: [] for passage in self.passages}
        for row in sorted(range(len(self)), key=lambda row: self.passages[row].position):
            rows[self.passages[row].document].append(row)
        return {document: np.array(of_document) for document, of_document in rows.items()}

    @cached_property
    def hash(self) -> str:
        return digest(self.passages)

    def subset(self, rows: Iterable[int]) -> Corpus:
        return Corpus(self.passages[row] for row in rows)


@dataclass(eq=False)
class Benchmark:
    """A corpus with questions.

    ``collections``, in the per-question setting (kgp.txt §8.1), maps a question's id to the rows of its own passages;
    it is None in the pooled setting, where every question is asked of the whole corpus.
    """

    name: str
    corpus: Corpus
    _: KW_ONLY
    train: Sequence[Question] = ()
    dev: Sequence[Question] = ()
    test: Sequence[Question] = ()
    collections: dict[str, np.ndarray] | None = None

    def __post_init__(self) -> None:
        self.train, self.dev, self.test = tuple(self.train), tuple(self.dev), tuple(self.test)

    @property
    def splits(self) -> dict[str, Sequence[Question]]:
        """The questions of each split that has any."""
        return {name: them for name in SPLITS if (them := getattr(self, name))}

    @property
    def setting(self) -> str:
        return "pooled" if self.collections is None else "per-question"

    @cached_property
    def hash(self) -> str:
        # "paragraph" was once a choice: hashed still, so that findings stay comparable with those of earlier versions.
        return digest(
            [self.corpus.hash, self.setting, "paragraph", self.train, self.dev, self.test]
        )

    def collection(self, question: Question | Query) -> Corpus:
        """The passages that the question is asked of."""
        return (
            self.corpus
            if self.collections is None
            else self.corpus.subset(self.collections[question.id])
        )

    def asked_together(self, questions: Sequence[Question]) -> list[tuple[Corpus, list[Question]]]:
        """The corpora that questions are asked of, each with its questions: one when pooled, else one a question."""
        if self.collections is None:
            return [(self.corpus, list(questions))]
        return [(self.collection(question), [question]) for question in questions]

    def asking(self, questions: Sequence[Question]) -> Benchmark:
        return replace(self, test=questions)

    def without_test(self) -> Benchmark:
        """What a retriever may learn from."""
        return self.asking(())


def digest(content: object) -> str:
    """A short hash of anything that msgspec can write as JSON."""
    sink, encoder = hashlib.blake2b(digest_size=8), msgspec.json.Encoder()
    for part in content if isinstance(content, tuple | list) else [content]:
        sink.update(encoder.encode(part) + b"\n")
    return sink.hexdigest()
