"""The worlds that networks learn from."""

from dataclasses import replace

import pytest

from kit.corpus import load
from kit.errors import InputError
from kit.worlds import atlas
from kit.worlds.networks.worlds import expect_apart, training_worlds


def test_the_first_world_has_the_questions_that_choose_checkpoints():
    first, second = training_worlds(2, size="small")
    assert len(first.dev) > 30 and not second.dev
    assert 120 < len(first.train) < len(second.train) <= 200
    assert not first.test and not second.test and first.corpus.hash != second.corpus.hash


def test_no_question_of_the_test_world_and_no_title_of_a_support_is_learned():
    test_world = load()
    worlds = training_worlds(1)
    expect_apart(worlds, test_world)
    [world] = worlds
    assert len(world.train) < 1100  # some short titles recur by chance
    with pytest.raises(InputError, match="nothing of atlas's dev and test questions"):
        expect_apart([atlas.generate(401)], test_world)

    question = replace(test_world, train=test_world.dev[:1], dev=(), test=())
    with pytest.raises(InputError, match=test_world.dev[0].id):
        expect_apart([question], test_world)
    expect_apart([replace(test_world, dev=(), test=())], test_world)
