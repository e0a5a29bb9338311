"""BEIR folders: documents, judgements by split, and what can be wrong between the files."""

import shutil

import pytest

from kit.corpus import check, load, load_corpus
from kit.errors import InputError


def test_scores_above_0_are_supports_in_the_order_of_the_file(beir):
    benchmark = load(beir)
    assert benchmark.name == "beir-beir"
    ids = [passage.id for passage in benchmark.corpus.passages]
    assert ids == list(benchmark.corpus.documents) == ["d1", "d2", "d3"]
    ids_of = {
        split: [question.id for question in questions]
        for split, questions in benchmark.splits.items()
    }
    assert ids_of == {"train": ["q2"], "test": ["q1"]}
    assert benchmark.test[0].supporting == (("d2",), ("d1",))


def test_a_folder_without_questions_is_a_corpus(beir):
    (beir / "queries.jsonl").unlink()
    shutil.rmtree(beir / "qrels")
    assert len(load_corpus([beir])) == 3
    with pytest.raises(InputError, match="expected questions, this is a corpus"):
        load(beir)


def test_a_query_without_relevant_document_is_noted_and_not_asked(beir, write):
    write("beir/qrels/dev.tsv", "q3\td1\t0\n")
    errors, [note] = check(beir)
    assert not errors and note.endswith(
        "query 'q3': no document is judged relevant, so it is not asked"
    )
    assert load(beir).dev == ()


CORPUS = "corpus.jsonl"
QUERIES = "queries.jsonl"
TEST = "qrels/test.tsv"


@pytest.mark.parametrize(
    ("file", "content", "line"),
    [
        (
            TEST,
            "q1\td9\t1\n",
            "record 1, field corpus-id: expected the _id of a document of corpus.jsonl, 'd9'",
        ),
        (TEST, "q1\td1\t1\nq9\td1\t1\n", "record 2, field query-id: expected the _id of a query"),
        (TEST, "q1\td1\tone\n", "record 1, field score: expected a whole number"),
        (TEST, "q1 d1 1\n", "record 1, field corpus-id: missing"),
        (
            "qrels/train.tsv",
            "q1\td1\t1\n",
            "record 1, field query-id: query 'q1' is in test.tsv too",
        ),
        (TEST, b"q1\td1\t1\nq1\t\xff\t1\n", "record 2: expected UTF-8"),
        (
            TEST,
            b"q1\td1\t1\nq1\t\x00\t1\n",
            "record 2, field corpus-id: expected the _id of a document",
        ),
        (
            CORPUS,
            '{"_id":"d1","text":"a"}\n' * 2,
            "record 2 (id 'd1'), field id: expected an id of its",
        ),
        (
            CORPUS,
            '{"_id":"d 1","text":"a"}\n',
            "record 1 (id 'd 1'), field _id: expected an id without white space",
        ),
        (
            QUERIES,
            '{"_id":"q1","text":" "}\n',
            "record 1 (id 'q1'), field text: expected text that is not blank",
        ),
    ],
)
def test_what_is_wrong_ends_in_a_line_with_file_and_record(beir, write, file, content, line):
    path = write(f"beir/{file}", content)
    problems, _ = check(beir)
    assert any(str(path) in problem and line in problem for problem in problems), problems
    with pytest.raises(InputError):
        load(beir)


@pytest.mark.parametrize("missing", ["queries.jsonl", "qrels"])
def test_queries_need_qrels_and_qrels_need_queries(beir, tmp_path, missing):
    (beir / missing).rename(tmp_path / "elsewhere")
    line = "no such file" if missing == "queries.jsonl" else "expected train.tsv"
    with pytest.raises(InputError, match=line):
        load(beir)
