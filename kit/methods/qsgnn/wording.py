"""A relation in the words of a question, such as people would ask it.

What rules take for a relation may begin with a pronoun or end with an article, may name what
something is and not what it does, or may say nothing at all.
"""

import re

from kit.text.entities import STOP_WORDS
from kit.text.placeholders import DATE

FILLER = "is mentioned with"  # of rules that found no words
SOMETHING = "something that"
AUXILIARIES = frozenset(["is", "was", "are", "were"])  # which change places with their subject
ARTICLES = frozenset(["a", "an"])
PREPOSITIONS = frozenset(
    "about after at by for from in into of on since to under until with".split()
)
#: Verbs that don't show by their ending that they are verbs.
VERBS = AUXILIARIES.union(
    "has had became began bore bought built came did found gave grew held led left made".split(),
    "met rose sang saw sold spent spoke stood taught told took went won wrote".split(),
)
NO_NOUNS = STOP_WORDS | PREPOSITIONS
#: What may stand before the verb: a conjunction or a pronoun in the subject's place.
_BEFORE = re.compile(r"^(?:(?:and|but|when|where|which|who|that|it|he|she|they|this)\s+)+", re.I)
_AFTER = re.compile(r"(?:\s+(?:the|a|an|its|his|her|their))+$", re.I)
_NOUN = re.compile(r"(?:[a-z-]+(?<!ing)(?<!ed)\b ?){1,3}")
_OF_TIME = re.compile(r"\s+(?:in|on|since)$")
_QUALIFIER = re.compile(r"\s+\([^()]*\)$")


def verb_phrase(relation: str) -> str:
    """What is said between a subject and an object: "moved to", "was designed by".

    Empty where the relation says too little, or where it begins like neither a verb nor a noun.
    """
    words = _AFTER.sub("", _BEFORE.sub("", relation)).split()
    if not words or relation == FILLER:
        return ""
    words[0] = words[0].lower()
    phrase = " ".join(words)
    if STOP_WORDS.issuperset(phrase.lower().split()):
        is_full = words[0] in AUXILIARIES and words[-1] in PREPOSITIONS  # "is in"
        return phrase if is_full else ""

    opens_sentence = relation[0].isupper() and not _BEFORE.match(relation)
    start = _before_phrase(phrase, words, opens_sentence)
    return "" if start is None else start + phrase


def _before_phrase(phrase: str, words: list[str], opens_sentence: bool) -> str | None:
    """What makes a predicate of a phrase: nothing, "is", "was" or "has the"; None if nothing does.

    A verb that ``opens_sentence``, as "Married to" does, is a participle.
    """
    first, *others = words
    if first in VERBS:
        return ""
    if first == "born":
        return "was "
    if first.endswith("ed"):
        following = others[0] if others else ""
        is_participle = following == "by"
        if opens_sentence:
            is_participle = following in PREPOSITIONS
        return "was " if is_participle else ""
    if first in ARTICLES:
        return "is "
    if _NOUN.fullmatch(phrase) and NO_NOUNS.isdisjoint(words):
        return "has the "
    return None


def ask_for_object(subject: str, phrase: str, is_date: bool = False) -> str:
    """(sbj, verb, ?): "What is Orm a port of?", "Ada Venn moved to what?"."""
    interrogative = "when" if is_date else "what"
    if is_date:
        phrase = _OF_TIME.sub("", phrase)
    first, _, others = phrase.partition(" ")
    if first in AUXILIARIES:
        return f"{interrogative.capitalize()} {first} {subject} {others}?"
    start = subject[:1].upper() + subject[1:]
    return f"{start} {phrase} {interrogative}?"


def ask_for_subject(phrase: str, object_: str) -> str:
    """(?, verb, obj): "What is a port of Venland?"."""
    return f"What {phrase} {object_}?"


def object_described(subject: str, phrase: str) -> str:
    """The object of a fact that is not named: "something that Ada Venn moved to"."""
    return f"{SOMETHING} {subject} {phrase}"


def subject_described(phrase: str, object_: str) -> str:
    """The subject of a fact that is not named: "something that is a port of Venland"."""
    return f"{SOMETHING} {phrase} {object_}"


def plain_name(title: str) -> str:
    """A title without what tells it from others of its name: "The Glass Harbour (film)"."""
    return _QUALIFIER.sub("", title)


def is_date(text: str) -> bool:
    """Whether this is a date, about which nothing is asked, and for which one asks "when"."""
    return DATE.fullmatch(text) is not None
