"""The pattern of several facts of one relation, compared."""

from collections.abc import Sequence

from kit.worlds.atlas.drafts import Arm, Draft, Pool
from kit.worlds.atlas.solver import Expression, below, extreme, object_of, same
from kit.worlds.atlas.wording import join, round_limit, text_of
from kit.worlds.atlas.world import Fact

#: The field that the relation needs, by the question's type.
FIELDS = {"comparison": "less", "boolean": "same", "count": "below"}
SAME = 0.6  # the share of questions whether two are the same that are drawn to be so


def parallel(draft: Draft, *lengths: int) -> Draft | None:
    """Several subjects, each reached by a chain of ``lengths`` facts, compared by one relation."""
    facts = _draw_facts(draft, len(lengths))
    subjects = {fact.subject for fact in facts}
    if len(subjects) < len(lengths):
        return None

    arms = []
    answers = []
    for fact, length in zip(facts, lengths):
        arm = draft.approach(fact.subject, length - 1, facts)
        if not arm:
            return None
        question, _ = arm.fill(fact.phrasings.asks[0])
        step = draft.support(
            fact,
            question,
            text_of(fact.object),
            arm.last,
        )
        arms.append(arm)
        answers.append(f"#{step + 1}")

    if draft.type == "boolean":
        return _same(
            draft,
            facts[0],
            arms,
            answers,
        )
    return _list(
        draft,
        facts,
        arms,
        answers,
    )


def _draw_facts(draft: Draft, n_facts: int) -> list[Fact]:
    """Facts of one relation, as many as there are; for a boolean question of one family."""
    pool = draft.pool
    field = FIELDS[draft.type]
    first = pool.fact(lambda relation: getattr(relation, field))
    others = pool.facts[first.relation]
    if draft.type == "boolean":
        if pool.rng.random() < SAME:
            others = [fact for fact in others if fact.object is first.object]
        others = [fact for fact in others if fact.subject.family == first.subject.family]
    n_others = min(len(others), n_facts - 1)
    return [first, *pool.rng.sample(others, n_others)]


def _same(draft: Draft, fact: Fact, arms: Sequence[Arm], answers: Sequence[str]) -> Draft:
    """Whether two have the same object."""
    objects = [object_of(fact.relation, arm.expression) for arm in arms]
    whole = same(*objects)
    first, second = answers
    draft.compute(f"Are {first} and {second} the same?", whole)

    text = draft.pool.rng.choice(fact.phrasings.same)
    for slot, arm in zip(("{a}", "{b}"), arms):
        text = text.replace(slot, arm.words)
    return draft.finish(text, whole)


def _list(
    draft: Draft,
    facts: Sequence[Fact],
    arms: Sequence[Arm],
    answers: Sequence[str],
) -> Draft:
    """Which of a list is the first or largest, or how many are below a limit."""
    compare = _extreme if draft.type == "comparison" else _below
    subjects = [arm.expression for arm in arms]
    question, whole = compare(draft.pool, facts, subjects)

    conjunction = "or" if draft.type == "comparison" else "and"
    items = [f"{arm.reference} ({answer})" for arm, answer in zip(arms, answers)]
    step = question.replace("{options}", join(items, conjunction))
    draft.compute(step, whole)
    words = [arm.words for arm in arms]
    text = question.replace("{options}", join(words, conjunction))
    return draft.finish(text, whole)


def _extreme(
    pool: Pool,
    facts: Sequence[Fact],
    subjects: Sequence[Expression],
) -> tuple[str, Expression]:
    """Which has the smallest or largest value."""
    fact = facts[0]
    rng = pool.rng
    phrasings = fact.phrasings.less
    largest = bool(fact.phrasings.more) and rng.random() < 0.5
    if largest:
        phrasings = fact.phrasings.more
    question = rng.choice(phrasings)
    if len(facts) == 2:
        for several, two in pool.lexicon["pairs"].items():
            question = question.replace(several, two)
    return question, extreme(fact.relation, subjects, largest)


def _below(
    pool: Pool,
    facts: Sequence[Fact],
    subjects: Sequence[Expression],
) -> tuple[str, Expression]:
    """How many have a value below a limit."""
    fact = facts[0]
    limit, shown = round_limit(pool.rng, facts)
    question = pool.rng.choice(fact.phrasings.below).replace("{t}", shown)
    return question, below(fact.relation, subjects, limit)
