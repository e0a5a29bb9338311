"""Questions about pages and tables: which structures they ask for, and what these hold (kgp.txt §4, 8.2).

Where the paper asks a language model for the names of structures, patterns find them here (kgp-i34), and the document
named beside one tells which is meant. A question that names none which the documents have is about content.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from kit.corpus import Corpus, Query
from kit.corpus.structures import Structure, arabic, structures
from kit.graphs import ContainsEdges
from kit.methods.base import Ranking
from kit.text.entities import STOP_WORDS

_CARDINALS = "one two three four five six seven eight nine ten".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_PLACES = {word: n for n, word in enumerate(_ORDINALS, 1)} | {
    "opening": 1,
    "last": -1,
    "final": -1,
    "closing": -1,
}
_LABELS = {word: str(n) for n, word in enumerate(_CARDINALS, 1)} | _PLACES

_NUMBER = rf"(?:(?:[A-Z]\.?)?\d+(?:\.\d+)*|[IVXL]+|{'|'.join(_CARDINALS)})\b"
_PLACE = rf"(?:{'|'.join(_PLACES)}|\d+(?:st|nd|rd|th))"
_TO = r"(?:–|-|\b(?:to|through|until)\b)"
_AND = rf"(?:\s*(?:{_TO}|,|&|\b(?:and|or|the)\b)\s*)+"
_MENTION = re.compile(
    # "pages 2 to 4", "Tables 1, 2 and 3", "Table no. 3", "p. 3", "report.pdf, p3"
    r"(?<!\w)(?:(?:pages?|pp\.?|p\.|pgs?\.?|(?<=, )p(?=\d)|tables?|tabs?\.?)\s*(?:(?:no\.?|number|#)\s*)?"
    rf"(?P<numbers>{_NUMBER}(?:{_AND}{_NUMBER})*)"
    # "the first and the third page", "the last two tables"; not "the first page of the novel", "the last page but one"
    rf"|(?P<places>{_PLACE}(?:{_AND}{_PLACE})*)\s+(?:(?P<count>\d+|{'|'.join(_CARDINALS)})\s+)?(?:page|table)s?\b"
    r"(?!\sof\sthe\s(?:novel|book)\b|\sbut\b)"
    r"|(?:(?:all|both|the)\s+)+tables\b|(?:every|each)\s+table\b)",
    re.IGNORECASE,
)
_TABLE_ON = re.compile(
    rf"\btable(?:\s+{_NUMBER})?\s+(?:on|at|in)\s+(?:the\s+)?(?:very\s+)?$", re.IGNORECASE
)
_HAS_TABLE = re.compile(r"[^.?!;]*?\bhas\s+a\s+table\b", re.IGNORECASE)
# "the opening page of A Winter Tale", "the novel … on its last page"
_OF_ANOTHER = re.compile(
    rf"\b(?:its|their)\s+{_PLACE}\s+page|{_PLACE}\s+page\s+of\b", re.IGNORECASE
)

#: What any document may be called.
_GENERIC = frozenset(
    "report reports paper memo document file pdf study survey article evaluation guide manual".split()
)


class Mention(NamedTuple):
    """Pages or tables that a text names at ``start`` to ``end``; without labels, all of them.

    A label is a number as the document has it (text), or a place in it (a whole number, 1 the first and -1 the last).
    """

    kind: str
    labels: tuple[str | int, ...]
    start: int
    end: int
    on_page: tuple[str | int, ...] = ()  # tables on these pages


def mentions(text: str) -> list[Mention]:
    """The pages and tables that a text names, from left to right; empty for a text about content."""
    found: list[Mention] = []
    for match in _MENTION.finditer(text):
        one = Mention(
            "table" if "tab" in match[0].lower() else "page", _labels(match), *match.span()
        )
        on = _TABLE_ON.search(text, 0, one.start)
        # Pages may only say where a table is: "the table on page 4", "Table 2 on page 4", "page 4 has a table".
        if one.kind == "page" and (on or _HAS_TABLE.match(text, one.end)):
            table = (
                found.pop()
                if on and found and found[-1].end > on.start()
                else Mention("table", (), *match.span())
            )
            one = table._replace(end=one.end, on_page=one.labels)
        found.append(one)
    return found


def _labels(match: re.Match) -> tuple[str | int, ...]:
    said = match["places"] or match["numbers"] or ""
    if match["numbers"] and not re.match("pages|pp|tables", match[0], re.IGNORECASE):
        said = said.split(",")[0]  # "In Table 2, 3 stations …" names one
    labels: list[str | int] = []
    for to, word in re.findall(rf"({_TO})?\s*\b({_PLACE}|{_NUMBER})", said.lower(), re.IGNORECASE):
        place = re.fullmatch(r"(\d+)[a-z]+", word)  # "3rd"
        label = int(place[1]) if place else _LABELS.get(word) or arabic(word)
        if to and f"{labels[-1]}{label}".isdigit():
            labels += [type(label)(n) for n in range(int(labels[-1]) + 1, int(label))]
        labels.append(label)
    if match["count"]:  # "the last two pages"
        n = int(_LABELS.get(match["count"].lower(), match["count"]))
        return tuple(range(1, n + 1) if labels[0] > 0 else range(-n, 0))
    return tuple(labels)


class StructureReader:
    """Finds the structures that questions over a corpus ask for.

    A structure is that of the document named beside it ("Table 3 of the river survey"), by two words of its title or
    file name, the only one, or one and a word like "report"; where none is named, of all documents that have it.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus, self.contains = corpus, ContainsEdges(structures(corpus), len(corpus))
        self._structures: dict[tuple[str, str], list[Structure]] = {}
        for node in self.contains.nodes:
            self._structures.setdefault((node.document, node.kind), []).append(node)
        titles = {passage.document: passage.title for passage in corpus.passages}
        names = {
            document: _words(f"{titles[document]} {document}") for document, _ in self._structures
        }
        # What all are called, "annual", tells none from the others.
        shared = set.intersection(*names.values()) if len(names) > 1 else set()
        self._names = {
            it: [_words(name) - shared - _GENERIC for name in (titles[it], it)] for it in names
        }

    def asked(self, text: str) -> tuple[Structure, ...]:
        """The structures that a question asks for, in the order of their mention; none for a content question."""
        named = mentions(text)
        bounds = [0, *(end for one in named for end in (one.start, one.end)), len(text)]
        before, *after = (
            self._documents(text[start:end]) for start, end in zip(bounds[::2], bounds[1::2])
        )
        if (
            before and after and not after[-1]
        ):  # "In the river survey, how do page 1 and page 2 differ?"
            after = [before, *after[:-1]]
        elif after:  # "page 1 and Table 2 of the river survey", "its page 1"
            after[0] = after[0] or before
        everywhere = (
            [] if _OF_ANOTHER.search(text) and not _words(text) & _GENERIC else list(self._names)
        )
        found: dict[Structure, None] = {}
        for i, one in enumerate(named):
            documents = next(filter(None, after[i:] + after[:i][::-1]), everywhere)
            found |= dict.fromkeys(
                it for document in documents for it in self._located(one, document)
            )
        return tuple(found)

    def rows(self, text: str) -> np.ndarray:
        """The rows that the asked structures hold, in the order of their mention; none for a content question."""
        content = [self.contains.content(structure) for structure in self.asked(text)]
        return np.array(list(dict.fromkeys(row for rows in content for row in rows.tolist())), int)

    def rankings(
        self, queries: Sequence[Query], k: int, otherwise: Callable[..., list[Ranking]]
    ) -> list[Ranking]:
        """What the asked structures hold and nothing else, cut at k, all with score 1, so that a ranking can be short.

        Content questions are ranked by ``otherwise(queries, k)``.
        """
        fetched = [
            tuple(self.corpus.passages[row].id for row in self.rows(query.text)[:k])
            for query in queries
        ]
        left = [query for query, ids in zip(queries, fetched) if not ids]
        content = iter(otherwise(left, k) if left else ())
        return [
            Ranking(ids, np.ones(len(ids), np.float32)) if ids else next(content) for ids in fetched
        ]

    def _located(self, one: Mention, document: str) -> list[Structure]:
        """A document's structures that are meant."""
        nodes = self._structures.get((document, one.kind), [])
        if one.on_page:
            pages = self._located(Mention("page", one.on_page, 0, 0), document)
            rows = {row for page in pages for row in self.contains.content(page)}
            nodes = [node for node in nodes if rows.intersection(self.contains.content(node))]
        named = (
            {node.label: node for node in nodes}
            | dict(enumerate(nodes, 1))
            | dict(enumerate(nodes, -len(nodes)))
        )
        return [named[label] for label in one.labels if label in named] if one.labels else nodes

    def _documents(self, text: str) -> list[str]:
        """The documents that a stretch of text names."""
        said = _words(text)
        return [
            it for it, names in self._names.items() if any(_is_called(name, said) for name in names)
        ]


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.lower())) - STOP_WORDS


def _is_called(name: set[str], said: set[str]) -> bool:
    return bool(name & said) and len((name | _GENERIC) & said) >= min(2, len(name))
