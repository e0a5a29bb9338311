"""What an adapter learns from, on the six passages of the example."""

import pytest
from click import Command
from click.testing import CliRunner

from kit.corpus import Benchmark, Corpus, Passage, Question, SubQuestion
from kit.errors import InputError
from kit.text.language_models import as_request
from kit.text.prompts import answer_prompt
from kit.worlds import adapters, networks
from kit.worlds.adapters import reader_pairs

PASSAGES = [
    Passage("film", "The Glass Harbour", "It is a film by Ines Moravec.", "film"),
    Passage("woman", "Ines Moravec", "She was born in Selby Quay.", "woman"),
    *(Passage(f"other {n}", f"Harbour {n}", f"A harbour with {n} quays.", "o") for n in range(5)),
]
STEPS = (
    SubQuestion("Who directed The Glass Harbour?", "Ines Moravec", 0),
    SubQuestion("Where was #1 born?", "Selby Quay", 1, (0,)),
    SubQuestion("Say it in a sentence.", "She was born there, in Selby Quay, they say.", 1),
    SubQuestion("Is that a town?", "yes"),
)
QUESTION = Question(
    "q",
    "Where was the director of The Glass Harbour born?",
    "Selby Quay",
    (("film",), ("woman",)),
    decomposition=STEPS,
)


def test_a_question_and_those_of_its_steps_that_have_a_support_and_a_short_answer() -> None:
    benchmark = Benchmark("example", Corpus(PASSAGES), train=[QUESTION])
    texts = {passage.id: passage.full_text for passage in PASSAGES}
    seen = set()
    for seed in range(12):
        whole, *steps = reader_pairs(benchmark, 5, seed)
        assert whole.answer == "Selby Quay"
        assert texts["film"] in whole.request.prompt.replace("\\n ", "\n")
        seen.add(whole.request.prompt.count("quays."))
        assert [(pair.request, pair.answer) for pair in steps] == [
            (
                as_request(answer_prompt("Who directed The Glass Harbour?", [texts["film"]])),
                "Ines Moravec",
            ),
            (
                as_request(answer_prompt("Where was Ines Moravec born?", [texts["woman"]])),
                "Selby Quay",
            ),
        ]
    assert seen == {0, 3}  # the supports alone, or among three others


@pytest.mark.parametrize(("main", "kind"), [(adapters.main, "role"), (networks.main, "network")])
def test_what_is_not_known_is_told_before_anything_is_trained(main: Command, kind: str) -> None:
    result = CliRunner().invoke(main, ["flyer"])
    assert isinstance(result.exception, InputError)
    assert str(result.exception).startswith(f"no {kind} 'flyer'; known are ")
