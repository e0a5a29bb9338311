"""Real questions over single facts, and a network that learned a little from them."""

import pytest

from kit.corpus import Benchmark, single_facts
from kit.methods.bgr.retriever import BGR
from kit.worlds import generated


@pytest.fixture(scope="session")
def facts() -> Benchmark:
    return single_facts(generated("atlas", size="small"))


@pytest.fixture(scope="session")
def fitted(facts: Benchmark) -> BGR:
    retriever = BGR(n_train=12, steps=4)
    retriever.fit(facts)
    return retriever
