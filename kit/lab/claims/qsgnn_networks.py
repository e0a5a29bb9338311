"""The networks that are trained for QSGNN's tables of ablations, and what is measured on them.

QSGNN Tables 6, 10, 11 and 12, Figure 3. Each network begins at its own start, not at the
weights of other worlds, and learns as the paper's does: first from synthetic questions, then from
training questions.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec
import numpy as np
import pandas as pd
import torch
from numpy import ndarray
from numpy.random import Generator, default_rng
from pandas import DataFrame, Series
from torch.nn.functional import normalize

from kit.corpus import Benchmark, Corpus, Question
from kit.corpus.types import Questions, Texts
from kit.evaluation import (
    SEED,
    Experiment,
    all_seeds,
    evaluate,
    mean_over_seeds,
    per_question,
    per_seed,
)
from kit.evaluation.results import UNTRAINED
from kit.lab.lesson import Lesson
from kit.lab.sweep import sweep_retriever
from kit.methods import make
from kit.methods.qsgnn.network import LEVELS
from kit.methods.qsgnn.retriever import QSGNN
from kit.settings import Value

WHOLE = "all of it"
PARTS = ("entity", "chunk", "query", "intra", "inter", "document")
STAGES = ("pre-training", "fine-tuning")
AS_PRINTED = {"init": "random", "temperature": 1.0, "logit_scale": 1.0}
LAYERS = (1, 3, 4)  # beside two
NARROW = 32  # the least width of Figure 3
FEWER = "a quarter of the synthetic"
NEGATIVES = (1, 10, 30, 50, 100)  # Table 12
SHARES = (0.0, 1.0, 2.0)  # random edges beside those between entities
N_BEST = 10  # sentences that a reader gets (Table 10)

Settings = Mapping[str, Value]


@dataclass(frozen=True)
class Grid:
    """Networks of the tables by name, with their settings.

    ``groups`` are the tables; the first network of a group is what the others are compared with.
    """

    base: Settings
    changes: Mapping[str, Settings]  # of each network beside the base
    groups: Mapping[str, Texts]
    several: frozenset[str]  # names of those that have several seeds
    processes: int = 2  # that train them side by side

    @property
    def starts(self) -> dict[str, str]:
        """What each network's training begins with, as the name of a network that never learned.

        How it learns does not change where it begins.
        """
        shapes = ("ablate", "init", "logit_scale", "temperature", "layers", "dimension")
        starts = {}
        for name, changed in self.changes.items():
            is_whole = not set(changed) & set(shapes) or changed.get("ablate") in STAGES
            starts[name] = (WHOLE if is_whole else name) + UNTRAINED
        return starts

    def cells(self, seed: int, seeds: Sequence[int]) -> dict[str, Settings]:
        """The settings of each network with each of its seeds, and of what they begin with."""
        settings = {name: {**self.base, **changed} for name, changed in self.changes.items()}
        for start in self.starts.values():
            trained = settings[start.removesuffix(UNTRAINED)]
            settings[start] = trained | {"epochs": 0, "synthetic": 0}

        cells = {}
        for name, values in settings.items():
            for of_cell in seeds if name in self.several else [seed]:
                label = f"{name}{SEED}{of_cell}" if of_cell != seed else name
                cells[label] = {**values, "seed": of_cell}
        return cells


def grid_of(paper: Lesson, scale: str) -> Grid:
    """The networks that a scale has time for.

    Those of more layers, less width and other numbers of negatives are trained at ``paper`` alone:
    they would take half of the time.
    """
    base = _base_of(paper, scale)
    parts = {WHOLE: {}} | {f"no {part}": {"ablate": part} for part in PARTS}
    training = {"as printed": AS_PRINTED}
    if base["epochs"]:
        training |= {f"no {stage}": {"ablate": stage} for stage in STAGES}
    sizes = {"1 layer": {"layers": 1}}
    negatives = {}
    if scale == "paper":
        sizes |= {f"{n} layers": {"layers": n} for n in LAYERS[1:]}
        sizes |= {f"{NARROW} wide": {"dimension": NARROW}}
        sizes |= {FEWER: {"synthetic": paper.scale.n_ablated // 4}}
        negatives = {
            f"{n} negatives": {"negatives": n, "training_documents": 104} for n in NEGATIVES
        }

    changes = parts | training | sizes | negatives
    groups = {
        "parts (Tables 6, 10)": tuple(parts),
        "training (Table 10)": (WHOLE, *training),
        "sizes (Table 11, Figure 3)": (WHOLE, *sizes),
    }
    if negatives:
        in_order = sorted(negatives, key=lambda name: name != "30 negatives")
        groups["negatives of 103 (Table 12)"] = tuple(in_order)
    if scale == "smoke":  # all are trained before a second process has started
        return Grid(base, changes, groups, frozenset([WHOLE, "no query"]), processes=1)
    return Grid(base, changes, groups, frozenset(changes))


def _base_of(paper: Lesson, scale: str) -> dict[str, Value]:
    """The settings that all networks of a grid share."""
    n_train = 0
    if paper.training:
        n_train = min(paper.scale.n_train_ablated, len(paper.training.train))
    base = {
        "start": "untrained",
        "synthetic": paper.scale.n_ablated,
        "n_train": n_train,
        "epochs": int(paper.training is not None),
        "learning_rate": 2e-3,
    }
    if scale == "smoke":
        base |= {"dimension": 64, "documents": 30, "training_documents": 30}
    return base


@dataclass(frozen=True)
class Ablations:
    """Trained networks of a grid by name, with their seeds, and what they found.

    ``dense`` has the Recall@5 of dense retrieval per question.
    """

    grid: Grid
    networks: Mapping[str, QSGNN]
    experiment: Experiment
    dense: Series

    def of(self, *names: str) -> tuple[QSGNN, ...]:
        """The networks with these names, of all seeds."""
        return all_seeds(self.networks, *names)

    def recalls(self, name: str) -> ndarray:
        """Recall@5 of each question with each seed, (questions, seeds)."""
        return per_seed(self.experiment, name, "recall@5").to_numpy()

    @cached_property
    def hops(self) -> ndarray:
        """Of each question, in the order of the recalls."""
        return hops_of(self.experiment)

    @property
    def names(self) -> list[str]:
        """Those of networks that are trained."""
        return list(self.grid.changes)


def hops_of(experiment: Experiment) -> ndarray:
    """The hops of each question, in the order of ``per_question``."""
    hops = {question.id: question.hops for question in experiment.questions}
    order = per_question(experiment, "recall@5").index
    return np.array([hops[question] for question in order])


def train_and_ask(grid: Grid, paper: Lesson, ks: tuple[int, ...] = (2, 5, 10)) -> Ablations:
    """Train all networks of a grid, or find them where they were trained before, and ask them."""
    cells = grid.cells(paper.seed, paper.seeds)
    make("qsgnn", **grid.base).index(paper.benchmark.corpus)  # its texts are encoded once for all
    table = sweep_retriever(
        "qsgnn",
        list(cells.values()),
        paper.benchmark,
        paper.training,
        ks=ks,
        jobs=grid.processes,
    )
    dense = evaluate(
        ["dense"],
        paper.benchmark,
        ks=ks,
        training=paper.training,
        seed=paper.seed,
        n_resamples=paper.scale.n_resamples,
    )
    experiment = experiment_of(table, list(cells), paper.benchmark, ks, dense.draws)

    source = paper.training or paper.benchmark.without_test()
    networks = {name: make("qsgnn", **settings) for name, settings in cells.items()}
    for network in networks.values():
        network.fit(source)  # it was trained above
    recalls = per_question(dense, "recall@5")["dense"]
    return Ablations(grid, networks, experiment, recalls)


def experiment_of(
    table: DataFrame,
    labels: Sequence[str],
    benchmark: Benchmark,
    ks: tuple[int, ...],
    draws: dict[str, int],
) -> Experiment:
    """The table of a sweep as an experiment, whose retrievers are the cells."""
    n = len(benchmark.test)
    runs = table.assign(retriever=np.repeat(labels, n))
    return Experiment(
        table=mean_over_seeds(runs),
        rankings={label: {} for label in labels if SEED not in label},
        seconds_to_fit=dict(zip(labels, table["seconds_to_fit"][::n])),
        benchmark=benchmark,
        questions=benchmark.test,
        ks=ks,
        draws=draws,
        runs=runs,
    )


def learned_table(ablations: Ablations, paper: Lesson) -> DataFrame:
    """What each network gains over its start, and how far its loss on held-out questions fell.

    A row per name, means over the seeds. Whether the networks have learned is kept for the claims.
    """
    rows = []
    for name, start in ablations.grid.starts.items():
        networks = ablations.of(name)
        gain = ablations.experiment.gain(name, over=start)
        has_learned = paper.learned(networks, gain)
        first, best = np.mean([_losses(network) for network in networks], axis=0)
        rows.append((name, first, best, gain.value, gain.low, gain.high, has_learned))
    columns = ["network", "loss at the start", "at best", "gain", "low", "high", "has learned"]
    return DataFrame(rows, columns=columns)


def _losses(network: QSGNN) -> tuple[float, float]:
    """The loss on held-out questions before the first step, and the least one."""
    losses = [-row["measured"] for row in network.history if "measured" in row]
    return losses[0], min(losses)


# ---- over-smoothing (A.7)


def likeness_of_layers(ablations: Ablations, benchmark: Benchmark) -> DataFrame:
    """The mean cosine of two documents' vectors after the last layer, by the number of layers.

    1 is utter over-smoothing.
    """
    networks = {"1 layer": "1 layer", "2 layers": WHOLE}
    networks |= {f"{n} layers": f"{n} layers" for n in LAYERS[1:]}
    rows = []
    for words, name in networks.items():
        if name in ablations.networks:
            network = ablations.networks[name]
            network.index(benchmark.corpus)
            cosine = np.mean([_likeness(network, question) for question in benchmark.test])
            rows.append((words, cosine, ablations.recalls(name).mean()))
    return DataFrame(rows, columns=["network", "mean cosine of documents", "recall@5"])


@torch.no_grad()
def _likeness(network: QSGNN, question: Question) -> float:
    h, _, _ = network.network(*network.around(question.query))
    unit = normalize(h["d"], dim=1)
    n_pairs = max(len(unit) * (len(unit) - 1), 1)
    return ((unit @ unit.T).sum().item() - len(unit)) / n_pairs


# ---- noise


class WithRandomEdges(QSGNN):
    """In its graph are random edges between entities, too: a share of those that there are."""

    share = 0.0

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        data = copy(self.graph.data)
        edges = data["oo"].edge_index.numpy()
        generator = default_rng(self.settings.seed)
        size = (2, round(self.share * edges.shape[1]))
        more = generator.integers(data["o"].num_nodes, size=size)
        more = more[:, more[0] != more[1]]
        edges = np.sort(np.concatenate([edges, more], axis=1), axis=0)
        data["oo"].edge_index = torch.from_numpy(np.unique(edges, axis=1))
        self.graph = replace(self.graph, data=data)


def with_random_edges(cells: Mapping[str, Settings]) -> dict[str, QSGNN]:
    """The whole network and the one without the query, asked again among random edges."""
    noisy = {}
    for label, settings in cells.items():
        name, _, seed = label.partition(SEED)
        if name in (WHOLE, "no query"):
            for share in SHARES:
                network = WithRandomEdges(**settings)
                network.share = share
                noisy[noisy_name(name, share) + (SEED + seed if seed else "")] = network
    return noisy


def noisy_name(name: str, share: float) -> str:
    """What a network among random edges is called."""
    return f"{name}, {share:.0%} more edges"


# ---- attention


def attention_on_supports(
    networks: Sequence[QSGNN],
    untrained: QSGNN,
    questions: Questions,
) -> DataFrame:
    """Whom entities listen to that are in a support and elsewhere, too, with each network.

    A row per question and network: ``trained`` and ``untrained`` are what entities hear from
    supports beyond an even share, and ``another question`` is that where the next question's vector
    steers the same network on the same graph. Questions without such entities have no row.
    """
    rows = []
    for question, other in zip(questions, [*questions[1:], questions[0]]):
        shares = [attention_of(network, untrained, question, other) for network in networks]
        of_question = DataFrame(shares).assign(question=question.id, seed=range(len(shares)))
        if of_question.notna().all(axis=None):
            rows.append(of_question)
    return pd.concat(rows, ignore_index=True) if rows else DataFrame()


@torch.no_grad()
def attention_of(
    network: QSGNN,
    untrained: QSGNN,
    question: Question,
    other: Question,
) -> dict[str, float]:
    """The attention on supports beyond an even share, the mean over layers.

    Before training attention is dense retrieval already, so that is compared ``trained`` with
    ``untrained``; and with that of ``another question``. nan where there are no such entities.
    """
    graph, vector = network.around(question.query)
    _, another = network.around(other.query)
    _, begun = untrained.around(question.query)
    shares = {}
    for name, listener, steering in (
        ("trained", network, vector),
        ("untrained", untrained, begun),
        ("another question", network, another),
    ):
        _, _, layers = listener.network(graph, steering, LEVELS)
        attention = [layer["do"].cpu().numpy() for layer in layers]
        rows = [network.corpus.row[passage] for passage in question.supporting_ids]
        is_support = np.isin(graph["d"].n_id.cpu().numpy(), rows)
        edges = graph["d", "o"].edge_index.cpu().numpy()
        shares[name] = on_supports(attention, is_support, *edges)
    return shares


def on_supports(
    layers: Sequence[ndarray],
    is_support: ndarray,
    sender: ndarray,
    entity: ndarray,
) -> float:
    """The attention (edges,) on supporting documents beyond an even share, mean over layers.

    An edge leads from a document ``sender`` to an ``entity``. Only entities count that hear from a
    support and from another document, too; nan where there are none.
    """
    from_support = is_support[sender]
    n_supports = np.bincount(entity, from_support)
    n_documents = np.bincount(entity)
    mixed = (n_supports > 0) & (n_supports < n_documents)
    if not mixed.any():
        return np.nan
    even = n_supports[mixed] / n_documents[mixed]
    beyond = [(np.bincount(entity, layer * from_support)[mixed] - even).mean() for layer in layers]
    return float(np.mean(beyond))


# ---- misspelt names (A.9)


def misspelt(question: Question, generator: Generator) -> Question | None:
    """The question with two neighbouring letters of its longest name in the wrong order.

    None without a name.
    """
    words = re.findall(r"\w+", question.text)[1:]
    word = max(filter(str.istitle, words), key=len, default="")
    swaps = [start for start in range(1, len(word) - 1) if word[start] != word[start + 1]]
    if not swaps:
        return None
    start = swaps[generator.integers(len(swaps))]
    wrong = word[:start] + word[start + 1] + word[start] + word[start + 2 :]
    return msgspec.structs.replace(question, text=question.text.replace(word, wrong, 1))


def lost_to_spelling(
    ask: Callable[[Questions], Experiment],
    names: Texts,
    questions: Questions,
    seed: int,
) -> dict[str, ndarray]:
    """Recall@5 of retrievers minus that with a name misspelt: by name (questions, seeds).

    ``ask`` evaluates them on questions.
    """
    generator = default_rng(seed)
    wrong = [misspelt(question, generator) for question in questions]
    pairs = [(right, changed) for right, changed in zip(questions, wrong) if changed]
    before, after = (ask(spelled) for spelled in zip(*pairs))
    lost = {}
    for name in names:
        recalls = [per_seed(experiment, name, "recall@5") for experiment in (before, after)]
        lost[name] = recalls[0].to_numpy() - recalls[1].to_numpy()
    return lost


# ---- answers


@torch.no_grad()
def sentences_of(network: QSGNN, question: Question) -> list[str]:
    """The ten best sentences: Eq. 6 over chunks."""
    graph, vector = network.around(question.query)
    h, q, _ = network.network(graph, vector, "c")
    cosines = h["c"] @ q[0] / h["c"].norm(dim=1)  # times |q|
    best = cosines.argsort(descending=True)[:N_BEST]
    return [network.graph.chunks[row] for row in graph["c"].n_id[best]]
