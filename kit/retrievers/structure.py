"""Questions about pages and tables: which structures they ask for, and what these hold (kgp.txt §4, 8.2).

Where the paper asks a language model for the names of structures, one pattern finds them here (kgp-i34), and the
document named beside one tells which is meant. A question that names none which the documents have is about content.
"""

import re
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from kit.corpus import Corpus, Query
from kit.corpus.structures import Structure, arabic, structures
from kit.graphs import ContainsEdges
from kit.retrievers.base import Ranking
from kit.retrievers.baselines import BM25

_CARDINALS = "one two three four five six seven eight nine ten".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_PLACES = {word: place for place, word in enumerate(_ORDINALS, 1)}
_PLACES |= {"opening": 1, "last": -1, "final": -1, "closing": -1, "penultimate": -2}

_NUMBER = rf"(?:[A-Z]\.?\d+|\d+|[IVXL]+(?!\w)|(?:{'|'.join(_CARDINALS)})(?!\w))"
_TO = r"\s*(?:–|-|\b(?:to|through|until)\b)\s*"
_AND = r"\s*(?:,\s*(?:and\s+)?|&|\b(?:and|or)\b)\s*"
_PLACE = rf"(?:{'|'.join(_PLACES)}|\d+(?:st|nd|rd|th))"
_MENTION = re.compile(
    # "pages 2 to 4", "Tables 1, 2 and 3", "p3", "Table no. 3"; "In Table 2, 3 stations …" names one
    r"(?<!\w)(?:(?P<kind>(?P<many>pages|pp\.?|tables)|pages?|pgs?\.?|p\.|(?<=[,(:;] )(?-i:p)(?=[1-9])|tables?|tabs?\.)"
    r"\s*(?:(?:no\.?|number|#)\s*)?"
    rf"(?P<numbers>{_NUMBER}(?:{_TO}{_NUMBER}|(?(many){_AND}|\s+and\s+){_NUMBER})*)(?![\w%])"
    # "the first and the third page", "the last two tables", "the last page but one"
    rf"|(?P<places>{_PLACE}(?:(?:{_AND}|\s+to\s+)(?:the\s+)?{_PLACE})*)\s+(?:(?P<count>{'|'.join(_CARDINALS)}|\d+)\s+)?"
    r"(?P<placed>page|table)s?(?P<but>\s+but\s+one)?"
    # "all tables", "the tables"; "the table" is one only where a document has no other
    r"|(?:all|every|each|both|the|its)\s+(?:of\s+)?(?:the\s+)?(?P<every>tables|(?<=all )pages)"
    r"|(?:in|from|by|on|see|per)\s+the\s+(?P<only>table))(?!\w)",
    re.IGNORECASE,
)
#: What is no structure of a document: titles of works, furniture, parts of other books.
_OTHER_BEFORE = re.compile(
    r"(?:\b(?:film|movie|song|single|album|novel|book|band|called|titled|water|periodic|league|round|time|an?|another)\s+"
    r"|[\"“][^\"”]*)$",
    re.IGNORECASE,
)
_OTHER_AFTER = re.compile(
    r"\s*\((?:[\w\s]*\s)?(?:film|song|album|novel)\)|[\s-]+(?:tennis|tops?|cloths?|salt|manners|wine|lamps?|mountain|"
    r"met(?:re|er)s?|of\s+(?:an?|his|her|their|my|the)\s+(?:\w+\s+)?(?:book|novel|newspaper|diary|letter|magazine))\b",
    re.IGNORECASE,
)
_TABLE_ON = re.compile(r"\btable\s+(?:on|at|of|from|in)\s+(?:the\s+)?(?:very\s+)?$", re.IGNORECASE)
_ON = re.compile(r"\s+(?:on|at|from|in)\s+(?:the\s+)?", re.IGNORECASE)
_HAS_TABLE = re.compile(r"['’]s\s+table\b|[^.?!;]*?\b(?:has|contains|shows)\s+an?\s+table\b", re.IGNORECASE)

_TOKEN = re.compile(r"[^\W_]+")
#: What any document may be called.
_GENERIC = frozenset("report reports paper memo document file pdf study survey article evaluation guide manual".split())
_GLUE = frozenset("the a an of and in on for to by with at from s".split())


class Mention(NamedTuple):
    """Pages or tables that a text names at ``start`` to ``end``; without labels, all of them.

    A label is a number as the document has it (text), or a place in it (a whole number, 1 the first and -1 the last).
    """

    kind: str
    labels: tuple[str | int, ...]
    start: int
    end: int
    on_page: tuple[str | int, ...] = ()  # tables on these pages
    only: bool = False  # "the table", which names one only where there is no other


def mentions(text: str) -> list[Mention]:
    """The pages and tables that a text names, from left to right; empty for a text about content."""
    found: list[Mention] = []
    for match in _MENTION.finditer(text):
        if _OTHER_BEFORE.search(text[: match.start()]) or _OTHER_AFTER.match(text, match.end()):
            continue
        if re.search(r"(?<!^)Page [OTF][a-z]+$", text[: match.end()]):  # the title of a song
            continue
        kind = "table" if (match["kind"] or match["placed"] or match["every"] or "t").lower()[0] == "t" else "page"
        one = Mention(kind, _labels(match), *match.span(), only=bool(match["only"]))
        last = found[-1] if found else None
        # Pages may only say where a table is: "Table 2 on page 4", "the table on page 4", "page 4 has a table".
        if kind == "page" and last and last.kind == "table" and _ON.fullmatch(text, last.end, one.start):
            found[-1] = last._replace(on_page=one.labels, end=one.end, only=False)
        elif kind == "page" and (_TABLE_ON.search(text[: one.start]) or _HAS_TABLE.match(text, one.end)):
            found.append(Mention("table", (), one.start, one.end, on_page=one.labels))
        elif not (one.only and last and last.on_page):  # "page 4 has a table; by the table, …"
            found.append(one)
    return found


def _labels(match: re.Match) -> tuple[str | int, ...]:
    if match["places"]:
        words = re.findall(_PLACE, match["places"].lower())
        places = [_PLACES.get(word) or int(re.match(r"\d+", word)[0]) for word in words]
        if match["count"]:  # "the last two pages"
            n = int(_number(match["count"]))
            places = list(range(1, n + 1) if places[0] > 0 else range(-n, 0))
        return (-2,) if match["but"] else tuple(places)
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

    A structure is that of the document named beside it ("Table 3 of the river survey"), by its own words and a word
    like "report", or by the better part of its title or file name; where none is named, of all documents that have it.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus, self.contains = corpus, ContainsEdges(structures(corpus), len(corpus))
        self._structures: dict[tuple[str, str], list[Structure]] = {}
        for node in self.contains.nodes:
            self._structures.setdefault((node.document, node.kind), []).append(node)
        titles = {passage.document: passage.title for passage in corpus.passages}
        self._names = {document: [_words(titles[document]), _words(document)] for document, _ in self._structures}

    def asked(self, text: str) -> tuple[Structure, ...]:
        """The structures that a question asks for, in the order of their mention; none for a content question."""
        named = [one for one in mentions(text) if self._names and not self._is_of_another(text, one)]
        found: dict[Structure, None] = {}
        for one, documents in zip(named, self._scopes(text, named)):
            found |= dict.fromkeys(it for document in documents for it in self._located(one, document, len(documents)))
        return tuple(found)

    def rows(self, text: str) -> np.ndarray:
        """The rows that the asked structures hold, in the order of their mention; none for a content question."""
        content = [self.contains.content(structure) for structure in self.asked(text)]
        return np.array(list(dict.fromkeys(row for rows in content for row in rows.tolist())), int)

    def rankings(
        self, queries: Sequence[Query], k: int, otherwise: Callable[[Sequence[Query], int], list[Ranking]]
    ) -> list[Ranking]:
        """What the asked structures hold and nothing else, cut at k, all with score 1, so that a ranking can be short.

        Content questions are ranked by ``otherwise``.
        """
        fetched = [self.rows(query.text)[:k] for query in queries]
        passed_on = iter(otherwise([query for query, rows in zip(queries, fetched) if not len(rows)], k))
        found = []
        for rows in fetched:
            ids = tuple(self.corpus.passages[row].id for row in rows)
            found.append(Ranking(ids, np.ones(len(ids), np.float32)) if ids else next(passed_on))
        return found

    def _located(self, one: Mention, document: str, scope: int) -> list[Structure]:
        """A document's structures that are meant."""
        nodes = self._structures.get((document, one.kind), [])
        if one.on_page:
            pages = self._located(Mention("page", one.on_page, 0, 0), document, 1)
            rows = {row for page in pages for row in self.contains.content(page).tolist()}
            nodes = [node for node in nodes if rows & set(self.contains.content(node).tolist())]
        if one.only:
            return nodes if len(nodes) == 1 and scope == 1 else []
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
        """Whether a place, "the opening page", belongs to something that is no document: "of A Winter Tale", "its"."""
        if not any(isinstance(label, int) for label in one.labels):
            return False
        if re.search(r"\b(?:its|their|his|her)\s+(?:very\s+)?$", text[: one.start], re.IGNORECASE):
            return not self._documents(text)
        of = re.match(r"\s+of\s+([^,;:?]*)", text[one.end :])
        return bool(of) and not self._documents(of[1]) and not _words(of[1]) & _GENERIC

    def _documents(self, words: str) -> list[str]:
        """The documents that a stretch of text names."""
        said = _words(words)
        return [document for document in self._names if said and self._is_named(said, document)]

    def _is_named(self, said: set[str], document: str) -> bool:
        names, others = self._names[document], [set().union(*of) for it, of in self._names.items() if it != document]
        own = {word for word in said if word in set().union(*names) and not all(word in other for other in others)}
        if not own - (_GENERIC if others else set()):
            return False
        return bool(said & _GENERIC) or any(name and len(said & name) >= 0.6 * len(name) for name in names)


class Structural(BM25):
    """Fetches what the asked structures hold; a content question is answered by BM25."""

    name = "structure"

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        self.reader = StructureReader(corpus)

    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        return self.reader.rankings(queries, k, super().retrieve_many)


def _words(text: str) -> set[str]:
    return set(map(str.lower, _TOKEN.findall(text))) - _GLUE


def _or_before(before: Sequence[str], own: Sequence[str]) -> Sequence[str]:
    return own or before
