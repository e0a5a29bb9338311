"""A chat model that draws evidence graphs, and answers with them (BGR Table 4, A.6)."""

import numpy as np
from numpy import ndarray
from numpy.random import default_rng

from kit.corpus import Benchmark, Question
from kit.corpus.types import Texts
from kit.lab.claims.bgr_graphs import ranking_of
from kit.methods import Ranking
from kit.methods.training import draw
from kit.readers.scoring import exact_match
from kit.text import language_model
from kit.text.prompts import (
    answer_prompt,
    evidence_graph_prompt,
    graph_answer_prompt,
    paths,
    read_paths,
)

SHOTS = 5  # solved examples in a prompt


def drawn_graphs(
    model: str,
    benchmark: Benchmark,
    training: Benchmark,
    seed: int = 0,
) -> dict[str, Ranking]:
    """The graph that a model draws for each test question, by the question's id.

    It reads five questions of dev with their numbered facts and graphs, written as
    ``Q-18-20;Q-3;``, a path per chain, and then the question's own facts.
    """
    solved = [question for question in training.dev if question.evidence]
    shots = [_as_example(training, question) for question in draw(solved, SHOTS, seed)]
    prompts = []
    for question in benchmark.test:
        text, facts, _ = _as_example(benchmark, question)
        prompts.append(evidence_graph_prompt([*shots, (text, facts, "")]))

    rankings = {}
    replies = language_model(model).generate(prompts)
    for question, reply in zip(benchmark.test, replies, strict=True):
        facts = benchmark.collection(question)
        rankings[question.id] = ranking_of(facts, read_paths(reply.text, len(facts)))
    return rankings


def _as_example(benchmark: Benchmark, question: Question) -> tuple[str, Texts, str]:
    """The question, its facts, and its graph in their numbers."""
    facts = benchmark.collection(question)
    rows = [facts.row[carriers[0]] for carriers in question.supporting]
    texts = [fact.full_text for fact in facts.passages]
    return question.text, texts, paths(question.evidence, rows)


def answers_with_graph(model: str, benchmark: Benchmark, seed: int = 0) -> dict[str, ndarray]:
    """Exact matches of a model's answers from the right evidence, with the graph and without."""
    generator = default_rng(seed)
    prompts = {"without": [], "with": []}
    for question in benchmark.test:
        facts = [benchmark.corpus[carriers[0]].full_text for carriers in question.supporting]
        shuffled = [facts[node] for node in generator.permutation(len(facts))]
        prompts["without"].append(answer_prompt(question.text, shuffled))
        prompts["with"].append(graph_answer_prompt(question.text, facts, question.evidence))

    right = {}
    for name, texts in prompts.items():
        replies = language_model(model).generate(texts)
        pairs = zip(replies, benchmark.test, strict=True)
        right[name] = np.array([exact_match(reply.text, q.answers) for reply, q in pairs])
    return right
