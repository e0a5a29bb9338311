"""What searches find and cost, by hand on the six passages; of times only that they add up.

The graph of the six passages: harbour – moravec – quay – oll, moravec – moravec-later – novel. TF-IDF puts harbour and
novel first for both questions.
"""

import pytest
import torch

from kit.corpus import Corpus, Passage, example
from kit.evaluation.timing import PARTS, ask, by_size, time_parts
from kit.retrievers import make

HAND = example()
RIVER = HAND.test[1]


def test_asking_counts_supports_and_comparisons() -> None:
    walker = make("kgp-tfidf", budget=6, branching=3, depth=3)
    walker.index(HAND.corpus)
    # Of the river question's supports harbour, moravec and quay, all are on the walk, which compares 7 candidates.
    row = {"question": "river", "hops": 3, "recall@5": 1.0, "recall@30": 1.0, "full@30": 1.0, "scored": 7}
    assert ask(walker, [RIVER]).to_dict("records") == [row]


@pytest.mark.parametrize(
    ("name", "settings", "texts"),
    [
        ("bm25", {}, 0),
        ("dense", {}, 1),
        ("kgp-tfidf", {}, 0),
        ("kgp-mdr", {"budget": 6}, 3),  # the question, and with each of two seeds
    ],
)
def test_the_parts_of_the_time_add_up_and_what_is_read_is_counted(name: str, settings: dict, texts: int) -> None:
    retriever, threads = make(name, **settings), torch.get_num_threads()
    retriever.index(HAND.corpus)
    before = retriever.retrieve(RIVER.query, 6).ids
    table = time_parts(retriever, [RIVER])
    assert table["question"].tolist() == ["river"] and table["texts"].tolist() == [texts]
    assert table["seconds"].tolist() == pytest.approx(table[list(PARTS)].sum(axis=1).tolist())
    walks = name.startswith("kgp")
    spent = {"seeding": walks, "matching": walks, "encoding": texts > 0, "rest": True}
    assert (table[list(PARTS)] > 0).iloc[0].to_dict() == spent
    assert retriever.retrieve(RIVER.query, 6).ids == before and torch.get_num_threads() == threads


def test_quality_and_cost_by_size() -> None:
    extra = (Passage(f"more-{i}", f"More {i}", f"Filler number {i}.", f"More {i}") for i in range(4))
    corpus = Corpus([*HAND.corpus.passages, *extra])
    methods = {name: make(name) for name in ("tfidf", "kgp-dense")}
    table = by_size(methods, corpus, [RIVER], (10, 4, 99), seed=0)  # 99 is more than there are
    assert table.groupby("retriever")["passages"].agg(list).tolist() == [[4, 10], [4, 10]]
    assert (table["full@30"] == 1).all() and {"scored", "seconds"} <= set(table)
