"""Questions that a language model writes, with replies that are written down."""

import json
from collections import Counter

import pytest

from kit import cost
from kit.corpus import Corpus, Passage
from kit.methods.qsgnn.questions import TrainingQuestion
from kit.methods.qsgnn.written_questions import pairs_over_names, questions_in, written_questions
from kit.text.triples import Extraction, Triple

CORPUS = Corpus(
    [
        Passage("film", "The Glass Harbour", "Ines Moravec made it.", "film"),
        Passage("woman", "Ines Moravec", "She was born in Selby Quay.", "woman"),
        Passage("alone", "Harbour", "A harbour.", "alone"),
    ]
)
EXTRACTIONS = [
    Extraction((), (Triple("The Glass Harbour", "made by", "Ines Moravec", 0),)),
    Extraction((), (Triple("Ines Moravec", "born in", "Selby Quay", 0),)),
    Extraction((), ()),
]
ONE_HOP = json.dumps({"query-answer pairs": [{"question": "Who made it?", "answer": "Ines."}]})
BOTH = {"question": "Where was its maker born?", "answer": "In Selby Quay.", "doc": "0,1"}
SECOND = {"question": "Where was she born?", "answer": "There.", "doc": " 1"}
NEITHER = {"question": "Why?", "doc": "7"}
TWO_HOPS = json.dumps({"question-answer-doc triples": [BOTH, SECOND, NEITHER]})


def test_passages_are_shown_alone_and_in_pairs_over_a_name(
    scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "COUNTS", Counter())
    model = scripted(ONE_HOP, "I can't.", TWO_HOPS)
    one_hop, *two_hops = written_questions(model, CORPUS, EXTRACTIONS, n=12, seed=0)
    assert one_hop.text == "Who made it?" and one_hop.supports in [(0,), (1,)]
    assert two_hops == [
        TrainingQuestion("Where was its maker born?", (0, 1)),
        TrainingQuestion("Where was she born?", (1,)),
    ]
    assert cost.COUNTS["unread"] == 2  # a reply that is no list, and a question of no passage

    one, other, pair = model.prompts
    assert '["The Glass Harbour", "Ines Moravec"]' in one + other
    assert 'Common entity list: ["Ines Moravec"]' in pair
    assert "Passage two:\nInes Moravec\\n She was born in Selby Quay." in pair


def test_no_more_questions_than_wanted(scripted) -> None:
    many = json.dumps({"query-answer pairs": [{"question": f"{n}?"} for n in range(9)]})
    questions = written_questions(scripted(many, TWO_HOPS), CORPUS, EXTRACTIONS, n=4, seed=0)
    assert len(questions) == 4


def test_names_that_stand_everywhere_join_no_passages() -> None:
    assert list(pairs_over_names([["Oll"], ["oll", "Ada"], ["Ada"]])) == [(0, 1), (1, 2)]
    assert list(pairs_over_names([["Oll"]] * 6)) == []


@pytest.mark.parametrize("reply", ["", "{}", '{"query-answer pairs": [1, {"question": " "}]}'])
def test_what_can_not_be_read_is_no_question(reply: str) -> None:
    assert questions_in(reply, (0,)) == []
