"""Schematic drawings say what they are given, and their arrows join the boxes."""

import pytest

from kit.views.drawings import schema


def test_boxes_stand_where_they_are_put_and_words_halfway() -> None:
    boxes = {"question": (0.0, 0.5), "passage": (1.0, 0.5)}
    figure = schema("A question meets a passage", boxes, [("question", "passage", "cosine")])
    [ax] = figure.axes
    placed = {text.get_text(): text.get_position() for text in ax.texts}
    assert placed["question"] == (0.0, 0.5) and placed["passage"] == (1.0, 0.5)
    assert placed["cosine"] == (0.5, 0.5)


def test_an_arrow_to_a_box_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        schema("One box", {"question": (0.0, 0.5)}, [("question", "passage", "")])
