"""The patterns of questions: how facts are combined into one question of a given type, structure and number of hops."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from . import solver
from .chains import NOUNS, Step, ask, name, noun, word
from .evidence import Draft, Pool, text_of
from .phrasings import LEXICON, RELATIONS
from .world import Entity, Fact, Literal

PLURALS, THINGS = LEXICON["verbs"], LEXICON["plurals"]
#: Two places of one life, and how to ask whether they are the same.
PLACES = {tuple(relations.split()): text for relations, text in LEXICON["places"].items()}


def chain(pool: Pool, type: str, hops: int) -> Draft | None:
    """One fact, reached through hops - 1 others."""
    rng = pool.rng
    if type == "qualifier":
        return _detail(pool, hops, 0)
    field = {"query": "asks", "count": "count", "boolean": "verify"}[type]
    fact = pool.fact(
        lambda relation: getattr(RELATIONS[relation], field) or (type == "boolean" and RELATIONS[relation].verify_below)
    )
    relation, draft = RELATIONS[fact.relation], Draft(pool)
    if type == "query" and isinstance(fact.object, Entity) and relation.clause and rng.random() < 0.2:
        return _backwards(pool, fact, hops)
    arm = draft.approach(fact.subject, hops - 1, [fact])
    if not arm:
        return None
    whole: solver.Expression = solver.object_of(fact.relation, arm.expression)
    if type != "boolean":
        phrasings, answer = relation.asks, text_of(fact.object)
        if type == "count":
            phrasings, answer, whole = relation.count, str(fact.object.value), solver.size_of(whole)
        draft.support(fact, word(rng, phrasings, x=arm.reference), answer, [arm.last])
        if isinstance(fact.object, Entity):
            draft.hidden.append(fact.object)
        return draft.finish(type, word(rng, phrasings, x=arm.words), whole)
    if isinstance(fact.object, Literal):
        limit, shown = _limit(rng, [fact])
        truth = solver.truth(solver.below(fact.relation, (arm.expression,), limit))
        asked, text = arm.fill(rng.choice(relation.verify_below).replace("{t}", shown))
        draft.support(fact, asked, solver.solve(pool.world, truth), [arm.last])
        return draft.finish(type, text, truth)
    value = fact.object
    if rng.random() < 0.5:
        others = [
            thing for thing in pool.world.families[value.family] if thing.kind == value.kind and thing is not value
        ]
        value = rng.choice([thing for thing in others if thing is not fact.subject] or [value])
    truth = solver.same(whole, solver.named(value))
    asked, text = arm.fill(rng.choice(relation.verify).replace("{o}", name(rng, value)))
    draft.support(fact, asked, solver.solve(pool.world, truth), [arm.last])
    return draft.finish(type, text, truth)


def _backwards(pool: Pool, fact: Fact, hops: int) -> Draft | None:
    """A chain whose last fact is read from its object to its subject."""
    step, draft = Step(fact, fact.object, fact.subject), Draft(pool)
    arm = draft.approach(fact.object, hops - 1, [fact])
    if not arm or not step.backwards:
        return None
    draft.support(fact, ask(pool.rng, step, arm.reference), text_of(fact.subject), [arm.last])
    draft.hidden.append(fact.subject)
    return draft.finish("query", ask(pool.rng, step, arm.words), solver.subject_of(fact.relation, arm.expression))


def _detail(pool: Pool, hops: int, before: int) -> Draft | None:
    """A qualifier of a fact; ``before`` of the hops lead to the fact's object, the rest to its subject."""
    rng, draft = pool.rng, Draft(pool)
    fact = pool.fact(lambda relation: RELATIONS[relation].qualifiers)
    qualifier, phrasings = rng.choice(sorted(RELATIONS[fact.relation].qualifiers.items()))
    phrasings = [text for text in phrasings if "{o}" in text or not before]
    if not phrasings:
        return None
    question = rng.choice(phrasings)
    subject = draft.approach(fact.subject, hops - 1 - before, [fact])
    object = draft.approach(fact.object, before, [fact]) if subject and "{o}" in question else None
    if not subject or ("{o}" in question and not object):
        return None
    asked, whole = subject.fill(question)
    if object:
        asked, whole = object.fill(asked, "{o}")[0], object.fill(whole, "{o}")[1]
    needs = [arm.last for arm in (subject, object) if arm]
    draft.support(fact, asked, fact.qualifiers[qualifier], needs)
    detail = solver.detail(fact.relation, qualifier, subject.expression, object.expression if object else None)
    return draft.finish("qualifier", whole, detail)


def parallel(pool: Pool, type: str, *lengths: int) -> Draft | None:
    """Several things, each reached by its own chain of ``lengths`` facts, compared by one relation."""
    rng, draft = pool.rng, Draft(pool)
    field = {"comparison": "less", "boolean": "same", "count": "below"}[type]
    first = pool.fact(lambda relation: getattr(RELATIONS[relation], field))
    same = type == "boolean" and rng.random() < 0.6
    others = [fact for fact in pool.facts[first.relation] if not same or fact.object is first.object]
    others = [fact for fact in others if type != "boolean" or fact.subject.family == first.subject.family]
    facts = [first, *rng.sample(others, min(len(others), len(lengths) - 1))]
    if len({fact.subject.id for fact in facts}) < len(lengths):
        return None
    arms = []
    for fact, length in zip(facts, lengths):
        arm = draft.approach(fact.subject, length - 1, facts)
        if not arm:
            return None
        question = RELATIONS[fact.relation].asks[0].replace("{x}", arm.reference)
        draft.support(fact, question, text_of(fact.object), [arm.last])
        arms.append((arm, f"#{len(draft.steps)}"))
    relation = RELATIONS[first.relation]
    whole: solver.Expression
    if type == "comparison":
        largest = bool(relation.more) and rng.random() < 0.5
        whole = solver.extreme(first.relation, tuple(arm.expression for arm, _ in arms), largest)
        question, fill = rng.choice(relation.more if largest else relation.less), ("{options}", _either)
    elif type == "count":
        limit, shown = _limit(rng, facts)
        whole = solver.below(first.relation, tuple(arm.expression for arm, _ in arms), limit)
        question, fill = rng.choice(relation.below).replace("{t}", shown), ("{list}", _both)
    else:
        whole = solver.same(*(solver.object_of(first.relation, arm.expression) for arm, _ in arms))
        text = rng.choice(relation.same)
        text = text.replace("{a}", arms[0][0].words).replace("{b}", arms[1][0].words)
        draft.compute(f"Are {arms[0][1]} and {arms[1][1]} the same?", whole)
        return draft.finish(type, text, whole)
    slot, join = fill
    text = question.replace(slot, join([arm.words for arm, _ in arms]))
    shown_again = [f"{arm.reference} ({value})" for arm, value in arms]
    draft.compute(question.replace(slot, join(shown_again)), whole)
    return draft.finish(type, text, whole)


def places(pool: Pool, type: str, length: int) -> Draft | None:
    """Two facts about one person in two passages: are they the same place? ``length`` facts lead to the person."""
    rng, draft = pool.rng, Draft(pool)
    first, second = rng.choice(sorted(PLACES))
    fact = rng.choice(pool.facts[first])
    facts = [fact, *pool.world.out[fact.subject.id, second]]
    arm = draft.approach(fact.subject, length, facts) if len(facts) == 2 else None
    if not arm or (fact.object is not facts[1].object and rng.random() < 0.6):
        return None
    text = PLACES[first, second].replace("{x}", arm.words)
    women = fact.subject.gender == "women"
    text = text.replace("{his}", "her" if women else "his").replace("{he}", "she" if women else "he")
    references = []
    for one in facts:
        step = draft.support(
            one, RELATIONS[one.relation].asks[0].replace("{x}", arm.reference), text_of(one.object), [arm.last]
        )
        references.append(f"#{step + 1}")
    whole = solver.same(solver.object_of(first, arm.expression), solver.object_of(second, arm.expression))
    draft.compute(f"Are {references[0]} and {references[1]} the same?", whole)
    return draft.finish(type, text, whole)


def tally(pool: Pool, type: str, length: int, size: int) -> Draft | None:
    """How many things have a relation to something that ``length`` facts lead to; each of them is a support."""
    rng, draft = pool.rng, Draft(pool)
    fact = pool.fact(lambda relation: RELATIONS[relation].clause)
    facts = pool.world.into[fact.object.id, fact.relation]
    if len(facts) != size or len({one.subject.id for one in facts}) < size:
        return None
    arm = draft.approach(fact.object, length, facts)
    if not arm:
        return None
    clause = rng.choice(RELATIONS[fact.relation].clause)
    verb, _, rest = clause.partition(" ")
    plural = re.sub(r"\bits\b", "their", f"{PLURALS.get(verb, verb)} {rest}")
    things = THINGS.get(fact.subject.kind, f"{noun(rng, fact.subject)}s")
    references = []
    for one in facts:
        question = f"Is {name(rng, one.subject)} among the {things} that {plural}?".replace("people that", "people who")
        step = draft.support(one, question.replace("{x}", arm.reference), "yes", [arm.last])
        references.append(f"#{step + 1}")
        draft.hidden.append(one.subject)
    text = f"How many {things} {plural}?".replace("{x}", arm.words)
    whole = solver.size_of(solver.subject_of(fact.relation, arm.expression))
    draft.compute(f"How many of {_both(references)} are true?", whole)
    return draft.finish(type, text, whole)


def meeting(pool: Pool, type: str, *lengths: int) -> Draft | None:
    """The one thing with two facts, their objects reached by chains of ``lengths``.

    Where the objects are named, the two facts stand in two passages and are two supports; else they stand in one.
    """
    rng, draft, apart = pool.rng, Draft(pool), not any(lengths)
    fact = pool.fact(lambda relation: RELATIONS[relation].clause)
    fits = [
        other
        for other in pool.world.of[fact.subject.id]
        if other is not fact and RELATIONS[other.relation].clause and (other.passage == fact.passage) is not apart
    ]
    if not fits:
        return None
    facts = [fact, rng.choice(fits)]
    arms = [draft.approach(one.object, length, facts) for one, length in zip(facts, lengths)]
    if not all(arms):
        return None
    kind = facts[0].subject.kind
    start = "Which person" if kind == "person" else f"Which {rng.choice(NOUNS[kind])}"
    clauses = [rng.choice(RELATIONS[one.relation].clause) for one in facts]
    shown, asked = zip(*(arm.fill(text) for text, arm in zip(clauses, arms)))
    parts = tuple(solver.subject_of(one.relation, arm.expression) for one, arm in zip(facts, arms))
    text, subject = f"{start} {asked[0]} and {asked[1]}?", facts[0].subject
    draft.hidden.append(subject)
    if apart:
        for one, clause in zip(facts, shown):
            draft.support(one, f"{start} {clause}?", text_of(subject), [])
        return draft.finish(type, text, solver.every(parts))
    draft.also.append(facts[1])
    draft.support(facts[0], f"{start} {shown[0]} and {shown[1]}?", text_of(subject), [arm.last for arm in arms])
    return draft.finish(type, text, solver.every(parts))


def converging_detail(pool: Pool, type: str, *lengths: int) -> Draft | None:
    """A qualifier of a fact whose subject and object are both reached by chains."""
    return _detail(pool, sum(lengths) + 1, lengths[1])


def _limit(rng: random.Random, facts: Sequence[Fact]) -> tuple[int, str]:
    """A round number among or near the values of the facts, and how it is written."""
    values = sorted(getattr(fact.object.value, "year", fact.object.value) for fact in facts)
    value = rng.choice(values)
    if facts[0].object.dated:
        limit = value + rng.choice((-14, -9, -5, -2, 1, 3, 6, 11, 15))
    else:
        unit = 10 ** max(1, len(str(value)) - 2)
        limit = round(value * rng.uniform(0.7, 1.4) / unit) * unit + unit
    return limit, str(limit) if facts[0].object.dated else f"{limit:,}"


def _either(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _both(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"
