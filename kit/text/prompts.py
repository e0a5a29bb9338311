"""What language models are asked: the instruction format and the prompts of kgp.txt §8.9.

The words are the paper's; its five-barred lines between the parts ("=====") are kept, and where Listings 3 and 4 differ
in nothing but these, Listing 4 is followed.
"""

from __future__ import annotations

from collections.abc import Sequence

#: Listing 1. In §8.1 it ends without the question mark.
EVIDENCE_INSTRUCTION = "What evidence do we need to answer the question given the current evidence?"
_SHORT = "ANSWER: Please answer in less than 6 words."
_BAR = "====="


def evidence_input(question: str, evidence: Sequence[str]) -> str:
    """The input of Listing 1, in one line: the question, then the evidence in the order in which it was found."""
    return " ".join([question, *(text.replace("\n", " ") for text in evidence)])


def evidence_prompt(question: str, evidence: Sequence[str]) -> str:
    """Listing 1 for a chat model: the instruction, then the input."""
    return f"Instruction: {EVIDENCE_INSTRUCTION}\n\nInput: {evidence_input(question, evidence)}\n\nOutput:"


def prefixed_evidence_prompt(question: str, evidence: Sequence[str]) -> str:
    """Listing 1 for a sequence-to-sequence model: the instruction is a prefix of the input (§8.1)."""
    return f"{EVIDENCE_INSTRUCTION} {evidence_input(question, evidence)}"


def answer_prompt(question: str, contexts: Sequence[str] = ()) -> str:
    """Listing 2 where there is no context, else Listings 3 and 4.

    A context is a passage, or the passages of a path joined by line ends, which the prompt writes as ``\\n``.
    """
    if not contexts:
        return "\n\n".join(
            ["Given the following question, create a final answer to the question.", f"QUESTION: {question}", _SHORT]
        )
    numbered = [f"{number}: {_one_line(context)}" for number, context in enumerate(contexts, start=1)]
    return "\n\n".join(
        [
            "Given the following question and contexts, create a final answer to the question.",
            *(_BAR, f"QUESTION: {question}"),
            *(_BAR, "CONTEXT:", *numbered),
            *(_BAR, f"QUESTION: {question}"),
            *(_BAR, _SHORT),
        ]
    )


def grading_prompt(question: str, answer: str, prediction: str) -> str:
    """Listing 5: is the prediction right? The reply is to be 1 or 0."""
    examples = [
        ("What company owns the property of Marvel Comics?", "The Walt Disney Company", "The Walt Disney Company", 1),
        (
            "Which constituent college of the University of Oxford endows four professorial fellowships for sciences "
            "including chemistry and pure mathematics?",
            *("Magdalen College", "Magdalen College.", 1),
        ),
        ("Which year was Marvel started?", "1939", "1200", 0),
    ]
    return "\n\n".join(
        [
            "You are an expert professor specialized in grading whether the prediction to the question is correct or "
            "not according to the real answer.",
            *(_BAR, "For example:"),
            *(line for example in examples for line in (_BAR, _graded(*example[:3]), f"Return: {example[3]}")),
            *(_BAR, "You are grading the following question:", _graded(question, answer, prediction)),
            "If the prediction is correct according to the answer, return 1. Otherwise, return 0.",
            "Return: your reply can only be one number '0' or '1'",
        ]
    )


def grade(reply: str) -> bool | None:
    """What a reply to :func:`grading_prompt` says: right, wrong, or (None) neither."""
    found = {character for character in reply if character in "01"}
    return found == {"1"} if len(found) == 1 else None


def _graded(question: str, answer: str, prediction: str) -> str:
    return f"Question: {question}\n\nAnswer: {answer}\n\nPrediction: {prediction}"


def _one_line(context: str) -> str:
    return "\\n ".join(line.strip() for line in context.splitlines() if line.strip())
