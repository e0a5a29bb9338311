"""How many questions of each kind a split gets, and the checks that every one of them passes."""

import csv
import random
import re
from collections import Counter
from collections.abc import Sequence

from kit.corpus.types import Question
from kit.errors import InputError
from kit.worlds.atlas import patterns
from kit.worlds.atlas.chains import Draft, Pool, text_of
from kit.worlds.atlas.phrasings import PROSE, RELATIONS
from kit.worlds.atlas.solver import Answer, NoAnswer, solve
from kit.worlds.atlas.world import WORDS, Entity, World

Cell = tuple[int, str, str]

#: Draws before a split is given up as too small for its questions.
PATIENCE = 4000
#: (hops, structure, type): share of a split in thousandths, and patterns that make such questions, with their numbers.
#: Structures are those of bgr.txt §4.5, types those of its appendix A.2.
PLAN: dict[Cell, tuple[int, list[list[str]]]] = {
    (int(hops), structure, type): (int(share), [words.split() for words in makers.split(";")])
    for hops, structure, type, share, makers in csv.reader(
        (PROSE / "plan.csv").read_text("utf-8").splitlines()[1:]
    )
}


def quotas(total: int) -> dict[Cell, int]:
    """How many questions of each kind make ``total``, by the largest remainders of the plan's shares."""
    whole = sum(share for share, _ in PLAN.values())
    exact = {cell: total * share / whole for cell, (share, _) in PLAN.items()}
    counts = {cell: int(value) for cell, value in exact.items()}
    by_remainder = sorted(exact, key=lambda cell: counts[cell] - exact[cell])
    return {
        cell: counts[cell] + (place < total - sum(counts.values()))
        for place, cell in enumerate(by_remainder)
    }


def ask_all(
    world: World, families: Sequence[int], total: int, prefix: str, rng: random.Random
) -> list[tuple[Question, Draft]]:
    """``total`` different questions whose evidence lies in the given families, in a random order."""
    pool, asked, made = Pool(world, families, rng), set(), []
    for cell, count in quotas(total).items():
        answers: Counter[str] = Counter()
        for _ in range(count):
            draft, answer = _draw(pool, cell, asked, answers, count)
            asked.add(draft.text)
            answers[text_of(answer)] += 1
            made.append((draft, answer))
    rng.shuffle(made)
    return [(_question(f"{prefix}-{place:04d}", *item), item[0]) for place, item in enumerate(made)]


def _draw(
    pool: Pool, cell: Cell, asked: set[str], answers: Counter[str], count: int
) -> tuple[Draft, Answer]:
    """A new question whose supports are as many different passages as asked for, in the structure asked for."""
    hops, structure, type = cell
    for attempt in range(PATIENCE):
        try:
            pattern, *numbers = pool.rng.choice(PLAN[cell][1])
            draft = getattr(patterns, pattern)(pool, type, *map(int, numbers))
            if draft is None or draft.text in asked or draft.evidence.structure != structure:
                continue
            if not len({fact.passage for fact in draft.supports}) == len(draft.supports) == hops:
                continue
            answer = solve(pool.world, draft.expression)
        except NoAnswer:
            continue
        # After half the patience any answer will do; before, no answer may fill more than its share.
        share = 0.55 if type in ("boolean", "count") else 0.34
        crowded = answers[text_of(answer)] >= max(1, share * count) and attempt < PATIENCE / 2
        if not crowded and not leaks(draft, answer):
            return draft, answer
    expected = (
        f"expected more countries: no new {hops}-hop {structure} {type} question can be found"
    )
    raise InputError(expected, field="size")


def leaks(draft: Draft, answer: Answer) -> bool:
    """Whether the question names its answer or a bridge on the way to it.

    A comparison's answer may be one of the things that it compares and names; yes and no are never named.
    """
    answers = [answer] if isinstance(answer, Entity) and draft.type != "comparison" else []
    forms = [form for entity in [*draft.hidden, *answers] for form in called(entity)]
    if not isinstance(answer, Entity) and draft.type in ("query", "qualifier"):
        forms.append(text_of(answer))
    return any(mentions(draft.text, form) for form in forms)


def called(entity: Entity) -> list[str]:
    """The names by which a text could give the entity away: name, aliases and the short forms that are part of them."""
    short = [entity.short] if entity.short in entity.name else []
    return [form.removeprefix("the ") for form in (*entity.surfaces, *short)]


def mentions(text: str, form: str) -> bool:
    """Whether the form stands in the text as whole words."""
    return re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text, re.IGNORECASE) is not None


def _question(id: str, draft: Draft, answer: Answer) -> Question:
    aliases = () if isinstance(answer, str) else answer.aliases
    if isinstance(answer, str) and answer.isdigit() and int(answer) < len(WORDS):
        aliases = (WORDS[int(answer)],)
    facts = (*draft.supports, *draft.also)
    return Question(
        id=id,
        text=f"{draft.text[0].upper()}{draft.text[1:]}",
        answer=text_of(answer),
        supporting=tuple((fact.passage,) for fact in draft.supports),
        aliases=aliases,
        type=draft.type,
        decomposition=tuple(draft.steps),
        evidence=draft.evidence,
        triples=tuple(
            (text_of(it.subject), RELATIONS[it.relation].label, text_of(it.object)) for it in facts
        ),
        facts=tuple(fact.sentence for fact in draft.supports),
    )
