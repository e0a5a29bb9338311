"""How questions word what they ask: names, nouns, clauses, lists and limits."""

from collections.abc import Sequence
from random import Random

from kit.worlds.atlas.chains import Step
from kit.worlds.atlas.phrasings import Lexicon
from kit.worlds.atlas.solver import Answer
from kit.worlds.atlas.world import Entity, Fact

WORKS = ("film", "book", "album", "song")
NAMED_SORT = 0.6  # the share of works whose sort is named, though no other has the name


def ask(rng: Random, lexicon: Lexicon, step: Step, words: str) -> str:
    """The step as a question of its own about ``words``."""
    relation = step.fact.phrasings
    if not step.backwards:
        return wording(rng, relation.asks, words)
    noun = noun_of(rng, lexicon, step.target)
    subject = "Who" if step.target.kind == "person" else f"Which {noun}"
    clause = wording(rng, relation.clause, words)
    return which(
        rng,
        lexicon,
        subject,
        noun,
        clause,
    )


def describe(rng: Random, lexicon: Lexicon, step: Step, words: str) -> str:
    """What a question calls the target of a step from ``words``."""
    relation = step.fact.phrasings
    if not step.backwards:
        return wording(rng, relation.noun, words)
    kind = step.target.kind
    noun = rng.choice(lexicon["nouns"][kind])
    pronoun = "who" if kind == "person" else "that"
    return f"the {noun} {pronoun} {wording(rng, relation.clause, words)}"


def noun_of(rng: Random, lexicon: Lexicon, entity: Entity) -> str:
    """The word for its kind in a question that asks for it."""
    return "person" if entity.kind == "person" else rng.choice(lexicon["nouns"][entity.kind])


def which(
    rng: Random,
    lexicon: Lexicon,
    subject: str,
    noun: str,
    clause: str,
) -> str:
    """The question of what a clause is true; ``subject`` is such as "Which city"."""
    pronoun = "who" if noun == "person" else "that"
    return framed(
        rng,
        lexicon["frames"]["which"],
        which=subject,
        noun=noun,
        that=pronoun,
        clause=clause,
    )


def framed(rng: Random, forms: Sequence[str], **slots: str) -> str:
    """One of the forms with its slots filled; nothing is drawn where there is one."""
    form = forms[0] if len(forms) == 1 else rng.choice(forms)
    for name, text in slots.items():
        form = form.replace(f"{{{name}}}", text)
    return form


def name_of(rng: Random, entity: Entity) -> str:
    """How a question names an entity: with its sort if others share the name, or now and then."""
    if entity.kind == "river":
        sort = "the" if entity.title == entity.name else "the river"
        return f"{sort} {entity.name}"
    is_shared = "(" in entity.title
    if is_shared or (entity.kind in WORKS and rng.random() < NAMED_SORT):
        return f"the {entity.sort} {entity.name}"
    return entity.name


def wording(rng: Random, phrasings: Sequence[str], words: str) -> str:
    """One of the phrasings about ``words``; the last, the plainest, is twice as likely."""
    phrasing = rng.choice((*phrasings, phrasings[-1]))
    return phrasing.replace("{x}", words)


def text_of(answer: Answer) -> str:
    """How an answer or a triple writes it."""
    if isinstance(answer, str):
        return answer
    return answer.name.removeprefix("the ") if isinstance(answer, Entity) else answer.text


def round_limit(rng: Random, facts: Sequence[Fact]) -> tuple[int, str]:
    """A round number among or near the values of the facts, and how it is written."""
    values = sorted(fact.object.number for fact in facts)
    value = rng.choice(values)
    if facts[0].object.dated:
        limit = value + rng.choice((-14, -9, -5, -2, 1, 3, 6, 11, 15))
        return limit, str(limit)

    n_digits = len(str(value))
    unit = 10 ** max(1, n_digits - 2)
    units = round(value * rng.uniform(0.7, 1.4) / unit)
    limit = units * unit + unit
    return limit, f"{limit:,}"


def join(words: Sequence[str], conjunction: str) -> str:
    """A list as a sentence writes it: a, b and c."""
    *others, last = words
    return f"{', '.join(others)} {conjunction} {last}"
