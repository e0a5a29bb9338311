"""How many questions of each kind a split gets, and the checks that every one of them passes."""

import re
from collections import Counter
from collections.abc import Sequence
from random import Random

import msgspec

from kit.corpus.types import Question
from kit.errors import InputError
from kit.worlds.atlas.comparisons import parallel
from kit.worlds.atlas.drafts import Draft, Pool
from kit.worlds.atlas.large import beyond, filtered
from kit.worlds.atlas.patterns import chain, converging_detail, meeting, tally
from kit.worlds.atlas.phrasings import read
from kit.worlds.atlas.solver import Answer, NoAnswer, solve
from kit.worlds.atlas.wording import text_of
from kit.worlds.atlas.world import WORDS, Entity, World

PATTERNS = {
    "chain": chain,
    "converging_detail": converging_detail,
    "meeting": meeting,
    "parallel": parallel,
    "tally": tally,
    "filtered": filtered,
    "beyond": beyond,
}
#: Draws before a split is given up as too small for its questions.
PATIENCE = 4000


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of question, by its structure (BGR §4.5) and type (its appendix A.2).

    ``share`` of a split is in thousandths; ``patterns`` are names, each with its numbers.
    """

    hops: int
    structure: str
    type: str
    share: int
    patterns: list[list]


Plans = Sequence[Plan]
#: The questions of the atlas, and those with graphs of 5 to 10 facts.
PLANS = msgspec.convert(read("plan")["plans"], list[Plan])
LARGE_PLANS = msgspec.convert(read("plan")["large"], list[Plan])


def quotas(plans: Plans, total: int) -> list[tuple[Plan, int]]:
    """How many questions of each kind make ``total``, by the largest remainders of the shares."""
    whole = sum(plan.share for plan in plans)
    exact = [total * plan.share / whole for plan in plans]
    counts = [int(share) for share in exact]
    by_remainder = sorted(range(len(plans)), key=lambda row: counts[row] - exact[row])
    n_missing = total - sum(counts)
    for row in by_remainder[:n_missing]:
        counts[row] += 1
    return [(plans[row], counts[row]) for row in by_remainder]


def ask_all(
    world: World,
    families: Sequence[int],
    plans: Plans,
    total: int,
    prefix: str,
    rng: Random,
) -> list[tuple[Question, Draft]]:
    """``total`` different questions with evidence in the given families, in a random order."""
    pool = Pool(world, families, rng)
    texts: set[str] = set()
    made = []
    for plan, count in quotas(plans, total):
        answers: Counter[str] = Counter()
        for _ in range(count):
            draft, answer = _draw(
                pool,
                plan,
                texts,
                answers,
                count,
            )
            texts.add(draft.text)
            answers[text_of(answer)] += 1
            made.append((draft, answer))

    rng.shuffle(made)
    return [
        (_as_question(f"{prefix}-{index:04d}", draft, answer), draft)
        for index, (draft, answer) in enumerate(made)
    ]


def _draw(
    pool: Pool,
    plan: Plan,
    texts: set[str],
    answers: Counter[str],
    count: int,
) -> tuple[Draft, Answer]:
    """A new question of the kind; ``answers`` are those of the kind so far, of ``count``."""
    share = 0.55 if plan.type in ("boolean", "count") else 0.34  # that may have one answer
    most = max(1, share * count)
    for attempt in range(PATIENCE):
        try:
            draft = _draft(pool, plan)
            if draft is None or draft.text in texts or not _fits(draft, plan):
                continue
            answer = solve(pool.world, draft.expression)
        except NoAnswer:
            continue
        # After half the patience any answer will do.
        is_rare = answers[text_of(answer)] < most or attempt >= PATIENCE / 2
        if is_rare and not leaks(draft, answer):
            return draft, answer

    kind = f"{plan.hops}-hop {plan.structure} {plan.type}"
    message = f"expected more countries: no new {kind} question can be found"
    raise InputError(message, field="size")


def _draft(pool: Pool, plan: Plan) -> Draft | None:
    name, *numbers = pool.rng.choice(plan.patterns)
    return PATTERNS[name](Draft(pool, plan.type), *numbers)


def _fits(draft: Draft, plan: Plan) -> bool:
    """Whether a draft has the structure, and as many supports, all in different passages."""
    passages = {fact.passage for fact in draft.supports}
    if draft.evidence.structure != plan.structure:
        return False
    return len(passages) == len(draft.supports) == plan.hops


def leaks(draft: Draft, answer: Answer) -> bool:
    """Whether the question names its answer or a bridge on the way to it.

    A comparison's answer may be one of those that it compares and names; yes and no are never
    named.
    """
    hidden = list(draft.hidden)
    forms = []
    if isinstance(answer, Entity):
        if draft.type != "comparison":
            hidden.append(answer)
    elif draft.type in ("query", "qualifier"):
        forms.append(text_of(answer))
    for entity in hidden:
        forms += called(entity)
    return any(mentions(draft.text, form) for form in forms)


def called(entity: Entity) -> list[str]:
    """The names by which a text could give the entity away.

    Name, aliases and the short forms that are part of them.
    """
    forms = list(entity.surfaces)
    if entity.short in entity.name:
        forms.append(entity.short)
    return [form.removeprefix("the ") for form in forms]


def mentions(text: str, form: str) -> bool:
    """Whether the form stands in the text as whole words."""
    pattern = rf"(?<!\w){re.escape(form)}(?!\w)"
    return re.search(pattern, text, re.IGNORECASE) is not None


def _as_question(question_id: str, draft: Draft, answer: Answer) -> Question:
    triples = []
    for fact in (*draft.supports, *draft.also):
        label = fact.phrasings.label
        triples.append((text_of(fact.subject), label, text_of(fact.object)))
    return Question(
        id=question_id,
        text=draft.text[0].upper() + draft.text[1:],
        answer=text_of(answer),
        supporting=tuple((fact.passage,) for fact in draft.supports),
        aliases=_aliases(answer),
        type=draft.type,
        decomposition=tuple(draft.steps),
        evidence=draft.evidence,
        triples=tuple(triples),
        facts=tuple(fact.sentence for fact in draft.supports),
    )


def _aliases(answer: Answer) -> tuple[str, ...]:
    """Other ways of writing the answer; a small number also in words."""
    if not isinstance(answer, str):
        return answer.aliases
    if answer.isdigit() and int(answer) < len(WORDS):
        return (WORDS[int(answer)],)
    return ()
