"""Questions about pages and tables: which structures they ask for, and what these hold (kgp.txt §4, 8.2).

"We extract the document structure names and locate their corresponding structural nodes in the KG":
:mod:`kit.text.structure_names` does the first, this file the second. A question that names no structure which the
documents have is a content question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple

import numpy as np

from kit.corpus import Corpus, Query
from kit.corpus.pdf import Structure, structures
from kit.graphs import ContainsEdges
from kit.retrievers.base import Ranking, ranking_from_rows
from kit.retrievers.baselines import BM25
from kit.text.structure_names import Named, named_structures

_TOKEN = re.compile(r"\w+(?:\.\d+)*")
#: What any document may be called.
_GENERIC = frozenset(
    "report reports paper memo memorandum document file pdf study survey article evaluation review thesis guide manual "
    "handbook plan budget brochure statement record minutes letter text".split()
)
_GLUE = frozenset("the a an of and in on for to by with at from s".split())
#: What may stand between the words of a name without being in it: "the memo on orchard mites".
_JOINTS = frozenset("the a an of in on for s".split())
_OF_DOCUMENTS = re.compile(
    rf"\s+(?:of|in)\s+(?:(?:the|this|that|these|those|all|every|each|both|my|our)\s+)*(?:\w+\s+)?(?:{'|'.join(sorted(_GENERIC))})s?\b",
    re.IGNORECASE,
)
_BREAK = re.compile(r"[,;.?!]\s")
_LEADS = frozenset(
    "of in from between across both and or with to open per take read for does do is what put into on".split()
)


class _Reference(NamedTuple):
    """A place in a question where documents are named."""

    start: int
    end: int
    documents: frozenset[str]


class StructureReader:
    """Finds the structures that questions over a corpus ask for.

    A structure is that of the document named beside it ("Table 3 of the river survey"); a name is the title, the file's
    name, a good part of either, or some of its words and a word like "report". Where none is named, all documents that
    have the structure are meant.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus, self.holds = corpus, ContainsEdges(structures(corpus), len(corpus))
        self._structures: dict[tuple[str, str], list[Structure]] = {}
        for node in self.holds.nodes:
            self._structures.setdefault((node.document, node.kind), []).append(node)
        self._documents = list(dict.fromkeys(node.document for node in self.holds.nodes))
        titles = {passage.document: passage.title for passage in corpus.passages}
        self._names = {it: [_tokens(titles[it]), _tokens(it.replace("_", " "))] for it in self._documents}

    def asked(self, text: str) -> tuple[Structure, ...]:
        """The structures that a question asks for, in the order of their mention; none for a content question."""
        if not self._documents:
            return ()
        named = named_structures(text)
        references = self._references(text, named) if named else []
        named = [one for one in named if not _is_of_another(text, one, references)]
        found: dict[Structure, None] = {}
        for one, documents in zip(named, self._scopes(text, named, references)):
            found |= dict.fromkeys(it for document in documents for it in self._located(one, document, len(documents)))
        return tuple(found)

    def rows(self, text: str) -> np.ndarray:
        """The rows that the asked structures hold, in the order of their mention; none for a content question."""
        content = [self.holds.content(structure) for structure in self.asked(text)]
        return np.array(list(dict.fromkeys(row for rows in content for row in rows.tolist())), int)

    def rankings(
        self, queries: Sequence[Query], k: int, otherwise: Callable[[Sequence[Query], int], list[Ranking]]
    ) -> list[Ranking]:
        """What the asked structures hold, cut at k, all with score 1; content questions are ranked by ``otherwise``."""
        fetched = [self.rows(query.text)[:k] for query in queries]
        passed_on = iter(otherwise([query for query, rows in zip(queries, fetched) if not len(rows)], k))
        return [
            ranking_from_rows(self.corpus, rows, np.ones(len(rows), np.float32)) if len(rows) else next(passed_on)
            for rows in fetched
        ]

    def _located(self, one: Named, document: str, scope: int) -> list[Structure]:
        """A document's structures that are meant."""
        nodes = self._structures.get((document, one.kind), [])
        if one.on_page:
            pages = [
                page for named in one.on_page for page in self._located(Named("page", (named,), 0, 0), document, 1)
            ]
            rows = {row for page in pages for row in self.holds.content(page).tolist()}
            nodes = [node for node in nodes if rows & set(self.holds.content(node).tolist())]
        if one.only:
            return nodes if len(nodes) == 1 and scope == 1 else []
        if not one.labels:
            return nodes
        found = []
        for label in one.labels:
            if isinstance(label, str):
                found += [node for node in nodes if node.label == label]
            elif abs(label) <= len(nodes):
                found.append(nodes[label - 1 if label > 0 else label])
        return found

    def _scopes(self, text: str, named: Sequence[Named], references: Sequence[_Reference]) -> list[Sequence[str]]:
        """For each mention the documents that it speaks of.

        Names follow mentions or go before them; a mention without a name beside it has that of the next one along.
        """
        if not references or not named:
            return [self._documents] * len(named)
        starts = [one.start for one in named]
        follow = starts[0] < references[0].start
        scopes: list[Sequence[str]] = []
        for low, high in pairwise([*starts, len(text)] if follow else [0, *starts]):
            near = {name for it in references if low <= it.start < high for name in it.documents}
            scopes.append([name for name in self._documents if name in near])
        if follow:
            scopes = list(accumulate(reversed(scopes), _or_before))[::-1]
        return list(accumulate(scopes, _or_before))  # "page 2 of the memo and page 3": that of the one before

    def _references(self, text: str, named: Sequence[Named]) -> list[_Reference]:
        """Where the text names documents, from left to right. Of names that overlap the longest holds."""
        tokens = list(_TOKEN.finditer(text.replace("_", " ")))
        words = [token[0].lower() for token in tokens]
        gaps = [text[before.end() : after.start()] for before, after in pairwise(tokens)]
        ends = {place for place, gap in enumerate(gaps, 1) if _BREAK.search(gap)}
        inside = {place for place, it in enumerate(tokens) if any(one.start <= it.start() < one.end for one in named)}
        runs: dict[tuple[int, int], set[str]] = {}
        for document, names in self._names.items():
            for run in _runs(words, set().union(*names), inside, ends):
                if self._is_name(words[slice(*run)], document) and self._is_led(text, tokens, run):
                    runs.setdefault(run, set()).add(document)
        kept: list[tuple[int, int]] = []
        for run in sorted(runs, key=lambda run: run[0] - run[1]):
            if not any(run[0] < other[1] and other[0] < run[1] for other in kept):
                kept.append(run)
        return [
            _Reference(tokens[start].start(), tokens[end - 1].end(), frozenset(runs[start, end]))
            for start, end in sorted(kept)
        ]

    def _is_name(self, words: list[str], document: str) -> bool:
        said = set(words) - _GLUE
        names = [set(name) - _GLUE for name in self._names[document]]
        others = [set().union(*self._names[other]) for other in self._documents if other != document]
        own = {word for word in said if word in set().union(*names) and not all(word in other for other in others)}
        own -= _GENERIC if others else set()
        if not own:
            return False
        return bool(said & _GENERIC) or any(name and len(said & name) >= 0.6 * len(name) for name in names)

    @staticmethod
    def _is_led(text: str, tokens: list[re.Match], run: tuple[int, int]) -> bool:
        """Whether what stands around a name makes it one: "of the memo", "the memo's", "(memo)", "The memo, page 2"."""
        before = [word for token in tokens[: run[0]] if (word := token[0].lower()) not in {"the", "a", "an"}]
        if not before or before[-1] in _LEADS:
            return True
        ahead = re.search(r"[,:(–-]\s*(?:the\s+)?$", text[: tokens[run[0]].start()], re.IGNORECASE)
        return bool(ahead or re.match(r"\s*(?:['’]s?\b|['’]|[,:])", text[tokens[run[1] - 1].end() :]))


class Structural(BM25):
    """Fetches what the asked structures hold; a content question is answered by BM25.

    All passages of the asked structures score 1 and nothing else is fetched, so a ranking can be shorter than k. As any
    ranking it ends after k passages: a k below the size of the asked pages cuts them off.
    """

    name = "structure"

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        self.reader = StructureReader(corpus)

    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        return self.reader.rankings(queries, k, super().retrieve_many)


def _is_of_another(text: str, one: Named, references: Sequence[_Reference]) -> bool:
    """Whether a place, "the opening page", belongs to something that is no document: "of A Winter Tale", "its"."""
    if not any(isinstance(label, int) for label in one.labels):
        return False
    if re.search(r"\b(?:its|their|his|her)\s+(?:very\s+)?$", text[: one.start], re.IGNORECASE):
        return not references
    after = re.match(r"\s+of\s+(?:the\s+)?", text[one.end :])
    named = after and any(one.end <= it.start <= one.end + after.end() for it in references)
    return bool(after) and not named and not _OF_DOCUMENTS.match(text[one.end :])


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())


def _or_before(before: Sequence[str], own: Sequence[str]) -> Sequence[str]:
    return own or before


def _runs(words: Sequence[str], own: set[str], inside: set[int], ends: set[int]) -> list[tuple[int, int]]:
    """Stretches of words of a name, and of words that may join them, without joints at either end.

    None holds a word that is ``inside`` the name of a structure, or crosses one of the ``ends`` of phrases.
    """
    known = own | _GENERIC | _JOINTS
    may = [word in known and place not in inside for place, word in enumerate(words)]
    phrase = list(accumulate(place in ends for place in range(len(words))))
    runs = []
    for (of_name, _), places in groupby(range(len(words)), lambda place: (may[place], phrase[place])):
        told = [place for place in places if words[place] not in _GLUE]
        if of_name and told:
            runs.append((told[0], told[-1] + 1))
    return runs
