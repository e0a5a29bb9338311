"""What BGR chooses on dev questions: thresholds, how Eq. 3 is read, and what evidence is worth."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Self, get_args

import msgspec
import numpy as np
from msgspec.structs import replace

from kit.methods.bgr.graphs import BACKWARD, DIRECTIONS, QUESTION, Edges, Reading, acyclic, merge
from kit.methods.bgr.likely import THRESHOLDS, Candidate, most_likely
from kit.methods.bgr.search import Searches
from kit.methods.bgr.training import Example

FILE = "choices.json"  # beside the weights
GAMMAS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
BONUSES = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)


class Choices(msgspec.Struct, frozen=True):
    """Chosen by graph match and F1 of the evidence; these are the values without dev questions."""

    forward: float = -1.0  # the threshold of this direction
    backward: float = -1.0
    rule: Reading = "code"
    base: str = BACKWARD  # the direction whose edges stay in any case
    gamma: float = 0.2
    bonus: float = 1.5  # λ of the most likely graph

    def threshold(self, direction: str) -> float:
        """A logit above it is evidence."""
        return getattr(self, direction)

    def merged(self, graphs: dict[str, Edges]) -> Edges:
        """Eq. 3 as it was chosen."""
        other = next(direction for direction in DIRECTIONS if direction != self.base)
        return merge(graphs[other], graphs[self.base], self.gamma, self.rule)

    def write(self, folder: Path) -> None:
        """Into a file of a folder."""
        (folder / FILE).write_bytes(msgspec.json.format(msgspec.json.encode(self)))

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Those of a folder, or the usual ones."""
        file = folder / FILE
        if not file.exists():
            return cls()
        return msgspec.json.decode(file.read_bytes(), type=cls)


@dataclass
class Trial:
    """A dev question, on which choices are tried."""

    gold: Edges
    searches: Searches  # of the lowest threshold
    candidates: Sequence[Candidate]  # for the most likely graph
    graphs: dict[tuple[str, float], Edges] = field(default_factory=dict)  # that were searched

    def searched(self, choices: Choices, direction: str) -> Edges:
        """The graph of one direction."""
        key = (direction, choices.threshold(direction))
        if key not in self.graphs:
            self.graphs[key] = self.searches[direction].at(key[1]).positions()
        return self.graphs[key]

    def merged(self, choices: Choices) -> Edges:
        """The graph of Eq. 3."""
        graphs = {direction: self.searched(choices, direction) for direction in DIRECTIONS}
        return list(acyclic(choices.merged(graphs)).edges)

    def likely(self, choices: Choices) -> Edges:
        """The most likely graph."""
        return most_likely(self.candidates, self.searches, choices.bonus)


def choose(trials: Sequence[Trial]) -> Choices:
    """The best of all values that are tried, one after the other."""
    choices = Choices()
    if not trials:
        return choices
    for direction in DIRECTIONS:
        options = [replace(choices, **{direction: threshold}) for threshold in THRESHOLDS]
        choices = _best(options, trials, partial(Trial.searched, direction=direction))

    options = [
        replace(choices, rule=rule, base=base, gamma=gamma)
        for rule, base, gamma in product(get_args(Reading), DIRECTIONS, GAMMAS)
    ]
    choices = _best(options, trials, Trial.merged)
    options = [replace(choices, bonus=bonus) for bonus in BONUSES]
    return _best(options, trials, Trial.likely)


def _best(
    options: Sequence[Choices],
    trials: Sequence[Trial],
    make: Callable[[Trial, Choices], Edges],
) -> Choices:
    """The choices whose graphs are best, by graph match and F1; of equals the first."""
    scores = []
    for option in options:
        scores.append(sum(sum(marks(make(trial, option), trial.gold)) for trial in trials))
    return options[int(np.argmax(scores))]


def gold_edges(example: Example) -> Edges:
    """The edges of the question's graph, between positions and the question."""
    names = [*example.gold, QUESTION]
    graph = example.question.evidence.rooted
    return [(names[parent], names[child]) for parent, child in graph.edges]


def marks(edges: Edges, gold: Edges) -> tuple[float, float]:
    """Graph match and F1 of the evidence, of a graph against the question's own."""
    evidence = {child for _, child in edges}
    right = {child for _, child in gold}
    f1 = 2 * len(evidence & right) / (len(evidence) + len(right))
    return float(set(edges) == set(gold)), f1
