"""The worlds that networks learn from: of the atlas's program, by other seeds."""

from collections.abc import Sequence
from dataclasses import replace

from kit.corpus import Benchmark, Question, load
from kit.errors import InputError
from kit.worlds import atlas

FIRST_SEED = 401


def training_worlds(n: int, **size: str | int) -> list[Benchmark]:
    """So many worlds to learn from; the dev questions of the first one choose checkpoints.

    ``train`` of the first world holds the questions of its training documents, that of the others
    all their questions. No world has test questions, and none shares a question or a support's
    title with dev and test of the embedded atlas. ``size`` is that of
    :func:`kit.worlds.atlas.generate`.
    """
    test_world = load()
    worlds = []
    for seed in range(FIRST_SEED, FIRST_SEED + n):
        world = atlas.generate(seed, **size)
        learning = [*world.train, *world.test]
        choosing = world.dev
        if worlds:
            learning += choosing
            choosing = ()
        worlds.append(
            replace(
                world,
                name=f"world-{seed}",
                train=_apart(world, learning, test_world),
                dev=_apart(world, choosing, test_world),
                test=(),
            )
        )

    expect_apart(worlds, test_world)
    return worlds


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
