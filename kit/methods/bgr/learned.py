"""What BGR learned: measured on dev questions, written and read, and made small for the kit."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
from safetensors.torch import save_file

from kit.learning.packed import pack, unpack
from kit.learning.training import HISTORY, Weights, read_weights
from kit.methods.bgr.choices import Choices, Trial, choose, gold_edges, marks
from kit.methods.bgr.graphs import DIRECTIONS
from kit.methods.bgr.likely import THRESHOLDS, judged_graphs
from kit.methods.bgr.network import EvidenceNetwork
from kit.methods.bgr.search import Acceptance, Searches, searches_of
from kit.methods.bgr.training import Example

WEIGHTS = "weights.safetensors"
AT_ONCE = 32  # questions that are searched together


@dataclass
class Learned:
    """What BGR learned; the network is made when it is needed, once for all variants."""

    weights: Weights  # of a network, as :func:`kit.learning.packed.unpack` reads them
    choices: Choices
    make: Callable[[], EvidenceNetwork]  # before it has learned

    @cached_property
    def network(self) -> EvidenceNetwork:
        """Ready to judge."""
        network = self.make()
        network.load_state_dict(unpack(self.weights, network.state_dict()))
        return network

    @classmethod
    def read(cls, folder: Path, make: Callable[[], EvidenceNetwork]) -> Self:
        """What :func:`write` or :func:`ship` has put into a folder."""
        return cls(read_weights(folder), Choices.read(folder), make)


def search_all(network: EvidenceNetwork, examples: Sequence[Example]) -> list[Searches]:
    """Searches of examples with the lowest threshold."""
    acceptances = {direction: Acceptance(THRESHOLDS[0]) for direction in DIRECTIONS}
    searches = []
    for start in range(0, len(examples), AT_ONCE):
        some = examples[start : start + AT_ONCE]
        searches += searches_of(network, [example.candidates for example in some], acceptances)
    return searches


def measure(network: EvidenceNetwork, dev: Sequence[Example], step: int) -> dict[str, float]:
    """How good the graphs of both directions are for dev questions, with the usual thresholds."""
    network.eval()  # a period leaves its dropout on
    usual = Choices()
    scores = [(0.0, 0.0)]
    if dev:
        scores = [
            marks(search.at(usual.threshold(direction)).positions(), gold_edges(example))
            for example, searches in zip(dev, search_all(network, dev))
            for direction, search in searches.items()
        ]
    matched, f1 = np.mean(scores, axis=0)
    return {"measured": float(f1), "matched": float(matched)}


def write(network: EvidenceNetwork, dev: Sequence[Example], folder: Path) -> None:
    """The weights, and what is chosen with them."""
    network.eval()
    all_searches = search_all(network, dev)
    all_graphs = judged_graphs(network, all_searches)
    trials = [
        Trial(gold_edges(example), searches, graphs)
        for example, searches, graphs in zip(dev, all_searches, all_graphs)
    ]
    choose(trials).write(folder)
    save_file(network.state_dict(), folder / WEIGHTS)


def ship(learned: Path, folder: Path, untrained: EvidenceNetwork) -> None:
    """Put the weights of a folder into another in few bytes, with the choices and the history.

    Of the encoder's layers four bits are kept of what changed in a number, of the others float16.
    """
    base = untrained.state_dict()
    encoder = {}
    others = {}
    for name, weight in read_weights(learned).items():
        if name.startswith("encoder."):
            encoder[name] = weight
        else:
            others[name] = weight.half()

    folder.mkdir(parents=True, exist_ok=True)
    save_file(pack(encoder, base) | others, folder / WEIGHTS)
    Choices.read(learned).write(folder)
    shutil.copyfile(learned / HISTORY, folder / HISTORY)
