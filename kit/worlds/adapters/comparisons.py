"""Comparisons that nobody asked, made of what other questions say: a model learns to compare.

Half of 2WikiMultiHopQA's questions compare two dates or countries; its train file that lies beside
the kit's samples has too few to learn that from.
"""

from collections import defaultdict
from typing import NamedTuple

from numpy.random import Generator, default_rng

from kit.corpus import Benchmark, PlainTriple, Question, SubQuestion
from kit.corpus.types import Strings
from kit.methods.ras.graph_data import value_of
from kit.worlds.adapters.pairs import questions_of

DIRECTOR = "director"
LATER = "later"
WORDS = ("first", "earlier", LATER)


class Form(NamedTuple):
    """How a relation is asked for, stated and compared; a second one is of films' directors."""

    question: str
    sentence: str
    compared: str
    of_directors: str


ORDERED = {
    "date of birth": Form(
        "When was {} born?",
        "{} was born on {}",
        "Who was born {}, {} or {}?",
        "Which film has the director who was born {}, {} or {}?",
    ),
    "date of death": Form(
        "When did {} die?",
        "{} died on {}",
        "Who died {}, {} or {}?",
        "Which film has the director who died {}, {} or {}?",
    ),
    "publication date": Form(
        "When was {} released?",
        "{} was released on {}",
        "Which was released {}, {} or {}?",
        "",
    ),
}
EQUAL = {
    "country": Form(
        "In which country is {} located?",
        "{} is located in {}",
        "Are {} and {} located in the same country?",
        "",
    ),
    "country of citizenship": Form(
        "What is the nationality of {}?",
        "{} is {}",
        "Are {} and {} of the same nationality?",
        "Do the directors of the films {} and {} share the same nationality?",
    ),
}


class Statement(NamedTuple):
    """What is said of a thing, and the steps that lead to it, each with its passage."""

    name: str
    value: str
    steps: tuple[tuple[str, str], ...]
    triples: tuple[PlainTriple, ...]
    supports: Strings


def comparisons(benchmark: Benchmark, n: int, seed: int) -> list[Question]:
    """``n`` questions for each way to compare, of two things drawn by a seed."""
    generator = default_rng(seed)
    passages = {passage.title: passage.id for passage in benchmark.corpus.passages}
    stated = defaultdict(dict)
    for question in questions_of(benchmark):
        for subject, relation, value in question.triples:
            if subject in passages:
                stated[relation].setdefault(subject, value)

    questions = []
    for relation, form in (ORDERED | EQUAL).items():
        direct = [
            _told(form, name, value, relation, passages) for name, value in stated[relation].items()
        ]
        questions += _drawn(direct, relation, form.compared, n, generator)
        if form.of_directors:
            by_person = {statement.name: statement for statement in direct}
            films = [
                _through_director(film, by_person[person], passages)
                for film, person in stated[DIRECTOR].items()
                if person in by_person
            ]
            questions += _drawn(films, relation, form.of_directors, n, generator)
    return questions


def _told(form: Form, name: str, value: str, relation: str, passages: dict[str, str]) -> Statement:
    step = (form.question.format(name), form.sentence.format(name, value))
    return Statement(name, value, (step,), ((name, relation, value),), (passages[name],))


def _through_director(film: str, person: Statement, passages: dict[str, str]) -> Statement:
    step = (f"Who is the director of {film}?", f"The director of {film} is {person.name}")
    return Statement(
        film,
        person.value,
        (step, *person.steps),
        ((film, DIRECTOR, person.name), *person.triples),
        (passages[film], *person.supports),
    )


def _drawn(
    statements: list[Statement], relation: str, wording: str, n: int, generator: Generator
) -> list[Question]:
    if relation in ORDERED:
        return _of_dates(statements, wording, n, generator)
    return _of_equals(statements, wording, n, generator)


def _of_dates(
    statements: list[Statement], wording: str, n: int, generator: Generator
) -> list[Question]:
    dated = [statement for statement in statements if value_of(statement.value) is not None]
    questions = []
    for _ in range(n if len(dated) > 1 else 0):
        pair = _two_of(dated, generator)
        earlier, later = sorted(pair, key=lambda statement: value_of(statement.value))
        word = WORDS[generator.integers(len(WORDS))]
        text = wording.format(word, *(statement.name for statement in pair))
        answer = later if word == LATER else earlier
        if value_of(earlier.value) < value_of(later.value):
            questions.append(_question(text, answer.name, pair))
    return questions


def _of_equals(
    statements: list[Statement], wording: str, n: int, generator: Generator
) -> list[Question]:
    """Half of them, if there are some, of two that have the same value."""
    by_value = defaultdict(list)
    for statement in statements:
        by_value[statement.value].append(statement)
    equals = [alike for alike in by_value.values() if len(alike) > 1]
    questions = []
    for index in range(n if len(statements) > 1 else 0):
        alike = equals[generator.integers(len(equals))] if equals and index % 2 else statements
        pair = _two_of(alike, generator)
        text = wording.format(*(statement.name for statement in pair))
        answer = "yes" if pair[0].value == pair[1].value else "no"
        questions.append(_question(text, answer, pair))
    return questions


def _two_of(statements: list[Statement], generator: Generator) -> list[Statement]:
    return [statements[row] for row in generator.choice(len(statements), 2, replace=False)]


def _question(text: str, answer: str, pair: list[Statement]) -> Question:
    """Its steps are those of both statements in turns."""
    one, other = pair
    supports = tuple(name for names in zip(one.supports, other.supports) for name in names)
    steps = [step for in_turn in zip(one.steps, other.steps) for step in in_turn]
    return Question(
        text,
        text,
        answer,
        tuple((support,) for support in supports),
        type="comparison",
        decomposition=tuple(
            SubQuestion(wording, sentence, row) for row, (wording, sentence) in enumerate(steps)
        ),
        triples=(*one.triples, *other.triples),
    )
