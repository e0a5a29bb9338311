"""The patterns of questions: how facts are combined into one question of the draft's type.

Each pattern completes a draft, or gives None where the facts that it drew do not fit.
"""

import re
from random import Random
from typing import NamedTuple

from kit.worlds.atlas.chains import Step
from kit.worlds.atlas.drafts import Arm, Draft, Pool
from kit.worlds.atlas.phrasings import Lexicon
from kit.worlds.atlas.solver import (
    Expression,
    below,
    detail,
    every,
    named,
    object_of,
    same,
    size_of,
    solve,
    subject_of,
    truth,
)
from kit.worlds.atlas.wording import (
    ask,
    framed,
    join,
    name_of,
    noun_of,
    round_limit,
    which,
    wording,
)
from kit.worlds.atlas.world import Entity, Fact, Literal

#: The fields of a relation of which a chain's last one needs one, by the question's type.
FIELDS = {"query": ["asks"], "count": ["count"], "boolean": ["verify", "verify_below"]}
BACKWARDS = 0.2  # the share of chains whose last fact is read from its object to its subject


def chain(draft: Draft, hops: int) -> Draft | None:
    """One fact, reached through hops - 1 others."""
    if draft.type == "qualifier":
        return converging_detail(draft, hops - 1, 0)

    fields = FIELDS[draft.type]
    pool = draft.pool
    fact = pool.fact(lambda relation: any(getattr(relation, field) for field in fields))
    is_readable = isinstance(fact.object, Entity) and fact.phrasings.clause
    backwards = draft.type == "query" and is_readable and pool.rng.random() < BACKWARDS
    start = fact.object if backwards else fact.subject
    arm = draft.approach(start, hops - 1, [fact])
    if not arm:
        return None

    if backwards:
        return _ask_subject(draft, fact, arm)
    return _verify(draft, fact, arm) if draft.type == "boolean" else _ask_object(draft, fact, arm)


def _ask_subject(draft: Draft, fact: Fact, arm: Arm) -> Draft | None:
    """Who it is about: the last fact is read from its object to its subject."""
    step = Step(fact, fact.object, fact.subject)
    if not step.backwards:
        return None
    rng = draft.pool.rng
    lexicon = draft.pool.lexicon
    question = ask(
        rng,
        lexicon,
        step,
        arm.reference,
    )
    draft.support(
        fact,
        question,
        fact.subject,
        arm.last,
    )
    text = ask(
        rng,
        lexicon,
        step,
        arm.words,
    )
    return draft.finish(text, subject_of(fact.relation, arm.expression))


def _ask_object(draft: Draft, fact: Fact, arm: Arm) -> Draft:
    """What the last fact says, or how many items a list has that it states."""
    rng = draft.pool.rng
    phrasings = fact.phrasings.asks
    answer = fact.object
    expression = object_of(fact.relation, arm.expression)
    if draft.type == "count":
        phrasings = fact.phrasings.count
        answer = str(answer.value)
        expression = size_of(expression)

    question = wording(rng, phrasings, arm.reference)
    draft.support(
        fact,
        question,
        answer,
        arm.last,
    )
    return draft.finish(wording(rng, phrasings, arm.words), expression)


def _verify(draft: Draft, fact: Fact, arm: Arm) -> Draft:
    """Whether the last fact says so; of a value, whether it is below a limit."""
    pool = draft.pool
    rng = pool.rng
    phrasings = fact.phrasings
    if isinstance(fact.object, Literal):
        limit, shown = round_limit(rng, [fact])
        count = below(fact.relation, [arm.expression], limit)
        expression = truth(count)
        question = rng.choice(phrasings.verify_below).replace("{t}", shown)
    else:
        candidate = _true_or_false(pool, fact)
        stated = object_of(fact.relation, arm.expression)
        expression = same(stated, named(candidate))
        question = rng.choice(phrasings.verify)
        question = question.replace("{o}", name_of(rng, candidate))

    step, text = arm.fill(question)
    draft.support(
        fact,
        step,
        solve(pool.world, expression),
        arm.last,
    )
    return draft.finish(text, expression)


def _true_or_false(pool: Pool, fact: Fact) -> Entity:
    """The object of the fact or, half of the time, another of its kind and family."""
    true = fact.object
    if pool.rng.random() >= 0.5:
        return true
    others = [
        entity
        for entity in pool.world.families[true.family]
        if entity.kind == true.kind and entity not in (true, fact.subject)
    ]
    return pool.rng.choice(others or [true])


def converging_detail(draft: Draft, length: int, length_of_object: int) -> Draft | None:
    """A qualifier of a fact whose subject and, where it is named, object chains lead to."""
    rng = draft.pool.rng
    fact = draft.pool.fact(lambda relation: relation.qualifiers)
    qualifiers = sorted(fact.phrasings.qualifiers.items())
    qualifier, phrasings = rng.choice(qualifiers)
    if length_of_object:
        phrasings = [text for text in phrasings if "{o}" in text]
    if not phrasings:
        return None

    question = rng.choice(phrasings)
    subject = draft.approach(fact.subject, length, [fact])
    if not subject:
        return None
    step, text = subject.fill(question)
    needs = [subject.last]
    target = None
    if "{o}" in question:
        end = draft.approach(fact.object, length_of_object, [fact])
        if not end:
            return None
        step = step.replace("{o}", end.reference)
        text = text.replace("{o}", end.words)
        needs.append(end.last)
        target = end.expression

    draft.support(
        fact,
        step,
        fact.qualifiers[qualifier],
        *needs,
    )
    expression = detail(
        fact.relation,
        qualifier,
        subject.expression,
        target,
    )
    return draft.finish(text, expression)


def tally(draft: Draft, length: int, size: int) -> Draft | None:
    """How many have a relation to what ``length`` facts lead to; each of them is a support."""
    pool = draft.pool
    rng = pool.rng
    fact = pool.fact(lambda relation: relation.clause)
    facts = pool.world.into[fact.object.id][fact.relation]
    subjects = {member.subject for member in facts}
    if not len(facts) == len(subjects) == size:
        return None
    arm = draft.approach(fact.object, length, facts)
    if not arm:
        return None

    clause = plural(pool.lexicon, rng.choice(fact.phrasings.clause))
    noun = _plural_noun(rng, pool.lexicon, fact.subject.kind)
    references = []
    for member in facts:
        name = name_of(rng, member.subject)
        question = f"Is {name} among the {noun} that {clause}?"
        question = question.replace("people that", "people who")
        step, _ = arm.fill(question)
        index = draft.support(
            member,
            step,
            "yes",
            arm.last,
        )
        references.append(f"#{index + 1}")
        draft.hidden.append(member.subject)

    count = size_of(subject_of(fact.relation, arm.expression))
    draft.compute(f"How many of {join(references, 'and')} are true?", count)
    question = framed(
        rng,
        pool.lexicon["frames"]["many"],
        nouns=noun,
        that="who" if noun == "people" else "that",
        clause=clause,
    )
    _, text = arm.fill(question)
    return draft.finish(text, count)


def plural(lexicon: Lexicon, clause: str) -> str:
    """The clause as it is said of several."""
    verb, _, rest = clause.partition(" ")
    verb = lexicon["verbs"].get(verb, verb)
    return re.sub(r"\bits\b", "their", f"{verb} {rest}")


def _plural_noun(rng: Random, lexicon: Lexicon, kind: str) -> str:
    noun = rng.choice(lexicon["nouns"][kind])
    return lexicon["plurals"].get(kind, f"{noun}s")


class Meeting(NamedTuple):
    """What two chains meet in: a word for it, and what the question says of it."""

    subject: Entity
    noun: str
    clause: str
    expression: Expression


def meeting(draft: Draft, *lengths: int) -> Draft | None:
    """What has two facts in one passage, their objects reached by chains of ``lengths``."""
    met = meet(draft, *lengths)
    if not met:
        return None
    question = _which(draft, met.noun, met.clause)
    return draft.finish(question, met.expression)


def meet(draft: Draft, *lengths: int) -> Meeting | None:
    """Take up two chains and the passage in which they meet."""
    pool = draft.pool
    first = pool.fact(lambda relation: relation.clause)
    subject = first.subject
    partners = [
        fact
        for fact in pool.world.about[subject.id]
        if fact is not first and fact.passage == first.passage and fact.phrasings.clause
    ]
    if not partners:
        return None
    facts = [first, pool.rng.choice(partners)]
    arms = [draft.approach(fact.object, length, facts) for fact, length in zip(facts, lengths)]
    if not all(arms):
        return None

    noun = noun_of(pool.rng, pool.lexicon, subject)
    steps = []
    texts = []
    expressions = []
    for fact, arm in zip(facts, arms):
        step, text = arm.fill(pool.rng.choice(fact.phrasings.clause))
        steps.append(step)
        texts.append(text)
        expressions.append(subject_of(fact.relation, arm.expression))

    draft.also.append(facts[1])
    draft.support(
        first,
        _which(draft, noun, join(steps, "and")),
        subject,
        *[arm.last for arm in arms],
    )
    return Meeting(
        subject,
        noun,
        join(texts, "and"),
        every(expressions),
    )


def _which(draft: Draft, noun: str, clause: str) -> str:
    return which(
        draft.pool.rng,
        draft.pool.lexicon,
        f"Which {noun}",
        noun,
        clause,
    )
