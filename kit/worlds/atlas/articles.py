"""Articles from facts: one or two passages that stand by themselves.

Every fact is stated in exactly one of them.
"""

from random import Random

from kit.corpus.types import Passage
from kit.worlds.atlas.phrasings import Part
from kit.worlds.atlas.world import Entity, Fact, World
from kit.worlds.atlas.writer import Writer

ONE_PASSAGE = 0.2  # the share of articles in two parts that are written as one passage


def add_titles(world: World) -> None:
    """Give every article its title.

    Those of one name are told apart in brackets, as encyclopedias do.
    """
    bearers: dict[str, list[Entity]] = {}
    for entity in world.entities:
        bearers.setdefault(entity.name, []).append(entity)

    for name, entities in bearers.items():
        plain = name[:1].upper() + name[1:]
        for entity in entities:
            entity.title = f"{plain} ({entity.sort})" if len(entities) > 1 else plain


def write_article(world: World, entity: Entity, rng: Random) -> list[Passage]:
    """The passages of an entity's article.

    Its facts are marked with the passages and sentences that state them.
    """
    facts = {fact.relation.partition(".")[2]: fact for fact in world.about[entity.id]}
    passages = []
    parts = world.language.parts[entity.details.get("profession", entity.kind)]
    for part in _fitting(parts, facts, rng):
        passage_id = f"a{entity.id:05d}-{len(passages)}"
        stated = {name: facts[name] for name in part.facts if name in facts}
        for fact in stated.values():
            fact.passage = passage_id
        writer = Writer(
            world.language,
            entity,
            stated,
            part,
            not passages,
            rng,
        )
        passages.append(
            Passage(
                passage_id,
                entity.title,
                writer.text(),
                f"a{entity.id:05d}",
                len(passages),
            )
        )
        entity.matter += writer.filler
    return passages


def _fitting(parts: tuple[Part, ...], facts: dict[str, Fact], rng: Random) -> tuple[Part, ...]:
    """Life and work of a person apart, or as one where little is known of the work."""
    if len(parts) == 1:
        return parts

    life, work = parts
    n_known = sum(name in facts for name in work.facts)
    if rng.random() >= ONE_PASSAGE and n_known >= 2:
        return parts
    order = (*life.facts[:2], *work.facts, *life.facts[2:])
    return (Part(order, life.filler + work.filler, life.opening),)
