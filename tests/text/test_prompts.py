"""The prompts, word for word those of KGP §8.9 and QSGNN A.10; and those of the loops."""

import pytest

from kit.corpus import EvidenceGraph, Passage
from kit.errors import InputError
from kit.text.prompts import (
    answer_prompt,
    critique_prompt,
    evidence_graph_prompt,
    evidence_prompt,
    extraction_prompt,
    grading_prompt,
    graph_answer_prompt,
    next_step_prompt,
    paths,
    read_paths,
    reason_prompt,
    self_ask_prompt,
    sub_answer_prompt,
)

WHICH = "Which magazine was started first Arthur's Magazine or First for Women?"
FIRST = (
    "Arthur's Magazine (1844–1846) was an American literary periodical published in Philadelphia."
)


def test_listing_1() -> None:
    instruction = "What evidence do we need to answer the question given the current evidence?"
    assert (
        evidence_prompt(WHICH, [FIRST])
        == f"Instruction: {instruction}\n\nInput: {WHICH} {FIRST}\n\nOutput:"
    )
    assert (
        evidence_prompt(WHICH, [FIRST, "More."], "prefixed_evidence")
        == f"{instruction} {WHICH} {FIRST} More."
    )
    assert evidence_prompt(WHICH, [], "prefixed_evidence") == f"{instruction} {WHICH}"


def test_figures_11_and_12_of_qsgnn() -> None:
    passage = Passage("1", "Orm", "A town.", "Orm")
    assert extraction_prompt("entities", passage).endswith(
        "- Input -:\nOrm\\n A town.\n- Output -:\n"
    )
    assert extraction_prompt("triples", passage, ["Orm"]).endswith(
        'Orm\\n A town.\nNamed_entities:\n["Orm"]\n- Output -:\n'
    )
    assert '["PlanetRadiocity.com", "launched in", "May 2008"]' in extraction_prompt(
        "triples", passage, []
    )


def test_listing_2() -> None:
    assert answer_prompt(WHICH) == (
        "Given the following question, create a final answer to the question.\n\n"
        f"QUESTION: {WHICH}\n\nANSWER: Please answer in less than 6 words."
    )


def test_listings_3_and_4() -> None:
    assert answer_prompt(WHICH, ["One.", "Two.\nThree."]) == (
        "Given the following question and contexts, create a final answer to the question.\n\n"
        f"=====\n\nQUESTION: {WHICH}\n\n=====\n\nCONTEXT:\n\n1: One.\n\n2: Two.\\n Three.\n\n"
        f"=====\n\nQUESTION: {WHICH}\n\n=====\n\nANSWER: Please answer in less than 6 words."
    )


def test_tables_11_to_15_of_bgr() -> None:
    graph = EvidenceGraph(3, ((0, 1),))
    assert paths(graph, (18, 20, 3)) == "Q-18-20;Q-3;"
    example = ("Which river?", ["Orm\nA town.", "Ulla\nA river."], "Q-0-1;")
    assert evidence_graph_prompt([example, ("Who?", ["Ines\nA painter."], "")]) == (
        "Q: Which river?\n\n0. Orm A town.\n1. Ulla A river.\n\nA: Q-0-1;\n\n---\n\n"
        "Q: Who?\n\n0. Ines A painter.\n\nA:"
    )


@pytest.mark.parametrize(
    ("reply", "edges"),
    [
        ("Q-18-20;Q-3;", [(-1, 18), (18, 20), (-1, 3)]),
        ("A: Q - 4 - 2; and Q-4-1", [(-1, 4), (4, 2), (4, 1)]),
        ("Q-3-25-1;", [(-1, 3)]),  # there are 25 facts, from 0
        ("I cannot tell.", []),
    ],
)
def test_the_paths_of_a_reply_are_edges(reply: str, edges: list[tuple[int, int]]) -> None:
    assert read_paths(reply, 25) == edges


def test_evidence_in_the_words_of_its_graph() -> None:
    prompt = graph_answer_prompt(WHICH, ["One.", "Two.", "Three."], EvidenceGraph(3, ((0, 1),)))
    assert "CONTEXT:\n\n1: One. Then Two.\\n On the other hand, Three.\n\n" in prompt


def test_listing_5() -> None:
    prompt = grading_prompt(WHICH, "Arthur's Magazine", "First for Women")
    head, _, tail = prompt.partition("You are grading the following question:\n\n")
    assert head.startswith(
        "You are an expert professor specialized in grading whether the prediction to the question"
    )
    assert head.count("=====\n\nQuestion: ") == 3
    assert "Answer: 1939\n\nPrediction: 1200\n\nReturn: 0\n\n=====" in head
    assert tail == (
        f"Question: {WHICH}\n\nAnswer: Arthur's Magazine\n\nPrediction: First for Women\n\n"
        "If the prediction is correct according to the answer, return 1. Otherwise, return 0.\n\n"
        "Return: your reply can only be one number '0' or '1'"
    )


PAIRS = [("Who?", "Ada."), ("Where?", "Orm.")]


def test_the_loops_tell_sub_questions_with_their_answers() -> None:
    needed = "Are follow up questions needed here: Yes.\n"
    steps = "".join(
        f"{needed}Follow up: {text}\nIntermediate answer: {answer}\n" for text, answer in PAIRS
    )
    prompt = self_ask_prompt(WHICH, PAIRS)
    assert prompt.endswith(
        f"So the final answer is: December 6, 1952\n\nQuestion: {WHICH}\n{steps}"
    )
    assert self_ask_prompt(WHICH, []).endswith(f"Question: {WHICH}\n")
    head = "Your goal is to answer the question step by step following procedures of examples."
    assert prompt.startswith(
        f"{head} If no follow up questions are necessary, answer the question in five words"
    )
    steps = "".join(f"Next step: {text}\nIntermediate answer: {answer}\n" for text, answer in PAIRS)
    prompt = next_step_prompt(WHICH, PAIRS)
    assert prompt.startswith(
        "Your goal is to ask the next step question logically.\n\nQuestion: When was the founder"
    )
    assert prompt.endswith(
        f"father of Mary Ball Washington?\n\nQuestion: {WHICH}\n{steps}Next step:"
    )
    assert next_step_prompt(WHICH, []).endswith(f"Question: {WHICH}\nNext step:")


def test_the_loops_show_the_demonstrations_of_a_data_set() -> None:
    prompt = self_ask_prompt(WHICH, [], "musique")
    assert prompt.count("Question: ") == 5 and prompt.count("So the final answer is: ") == 5
    last = "Follow up: Where is Martin Campbell from?\nIntermediate answer: New Zealand.\n"
    assert f"{last}Are follow up questions needed here: No.\nSo the final answer is: No" in prompt

    prompt = next_step_prompt(WHICH, PAIRS, "2wikimultihopqa")
    assert "Next step: Who is the mother of Ilayaraja?\n\nQuestion: Do both films" in prompt

    prompt = reason_prompt("Where?", ["One."], "First.", "musique")
    founder = "Craigslist was founded by Craig Newmark. Craig Newmark was born on December 6, 1952."
    assert f"craigslist born?\nAnswer: {founder} So the answer is: December 6, 1952.\n\n" in prompt
    assert prompt.endswith("Context:\n1: One.\n\nQuestion: Where?\nAnswer: First.")
    with pytest.raises(InputError, match="expected demonstrations of one, two, musique"):
        next_step_prompt(WHICH, [], "squad")


def test_the_loops_tell_passages_and_answers() -> None:
    assert sub_answer_prompt("Where?", ["One.", "Two.\nThree."]) == (
        "Your goal is to answer the next step question. I will provide you some wikipedia "
        "snippets, and you need to answer the next step question by considering the wikipedia "
        "snippets.\n\n"
        "Context:\n1: One.\n\n2: Two.\\n Three.\n\nQuestion: Where?"
    )
    assert critique_prompt("Where?", ["Ada.", "Orm."]) == (  # without the sub-questions (§3.3)
        "Are the following statements evidence enough to answer the question? "
        "Reply with Yes or No.\n\n"
        "Question: Where?\n\nStatements:\nAda.\nOrm."
    )
    for thoughts, end in {"": "Answer:", "First $1. Then": "Answer: First $1. Then"}.items():
        assert reason_prompt("Where?", ["One."], thoughts) == (
            "Answer the question by reasoning step by step from the passages, one sentence a step. "
            f"End with: So the answer is: xxx.\n\nContext:\n1: One.\n\nQuestion: Where?\n{end}"
        )
