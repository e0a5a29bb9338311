"""What can be wrong with a question, in each format: a line with file, record and field."""

import json

import pytest

QUESTIONS = {
    "kit": "town/test.jsonl",
    "documents": "papers/test.jsonl",
}  # of the formats that are folders
FACT = "field supporting_facts[0]: expected the title of one paragraph of context,"
HORNS = [["Nell Horn", ["One."]], ["Nell Horn", ["Two."]], ["Oster Horn", ["Three."]]]
PARAGRAPH = {"idx": 0, "title": "", "paragraph_text": "", "is_supporting": True}
STEP = {"text": "a", "answer": "b"}


@pytest.mark.parametrize(
    ("data_format", "change", "line"),
    [
        ("hotpotqa", {"_id": None}, "record 2, field _id: expected text, got null"),
        (
            "hotpotqa",
            {"_id": "h 2"},
            "record 2 (id 'h 2'), field _id: expected an id without white space",
        ),
        (
            "hotpotqa",
            {"_id": "h1"},
            "(id 'h1'), field id: expected an id of its own, an earlier record has it",
        ),
        ("hotpotqa", {"question": " "}, "field question: expected text that is not blank"),
        ("hotpotqa", {"context": []}, "field context: expected a list of length >= 1"),
        ("hotpotqa", {"context": [["Nell Horn"]]}, "field context[0]: expected a list of length 2"),
        ("hotpotqa", {"context": HORNS}, f"{FACT} 'Nell Horn' is the title of different ones"),
        (
            "hotpotqa",
            {"supporting_facts": [["Oster Horn", -1]]},
            "[0][1]: expected a whole number >= 0",
        ),
        ("twowiki", {"evidences": [["a", "b"]]}, "field evidences[0]: expected a list of length 3"),
        (
            "twowiki",
            {"qa_pairs": [{"question": "Who?"}]},
            "record 2 (id 'w2'), field qa_pairs[0].answer: missing",
        ),
        (
            "musique",
            {"paragraphs": []},
            "[0].paragraph_support_idx: expected the idx of a paragraph, got 1",
        ),
        (
            "musique",
            {"paragraphs": [PARAGRAPH, PARAGRAPH]},
            "field paragraphs: an idx is given twice",
        ),
        ("musique", {"id": "3hop2__7_8_9"}, "field id: expected an id of its own"),
        (
            "kit",
            {"supporting": []},
            "record 1 (id 'q1'), field supporting: expected a list of length >= 1",
        ),
        (
            "kit",
            {"supporting": [["p1"], []]},
            "field supporting[1]: expected a list of length >= 1",
        ),
        (
            "kit",
            {"supporting": [["p1"], ["p9"]]},
            "supporting[1]: expected the id of a passage, 'p9' is none",
        ),
        (
            "kit",
            {"decomposition": [STEP | {"support": 2}]},
            "field decomposition[0].support: expected an index below",
        ),
        (
            "kit",
            {"decomposition": [STEP | {"depends_on": [0]}]},
            "[0].depends_on: expected indices of earlier steps",
        ),
        ("kit", {"evidence": {"n_nodes": 3}}, "field evidence: expected one node a support (2)"),
        (
            "kit",
            {"evidence": {"n_nodes": 2, "edges": [[0, 2]]}},
            "field evidence: expected one node a support (2)",
        ),
        (
            "kit",
            {"evidence": {"n_nodes": 2, "edges": [[0, 1], [1, 0]]}},
            "expected a graph without a cycle",
        ),
        (
            "documents",
            {"structures": [{"document": "mill", "kind": "page", "label": "3"}]},
            "record 1 (id 'q1'), field structures[0]: "
            "expected a structure of a document, 'page 3 of mill' is none",
        ),
        (
            "documents",
            {"quotes": [{"document": "mill", "text": "stood"}]},
            "quotes[0]: expected words of a passage of",
        ),
        (
            "documents",
            {"quotes": [{"document": "mill", "text": " "}]},
            "quotes[0]: expected words of a passage of",
        ),
        ("documents", {}, "record 1 (id 'q1'): expected structures or quotes, and not both"),
    ],
)
def test_it_ends_in_one_line_with_file_record_and_field(
    request, write, problem_of, data_format, change, line
):
    if data_format in QUESTIONS:
        data = request.getfixturevalue({"kit": "kit_folder"}.get(data_format, data_format))
        lines = (data.parent / QUESTIONS[data_format]).read_text().splitlines()
        question = json.loads(lines[0])
        file = write(QUESTIONS[data_format], [{**question, "structures": [], **change}])
        record = 1
    else:
        first, second, *_ = request.getfixturevalue(data_format)
        data = file = write("dev.json", [first, second | change])
        record = 2
    problem = problem_of(data)
    assert problem.startswith(f"{file}, record {record}") and line in problem
