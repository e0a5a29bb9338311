"""Whatever a file holds, reading it ends in a benchmark or in one plain line."""

import copy
import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kit.corpus import FORMATS, check, load
from kit.errors import InputError

quickly = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.just("#1 of #2"),
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=3), children, max_size=2)
    ),
    max_leaves=5,
)


def reads_or_tells(path, data_format=None):
    """Load it: an error is one line that check tells too, and what loads holds its supports."""
    problems, _ = check(path, data_format)
    try:
        benchmark = load(path, data_format=data_format)
    except InputError as error:
        assert "\n" not in str(error)
        assert problems or "this is a corpus" in str(error)
    else:
        assert not problems
        for question in itertools.chain(*benchmark.splits.values()):
            holds_its_supports(benchmark, question)


def holds_its_supports(benchmark, question):
    assert question.supporting and all(question.supporting)
    assert all(passage_id in benchmark.corpus for passage_id in question.supporting_ids)
    assert question.evidence is None or question.evidence.n_nodes == question.hops


@quickly
@given(
    content=st.binary(max_size=60),
    data_format=st.sampled_from([None, "hotpotqa", "musique", "hipporag"]),
)
def test_any_bytes(write, content, data_format):
    path = write("file", content)
    reads_or_tells(path, data_format)


@pytest.mark.parametrize("data_format", ["hotpotqa", "2wikimultihopqa", "musique"])
def test_any_value_changed(write, request, data_format):
    fixture = {"2wikimultihopqa": "twowiki"}.get(data_format, data_format)
    records = request.getfixturevalue(fixture)

    @quickly
    @given(data=st.data())
    def change(data):
        changed = copy.deepcopy(records)
        holder = changed
        key = data.draw(st.integers(0, len(changed) - 1))
        while isinstance(holder[key], (list, dict)) and holder[key] and data.draw(st.booleans()):
            holder = holder[key]
            key = data.draw(
                st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder)))
            )
        if data.draw(st.booleans()):
            del holder[key]
        else:
            holder[key] = data.draw(values)
        reads_or_tells(write("file.json", changed), data.draw(st.sampled_from([None, data_format])))

    change()


@pytest.mark.parametrize("file", ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"])
def test_any_line_in_a_beir_folder(beir, file):
    content = (beir / file).read_bytes()

    @quickly
    @given(
        line=st.binary(max_size=30)
        | st.sampled_from([b'{"_id":"d1","text":""}', b"q1\td1\t", b"\t\t1", b"q1\td1\t-1"])
    )
    def change(line):
        (beir / file).write_bytes(content + line + b"\n")
        reads_or_tells(beir)

    change()


@pytest.mark.parametrize("data_format", FORMATS)
def test_a_missing_file_and_the_wrong_kind(tmp_path, data_format):
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "absent", tmp_path / "folder", tmp_path / "a\0b"):
        with pytest.raises(InputError):
            load(path, data_format=data_format)
        assert len(check(path, data_format)[0]) == 1
