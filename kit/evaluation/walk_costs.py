"""What a walk costs and what it brings, while its graph grows denser or its collection larger (kgp.txt §5.2, 5.4).

Time is taken on one thread, one question after another: the second walk, after one that fetches what is in the store.
An encoder's time is apart, as if nothing were stored: the number of texts that it reads, times what one takes.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from copy import copy

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from kit.corpus import Benchmark, Corpus, Query, Question
from kit.errors import InputError
from kit.evaluation import statistics
from kit.evaluation.graph_quality import build_at, describe_graph, find_seeds, graph_quality, knob
from kit.evaluation.timing import encoding_time
from kit.evaluation.walks import N_PASSAGES, ask, indexed
from kit.graphs import PassageGraph
from kit.retrievers import KGP, Retriever
from kit.text.precision import one_thread

PARTS = ("seeding", "matching", "encoding", "rest")
_READ = 32  # texts from which the time of an encoding is taken


class Clock:
    """Seconds spent in named parts of a retrieval, and the texts that were to be encoded meanwhile."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.texts: list[str] = []

    def around(self, part: str, function: Callable) -> Callable:
        """The function, whose time is added to a part's."""

        def run(*args: object, **settings: object) -> object:
            begun = time.perf_counter()
            found = function(*args, **settings)
            self.seconds[part] += time.perf_counter() - begun
            return found

        return run

    def encode(self, encode: Callable) -> Callable:
        """The ``encode`` of an encoder, whose texts are noted."""
        timed = self.around("store", encode)

        def run(texts: Sequence[str], **settings: object) -> object:
            self.texts += texts
            return timed(texts, **settings)

        return run


def on_graph(walker: KGP, graph: PassageGraph) -> KGP:
    """A copy of an indexed walker that walks another graph of the same corpus."""
    walker = copy(walker)
    walker.walk_on(graph)
    return walker


def clocked(retriever: Retriever) -> tuple[Retriever, Clock]:
    """A copy of an indexed retriever, and the clock that runs in it.

    Of a walk: ``seeding``, the TF-IDF search; ``neighbours``, finding the candidates, anew each time; ``advice``, what
    the agent does, with its encoder's ``store`` in it.
    """
    retriever, clock = copy(retriever), Clock()
    reader = retriever
    if isinstance(retriever, KGP):
        retriever.tfidf = copy(retriever.tfidf)
        retriever.tfidf.scores = clock.around("seeding", retriever.tfidf.scores)
        retriever._neighbours = clock.around("neighbours", retriever.graph.neighbours)
        reader = retriever.agent = copy(retriever.agent)
    if hasattr(reader, "encoder"):
        reader.encoder = copy(reader.encoder)
        reader.encoder.encode = clock.encode(reader.encoder.encode)
    if isinstance(retriever, KGP):
        reader.advise = clock.around("advice", reader.advise)
    return retriever, clock


def time_questions(retriever: Retriever, questions: Sequence[Question]) -> tuple[pd.DataFrame, list[str]]:
    """Seconds of each question for an indexed retriever, and the texts that it had to encode.

    Columns: question, seeding, matching (finding candidates and comparing them), rest, texts (how many were encoded;
    their time is not in here).
    """
    retriever, clock = clocked(retriever)
    rows, read = [], []
    with one_thread():
        for question in questions:
            retriever.retrieve_many([question.query], N_PASSAGES)  # fetches what is in the store
            clock.seconds.clear()
            clock.texts.clear()
            begun = time.perf_counter()
            retriever.retrieve_many([question.query], N_PASSAGES)
            parts = _parts(clock.seconds, time.perf_counter() - begun)
            texts = list(dict.fromkeys(clock.texts))  # what was read before is at hand
            rows.append({"question": question.id, **parts, "texts": len(texts)})
            read += texts
    return pd.DataFrame(rows), read


def _parts(seconds: Mapping[str, float], whole: float) -> dict[str, float]:
    store, advice = seconds.get("store", 0.0), seconds.get("advice", 0.0)
    agent = advice - store if advice else 0.0
    known = {"seeding": seconds.get("seeding", 0.0), "matching": seconds.get("neighbours", 0.0) + agent}
    return known | {"rest": max(whole - store - sum(known.values()), 0.0)}


# ---- density (Figures 6 and 10)


def by_density(
    walker: KGP,
    benchmark: Benchmark,
    questions: Sequence[Question],
    values: Mapping[str, Sequence[float]],
    n_timed: int,
    encoders: Mapping[str, str] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """One agent on graphs from sparse to dense: (quality, times, sizes).

    ``values`` and ``encoders`` are those of :func:`kit.evaluation.graph_quality.sweep`. All three have the columns
    builder, parameter, value; quality those of :func:`ask` and of graph_quality, times those of :func:`time_questions`
    for the first ``n_timed`` questions, sizes those of describe_graph, means over collections.
    """
    encoders = encoders or {}
    groups = [
        (indexed(walker, corpus), together, find_seeds(corpus, together))
        for corpus, together in benchmark.asked_together(questions)
    ]
    timed = {question.id for question in questions[:n_timed]}
    quality, times, sizes = [], [], []
    turns = [(name, value) for name, settings in values.items() for value in settings]
    for name, value in tqdm(turns, desc="graphs", unit="graph"):
        setting, made = {"builder": name, "parameter": knob(name, encoders), "value": value}, []
        for placed, together, seeds in groups:
            graph = build_at(name, value, placed.corpus, encoders)
            walking = on_graph(placed, graph)
            near = graph_quality(graph, together, seeds)[["sf_em", "covered", "precision", "neighbourhood"]]
            quality.append(pd.concat([ask(walking, together), near], axis=1).assign(**setting))
            made.append(describe_graph(graph))
            if first := [question for question in together if question.id in timed]:
                times.append(time_questions(walking, first)[0].assign(**setting))
        sizes.append(setting | pd.DataFrame(made).mean().to_dict())
    return pd.concat(quality, ignore_index=True), pd.concat(times, ignore_index=True), pd.DataFrame(sizes)


def density_points(
    quality: pd.DataFrame, times: pd.DataFrame, sizes: pd.DataFrame, metric: str, *, seed: int, draws: int
) -> pd.DataFrame:
    """The points of Figure 6: a row a graph, as :func:`kit.views.density_curves` draws them.

    Columns: builder, parameter, value, density, mean_degree; sf_em, the metric, and seconds (of matching, a question),
    each with _low and _high.
    """
    keys = ["builder", "parameter", "value"]
    points = sizes[[*keys, "density", "mean_degree"]]
    for table, column, name in ((quality, "sf_em", "sf_em"), (quality, metric, metric), (times, "matching", "seconds")):
        of = statistics.by_group(table, keys, column, seed, draws=draws).drop(columns="n")
        points = points.merge(of.rename(columns={"mean": name, "low": f"{name}_low", "high": f"{name}_high"}), on=keys)
    return points


def slopes(table: pd.DataFrame, sizes: pd.DataFrame, builder: str, column: str, share: float = 1.0) -> np.ndarray:
    """For each question the slope of a column on the logarithm (base 2) of the graph's mean degree.

    ``share`` is that of the settings that counts, the sparsest first, at least two. The mean of the slopes is the slope
    of the means, so resampling them gives its interval. Raises InputError where the sweep has one density.
    """
    size = sizes[(sizes["builder"] == builder) & (sizes["mean_degree"] > 0)].sort_values("mean_degree")
    size = size.iloc[: max(2, int(np.ceil(share * len(size))))]
    x = np.log2(size["mean_degree"].to_numpy())
    if not len(x) or not np.ptp(x):
        raise InputError(f"expected graphs of at least two densities from {builder}", field="sizes")
    wide = table[table["builder"] == builder].pivot(index="question", columns="value", values=column)
    x = x - x.mean()
    found = wide[size["value"]].to_numpy(float) @ x / (x @ x)
    return np.round(found, 12)  # equal values have the slope 0, not what rounding makes of it


# ---- size (Figure 7c)


def part_of(corpus: Corpus, questions: Sequence[Question], size: int, seed: int) -> Corpus:
    """The supports of the questions and random other documents, whole, until there are ``size`` passages at least.

    A larger part with the same seed holds a smaller one. Raises InputError for more passages than there are.
    """
    if size > len(corpus):
        raise InputError(f"expected at most {len(corpus)} passages, not {size}", field="size")
    rows = {corpus.row[id] for question in questions for id in question.supporting_ids}
    documents = list(corpus.documents.values())
    for pick in np.random.default_rng(seed).permutation(len(documents)):
        if len(rows) >= size:
            break
        rows.update(documents[pick].tolist())
    return corpus.subset(sorted(rows))


def by_size(
    retrievers: Mapping[str, Retriever], corpus: Corpus, questions: Sequence[Question], sizes: Sequence[int], seed: int
) -> pd.DataFrame:
    """Seconds and quality of fitted retrievers while the collection grows: a row a retriever, size and question.

    Columns: passages (in the collection), retriever, those of :func:`ask`, seeding, matching, encoding (what
    was to be encoded for this question, as if new), rest, seconds (all of them). Sizes beyond the corpus are left out.
    """
    tables, read = [], defaultdict(list)
    for size in [size for size in sizes if size <= len(corpus)]:
        part = part_of(corpus, questions, size, seed)
        for name, retriever in retrievers.items():
            placed = indexed(retriever, part)
            times, texts = time_questions(placed, questions)
            read[name] += texts
            found = ask(placed, questions).merge(times, on="question")
            tables.append(found.assign(passages=len(part), retriever=name))
    if not tables:
        raise InputError(f"expected a size of at most {len(corpus)} passages", field="sizes")
    table = pd.concat(tables, ignore_index=True)
    a_text = {name: _seconds_a_text(retrievers[name], texts) for name, texts in read.items()}
    table["encoding"] = table["texts"] * table["retriever"].map(a_text)
    return table.assign(seconds=table[list(PARTS)].sum(axis=1))


def _seconds_a_text(retriever: Retriever, texts: Sequence[str]) -> float:
    if not texts:
        return 0.0
    reader = retriever.agent if isinstance(retriever, KGP) else retriever
    sample = [texts[i] for i in np.linspace(0, len(texts) - 1, min(_READ, len(texts))).astype(int)]
    return encoding_time(reader.encoder, [Query("", text) for text in sample], repeats=2)
