"""BGR's frames, of a search that one can follow by hand."""

import numpy as np
import pytest

from kit.corpus import example
from kit.methods import Ranking
from kit.methods.trace import Expansion, Merge, Trace
from kit.views import Frame, Replay, replay, storyboard
from tests.views.frames.traces import states

HAND = example()
QUESTION = HAND.test[1]
FILM, BIRTH, FLOOD = QUESTION.supporting_ids
OTHER = next(
    passage.id for passage in HAND.corpus.passages if passage.id not in QUESTION.supporting_ids
)
FORWARD = (("", FILM), (FILM, BIRTH), ("", OTHER))
BACKWARD = ((BIRTH, FLOOD), (FILM, BIRTH), ("", FILM))
KEPT = (*BACKWARD, ("", OTHER))


@pytest.fixture
def shown() -> Replay:
    """Forward along one path, backward from the last fact alone; then a merge of more than that."""
    events = (
        Expansion(0, "forward", (), (FILM, OTHER), ((FILM, 0.9), (OTHER, 0.6), (BIRTH, 0.2))),
        Expansion(0, "forward", (FILM,), (BIRTH,), ((BIRTH, 0.8), (OTHER, 0.1))),
        Expansion(0, "forward", (FILM, BIRTH), (), ((OTHER, 0.2),), 0.27),
        Expansion(1, "backward", (), (FLOOD,), ((FLOOD, 0.7),)),
        Expansion(1, "backward", (FLOOD,), (), ((BIRTH, 0.4),)),
        Merge(2, FORWARD, BACKWARD, KEPT, "code: BSC = 0.50 ≤ γ = 0.5"),
    )
    return replay(
        Ranking((FILM, BIRTH, FLOOD, OTHER), np.ones(4), Trace(events)), HAND.corpus, QUESTION
    )


def edge_kinds(frame: Frame) -> dict[tuple[str, str], tuple[str, ...]]:
    return {edge.ends: edge.kinds for edge in frame.edges}


def test_every_path_is_a_frame_then_the_merge_and_what_is_right(shown: Replay) -> None:
    assert [frame.step for frame in shown.frames] == [
        *("forward · Q", "forward · Q → •", "forward · Q → • → •"),
        *("backward · Q", "backward · Q → •", "merge", "result"),
    ]
    first, second, stopped, _, ended, merged, result = (frame.caption for frame in shown.frames)
    assert first.endswith("forward: 2 of 3 candidates come next (0.90; 0.60; threshold 0.50).")
    assert second.endswith("forward: 1 of 2 candidates come next (0.80; threshold 0.50).")
    assert stopped.endswith("forward: none of 1 candidates is above 0.27, the path ends.")
    assert ended.endswith("the path ends at the question.")
    assert (
        merged == "2 of 4 edges are in both graphs; code: BSC = 0.50 ≤ γ = 0.5: 4 edges are kept."
    )
    assert result == "3 of 3 edges are right, 1 superfluous."


def test_edges_tell_what_was_found_when(shown: Replay) -> None:
    ends = [set(edge_kinds(frame)) for frame in shown.frames]
    assert ends[0] == {("", FILM), ("", OTHER)}
    assert ends[1] == ends[2] == {*ends[0], (FILM, BIRTH)}
    assert ends[3] == set()
    assert ends[4] == {("", FLOOD)}  # a path that goes no further back begins at the question


def test_edges_of_the_merge_have_their_kinds(shown: Replay) -> None:
    assert edge_kinds(shown.frames[5]) == {
        ("", FILM): ("forward", "backward"),
        (FILM, BIRTH): ("forward", "backward"),
        ("", OTHER): ("forward",),
        (BIRTH, FLOOD): ("backward",),
    }
    assert edge_kinds(shown.frames[6])["", OTHER] == ("superfluous",)


def test_roles_tell_what_was_found_when(shown: Replay) -> None:
    assert states(shown, 1, "role") == {
        "": "question",
        FILM: "path",
        BIRTH: "visited",
        OTHER: "reached",
        FLOOD: "missed",
    }
    assert [item.node for item in shown.frames[0].columns[0].items] == [FILM, OTHER, BIRTH]


def test_all_that_is_drawn_has_a_place_even_where_only_a_merge_is_told() -> None:
    alone = replay(
        Ranking((FLOOD,), np.ones(1), Trace((Merge(0, FORWARD, BACKWARD, (), "text"),))),
        HAND.corpus,
    )
    drawn = {end for frame in alone.frames for edge in frame.edges for end in edge.ends}
    assert drawn == {"", FILM, BIRTH, FLOOD, OTHER} == {node.id for node in alone.nodes}
    assert [frame.caption for frame in alone.frames][1] == "0 edges."


def test_places_are_steps_of_reasoning_and_it_prints(shown: Replay) -> None:
    x = {node.id: node.x for node in shown.nodes}
    assert x[""] < x[FILM] < x[BIRTH] < x[FLOOD] and x[OTHER] == x[FILM]
    assert len({(node.x, node.y) for node in shown.nodes}) == 5
    assert storyboard(shown, "Found").title == "Found"
