"""What the tests of retrievers share."""

from collections.abc import Callable

import pytest

from kit.corpus import Corpus, example
from kit.retrievers import Retriever, make


@pytest.fixture(scope="session")
def indexed() -> Callable[..., Retriever]:
    """Makes a retriever that is ready to search a corpus, or else the six passages of the example."""

    def make_indexed(name: str, corpus: Corpus | None = None, **settings: object) -> Retriever:
        retriever = make(name, **settings)
        retriever.index(example().corpus if corpus is None else corpus)
        return retriever

    return make_indexed
