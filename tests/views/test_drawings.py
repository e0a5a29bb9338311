"""Schematic drawings say what their files say, and are those that are committed."""

from pathlib import Path

import pytest

from kit.errors import InputError
from kit.views.drawings import DRAWINGS, draw, read_drawing

MEETING = """
title = "A question meets a passage"
[boxes]
question = { text = "question", at = [0.0, 0.5], kind = "question" }
passage = { text = "passage", at = [1.0, 0.5] }
[[arrows]]
from = "question"
to = "passage"
words = "cosine"
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "meeting.toml"
    file.write_text(text, "utf-8")
    return file


def test_boxes_are_where_the_file_says_and_words_halfway(tmp_path: Path) -> None:
    figure = draw(read_drawing(write(tmp_path, MEETING)))
    [ax] = figure.axes
    positions = {text.get_text(): text.get_position() for text in ax.texts}
    assert positions["question"] == (0.0, 0.5) and positions["passage"] == (1.0, 0.5)
    assert positions["cosine"] == (0.5, 0.5)


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ('to = "passage"', 'to = "nowhere"', "expected a box, not 'nowhere'"),
        ("at = [1.0, 0.5]", "at = [1.0]", "meeting.toml"),
        ("words =", "word =", "meeting.toml"),
    ],
)
def test_a_file_that_cannot_be_drawn_is_an_error(
    tmp_path: Path, before: str, after: str, line: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_drawing(write(tmp_path, MEETING.replace(before, after)))
    assert line in str(caught.value)


@pytest.mark.parametrize("file", sorted(DRAWINGS.glob("*.toml")), ids=lambda file: file.stem)
def test_committed_drawings_are_those_of_their_files(file: Path) -> None:
    drawn = draw(read_drawing(file)).drawn("svg")
    assert file.with_suffix(".svg").read_bytes() == drawn
