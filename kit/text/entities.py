"""An entity linker in TAGME's role (kgp.txt §3), from nothing but the corpus.

TAGME weighs a link by two numbers from Wikipedia: how often a surface is a link at all, and how often it then means
the entity. Both are taken here from the corpus itself, with a third that stands in for Wikipedia's judgement of what
is worth a link:

    prior(s → e) = link probability(s) · commonness(e | s) · specificity(s)

    link probability(s)  share of the occurrences of s that are written as a name, with a capital or a digit
    commonness(e | s)    weight of e among all entities that s can mean; 1 where only one can be meant
    specificity(s)       1 − log df(s) / log N: 1 for a name that one of N passages mentions, 0 for one in all of them
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache

import numpy as np

from kit.corpus import Corpus, Passage
from kit.text.incidence import Incidence
from kit.text.mentions import NAME, Mentions, fold, is_name, names_in, without_qualifier

_ALSO = re.compile(
    r"(?:known as|called|nicknamed|titled|née|born|formerly|or simply|abbreviated(?: as| to)?)\s+(?:the\s+)?[\"“']?"
    rf"({NAME.pattern})"
)
_LEAD = 400  # characters: where an article introduces the names of its subject


@lru_cache(maxsize=2)
def link(corpus: Corpus) -> Incidence:
    """The priors of all links: passages × entities.

    An entity is a document, found by its title or an alias, or a name without a page, which stands for itself. A
    passage that opens a document is linked to it with prior 1. Titles of later passages are not searched: they are the
    document's, not the passage's.
    """
    known = surfaces(corpus)
    names = {name for passage in corpus.passages for name in [*names_in(passage.text), *names_in(_title(passage))]}
    mentions = Mentions(names | known.keys())
    seen: dict[str, int] = defaultdict(int)
    written: dict[str, int] = defaultdict(int)
    passages_of: dict[str, dict[int, None]] = defaultdict(dict)
    for row, passage in enumerate(corpus.passages):
        text = f"{_title(passage)}\n{passage.text}"
        for start, surface in mentions.find(text):
            seen[surface] += 1
            if text[start].isupper() or text[start].isdigit():
                written[surface] += 1
                passages_of[surface][row] = None

    documents = list(corpus.documents)
    column = {name: index for index, name in enumerate(documents)}
    terms = [corpus.passages[rows[0]].title for rows in corpus.documents.values()]
    rows_out, columns_out, priors = (
        [rows[0] for rows in corpus.documents.values()],
        list(range(len(documents))),
        [1.0] * len(documents),
    )
    log_n = np.log(max(len(corpus), 2))
    for surface, rows in passages_of.items():
        probability = written[surface] / seen[surface] * (1 - np.log(len(rows)) / log_n)
        if surface in known:
            meanings = {column[document]: weight for document, weight in known[surface].items()}
        else:
            meanings = {len(terms): 1.0}
            terms.append(surface)
        total = sum(meanings.values())
        for entity, weight in meanings.items():
            if (prior := probability * weight / total) > 0:
                rows_out += rows
                columns_out += [entity] * len(rows)
                priors += [prior] * len(rows)
    return Incidence.from_entries(rows_out, columns_out, priors, terms, len(corpus))


def _title(passage: Passage) -> str:
    return passage.title if passage.position == 0 else ""


def surfaces(corpus: Corpus) -> dict[str, dict[str, float]]:
    """Surface → document → weight: titles weigh 1, aliases that the lead of the article gives one half."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for document, rows in corpus.documents.items():
        passage = corpus.passages[rows[0]]
        title = without_qualifier(passage.title)
        lead = passage.text[:_LEAD]
        opening = NAME.match(lead.lstrip(" \"“'"))
        aliases = [match[1] for match in _ALSO.finditer(lead)]
        aliases += [opening.group()] if opening and " " in opening.group() else []
        for weight, names in ((0.5, aliases), (1.0, [passage.title, title, title.split(",")[0]])):
            for name in map(fold, names):
                if is_name(name):
                    found[name][document] = weight
    return found
