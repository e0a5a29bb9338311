"""What is exported is read back the same."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kit.corpus import Benchmark, Corpus, Passage, Question, export, load
from kit.errors import InputError


@st.composite
def benchmarks(draw):
    """Benchmarks of few titles, so that supports share one often."""
    texts = draw(
        st.lists(st.text(st.characters(exclude_categories=["Cs", "Z", "Cc"])), min_size=2, max_size=12, unique=True)
    )
    titles = draw(st.lists(st.sampled_from(["A", "A (2)", "B", ""]), min_size=len(texts), max_size=len(texts)))
    passages = [Passage(f"p{n}", title, text or "blank", f"p{n}") for n, (title, text) in enumerate(zip(titles, texts))]
    ids = st.lists(st.sampled_from([passage.id for passage in passages]), min_size=1, max_size=4, unique=True)
    questions = [
        Question(f"q{number}", "Which one?", "this", tuple((id,) for id in supports), type="bridge")
        for number, supports in enumerate(draw(st.lists(ids, min_size=1, max_size=4)))
    ]
    return Benchmark("made", Corpus(passages), test=questions[:3], train=questions[3:])


quickly = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@quickly
@given(made=benchmarks())
def test_hotpotqa_comes_back_with_its_supports_and_its_whole_corpus(tmp_path, made):
    read = load(export(made, tmp_path / "out.json", "hotpotqa"))
    for before, after in zip(made.test, read.test, strict=True):
        assert (before.id, before.text, before.answer, before.type) == (after.id, after.text, after.answer, after.type)
        assert [made.corpus[id].text for id in before.supporting_ids] == [
            read.corpus[id].text for id in after.supporting_ids
        ]
    assert {passage.text for passage in read.corpus.passages} == {passage.text for passage in made.corpus.passages}
    sentences = load(tmp_path / "out.json", unit="sentence")
    assert [question.hops for question in sentences.test] == [question.hops for question in made.test]


@quickly
@given(made=benchmarks())
def test_beir_comes_back_the_same(tmp_path_factory, made):
    read = load(export(made, tmp_path_factory.mktemp("beir") / "out", "beir"))
    assert read.corpus.passages == made.corpus.passages
    for split in ("train", "dev", "test"):
        before, after = getattr(made, split), getattr(read, split)
        assert [(q.id, q.text, q.supporting) for q in before] == [(q.id, q.text, q.supporting) for q in after]


def test_supports_that_share_a_title_are_numbered_and_the_rest_keeps_its_title(write, musique, tmp_path):
    made = load(write("dev.jsonl", musique), setting="per-question")
    written = json.loads(export(made, tmp_path / "out.json", "hotpotqa").read_text())
    assert [title for title, _ in written[0]["context"]] == ["Lowick", "Bridges", "Marl", "Lowick (2)"]
    assert [title for title, _ in written[1]["context"]] == ["Ode", "Lowick (2)"]
    assert written[0]["supporting_facts"] == [["Lowick (2)", 0], ["Marl", 0], ["Bridges", 0]]


def test_a_context_has_ten_paragraphs_where_the_corpus_has_as_many(tmp_path):
    passages = [Passage(f"p{number}", f"T{number}", f"Text {number}.", f"p{number}") for number in range(30)]
    questions = [Question(f"q{number}", "Which?", "it", ((f"p{number}",),)) for number in range(2)]
    export(Benchmark("made", Corpus(passages), test=questions), tmp_path / "out.json", "hotpotqa")
    assert [len(record["context"]) for record in json.loads((tmp_path / "out.json").read_text())] == [15, 15]
    export(Benchmark("made", Corpus(passages[:12]), test=questions), tmp_path / "out.json", "hotpotqa")
    assert [len(record["context"]) for record in json.loads((tmp_path / "out.json").read_text())] == [10, 10]


def test_qrels_are_trec_lines_of_every_passage_that_carries_a_support(write, musique, beir, tmp_path):
    export(load(beir), tmp_path / "out.qrels", "qrels")
    assert (tmp_path / "out.qrels").read_text() == "q1 0 d2 1\nq1 0 d1 1\n"
    export(load(beir, unit="sentence"), tmp_path / "out.qrels", "qrels")
    assert (tmp_path / "out.qrels").read_text() == "q1 0 d2.0 1\nq1 0 d1.0 1\nq1 0 d1.1 1\n"
    export(load(beir), tmp_path / "out.qrels", "qrels", split="train")
    assert (tmp_path / "out.qrels").read_text() == "q2 0 d3 1\n"


def test_what_cannot_be_exported_ends_in_one_line_and_leaves_all_as_it_was(beir, tmp_path):
    paragraphs, sentences = load(beir), load(beir, unit="sentence")
    kept = tmp_path / "kept.json"
    kept.write_text("kept")
    for made, path, format, split, line in [
        (paragraphs, kept, "csv", "test", "unknown format 'csv' to export to: expected one of hotpotqa, beir, qrels"),
        (paragraphs, kept, "qrels", "all", "unknown split 'all': expected one of train, dev, test"),
        (paragraphs, kept, "hotpotqa", "dev", "benchmark beir-beir has no dev questions to export"),
        (sentences, kept, "hotpotqa", "test", "load with unit paragraph to export to it"),
        (paragraphs, beir, "hotpotqa", "test", "expected a file to export to, this is a folder"),
        (paragraphs, beir, "beir", "test", "expected a new or an empty folder to export to"),
        (paragraphs, kept, "beir", "test", "expected a new or an empty folder to export to"),
        (paragraphs, kept / "below.json", "qrels", "test", "cannot be written"),
    ]:
        with pytest.raises(InputError, match=line):
            export(made, path, format, split)
    assert kept.read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beir", "kept.json"]


def test_an_empty_folder_and_an_existing_file_are_replaced(beir, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out.qrels").write_text("old")
    made = load(beir)
    assert load(export(made, tmp_path / "out", "beir")).corpus.passages == made.corpus.passages
    assert export(made, tmp_path / "out.qrels", "qrels").read_text() != "old"
