"""What a retriever sees of a question: a plain query holds no gold field, a gold one all of them."""

from __future__ import annotations

import msgspec

from kit.corpus import GoldQuery, Query
from kit.corpus.example import example

(TOWN, _) = example().test


def test_a_plain_query_has_the_id_and_the_text_alone() -> None:
    assert TOWN.query == Query(TOWN.id, TOWN.text) and type(TOWN.query) is Query
    assert msgspec.to_builtins(TOWN.query) == {"id": "town", "text": TOWN.text}


def test_a_gold_query_is_a_query_and_carries_the_whole_question() -> None:
    gold = TOWN.gold_query
    assert isinstance(gold, Query) and isinstance(gold, GoldQuery)
    assert (gold.id, gold.text) == (TOWN.id, TOWN.text) and gold.question is TOWN


def test_a_plain_query_is_never_taken_for_a_gold_one() -> None:
    assert TOWN.query != TOWN.gold_query and not isinstance(TOWN.query, GoldQuery)
