"""The worlds that networks learn from."""

from dataclasses import replace

import pytest

from kit.corpus import load
from kit.errors import InputError
from kit.methods import make
from kit.paths import NETWORKS
from kit.worlds import atlas
from kit.worlds.networks.generate import RECIPES
from kit.worlds.networks.worlds import expect_apart, training_worlds


def test_a_held_out_world_chooses_checkpoints_and_the_others_teach():
    held_out, first, second = training_worlds(2, size="small")
    assert len(held_out.dev) > 30 and not held_out.train
    for world in (first, second):
        assert 150 < len(world.train) <= 200 and not world.dev
    assert len({world.corpus.hash for world in (held_out, first, second)}) == 3
    assert not held_out.test and not first.test and not second.test


def test_no_question_of_the_test_world_and_no_title_of_a_support_is_learned():
    test_world = load()
    worlds = training_worlds(1)
    expect_apart(worlds, test_world)
    assert 1200 < len(worlds[1].train) < 1300  # some short titles recur by chance
    with pytest.raises(InputError, match="nothing of atlas's dev and test questions"):
        expect_apart([atlas.generate(401)], test_world)

    question = replace(test_world, train=test_world.dev[:1], dev=(), test=())
    with pytest.raises(InputError, match=test_world.dev[0].id):
        expect_apart([question], test_world)
    expect_apart([replace(test_world, dev=(), test=())], test_world)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_has_a_methods_settings_and_its_folder(name: str):
    method = make(name.partition("/")[0], start="untrained", **RECIPES[name].settings)
    assert method.shipped_folder == NETWORKS / name
