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
        (TEST, "q1\td1\tone\n", "record 1, field score: expected a whole number"),
        (TEST, "q1\td1\t0.5\n", "record 1, field score: expected a whole number"),
        (TEST, "q1\td1\n", "record 1, field score: missing"),
        (TEST, b"q1\td1\t1\nq1\t\xff\t1\n", "record 2: expected UTF-8"),
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


#: Rows of qrels, the supports of q1, and the flaw that is told.
FLAWED_ROWS = [
    ("q1 d2 1\nq1 d9 1\nq1 d8 2", ["d2"], "record 2 and 1 more: names a document that is not"),
    ("q1\td2\t1\nq9\td1\t1", ["d2"], "record 2: names a query that is not in queries.jsonl"),
    ("q1\td2\t1\nq2\td1\t1\nq1\td2\t1", ["d2"], "record 3: judges a document again"),
    ("q1\td2\t1\nq1\td1\t1\nq1\td2\t0", ["d1"], "record 3: judges a document again"),
    ("q1\td2\t1\nq1\td\0\t1", ["d2"], "record 2: names a document that is not"),
]


@pytest.mark.parametrize(("rows", "supports", "flaw"), FLAWED_ROWS)
def test_rows_that_cannot_count_are_left_out_and_told_with_their_count(
    beir, write, rows, supports, flaw
):
    path = write(f"beir/{TEST}", f"{rows}\n")
    problems, notes = check(beir)
    assert not problems and any(note.startswith(f"{path}, {flaw}") for note in notes)
    with pytest.warns(UserWarning, match=flaw):
        benchmark = load(beir)
    question = next(question for question in benchmark.test if question.id == "q1")
    assert list(question.supporting_ids) == supports


@pytest.mark.parametrize(
    "rows",
    [
        "query-id\tcorpus-id\tscore\r\nq1\td2\t1.0\r\nq1\td1\t2.\r\nq1\td3\t0.0\r\n",
        "q1 d2 1\n\n q1  d1\t2 \nq1 d3 -1\n",
        "q1 0 d2 1\nq1 Q0 d1 1\n",
    ],
)
def test_scores_with_a_point_blanks_and_trec_columns_are_read(beir, write, rows):
    write(f"beir/{TEST}", rows)
    assert check(beir) == ([], [])
    assert load(beir).test[0].supporting == (("d2",), ("d1",))


def test_a_query_of_two_splits_stays_in_the_test_and_is_not_learned_from(beir, write):
    path = write("beir/qrels/train.tsv", "q1\td3\t1\nq2\td3\t1\n")
    line = f"{path}, record 1: names a query that is in test.tsv, too: left out"
    assert check(beir) == ([], [line])
    with pytest.warns(UserWarning, match="names a query that is in test.tsv"):
        benchmark = load(beir)
    assert benchmark.test[0].supporting_ids == ("d2", "d1")
    assert [question.id for question in benchmark.train] == ["q2"]


def test_the_last_of_documents_and_of_queries_of_one_id_counts(beir, write):
    write(f"beir/{CORPUS}", [{"_id": name, "text": name} for name in ("d1", "d2", "d3")])
    with (beir / CORPUS).open("a") as file:
        file.write('{"_id": "d1", "text": "other"}\n')
    with (beir / QUERIES).open("a") as file:
        file.write('{"_id": "q1", "text": "Which?"}\n')
    _, notes = check(beir)
    assert notes == [
        f"{beir / CORPUS}, record 4: has the _id of an earlier document: the later one counts",
        f"{beir / QUERIES}, record 4: has the _id of an earlier query: the later one counts",
    ]
    with pytest.warns(UserWarning, match="has the _id of an earlier"):
        benchmark = load(beir)
    assert benchmark.corpus["d1"].text == "other" and len(benchmark.corpus) == 3
    assert benchmark.test[0].text == "Which?"


def test_a_document_may_have_the_id_of_the_query_and_hidden_files_are_none_of_the_set(beir, write):
    with (beir / CORPUS).open("a") as file:
        file.write('{"_id": "q1", "text": "What about 1?"}\n')
    write("beir/qrels/._test.tsv", b"\0\5\x16\7")
    benchmark = load(beir)
    assert check(beir) == ([], []) and "q1" in benchmark.corpus
    assert benchmark.test[0].id == "q1"


@pytest.mark.parametrize("missing", ["queries.jsonl", "qrels"])
def test_queries_need_qrels_and_qrels_need_queries(beir, tmp_path, missing):
    (beir / missing).rename(tmp_path / "elsewhere")
    line = "no such file" if missing == "queries.jsonl" else "expected train.tsv"
    with pytest.raises(InputError, match=line):
        load(beir)
