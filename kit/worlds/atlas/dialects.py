"""Languages of a world's own: names, wordings and templates that are drawn anew.

What is learned on worlds of different languages is not a template. ``prose/dialects.toml`` has what
a language draws from beside the phrasings of the atlas.
"""

import re
from collections.abc import Sequence
from random import Random

import msgspec

from kit.worlds.atlas.phrasings import (
    PLAIN,
    Language,
    Lexicon,
    Part,
    Relation,
    Texts,
    read,
    slots,
)

TABLES = read("dialects")
SYNONYMS = TABLES["synonyms"]
FRAMES = TABLES["frames"]
_WORDS = sorted(map(re.escape, SYNONYMS), key=len, reverse=True)
#: A word of the synonyms that is no slot and no pool, as a whole.
_SYNONYM = re.compile(rf"(?<![\w<{{-])(?:{'|'.join(_WORDS)})(?![\w>}}-])")
_RULES = [(re.compile(rule["find"]), rule["into"]) for rule in TABLES["rules"]]
#: The fields of a relation of whose phrasings a language has some.
_CHOSEN = ("says", "asks", "noun", "clause", "verify", "same", "less", "more", "below")
REWRITTEN = 0.5  # the share of words with synonyms, and of phrasings with a rule, that change
N_TONGUES = 6
NAMESAKES = 0.35  # the share of names in a crowded language that take up an earlier one
SOUNDS = {
    "C": "b d f g j k l m n p r s t v w z br dr gr kl pr sh st th tr".split(),
    "V": "a e i o u ai ei oa ou ea y".split(),
    "K": "n r l s k m d nd rk lm st x sk ng th".split(),
}
#: How many consonants, vowels and codas a tongue has.
N_SOUNDS = {"C": 10, "V": 4, "K": 6}
#: The syllables of a tongue: how many, and their sounds.
SYLLABLES = {
    "start": (24, "CVC"),
    "middle": (8, "VC"),
    "surname": (10, "VK"),
    "city": (10, "VK"),
    "region": (5, "VK"),
    "river": (5, "VK"),
    "women": (16, "CVKV"),
    "men": (16, "CVCVK"),
}
N_COUNTRIES = 5  # endings of names of countries; their adjectives are the atlas's


def dialect(rng: Random) -> Language:
    """A language of its own: some of all phrasings, each rewritten, and other names."""
    relations = {}
    for name, plain in PLAIN.relations.items():
        relations[name] = _relation(rng, name, plain)

    parts = {}
    for kind, plain_parts in PLAIN.parts.items():
        drawn = []
        for position, part in enumerate(plain_parts):
            openings = TABLES["openings"].get(kind, TABLES["openings"]["person"])
            if position:
                openings = TABLES["openings"]["work"]
            drawn.append(_part(rng, part, openings))
        parts[kind] = tuple(drawn)
    return Language(relations, parts, _lexicon(rng))


def crowd(language: Language) -> Language:
    """The language in which many things have names alike."""
    lexicon = language.lexicon | {"namesakes": NAMESAKES}
    return language._replace(lexicon=lexicon)


def rewrite(rng: Random, text: str) -> str:
    """A phrasing in other words and, where a rule fits, in another order."""

    def synonym(match):
        word = match[0]
        return rng.choice(SYNONYMS[word]) if rng.random() < REWRITTEN else word

    for pattern, forms in _RULES:
        if pattern.search(text) and rng.random() < REWRITTEN:
            text = pattern.sub(rng.choice(forms), text)
    return _SYNONYM.sub(synonym, text)


def _rewritten(rng: Random, texts: Sequence[str]) -> Texts:
    return tuple(rewrite(rng, text) for text in texts)


def _some(rng: Random, texts: Sequence[str]) -> list[str]:
    """About half of them in any order, two at least if there are two."""
    half = (len(texts) + 1) // 2
    count = min(len(texts), max(2, half))
    return rng.sample(texts, count)


def _relation(rng: Random, name: str, plain: Relation) -> Relation:
    """The phrasings of a relation."""
    fields = msgspec.structs.asdict(plain)
    others = TABLES["relations"][name]
    fields["label"] = rng.choice(others["label"])
    for field in _CHOSEN:
        texts = [*fields[field], *others.get(field, ())]
        if field == "says" and not plain.qualifiers:
            texts += _as_asked(name, plain)
        if field == "asks" and plain.noun:
            frame = rng.choice(FRAMES["asks"])
            texts.append(frame.replace("{noun}", plain.noun[-1]))
        fields[field] = _rewritten(rng, _some(rng, texts))

    fields["opens"] = _rewritten(rng, plain.opens)
    fields["qualifiers"] = {}
    for qualifier, texts in plain.qualifiers.items():
        fields["qualifiers"][qualifier] = _rewritten(rng, texts)
    return msgspec.convert(fields, Relation)


def _as_asked(name: str, relation: Relation) -> list[str]:
    """Sentences of an article that are worded as the questions are."""
    subject = "the {N}" if name.startswith("river.") else "{N}"
    sentences = []
    for clause in relation.clause:
        stated = clause.replace("{x}", "{o}")
        sentences.append(f"{{S}} {stated}")
    for noun in relation.noun:
        stated = noun.replace("{x}", subject)
        sentences.append(f"{stated} is {{o}}")
    return sentences


def _part(rng: Random, plain: Part, others: Sequence[str]) -> Part:
    """A passage of an article; one opening at least is for those of whom little is known."""

    def n_facts(opening):
        return len(set(slots(opening)) & set(plain.facts))

    openings = rng.sample([*plain.opening, *others], len(plain.opening) + len(others))
    first, *more = sorted(openings, key=n_facts)
    telling = [text for text in plain.filler if "{alias}" in text]
    filler = [text for text in plain.filler if "{alias}" not in text]
    return Part(
        plain.facts,
        _rewritten(rng, telling + _some(rng, filler)),
        _rewritten(rng, [first, *_some(rng, more)]),
    )


def _lexicon(rng: Random) -> Lexicon:
    """The words of the language: what names and titles are made of, and nouns."""
    plain = PLAIN.lexicon
    lexicon = dict(plain)
    lexicon["date"] = rng.choice(TABLES["dates"]["forms"])
    lexicon["frames"] = FRAMES
    lexicon["verbs"] = plain["verbs"] | TABLES["verbs"]
    lexicon["tongues"] = [_tongue(rng) for _ in range(N_TONGUES)]
    for table in ("nouns", "generic", "titles", "pools"):
        lexicon[table] = dict(plain[table])
        for name, others in TABLES[table].items():
            words = plain[table][name]
            lexicon[table][name] = rng.sample([*words, *others], len(words))
    return lexicon


def _tongue(rng: Random) -> dict[str, list[str]]:
    """The sounds of a country's names, as those of ``prose/lexicon.toml``."""
    sounds = {}
    for sort, all_sounds in SOUNDS.items():
        sounds[sort] = rng.sample(all_sounds, N_SOUNDS[sort])

    tongue = {}
    for name, (count, shape) in SYLLABLES.items():
        syllables = set()
        while len(syllables) < count:
            letters = [rng.choice(sounds[sort]) for sort in shape]
            syllables.add("".join(letters))
        tongue[name] = sorted(syllables)

    for name in ("start", "women", "men"):
        tongue[name] = [word.capitalize() for word in tongue[name]]
    tongue["country"] = rng.sample(list(PLAIN.lexicon["demonyms"]), N_COUNTRIES)
    return tongue
