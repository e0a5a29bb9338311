"""Synthetic questions of a few triples, by hand, and what holds of any."""

from collections import Counter

import numpy as np

from kit.corpus import load
from kit.methods import qsgnn_questions as templates
from kit.methods.qsgnn.questions import (
    Fact,
    Synthetic,
    comparisons,
    facts,
    prolonged,
    question,
    synthetic_questions,
)
from kit.text.entities import fold
from kit.text.triples import Extraction, Triple, by_rules

MOVED = Triple("Ada Venn", "moved to", "Orm", 0)
BORN = Triple("Ada Venn", "was born in", "1901", 0)
PORT = Triple("Orm", "is a port of", "Venland", 0)
TOLD = [Extraction(("A.",), (MOVED, BORN)), Extraction(("B.",), (PORT,))]

TO_ORM, FROM_ORM = Fact(MOVED, 0, "Ada Venn", "Orm"), Fact(MOVED, 0, "Orm", "Ada Venn")
TO_VENLAND, FROM_VENLAND = Fact(PORT, 1, "Orm", "Venland"), Fact(PORT, 1, "Venland", "Orm")
TO_1901 = Fact(BORN, 0, "Ada Venn", "1901")


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


def test_facts_of_both_ends_but_of_no_date() -> None:
    assert facts(TOLD) == {
        "ada venn": [TO_ORM, TO_1901],
        "orm": [FROM_ORM, TO_VENLAND],
        "venland": [FROM_VENLAND],
    }


def test_one_hop() -> None:
    assert [question((fact,)) for fact in (TO_ORM, FROM_ORM, TO_1901)] == [
        Synthetic("What moved to Ada Venn?", (0,)),
        Synthetic("What moved to Orm?", (0,)),
        Synthetic("When was born in Ada Venn?", (0,)),
    ]


def test_two_hops_do_not_name_what_lies_between() -> None:
    singles = [(fact,) for of in facts(TOLD).values() for fact in of]
    found = prolonged(singles, facts(TOLD), generator())
    assert {question(chain) for chain in found} == {
        Synthetic("What is a port of the moved to of Ada Venn?", (0, 1)),
        Synthetic("What moved to the is a port of Venland?", (1, 0)),
    }


def test_chains_need_a_passage_about_what_lies_between() -> None:
    """Two people moved to a town of which nothing else is told."""
    told = [
        Extraction(("A.",), (MOVED,)),
        Extraction(("B.",), (Triple("Ebba Lund", "left", "Orm", 0),)),
    ]
    assert (
        prolonged([(fact,) for of in facts(told).values() for fact in of], facts(told), generator())
        == []
    )


def test_comparisons_are_of_facts_that_say_the_same() -> None:
    other = Fact(Triple("Ebba Lund", "later moved to", "Orm", 0), 2, "Ebba Lund", "Orm")
    found = comparisons([(TO_ORM, TO_VENLAND), (TO_VENLAND,), (other,)], 2, generator())
    assert {each.supports for each in found} <= {(0, 1, 2), (2, 0, 1)} and found
    assert {each.text for each in found} <= {
        "Which moved to, Ada Venn or Ebba Lund?",
        "Which later moved to, Ebba Lund or Ada Venn?",
    }
    # Not of two that share a passage, and of subjects alone.
    assert comparisons([(TO_ORM,), (other._replace(row=0),)], 2, generator()) == []
    assert (
        comparisons([(FROM_ORM,), (other._replace(end="Orm", other="Ebba Lund"),)], 2, generator())
        == []
    )


def test_hubs_are_capped_and_the_seed_decides() -> None:
    told = by_rules(load().corpus)
    known = facts(told)
    pairs = prolonged([(fact,) for of in known.values() for fact in of], known, generator())
    assert all(one.row != other.row and fold(one.other) == fold(other.end) for one, other in pairs)
    over = Counter(fold(other.end) for _, other in pairs)
    assert max(over.values()) <= templates.CHAINS and len(over) > 500
    alike = [
        Fact(Triple(str(row), "is", "it", 0), row, str(row), "it")
        for row in range(3 * templates.ALIKE)
    ]
    assert len(comparisons([(fact,) for fact in alike], 4, generator())) <= templates.ALIKE

    found = synthetic_questions(told, 100, seed=0)
    sizes = Counter(len(each.supports) for each in found)
    # 25 of one, 25 of two and 15 of three hops, 15 pairs of chains, and 20 comparisons of two to four facts.
    assert sizes.total() == 100 and sizes[1] == 25
    assert all(sizes[n] > fewest for n, fewest in ((2, 25), (3, 15), (4, 15)))
    assert found == synthetic_questions(told, 100, seed=0) != synthetic_questions(told, 100, seed=1)
