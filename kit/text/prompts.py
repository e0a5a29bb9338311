"""What language models are asked: the prompts of kgp.txt §8.9, qsgnn.txt A.10, bgr.txt A.6, ras.txt B.5, gnn-ret.txt I.

The words are the papers', or ours where theirs are lost, and stand in ``prompts.toml``, the five-barred lines between
the parts ("=====") included.
"""

import json
import re
import tomllib
from collections.abc import Sequence
from itertools import pairwise, takewhile
from pathlib import Path
from string import Template

from kit.corpus import EvidenceGraph, Passage, PlainTriple

MOST_TRIPLES = 100  # of a graph in a prompt
_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _filled(name: str, **parts: str) -> str:
    return Template(_WORDS[name]).substitute(parts)


def evidence_prompt(question: str, evidence: Sequence[str], name: str = "evidence") -> str:
    """Listing 1: the instruction; then in one line the question and the evidence as it was found.

    ``prefixed_evidence`` is that for a sequence-to-sequence model.
    """
    return _filled(name, input=" ".join([question, *evidence]).replace("\n", " "))


def answer_prompt(question: str, contexts: Sequence[str] = ()) -> str:
    """Listing 2 where there is no context, else Listings 3 and 4, which write the line ends of a context as ``\\n``."""
    if not contexts:
        return _filled("answer_without_context", question=question)
    return _filled("answer", question=question, contexts=_numbered(contexts))


def _numbered(contexts: Sequence[str]) -> str:
    lines = [
        "\\n ".join(line.strip() for line in context.splitlines() if line.strip())
        for context in contexts
    ]
    return "\n\n".join(f"{number}: {line}" for number, line in enumerate(lines, start=1))


def grading_prompt(question: str, answer: str, prediction: str) -> str:
    """Listing 5: is the prediction right? The reply is to be 1 or 0."""
    return _filled("grading", question=question, answer=answer, prediction=prediction)


def grade(reply: str) -> bool | None:
    """What a reply to :func:`grading_prompt` says: right, wrong, or (None) neither."""
    found = {character for character in reply if character in "01"}
    return found == {"1"} if len(found) == 1 else None


def extraction_prompt(what: str, passage: Passage, names: Sequence[str] = ()) -> str:
    """Figure 11 of qsgnn.txt, the named ``entities`` of a passage, and Figure 12, ``triples`` about these names."""
    listed = json.dumps(list(names), ensure_ascii=False)
    return _filled(what, paragraph=f"{passage.title}\\n {passage.text}", names=listed)


def plan_prompt(question: str, steps: Sequence[tuple[str, Sequence[PlainTriple]]]) -> str:
    """Figures 8 to 10 of ras.txt: what is to be asked next?

    The oldest triples are left out first where there are more than MOST_TRIPLES: never the question (ras-i27).
    """
    left, lines = MOST_TRIPLES, []
    for text, triples in reversed(steps):
        kept = [f"(S> {s}| P> {p}| O> {o})" for s, p, o in triples[max(0, len(triples) - left) :]]
        left -= len(kept)
        lines.append(
            f"[SUBQ] {text}\n\nRetrieved Graph Information: {json.dumps(kept, ensure_ascii=False)}\n\n"
        )
    return _filled("plan", steps="".join(reversed(lines)), question=question)


Pairs = Sequence[tuple[str, str]]  # sub-questions with their answers


def self_ask_prompt(question: str, pairs: Pairs) -> str:
    """gnn-ret.txt §I.4, SelfAsk: the next follow-up question, or the final answer."""
    asked = (
        "Are follow up questions needed here: Yes.\nFollow up: {}\nIntermediate answer: {}\n".format
    )
    return _filled("self_ask", question=question, pairs="".join(asked(*pair) for pair in pairs))


def next_step_prompt(question: str, pairs: Pairs) -> str:
    """§I.6: RGNN-Ret's next question."""
    told = "".join(
        f"Next step: {asked}\nIntermediate answer: {answer}\n" for asked, answer in pairs
    )
    return _filled("next_step", question=question, pairs=told)


def sub_answer_prompt(question: str, contexts: Sequence[str]) -> str:
    """§I.6: the answer to a sub-question from passages; SelfAsk gives it so, too (§I.4)."""
    return _filled("sub_answer", question=question, contexts=_numbered(contexts))


def critique_prompt(question: str, answers: Sequence[str]) -> str:
    """§3.3: are the sub-answers, without the sub-questions, evidence enough for the final answer?"""
    return _filled("critique", question=question, answers="\n".join(answers))


def reason_prompt(question: str, contexts: Sequence[str], thoughts: str = "") -> str:
    """IRCoT's next thoughts after others, and ITER-RETGEN's whole answer (§I.3 and I.5)."""
    return _filled(
        "reason", question=question, contexts=_numbered(contexts), thoughts=thoughts
    ).rstrip()


def evidence_graph_prompt(asked: Sequence[tuple[str, Sequence[str], str]]) -> str:
    """Tables 11 to 15 of bgr.txt: questions, each with numbered facts and :func:`paths`, which the last one lacks."""
    parts = []
    for question, facts, answer in asked:
        numbered = "\n".join(
            f"{number}. {' '.join(fact.split())}" for number, fact in enumerate(facts)
        )
        parts.append(f"Q: {question}\n\n{numbered}\n\nA: {answer}".rstrip())
    return "\n\n---\n\n".join(parts)


def paths(graph: EvidenceGraph, numbers: Sequence[int]) -> str:
    """A graph as there: ``Q-18-20;Q-3;`` are its chains, by the number of each node."""
    return "".join(f"Q-{'-'.join(str(numbers[node]) for node in chain)};" for chain in graph.chains)


def read_paths(reply: str, n_facts: int) -> list[tuple[int, int]]:
    """The edges of the paths in a reply, the question being −1; a number that no fact has ends its path."""
    edges: dict[tuple[int, int], None] = {}
    for path in re.findall(r"Q((?:\s*-\s*\d+)+)", reply):
        numbers = takewhile(lambda number: number < n_facts, map(int, re.findall(r"\d+", path)))
        edges |= dict.fromkeys(pairwise([-1, *numbers]))
    return list(edges)


def graph_answer_prompt(question: str, evidence: Sequence[str], graph: EvidenceGraph) -> str:
    """bgr.txt A.6, Figure 6: the evidence in words that say how it hangs together, along each chain of its graph."""
    chains = [
        " Then ".join(" ".join(evidence[node].split()) for node in chain) for chain in graph.chains
    ]
    return answer_prompt(question, ["\nOn the other hand, ".join(chains)])
