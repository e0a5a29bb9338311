"""The kit's own format: every field comes back, and every reference is checked."""

import pytest

from kit.corpus import EvidenceGraph, Passage, SubQuestion, export, load
from kit.errors import InputError


def test_every_field_comes_back(kit_folder, tmp_path):
    benchmark = load(kit_folder)
    assert benchmark.name == "kit-town"
    assert benchmark.corpus.passages[1] == Passage(
        "p2", "Lowick", "Its mill burned.", "lowick", position=1
    )
    [question] = benchmark.test
    assert question.supporting == (("p1",), ("p2",))
    assert question.decomposition[1] == SubQuestion(
        "What burned in #1?", "mill", support=1, depends_on=(0,)
    )
    assert question.evidence == EvidenceGraph(2, ((0, 1),))
    assert load(export(benchmark, tmp_path / "out", "kit")).hash == benchmark.hash
    (kit_folder / "test.jsonl").rename(kit_folder / "dev.jsonl")
    assert [len(getattr(load(kit_folder), split)) for split in ("train", "dev", "test")] == [
        0,
        1,
        0,
    ]


def test_a_question_is_in_one_split_and_a_passage_in_a_document(kit_folder, write):
    (kit_folder / "train.jsonl").write_bytes((kit_folder / "test.jsonl").read_bytes())
    with pytest.raises(InputError, match=r"test\.jsonl, record 1 .*expected an id of its own"):
        load(kit_folder)
    write(
        "town/passages.jsonl",
        [{"id": f"p{n}", "title": "", "text": "", "document": ""} for n in (1, 2)],
    )
    with pytest.raises(
        InputError, match=r"record 1 .*field document: expected text of length >= 1"
    ):
        load(kit_folder)


def test_the_answer_is_among_the_options(kit_folder, write, problem_of):
    question = {"id": "q", "text": "What?", "answer": "mill", "supporting": [["p1"]]}
    write("town/test.jsonl", [question | {"options": ["mill", "inn"]}])
    assert load(kit_folder).test[0].options == ("mill", "inn")
    write("town/test.jsonl", [question | {"options": ["inn", "fair"]}])
    assert "field options: expected the answer among them" in problem_of(kit_folder)
