"""Writes one passage: which sentence comes next, and what it calls its subject."""

import re
from random import Random

from kit.worlds.atlas.names import title
from kit.worlds.atlas.phrasings import Language, Part, fill, slots
from kit.worlds.atlas.world import Entity, Fact, Literal

#: How many words a passage aims at, from and to, with unrelated matter after its facts.
LENGTHS = ((0, 0), (45, 85), (165, 205))
SHARES = (0.28, 0.63, 0.09)  # how often it aims at each length
EARLY_FILLER = 0.12  # the share of sentences between facts that state none
JOINED = 0.3  # the share of pairs of short sentences that become one
PRONOUNS = ("he", "him", "his", "himself")


Sentence = tuple[str, list[Fact]]  # and the facts that it states
Predicate = tuple[str, Fact]  # a phrasing that begins with the subject, and the fact that fills it


class Writer:
    """Writes the passage of ``facts`` (by relation) as one part of an entity's article."""

    def __init__(
        self,
        language: Language,
        entity: Entity,
        facts: dict[str, Fact],
        part: Part,
        first: bool,
        rng: Random,
    ) -> None:
        self.language = language
        self.entity = entity
        self.pending = facts
        self.opening = part.opening
        self.rng = rng
        self.last = ""  # what the subject was called last
        self.sentences: list[Sentence] = []
        self.stated: list[Fact] = []  # by the sentence in the making

        fitting = part.filler
        if "died" not in entity.details:
            fitting = [text for text in fitting if not text.startswith("{dead}")]
        telling = [text for text in fitting if "{alias}" in text]
        self.alias = ""  # the phrasing that tells the subject's other name
        if telling and entity.aliases and first:
            self.alias = rng.choice(telling)
        self.filler = [text for text in fitting if "{alias}" not in text]
        rng.shuffle(self.filler)

        forms = language.lexicon["pronouns"][entity.gender or "things"]
        self.pronouns = dict(zip(PRONOUNS, forms))
        self.fixed = _fixed_words(entity)

    def text(self, bounds: tuple[int, int] | None = None) -> str:
        """An opening that names the subject, its aliases, then facts.

        Unrelated matter fills the passage up to a length between the bounds, by default those that
        are drawn from :data:`LENGTHS`.
        """
        bounds = bounds or self.rng.choices(LENGTHS, SHARES)[0]
        target = self.rng.randint(*bounds)
        self._say(self._opening())
        if self.alias:
            self._say(self._fill(self.alias))
        while self.pending or (self.filler and self._n_words() < target):
            self._say(self._filler_or_fact(target))

        sentences = self._joined()
        for sentence, facts in sentences:
            for fact in facts:
                fact.sentence = sentence
        return " ".join(sentence for sentence, _ in sentences)

    def _take(self, relation: str) -> Fact:
        """A pending fact, which the sentence in the making is to state."""
        fact = self.pending.pop(relation)
        self.stated.append(fact)
        return fact

    def _say(self, sentence: str) -> None:
        self.sentences.append((sentence, self.stated))
        self.stated = []

    def _n_words(self) -> int:
        return sum(len(sentence.split()) for sentence, _ in self.sentences)

    def _filler_or_fact(self, target: int) -> str:
        if self.filler and target:
            if not self.pending or self.rng.random() < EARLY_FILLER:
                return self._fill(self.filler.pop())
        return self._sentence()

    def _joined(self) -> list[Sentence]:
        """The sentences with their ends; some pairs of short ones are made one."""
        joined = self.sentences[:1]
        for sentence, facts in self.sentences[1:]:
            before, facts_before = joined[-1]
            short = len(joined) > 1 and _is_simple(before) and _is_simple(sentence)
            if short and self.rng.random() < JOINED:
                link = self.rng.choice((";", ", and"))
                joined[-1] = (f"{before}{link} {sentence}", facts_before + facts)
            else:
                joined.append((sentence, facts))
        return [(f"{text[0].upper()}{text[1:]}.", facts) for text, facts in joined]

    def _opening(self) -> str:
        """One of the openings all of whose facts are pending."""
        kind = self.entity.kind
        all_relations = self.language.relations
        fitting = []
        for text in self.opening:
            relations = {name for name in slots(text) if f"{kind}.{name}" in all_relations}
            if relations <= self.pending.keys():
                fitting.append(text)

        text = self.rng.choice(fitting)
        facts = {name: self._take(name) for name in slots(text) if name in self.pending}
        return self._fill(text, **facts)

    def _sentence(self) -> str:
        """The next fact, often in one sentence with the one after it."""
        rng = self.rng
        fact = self._take(next(iter(self.pending)))
        relation = fact.phrasings
        if relation.opens and rng.random() < 0.4:
            following = self._predicate()
            if following:
                lead = self._fill(rng.choice(relation.opens), fact)
                return f"{lead}, {self._fill(*following)}"

        phrasing = rng.choice(relation.says)
        sentence = self._fill(phrasing, fact)
        is_plain = phrasing.startswith("{S} ") and not re.search(", | and ", sentence)
        if is_plain and len(sentence.split()) < 15 and rng.random() < 0.65:
            following = self._predicate()
            if following:
                phrasing, fact = following
                more = self._fill(phrasing.removeprefix("{S} "), fact)
                return f"{sentence} and {more}"
        return sentence

    def _predicate(self) -> Predicate | None:
        """A phrasing of the next fact that begins with the subject."""
        if not self.pending:
            return None
        name, fact = next(iter(self.pending.items()))
        says = fact.phrasings.says
        fitting = [text for text in says if text.startswith("{S} ")]
        if not fitting:
            return None
        return self.rng.choice(fitting), self._take(name)

    def _fill(self, phrasing: str, main: Fact | None = None, **facts: Fact) -> str:
        """The sentence: about a main fact or, in an opening, facts by the names of their slots."""

        def slot(name):
            fact = main if name == "o" else facts.get(name)
            if fact:
                return self._mention(fact.object)
            detail = _detail(main, name) if main else None
            return self._subject(name) if detail is None else detail

        return fill(
            phrasing,
            self.rng,
            slot,
            self.language.lexicon["pools"],
        )

    def _subject(self, name: str) -> str:
        """What fills a slot about the subject itself, and a few others."""
        if name == "S":
            return self._reference(self.pronouns["he"])
        if name == "S's":
            reference = self._reference(self.pronouns["his"])
            return reference if reference == self.pronouns["his"] else _possessive(reference)
        if name == "opus":
            return title(self.rng, self.language.lexicon["titles"])
        if name == "N":
            self.last = "name"
        if name not in self.pronouns:
            return self.fixed[name]
        self.last = "pronoun"
        return self.pronouns[name]

    def _mention(self, mentioned: Entity | Literal) -> str:
        """How a sentence names the object of a fact."""
        if isinstance(mentioned, Literal):
            return mentioned.text
        if mentioned.kind == self.entity.kind == "person":
            self.last = "other"  # a pronoun could mean either of the two
        if mentioned.aliases and self.rng.random() < 0.15:
            return self.rng.choice(mentioned.aliases)
        return f"the {mentioned.name}" if mentioned.kind == "river" else mentioned.name

    def _reference(self, pronoun: str) -> str:
        """The subject's pronoun, a word for its kind or its short name."""
        self.last = self._next_reference()
        if self.last == "name":
            return self.entity.short
        if self.last == "pronoun":
            return pronoun
        return self.rng.choice(self.language.lexicon["generic"][self.entity.kind])

    def _next_reference(self) -> str:
        """What to call the subject, by what was used just before."""
        rng = self.rng
        is_person = self.entity.kind == "person"
        repeats = self.last == "pronoun"
        if self.last == "other" or (is_person and repeats and rng.random() < 0.25):
            return "name"
        if is_person or self.last == "generic" or rng.random() < 0.5:
            return "pronoun"
        return "name" if repeats and rng.random() < 0.3 else "generic"


def _fixed_words(entity: Entity) -> dict[str, str]:
    """What fills the slots that do not depend on the sentence."""
    return {
        "N": entity.name,
        "alias": "".join(entity.aliases[:1]),
        "dead": "",  # marks what is only said of the dead
        "was": "was" if "died" in entity.details else "is",
        "son": "daughter" if entity.gender == "women" else "son",
        **entity.details,
    }


def _detail(fact: Fact, name: str) -> str | None:
    """What fills a slot by the main fact of a sentence; None where it does not say."""
    if name == "list":
        return fact.object.text
    if name == "wife":
        return "wife" if fact.object.gender == "women" else "husband"
    return fact.qualifiers.get(name)


def _possessive(name: str) -> str:
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def _is_simple(sentence: str) -> bool:
    """Whether a sentence is short and plain enough to be joined to another."""
    return len(sentence.split()) < 12 and not re.search("[,;:] | and ", sentence)
