"""Names in text, and an entity linker in TAGME's role (kgp.txt §3), from nothing but the corpus.

What TAGME takes from Wikipedia comes from the corpus: prior(s → e) is the product of

    link probability(s)  share of the occurrences of s that are written as a name, with a capital or a digit
    commonness(e | s)    weight of e among all entities that s can mean; 1 where only one can be meant
    specificity(s)       1 − log df(s) / log N: 1 for a name that one of N passages mentions, 0 for one in all of them
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import ahocorasick
import numpy as np
import pandas as pd
from bm25s.stopwords import STOPWORDS_EN_PLUS
from scipy import sparse

from kit.corpus import Corpus

MONTHS = (
    "January February March April May June July August September October November December".split()
)
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
#: NLTK's list, which bm25s brings. (That of scikit-learn holds "mill", "fire", "bill" and "system".)
STOP_WORDS = frozenset(STOPWORDS_EN_PLUS)
#: Words that are no names by themselves, whatever their capital.
NO_NAMES = STOP_WORDS.union(map(str.lower, [*MONTHS, *_DAYS]))

_CAPITAL = "A-ZÀ-ÖØ-ÞĀ-Ž"
#: A full stop belongs to initials and titles of honour only: elsewhere it ends the sentence, and the name with it.
_WORD = rf"(?:(?:[{_CAPITAL}]\.)+|(?:St|Mt|Mr|Mrs|Dr|Jr|Sr)\.|[{_CAPITAL}][\w'’\-&]*)"
_INNER = r"(?:of|the|de|la|le|von|van|der|den|and|for|in|on|du|da|del|di|al|&)"
#: Capitalised words in a row, with up to two small words between them: "House of the Hill".
_NAME = re.compile(rf"{_WORD}(?:\s+(?:{_INNER}\s+){{0,2}}{_WORD})*")
_ALSO = re.compile(
    r"(?:known as|called|nicknamed|titled|née|born|formerly|or simply|abbreviated(?: as| to)?)\s+(?:the\s+)?[\"“']?"
    rf"({_NAME.pattern})"
)
_LEAD = 400  # characters: where an article introduces the names of its subject

_ARTICLE = re.compile(r"^(?:the|an?)\s+")
_POSSESSIVE = re.compile(r"['’]s$")
_QUALIFIER = re.compile(r"\s*\([^)]*\)$")


def lower(text: str) -> str:
    """Lower case of the same length, so that places stay places (``İ`` would become two characters)."""
    lowered = text.lower()
    return (
        lowered
        if len(lowered) == len(text)
        else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    )


def fold(name: str) -> str:
    """A name as it is looked up: lower case, single spaces, no leading article, possessive or outer punctuation."""
    folded = _ARTICLE.sub("", " ".join(lower(name).split()).strip(" .,;:!?\"'’“”-&"))
    return _POSSESSIVE.sub("", folded)


def without_qualifier(title: str) -> str:
    """A title without what tells it from its namesakes: "Left & Right (song)" → "Left & Right"."""
    return _QUALIFIER.sub("", title).strip() or title


def is_name(folded: str) -> bool:
    return len(folded) > 2 and folded not in NO_NAMES


def names_in(text: str) -> Iterator[str]:
    """The folded names that the capitals of a text show. A single word that only opens a sentence is none."""
    for match in _NAME.finditer(text):
        opens = not match.start() or text[: match.start()].rstrip()[-1:] in ".!?\n"
        words = match.group().split()
        while words and fold(words[0]) in NO_NAMES:
            words, opens = words[1:], False
        if words and not (opens and len(words) == 1) and is_name(name := fold(" ".join(words))):
            yield name


class SurfaceMatcher:
    """All whole-word places of folded surfaces in a text, nested ones included ("Cassel" in "Siege of Cassel")."""

    def __init__(self, surfaces: Iterable[str]) -> None:
        self._automaton = ahocorasick.Automaton()
        for surface in surfaces:
            self._automaton.add_word(surface, surface)
        self._automaton.make_automaton()

    def find(self, text: str) -> Iterator[tuple[int, str]]:
        """Pairs of the place where it begins and the surface."""
        if self._automaton.kind != ahocorasick.AHOCORASICK:  # no surfaces at all
            return
        lowered = lower(text)
        for last, surface in self._automaton.iter(lowered):
            start, end = last - len(surface) + 1, last + 1
            if not (start and lowered[start - 1].isalnum()) and not (
                end < len(lowered) and lowered[end].isalnum()
            ):
                yield start, surface


@dataclass(frozen=True)
class BipartiteIncidence:
    """``matrix`` of shape (passages, terms), its values weights in (0, 1]; ``terms`` names the columns."""

    matrix: sparse.csr_array
    terms: np.ndarray

    @classmethod
    def from_entries(
        cls, entries: Iterable[tuple[int, int, float]], terms: Sequence[str], n: int
    ) -> Self:
        """Of ``n`` passages, from (row, column, weight); of several at one place the largest weight counts."""
        table = pd.DataFrame(entries, columns=["row", "column", "weight"])
        found = (
            table.groupby(["row", "column"], as_index=False)
            .max()
            .astype({"row": int, "column": int})
        )
        places = found["row"].to_numpy(), found["column"].to_numpy()
        matrix = sparse.csr_array(
            (found["weight"].to_numpy(np.float32), places), shape=(n, len(terms))
        )
        return cls(matrix, np.asarray(terms, object))

    def at_least(self, weight: float) -> Self:
        """Only the entries of this weight or more."""
        return BipartiteIncidence(self.matrix.multiply(self.matrix >= weight), self.terms)

    def connecting(self) -> Self:
        """Only the terms that two or more passages hold: the others connect nothing."""
        keep = np.flatnonzero(np.bincount(self.matrix.indices, minlength=self.matrix.shape[1]) > 1)
        return BipartiteIncidence(sparse.csr_array(self.matrix[:, keep]), self.terms[keep])


@lru_cache(maxsize=2)
def link(corpus: Corpus) -> BipartiteIncidence:
    """The priors of all links: passages × entities.

    An entity is a document, found by its title or an alias, or a name without a page, which stands for itself. A
    passage that opens a document is linked to it with prior 1; titles of later passages are not searched.
    """
    known = surfaces(corpus)
    texts = [
        f"{passage.title if passage.position == 0 else ''}\n{passage.text}"
        for passage in corpus.passages
    ]
    parts = [part for text in texts for part in text.split("\n", 1)]
    mentions = SurfaceMatcher({name for part in parts for name in names_in(part)} | known.keys())
    seen, written = Counter[str](), Counter[str]()
    passages_of: dict[str, dict[int, None]] = defaultdict(dict)
    forms: dict[str, str] = {}  # as first written
    for row, text in enumerate(texts):
        for start, surface in mentions.find(text):
            seen[surface] += 1
            if text[start].isupper() or text[start].isdigit():
                written[surface] += 1
                passages_of[surface][row] = None
                forms.setdefault(surface, text[start : start + len(surface)])

    column = {document: number for number, document in enumerate(corpus.documents)}
    opening = [rows[0] for rows in corpus.documents.values()]
    terms = [corpus.passages[row].title for row in opening]
    entries = [(row, number, 1.0) for number, row in enumerate(opening)]
    for surface, rows in passages_of.items():
        specificity = 1 - np.log(len(rows)) / np.log(max(len(corpus), 2))
        probability = written[surface] / seen[surface] * specificity
        if surface in known:
            meanings = {column[document]: weight for document, weight in known[surface].items()}
        else:
            meanings = {len(terms): 1.0}
            terms.append(forms[surface])
        for entity, weight in meanings.items():
            if (prior := probability * weight / sum(meanings.values())) > 0:
                entries += ((row, entity, prior) for row in rows)
    return BipartiteIncidence.from_entries(entries, terms, len(corpus))


def surfaces(corpus: Corpus) -> dict[str, dict[str, float]]:
    """Surface → document → weight: titles weigh 1, aliases that the lead of the article gives one half."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for document, rows in corpus.documents.items():
        passage = corpus.passages[rows[0]]
        title, lead = without_qualifier(passage.title), passage.text[:_LEAD]
        aliases = [match[1] for match in _ALSO.finditer(lead)]
        opening = _NAME.match(lead.lstrip(" \"“'"))
        aliases += [opening.group()] if opening and " " in opening.group() else []
        for weight, names in ((0.5, aliases), (1.0, [passage.title, title, title.split(",")[0]])):
            for name in map(fold, names):
                if is_name(name):
                    found[name][document] = weight
    return found
