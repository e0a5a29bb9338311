"""No untrained method leans on the scale of an encoder's cosines."""

import numpy as np
import pytest
from numpy import ndarray

from kit.corpus.types import Texts
from kit.methods import Retriever, make
from kit.text import Encoder
from kit.worlds import generated

TINY = generated("atlas", size="tiny")
UNTRAINED = {
    "dense": {},
    "gnn-ret": {},
    "gnn-ret, several layers": {"layers": 3, "message": "mean"},
    "gnn-ret, nearest": {"graph": "knn"},
    "rgnn-ret": {},
    "pagerank": {},
    "kgp-dense": {},
    "logistic": {},
    "graph-reranker": {},
    "ircot": {"model": "gold", "inner": "gnn-ret"},
    "ras": {"planner": "gold", "triples": "rules", "by_name": True},
}


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cosine c becomes .7 + .3 c, as of an encoder whose texts are all alike."""
    encode = Encoder.encode

    def encode_narrowly(encoder: Encoder, texts: Texts, **options: object) -> ndarray:
        vectors = encode(encoder, texts, **options)
        common = np.full((len(vectors), 1), np.sqrt(0.7), np.float32)
        return np.hstack([common, np.sqrt(0.3).astype(np.float32) * vectors])

    monkeypatch.setattr(Encoder, "encode", encode_narrowly)


def ranked(retriever: Retriever) -> list[list[str]]:
    retriever.index(TINY.corpus)
    queries = [question.gold_query for question in TINY.test[:20]]
    return [list(ranking.ids) for ranking in retriever.retrieve_many(queries, 10)]


@pytest.fixture(scope="module")
def widely() -> dict[str, list[list[str]]]:
    return {name: ranked(make(name.split(", ")[0], **UNTRAINED[name])) for name in UNTRAINED}


@pytest.mark.parametrize("name", UNTRAINED)
def test_rankings_are_those_of_the_same_cosines_spread_wide(
    widely: dict[str, list[list[str]]], narrow: None, name: str
) -> None:
    narrowly = ranked(make(name.split(", ")[0], **UNTRAINED[name]))
    same = [one == other for one, other in zip(widely[name], narrowly, strict=True)]
    assert np.mean(same) > 0.9  # what differs are ties, in the last bits
