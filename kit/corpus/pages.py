"""The setting ``pages``: whole pages in place of a set's paragraphs (GNN-Ret Appendix B)."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from msgspec.structs import replace as with_fields

from kit.corpus.types import Benchmark, Corpus, Passage, Questions, Strings
from kit.errors import InputError, note

LEAST_SHARE = 0.5  # of a support's words, that a passage of its page has to have


def in_pages(benchmark: Benchmark, pages: Corpus) -> Benchmark:
    """The same questions, asked of the passages of whole pages.

    A support is carried by the passage of the page with its title that has the largest share of its
    words: a page may have changed since its paragraph was published. Questions of which a support
    is in no page are left out; a note tells how many.

    Raises InputError where no question is left.
    """
    titled = defaultdict(list)
    for passage in pages.passages:
        titled[passage.title.casefold()].append(passage)

    def asked_of_pages(questions: Questions) -> Questions:
        kept = []
        for question in questions:
            supporting = []
            for first, *_ in question.supporting:
                support = benchmark.corpus[first]
                supporting.append(_carriers(support, titled[support.title.casefold()]))
            if all(supporting):
                kept.append(with_fields(question, supporting=tuple(supporting)))
        return kept

    over_pages = replace(
        benchmark,
        name=f"{benchmark.name}-pages",
        corpus=pages,
        train=asked_of_pages(benchmark.train),
        dev=asked_of_pages(benchmark.dev),
        test=asked_of_pages(benchmark.test),
    )
    n_all = sum(map(len, benchmark.splits.values()))
    n_left_out = n_all - sum(map(len, over_pages.splits.values()))
    if n_left_out == n_all:
        raise InputError("expected pages with the titles and words of supports, found none")
    if n_left_out:
        note(f"{n_left_out:,} of {n_all:,} questions are left out: a support is in no page")
    return over_pages


def _carriers(support: Passage, page: Sequence[Passage]) -> Strings:
    """The ids of the passages with the largest share of the support's words, if that will do."""
    words = _words(support.text)
    shares = {}
    for passage in page:
        shares[passage.id] = len(words & _words(passage.text)) / max(len(words), 1)
    best = max(shares.values(), default=0.0)
    if best < LEAST_SHARE:
        return ()
    return tuple(name for name, share in shares.items() if share == best)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
