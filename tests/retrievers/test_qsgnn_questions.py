"""Synthetic questions of a few triples, by hand, and what holds of any."""

from __future__ import annotations

from collections import Counter

import numpy as np

from kit.corpus import load
from kit.retrievers.qsgnn_questions import (
    ALIKE,
    CHAINS,
    SHARES,
    Chain,
    Synthetic,
    chains,
    comparisons,
    one_hop,
    synthetic_questions,
    two_hops,
)
from kit.text.mentions import fold
from kit.text.triples import Extraction, Triple, by_rules

MOVED = Triple("Ada Venn", "moved to", "Orm", 0)
BORN = Triple("Ada Venn", "was born in", "1901", 0)
PORT = Triple("Orm", "is a port of", "Venland", 0)
HOME = Triple("Orm", "is the home of", "Ada Venn", 0)
TOLD = [Extraction(("A.",), (MOVED, BORN)), Extraction(("B.",), (PORT, HOME))]


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


def test_one_hop() -> None:
    assert one_hop(TOLD)[:4] == [
        Synthetic("What moved to Ada Venn?", (0,)),
        Synthetic("What moved to Orm?", (0,)),
        Synthetic("When was born in Ada Venn?", (0,)),  # and nothing asks for what was born in 1901
        Synthetic("What is a port of Orm?", (1,)),
    ]
    assert len(one_hop(TOLD)) == 7


def test_chains_do_not_lead_back_nor_over_a_date() -> None:
    assert set(chains(TOLD, generator())) == {
        Chain(MOVED, PORT, (0, 1)),
        Chain(HOME, BORN, (1, 0)),
    }


def test_two_hops_do_not_name_what_lies_between() -> None:
    assert two_hops([Chain(MOVED, PORT, (0, 1)), Chain(HOME, BORN, (1, 0))]) == [
        Synthetic("What is a port of the moved to of Ada Venn?", (0, 1)),
        Synthetic("What moved to the is a port of Venland?", (0, 1)),
        Synthetic("When was born in the is the home of of Orm?", (1, 0)),
        Synthetic("What is the home of the was born in 1901?", (1, 0)),
    ]


def test_comparisons_are_of_triples_that_say_the_same() -> None:
    other = Triple("Ebba Lund", "later moved to", "Orm", 0)
    found = comparisons([(MOVED, (0, 1)), (PORT, (1,)), (other, (2,))], generator())
    assert {each.supports for each in found} <= {(0, 1, 2), (2, 0, 1)} and found
    assert {each.text for each in found} <= {
        "Which moved to, Ada Venn or Ebba Lund?",
        "Which later moved to, Ebba Lund or Ada Venn?",
    }
    # Not of two that share a passage.
    assert comparisons([(MOVED, (0, 1)), (other, (1,))], generator()) == []


def test_hubs_are_capped_and_the_seed_decides() -> None:
    told = by_rules(load().corpus)
    followed = chains(told, generator())
    assert all(of.rows[0] != of.rows[1] for of in followed)
    over = Counter(fold(of.second.subject) for of in followed)
    assert max(over.values()) <= CHAINS and len(over) > 500
    alike = [Extraction(("S.",), (Triple(str(row), "is", "it", 0),)) for row in range(3 * ALIKE)]
    facts = [(of.triples[0], (row,)) for row, of in enumerate(alike)]
    assert len(comparisons(facts, generator())) <= ALIKE

    found = synthetic_questions(told, 100, seed=0)
    assert [sum(len(each.supports) == n for each in found) for n in (1, 2, 4)] == [20, 60, 20]
    assert sum(SHARES.values()) == 1
    assert found == synthetic_questions(told, 100, seed=0) != synthetic_questions(told, 100, seed=1)
