"""What is measured for claims about peers, with each encoder (``papers/peers.ipynb``).

``experiments`` has the same methods with each encoder, by its name
(:func:`kit.evaluation.encoders.with_encoders`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kit.evaluation import Experiment
from kit.evaluation.encoders import mean_gain
from kit.lab.claims.measured import Measured

GRAPHS = ("gnn-ret", "pagerank", "hipporag2", "linear", "beams", "hypergraph")

Experiments = Mapping[str, Experiment]


def _gains(experiments: Experiments, name: str, over: str) -> Iterator[Measured]:
    for encoder, experiment in experiments.items():
        how = f"{name} − {over}"
        yield Measured(experiment.gain(name, over), case=encoder, trained=(), how=how)


def peers_01(experiments: Experiments) -> Iterator[Measured]:
    """A walk that restarts at the nearest facts finds more than the same encoder alone."""
    return _gains(experiments, "hipporag2", "dense")


def peers_02(experiments: Experiments) -> Iterator[Measured]:
    """Paths of facts find more than single facts."""
    return _gains(experiments, "beams", "hipporag2")


def peers_03(experiments: Experiments) -> Iterator[Measured]:
    """Names without relations find more than a graph of facts."""
    return _gains(experiments, "linear", "hipporag2")


def peers_04(experiments: Experiments) -> Iterator[Measured]:
    """A tree of summaries finds more than passages alone."""
    return _gains(experiments, "raptor", "dense")


def peers_05(reranked: Experiment, one_by_one: str) -> Iterator[Measured]:
    """Reranking one by one loses on questions of several hops."""
    table = reranked.table
    several = replace(reranked, table=table[table["hops"] > 1])
    gain = several.gain(one_by_one, "gnn-ret")
    yield Measured(gain, trained=(), how=f"{one_by_one} − gnn-ret")


def peers_06(experiments: Experiments) -> Iterator[Measured]:
    """With a better encoder a graph loses at few passages, and still gains at more."""
    if len(experiments) < 2:
        return
    [*_, better] = experiments.values()
    for k in (2, 10):
        gain = mean_gain(better, GRAPHS, "dense", f"recall@{k}")
        yield Measured(gain, f"Recall@{k}", trained=())
