"""What BGR learns from: questions asked in steps, and the loss, worked out anew."""

import numpy as np
import pytest
import torch

from kit.corpus import Benchmark, EvidenceGraph, Question, SubQuestion
from kit.methods.bgr.graphs import BACKWARD, FORWARD
from kit.methods.bgr.network import EvidenceNetwork
from kit.methods.bgr.search import Candidates
from kit.methods.bgr.training import BATCH, Example, PathLoss, batches, in_steps
from kit.text import Encoder

STEPS = (
    SubQuestion("Who wrote A?", "Ann", 0),
    SubQuestion("Who wed #1?", "Bo", 1, (0,)),
    SubQuestion("How old is B?", "7", 2),
    SubQuestion("Which is older, B or #2?", "B", None, (1, 2)),
)
WHOLE = Question(
    "x",
    "Who?",
    "B",
    (("p",), ("q",), ("r",)),
    decomposition=STEPS,
    evidence=EvidenceGraph(3, ((0, 1),)),
)


def example_of(facts: Benchmark, question: Question) -> Example:
    return Example(question, facts.corpus, facts.collections[question.id])


class Drawn:
    """Stands for a random generator: the integers are given."""

    def __init__(self, *drawn: int) -> None:
        self.drawn = iter(drawn)

    def integers(self, *_: int) -> int:
        return next(self.drawn)


@pytest.mark.parametrize(
    ("drawn", "text", "supporting", "edges"),
    [
        (
            (0, 3),
            "Who wrote A? Who wed that? How old is B? Which is older, B or that?",
            ("p", "q", "r"),
            ((0, 1),),
        ),
        ((1, 1), "Who wed Ann?", ("q",), ()),
        ((1, 2), "Who wed Ann? How old is B?", ("q", "r"), ()),
        # Nothing is to be found for what only compares.
        ((3, 3), "Who?", ("p", "q", "r"), ((0, 1),)),
    ],
)
def test_a_question_in_steps(
    drawn: tuple[int, int], text: str, supporting: tuple[str, ...], edges: tuple
) -> None:
    question = in_steps(WHOLE, Drawn(*drawn))
    assert (question.id, question.text) == ("x", text)
    assert question.evidence == EvidenceGraph(len(supporting), edges)
    assert question.supporting == tuple((passage,) for passage in supporting)


def test_each_epoch_has_every_question_and_one_in_steps_per_batch(facts: Benchmark) -> None:
    questions = facts.train[: 2 * BATCH + 1]
    examples = [example_of(facts, question) for question in questions]
    epochs = batches(examples, seed=5)
    for _ in range(2):
        ids = []
        for n in (BATCH, BATCH, 1):
            batch = [example.question for example in next(epochs)]
            ids += [question.id for question in batch[:n]]
            assert [question.id for question in batch[n:]] in ([], [batch[0].id])
        assert sorted(ids) == sorted(question.id for question in questions)


def test_it_learns_from_the_empty_path_and_another_in_both_directions(facts: Benchmark) -> None:
    """Of a question: the mean over two paths of the sum over free candidates (bgr-i07)."""
    network = EvidenceNetwork(Encoder(), seed=0).eval()  # without dropout
    chain = EvidenceGraph(2, ((0, 1),))
    question = next(question for question in facts.train if question.evidence == chain)
    example = example_of(facts, question)
    rows = example.rows
    gold = [rows.tolist().index(facts.corpus.row[support]) for support in question.supporting_ids]
    assert example.gold == gold
    loss = PathLoss(network)
    torch.manual_seed(0)
    with torch.no_grad():
        drawn = zip(*[list(loss.losses([example])) for _ in range(8)])

    candidates = Candidates.of(question.text, rows, facts.corpus)
    with torch.no_grad():
        [matches] = network.compare([candidates.texts])
    for direction, order, values in zip((FORWARD, BACKWARD), (gold, gold[::-1]), drawn):
        losses = []
        ranked = []
        for length in range(3):
            path = tuple(order[:length])
            target = order[length : length + 1]
            with torch.no_grad():
                states = network.read_paths([candidates.path_text(path, direction)], [direction])
                logits, likeness = network.scorer(matches, direction, [path], states)
            logits = logits[0].double()
            likeness = likeness[0].double()

            free = [index for index in range(25) if index not in path]
            probabilities = torch.sigmoid(logits)
            losses.append(
                sum(
                    -torch.log(
                        probabilities[index] if index in target else 1 - probabilities[index]
                    )
                    for index in free
                )
            )
            if target:
                others = [index for index in free if index not in target]
                ranked.append(-torch.log_softmax(likeness[[*target, *others]], 0)[0])

        with_next = float(np.mean(losses[:2]) + np.mean(ranked))
        with_end = float(np.mean([losses[0], losses[2]]) + ranked[0])
        assert {float(value) for value in values} != {float(values[0])}  # either is drawn
        for value in values:
            assert min(abs(float(value) / right - 1) for right in (with_next, with_end)) < 1e-3
