"""Synthetic questions of a few triples, by hand, and what holds of any."""

from collections import Counter

import numpy as np

from kit.corpus import example, load
from kit.methods.qsgnn.questions import (
    ALIKE,
    CHAINS,
    Chain,
    RowsAlike,
    SyntheticFact,
    TrainingQuestion,
    ask,
    comparisons,
    facts_by_end,
    prolong,
    synthetic_questions,
)
from kit.text.entities import fold
from kit.text.triples import Extraction, Triple, by_rules, extract

MOVED = Triple("Ada Venn", "moved to", "Orm", 0)
BORN = Triple("Ada Venn", "was born in", "1901", 0)
PORT = Triple("Orm", "is a port of", "Venland", 0)
EXTRACTIONS = [Extraction(("A.",), (MOVED, BORN)), Extraction(("B.",), (PORT,))]

TO_ORM = SyntheticFact("moved to", 0, "Ada Venn", "Orm", True)
FROM_ORM = SyntheticFact("moved to", 0, "Orm", "Ada Venn", False)
TO_VENLAND = SyntheticFact("is a port of", 1, "Orm", "Venland", True)
FROM_VENLAND = SyntheticFact("is a port of", 1, "Venland", "Orm", False)
TO_1901 = SyntheticFact("was born in", 0, "Ada Venn", "1901", True)


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


def test_facts_that_say_nothing_are_left_out() -> None:
    filler = Triple("Ada Venn", "is mentioned with", "Orm", 0)
    assert facts_by_end([Extraction(("A.",), (filler,))]) == {}


def test_one_hop_asks_for_what_the_question_hides() -> None:
    """(sbj, verb, ?) and (?, verb, obj), each in words of its own."""
    assert [ask([(fact,)]) for fact in (TO_ORM, FROM_ORM, TO_1901, TO_VENLAND)] == [
        "Ada Venn moved to what?",
        "What moved to Orm?",
        "When was Ada Venn born?",
        "What is Orm a port of?",
    ]


def test_the_questions_of_six_passages() -> None:
    singles = one_hop_chains(extract(example().corpus))
    assert [ask([chain]) for chain in singles] == [
        "What is The Glass Harbour a silent film directed by?",
        "What is a silent film directed by Ines Moravec?",
        "What was Ines Moravec born in?",
        "What was born in Selby Quay?",
    ]


def test_two_hops_do_not_name_what_lies_between() -> None:
    assert {ask([chain]) for chain in two_hop_chains(EXTRACTIONS)} == {
        "What is something that Ada Venn moved to a port of?",
        "What moved to something that is a port of Venland?",
    }


def test_passages_that_state_the_same_are_told() -> None:
    """By the same two ends in other words, or by the same words of one end."""
    others = [
        SyntheticFact("settled in", 2, "The Orm", "Ada Venn", False),  # the same two ends
        SyntheticFact("moved to", 3, "Orm", "Ebba Lund", False),  # who moved to Orm?
        SyntheticFact("moved to", 4, "Ada Venn", "Hale", True),  # where did Ada move?
        SyntheticFact("was born in", 5, "Ada Venn", "Hale", True),  # another question
    ]
    rows = RowsAlike([(fact,) for fact in (TO_ORM, FROM_ORM, *others)])
    assert rows.question("Q", [(FROM_ORM,)]) == TrainingQuestion("Q", (0,), (2, 3))
    assert rows.question("Q", [(TO_ORM,)]) == TrainingQuestion("Q", (0,), (2, 4))
    assert rows.question("Q", [(TO_ORM, FROM_ORM)]).alike == (2, 3, 4)


def test_in_a_text_no_passage_with_the_same_fact_is_left_to_the_negatives() -> None:
    extractions = extract(load().corpus)
    stated = {}
    for fact in (fact for chain in one_hop_chains(extractions) for fact in chain):
        stated.setdefault(fact.meaning, set()).add(fact.row)
    singles = {ask([(fact,)]): fact for (fact,) in one_hop_chains(extractions)}
    questions = [q for q in synthetic_questions(extractions, 400, 0) if q.text in singles]
    assert sum(bool(question.alike) for question in questions) > 10
    for question in questions:
        rows = stated[singles[question.text].meaning]
        assert rows <= {*question.supports, *question.alike}


def test_chains_need_a_passage_about_what_lies_between() -> None:
    """Two people moved to a town of which nothing else is told."""
    extractions = [
        Extraction(("A.",), (MOVED,)),
        Extraction(("B.",), (Triple("Ebba Lund", "left", "Orm", 0),)),
    ]
    assert two_hop_chains(extractions) == []


def test_comparisons_are_of_facts_that_say_the_same_of_different_subjects() -> None:
    other = SyntheticFact("moved to", 2, "Ebba Lund", "Orm", True)
    groups = comparisons([(TO_ORM,), (TO_VENLAND,), (other,)], 2, generator())
    assert {frozenset(group) for group in groups} == {frozenset([(TO_ORM,), (other,)])}
    assert ask([(TO_ORM,), (other,)]) == "Ada Venn moved to what? And Ebba Lund?"
    third = other._replace(end="Sten Oll")
    assert ask([(TO_ORM,), (other,), (third,)]).endswith("And Ebba Lund and Sten Oll?")
    # Not of two that share a passage or a subject, and of subjects alone.
    for same in (other._replace(row=0), other._replace(end="Ada Venn")):
        assert comparisons([(TO_ORM,), (same,)], 2, generator()) == []
    from_object = FROM_ORM._replace(row=2, other="Ebba Lund")
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
        alike.append((SyntheticFact("is", row, str(row), "it", True),))
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
