"""How BGR learns: from paths of questions' own evidence graphs, in both directions (BGR §6.2).

The paper gives no loss. Ours is the binary cross-entropy of Eq. 1's judgements (bgr-i07).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import numpy as np
import torch
from msgspec.structs import replace
from numpy import ndarray
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from kit.corpus import Corpus, EvidenceGraph, Question
from kit.methods.bgr.graphs import BACKWARD, DIRECTIONS, NodePath, decisions
from kit.methods.bgr.network import CandidateMatches, EvidenceNetwork
from kit.methods.bgr.search import Candidates

BATCH = 4  # questions per step
PATHS = 2  # per question and direction
ENCODER_TIMES = 0.25  # the encoder's share of the learning rate
WEIGHT_DECAY = 0.01
ANSWER = "that"  # stands for an answer that is not known yet


class Example(NamedTuple):
    """A question to learn from, and the rows of its corpus that are its candidates."""

    question: Question
    corpus: Corpus
    rows: ndarray

    @property
    def candidates(self) -> Candidates:
        """The question and the passages, as they are searched."""
        return Candidates.of(self.question.text, self.rows, self.corpus)

    @property
    def gold(self) -> list[int]:
        """The position among the candidates of each node of the question's graph."""
        positions = {row: position for position, row in enumerate(self.rows.tolist())}
        return [positions[self.corpus.row[carriers[0]]] for carriers in self.question.supporting]


@dataclass
class PathTarget:
    """A path of a question's graph and what comes next on it, as positions of candidates."""

    path: NodePath
    next_positions: list[int]


@dataclass
class PathLoss:
    """The loss of a network on examples.

    Two paths per question and direction are learned: the empty one, and another that is drawn anew.
    More steps of these learn better in less time than fewer of all paths.
    """

    network: EvidenceNetwork

    def __call__(self, examples: Sequence[Example]) -> Tensor:
        """The mean loss over questions and directions."""
        return torch.stack([*self.losses(examples)]).mean()

    def losses(self, examples: Sequence[Example]) -> Iterator[Tensor]:
        """The loss of each question, forward and backward."""
        self.network.encoder.eval()  # without dropout, as in all trainings of encoders here
        all_candidates = [example.candidates for example in examples]
        targets = []
        texts = []
        directions = []
        for example, candidates in zip(examples, all_candidates):
            for direction in DIRECTIONS:
                pair = draw_paths(example, direction)
                targets += pair
                texts += [candidates.path_text(target.path, direction) for target in pair]
                directions += PATHS * [direction]
        states = self.network.read_paths(texts, directions)  # all together

        start = 0
        for matches in self.network.compare([question.texts for question in all_candidates]):
            for direction in DIRECTIONS:
                window = slice(start, start + PATHS)
                yield self._loss(
                    matches,
                    direction,
                    targets[window],
                    states[window],
                )
                start += PATHS

    def _loss(
        self,
        matches: CandidateMatches,
        direction: str,
        targets: Sequence[PathTarget],
        states: Sequence[Tensor],
    ) -> Tensor:
        """How wrongly candidates are judged, and how unlike a path is to what comes next.

        The second part, a softmax over the likeness of vectors, lets the encoder learn faster.
        """
        paths = [target.path for target in targets]
        logits, likeness = self.network.scorer(matches, direction, paths, states)
        is_right = torch.zeros_like(logits)  # (paths, candidates)
        is_free = torch.ones_like(logits)  # what is on the path already does not count
        for row, target in enumerate(targets):
            is_right[row, target.next_positions] = 1
            is_free[row, list(target.path)] = 0

        judged = binary_cross_entropy_with_logits(
            logits,
            is_right,
            weight=is_free,
            reduction="none",
        )
        if likeness is None:
            return judged.sum(1).mean()

        is_no_rival = (is_right + 1 - is_free).bool()
        rivals = likeness.masked_fill(is_no_rival, -torch.inf).logsumexp(1, keepdim=True)
        unlike = torch.logaddexp(likeness, rivals) - likeness
        return judged.sum(1).mean() + unlike[is_right.bool()].mean()


def draw_paths(example: Example, direction: str) -> list[PathTarget]:
    """The empty path, and another of the question's graph."""
    gold = example.gold
    targets = []
    for nodes, next_nodes in decisions(example.question.evidence, direction == BACKWARD).items():
        path = tuple(gold[node] for node in nodes)
        targets.append(PathTarget(path, [gold[node] for node in next_nodes]))

    empty, *others = targets
    return [empty, others[int(torch.randint(len(others), ()))]]


def optimiser_of(network: nn.Module) -> torch.optim.Optimizer:
    """AdamW, slower for the network's encoder than for what begins from nothing."""
    others = [
        weight for name, weight in network.named_parameters() if not name.startswith("encoder.")
    ]
    return torch.optim.AdamW(
        [
            {"params": network.encoder.parameters(), "times": ENCODER_TIMES},
            {"params": others},
        ],
        weight_decay=WEIGHT_DECAY,
    )


def batches(
    examples: Sequence[Example],
    seed: int,
    size: int = BATCH,
    with_steps: bool = True,
) -> Iterator[list[Example]]:
    """Epoch after epoch without end, each in another order.

    The first question of each batch stands in it once more, asked in steps, if ``with_steps``.
    """
    for epoch in count():
        rng = np.random.default_rng([seed, epoch])
        order = rng.permutation(len(examples))
        for start in range(0, len(order), size):
            batch = [examples[index] for index in order[start : start + size]]
            first = batch[0]
            if with_steps and first.question.decomposition:
                batch.append(first._replace(question=in_steps(first.question, rng)))
            yield batch


def in_steps(question: Question, rng: np.random.Generator) -> Question:
    """The question asked by some sub-questions in a row, with answers of those before filled in.

    Less is to be found then. Where the drawn sub-questions only compute, or the question has no
    graph, it stays as it is.
    """
    steps = question.decomposition
    first = int(rng.integers(len(steps)))
    last = int(rng.integers(first, len(steps)))
    drawn = steps[first : last + 1]
    kept = sorted({step.support for step in drawn} - {None})
    if not kept or not question.evidence:
        return question

    answers = [step.answer for step in steps[:first]]
    answers += [ANSWER] * len(steps)
    edges = [
        (kept.index(parent), kept.index(child))
        for parent, child in question.evidence.edges
        if {parent, child}.issubset(kept)
    ]
    return replace(
        question,
        text=" ".join(step.filled(answers) for step in drawn),
        supporting=tuple(question.supporting[support] for support in kept),
        evidence=EvidenceGraph(len(kept), tuple(edges)),
    )
