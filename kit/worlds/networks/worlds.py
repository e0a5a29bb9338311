"""The worlds that networks learn from: of the atlas's program, by other seeds."""

from collections.abc import Sequence
from dataclasses import replace

from kit.corpus import Benchmark, Question, load, single_facts
from kit.errors import InputError
from kit.worlds import atlas

HELD_OUT_SEED = 400
FIRST_SEED = 401
CROWDED = 4  # one of so many worlds is


def training_worlds(n: int, **size: str | int) -> list[Benchmark]:
    """A world that is held out, and ``n`` to learn from.

    The held-out world comes first. It has only dev questions, which choose checkpoints; the others
    have only training questions, some 1,280. Names, wordings and templates are drawn anew for each
    world; every fourth is crowded, with many things of like names. None shares a question or a
    support's title with dev and test of the embedded atlas. ``size`` is that of
    :func:`kit.worlds.atlas.generate`: ``training_worlds(5, large_graphs=True)`` has questions of 5
    to 10 facts each.
    """
    test_world = load()
    seeds = (HELD_OUT_SEED, *range(FIRST_SEED, FIRST_SEED + n))
    worlds = [_world(seed, test_world, **size) for seed in seeds]
    expect_apart(worlds, test_world)
    return worlds


def fact_worlds(n: int, **size: str | int) -> list[Benchmark]:
    """The same, each question with its own 25 facts."""
    return [single_facts(world) for world in training_worlds(n, **size)]


def _world(seed: int, test_world: Benchmark, **size: str | int) -> Benchmark:
    """A world of its own words, without the questions that it shares with the test world."""
    is_held_out = seed == HELD_OUT_SEED
    world = atlas.generate(
        seed,
        own_words=True,
        crowded=seed % CROWDED == 0 and not is_held_out,
        **size,
    )
    teaching = (*world.train, *world.dev, *world.test)
    choosing = ()
    if is_held_out:
        teaching, choosing = choosing, world.dev
    return replace(
        world,
        name=f"world-{seed}",
        train=_apart(world, teaching, test_world),
        dev=_apart(world, choosing, test_world),
        test=(),
    )


def expect_apart(worlds: Sequence[Benchmark], test_world: Benchmark) -> None:
    """Raise InputError for a question of a world that stands in dev or test of another.

    So does one of whose supports' titles is that of a support there.
    """
    for world in worlds:
        questions = [*world.train, *world.dev, *world.test]
        apart = _apart(world, questions, test_world)
        if len(apart) < len(questions):
            first = next(question for question in questions if question not in apart)
            raise InputError(
                f"expected nothing of {test_world.name}'s dev and test questions in {world.name}",
                record=first.id,
            )


def _apart(
    world: Benchmark,
    questions: Sequence[Question],
    test_world: Benchmark,
) -> list[Question]:
    """The questions that share no text and no support's title with the test world's."""
    tested = [*test_world.dev, *test_world.test]
    texts = {question.text for question in tested}
    titles = set()
    for question in tested:
        titles |= _titles(test_world, question)
    return [
        question
        for question in questions
        if question.text not in texts and titles.isdisjoint(_titles(world, question))
    ]


def _titles(world: Benchmark, question: Question) -> set[str]:
    """The titles of the question's supports."""
    return {world.corpus[passage_id].title for passage_id in question.supporting_ids}
