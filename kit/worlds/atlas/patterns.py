"""The patterns of questions: how facts are combined into one question of a given type, structure and number of hops."""

import random
import re
from collections.abc import Sequence

from kit.worlds.atlas import solver
from kit.worlds.atlas.chains import NOUNS, Draft, Pool, Step, ask, name, text_of, word
from kit.worlds.atlas.phrasings import LEXICON, RELATIONS
from kit.worlds.atlas.world import Entity, Fact, Literal


def chain(pool: Pool, type: str, hops: int) -> Draft | None:
    """One fact, reached through hops - 1 others."""
    rng, draft = pool.rng, Draft(pool)
    if type == "qualifier":
        return converging_detail(pool, type, hops - 1, 0)
    fields = {"query": ["asks"], "count": ["count"], "boolean": ["verify", "verify_below"]}[type]
    fact = pool.fact(lambda relation: any(getattr(RELATIONS[relation], field) for field in fields))
    relation, value = RELATIONS[fact.relation], fact.object
    backwards = (
        type == "query" and isinstance(value, Entity) and relation.clause and rng.random() < 0.2
    )
    arm = draft.approach(value if backwards else fact.subject, hops - 1, [fact])
    if not arm:
        return None
    whole: solver.Expression = solver.object_of(fact.relation, arm.expression)
    if backwards:  # the last fact is read from its object to its subject
        if not (step := Step(fact, value, fact.subject)).backwards:
            return None
        draft.hidden.append(fact.subject)
        draft.support(fact, ask(rng, step, arm.reference), text_of(fact.subject), [arm.last])
        return draft.finish(
            type, ask(rng, step, arm.words), solver.subject_of(fact.relation, arm.expression)
        )
    if type != "boolean":
        phrasings, answer = relation.asks, text_of(value)
        if type == "count":
            phrasings, answer, whole = relation.count, str(value.value), solver.size_of(whole)
        draft.support(fact, word(rng, phrasings, arm.reference), answer, [arm.last])
        draft.hidden += [value] if isinstance(value, Entity) else []
        return draft.finish(type, word(rng, phrasings, arm.words), whole)
    if isinstance(value, Literal):
        limit, shown = _limit(rng, [fact])
        truth = solver.truth(solver.below(fact.relation, (arm.expression,), limit))
        question = rng.choice(relation.verify_below).replace("{t}", shown)
    else:
        if rng.random() < 0.5:
            family = pool.world.families[value.family]
            others = [
                it
                for it in family
                if it.kind == value.kind and it is not value and it is not fact.subject
            ]
            value = rng.choice(others or [value])
        truth = solver.same(whole, solver.named(value))
        question = rng.choice(relation.verify).replace("{o}", name(rng, value))
    asked, text = arm.fill(question)
    draft.support(fact, asked, solver.solve(pool.world, truth), [arm.last])
    return draft.finish(type, text, truth)


def converging_detail(pool: Pool, type: str, *lengths: int) -> Draft | None:
    """A qualifier of a fact whose subject and object, where that is named, are reached by chains of ``lengths``."""
    rng, draft = pool.rng, Draft(pool)
    fact = pool.fact(lambda relation: RELATIONS[relation].qualifiers)
    qualifier, phrasings = rng.choice(sorted(RELATIONS[fact.relation].qualifiers.items()))
    phrasings = [text for text in phrasings if "{o}" in text or not lengths[1]]
    if not phrasings:
        return None
    question = rng.choice(phrasings)
    subject = draft.approach(fact.subject, lengths[0], [fact])
    object = (
        draft.approach(fact.object, lengths[1], [fact]) if subject and "{o}" in question else None
    )
    if not subject or ("{o}" in question and not object):
        return None
    asked, whole = subject.fill(question)
    if object:
        asked, whole = asked.replace("{o}", object.reference), whole.replace("{o}", object.words)
    draft.support(
        fact, asked, fact.qualifiers[qualifier], [arm.last for arm in (subject, object) if arm]
    )
    detail = solver.detail(
        fact.relation, qualifier, subject.expression, object.expression if object else None
    )
    return draft.finish("qualifier", whole, detail)


def parallel(pool: Pool, type: str, *lengths: int) -> Draft | None:
    """Several things, each reached by its own chain of ``lengths`` facts, compared by one relation."""
    rng, draft = pool.rng, Draft(pool)
    field = {"comparison": "less", "boolean": "same", "count": "below"}[type]
    first = pool.fact(lambda relation: getattr(RELATIONS[relation], field))
    others, relation = pool.facts[first.relation], RELATIONS[first.relation]
    if type == "boolean":
        same = rng.random() < 0.6
        others = [fact for fact in others if fact.object is first.object or not same]
        others = [fact for fact in others if fact.subject.family == first.subject.family]
    facts = [first, *rng.sample(others, min(len(others), len(lengths) - 1))]
    if len({fact.subject.id for fact in facts}) < len(lengths):
        return None
    arms, answers = [], []
    for fact, length in zip(facts, lengths):
        if not (arm := draft.approach(fact.subject, length - 1, facts)):
            return None
        step = draft.support(
            fact, relation.asks[0].replace("{x}", arm.reference), text_of(fact.object), [arm.last]
        )
        arms.append(arm)
        answers.append(f"#{step + 1}")
    expressions, words = [arm.expression for arm in arms], [arm.words for arm in arms]
    if type == "boolean":
        whole = solver.same(*(solver.object_of(first.relation, each) for each in expressions))
        draft.compute(f"Are {answers[0]} and {answers[1]} the same?", whole)
        text = rng.choice(relation.same).replace("{a}", words[0])
        return draft.finish(type, text.replace("{b}", words[1]), whole)
    if type == "comparison":
        largest = bool(relation.more) and rng.random() < 0.5
        whole = solver.extreme(first.relation, expressions, largest)
        question, slot, conjunction = (
            rng.choice(relation.more if largest else relation.less),
            "{options}",
            "or",
        )
        for several, two in LEXICON["pairs"].items() if len(arms) == 2 else ():
            question = question.replace(several, two)
    else:
        limit, shown = _limit(rng, facts)
        whole = solver.below(first.relation, expressions, limit)
        question, slot, conjunction = (
            rng.choice(relation.below).replace("{t}", shown),
            "{list}",
            "and",
        )
    shown_again = [f"{arm.reference} ({answer})" for arm, answer in zip(arms, answers)]
    draft.compute(question.replace(slot, _join(shown_again, conjunction)), whole)
    return draft.finish(type, question.replace(slot, _join(words, conjunction)), whole)


def tally(pool: Pool, type: str, length: int, size: int) -> Draft | None:
    """How many things have a relation to something that ``length`` facts lead to; each of them is a support."""
    rng, draft = pool.rng, Draft(pool)
    fact = pool.fact(lambda relation: RELATIONS[relation].clause)
    facts = pool.world.into[fact.object.id, fact.relation]
    if len(facts) != size or len({one.subject.id for one in facts}) < size:
        return None
    if not (arm := draft.approach(fact.object, length, facts)):
        return None
    verb, _, rest = rng.choice(RELATIONS[fact.relation].clause).partition(" ")
    plural = re.sub(r"\bits\b", "their", f"{LEXICON['verbs'].get(verb, verb)} {rest}")
    things = LEXICON["plurals"].get(fact.subject.kind, f"{rng.choice(NOUNS[fact.subject.kind])}s")
    references = []
    for one in facts:
        question = f"Is {name(rng, one.subject)} among the {things} that {plural}?".replace(
            "people that", "people who"
        )
        step = draft.support(one, question.replace("{x}", arm.reference), "yes", [arm.last])
        references.append(f"#{step + 1}")
        draft.hidden.append(one.subject)
    whole = solver.size_of(solver.subject_of(fact.relation, arm.expression))
    draft.compute(f"How many of {_join(references, 'and')} are true?", whole)
    return draft.finish(type, f"How many {things} {plural}?".replace("{x}", arm.words), whole)


def meeting(pool: Pool, type: str, *lengths: int) -> Draft | None:
    """The one thing with two facts in one passage, their objects reached by chains of ``lengths``."""
    rng, draft = pool.rng, Draft(pool)
    fact = pool.fact(lambda relation: RELATIONS[relation].clause)
    subject = fact.subject
    fits = [
        it for it in pool.world.of[subject.id] if it is not fact and RELATIONS[it.relation].clause
    ]
    fits = [it for it in fits if it.passage == fact.passage]
    if not fits:
        return None
    facts = [fact, rng.choice(fits)]
    arms = [draft.approach(one.object, length, facts) for one, length in zip(facts, lengths)]
    if not all(arms):
        return None
    start = (
        "Which person" if subject.kind == "person" else f"Which {rng.choice(NOUNS[subject.kind])}"
    )
    shown, asked = zip(
        *(arm.fill(rng.choice(RELATIONS[one.relation].clause)) for one, arm in zip(facts, arms))
    )
    draft.hidden.append(subject)
    draft.also.append(facts[1])
    draft.support(
        fact, f"{start} {shown[0]} and {shown[1]}?", text_of(subject), [arm.last for arm in arms]
    )
    parts = [solver.subject_of(one.relation, arm.expression) for one, arm in zip(facts, arms)]
    return draft.finish(type, f"{start} {asked[0]} and {asked[1]}?", solver.every(parts))


def _limit(rng: random.Random, facts: Sequence[Fact]) -> tuple[int, str]:
    """A round number among or near the values of the facts, and how it is written."""
    value = rng.choice(sorted(fact.object.number for fact in facts))
    if facts[0].object.dated:
        limit = value + rng.choice((-14, -9, -5, -2, 1, 3, 6, 11, 15))
        return limit, str(limit)
    unit = 10 ** max(1, len(str(value)) - 2)
    limit = round(value * rng.uniform(0.7, 1.4) / unit) * unit + unit
    return limit, f"{limit:,}"


def _join(words: Sequence[str], conjunction: str) -> str:
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"
