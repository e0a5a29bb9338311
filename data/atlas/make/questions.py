"""How many questions of each kind a split gets, and the checks that every one of them passes."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from kit.corpus.types import EvidenceGraph, Question
from kit.errors import InputError

from .evidence import Draft, Pool, text_of
from .patterns import chain, converging_detail, meeting, parallel, places, tally
from .phrasings import RELATIONS
from .solver import Answer, NoAnswer, solve
from .world import WORDS, Entity, Fact, World

Pattern = Callable[[Pool], Draft | None]

#: Draws before a split is given up as too small for its questions.
PATIENCE = 4000


def _single(type: str, hops: int) -> list[Pattern]:
    return [partial(chain, type=type, hops=hops)]


def _side_by_side(type: str, *lengths: Sequence[int]) -> list[Pattern]:
    return [partial(parallel, type=type, lengths=one) for one in lengths]


#: (hops, structure, type): share of a split in thousandths, and the patterns that make such questions.
#: Structures are those of bgr.txt §4.5, types those of its appendix A.2.
PLAN: dict[tuple[int, str, str], tuple[int, list[Pattern]]] = {
    (1, "single-chain single-hop", "query"): (76, _single("query", 1)),
    (1, "single-chain single-hop", "qualifier"): (46, _single("qualifier", 1)),
    (1, "single-chain single-hop", "count"): (28, _single("count", 1)),
    (1, "single-chain single-hop", "boolean"): (50, _single("boolean", 1)),
    (2, "single-chain multi-hop", "query"): (88, _single("query", 2)),
    (2, "single-chain multi-hop", "qualifier"): (50, _single("qualifier", 2)),
    (2, "single-chain multi-hop", "count"): (24, _single("count", 2)),
    (2, "single-chain multi-hop", "boolean"): (40, _single("boolean", 2)),
    (2, "multi-chain single-hop", "comparison"): (48, _side_by_side("comparison", (1, 1))),
    (2, "multi-chain single-hop", "boolean"): (
        24,
        [*_side_by_side("boolean", (1, 1)), partial(places, type="boolean", length=0)],
    ),
    (2, "multi-chain single-hop", "count"): (
        24,
        [*_side_by_side("count", (1, 1)), partial(tally, type="count", length=0, size=2)],
    ),
    (2, "multi-chain single-hop", "query"): (20, [partial(meeting, type="query", lengths=(0, 0))]),
    (3, "single-chain multi-hop", "query"): (50, _single("query", 3)),
    (3, "single-chain multi-hop", "qualifier"): (24, _single("qualifier", 3)),
    (3, "single-chain multi-hop", "boolean"): (24, _single("boolean", 3)),
    (3, "multi-chain single-hop", "comparison"): (26, _side_by_side("comparison", (1, 1, 1))),
    (3, "multi-chain single-hop", "count"): (
        30,
        [*_side_by_side("count", (1, 1, 1)), partial(tally, type="count", length=0, size=3)],
    ),
    (3, "multi-chain multi-hop", "comparison"): (32, _side_by_side("comparison", (2, 1), (1, 2))),
    (3, "multi-chain multi-hop", "boolean"): (
        24,
        [*_side_by_side("boolean", (2, 1)), partial(places, type="boolean", length=1)],
    ),
    (3, "multi-chain multi-hop", "count"): (24, [partial(tally, type="count", length=1, size=2)]),
    (3, "multi-chain multi-hop", "query"): (22, [partial(meeting, type="query", lengths=(1, 1))]),
    (3, "multi-chain multi-hop", "qualifier"): (20, [partial(converging_detail, type="qualifier", lengths=(1, 1))]),
    (4, "single-chain multi-hop", "query"): (26, _single("query", 4)),
    (4, "single-chain multi-hop", "qualifier"): (20, _single("qualifier", 4)),
    (4, "single-chain multi-hop", "boolean"): (16, _single("boolean", 4)),
    (4, "multi-chain single-hop", "comparison"): (32, _side_by_side("comparison", (1, 1, 1, 1))),
    (4, "multi-chain single-hop", "count"): (
        32,
        [*_side_by_side("count", (1, 1, 1, 1)), partial(tally, type="count", length=0, size=4)],
    ),
    (4, "multi-chain multi-hop", "comparison"): (32, _side_by_side("comparison", (2, 2), (3, 1))),
    (4, "multi-chain multi-hop", "boolean"): (
        20,
        [*_side_by_side("boolean", (2, 2), (3, 1)), partial(places, type="boolean", length=2)],
    ),
    (4, "multi-chain multi-hop", "count"): (
        20,
        [
            partial(tally, type="count", length=1, size=3),
            partial(tally, type="count", length=2, size=2),
            *_side_by_side("count", (2, 2), (2, 1, 1)),
        ],
    ),
    (4, "multi-chain multi-hop", "query"): (
        16,
        [partial(meeting, type="query", lengths=(2, 1)), partial(meeting, type="query", lengths=(1, 2))],
    ),
    (4, "multi-chain multi-hop", "qualifier"): (
        16,
        [partial(converging_detail, type="qualifier", lengths=lengths) for lengths in ((2, 1), (1, 2))],
    ),
}


def quotas(total: int) -> dict[tuple[int, str, str], int]:
    """How many questions of each kind make ``total``, by the largest remainders of the plan's shares."""
    whole = sum(share for share, _ in PLAN.values())
    exact = {cell: total * share / whole for cell, (share, _) in PLAN.items()}
    counts = {cell: int(value) for cell, value in exact.items()}
    by_remainder = sorted(exact, key=lambda cell: counts[cell] - exact[cell])
    return {cell: counts[cell] + (place < total - sum(counts.values())) for place, cell in enumerate(by_remainder)}


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
            answers[_words(answer)] += 1
            made.append((draft, answer))
    rng.shuffle(made)
    return [(_question(f"{prefix}-{place:04d}", *item), item[0]) for place, item in enumerate(made)]


def _draw(
    pool: Pool, cell: tuple[int, str, str], asked: set[str], answers: Counter[str], count: int
) -> tuple[Draft, Answer]:
    hops, structure, type = cell
    patterns = PLAN[cell][1]
    for attempt in range(PATIENCE):
        # After half the patience any answer will do; before, no answer may fill more than its share.
        share = 0.55 if type in ("boolean", "count") else 0.34
        try:
            draft = pool.rng.choice(patterns)(pool)
            if draft is None or draft.text in asked or not sound(draft, hops, structure):
                continue
            answer = solve(pool.world, draft.expression)
        except NoAnswer:
            continue
        crowded = answers[_words(answer)] >= max(1, share * count) and attempt < PATIENCE / 2
        if not crowded and not leaks(draft, answer):
            return draft, answer
    raise InputError(
        f"expected more countries: no new {hops}-hop {structure} {type} question can be found", field="size"
    )


def sound(draft: Draft, hops: int, structure: str) -> bool:
    """Whether the supports are as many different passages as asked for, in the structure asked for."""
    passages = {fact.passage for fact in draft.supports}
    graph = EvidenceGraph(len(draft.supports), tuple(draft.edges))
    return len(passages) == len(draft.supports) == hops and graph.structure == structure


def leaks(draft: Draft, answer: Answer) -> bool:
    """Whether the question names its answer or a bridge on the way to it.

    A comparison's answer may be one of the things that it compares and names; yes and no are never named.
    """
    hidden = list(draft.hidden)
    if isinstance(answer, Entity) and draft.type != "comparison":
        hidden.append(answer)
    forms = [form for entity in hidden for form in called(entity)]
    if not isinstance(answer, Entity) and draft.type in ("query", "qualifier"):
        forms.append(_words(answer))
    return any(mentions(draft.text, form) for form in forms)


def called(entity: Entity) -> list[str]:
    """The names by which a text could give the entity away: name, aliases and the short forms that are part of them."""
    short = [entity.short] if entity.short in entity.name else []
    return [form.removeprefix("the ") for form in (*entity.surfaces, *short)]


def mentions(text: str, form: str) -> bool:
    """Whether the form stands in the text as whole words."""
    return re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text, re.IGNORECASE) is not None


def _words(answer: Answer) -> str:
    return answer if isinstance(answer, str) else text_of(answer)


def _question(id: str, draft: Draft, answer: Answer) -> Question:
    aliases: tuple[str, ...] = () if isinstance(answer, str) else answer.aliases
    if isinstance(answer, str) and answer.isdigit() and int(answer) < len(WORDS):
        aliases = (WORDS[int(answer)],)
    return Question(
        id=id,
        text=f"{draft.text[0].upper()}{draft.text[1:]}",
        answer=_words(answer),
        supporting=tuple((fact.passage,) for fact in draft.supports),
        aliases=aliases,
        type=draft.type,
        decomposition=tuple(draft.steps),
        evidence=EvidenceGraph(len(draft.supports), tuple(draft.edges)),
        triples=tuple(_triple(fact) for fact in (*draft.supports, *draft.also)),
    )


def _triple(fact: Fact) -> tuple[str, str, str]:
    return text_of(fact.subject), RELATIONS[fact.relation].label, text_of(fact.object)
