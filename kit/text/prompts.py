"""What language models are asked, in the words of the papers.

The prompts are those of KGP §8.9, QSGNN A.10, BGR A.6, RAS B.5 and GNN-Ret I;
ours where theirs are lost. They stand in ``prompts.toml``, the five-barred lines between the parts
("=====") included.
"""

import json
import re
import tomllib
from collections.abc import Sequence
from functools import partial
from itertools import pairwise, takewhile
from pathlib import Path
from string import Template, ascii_uppercase
from typing import NamedTuple

from kit.corpus import EvidenceGraph, Passage, PlainTriple
from kit.corpus.types import Texts
from kit.errors import InputError
from kit.text.language_models.answers import Request

_NO_MORE = "Are follow up questions needed here: No."
_FOLLOW_UP = "Are follow up questions needed here: Yes.\nFollow up"
MOST_TRIPLES = 100  # of a graph in a prompt
_FILE = Path(__file__).with_suffix(".toml")
_TEMPLATES = tomllib.loads(_FILE.read_text("utf-8"))

Pairs = Sequence[tuple[str, str]]  # sub-questions with their answers
Steps = Sequence[tuple[str, Sequence[PlainTriple]]]  # sub-questions with what was found

_json = partial(json.dumps, ensure_ascii=False)


def _filled(name: str, **parts: str) -> str:
    return Template(_TEMPLATES[name]).substitute(parts)


def _one_line(text: str) -> str:
    return " ".join(text.split())


# ---- KGP


def evidence_prompt(question: str, evidence: Texts, name: str = "evidence") -> str:
    """Listing 1: the instruction; then in one line the question and the evidence in order.

    ``prefixed_evidence`` is the name of that for a sequence-to-sequence model.
    """
    line = " ".join([question, *evidence]).replace("\n", " ")
    return _filled(name, input=line)


def answer_prompt(question: str, contexts: Texts = ()) -> str:
    """Listing 2 where there is no context, else Listings 3 and 4.

    These write the line ends of a context as ``\\n``.
    """
    if not contexts:
        return _filled("answer_without_context", question=question)
    return _filled("answer", question=question, contexts=_numbered(contexts))


def choice_prompt(question: str, options: Texts, contexts: Texts = ()) -> str:
    """As :func:`answer_prompt`, for a question with options, which get letters; in our words."""
    lettered = [f"{letter}: {_one_line(text)}" for letter, text in zip(ascii_uppercase, options)]
    shown = "\n".join(lettered)
    if not contexts:
        return _filled("choice_without_context", question=question, options=shown)
    texts = _numbered(contexts)
    return _filled("choice", question=question, options=shown, contexts=texts)


def _numbered(contexts: Texts) -> str:
    paragraphs = []
    for rank, context in enumerate(contexts, start=1):
        lines = map(str.strip, context.splitlines())
        written = "\\n ".join(filter(None, lines))
        paragraphs.append(f"{rank}: {written}")
    return "\n\n".join(paragraphs)


def grading_prompt(question: str, answer: str, prediction: str) -> str:
    """Listing 5: is the prediction right? For the reply see :func:`kit.text.replies.grade`."""
    return _filled("grading", question=question, answer=answer, prediction=prediction)


# ---- QSGNN


def extraction_prompt(name: str, passage: Passage, names: Texts = ()) -> str:
    """What is asked about a passage: by name one of three prompts.

    Figure 11 its named ``entities``, Figure 12 the ``triples`` about these names, Figure 13
    ``one_hop_questions`` about them.
    """
    return _filled(name, paragraph=_in_one_line(passage), names=_json(list(names)))


def _in_one_line(passage: Passage) -> str:
    return f"{passage.title}\\n {passage.text}"


def two_hop_questions_prompt(passages: Sequence[Passage], names: Sequence[Texts]) -> str:
    """Figure 14: questions that need both passages, over a name that both have."""
    first, second = map(list, names)
    return _filled(
        "two_hop_questions",
        first=_in_one_line(passages[0]),
        names_of_first=_json(first),
        second=_in_one_line(passages[1]),
        names_of_second=_json(second),
        common=_json([name for name in first if name in second]),
    )


# ---- HippoRAG 2


def facts_prompt(question: str, facts: Texts) -> str:
    """Which of these facts help to answer the question? In our words; numbers are the reply."""
    listed = [f"{rank}: {_one_line(fact)}" for rank, fact in enumerate(facts, start=1)]
    return _filled("facts", question=question, facts="\n".join(listed))


# ---- RAS


def plan_prompt(question: str, steps: Steps) -> str:
    """Figures 8 to 10: what is to be asked next? For a model that learned it, or a plain one."""
    return _filled("plan", steps=_graph_information("plan", steps), question=question)


def plan_request(question: str, steps: Steps) -> Request:
    """Figure 21: the same of a chat model, which is told what it is and shown examples."""
    return _few_shot("planner", steps=_graph_information("planner", steps), question=question)


def graph_answer_request(question: str, steps: Steps) -> Request:
    """Figure 22: the answer by all that was found; there are no steps where nothing was wanted."""
    return _few_shot("answerer", steps=_graph_information("answerer", steps), question=question)


def triples_request(text: str) -> Request:
    """Figure 20: the triples of a text, to be written as in :func:`written_triple`."""
    return _few_shot("text_to_triples", text=text)


def written_triple(triple: PlainTriple) -> str:
    """``(S> subject| P> predicate| O> object)`` (C.2)."""
    subject, predicate, value = triple
    return f"(S> {subject}| P> {predicate}| O> {value})"


def _graph_information(name: str, steps: Steps) -> str:
    """The steps with their triples.

    Of more than MOST_TRIPLES the oldest are left out, never the question (ras-i27).
    """
    room = MOST_TRIPLES
    paragraphs = []
    for text, triples in reversed(steps):
        latest = triples[-room:] if room else ()
        room -= len(latest)
        listed = _json(list(map(written_triple, latest)))
        paragraphs.append(_filled(f"{name}_step", text=text, triples=listed))
    return "".join(reversed(paragraphs))


def _few_shot(name: str, **parts: str) -> Request:
    """A prompt with its system message and examples."""
    template = _TEMPLATES[name]
    examples = [(example["input"], example["output"]) for example in template["examples"]]
    return Request(
        Template(template["input"]).substitute(parts),
        template["system"],
        tuple(examples),
    )


# ---- the loops around GNN-Ret


class Demonstration(NamedTuple):
    """A question as it ought to be taken apart: its steps with their answers, and the answer."""

    question: str
    steps: Pairs
    answer: str


def demonstrations(name: str) -> list[Demonstration]:
    """Those that a prompt has by default (``one``, ``two``), or those of a data set (§I.6).

    Raises :class:`InputError` for a data set that has none.
    """
    by_name = _TEMPLATES["demonstrated"]
    if name not in by_name:
        raise InputError(
            f"expected demonstrations of {', '.join(by_name)}, not of {name!r}",
            field="demonstrations",
        )
    return [Demonstration(**_TEMPLATES["demonstrations"][key]) for key in by_name[name]]


def self_ask_prompt(question: str, pairs: Pairs, examples: str = "") -> str:
    """GNN-Ret §I.4, SelfAsk: the next follow-up question, or the final answer.

    ``examples`` is the name of other :func:`demonstrations`.
    """
    shown = []
    for example in demonstrations(examples or "one"):
        end = f"{_NO_MORE}\nSo the final answer is: {example.answer}"
        shown.append(f"Question: {example.question}\n{_steps(_FOLLOW_UP, example.steps)}{end}")
    return _filled(
        "self_ask",
        question=question,
        pairs=_steps(_FOLLOW_UP, pairs),
        examples="\n\n".join(shown),
    )


def next_step_prompt(question: str, pairs: Pairs, examples: str = "") -> str:
    """§I.6: RGNN-Ret's next question; ``examples`` as there."""
    shown = []
    for example in demonstrations(examples or "two"):
        *before, (last, _) = example.steps
        steps = _steps("Next step", before)
        shown.append(f"Question: {example.question}\n{steps}Next step: {last}")
    return _filled(
        "next_step",
        question=question,
        pairs=_steps("Next step", pairs),
        examples="\n\n".join(shown),
    )


def _steps(label: str, pairs: Pairs) -> str:
    steps = ""
    for step, answer in pairs:
        steps += f"{label}: {step}\nIntermediate answer: {answer}\n"
    return steps


def sub_answer_prompt(question: str, contexts: Texts) -> str:
    """§I.6: the answer to a sub-question from passages; SelfAsk gives it so, too (§I.4)."""
    return _filled("sub_answer", question=question, contexts=_numbered(contexts))


def critique_prompt(question: str, answers: Texts) -> str:
    """§3.3: are the sub-answers, without their questions, evidence enough for the answer?"""
    return _filled("critique", question=question, answers="\n".join(answers))


def reason_prompt(question: str, contexts: Texts, thoughts: str = "", examples: str = "") -> str:
    """IRCoT's next thoughts after others, and ITER-RETGEN's whole answer (§I.3 and I.5).

    By default there are no ``examples``; those of a data set are shown without passages.
    """
    shown = ""
    for example in demonstrations(examples) if examples else ():
        sentences = " ".join(answer for _, answer in example.steps)
        reasoned = f"{sentences} So the answer is: {example.answer}."
        shown += f"Question: {example.question}\nAnswer: {reasoned}\n\n"
    prompt = _filled(
        "reason",
        examples=shown,
        question=question,
        contexts=_numbered(contexts),
        thoughts=thoughts,
    )
    return prompt.rstrip()


# ---- BGR


def evidence_graph_prompt(questions: Sequence[tuple[str, Texts, str]]) -> str:
    """Tables 11 to 15: questions, each with numbered facts and :func:`paths`.

    The last question lacks its paths, which are to be written.
    """
    parts = []
    for question, facts, answer in questions:
        lines = [f"{index}. {_one_line(fact)}" for index, fact in enumerate(facts)]
        part = "\n\n".join([f"Q: {question}", "\n".join(lines), f"A: {answer}"])
        parts.append(part.rstrip())
    return "\n\n---\n\n".join(parts)


def paths(graph: EvidenceGraph, numbers: Sequence[int]) -> str:
    """A graph as there: ``Q-18-20;Q-3;`` are its chains, by the number of each node."""
    written = ""
    for chain in graph.chains:
        written += "-".join(["Q", *(str(numbers[node]) for node in chain)]) + ";"
    return written


def read_paths(reply: str, n_facts: int) -> list[tuple[int, int]]:
    """The edges of the paths in a reply, the question being −1.

    A number that no fact has ends its path.
    """
    edges = {}
    for path in re.findall(r"Q((?:\s*-\s*\d+)+)", reply):
        numbers = map(int, re.findall(r"\d+", path))
        nodes = takewhile(lambda node: node < n_facts, numbers)
        edges |= dict.fromkeys(pairwise([-1, *nodes]))
    return list(edges)


def graph_answer_prompt(question: str, evidence: Texts, graph: EvidenceGraph) -> str:
    """Figure 6: the evidence in words that say how it hangs together, chain by chain."""
    chains = []
    for chain in graph.chains:
        texts = [_one_line(evidence[node]) for node in chain]
        chains.append(" Then ".join(texts))
    return answer_prompt(question, ["\nOn the other hand, ".join(chains)])
