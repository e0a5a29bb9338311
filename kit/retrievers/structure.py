"""Questions about pages and tables: which structures they ask for, and what these hold (kgp.txt §4, 8.2).

"We extract the document structure names and locate their corresponding structural nodes in the KG": where the paper
asks a language model for the names, one pattern finds them here (kgp-i34 of the claims), and the document that is named
beside one tells which is meant. A question that names no structure which the documents have is a content question.
"""

import re
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from kit.corpus import Corpus, Query
from kit.corpus.structures import Structure, arabic, structures
from kit.graphs import ContainsEdges
from kit.retrievers.base import Ranking, ranking_from_rows
from kit.retrievers.baselines import BM25

_CARDINALS = "one two three four five six seven eight nine ten".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_PLACES = {word: place for place, word in enumerate(_ORDINALS, 1)} | {
    "opening": 1,
    "last": -1,
    "final": -1,
    "closing": -1,
}
_NUMBER = rf"(?:[A-Z]\.?\d+|\d+|[IVXL]+(?!\w)|(?:{'|'.join(_CARDINALS)})(?!\w))"
_PLACE = rf"(?:{'|'.join(_PLACES)}|\d+(?:st|nd|rd|th))"
_TO = r"\s*(?:–|-|\b(?:to|through|until)\b)\s*"
_AND = r"\s*(?:,\s*(?:and\s+)?|&|\b(?:and|or)\b)\s*"
_MENTION = re.compile(
    # "pages 2 to 4", "Tables 1, 2 and 3", ", p3", "Table no. 3"; "In Table 2, 3 stations …" names one
    r"(?<!\w)(?:(?P<kind>(?P<many>pages|pp\.?|tables)|pages?|pgs?\.?|p\.|(?<=[,(:;] )(?-i:p)(?=[1-9])|tables?|tabs?\.)"
    r"\s*(?:(?:no\.?|number|#)\s*)?"
    rf"(?P<numbers>{_NUMBER}(?:{_TO}{_NUMBER}|(?(many){_AND}|\s+and\s+){_NUMBER})*)(?![\w%])"
    # "the first and the third page", "the last two tables"
    rf"|(?P<places>{_PLACE}(?:(?:{_AND}|\s+to\s+)(?:the\s+)?{_PLACE})*)\s+(?:(?P<count>{'|'.join(_CARDINALS)}|\d+)\s+)?"
    r"(?P<placed>page|table)s?"
    # "all tables", "the tables"
    r"|(?:all|every|each|both|the|its)\s+(?:of\s+)?(?:the\s+)?(?P<every>tables|(?<=all )pages))(?!\w)",
    re.IGNORECASE,
)
#: Pages that only say where a table is: "Table 2 on page 4"; "the table on page 4"; "page 4 has a table".
_ON = re.compile(r"\s+(?:on|at|from|in)\s+(?:the\s+)?", re.IGNORECASE)
_TABLE_ON = re.compile(r"\btable\s+(?:on|at|of|from|in)\s+(?:the\s+)?(?:very\s+)?$", re.IGNORECASE)
_HAS_TABLE = re.compile(r"['’]s\s+table\b|[^.?!;]*?\b(?:has|contains|shows)\s+an?\s+table\b", re.IGNORECASE)
#: What any document may be called.
_GENERIC = frozenset("report reports paper memo document file pdf study survey article evaluation guide manual".split())
_GLUE = frozenset("the a an of and in on for to by with at from s".split())


class Mention(NamedTuple):
    """Pages or tables that a text names at ``start`` to ``end``.

    ``labels`` are numbers as the document has them (text) or places in it (whole numbers, 1 the first and -1 the last);
    none: all of them. ``on_page``: tables on these pages.
    """

    kind: str
    labels: tuple[str | int, ...]
    start: int
    end: int
    on_page: tuple[str | int, ...] = ()


def mentions(text: str) -> list[Mention]:
    """The pages and tables that a text names, from left to right; empty for a text about content."""
    found: list[Mention] = []
    for match in _MENTION.finditer(text):
        is_table = (match["kind"] or match["placed"] or match["every"]).lower().startswith("t")
        one = Mention("table" if is_table else "page", _labels(match), *match.span())
        if not is_table and found and found[-1].kind == "table" and _ON.fullmatch(text, found[-1].end, one.start):
            found[-1] = found[-1]._replace(on_page=one.labels, end=one.end)
        elif not is_table and (_TABLE_ON.search(text[: one.start]) or _HAS_TABLE.match(text, one.end)):
            found.append(Mention("table", (), one.start, one.end, on_page=one.labels))
        else:
            found.append(one)
    return found


def _labels(match: re.Match) -> tuple[str | int, ...]:
    if match["places"]:
        words = re.findall(_PLACE, match["places"].lower())
        places = [_PLACES.get(word) or int(re.match(r"\d+", word)[0]) for word in words]
        if match["count"]:  # "the last two pages"
            n = int(_number(match["count"]))
            places = list(range(1, n + 1) if places[0] > 0 else range(-n, 0))
        return tuple(places)
    labels: list[str] = []
    for part in re.split(_AND, match["numbers"] or "", flags=re.IGNORECASE):
        ends = [_number(end) for end in re.split(_TO, part, flags=re.IGNORECASE) if end]
        is_range = len(ends) == 2 and all(end.isdigit() for end in ends)
        labels += [str(n) for n in range(int(ends[0]), int(ends[1]) + 1)] if is_range else ends
    return tuple(dict.fromkeys(labels))


def _number(word: str) -> str:
    """A number as documents label: "two" and "II" are "2", "a.1" is "A1"."""
    return str(_CARDINALS.index(word.lower()) + 1) if word.lower() in _CARDINALS else arabic(word)


class StructureReader:
    """Finds the structures that questions over a corpus ask for.

    A structure is that of the document named beside it ("Table 3 of the river survey"): by some of its own words, and a
    word like "report" or the better part of its title or file name. Where none is named, all documents that have the
    structure are meant.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus, self.contains = corpus, ContainsEdges(structures(corpus), len(corpus))
        titles = {passage.document: passage.title for passage in corpus.passages}
        self._names = {
            node.document: [_words(titles[node.document]), _words(node.document)] for node in self.contains.nodes
        }
        words = {document: set().union(*names) for document, names in self._names.items()}
        shared = set.intersection(*words.values()) if len(words) > 1 else set()
        self._own = {document: of - shared - _GENERIC for document, of in words.items()}

    def asked(self, text: str) -> tuple[Structure, ...]:
        """The structures that a question asks for, in the order of their mention; none for a content question."""
        named = [one for one in mentions(text) if self._names and not self._is_of_another(text, one)]
        scopes = zip(named, self._scopes(text, named))
        return tuple(dict.fromkeys(it for one, of in scopes for document in of for it in self._located(one, document)))

    def rows(self, text: str) -> np.ndarray:
        """The rows that the asked structures hold, in the order of their mention; none for a content question."""
        content = [self.contains.content(structure) for structure in self.asked(text)]
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

    def _located(self, one: Mention, document: str) -> list[Structure]:
        """A document's structures that are meant."""
        nodes = [node for node in self.contains.nodes if (node.document, node.kind) == (document, one.kind)]
        if one.on_page:
            pages = self._located(Mention("page", one.on_page, 0, 0), document)
            rows = {row for page in pages for row in self.contains.content(page).tolist()}
            nodes = [node for node in nodes if rows & set(self.contains.content(node).tolist())]
        found = [] if one.labels else nodes
        for label in one.labels:
            if isinstance(label, str):
                found += [node for node in nodes if node.label == label]
            elif abs(label) <= len(nodes):
                found.append(nodes[label - 1 if label > 0 else label])
        return found

    def _scopes(self, text: str, named: Sequence[Mention]) -> list[Sequence[str]]:
        """For each mention the documents that it speaks of: those named up to the next one, or else before it."""
        bounds = [0, *(end for one in named for end in (one.start, one.end)), len(text)]
        before, *after = (self._documents(text[start:end]) for start, end in zip(bounds[::2], bounds[1::2]))
        if before and not (after and after[-1]):  # "In the river survey, how do page 1 and page 2 differ?"
            after = [before, *after][: len(named)]
        elif after and not after[0]:  # "page 1 and Table 2 of the river survey", "its page 1"
            after[0] = before
        scopes = list(accumulate(reversed(after), _or_before))[::-1]
        return [scope or list(self._names) for scope in accumulate(scopes, _or_before)]

    def _is_of_another(self, text: str, one: Mention) -> bool:
        """Whether a place belongs to something that is no document: "the opening page of A Winter Tale", "its"."""
        its, of = re.search(r"\b(?:its|their)\s+$", text[: one.start]), re.match(r"\s+of\s+([^,;:?]*)", text[one.end :])
        told = of[1] if of else text
        is_place = any(isinstance(label, int) for label in one.labels)
        return is_place and bool(its or of) and not self._documents(told) and not _words(told) & _GENERIC

    def _documents(self, text: str) -> list[str]:
        """The documents that a stretch of text names."""
        said, found = _words(text), []
        for document, names in self._names.items():
            better_part = any(len(said & name) >= 0.6 * len(name) for name in names if name)
            found += [document] if said & self._own[document] and (said & _GENERIC or better_part) else []
        return found


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


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.lower())) - _GLUE


def _or_before(before: Sequence[str], own: Sequence[str]) -> Sequence[str]:
    return own or before
