"""Who throws out facts: the supports, a cross-encoder, a language model; and when none is left."""

import numpy as np
import pytest

from kit.corpus import example
from kit.methods.base import ranking_from_scores
from kit.methods.peers.filters import ModelFilter, ReadingFilter, make_filter

HAND = example()
QUESTION = HAND.test[0]


@pytest.fixture
def hippo(indexed):
    return indexed("hipporag2", facts=5)


def rows_of_facts(hippo):
    [vector] = hippo.encoder.encode([QUESTION.text], role="query")
    rows, _ = hippo.telling_facts(vector)
    return vector, rows


def test_nobody_throws_out_by_default(hippo) -> None:
    assert hippo.filter is None and not hippo.sees_gold


def test_an_oracle_keeps_what_a_support_states(indexed, hippo) -> None:
    filtered = indexed("hipporag2", facts=5, filter="oracle")
    vector, rows = rows_of_facts(filtered)
    stated = filtered.facts.stated.toarray()
    supports = [filtered.corpus.row[name] for name in QUESTION.supporting_ids]
    [kept] = filtered.filter.kept([QUESTION.gold_query], [rows])
    assert kept.tolist() == [bool(stated[row, supports].any()) for row in rows]
    assert kept.any() and not kept.all()

    of_kept = np.zeros(len(filtered.facts.entities), bool)
    of_kept[filtered.facts.ends[rows[kept]].ravel()] = True
    facts = filtered.telling_facts(vector).only(kept)
    assert ((filtered.named(facts) > 0) <= of_kept).all()
    by_hand = ranking_from_scores(filtered.corpus, filtered.scores(vector, facts), 6)
    assert filtered.retrieve(QUESTION.gold_query, 6).ids == by_hand.ids
    assert filtered.sees_gold
    assert not np.any(filtered.filter.kept([QUESTION.query], [rows]))  # it does not know them


def test_where_no_fact_is_left_it_ranks_by_cosine(indexed) -> None:
    filtered = indexed("hipporag2", filter="oracle")
    dense = indexed("dense")
    assert filtered.retrieve(QUESTION.query, 6).ids == dense.retrieve(QUESTION.query, 6).ids


def test_a_cross_encoder_keeps_what_it_scores_above_0(hippo, tiny) -> None:
    _, rows = rows_of_facts(hippo)
    by_reading = make_filter(str(tiny), hippo.facts, hippo.corpus)
    assert isinstance(by_reading, ReadingFilter)
    texts = [hippo.facts.texts[row] for row in rows]
    scores = by_reading.reader.scores(QUESTION.text, texts)
    [kept] = by_reading.kept([QUESTION.query], [rows])
    assert kept.tolist() == (scores > 0).tolist()


def test_a_language_model_names_what_to_keep(hippo, scripted) -> None:
    _, rows = rows_of_facts(hippo)
    model = scripted("2, 5", "none")
    by_model = ModelFilter(hippo.facts, model)
    kept, none_kept = by_model.kept([QUESTION.query, HAND.test[1].query], [rows, rows])
    assert kept.tolist() == [False, True, False, False, True] and not none_kept.any()
    prompt, other = model.prompts
    assert HAND.test[1].text in other
    for rank, row in enumerate(rows, start=1):
        assert f"{rank}: {hippo.facts.texts[row]}" in prompt
    assert QUESTION.text in prompt
