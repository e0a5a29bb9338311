"""What holds for the frames of all kinds of traces: whose text it is, and that it stays text."""

import pandas as pd

from kit.methods.trace import NodeVisit, Seed, SubQuestionEvent
from kit.views import replay, save_figure, storyboard
from tests.views.frames.traces import MIN, SCORES, SENDERS, ranked, scored


def test_without_text_a_figure_and_its_table_hold_nothing_of_the_corpus(
    sub_questions, least, walk, tmp_path
):
    words = (
        "Ada Lund",
        "Marrow",
        "Long Ferry",
        "Halle",
        "Tilsby",
        "Who directed",
        "born",
        "a port",
    )
    for shown in (sub_questions, least, walk):
        bare = shown.without_text()
        svg, _, csv = sorted(
            save_figure(storyboard(bare, "t"), bare.table(), tmp_path, "a"), reverse=True
        )
        content = svg.read_text() + csv.read_text() + bare.question
        assert "support 1" in content and not [word for word in words if word in content]


def test_hostile_titles_questions_and_evidence_stay_text(
    corpus, questions, graph, hostile, tmp_path
):
    opening = SubQuestionEvent(0, hostile, hostile)
    messages = opening, *scored({"p5": 0.9, **SCORES}), *SENDERS, *MIN
    visits = Seed(0, "p5", 0.6), NodeVisit(1, "p4", "p5", 0.4, hostile)
    for ranking in (ranked("p5", *SCORES, events=messages), ranked("p5", "p4", events=visits)):
        shown = replay(ranking, corpus, question=questions[1], graph=graph)
        assert shown.by_id["p5"].title == f"§2 {hostile}"  # passages of one document are numbered
        svg, *_ = save_figure(storyboard(shown, hostile), pd.DataFrame({"n": [1]}), tmp_path, "a")
        assert "<img" not in svg.read_text() and "<script" not in svg.read_text()
