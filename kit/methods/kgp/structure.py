"""Questions about pages and tables: which structures they ask for, and what these hold.

Where KGP (§4, §8.2) asks a language model for the names of structures, patterns find them here
(kgp-i34), and the document named beside a structure tells which is meant. A question that names
none which the documents have is about content.
"""

import re
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from kit.corpus import Corpus
from kit.corpus.structures import Structure, arabic, structures
from kit.corpus.types import Queries
from kit.graphs import ContainsEdges
from kit.methods.base import Ranking, Rankings
from kit.text.entities import STOP_WORDS

Labels = tuple[str | int, ...]

_CARDINALS = "one two three four five six seven eight nine ten".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_POSITIONS = {word: n for n, word in enumerate(_ORDINALS, 1)} | {
    "opening": 1,
    "last": -1,
    "final": -1,
    "closing": -1,
}
_LABELS = dict(zip(_CARDINALS, "1 2 3 4 5 6 7 8 9 10".split())) | _POSITIONS

_CARDINAL = "|".join(_CARDINALS)
#: "served as page one summer" names no page.
_TIME = r"(?:spring|summer|autumn|fall|winter|year|month|week|day|night|morning|evening|time)s?\b"
_NUMBER = rf"(?:(?:(?:[A-Z]\.?)?\d+(?:\.\d+)*|[IVXL]+)\b|(?:{_CARDINAL})\b(?!\s+{_TIME}))"
_POSITION = rf"(?:{'|'.join(_POSITIONS)}|\d+(?:st|nd|rd|th))"
_TO = r"(?:–|-|\b(?:to|through|until)\b)"
_AND = rf"(?:\s*(?:{_TO}|,|&|\b(?:and|or|the)\b)\s*)+"
_MENTION = re.compile(
    # "pages 2 to 4", "Tables 1, 2 and 3", "Table no. 3", "p. 3", "report.pdf, p3"
    r"(?i)(?<!\w)(?:(?:pages?|pp\.?|p\.|pgs?\.?|(?<=, )p(?=\d)|tables?|tabs?\.?)\s*"
    r"(?:(?:no\.?|number|#)\s*)?"
    rf"(?P<numbers>{_NUMBER}(?:{_AND}{_NUMBER})*)"
    # "the first and the third page", "the last two tables";
    # not "the first page of the novel", "the last page but one"
    rf"|(?P<positions>{_POSITION}(?:{_AND}{_POSITION})*)\s+"
    rf"(?:(?P<count>\d+|{_CARDINAL})\s+)?(?:page|table)s?\b"
    r"(?!\sof\sthe\s(?:novel|book)\b|\sbut\b)"
    r"|(?:(?:all|both|the)\s+)+tables\b|(?:every|each)\s+table\b)",
)
_PLURAL = re.compile("(?i)pages|pp|tables")
_LABEL = re.compile(rf"(?i)({_TO})?\s*\b({_POSITION}|{_NUMBER})")
_TABLE_ON = re.compile(
    rf"(?i)\btable(?:\s+{_NUMBER})?\s+(?:on|at|in)\s+(?:the\s+)?(?:very\s+)?$",
)
_HAS_TABLE = re.compile(r"(?i)[^.?!;]*?\bhas\s+a\s+table\b")
# "the opening page of A Winter Tale", "the novel … on its last page", "both tables of the council"
_OF_ANOTHER = re.compile(
    rf"(?i)\b(?:its|their)\s+{_POSITION}\s+page|{_POSITION}\s+page\s+of\b"
    r"|\b(?:all|both|the)\s+tables\s+(?:of|in|at)\b",
)

#: What any document may be called.
_GENERIC = frozenset(
    (
        "report reports paper memo document file pdf study survey article evaluation guide manual"
    ).split()
)


class StructureMention(NamedTuple):
    """Pages or tables that a text names at ``start`` to ``end``; without labels, all of them.

    A label is a number as the document has it (text), or a position in the document (a whole
    number, 1 the first and -1 the last).
    """

    kind: str
    labels: Labels
    start: int
    end: int
    on_page: Labels = ()  # tables on these pages


def structure_mentions(text: str) -> list[StructureMention]:
    """The pages and tables that a text names, from left to right.

    There are none in a text about content.
    """
    mentions = []
    for match in _MENTION.finditer(text):
        kind = "table" if "tab" in match[0].lower() else "page"
        mention = StructureMention(
            kind,
            _labels(match),
            *match.span(),
        )

        # Pages may only say where a table is: "the table on page 4", "page 4 has a table".
        table_before = _TABLE_ON.search(text, 0, mention.start)
        table_after = _HAS_TABLE.match(text, mention.end)
        if kind == "page" and (table_before or table_after):
            table = mention._replace(kind="table", labels=())
            if table_before and mentions and mentions[-1].end > table_before.start():
                table = mentions.pop()  # "Table 2 on page 4"
            mention = table._replace(
                end=mention.end,
                on_page=mention.labels,
            )
        mentions.append(mention)
    return mentions


def _labels(match: re.Match) -> Labels:
    text = match["positions"] or match["numbers"] or ""
    if match["numbers"] and not _PLURAL.match(match[0]):
        text = text.split(",")[0]  # "In Table 2, 3 stations …" names one

    labels = []
    for to, word in _LABEL.findall(text.lower()):
        label = _label(word)
        if to and f"{labels[-1]}{label}".isdigit():
            first, last = map(int, (labels[-1], label))
            labels += map(type(label), range(first + 1, last))
        labels.append(label)

    if match["count"]:  # "the last two pages"
        count = int(_label(match["count"].lower()))
        labels = range(1, count + 1) if labels[0] > 0 else range(-count, 0)
    return tuple(labels)


def _label(word: str) -> str | int:
    ordinal = re.fullmatch(r"(\d+)[a-z]+", word)  # "3rd"
    if ordinal:
        return int(ordinal[1])
    return _LABELS.get(word) or arabic(word)


class StructureReader:
    """Finds the structures that questions over a corpus ask for.

    A structure is that of the document named beside it ("Table 3 of the river survey"): by two
    words of its title or file name, by the only one, or by one and a word like "report". Where no
    document is named, it is that of all documents that have it.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.contains = ContainsEdges(structures(corpus), len(corpus))
        self._structures = defaultdict(list)  # of a document and a kind
        for node in self.contains.nodes:
            self._structures[node.document, node.kind].append(node)

        titles = {passage.document: passage.title for passage in corpus.passages}
        self._names = {}  # of each document, as sets of words
        for document, _ in self._structures:
            self._names[document] = [
                _words(titles[document]),
                _words(document),
            ]
        self._forget_common_words()

    def _forget_common_words(self) -> None:
        """What all documents are called, "annual", tells none from the others."""
        common = set(_GENERIC)
        words = [set.union(*names) for names in self._names.values()]
        if len(words) > 1:
            common |= set.intersection(*words)
        for names in self._names.values():
            for name in names:
                name -= common

    def structures_in(self, text: str) -> tuple[Structure, ...]:
        """The structures that a question asks for, in the order of their mention.

        There are none for a question about content.
        """
        mentions = structure_mentions(text)
        named = self._documents_beside(mentions, text)
        is_of_another = _OF_ANOTHER.search(text) and not _words(text) & _GENERIC
        everywhere = () if is_of_another else self._names

        asked_for = {}
        for index, mention in enumerate(mentions):
            behind = named[index:]
            before = named[:index][::-1]
            for document in next(filter(None, behind + before), everywhere):
                asked_for |= dict.fromkeys(self._located(mention, document))
        return tuple(asked_for)

    def rows(self, text: str) -> ndarray:
        """The rows that a question's structures hold, in the order of their mention."""
        rows = {}
        for structure in self.structures_in(text):
            rows |= dict.fromkeys(self.contains.content(structure).tolist())
        return np.array(list(rows), int)

    def rankings(
        self,
        queries: Queries,
        k: int,
        by_content: Callable,
    ) -> Rankings:
        """What the structures hold and nothing else, cut at k, all with score 1.

        Such a ranking can be short. Questions about content are ranked ``by_content(queries, k)``.
        """
        rankings = []
        for query in queries:
            ids = tuple(self.corpus.passages[row].id for row in self.rows(query.text)[:k])
            rankings.append(Ranking(ids, np.ones(len(ids), np.float32)))

        content = [query for query, ranking in zip(queries, rankings) if not ranking.ids]
        ranked = iter(by_content(content, k)) if content else None
        return [ranking if ranking.ids else next(ranked) for ranking in rankings]

    def _located(self, mention: StructureMention, document: str) -> list[Structure]:
        """A document's structures that are meant."""
        nodes = self._structures.get((document, mention.kind), [])
        if mention.on_page:
            pages = mention._replace(
                kind="page",
                labels=mention.on_page,
                on_page=(),
            )
            rows = set()
            for page in self._located(pages, document):
                rows.update(self.contains.content(page))
            nodes = [node for node in nodes if rows.intersection(self.contains.content(node))]

        if not mention.labels:
            return nodes

        labelled = {node.label: node for node in nodes}
        labelled.update(enumerate(nodes, 1))
        labelled.update(enumerate(nodes, -len(nodes)))
        return [labelled[label] for label in mention.labels if label in labelled]

    def _documents_beside(
        self,
        mentions: list[StructureMention],
        text: str,
    ) -> list[list[str]]:
        """The documents that are named with each mention, as a rule behind it."""
        documents = []
        end = 0
        for mention in mentions:
            documents.append(self._documents(text[end : mention.start]))
            end = mention.end
        documents.append(self._documents(text[end:]))

        before, *behind = documents
        if before and behind and not behind[-1]:
            # "In the river survey, how do page 1 and page 2 differ?"
            return [before, *behind[:-1]]
        if behind:  # "page 1 and Table 2 of the river survey", "its page 1"
            behind[0] = behind[0] or before
        return behind

    def _documents(self, text: str) -> list[str]:
        """The documents that a stretch of text names, by enough words of one of their names."""
        words = _words(text)
        documents = []
        for document, names in self._names.items():
            for name in names:
                fitting = words & (name | _GENERIC)
                if name & words and len(fitting) >= min(2, len(name)):
                    documents.append(document)
                    break
        return documents


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.lower())) - STOP_WORDS
