"""Articles from facts: one or two passages that stand by themselves, and every fact is stated in exactly one."""

import random
import re

from kit.corpus.types import Passage
from kit.worlds.atlas.names import title
from kit.worlds.atlas.phrasings import LEXICON, PARTS, RELATIONS, Part, fill, slots
from kit.worlds.atlas.world import Entity, Fact, World

#: How many words a passage aims at with unrelated matter after its facts, from and to, and how often.
LENGTHS = {(0, 0): 0.28, (45, 85): 0.63, (165, 205): 0.09}
Predicate = tuple[str, dict[str, Fact]]  # a phrasing, and the facts that fill it


def titles(world: World) -> None:
    """Give every article its title. Things of one name are told apart in brackets, as encyclopedias do."""
    bearers: dict[str, list[Entity]] = {}
    for entity in world.entities:
        bearers.setdefault(entity.name, []).append(entity)
    for name, entities in bearers.items():
        for entity in entities:
            plain = name[:1].upper() + name[1:]
            entity.title = f"{plain} ({entity.sort})" if len(entities) > 1 else plain


def write_article(world: World, entity: Entity, rng: random.Random) -> list[Passage]:
    """The passages of an entity's article; marks its facts with the passages and sentences that state them."""
    facts = {fact.relation.partition(".")[2]: fact for fact in world.of[entity.id]}
    parts, passages = PARTS[entity.details.get("profession", entity.kind)], []
    if len(parts) > 1 and (rng.random() < 0.2 or sum(name in facts for name in parts[1].facts) < 2):
        life, work = parts
        order = (*life.facts[:2], *work.facts, *life.facts[2:])
        parts = (Part(order, (*life.filler, *work.filler), life.opening),)
    for part in parts:
        stated = {name: facts[name] for name in part.facts if name in facts}
        id = f"a{entity.id:05d}-{len(passages)}"
        for fact in stated.values():
            fact.passage = id
        text = Writer(entity, stated, part, not passages, rng).text()
        passages.append(Passage(id, entity.title, text, f"a{entity.id:05d}", len(passages)))
    return passages


class Writer:
    """Writes one passage: which sentence comes next, and what it calls its subject."""

    def __init__(
        self, entity: Entity, facts: dict[str, Fact], part: Part, first: bool, rng: random.Random
    ) -> None:
        self.entity, self.pending, self.opening, self.rng = entity, facts, part.opening, rng
        known = [
            text
            for text in part.filler
            if "died" in entity.details or not text.startswith("{dead}")
        ]
        aliases = [text for text in known if "{alias}" in text]
        self.alias = rng.choice(aliases) if aliases and entity.aliases and first else ""
        self.filler = [text for text in known if "{alias}" not in text]
        rng.shuffle(self.filler)
        self.last = ""
        self.pronouns = dict(
            zip(("he", "him", "his", "himself"), LEXICON["pronouns"][entity.gender or "things"])
        )
        self.fixed = {
            "N": entity.name,
            "alias": "".join(entity.aliases[:1]),
            "dead": "",
        }  # only said of the dead
        self.fixed |= {"was": "was" if "died" in entity.details else "is"} | entity.details
        self.fixed |= {"son": "daughter" if entity.gender == "women" else "son"}

    def text(self) -> str:
        """An opening that names the subject, its aliases, then facts, and unrelated matter up to the wanted length."""
        target = self.rng.randint(*self.rng.choices(list(LENGTHS), LENGTHS.values())[0])
        sentences: list[tuple[str, list[Fact]]] = []
        untold = dict(self.pending)

        def say(sentence: str) -> None:
            """Add a sentence, and the facts that are no longer pending since it is made."""
            sentences.append(
                (sentence, [untold.pop(name) for name in untold.keys() - self.pending.keys()])
            )

        say(self._opening())
        if self.alias:
            say(self._fill(self.alias, {}))
        while self.pending or (
            self.filler and sum(len(text.split()) for text, _ in sentences) < target
        ):
            if self.filler and target and (not self.pending or self.rng.random() < 0.12):
                say(self._fill(self.filler.pop(), {}))
            else:
                say(self._sentence())
        joined: list[tuple[str, list[Fact]]] = []  # some pairs of short sentences are made one
        for place, (text, facts) in enumerate(sentences):
            if place > 1 and _simple(joined[-1][0]) and _simple(text) and self.rng.random() < 0.3:
                before, its = joined[-1]
                joined[-1] = f"{before}{self.rng.choice((';', ', and'))} {text}", its + facts
            else:
                joined.append((text, facts))
        whole = [f"{text[0].upper()}{text[1:]}." for text, _ in joined]
        for sentence, (_, facts) in zip(whole, joined):
            for fact in facts:
                fact.sentence = sentence
        return " ".join(whole)

    def _opening(self) -> str:
        """One of the openings all of whose facts are known."""
        kind = self.entity.kind
        needs = {
            text: {it for it in slots(text) if f"{kind}.{it}" in RELATIONS} for text in self.opening
        }
        text = self.rng.choice(
            [text for text in self.opening if needs[text] <= self.pending.keys()]
        )
        return self._fill(
            text, {name: self.pending.pop(name) for name in slots(text) if name in self.pending}
        )

    def _sentence(self) -> str:
        """The next fact, often in one sentence with the one after it."""
        fact = self.pending.pop(next(iter(self.pending)))
        relation, rng = RELATIONS[fact.relation], self.rng
        if relation.opens and rng.random() < 0.4 and (following := self._predicate()):
            lead = self._fill(rng.choice(relation.opens), {"o": fact})
            return f"{lead}, {self._fill(*following)}"
        text = rng.choice(relation.says)
        sentence = self._fill(text, {"o": fact})
        plain = (
            text.startswith("{S} ")
            and not re.search(", | and ", sentence)
            and len(sentence.split()) < 15
        )
        if plain and rng.random() < 0.65 and (following := self._predicate()):
            sentence += f" and {self._fill(following[0].removeprefix('{S} '), following[1])}"
        return sentence

    def _predicate(self) -> Predicate | None:
        """A phrasing of the next fact that begins with the subject."""
        name = next(iter(self.pending), "")
        says = RELATIONS[self.pending[name].relation].says if name else ()
        fits = [text for text in says if text.startswith("{S} ")]
        return (self.rng.choice(fits), {"o": self.pending.pop(name)}) if fits else None

    def _fill(self, text: str, facts: dict[str, Fact]) -> str:
        main, pronouns = facts.get("o"), self.pronouns

        def slot(name: str) -> str:
            if name in facts:
                return self._mention(facts[name].object)
            if main and name == "list":
                return main.object.text
            if main and name in main.qualifiers:
                return main.qualifiers[name]
            if name == "S":
                return self._reference(pronouns["he"])
            if name == "S's":
                called = self._reference(pronouns["his"])
                return (
                    called
                    if called == pronouns["his"]
                    else f"{called}'"
                    if called.endswith("s")
                    else f"{called}'s"
                )
            if name in pronouns:
                self.last = "pronoun"
                return pronouns[name]
            if name == "N":
                self.last = "name"
            if name == "wife":
                return "wife" if main.object.gender == "women" else "husband"
            return title(self.rng) if name == "opus" else self.fixed[name]

        return fill(text, self.rng, slot)

    def _mention(self, thing: object) -> str:
        if not isinstance(thing, Entity):
            return thing.text
        if thing.kind == "person" == self.entity.kind:
            self.last = "other"  # a pronoun could mean either of the two
        if thing.aliases and self.rng.random() < 0.15:
            return self.rng.choice(thing.aliases)
        return f"the {thing.name}" if thing.kind == "river" else thing.name

    def _reference(self, pronoun: str) -> str:
        """The subject's pronoun, a word for its kind or its short name, by what was used just before."""
        person, rng = self.entity.kind == "person", self.rng
        generic = LEXICON["generic"].get(self.entity.kind, ())
        if self.last == "other" or (person and self.last == "pronoun" and rng.random() < 0.25):
            self.last = "name"
        elif person or self.last == "generic" or rng.random() < 0.5:
            self.last = "pronoun"
        else:
            self.last = "name" if self.last == "pronoun" and rng.random() < 0.3 else "generic"
        return {"name": self.entity.short, "pronoun": pronoun}.get(self.last) or rng.choice(generic)


def _simple(sentence: str) -> bool:
    """Whether a sentence is short and plain enough to be joined to another."""
    return len(sentence.split()) < 12 and not re.search("[,;:] | and ", sentence)
