"""Names in text, and an entity linker in TAGME's role (KGP §3), from nothing but the corpus.

What TAGME takes from Wikipedia comes from the corpus: prior(s → e) is the product of

    link probability(s)  share of the occurrences of s that are written as a name, with a capital
                         or a digit
    commonness(e | s)    weight of e among all entities that s can mean; 1 where there is only one
    specificity(s)       1 − log df(s) / log N: 1 for a name that one of N passages mentions, 0 for
                         one in all of them. TAGME has no such term, and it can be left out. Of few
                         passages N counts as 64, so that a name may come in several of them.

In the code s is ``surface``, e a column of the incidence, df(s) ``len(rows)`` and N the number of
passages. What another linker found can be read from a file (:func:`read_annotations`).

Scripts without capitals (Arabic, Chinese …) tell no names by them: there, titles and aliases alone
are names, and each occurrence counts as written as one. For where words begin and end in other
scripts, see :mod:`kit.text.scripts`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Self
from unicodedata import normalize

import ahocorasick
import numpy as np
from bm25s.stopwords import STOPWORDS_EN_PLUS, STOPWORDS_RUSSIAN
from numpy import ndarray
from scipy.sparse import csr_array

from kit.corpus import Corpus
from kit.corpus.records import read_utf8
from kit.corpus.types import Texts
from kit.errors import InputError, note
from kit.text import scripts
from kit.text.derived import kept

MONTHS = (
    "January February March April May June July August September October November December".split()
)
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
#: NLTK's list, which bm25s brings. (That of scikit-learn holds "mill", "fire" and "bill".)
STOP_WORDS = frozenset(STOPWORDS_EN_PLUS)
_GREEK_ARTICLES = "ο η το οι τα του της των τον την στο στη στην στον στα στις στους".split()
#: Words that are no names by themselves, whatever their capital.
NO_NAMES = STOP_WORDS.union(
    map(str.lower, [*MONTHS, *_DAYS]),
    STOPWORDS_RUSSIAN,
    _GREEK_ARTICLES,
)

_CAPITAL = scripts.CAPITALS
#: A full stop belongs to initials and titles of honour only. Elsewhere it ends the sentence, and
#: the name with it.
_WORD = rf"(?:(?:[{_CAPITAL}]\.)+|(?:St|Mt|Mr|Mrs|Dr|Jr|Sr)\.|[{_CAPITAL}][\w'’\-&]*)"
_INNER = r"(?:of|the|de|la|le|von|van|der|den|and|for|in|on|du|da|del|di|al|&)"
#: Capitalised words in a row, with up to two small words between them: "House of the Hill".
_NAME = re.compile(rf"{_WORD}(?:\s+(?:{_INNER}\s+){{0,2}}{_WORD})*")
_ALSO = re.compile(
    r"(?:known as|called|nicknamed|titled|née|born|formerly|or simply|abbreviated(?: as| to)?)"
    r"\s+(?:the\s+)?[\"“']?"
    rf"({_NAME.pattern})"
)
_LEAD = 400  # characters: where an article introduces the names of its subject
_FEWEST = 64  # passages, as which fewer ones count where names are told from frequent ones
#: What follows the name of a subject: "Selby Quay (pop. 900)", "Selby Quay is".
_OF_SUBJECT = re.compile(r"\s*\(|\s+(?:is|was|are|were)\b")

_ARTICLE = re.compile(r"^(?:the|an?)\s+")
_POSSESSIVE = re.compile(r"['’]s$")
_QUALIFIER = re.compile(r"\s*[(（][^)）]*[)）]$")
_EDGES = " .,;:!?\"'’“”-&" + scripts.PUNCTUATION


def lower(text: str) -> str:
    """Lower case of the same length, so that positions stay (``İ`` would become two characters)."""
    return "İ".join(part.lower() for part in text.split("İ"))


def fold(name: str) -> str:
    """A name as it is looked up.

    Lower case, composed characters, single spaces, no leading article, possessive or outer
    punctuation.
    """
    spaced = " ".join(lower(normalize("NFC", name)).split())
    folded = _ARTICLE.sub("", spaced.strip(_EDGES))
    return _POSSESSIVE.sub("", folded)


def without_qualifier(title: str) -> str:
    """A title without what tells it from its namesakes: "Left & Right (song)" → "Left & Right"."""
    return _QUALIFIER.sub("", title).strip() or title


def is_name(folded: str) -> bool:
    """Whether a folded text can be a name by itself."""
    return len(folded) >= scripts.shortest_name(folded) and folded not in NO_NAMES


def is_written_as_name(form: str) -> bool:
    """Whether a text begins with a capital, a digit, or a letter of a script without capitals."""
    first = form[0]
    return first.isupper() or first.isdigit() or scripts.has_no_case(first)


def names_in(text: str) -> Iterator[str]:
    """The folded names that the capitals of a text show.

    A single word that only opens a sentence is none.
    """
    for match in _NAME.finditer(text):
        before = text[: match.start()].rstrip()
        opens_sentence = before[-1:] in ".!?"  # so does the first word of the text

        words = match.group().split()
        while words and fold(words[0]) in NO_NAMES:
            del words[0]
            opens_sentence = False

        name = fold(" ".join(words))
        if is_name(name) and not (opens_sentence and len(words) == 1):
            yield name


class SurfaceMatcher:
    """Finds folded surfaces as whole words of a text in composed characters.

    Nested ones are found too ("Cassel" in "Siege of Cassel").
    """

    def __init__(self, surfaces: Iterable[str]) -> None:
        self._automaton = ahocorasick.Automaton()
        for surface in surfaces:
            self._automaton.add_word(surface, surface)
        self._automaton.make_automaton()

    def find(self, text: str) -> Iterator[tuple[int, str]]:
        """Pairs of where a surface begins and the surface, by where they end."""
        if self._automaton.kind != ahocorasick.AHOCORASICK:  # no surfaces at all
            return
        lowered = lower(text)
        for last, surface in self._automaton.iter(lowered):
            end = last + 1
            start = end - len(surface)
            if scripts.is_whole_word(lowered, start, end):
                yield start, surface


@dataclass(frozen=True)
class BipartiteIncidence:
    """Which passages hold which terms.

    ``matrix`` has the shape (passages, terms), its values are weights in (0, 1]; ``terms`` names
    the columns.
    """

    matrix: csr_array
    terms: ndarray

    @classmethod
    def from_entries(
        cls,
        entries: Iterable[tuple[int, int, float]],
        terms: Texts,
        n: int,
    ) -> Self:
        """Of ``n`` passages, from entries (row, column, weight).

        Of several with the same row and column the one with the largest weight counts.
        """
        import pandas as pd

        table = pd.DataFrame(entries, columns=["row", "column", "weight"])
        largest = table.groupby(["row", "column"], as_index=False).max()
        *positions, weights = largest.to_numpy(float).T
        matrix = csr_array(
            (weights.astype(np.float32), np.array(positions, int)),
            shape=(n, len(terms)),
        )
        return cls(matrix, np.asarray(terms, object))

    def at_least(self, weight: float) -> Self:
        """Only the entries of this weight or more."""
        return BipartiteIncidence(
            self.matrix.multiply(self.matrix >= weight),
            self.terms,
        )

    def connecting(self) -> Self:
        """Only the terms that two or more passages hold: the others connect nothing."""
        n_passages = np.bincount(self.matrix.indices, minlength=len(self.terms))
        kept = np.flatnonzero(n_passages > 1)
        return BipartiteIncidence(
            self.matrix[:, kept],
            self.terms[kept],
        )


@lru_cache(maxsize=2)
def link(corpus: Corpus, specificity: bool = True) -> BipartiteIncidence:
    """The priors of all links: passages × entities.

    An entity is a document, found by its title or an alias, or a name without a page, which stands
    for itself. A passage that opens a document is linked to it with prior 1. Titles of later
    passages are not searched. Without ``specificity`` a prior is TAGME's, and a name in many
    passages links them all. The links of a large corpus are kept in the store.
    """
    links = kept(_links, _Links, corpus, corpus.hash, specificity)
    return BipartiteIncidence.from_entries(links.entries, links.terms, len(corpus))


class _Links(NamedTuple):
    """Row, column and prior of each link, and what the columns stand for."""

    entries: list[tuple[int, int, float]]
    terms: list[str]


def _links(corpus: Corpus, specificity: bool) -> _Links:
    """See :func:`link`; of several links of a passage to an entity the largest prior counts."""
    documents = surfaces(corpus)
    counts = Counter()
    written = defaultdict(list)
    for row, surface, form in _occurrences(corpus, documents):
        counts[surface] += 1
        if is_written_as_name(form):
            written[surface].append((row, form))

    terms = []
    entries = []
    column = {}
    for document, rows in corpus.documents.items():
        opening = int(rows[0])
        column[document] = len(terms)
        entries.append((opening, len(terms), 1.0))
        terms.append(corpus.passages[opening].title)

    log_n = np.log(max(len(corpus), _FEWEST))
    for surface, mentions in written.items():
        weights = {
            column[document]: weight for document, weight in documents.get(surface, {}).items()
        }
        if not weights:
            weights[len(terms)] = 1.0
            terms.append(mentions[0][1])  # as it is first written

        rows = {row for row, _ in mentions}
        probability = len(mentions) / counts[surface]
        if specificity:
            probability *= 1 - np.log(len(rows)) / log_n
        for entity, weight in weights.items():
            prior = float(probability * weight / sum(weights.values()))
            if prior > 0:
                entries += [(row, entity, prior) for row in rows]
    return _Links(entries, terms)


def _occurrences(
    corpus: Corpus,
    documents: Iterable[str],
) -> Iterator[tuple[int, str, str]]:
    """Row, surface and form of all that may be a mention.

    The titles of passages that open a document count as part of their text.
    """
    texts = []
    names = set(documents)
    for passage in corpus.passages:
        title = passage.title if passage.position == 0 else ""
        texts.append(f"{title}\n{passage.text}")
        names.update(names_in(title))
        names.update(names_in(passage.text))

    matcher = SurfaceMatcher(names)
    for row, text in enumerate(texts):
        for start, surface in matcher.find(text):
            yield row, surface, text[start : start + len(surface)]


def surfaces(corpus: Corpus) -> dict[str, dict[str, float]]:
    """Surface → document → weight.

    Titles weigh 1, aliases that the lead of the article gives one half.
    """
    weights = defaultdict(dict)
    for document, rows in corpus.documents.items():
        passage = corpus.passages[rows[0]]
        title = without_qualifier(passage.title)
        titles = [passage.title, title, title.split(",")[0]]

        lead = passage.text[:_LEAD]
        aliases = [match[1] for match in _ALSO.finditer(lead)]
        aliases += _opening_name(lead.lstrip(" \"“'"), passage.title)

        for weight, names in ((0.5, aliases), (1.0, titles)):
            for name in filter(is_name, map(fold, names)):
                weights[name][document] = weight
    return weights


def _opening_name(lead: str, title: str) -> list[str]:
    """The name of several words that an article opens with, if it is its subject's.

    It shares a word with the title, or is followed by what follows a subject: "Ines Moravec wrote
    this novel" opens the article on the novel.
    """
    opening = _NAME.match(lead)
    if not opening or " " not in opening[0]:
        return []
    words = set(fold(opening[0]).split()) - NO_NAMES
    is_of_subject = _OF_SUBJECT.match(lead, opening.end())
    if is_of_subject or words & set(fold(title).split()):
        return [opening[0]]
    return []


def read_annotations(path: str | Path, corpus: Corpus) -> BipartiteIncidence:
    """The entities that another linker found (TAGME, WAT, a language model): passages × pages.

    A line of the file is a passage's id, the surface and the page it means, with tabs between;
    without a page the surface stands for itself. Blank lines count for nothing. A note counts the
    lines about passages that the corpus lacks. Raises :class:`InputError` for another form of line,
    and where no line is about the corpus.
    """
    lines = read_utf8(Path(path)).decode("utf-8", "replace").split("\n")
    column = {}
    entries = []
    n_unknown = 0
    for index, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) != 3 or not any(fields[1:]):
            expected = "expected passage, surface and page, with tabs between"
            raise InputError(expected, file=path, record=index)

        passage, surface, page = fields
        if passage not in corpus.row:
            n_unknown += 1
            continue
        entity = column.setdefault(page or surface, len(column))
        entries.append((corpus.row[passage], entity, 1.0))

    if not entries:
        raise InputError("expected a line about a passage of the corpus", file=path)
    if n_unknown:
        note(f"{path}: {n_unknown:,} lines are about passages that the corpus lacks")
    return BipartiteIncidence.from_entries(entries, list(column), len(corpus))
