"""The tables that describe a benchmark."""

from __future__ import annotations

import pytest

from kit.corpus import describe, describe_corpus, load


def test_a_row_for_each_split_hop_count_and_structure(write, musique):
    table = describe(load(write("dev.jsonl", musique)))
    assert table.to_dict("records") == [
        {
            "split": "test",
            "hops": 3,
            "structure": "multi-chain multi-hop",
            "questions": 1,
            "decomposed": 1,
            "words": 13.0,
            "support_words": pytest.approx((5 + 4 + 6) / 3),
            "passages": 5.0,
        },
        {
            "split": "test",
            "hops": 2,
            "structure": "single-chain multi-hop",
            "questions": 1,
            "decomposed": 1,
            "words": 8.0,
            "support_words": 5.5,
            "passages": 5.0,
        },
    ]


def test_per_question_counts_the_passages_of_the_collection(write, musique):
    assert describe(load(write("dev.jsonl", musique), setting="per-question"))["passages"].tolist() == [4.0, 2.0]


def test_the_corpus_in_one_row(write, musique):
    [row] = describe_corpus(load(write("dev.jsonl", musique))).to_dict("records")
    assert row == {"passages": 5, "documents": 5, "titles": 4, "words": pytest.approx(25 / 5), "most_words": 6}
