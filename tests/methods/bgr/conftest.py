"""Real questions over single facts, and a network that learned a little from them."""

from dataclasses import replace

import pytest

from kit.corpus import Benchmark, single_facts
from kit.methods.bgr.retriever import BGR
from kit.worlds import generated


@pytest.fixture(scope="session")
def facts() -> Benchmark:
    world = generated("atlas", size="small")
    return single_facts(replace(world, dev=world.dev[:4]))


@pytest.fixture(scope="session")
def fitted(facts: Benchmark) -> BGR:
    retriever = BGR(start="untrained", n_train=12, steps=4, learning_rate=2e-3)
    retriever.fit(facts)
    return retriever
