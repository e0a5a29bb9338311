"""What is made of a large corpus without a model, kept in the store: names, links, triples."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from kit.corpus import Corpus
from kit.fingerprint import code_digest
from kit.store import Store, content_key

KIND = "derived"  # in the store
LARGE = 1_000  # passages: what is made of fewer takes less than a second

Result = TypeVar("Result")


def of_corpus(
    make: Callable[..., Result],
    result: type[Result],
    corpus: Corpus,
    *settings: object,
) -> Result:
    """``make(corpus, *settings)``, which for a large corpus is kept in the store.

    It is found again by the function's name and code, and read as a ``result``.
    """
    if len(corpus) < LARGE:
        return make(corpus, *settings)
    code = code_digest(make.__module__)
    key = content_key(make.__name__, code, corpus.hash, *map(str, settings))
    return Store().remembered(KIND, key, result, partial(make, corpus, *settings))
