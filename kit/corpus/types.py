"""Passages, questions and what holds them.

The words are those of the papers; see each class for its source.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cache, cached_property
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np
from msgspec import Meta, Struct
from msgspec.structs import force_setattr
from numpy import ndarray

from kit.arguments import expect
from kit.corpus.records import writable

if TYPE_CHECKING:
    import networkx as nx

#: What formats ask of an id (TREC files are split at white space) and of a question's text.
Id = Annotated[str, Meta(pattern=r"\A\S+\Z")]
FullText = Annotated[str, Meta(pattern=r"\S")]
SPLITS = ("train", "dev", "test")
OneOrMore = Meta(min_length=1)
PlainTriple = tuple[str, str, str]  # subject, relation, object
Texts = Sequence[str]
Strings = tuple[str, ...]  # texts or ids, as a record holds them
Indices = tuple[int, ...]
Edge = tuple[int, int]  # of nodes


class Record(Struct, frozen=True):
    """What holds texts, each made :func:`~kit.corpus.records.writable`, wherever it comes from."""

    def __post_init__(self) -> None:
        for field in self.__struct_fields__:
            force_setattr(self, field, _writable(getattr(self, field)))


def _writable(value: object) -> object:
    """A text, or the texts in a tuple, made writable; all else as it is."""
    if isinstance(value, tuple):
        return tuple(map(_writable, value))
    return writable(value) if isinstance(value, str) else value


class Passage(Record, frozen=True, gc=False):
    """A piece of text that can be retrieved.

    ``position`` counts from 0 within the document, ``page`` from 1 within a PDF. ``kind`` is
    ``text`` or ``table``.
    """

    id: Id
    title: str
    text: str
    document: Annotated[str, OneOrMore]
    position: int = 0
    page: int | None = None
    kind: str = "text"

    @property
    def full_text(self) -> str:
        """Title, then text: what every encoder and index of the kit reads."""
        return f"{self.title}\n{self.text}"


class SubQuestion(Record, frozen=True):
    """One step of a decomposition.

    ``#1`` in ``text`` stands for the answer of the first sub-question (MuSiQue). ``support`` is an
    index in ``Question.supporting`` (None: the step only computes). ``depends_on`` are the indices
    of the earlier sub-questions whose answers it needs.
    """

    text: str
    answer: str
    support: int | None = None
    depends_on: Indices = ()

    def filled(self, answers: Sequence[str]) -> str:
        """The text with ``#1`` replaced by the first answer, and so on; other numbers stay."""
        by_reference = {f"#{step}": answer for step, answer in enumerate(answers, 1)}
        return re.sub(r"#\d+", lambda match: by_reference.get(match[0], match[0]), self.text)


class EvidenceGraph(Struct, frozen=True):
    """A directed acyclic graph over a question's supports, or over its retrieved passages.

    Nodes are the indices of ``Question.supporting`` or of ``Ranking.ids``. An edge (i, j) says that
    j is read in the light of i: the question leads to the sources, and the answer is read off the
    sinks (BGR §4.4).
    """

    # networkx is imported where it is needed: it takes as long to load as all else of this module.

    n_nodes: int
    edges: tuple[Edge, ...] = ()

    def to_networkx(self) -> nx.DiGraph:
        import networkx as nx

        graph = nx.DiGraph(self.edges)
        graph.add_nodes_from(range(self.n_nodes))
        return graph

    @classmethod
    def acyclic(cls, n_nodes: int, edges: Iterable[Edge]) -> EvidenceGraph | None:
        """The graph with these edges, loops left out; None where they close a cycle.

        They do where two steps of a decomposition share a passage.
        """
        import networkx as nx

        without_loops = sorted({(i, j) for i, j in edges if i != j})
        graph = cls(n_nodes, tuple(without_loops))
        return graph if nx.is_directed_acyclic_graph(graph.to_networkx()) else None

    @property
    def rooted(self) -> nx.DiGraph:
        """The graph with the question as a node −1 that leads to the sources.

        These edges count where graphs are evaluated (bgr-i10).
        """
        import networkx as nx

        graph = self.to_networkx()
        sources = [node for node in range(self.n_nodes) if not graph.in_degree(node)]
        nx.add_star(graph, [-1, *sources])
        return graph

    @property
    def order(self) -> Indices:
        """The nodes from sources to sinks, the lowest first where the graph leaves it open."""
        import networkx as nx

        return tuple(nx.lexicographical_topological_sort(self.to_networkx()))

    @property
    @cache  # noqa: B019, as graphs are few, and this searches them whole
    def chains(self) -> tuple[Indices, ...]:
        """The maximal paths, from a source to a sink (bgr-i23); the longest one has all hops."""
        import networkx as nx

        graph = self.rooted
        sinks = [node for node in range(self.n_nodes) if not graph.out_degree(node)]
        return tuple(tuple(path[1:]) for path in nx.all_simple_paths(graph, -1, sinks))

    @property
    def structure(self) -> str:
        """Single or multi chain, single or multi hop (BGR §4.5, Table 2).

        It is single hop where no evidence leads to another.
        """
        chains = "single" if len(self.chains) == 1 else "multi"
        hops = "multi" if self.edges else "single"
        return f"{chains}-chain {hops}-hop"


class Query(Record, frozen=True):
    """What a retriever may see of a question."""

    id: str
    text: str

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self.id}: {self.text}"


Queries = Sequence[Query]


class GoldQuery(Query, frozen=True):
    """A query with its question's gold fields, for a retriever that says that it sees them."""

    question: Question


class Question(Record, frozen=True):
    """A question with its gold fields.

    ``supporting`` has an entry per support, in reasoning order where the data set has one. An entry
    holds the ids of the passages that carry the support: several say the same, and finding any of
    them is enough. ``triples`` are (subject, verb, object). ``facts`` holds the sentence that
    states each support, and ``options`` what a multiple-choice question has to choose from, the
    answer among them. These two are unset where the data set has none, and then no hash knows of
    them.
    """

    id: Id
    text: FullText
    answer: str
    supporting: Annotated[tuple[Annotated[Strings, OneOrMore], ...], OneOrMore]
    aliases: Strings = ()
    type: str = ""
    decomposition: tuple[SubQuestion, ...] = ()
    evidence: EvidenceGraph | None = None
    triples: tuple[PlainTriple, ...] = ()
    facts: Strings | msgspec.UnsetType = msgspec.UNSET
    options: Strings | msgspec.UnsetType = msgspec.UNSET

    @property
    def hops(self) -> int:
        return len(self.supporting)

    @property
    def structure(self) -> str:
        """That of the evidence graph, or ``""`` where the data set has none."""
        return self.evidence.structure if self.evidence else ""

    @property
    def supporting_ids(self) -> Strings:
        """All passages that carry a support, in reasoning order."""
        return tuple(dict.fromkeys(chain.from_iterable(self.supporting)))

    @property
    def answers(self) -> Strings:
        """All that is right: the answer and its aliases."""
        return self.answer, *self.aliases

    @property
    def query(self) -> Query:
        return Query(self.id, self.text)

    @property
    def gold_query(self) -> GoldQuery:
        return GoldQuery(self.id, self.text, self)


Questions = Sequence[Question]
Collections = dict[str, ndarray]  # a question's id to the rows of its own passages


class Corpus:
    """Passages in a fixed order; a passage's index in it is its row everywhere in the kit."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        self.passages = tuple(passages)

    def __len__(self) -> int:
        return len(self.passages)

    def __iter__(self) -> Iterator[Passage]:
        return iter(self.passages)

    def __getitem__(self, passage_id: str) -> Passage:
        return self.passages[self.row[passage_id]]

    def __contains__(self, passage_id: object) -> bool:
        return passage_id in self.row

    def __repr__(self) -> str:
        return f"Corpus: {len(self):,} passages"

    @cached_property
    def row(self) -> dict[str, int]:
        return {passage.id: row for row, passage in enumerate(self.passages)}

    @cached_property
    def documents(self) -> dict[str, ndarray]:
        """Document to the rows of its passages, in the order of their positions."""
        rows = {passage.document: [] for passage in self.passages}
        for row in sorted(range(len(self)), key=lambda row: self.passages[row].position):
            rows[self.passages[row].document].append(row)
        return {document: np.array(in_order) for document, in_order in rows.items()}

    @cached_property
    def hash(self) -> str:
        return digest(self.passages)

    def subset(self, rows: Iterable[int]) -> Corpus:
        return Corpus(self.passages[row] for row in rows)


@dataclass(eq=False)
class Benchmark:
    """A corpus with questions.

    ``collections``, in the per-question setting (KGP §8.1), maps a question's id to the rows of
    its own passages. It is None in the pooled setting, where every question is asked of the whole
    corpus.
    """

    name: str
    corpus: Corpus
    _: KW_ONLY
    train: Questions = ()
    dev: Questions = ()
    test: Questions = ()
    collections: Collections | None = None

    def __post_init__(self) -> None:
        expect(Corpus, self.corpus, "corpus")
        self.train = tuple(self.train)
        self.dev = tuple(self.dev)
        self.test = tuple(self.test)

    def __repr__(self) -> str:
        counts = [f"{len(questions):,} {split}" for split, questions in self.splits.items()]
        questions = f"{', '.join(counts) or 'no'} questions ({self.setting})"
        return f"Benchmark {self.name}: {len(self.corpus):,} passages; {questions}"

    def _repr_html_(self) -> str:
        """A table of how much there is, as a notebook shows it."""
        table = f"<table><caption>Benchmark {html.escape(self.name)}</caption>"
        for name, part in {"passages": self.corpus, **self.splits}.items():
            table += f"<tr><th>{name}<td>{len(part):,}"
        return f"{table}</table>"

    @property
    def splits(self) -> dict[str, Questions]:
        """The questions of each split that has any."""
        return {split: getattr(self, split) for split in SPLITS if getattr(self, split)}

    @property
    def setting(self) -> str:
        return "pooled" if self.collections is None else "per-question"

    @cached_property
    def hash(self) -> str:
        # "paragraph" was once a choice. It stays, so that earlier findings can be compared.
        return digest(
            [self.corpus.hash, self.setting, "paragraph", self.train, self.dev, self.test]
        )

    def collection(self, question: Question | Query) -> Corpus:
        """The passages that the question is asked of."""
        if self.collections is None:
            return self.corpus
        return self.corpus.subset(self.collections[question.id])

    def asked_together(self, questions: Questions) -> list[tuple[Corpus, list[Question]]]:
        """The corpora that questions are asked of, each with its questions.

        There is one corpus in the pooled setting, and one per question otherwise.
        """
        if self.collections is None:
            return [(self.corpus, list(questions))]
        return [(self.collection(question), [question]) for question in questions]

    def asking(self, questions: Questions) -> Benchmark:
        return replace(self, test=questions)

    def without_test(self) -> Benchmark:
        """What a retriever may learn from."""
        return self.asking(())


def digest(parts: Iterable[object]) -> str:
    """A short hash of anything that msgspec can write as JSON, part by part."""
    lines = msgspec.json.Encoder().encode_lines(parts)
    return blake2b(lines, digest_size=8).hexdigest()
