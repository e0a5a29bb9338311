from __future__ import annotations

import pytest

from kit.errors import InputError
from kit.views.story import Column as Ranking
from kit.views.story import Edge, Entry, Mark, Node, Scale, Scene, Story, clip

A, B = Node("a", "A"), Node("b", "B")


@pytest.mark.parametrize(
    ("nodes", "scene", "message"),
    [
        ((A, A), Scene(), "each node once"),
        ((A,), Scene(marks=(Mark("b"),)), "record 0, field scenes: expected a node of the story, not 'b'"),
        ((A,), Scene(columns=(Ranking("r", (Entry("z"),)),)), "not 'z'"),
        ((A,), Scene(marks=(Mark("a", "king"),)), "expected one of seed, .*, candidate, missed, not 'king'"),
        ((A, B), Scene(marks=(Mark("a"),), edges=(Edge("a", "b"),)), "a mark for both ends"),
    ],
)
def test_a_scene_that_cannot_be_drawn_is_refused_with_its_number(nodes, scene, message):
    with pytest.raises(InputError, match=message):
        Story(nodes, (scene,))


def test_a_story_needs_a_scene():
    with pytest.raises(InputError, match="at least one scene"):
        Story((A,), ())


def test_a_label_is_one_short_line():
    assert clip("a\nb  c", 9) == "a b c"
    assert clip("abcdefghij", 10) == "abcdefghij"
    assert clip("abc efghijk", 5) == "abc…"
    assert Node("x", "The quick brown fox jumps over").label == "The quick brown fox jum…"


def test_the_table_holds_what_is_drawn() -> None:
    nodes = (Node("a", "A", "text", 0.1, 0.2, gold=True), Node("b", "B"))
    scene = Scene(
        "one",
        "",
        (Mark("a", "seed", 0.5), Mark("b")),
        (Edge("a", "b", ("knn", "entity"), "both have x"),),
        (Ranking("bm25", (Entry("b", 2.0), Entry("a", 1.0))),),
    )
    table = Story(nodes, (scene,)).table()
    assert table["kind"].tolist() == ["node", "node", "knn+entity", "bm25", "bm25"]
    assert table["title"].tolist() == ["A", "B", "A", "B", "A"]
    assert table.loc[0, ["role", "gold", "x", "y", "value"]].tolist() == ["seed", True, 0.1, 0.2, 0.5]
    assert table.loc[2, "other"] == "B"
    assert table.loc[4, "value"] == 2


def test_edges_of_all_scenes_and_a_focus_must_be_nodes():
    with pytest.raises(InputError, match="field edges: expected a node of the story, not 'z'"):
        Story((A,), (Scene(),), edges=(Edge("a", "z"),))
    with pytest.raises(InputError, match="record 0, field scenes: expected a node of the story, not 'z'"):
        Story((A,), (Scene(focus="z"),))


def test_edges_of_all_scenes_stand_once_in_the_table():
    table = Story((A, B), (Scene("one"), Scene("two")), edges=(Edge("a", "b", ("graph",)),)).table()
    assert table[["step", "kind", "title", "other"]].values.tolist() == [["", "graph", "A", "B"]]


def test_a_scale_puts_numbers_between_far_and_near():
    scale = Scale("distance", far=1.0, near=0.2)
    assert [scale.value(number) for number in (1.0, 0.6, 0.2, 0.0, 2.0)] == pytest.approx([0, 0.5, 1, 1, 0])


def test_without_text_questions_of_scenes_and_labels_of_edges_are_gone():
    story = Story(
        (A, B), (Scene(asked="Who?"),), "Who else?", (Edge("a", "b", ("graph",), "both have x"),), Scale("d", 1, 0)
    )
    bare = story.without_text()
    assert (bare.question, bare.scenes[0].asked, bare.edges[0].label, bare.scale) == ("", "", "", story.scale)
