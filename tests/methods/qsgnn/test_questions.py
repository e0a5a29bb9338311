"""Synthetic questions of a few triples, by hand, and what holds of any."""

from collections import Counter

import numpy as np

from kit.corpus import load
from kit.methods.qsgnn.questions import (
    ALIKE,
    CHAINS,
    Chain,
    SyntheticFact,
    TrainingQuestion,
    ask_for_end,
    comparisons,
    facts_by_end,
    prolong,
    synthetic_questions,
)
from kit.text.entities import fold
from kit.text.triples import Extraction, Triple, by_rules

MOVED = Triple("Ada Venn", "moved to", "Orm", 0)
BORN = Triple("Ada Venn", "was born in", "1901", 0)
PORT = Triple("Orm", "is a port of", "Venland", 0)
EXTRACTIONS = [Extraction(("A.",), (MOVED, BORN)), Extraction(("B.",), (PORT,))]

TO_ORM = SyntheticFact(MOVED, 0, "Ada Venn", "Orm")
FROM_ORM = SyntheticFact(MOVED, 0, "Orm", "Ada Venn")
TO_VENLAND = SyntheticFact(PORT, 1, "Orm", "Venland")
FROM_VENLAND = SyntheticFact(PORT, 1, "Venland", "Orm")
TO_1901 = SyntheticFact(BORN, 0, "Ada Venn", "1901")


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


def one_hop_chains(extractions: list[Extraction]) -> list[Chain]:
    facts = facts_by_end(extractions)
    return [(fact,) for facts_of_entity in facts.values() for fact in facts_of_entity]


def two_hop_chains(extractions: list[Extraction]) -> list[Chain]:
    return prolong(one_hop_chains(extractions), facts_by_end(extractions), generator())


def test_facts_of_both_ends_but_of_no_date() -> None:
    assert facts_by_end(EXTRACTIONS) == {
        "ada venn": [TO_ORM, TO_1901],
        "orm": [FROM_ORM, TO_VENLAND],
        "venland": [FROM_VENLAND],
    }


def test_one_hop() -> None:
    assert [ask_for_end((fact,)) for fact in (TO_ORM, FROM_ORM, TO_1901)] == [
        TrainingQuestion("What moved to Ada Venn?", (0,)),
        TrainingQuestion("What moved to Orm?", (0,)),
        TrainingQuestion("When was born in Ada Venn?", (0,)),
    ]


def test_two_hops_do_not_name_what_lies_between() -> None:
    assert {ask_for_end(chain) for chain in two_hop_chains(EXTRACTIONS)} == {
        TrainingQuestion("What is a port of the moved to of Ada Venn?", (0, 1)),
        TrainingQuestion("What moved to the is a port of Venland?", (1, 0)),
    }


def test_chains_need_a_passage_about_what_lies_between() -> None:
    """Two people moved to a town of which nothing else is told."""
    extractions = [
        Extraction(("A.",), (MOVED,)),
        Extraction(("B.",), (Triple("Ebba Lund", "left", "Orm", 0),)),
    ]
    assert two_hop_chains(extractions) == []


def test_comparisons_are_of_facts_that_say_the_same() -> None:
    triple = Triple("Ebba Lund", "later moved to", "Orm", 0)
    other = SyntheticFact(triple, 2, "Ebba Lund", "Orm")
    questions = comparisons([(TO_ORM, TO_VENLAND), (TO_VENLAND,), (other,)], 2, generator())
    assert questions
    assert {question.supports for question in questions} <= {(0, 1, 2), (2, 0, 1)}
    assert {question.text for question in questions} <= {
        "Which moved to, Ada Venn or Ebba Lund?",
        "Which later moved to, Ebba Lund or Ada Venn?",
    }
    # Not of two that share a passage, and of subjects alone.
    same_passage = other._replace(row=0)
    assert comparisons([(TO_ORM,), (same_passage,)], 2, generator()) == []
    from_object = other._replace(end="Orm", other="Ebba Lund")
    assert comparisons([(FROM_ORM,), (from_object,)], 2, generator()) == []


def test_hubs_are_capped() -> None:
    pairs = two_hop_chains(by_rules(load().corpus))
    for first, second in pairs:
        assert first.row != second.row
        assert fold(first.other) == fold(second.end)
    entities = Counter(fold(second.end) for _, second in pairs)
    assert max(entities.values()) <= CHAINS
    assert len(entities) > 500

    alike = []
    for row in range(3 * ALIKE):
        triple = Triple(str(row), "is", "it", 0)
        alike.append((SyntheticFact(triple, row, str(row), "it"),))
    assert len(comparisons(alike, 4, generator())) <= ALIKE


def test_the_kinds_of_questions_and_the_seed_that_decides() -> None:
    extractions = by_rules(load().corpus)
    questions = synthetic_questions(extractions, 100, seed=0)
    sizes = Counter(len(question.supports) for question in questions)
    # 25 of one, 25 of two and 15 of three hops, 15 pairs of chains, and 20 comparisons of two to
    # four facts.
    assert sizes.total() == 100
    assert sizes[1] == 25
    for n_supports, fewest in ((2, 25), (3, 15), (4, 15)):
        assert sizes[n_supports] > fewest
    assert questions == synthetic_questions(extractions, 100, seed=0)
    assert questions != synthetic_questions(extractions, 100, seed=1)
