"""How the network learns which candidates are supports.

The loss of a question is the mean over its supports among the candidates of −ln softmax(s), where
s are the scores of all candidates. Supports that are no candidates are not put in: the graphs are
those that the network will get.

In each step the nodes of a level do not know some of their numbers, which are drawn for each
question; these are 0 instead. A network that leans on a single one, such as the share of a title
that stands in the question, is of use only where texts are like those that it learned from.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy import ndarray
from torch import Tensor
from torch.optim import AdamW

from kit.corpus import Benchmark
from kit.corpus.types import Questions
from kit.learning.shipped import Benchmarks
from kit.learning.training import Slot, Trainer, parts_of_epoch, periods_of
from kit.methods.graph_reranker.features import Batch, CorpusGraph, Surroundings, side_by_side
from kit.methods.graph_reranker.logistic import Scored, regression, score_all
from kit.methods.training import draw
from kit.text.tfidf import best_rows

if TYPE_CHECKING:
    from kit.methods.graph_reranker.retriever import GraphReranker

BATCH = 8  # questions per step
#: The highest learning rate, by where the network begins.
LEARNING_RATES = {"untrained": 2e-3, "worlds": 5e-4}
WEIGHT_DECAY = 0.01
UNKNOWN = 0.2  # the share of numbers that nodes do not know


class Example(NamedTuple):
    """A question to learn from."""

    graph: Surroundings
    supports: Tensor  # which of the candidates


Examples = Sequence[Example]


def train(learner: "GraphReranker", benchmarks: Benchmarks, slot: Slot) -> Path:
    """Train a network that begins as that of ``learner``, and return the weights' folder."""
    settings = learner.settings
    teaching = []
    choosing = []
    for benchmark in benchmarks:
        n_train = settings.n_train or len(benchmark.train)
        learner = learner.variant(corpus=benchmark.corpus)
        teaching += _scored(learner, benchmark, draw(benchmark.train, n_train, settings.seed))
        choosing += _scored(learner, benchmark, benchmark.dev)

    network = learner.new_network()
    if learner.learned is None:
        weights, _ = regression([question for _, question in teaching])
        network.begin_with(weights)
    base = network.base.weight.detach().numpy()[0]
    examples = _examples(teaching, base, settings.candidates)
    held_out = _examples(choosing, base, settings.candidates)

    def log_likelihood(batch: Examples, unknown: float = 0) -> Tensor:
        """The mean of ln softmax(s) over the supports, for each question, (questions,)."""
        graphs = without_some(side_by_side([example.graph for example in batch]), unknown)
        scores, _ = network(graphs, learner.kinds)
        likelihoods = []
        for example, of_question in zip(batch, scores[-1].split(graphs.sizes)):
            likelihoods.append(of_question.log_softmax(0)[example.supports].mean())
        return torch.stack(likelihoods)

    @torch.no_grad()
    def check(step: int) -> dict[str, float]:
        likelihoods = [log_likelihood(batch) for batch in _batches(held_out)]
        return {"measured": torch.cat(likelihoods).mean().item()}

    trainer = Trainer(
        network,
        AdamW(network.parameters(), weight_decay=WEIGHT_DECAY),
        lambda batch: -log_likelihood(batch, UNKNOWN).mean(),
        check=check if held_out else None,
    )
    parts = []
    for epoch in range(settings.epochs):
        order = np.random.default_rng([settings.seed, epoch]).permutation(len(examples))
        batches = list(_batches([examples[pick] for pick in order]))
        parts += parts_of_epoch(batches)
    return trainer.run(periods_of(parts, LEARNING_RATES[settings.start]), slot)


def without_some(graphs: Batch, share: float) -> Batch:
    """The graphs with a share of the numbers set to 0, drawn for each question and level."""
    numbers = {}
    for level, of_nodes in graphs.numbers.items():
        n_nodes = [len(part.rows[level]) for part in graphs.parts]
        is_known = torch.rand(len(n_nodes), of_nodes.shape[1]) >= share  # (questions, numbers)
        numbers[level] = of_nodes * is_known.repeat_interleave(torch.tensor(n_nodes), 0)
    return graphs._replace(numbers=numbers)


def _scored(
    learner: "GraphReranker", benchmark: Benchmark, questions: Questions
) -> Iterator[tuple[CorpusGraph, Scored]]:
    """The questions with their pools, over the corpora that they are asked of."""
    for corpus, group in benchmark.asked_together(questions):
        graph = learner.graph_of_corpus
        if corpus is not benchmark.corpus:
            graph = learner.graph_of(corpus)
        for question in score_all(graph.scorers, group):
            yield graph, question


def _examples(
    scored: Iterable[tuple[CorpusGraph, Scored]], base: ndarray, n_candidates: int
) -> list[Example]:
    """Those questions that have a support among their candidates."""
    examples = []
    for corpus, question in scored:
        best = best_rows(question.scores @ base, n_candidates)
        supports = np.flatnonzero(question.is_support[best])
        if len(supports):
            graph = corpus.around(
                question.text,
                question.vector,
                question.rows[best],
                question.scores[best],
            )
            examples.append(Example(graph, torch.from_numpy(supports)))
    return examples


def _batches(examples: Examples) -> Iterator[Examples]:
    for start in range(0, len(examples), BATCH):
        yield examples[start : start + BATCH]
