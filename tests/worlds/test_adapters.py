"""What adapters learn from, on seven passages."""

import pytest
from click import Command
from click.testing import CliRunner
from msgspec.structs import replace

from kit.corpus import Benchmark, Corpus, Passage, Question, SubQuestion
from kit.errors import InputError
from kit.learning.adapters import Pair
from kit.methods.loops.next_steps import follow_up_question, next_question, planned_action
from kit.methods.loops.steps import NO_RETRIEVAL
from kit.methods.loops.teacher import has_short_steps, worded_steps
from kit.text.language_models import as_request
from kit.text.prompts import answer_prompt, evidence_prompt
from kit.text.replies import whole_answer
from kit.worlds import adapters, networks
from kit.worlds.adapters import planner
from kit.worlds.adapters.comparisons import comparisons
from kit.worlds.adapters.evidence import evidence_pairs, triples_pairs
from kit.worlds.adapters.planner import planner_pairs
from kit.worlds.adapters.reader import reader_pairs, reasoned

PASSAGES = [
    Passage("film", "The Glass Harbour (film)", "It is silent. Ines Moravec made it.", "film"),
    Passage("woman", "Ines Moravec", "She was born in Selby Quay.", "woman"),
    *(Passage(f"other {n}", f"Harbour {n}", f"A harbour with {n} quays.", "o") for n in range(5)),
]
TEXTS = {passage.id: passage.full_text for passage in PASSAGES}
STEPS = (
    SubQuestion("The Glass Harbour >> director", "Ines Moravec", 0),
    SubQuestion("Where was #1 born ?", "Ines Moravec was born in Selby Quay.", 1, (0,)),
    SubQuestion("Is that a town?", "yes"),
)
TRIPLES = (
    ("The Glass Harbour", "director", "Ines Moravec"),
    ("Ines Moravec", "place of birth", "Selby Quay"),
    ("Ines Moravec", "husband", "Jan Orm"),  # of whom no passage tells
)
QUESTION = Question(
    "q",
    "Where was the director of The Glass Harbour born?",
    "Selby Quay",
    (("film",), ("woman",)),
    decomposition=STEPS,
    triples=TRIPLES,
)
FIRST, SECOND = "What is the director of The Glass Harbour?", "Where was Ines Moravec born?"
BENCHMARK = Benchmark("example", Corpus(PASSAGES), train=[QUESTION])


def test_steps_are_in_words_and_their_answers_short() -> None:
    steps = worded_steps(QUESTION)
    assert [(step.text, step.answer) for step in steps] == [
        (FIRST, "Ines Moravec"),
        (SECOND, "Selby Quay"),
    ]
    assert has_short_steps(QUESTION)
    sentence = SubQuestion("Of which town is she?", "She is of Selby Quay.", 1)
    [step] = worded_steps(QUESTION.__replace__(decomposition=[sentence]))
    assert step.answer == "Selby Quay"  # though the sentence is short, too
    unclear = SubQuestion("Where?", "She was born there, in that quay, they say.", 1)
    assert not has_short_steps(
        Question("q", "?", "a", (("film",), ("woman",)), decomposition=[unclear])
    )


def test_a_reader_learns_to_go_step_by_step() -> None:
    neighbours = set()
    n_steps = set()
    for seed in range(30):
        [[whole, *steps]] = reader_pairs(BENCHMARK, 5, seed)
        assert whole.answer == (
            "What is the director of The Glass Harbour? Ines Moravec. "
            "Ines Moravec was born in Selby Quay. So the answer is: Selby Quay"
        )
        assert whole_answer(whole.answer) == "Selby Quay"
        assert TEXTS["film"] in whole.request.prompt.replace("\\n ", "\n")
        neighbours.add(whole.request.prompt.count("quays."))
        n_steps.add(len(steps))
        if steps:
            assert [(pair.request, pair.answer) for pair in steps] == [
                (as_request(answer_prompt(FIRST, [TEXTS["film"]])), "Ines Moravec"),
                (as_request(answer_prompt(SECOND, [TEXTS["woman"]])), "Selby Quay"),
            ]
    assert neighbours == {0, 3}  # the supports alone, or among three others
    assert n_steps == {0, 2}


def test_a_question_without_steps_is_answered_in_a_few_words() -> None:
    assert reasoned(replace(QUESTION, decomposition=())) == "Selby Quay"


def test_comparisons_follow_from_what_is_stated() -> None:
    """Two people and their films; every comparison is true of the triples."""
    born = {"Ann Ash": "3 May 1901", "Bo Birch": "7 June 1899"}
    films = {"Fog": "Ann Ash", "Hail": "Bo Birch"}
    triples = [(name, "date of birth", date) for name, date in born.items()]
    triples += [(film, "director", name) for film, name in films.items()]
    triples += [(name, "country of citizenship", "Norway") for name in born]
    corpus = Corpus(Passage(f"p {name}", name, f"On {name}.", name) for name in (*born, *films))
    stated = Question("s", "?", "x", (("p Fog",),), triples=tuple(triples))
    made = comparisons(Benchmark("made", corpus, train=(stated,)), 6, seed=1)

    texts = {question.text.partition(",")[0]: question for question in made}
    older = {"Who was born first", "Who was born earlier"} & texts.keys()
    assert older and all(texts[text].answer == "Bo Birch" for text in older)
    of_films = [q for q in made if q.text.startswith("Which film has the director who was born")]
    for question in of_films:
        assert question.answer == ("Fog" if " later," in question.text else "Hail")
        assert [step.text for step in question.decomposition] == [
            f"Who is the director of {question.decomposition[0].text[23:-1]}?",
            f"Who is the director of {question.decomposition[1].text[23:-1]}?",
            f"When was {films[question.decomposition[0].text[23:-1]]} born?",
            f"When was {films[question.decomposition[1].text[23:-1]]} born?",
        ]
        assert len(question.supporting) == 4
    same = [question for question in made if "same nationality" in question.text]
    assert of_films and same and {question.answer for question in same} == {"yes"}


def test_evidence_is_what_the_next_support_says_of_what_is_needed() -> None:
    pairs = {
        pair.request.prompt: pair
        for seed in range(8)
        for [pair] in evidence_pairs(BENCHMARK, 1, seed)
    }
    prompts = [
        evidence_prompt(QUESTION.text, path, "prefixed_evidence") for path in ([], [TEXTS["film"]])
    ]
    assert [pairs[prompt].answer for prompt in prompts] == [
        "The Glass Harbour (film): Ines Moravec made it.",
        "Ines Moravec: She was born in Selby Quay.",
    ]
    assert len(pairs) == 2


def test_of_a_support_the_triples_that_it_states() -> None:
    [[of_film], [of_woman]] = triples_pairs(BENCHMARK, 9, 0)
    assert of_film == Pair(
        as_request(TEXTS["film"]), "(S> The Glass Harbour| P> director| O> Ines Moravec)"
    )
    assert of_woman.answer == "(S> Ines Moravec| P> place of birth| O> Selby Quay)"


@pytest.fixture
def taught(monkeypatch: pytest.MonkeyPatch) -> list[Pair]:
    """What a planner learns from by some seeds."""
    monkeypatch.setattr(planner, "known_without_reading", lambda questions: set())
    return [pair for seed in range(8) for pair in planner_pairs(BENCHMARK, 1, seed)[0]]


def test_a_planner_learns_what_the_loops_read(taught: list[Pair]) -> None:
    of_all = {pair.answer for pair in taught}
    assert {"[SUFFICIENT]", "Yes", "No", "Selby Quay", "Ines Moravec"} <= of_all
    plans = {answer for answer in of_all if answer.startswith("[SUBQ]")}
    assert {planned_action(plan, []) for plan in plans} <= {FIRST, SECOND} and plans
    follow_ups = [answer for answer in of_all if answer.startswith("Are follow up")]
    assert {follow_up_question(reply, []) for reply in follow_ups} == {FIRST, SECOND, ""}
    assert {next_question(text, []) for text in of_all & {FIRST, SECOND}} == {FIRST, SECOND}
    assert (
        f"{FIRST} Ines Moravec.\nInes Moravec was born in Selby Quay.\nSo the answer is: Selby Quay"
    ) in of_all


def test_the_teacher_leaves_out_what_was_found(taught: list[Pair]) -> None:
    plans = [pair for pair in taught if "You are a planner" in pair.request.prompt]
    for pair in plans:
        prompt = pair.request.prompt
        found_film = "S> The Glass Harbour (film)" in prompt
        found_woman = "S> Ines Moravec" in prompt
        if pair.answer == "[SUFFICIENT]":
            missing = {FIRST, SECOND} if not found_film else {SECOND}
            assert found_woman or all(f"[SUBQ] {text}" in prompt for text in missing)
        elif FIRST in pair.answer:
            assert not found_film


def test_a_question_that_the_model_knows_needs_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "known_without_reading", lambda questions: {"q"})
    [[plan, *_]] = planner_pairs(BENCHMARK, 1, 0)
    assert plan.answer == NO_RETRIEVAL and plan.request.prompt.endswith(
        f"Question: {QUESTION.text}"
    )


@pytest.mark.parametrize(("main", "kind"), [(adapters.main, "role"), (networks.main, "network")])
def test_what_is_not_known_is_told_before_anything_is_trained(main: Command, kind: str) -> None:
    result = CliRunner().invoke(main, ["flyer"])
    assert isinstance(result.exception, InputError)
    assert str(result.exception).startswith(f"no {kind} 'flyer'; known are ")
