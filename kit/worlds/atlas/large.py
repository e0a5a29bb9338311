"""Patterns of questions with large evidence graphs: sets whose members are looked up one by one."""

from collections.abc import Sequence

from kit.worlds.atlas.drafts import Draft
from kit.worlds.atlas.patterns import meet, plural
from kit.worlds.atlas.solver import below_among, object_of, subject_of
from kit.worlds.atlas.wording import join, name_of, round_limit, text_of, wording
from kit.worlds.atlas.world import Fact

PEOPLE = "the people {options}"  # names the set twice, in the phrasings of a count


def filtered(draft: Draft, length: int, size: int) -> Draft | None:
    """How many of a set have a value below a limit: two supports for each of ``size`` members.

    The set are those with a relation to what ``length`` facts lead to.
    """
    pool = draft.pool
    rng = pool.rng
    relations = [
        relation
        for relation, facts in pool.facts.items()
        if relation.startswith("person.") and facts[0].phrasings.clause
    ]
    fact = rng.choice(pool.facts[rng.choice(relations)])
    members = pool.world.into[fact.object.id][fact.relation]
    if len(members) != size:
        return None
    values = _values(draft, members)
    if not values:
        return None
    arm = draft.approach(fact.object, length, [*members, *values])
    if not arm:
        return None

    clause = plural(pool.lexicon, rng.choice(fact.phrasings.clause))
    references = []
    for member, value in zip(members, values):
        name = name_of(rng, member.subject)
        question, _ = arm.fill(f"Is {name} among the people who {clause}?")
        index = draft.support(
            member,
            question,
            "yes",
            arm.last,
        )
        draft.hidden.append(member.subject)

        question = wording(rng, value.phrasings.asks, name)
        index = draft.support(
            value,
            f"If it is true that #{index + 1}: {question}",
            text_of(value.object),
            index,
        )
        references.append(f"#{index + 1}")

    limit, shown = round_limit(rng, values)
    relation = values[0].relation
    whole = below_among(relation, subject_of(fact.relation, arm.expression), limit)
    draft.compute(f"How many of {join(references, 'and')} are before {shown}?", whole)

    question = rng.choice(values[0].phrasings.below)
    question = question.replace("{t}", shown).replace(PEOPLE, "{options}")
    _, text = arm.fill(question.replace("{options}", f"the people who {clause}"))
    return draft.finish(text, whole)


def _values(draft: Draft, members: Sequence[Fact]) -> list[Fact]:
    """A fact of each member with a value to compare, of one relation; [] where one has none."""
    pool = draft.pool
    first = members[0].subject
    comparable = [fact.relation for fact in pool.world.about[first.id] if fact.phrasings.below]
    if not comparable:
        return []

    relation = pool.rng.choice(comparable)
    values = []
    for member in members:
        values += pool.world.out[member.subject.id][relation]
    return values if len(values) == len(members) else []


def beyond(draft: Draft, *lengths: int) -> Draft | None:
    """A further fact, in another passage, of what chains of ``lengths`` meet in."""
    pool = draft.pool
    met = meet(draft, *lengths)
    if not met:
        return None
    passages = {fact.passage for fact in draft.supports}
    others = [
        fact
        for fact in pool.world.about[met.subject.id]
        if fact.phrasings.asks and fact.passage not in passages
    ]
    if not others:
        return None

    fact = pool.rng.choice(others)
    last = len(draft.steps) - 1
    phrasings = fact.phrasings.asks
    draft.support(
        fact,
        wording(pool.rng, phrasings, f"#{last + 1}"),
        fact.object,
        last,
    )
    pronoun = "who" if met.noun == "person" else "that"
    words = f"the {met.noun} {pronoun} {met.clause}"
    text = wording(pool.rng, phrasings, words)
    return draft.finish(text, object_of(fact.relation, met.expression))
