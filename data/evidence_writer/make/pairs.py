"""What a model that writes evidence is asked and what it is to write: Listing 1 of kgp.txt, from gold supports."""

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from kit.corpus import Corpus, Passage, Question
from kit.corpus.sentences import split_sentences
from kit.text.entities import STOP_WORDS
from kit.text.prompts import prefixed_evidence_prompt
from kit.text.tfidf import TfidfIndex

OFFERED = 10  # passages nearest to a question, of which one that is no support is read in vain


def evidence_pairs(questions: Sequence[Question], corpus: Corpus, seed: int = 0) -> list[tuple[str, str]]:
    """Prompts with the evidence that answers them, each pair once.

    To the question alone belong the supports that it leads to by itself; to the question with a support, those that
    are read in its light, or the others where there are none. A walk often starts from a passage that is no support:
    then the evidence is still that of the question alone; one such passage is drawn by ``seed`` for each question.
    Of a support only the title and the clause of :func:`supporting_clause` are to be written.
    """
    rng = np.random.default_rng(seed)
    pairs: list[tuple[str, str]] = []
    for question, near in zip(
        questions, TfidfIndex(corpus).nearest([question.text for question in questions], OFFERED)
    ):
        edges = _edges(question)
        supports = [corpus[carriers[0]] for carriers in question.supporting]
        written = [f"{it.title} {supporting_clause(question, place, it)}" for place, it in enumerate(supports)]
        first = [place for place in range(question.hops) if place not in {after for _, after in edges}]
        in_vain = [corpus.passages[row] for row in near if corpus.passages[row].id not in question.supporting_ids]
        asked = [([], first)]
        for place, support in enumerate(supports):
            followers = sorted(after for before, after in edges if before == place)
            asked.append(([support.full_text], followers or [other for other in first if other != place]))
        if in_vain:
            asked.append(([in_vain[rng.integers(len(in_vain))].full_text], first))
        for path, wanted in asked:
            if text := " ".join(written[place] for place in wanted):
                pairs.append((prefixed_evidence_prompt(question.text, path), text))
    return list(dict.fromkeys(pairs))


def supporting_clause(question: Question, place: int, support: Passage) -> str:
    """The clause of a support that says what is needed, the first of several: what stands beside it would be noise.

    It is the one that shares most words with the support's evidence triple, above all with its object; where a data set
    has no triple for each support, with the answer, the sub-question and the question. Words of the title do not count.
    """
    if len(question.triples) == question.hops:
        subject, relation, object = question.triples[place]
        clues = [object, subject, relation]
    else:
        steps = [f"{step.text} {step.answer}" for step in question.decomposition if step.support == place]
        clues = [question.answer, *steps, question.text]
    weights: dict[str, float] = dict.fromkeys(_words(support.title), 0)
    for weight, clue in zip((4, 2, 1), clues, strict=False):
        weights |= {word: weight for word in _words(clue) if word not in weights}
    clauses = [clause for sentence in split_sentences(support.text) for clause in re.split(r"[,;:] ", sentence)]
    return max(clauses, key=lambda clause: sum(weights.get(word, 0) for word in _words(clause)), default="")


def _edges(question: Question) -> Sequence[tuple[int, int]]:
    """Supports, and those that are read in their light.

    A data set without evidence graphs has an order, except for comparison questions (kgp-i32).
    """
    if question.evidence is not None:
        return question.evidence.edges
    return [] if question.type == "comparison" else list(pairwise(range(question.hops)))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower())) - STOP_WORDS
