"""What is exported is read back the same."""

from functools import partial
from unicodedata import normalize

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kit.corpus import Benchmark, Corpus, Passage, Question, export, load
from kit.errors import InputError

composed = partial(normalize, "NFC")


@st.composite
def benchmarks(draw):
    """Benchmarks of few titles, so that supports share one often."""
    texts = draw(
        st.lists(
            st.text(st.characters(exclude_categories=["Cs", "Z", "Cc"])).map(composed),
            min_size=2,
            max_size=12,
            unique=True,
        )
    )
    titles = draw(
        st.lists(st.sampled_from(["A", "B", ""]), min_size=len(texts), max_size=len(texts))
    )
    passages = [
        Passage(f"p{n}", title, text, f"p{n}") for n, (title, text) in enumerate(zip(titles, texts))
    ]
    ids = st.lists(
        st.sampled_from([passage.id for passage in passages]), min_size=1, max_size=4, unique=True
    )
    questions = [
        Question(f"q{index}", "Which one?", "", tuple((name,) for name in supports))
        for index, supports in enumerate(draw(st.lists(ids, min_size=1, max_size=4)))
    ]
    return Benchmark("made", Corpus(passages), test=questions[:3], train=questions[3:])


@pytest.mark.parametrize("data_format", ["kit", "beir"])
@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(made=benchmarks())
def test_folders_come_back_the_same(tmp_path_factory, data_format, made):
    folder = tmp_path_factory.mktemp(data_format) / "out"
    assert load(export(made, folder, data_format)).hash == made.hash


def test_qrels_are_trec_lines_of_every_passage_that_carries_a_support(beir, tmp_path):
    path = tmp_path / "out.qrels"
    path.write_text("old")
    assert export(load(beir), path, "qrels").read_text() == "q1 0 d2 1\nq1 0 d1 1\n"
    either = msgspec.structs.replace(load(beir).test[0], supporting=(("d2",), ("d1", "d3")))
    assert (
        export(load(beir).asking([either]), path, "qrels").read_text()
        == "q1 0 d2 1\nq1 0 d1 1\nq1 0 d3 1\n"
    )
    assert export(load(beir), path, "qrels", split="train").read_text() == "q2 0 d3 1\n"


def test_what_cannot_be_exported_ends_in_one_line_and_leaves_all_as_it_was(beir, tmp_path):
    made = load(beir)
    kept = tmp_path / "kept.json"
    kept.write_text("kept")
    for path, data_format, split, line in [
        (
            kept,
            "csv",
            "test",
            "unknown format 'csv' to export to: expected one of kit, beir, qrels",
        ),
        (kept, "qrels", "all", "has no all questions to export"),
        (kept, "qrels", "dev", "benchmark beir-beir has no dev questions to export"),
        (beir, "qrels", "test", "can.t be written"),
        (beir, "beir", "test", "expected a new or an empty folder to export to"),
        (kept, "kit", "test", "expected a new or an empty folder to export to"),
        (kept / "below.json", "qrels", "test", "can.t be written"),
    ]:
        with pytest.raises(InputError, match=line):
            export(made, path, data_format, split)
    assert kept.read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beir", "kept.json"]
