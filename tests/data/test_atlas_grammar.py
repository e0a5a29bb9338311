"""The language of phrasings and the solver, on examples worked out by hand."""

from __future__ import annotations

import random

import pytest
from kit_data_atlas import solver
from kit_data_atlas.grammar import compile_template
from kit_data_atlas.names import smooth
from kit_data_atlas.solver import Named, NoAnswer, Object, Subject, solve
from kit_data_atlas.world import World, year


def fill(text: str, seed: int = 0, **slots: str) -> str:
    return compile_template(text).fill(random.Random(seed), slots.__getitem__, {"trade": ["apothecary"]})


def test_choices_slots_and_pools():
    seen = {fill("{x} [was|became] a(n) <trade>[| in {y}]", seed, x="Mara", y="Holt") for seed in range(40)}
    assert seen == {
        "Mara was an apothecary",
        "Mara became an apothecary",
        "Mara was an apothecary in Holt",
        "Mara became an apothecary in Holt",
    }


def test_articles_follow_the_sound():
    assert fill("a(n) {x}", x="oboe") == "an oboe"
    assert fill("A(n) {x}", x="flute") == "A flute"


def test_slots_are_listed():
    assert compile_template("{a} [b|{c} [d|{e}]]").slots == ("a", "c", "e")


def test_an_unclosed_choice_is_refused():
    with pytest.raises(ValueError, match="unclosed"):
        compile_template("[this|that")


def test_smooth_joins():
    assert smooth("Calaano") == "Calano" and smooth("Torrrik") == "Torrik"


@pytest.fixture
def world() -> World:
    """Two films of one director, a third of another; the first two born in 1900 and 1920."""
    world = World()
    world.families.append([])
    ann, bo = (world.entity("person", name, 0) for name in ("Ann", "Bo"))
    for person, born in ((ann, 1900), (bo, 1920)):
        world.add(person, "birth_date", year(born))
    for title, director, released in (("One", ann, 1930), ("Two", ann, 1940), ("Three", bo, 1950)):
        film = world.entity("film", title, 0)
        world.add(film, "director", director)
        world.add(film, "year", year(released))
    world.add(ann, "spouse", bo, year=1941)
    return world


def named(world: World, name: str) -> Named:
    return Named(next(entity for entity in world.entities if entity.name == name))


def test_solver_follows_facts_both_ways(world):
    director = Object("film.director", named(world, "Two"))
    assert solve(world, director).name == "Ann"
    assert solve(world, Object("person.birth_date", director)).text == "1900"
    assert solve(world, Subject("film.director", named(world, "Bo"))).name == "Three"
    with pytest.raises(NoAnswer):
        solve(world, Subject("film.director", named(world, "Ann")))


def test_solver_knows_that_marriage_is_mutual(world):
    assert solve(world, Object("person.spouse", named(world, "Bo"))).name == "Ann"
    assert solve(world, Object("person.spouse", named(world, "Ann"))).name == "Bo"
    assert solve(world, solver.Detail("person.spouse", "year", named(world, "Bo"))) == "1941"


def test_solver_counts_compares_and_judges(world):
    films = tuple(named(world, name) for name in ("One", "Two", "Three"))
    assert solve(world, solver.Size(Subject("film.director", named(world, "Ann")))) == "2"
    assert solve(world, solver.Below("film.year", films, 1945)) == "2"
    assert solve(world, solver.Extreme("film.year", films, largest=True)).name == "Three"
    assert solve(world, solver.Extreme("film.year", films, largest=False)).name == "One"
    directors = [Object("film.director", film) for film in films]
    assert solve(world, solver.Same(directors[0], directors[1])) == "yes"
    assert solve(world, solver.Same(directors[0], directors[2])) == "no"
    assert solve(world, solver.Truth(solver.Below("film.year", films[2:], 1945))) == "no"


def test_solver_refuses_a_tie(world):
    films = (named(world, "One"), named(world, "One"))
    with pytest.raises(NoAnswer):
        solve(world, solver.Extreme("film.year", films, largest=True))


def test_solver_intersects(world):
    spouse_of_bo = Object("person.spouse", named(world, "Bo"))
    both = solver.All((Subject("film.director", spouse_of_bo), Subject("film.director", named(world, "Ann"))))
    with pytest.raises(NoAnswer):
        solve(world, both)


@pytest.mark.parametrize(
    ("word", "plural"),
    [
        ("weaver", "weavers"),
        ("seamstress", "seamstresses"),
        ("notary", "notaries"),
        ("turnkey", "turnkeys"),
        ("coach", "coaches"),
    ],
)
def test_plurals(word: str, plural: str) -> None:
    template = compile_template("A family of <trade>(s), and so on.")
    assert template.fill(random.Random(0), str, {"trade": [word]}) == f"A family of {plural}, and so on."
