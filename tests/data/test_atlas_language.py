"""The language of phrasings and the solver, on examples worked out by hand."""

from __future__ import annotations

import random

import pytest
from kit_data_atlas import solver
from kit_data_atlas.grammar import compile_template
from kit_data_atlas.names import smooth
from kit_data_atlas.solver import Expression, NoAnswer, named, object_of, solve, subject_of
from kit_data_atlas.world import World, year


def fill(text: str, seed: int = 0, trade: str = "apothecary", **slots: str) -> str:
    return compile_template(text).fill(random.Random(seed), slots.__getitem__, {"trade": [trade]})


def test_choices_slots_and_pools():
    seen = {fill("{x} [was|became] a(n) <trade>[| in {y}]", seed, x="Mara", y="Holt") for seed in range(40)}
    begins = ("Mara was an apothecary", "Mara became an apothecary")
    assert seen == {f"{begin}{end}" for begin in begins for end in ("", " in Holt")}
    assert compile_template("{a} [b|{c} [d|{e}]]").slots == ("a", "c", "e")
    with pytest.raises(ValueError, match="unclosed"):
        compile_template("[this|that")


def test_articles_and_plurals_follow_the_word():
    assert fill("a(n) {x}", x="oboe") == "an oboe" and fill("A(n) {x}", x="flute") == "A flute"
    plurals = {"weaver": "weavers", "seamstress": "seamstresses", "notary": "notaries", "turnkey": "turnkeys"}
    for word, plural in (plurals | {"coach": "coaches"}).items():
        assert fill("A family of <trade>(s), and so on.", trade=word) == f"A family of {plural}, and so on."
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


def test_the_solver_follows_counts_compares_and_judges(world):
    def of(name: str) -> Expression:
        return named(next(entity for entity in world.entities if entity.name == name))

    films = [of(name) for name in ("One", "Two", "Three")]
    director = object_of("film.director", of("Two"))
    directors = [object_of("film.director", film) for film in films]
    for expression, name in (
        (director, "Ann"),
        (subject_of("film.director", of("Bo")), "Three"),
        (object_of("person.spouse", of("Bo")), "Ann"),  # marriage is mutual
        (object_of("person.spouse", of("Ann")), "Bo"),
        (solver.extreme("film.year", films, largest=True), "Three"),
        (solver.extreme("film.year", films, largest=False), "One"),
    ):
        assert solve(world, expression).name == name
    assert solve(world, object_of("person.birth_date", director)).text == "1900"
    for expression, text in (
        (solver.detail("person.spouse", "year", of("Bo")), "1941"),
        (solver.size_of(subject_of("film.director", of("Ann"))), "2"),
        (solver.below("film.year", films, 1945), "2"),
        (solver.same(directors[0], directors[1]), "yes"),
        (solver.same(directors[0], directors[2]), "no"),
        (solver.truth(solver.below("film.year", films[2:], 1945)), "no"),
    ):
        assert solve(world, expression) == text
    films_of_ann = subject_of("film.director", of("Ann"))
    same_twice = solver.every((subject_of("film.director", object_of("person.spouse", of("Bo"))), films_of_ann))
    for several in (films_of_ann, solver.extreme("film.year", [films[0], films[0]], largest=True), same_twice):
        with pytest.raises(NoAnswer):
            solve(world, several)
