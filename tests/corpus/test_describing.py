"""The tables that describe a benchmark."""

import pytest

from kit.corpus import describe, describe_corpus, load


def test_a_row_for_each_split_hop_count_and_structure(write, musique):
    path = write("dev.jsonl", musique)
    names = ["split", "hops", "structure", "questions", "decomposed", "words", "support_words", "passages"]
    assert describe(load(path))[names].to_numpy().tolist() == [
        ["test", 3, "multi-chain multi-hop", 1, 1, 13.0, pytest.approx((5 + 4 + 6) / 3), 5.0],
        ["test", 2, "single-chain multi-hop", 1, 1, 8.0, 5.5, 5.0],
    ]
    assert describe(load(path, setting="per-question"))["passages"].tolist() == [4.0, 2.0]


def test_the_corpus_in_one_row(write, musique):
    [row] = describe_corpus(load(write("dev.jsonl", musique))).to_dict("records")
    assert row == {"passages": 5, "documents": 5, "titles": 4, "words": pytest.approx(25 / 5), "most_words": 6}
