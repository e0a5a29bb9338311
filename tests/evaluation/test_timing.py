"""What searches cost, by hand on the six passages; of times only that they add up.

The graph of the six passages: harbour – moravec – quay – oll, moravec – moravec-later – novel.
TF-IDF puts harbour and novel first for both questions.
"""

import pytest
import torch

from kit.corpus import Corpus, Passage, example
from kit.evaluation.timing import PARTS, growing_collections, time_parts
from kit.methods import make

HAND = example()
RIVER = HAND.test[1]


@pytest.mark.parametrize(
    ("name", "settings", "texts"),
    [
        ("bm25", {}, 0),
        ("dense", {}, 1),
        ("gnn-ret", {}, 1),
        ("kgp-tfidf", {}, 0),
        (
            "kgp-mdr",
            {"budget": 6, "start": "untrained"},
            3,
        ),  # the question, and with each of two seeds
    ],
)
def test_the_parts_of_the_time_add_up_and_what_is_read_is_counted(
    name: str, settings: dict, texts: int
) -> None:
    retriever = make(name, **settings)
    threads = torch.get_num_threads()
    retriever.index(HAND.corpus)
    before = retriever.retrieve(RIVER.query, 6).ids
    table = time_parts(retriever, [RIVER])
    assert table["question"].tolist() == ["river"] and table["texts"].tolist() == [texts]
    assert table["seconds"].tolist() == pytest.approx(table[list(PARTS)].sum(axis=1).tolist())
    walks = name.startswith("kgp")
    spent = {
        "seeding": walks,
        "matching": walks,
        "messages": name == "gnn-ret",
        "encoding": texts > 0,
        "rest": True,
    }
    assert (table[list(PARTS)] > 0).iloc[0].to_dict() == spent
    assert retriever.retrieve(RIVER.query, 6).ids == before and torch.get_num_threads() == threads


def test_collections_grow_around_the_supports() -> None:
    extra = (
        Passage(f"more-{i}", f"More {i}", f"Filler number {i}.", f"More {i}") for i in range(4)
    )
    corpus = Corpus([*HAND.corpus.passages, *extra])
    small, whole = growing_collections(
        corpus, [RIVER], (10, 4, 99), seed=0
    )  # 99 is more than there are
    assert (
        len(small) == 4
        and set(RIVER.supporting_ids) < set(small.row)
        and set(whole.row) == set(corpus.row)
    )
