"""Names of pages and tables in questions, and what only looks like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.retrievers.structure import mentions


@pytest.mark.parametrize(
    ("text", "pages", "tables"),
    [
        ("What differs between page 1 and page 2?", ["1", "2"], []),
        ("In Table 3, which station has the highest flow?", [], ["3"]),
        ("What is the difference between Page 1 and Table 2?", ["1"], ["2"]),
        ("Compare tables 2 and 4.", [], ["2", "4"]),
        ("Summarise the second page.", [2], []),
        ("Sum up the 3rd page.", [3], []),
        ("What does the last page say?", [-1], []),
        ("And the last page but one?", [-2], []),
        ("Condense the last two pages.", [-2, -1], []),
        ("Read pages 2–4, please.", ["2", "3", "4"], []),
        ("Read pp. 2, 3 and 5.", ["2", "3", "5"], []),
        ("What changes from page 2 to page 4?", ["2", "4"], []),
        ("In Table 2, 3 stations are missing: which?", [], ["2"]),
        ("See Table IV, Table A.1 and table two.", [], ["4", "A1", "2"]),
        ("WHAT IS ON PAGE TWO?", ["2"], []),
        ("Page one, please.", ["1"], []),
    ],
)
def test_numbers_and_places(text, pages, tables):
    found = mentions(text)
    assert [label for one in found if one.kind == "page" for label in one.labels] == pages
    assert [label for one in found if one.kind == "table" for label in one.labels] == tables


@pytest.mark.parametrize(
    ("text", "labels", "on_page"),
    [
        ("Based on Table on Page 4, how many people are fellows?", (), ("4",)),
        ("According to the table on the last page, who won?", (), (-1,)),
        ("What does page 4's table show?", (), ("4",)),
        ("Page 4 has a table: who won?", (), ("4",)),
        ("What does the first table on page 3 say?", (1,), ("3",)),
        ("Look at Table 2 on page 3.", ("2",), ("3",)),
    ],
)
def test_a_page_can_say_where_a_table_is(text, labels, on_page):
    [named] = mentions(text)
    assert (named.kind, named.labels, named.on_page) == ("table", labels, on_page)


def test_all_tables_and_the_only_one():
    assert [(one.labels, one.only) for one in mentions("List all the tables.")] == [((), False)]
    assert [(one.labels, one.only) for one in mentions("In the table, who won?")] == [((), True)]


@pytest.mark.parametrize(
    "text",
    [
        "Who sang Page One?",
        "Who wrote the song Page 3?",
        "Who directed Page 3 (film)?",
        'Who starred in "Page 3"?',
        "Which guitarist did Jimmy Page and Robert Plant hire?",
        "How many pages has the novel?",
        "Which page mentions the ferry?",
        "Who won the first table tennis match?",
        "Is the water table 3 metres down?",
        "Who put the table 1 metre from the wall?",
        "What does p53 do?",
        "Who appears on the first page of the novel Emma?",
        "Who bought a second table?",
        "When was TMG EV P001 built?",
        "Which town lies under Table Mountain?",
        "",
    ],
)
def test_what_only_looks_like_a_structure(text):
    assert mentions(text) == []


@given(
    st.lists(
        st.sampled_from([*"Pp.,?–-\"' ", "page ", "Tables ", "1", "II", "last ", "to ", "of ", "the "]), max_size=20
    )
)
def test_any_text_is_read_and_places_lie_in_it(parts):
    text = "".join(parts)
    found = mentions(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert [one.start for one in found] == sorted(one.start for one in found)
