"""The language of phrasings and the solver, on examples worked out by hand."""

import random

import pytest

from kit.worlds.atlas import phrasings, solver
from kit.worlds.atlas.names import smooth
from kit.worlds.atlas.solver import NoAnswer, named, object_of, solve, subject_of
from kit.worlds.atlas.wording import text_of
from kit.worlds.atlas.world import World, year


def fill(text: str, seed: int = 0, trade: str = "apothecary", **slots: str) -> str:
    return phrasings.fill(text, random.Random(seed), slots.__getitem__, {"trade": [trade]})


def test_choices_slots_and_pools():
    seen = {
        fill(
            "{x} [was|became] a(n) <trade>[| in {y} [then|{z}]]", seed, x="Mara", y="Holt", z="now"
        )
        for seed in range(99)
    }
    ends = ("", " in Holt then", " in Holt now")
    assert seen == {f"Mara {verb} an apothecary{end}" for verb in ("was", "became") for end in ends}
    assert phrasings.slots("{a} [b|{c} [d|{e}]]") == ["a", "c", "e"]


def test_articles_and_plurals_follow_the_word():
    assert fill("a(n) {x}", x="oboe") == "an oboe" and fill("A(n) {x}", x="flute") == "A flute"
    plurals = {
        "weaver": "weavers",
        "seamstress": "seamstresses",
        "notary": "notaries",
        "turnkey": "turnkeys",
    }
    for word, plural in (plurals | {"coach": "coaches"}).items():
        assert (
            fill("A family of <trade>(s), and so on.", trade=word)
            == f"A family of {plural}, and so on."
        )
    assert smooth("Calaano") == "Calano" and smooth("Torrrik") == "Torrik"


def test_the_solver_follows_counts_compares_and_judges():
    """Ann directed One (1930) and Two (1940), her husband Bo Three (1950)."""
    world = World()
    world.families.append([])
    ann, bo = (world.entity("person", name, 0) for name in ("Ann", "Bo"))
    world.add(ann, "spouse", bo, year=1941)
    films = []
    for title, director, released in (("One", ann, 1930), ("Two", ann, 1940), ("Three", bo, 1950)):
        films.append(named(film := world.entity("film", title, 0)))
        world.add(film, "director", director)
        world.add(film, "year", year(released))
    directors = [object_of("film.director", film) for film in films]
    films_of_ann = subject_of("film.director", named(ann))
    for expression, text in (
        (directors[1], "Ann"),
        (subject_of("film.director", named(bo)), "Three"),
        (object_of("person.spouse", named(bo)), "Ann"),  # marriage is mutual
        (object_of("film.year", films[2]), "1950"),
        (solver.extreme("film.year", films, largest=True), "Three"),
        (solver.extreme("film.year", films, largest=False), "One"),
        (solver.detail("person.spouse", "year", named(bo)), "1941"),
        (solver.size_of(films_of_ann), "2"),
        (solver.below("film.year", films, 1945), "2"),
        (solver.same(directors[0], directors[1]), "yes"),
        (solver.same(directors[0], directors[2]), "no"),
        (solver.truth(solver.below("film.year", films[2:], 1945)), "no"),
        (
            solver.every(
                (subject_of("film.director", directors[2]), subject_of("film.director", named(bo)))
            ),
            "Three",
        ),
    ):
        assert text_of(solve(world, expression)) == text
    for several in (films_of_ann, solver.extreme("film.year", [films[0], films[0]], largest=True)):
        with pytest.raises(NoAnswer):
            solve(world, several)
