"""What the claims of GNN-Ret and the tables of its paper are measured on."""

from collections.abc import Iterable, Sequence
from itertools import product
from time import perf_counter

import numpy as np
import pandas as pd
from numpy import ndarray
from numpy.random import default_rng
from pandas import DataFrame

from kit.corpus import Benchmark, Corpus, Question
from kit.corpus.types import Questions, Texts
from kit.evaluation import Experiment, statistics
from kit.evaluation.metrics import recall_at, support_ranks
from kit.evaluation.statistics import N_RESAMPLES, Estimate, estimate, resampled_sums
from kit.graphs import build
from kit.learning.training import one_thread
from kit.methods import make
from kit.methods.gnn_ret.descent import named
from kit.methods.gnn_ret.retriever import GNNRet
from kit.progress import progress_bar

AROUND = 3  # ranks above and below a passage, in which others are compared with it
DEEPEST = 100  # a rank beyond it counts as the next one
ALPHAS = tuple(np.arange(11) / 10)
SENDERS = (2, 5, 10, 20, 40)  # K, of which messages are timed
N_TIMED = 60  # questions of which messages are timed
REPEATS = 5  # of a timing, whose median counts
SHARES = (0.125, 0.25, 0.5, 1)  # of the documents, and how many draws of each
DRAWS = (8, 8, 8, 1)


# ---- α


def recalls_by_alpha(training: Benchmark, alphas: Sequence[float] = ALPHAS) -> ndarray:
    """Recall@10 of the dev questions with each α of one layer: (questions, alphas)."""
    method = make("gnn-ret")
    method.index(training.corpus)
    dev = [question for question in training.dev if question.supporting]
    queries = [question.query for question in dev]
    recalls = np.zeros((len(dev), len(alphas)))
    for column, alpha in enumerate(alphas):
        rankings = method.variant(alpha=alpha).retrieve_many(queries, 10)
        recalls[:, column] = [
            recall_at(
                q,
                ranking.ids,
                10,
            )
            for q, ranking in zip(dev, rankings)
        ]
    return recalls


def best_alpha(
    recalls: ndarray,
    alphas: Sequence[float],
    seed: int = 0,
    n_resamples: int = N_RESAMPLES,
) -> Estimate:
    """The α that is best by ``recalls`` (questions, alphas).

    The interval is of the α that is best on resampled questions; of equals the largest, which
    speaks least for a neighbour's distance.
    """
    alphas = np.asarray(alphas, float)
    descending = np.argsort(-alphas)
    sums = resampled_sums(
        recalls[:, descending],
        seed=seed,
        n_resamples=n_resamples,
    )
    samples = alphas[descending][sums.round(9).argmax(axis=1)]
    best = recalls[:, descending].sum(axis=0).round(9).argmax()
    return estimate(
        alphas[descending][best],
        samples,
        len(recalls),
    )


def learned_weights(
    method: str,
    training: Benchmark,
    sizes: Iterable[int],
    draws: Iterable[int],
    starts: Iterable[float] = (1.0,),
    competitors: Iterable[str] = ("after",),
) -> DataFrame:
    """What descent learns from so many questions, with each draw of these.

    Columns: n_train, start (the first weights), competitors, seed, loss (the lowest), weight and
    value.
    """
    runs = list(
        product(
            sizes,
            starts,
            competitors,
            draws,
        )
    )
    rows = []
    for n, start, meant, draw in progress_bar(runs, desc=f"training ({method})"):
        learner = make(
            method,
            n_train=n,
            init_alpha=start,
            competitors=meant,
            seed=draw,
        )
        learner.fit(training)
        loss = min(step["loss"] for step in learner.history)
        for name, value in named(learner.parameters).items():
            rows.append((n, start, meant, draw, loss, name, value))
    columns = ["n_train", "start", "competitors", "seed", "loss", "weight", "value"]
    return DataFrame(rows, columns=columns)


# ---- supports


def ranks_of_ends(experiment: Experiment, name: str = "dense") -> DataFrame:
    """The mean rank of the first and of the last supports of a question's evidence.

    A row per question whose evidence has an order: hops, first, last.
    """
    rows = []
    for question in experiment.questions:
        if question.evidence and question.evidence.edges:
            ids = experiment.rankings[name][question.id].ids[:DEEPEST]
            ranks = np.minimum(support_ranks(question, ids), len(ids) + 1)
            chains = question.evidence.chains
            first = list({chain[0] for chain in chains})
            last = list({chain[-1] for chain in chains})
            rows.append((question.hops, ranks[first].mean(), ranks[last].mean()))
    return DataFrame(rows, columns=["hops", "first", "last"])


def places_of_ends(experiment: Experiment, name: str = "gnn-ret", over: str = "dense") -> DataFrame:
    """The places that the first and the last supports gain (:func:`places_gained`).

    A row per question whose evidence has an order: first, last.
    """
    rows = []
    for question in experiment.questions:
        if question.evidence and question.evidence.edges:
            before = experiment.rankings[over][question.id].ids
            after = experiment.rankings[name][question.id].ids
            rows.append(
                places_gained(
                    question,
                    before,
                    after,
                )
            )
    return DataFrame(rows, columns=["last", "first"]).dropna()


def places_gained(question: Question, before: Texts, after: Texts) -> tuple[float, float]:
    """The ranks that the last supports of a question's evidence gain, and those the first gain.

    They gain from the ranking ``before`` the messages to that ``after`` them; each less what other
    passages of about the same rank gain. nan where a support is not ranked.
    """
    chain = question.evidence.to_networkx()
    gained = []
    for degree in (chain.out_degree, chain.in_degree):
        supports = [question.supporting[node] for node in chain if not degree(node)]
        gained.append(
            _gained_beyond_rank(
                question,
                supports,
                list(before),
                after,
            )
        )
    last, first = gained
    return last, first


def _gained_beyond_rank(
    question: Question,
    supports: Sequence[Texts],
    before: list[str],
    after: Texts,
) -> float:
    ranks = np.arange(len(before))
    rank_after = {passage: rank for rank, passage in enumerate(after)}
    gained = ranks - [rank_after.get(passage, len(after)) for passage in before]
    is_other = ~np.isin(before, question.supporting_ids)

    beyond = []
    for carriers in supports:
        ranked = set(carriers) & set(before)
        if ranked:
            rank = min(map(before.index, ranked))
            around = is_other & (abs(ranks - rank) <= AROUND)
            if around.any():
                beyond.append(gained[rank] - gained[around].mean())
    return float(np.mean(beyond)) if beyond else np.nan


# ---- time and size


def message_times(method: GNNRet, questions: Questions) -> DataFrame:
    """Seconds of one query's search and messages, on one thread, for several K.

    The method is indexed. Columns: top_k, question, edges (that carry messages), seconds_search,
    seconds_messages.
    """
    vectors = method.encode([question.text for question in questions[:N_TIMED]])
    rows = []
    with one_thread():
        for k, row in product(SENDERS, range(len(vectors))):
            sending = method.variant(top_k=k)
            batch = vectors[row : row + 1]  # one query, as a user asks it
            taken = []
            for _ in range(REPEATS):
                begun = perf_counter()
                h = sending.distances(batch)
                dense_rows = sending.dense_rows(h, 10)
                searched = perf_counter()
                logs = sending.propagate(h, dense_rows)
                taken.append((searched - begun, perf_counter() - searched))
            edges = sum(len(sending.graph.linked(log.active_nodes.ravel())[0]) for log in logs)
            rows.append((k, row, max(edges, 1), *np.median(taken, axis=0)))
    columns = ["top_k", "question", "edges", "seconds_search", "seconds_messages"]
    return DataFrame(rows, columns=columns)


def growing_graphs(corpus: Corpus, seed: int = 0, graph: str = "entity+structure") -> DataFrame:
    """The graph of random parts of a corpus's documents, from an eighth to all of them.

    Columns: share (of the documents), passages, edges_per_passage, density.
    """
    generator = default_rng(seed)
    documents = list(corpus.documents.values())
    rows = []
    for share in np.repeat(SHARES, DRAWS):
        picks = generator.permutation(len(documents))[: max(1, round(share * len(documents)))]
        passages = np.sort(np.concatenate([documents[pick] for pick in picks]))
        part = build(graph, corpus.subset(passages))
        rows.append((share, part.n_nodes, part.n_edges / part.n_nodes, part.density))
    return DataFrame(rows, columns=["share", "passages", "edges_per_passage", "density"])


def recall_and_alphas(experiment: Experiment, networks: dict[int, Sequence[GNNRet]]) -> DataFrame:
    """Recall@10 and the learned α by the number of layers (Table 7).

    ``networks`` are all seeds by their number of layers; they are called ``depth N`` in the
    experiment. Columns: quantity, layers, layer, mean, low, high.
    """
    values = experiment.table.pivot(
        index="question",
        columns="retriever",
        values="recall@10",
    )
    rows = []
    for depth, seeds in networks.items():
        recall = statistics.interval(values[f"depth {depth}"], **experiment.draws)
        rows.append(("recall@10", depth, None, *recall[:3]))
        alphas = np.array([network.alphas.tolist() for network in seeds])
        for layer, drawn in enumerate(alphas.T, start=1):
            rows.append(("α", depth, layer, drawn.mean(), *np.quantile(drawn, [0.05, 0.95])))
    return pd.DataFrame(rows, columns=["quantity", "layers", "layer", "mean", "low", "high"])
