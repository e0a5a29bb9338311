"""What a writer of evidence learns from, by hand: the next supports, and the clause of each that says it."""

from __future__ import annotations

import msgspec
import pytest

from kit.corpus import EvidenceGraph, Passage, Question
from kit.corpus.example import example
from kit.text.language_models.evidence_pairs import evidence_pairs, supporting_clause

ASKED = "What evidence do we need to answer the question given the current evidence? "
CORPUS, (TOWN, RIVER) = example().corpus, example().test
HARBOUR, MORAVEC, QUAY = (CORPUS[id].full_text.replace("\n", " ") for id in ("harbour", "moravec", "quay"))
DIRECTED = "The Glass Harbour (film) The Glass Harbour is a silent film directed by Ines Moravec."
BORN = "Ines Moravec She was born in Selby Quay"
FLOODED = "Selby Quay Every spring the river Oll floods its lower streets."


def written(question: Question) -> dict[str, str]:
    """What is to be written by what has been read."""
    start = f"{ASKED}{question.text}"
    return {prompt.removeprefix(start).strip(): text for prompt, text in evidence_pairs([question], CORPUS)}


def test_each_support_leads_to_the_next_and_the_last_back_to_the_first() -> None:
    found = written(RIVER)
    expected = {"": DIRECTED, HARBOUR: BORN, MORAVEC: FLOODED, QUAY: DIRECTED}
    assert {path: found[path] for path in expected} == expected
    (in_vain,) = found.keys() - expected.keys()
    others = {passage.full_text.replace("\n", " ") for passage in CORPUS.passages} - {HARBOUR, MORAVEC, QUAY}
    assert in_vain in others
    assert found[in_vain] == DIRECTED


def test_supports_without_an_order_are_all_written_at_first_and_then_the_others() -> None:
    found = written(msgspec.structs.replace(TOWN, evidence=EvidenceGraph(2)))
    assert (found[""], found[HARBOUR], found[MORAVEC]) == (f"{DIRECTED} {BORN}", BORN, DIRECTED)


@pytest.mark.parametrize(("type", "first"), [("comparison", f"{DIRECTED} {BORN}"), ("bridge", DIRECTED)])
def test_without_an_evidence_graph_all_but_comparisons_have_the_given_order(type: str, first: str) -> None:
    assert written(msgspec.structs.replace(TOWN, evidence=None, type=type))[""] == first


def test_another_seed_draws_other_passages_that_are_read_in_vain() -> None:
    drawn = {frozenset(evidence_pairs([RIVER], CORPUS, seed)) for seed in range(8)}
    assert len(drawn) > 1
    assert evidence_pairs([RIVER], CORPUS, 3) == evidence_pairs([RIVER], CORPUS, 3)


def test_without_triples_the_answers_are_looked_for() -> None:
    bare = msgspec.structs.replace(TOWN, triples=())
    assert supporting_clause(bare, 0, CORPUS["harbour"]) == DIRECTED.removeprefix("The Glass Harbour (film) ")
    assert supporting_clause(bare, 1, CORPUS["moravec"]) == BORN.removeprefix("Ines Moravec ")
    assert supporting_clause(bare, 1, Passage("empty", "Ines Moravec", "", "empty")) == ""
