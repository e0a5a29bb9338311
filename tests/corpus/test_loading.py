"""Settings, extra corpora, training files, names, and the recognition of formats."""

import pytest

from kit.corpus import FORMATS, example, load, load_corpus, load_training, loading
from kit.corpus.formats import recognise
from kit.corpus.source import content_id
from kit.errors import InputError


@pytest.mark.parametrize("data_format", FORMATS)
def test_each_format_is_recognised_from_its_content(
    request, write, beir, iirc, kit_folder, documents, data_format
):
    corpus = write("c.txt", [{"title": "Ode", "text": "A river."}])
    files = {
        "beir": beir,
        "iirc": iirc,
        "hipporag": corpus,
        "kit": kit_folder,
        "documents": documents,
    }
    if data_format not in files:
        fixture = {"2wikimultihopqa": "twowiki"}.get(data_format, data_format)
        records = request.getfixturevalue(fixture)
        files[data_format] = write("d.jsonl" if data_format == "musique" else "a.txt", records)
    assert recognise(files[data_format]) == data_format


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (
            '[{"a": 1}]',
            "not recognised: expected one of hotpotqa, 2wikimultihopqa, musique, reasongraphqa, ",
        ),
        ("{hello", "record 1: not valid JSON"),
        ("[1]", "record 1: expected an object, got a whole number"),
        ("hello", "this is plain text"),
        ('"text"', "this is plain text"),
        (b"\xff\xfe[\x00]\x00", "expected at least one record"),
        ('[{"question": "?", "docs": []}]', "format not recognised"),
    ],
)
def test_a_file_of_no_known_format_ends_in_one_line(write, problem_of, content, line):
    path = write("file.json", content)
    problem = problem_of(path)
    assert problem.startswith(f"{path}") and line in problem


def test_what_cannot_be_loaded_so_ends_in_one_line(write, tmp_path, beir, hotpotqa):
    dev = write("dev.json", hotpotqa)
    (tmp_path / "empty").mkdir()
    folders = r"a folder with corpus\.jsonl \(beir\), passages\.jsonl \(kit\) or \.pdf, \.txt"
    for data, settings, line in [
        (tmp_path / "absent.json", {}, "absent.json: no such file"),
        ("a" * 300, {}, r"aaa: cannot be read \(File name too long\)"),
        (tmp_path / "empty", {}, folders),
        (beir, {"data_format": "hotpotqa"}, "cannot be read"),
        (dev, {"data_format": "beir"}, r"expected a folder with corpus\.jsonl \(format beir\)"),
        (
            dev,
            {"data_format": "hotpot"},
            "unknown format 'hotpot': expected one of hotpotqa, 2wikimultihopqa",
        ),
        (dev, {"setting": "open"}, "unknown setting 'open': expected one of pooled, per-question"),
        (
            dev,
            {"setting": "per-question", "corpus": [dev]},
            "extra corpora need the setting pooled",
        ),
    ]:
        with pytest.raises(InputError, match=line):
            load(data, **settings)


def test_pooled_merges_equal_paragraphs_and_per_question_keeps_each_collection(write, hotpotqa):
    path = write("dev.json", hotpotqa)
    pooled = load(path)
    single = load(path, setting="per-question")
    assert pooled.setting == "pooled" and pooled.collections is None
    assert single.setting == "per-question" and len(single.corpus) == len(pooled.corpus) == 4
    titles = [
        [passage.title for passage in single.collection(question).passages]
        for question in single.test
    ]
    assert titles == [["Ada Brill", "Nell Horn", "Grey Ferry"], ["Nell Horn", "Oster Horn"]]


def test_a_question_without_paragraphs_is_asked_of_twelve_documents(write):
    """All passages of those of its supports, and of others that its id draws (KGP §8.1)."""
    passages = [
        {"id": f"{letter}{position}", "title": letter, "text": "", "document": letter}
        | {"position": position}
        for letter in "abcdefghijklmnopqrst"
        for position in (0, 1)
    ]
    write("folder/passages.jsonl", passages)
    question = {"text": "Which?", "answer": "it", "supporting": [["c1", "d0"], ["q0"]]}
    questions = [question | {"id": f"q{n}"} for n in range(20)]
    benchmark = load(write("folder/test.jsonl", questions).parent, setting="per-question")
    pools = [benchmark.collection(question) for question in benchmark.test]
    for pool in pools:
        documents = [passage.document for passage in pool]
        assert len(pool) == 24 and len(set(documents)) == 12 and {"c", "q"} <= set(documents)
        assert documents == sorted(documents)
    assert len({pool.hash for pool in pools}) == 20
    again = load(write("folder/test.jsonl", questions[3:4]).parent, setting="per-question")
    assert again.collection(again.test[0]).hash == pools[3].hash
    write("folder/passages.jsonl", passages[:2] + passages[4:8] + passages[32:34])
    few = load(write("folder/test.jsonl", questions).parent, setting="per-question")
    assert len(few.collection(few.test[0])) == len(few.corpus) == 8


def test_extra_corpora_are_added_once_and_their_questions_are_not(write, hotpotqa, musique, beir):
    path = write("dev.json", hotpotqa)
    ada = "Ada Brill was born in Lowick.  She kept bees. She painted boats."
    corpus = write(
        "corpus.json",
        [{"title": "Ada Brill", "text": ada}, {"title": "Ada Brill", "text": "Another."}],
    )
    benchmark = load(path, corpus=[corpus, write("m.jsonl", musique), beir, path])
    assert len(benchmark.test) == 2 and benchmark.train == benchmark.dev == ()
    assert len(benchmark.corpus) == 4 + 1 + 5 + 3
    assert benchmark.corpus.passages[4].text == "Another."
    assert benchmark.corpus.passages[:4] == load(path).corpus.passages

    write("other/corpus.jsonl", [{"_id": "d1", "title": "Other", "text": "Other."}])
    with pytest.raises(
        InputError, match=r"^passage 'd1': an earlier file has its id for another text$"
    ):
        load(beir, corpus=[beir.parent / "other"])


def test_the_name_is_atlas_or_of_format_and_file(write, kit_folder, hotpotqa, twowiki, monkeypatch):
    assert load(write("my dev:1?.json", hotpotqa)).name == "hotpotqa-my-dev-1-"
    named = load(write("dev.json", twowiki), data_format="hotpotqa")  # not the one recognised
    assert named.name == "hotpotqa-dev" and named.test[0].triples == ()
    monkeypatch.setattr(loading, "ATLAS", kit_folder.resolve())
    assert load().name == load("").name == load(kit_folder).name == "atlas"


def test_ids_and_hash_do_not_depend_on_the_file(write, hotpotqa):
    assert example().hash == "81f39375d7b8d873"  # what earlier findings say that they are of
    first = load(write("a.json", hotpotqa))
    second = load(write("b.jsonl", hotpotqa))
    assert first.hash == second.hash
    assert first.corpus.passages[1].id == content_id("Nell Horn", "Nell Horn is a cape.")
    hotpotqa[0]["answer"] = "Marl"
    assert load(write("c.json", hotpotqa)).hash != first.hash


def test_training_questions_are_split_by_their_ids_alone(write, hotpotqa):
    many = [hotpotqa[0] | {"_id": f"h{index}"} for index in range(50)]
    benchmark = load_training([write("train.json", many)])
    assert (len(benchmark.train), len(benchmark.dev), len(benchmark.test)) == (40, 10, 0)
    assert len(benchmark.corpus) == 3 and benchmark.name == "hotpotqa-train"
    dev = {question.id for question in benchmark.dev}
    turned = load_training(
        [write("turned.json", [record | {"answer": "other"} for record in reversed(many)])]
    )
    assert {question.id for question in turned.dev} == dev


def test_training_joins_files_and_keeps_published_splits(write, hotpotqa, musique, beir):
    files = [write("train.json", hotpotqa), write("train.jsonl", musique), beir]
    benchmark = load_training(files)
    assert (
        len(benchmark.train) + len(benchmark.dev) == 5
    )  # the test question of the BEIR folder is left out
    assert "q2" in {question.id for question in benchmark.train}
    for question in benchmark.train:
        assert all(passage_id in benchmark.corpus for passage_id in question.supporting_ids)
    single = load_training(files[:2], setting="per-question")
    assert set(single.collections) == {question.id for question in (*single.train, *single.dev)}


def test_passages_are_learned_from_without_their_questions(write, hotpotqa, musique):
    train = write("a.json", hotpotqa)
    other = write("b.jsonl", musique)
    alone = load_training([train])
    joint = load_training([train], corpus=[other])
    assert joint.train + joint.dev == alone.train + alone.dev
    assert set(joint.corpus.row) == {*alone.corpus.row, *load_corpus([other]).row}


def test_files_that_cannot_be_learned_from_or_joined_end_in_one_line(
    write, kit_folder, hotpotqa, beir
):
    path = write("train.json", hotpotqa)
    assert len(load_corpus([path, beir, path])) == 4 + 3
    with pytest.raises(InputError, match=r"^question 'h1' is in an earlier file too$"):
        load_training([path, write("again.json", hotpotqa)])
    for setting in ("pooled", "facts"):
        with pytest.raises(InputError, match="expected questions to train on, there are none"):
            load_training([kit_folder], setting=setting)
    for read in (load_corpus, load_training):
        with pytest.raises(InputError, match="expected at least one file"):
            read([])
