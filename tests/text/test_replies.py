"""What is read of replies that language models wrap in marks, labels, fences and thoughts."""

import pytest

from kit.text.replies import (
    chosen_option,
    final_answer,
    grade,
    labelled,
    plain_reply,
    whole_answer,
)


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ("1", True),
        ("Return: 0", False),
        (" '1'. ", True),
        ("**1**", True),
        ("```\n1\n```", True),
        ("<think>0 or 1?</think>\n1", True),
        ("Return: **1**\n\nThe prediction of 1200 would be graded 0.", True),
        ("The prediction says 2010, not 1939.\n\nReturn: 0", False),
        ("1\nA 0 would be for another year.", True),
        ("", None),
        ("0 or 1", None),
        ("yes", None),
        ("10", None),
        ("<think>1", None),
    ],
)
def test_what_a_grade_says(reply: str, right: bool | None) -> None:
    assert grade(reply) is right


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (" Selby Quay. ", "Selby Quay."),
        ('"Selby Quay"', "Selby Quay"),
        ("**Selby Quay**", "Selby Quay"),
        ("ANSWER: Selby Quay", "Selby Quay"),
        ("The final answer is: `Selby Quay`\n\nIt lies on the Oll.", "Selby Quay"),
        ("She was born there.\n\n**Answer:**\nSelby Quay", "Selby Quay"),
        ("Orm?</think>\n\nSelby Quay", "Selby Quay"),
        ("```text\nSelby Quay\n```", "Selby Quay"),
        ("<think>It could be Orm", ""),
        ("M*A*S*H", "M*A*S*H"),
        ('"Orm" or "Oll"', '"Orm" or "Oll"'),
        ("No answer stands in the contexts.", "No answer stands in the contexts."),
    ],
)
def test_an_answer_without_what_stands_around_it(reply: str, answer: str) -> None:
    assert whole_answer(reply) == answer


def test_a_label_stands_where_something_begins() -> None:
    reply = "> 1. **Next:** Who?\nWhat is asked next: it helps. The next: no.\nNEXT:\n\nWhy?"
    assert labelled(reply, "next:") == [("Next:", "Who?"), ("NEXT:", "Why?")]
    assert labelled("Output: Next: Who?", "next:") == [("Next:", "Who?")]
    assert labelled("", "next:") == [] and plain_reply("") == ""
    assert final_answer("Nobody knows.") == ""
    for label in ("Intermediate answer:", "The intermediate answer is"):
        assert final_answer(f"{label} Orm\nNo more questions.") == ""


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("B", "two"),
        ("(C)", "three"),
        ("B: two", "two"),
        ("The answer is A.", "one"),
        ("**Option C**", "three"),
        ("D", ""),
        ("A dog barked.", ""),
        ("b", ""),
        ("", ""),
    ],
)
def test_which_option_a_letter_means(reply: str, option: str) -> None:
    assert chosen_option(whole_answer(reply), ["one", "two", "three"]) == option
