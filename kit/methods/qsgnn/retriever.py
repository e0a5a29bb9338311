"""QSGNN: message passing guided by the query on a graph of entities, sentences and passages (qsgnn.txt §3).

The graph is in :mod:`kit.methods.qsgnn.graph` (Eq. 1), the network in :mod:`kit.methods.qsgnn.network` (Eqs. 2–4);
here are the loss (Eq. 5), the documents' scores (Eq. 6), and the graph around a query.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np
import torch
from msgspec import Meta
from torch import Tensor
from torch.nn.functional import cosine_similarity
from torch_geometric.data import Batch

from kit.corpus import Benchmark, Corpus, Query
from kit.learning.training import (
    CHECKS,
    Period,
    mixed_precision,
    one_thread,
    parts_of_epoch,
    read_trained,
    train,
)
from kit.methods.base import Ranking, Retriever, as_query
from kit.methods.gnn_ret.retriever import GNNRet
from kit.methods.qsgnn.graph import MultiLevelGraph
from kit.methods.qsgnn.network import Network
from kit.methods.qsgnn.questions import Synthetic, synthetic_questions
from kit.methods.training import dev_recall, draw, expect_training
from kit.settings import BaseSettings, Positive, Whole
from kit.store import content_key
from kit.text import DEFAULT_ENCODER, Encoder
from kit.text.triples import Extraction, extract

KIND = "qsgnn"  # in the store
WALK = {"layers": 2, "top_k": 10}  # GNN-Ret, as it finds the documents around a query
BATCH, TRAINING_DOCUMENTS = (
    12,
    40,
)  # questions a step, and documents at least in the graph around each: the
MOST_SUPPORTS = 4  # … supports, and others, from which the negatives are drawn (qsgnn-i06)
RATES = 1e-3, 5e-4  # the highest learning rates of pre-training and fine-tuning
DEV_QUESTIONS = 60  # by whose Recall@5 weights are chosen
_FITTED = 5_000  # vectors on which the map to fewer dimensions is fitted
_RECIPE = (
    "7"  # to be changed with what is learned, so that weights learned otherwise are not found again
)

AboveZero = Annotated[float, Meta(gt=0)]


class QSGNN(Retriever):
    """The passages whose vectors, after ``layers`` of messages in the graph around a query, are nearest to it (Eq. 6).

    ``documents`` is how many passages that graph has, the first in the order of GNN-Ret (:data:`WALK`), which walks
    from the nearest ones along entities; 0 for the whole corpus, as in the paper. Others follow in that order, with
    scores below −1.
    ``dimension`` is n of the paper; ``logit_scale`` as in :class:`kit.methods.qsgnn.network.Network`; ``triples`` as
    in :func:`kit.text.triples.extract`. ``init``: before training the projections are the identity and the map to n
    dimensions keeps cosines (``dense``), or all are drawn at random (``random``). ``ablate`` takes a part away (Tables
    6 and 10): entity, chunk, document (its nodes; its score is then that of its best sentence), query (β and γ,
    qsgnn-i13), intra, pre-training, fine-tuning.

    Training: at most ``synthetic`` questions (:data:`kit.methods.qsgnn.questions.SHARES`) once, then ``n_train``
    training questions (0: all) ``epochs`` times; Eq. 5 with ``temperature`` and ``negatives``. The weights of the best
    Recall@5 on dev questions are kept. ``history``: as of DPR, and ``stage`` (0: pre-training).
    """

    name = "qsgnn"
    index_settings = (
        "encoder",
        "dimension",
        "layers",
        "triples",
        "ablate",
        "init",
        "logit_scale",
        "seed",
    )
    fixed_by_training = ("encoder", "dimension", "layers")

    class Settings(BaseSettings, frozen=True):
        encoder: str = DEFAULT_ENCODER
        dimension: Positive = 192
        layers: Positive = 2
        documents: Whole = 60
        triples: str = "rules"
        ablate: Literal[
            "", "entity", "chunk", "document", "query", "intra", "pre-training", "fine-tuning"
        ] = ""
        init: Literal["dense", "random"] = "dense"
        logit_scale: AboveZero = 10.0
        synthetic: Whole = 1_000
        epochs: Whole = 2
        negatives: Positive = 30
        temperature: AboveZero = 0.07
        n_train: Whole = 0
        seed: Whole = 0

    learned: dict[str, Tensor] | None = None  # weights
    history: Sequence[dict[str, float]] = ()

    def index(self, corpus: Corpus) -> None:
        self._see(corpus, extract(corpus, self.settings.triples))
        if self.learned:
            self.network.load_state_dict(self.learned)

    def _see(self, corpus: Corpus, extractions: Sequence[Extraction]) -> None:
        """The graph, which may lack a level, and an untrained network."""
        self.corpus, self.encoder, settings = corpus, Encoder(self.settings.encoder), self.settings
        whole = MultiLevelGraph.of(corpus, extractions)
        level = {"entity": "o", "chunk": "c"}.get(settings.ablate)
        along = (
            {"graph": "structure"} if level == "o" else {}
        )  # without entities, nor a walk along them
        self.walk = GNNRet(encoder=settings.encoder, **WALK, **along)
        self.walk.index(corpus)
        self.graph = (whole.without(level) if level else whole).encoded(
            self.encoder, self.walk.vectors
        )
        x = self.graph.data.x_dict
        with torch.random.fork_rng():
            torch.manual_seed(settings.seed)
            self.network = Network(
                x["d"].shape[1], settings.dimension, settings.layers, settings.logit_scale
            )
            for module in self.network.modules() if settings.init == "random" else ():
                if hasattr(module, "reset_parameters"):
                    module.reset_parameters()
        self.network.query_aware, self.network.intra = (
            settings.ablate != "query",
            settings.ablate != "intra",
        )
        if settings.init == "dense":
            vectors = torch.cat([x["d"], x["c"]]).numpy()
            picks = np.random.default_rng(settings.seed).permutation(len(vectors))[:_FITTED]
            directions = np.linalg.svd(vectors[picks], full_matrices=False)[2][: settings.dimension]
            with torch.no_grad():
                self.network.compress.weight.zero_()[: len(directions)] = torch.from_numpy(
                    directions
                )

    def batch(self, documents: Sequence[np.ndarray]) -> Batch:
        """The subgraphs of several queries' documents, side by side."""
        parts = [self.graph.subgraph(torch.from_numpy(rows)) for rows in documents]
        if self.settings.ablate == "document":
            parts = [part.subgraph({"d": torch.empty(0, dtype=torch.long)}) for part in parts]
        return Batch.from_data_list(parts)

    def document_scores(
        self, queries: np.ndarray, documents: Sequence[np.ndarray]
    ) -> tuple[Tensor, ...]:
        """Eq. 6: for each query the cosines of its documents' vectors after the last layer with its own."""
        batch, level = self.batch(documents), "c" if self.settings.ablate == "document" else "d"
        h, q, _ = self.network(batch, torch.from_numpy(queries), level)
        # In full precision: cosines are divided by τ, and near each other.
        scores = cosine_similarity(h[level].float(), q.float()[batch[level].batch])
        if level == "d":
            return scores.split([len(rows) for rows in documents])
        # A document's is the best of its chunks'.
        best = scores.new_full((len(documents) * len(self.corpus),), -1.0)
        owner = (
            batch["c"].batch * len(self.corpus)
            + self.graph.data["cd"].edge_index[1][batch["c"].n_id]
        )
        best = best.scatter_reduce(0, owner, scores, "amax").view(len(documents), -1)
        return tuple(of_query[rows] for of_query, rows in zip(best, documents))

    @torch.no_grad()
    @one_thread()
    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        vectors = self.encoder.encode(
            [query.text for query in queries], role="query", progress=len(queries) > 64
        )
        rankings, size = [], self.settings.documents or len(self.corpus)
        for vector in vectors[:, None]:
            rows = self.walk.rows(vector, max(size, k))[0]
            scores = self.document_scores(vector, [rows[:size]])[0].numpy()
            scores = np.concatenate(
                [scores, -2 - np.arange(len(rows) - len(scores), dtype=np.float32)]
            )
            best = np.argsort(-scores, kind="stable")[:k]
            rankings.append(Ranking(self.ids(rows[best]), scores[best]))
        return rankings

    @torch.no_grad()
    @one_thread()
    def attend(self, query: Query | str) -> tuple[Batch, list[dict[str, Tensor]]]:
        """The graph around a query and, layer by layer, who listens to whom there (Eqs. 2 and 3).

        That is the attention of each edge of a kind, such as ``od``, which sums to 1 for a receiver.
        """
        graph, vectors = self.around(query)
        return graph, self.network(graph, vectors, "ocd")[2]

    def around(self, query: Query | str) -> tuple[Batch, Tensor]:
        """The graph that :meth:`retrieve` makes for a query, and the query's vector (1, dimension)."""
        vectors = self.encoder.encode([as_query(query).text], role="query", progress=False)
        rows = self.walk.rows(vectors, self.settings.documents or len(self.corpus))
        return self.batch(rows), torch.from_numpy(vectors)

    def fit(self, benchmark: Benchmark) -> None:
        settings, encoder = self.settings, Encoder(self.settings.encoder)
        if settings.epochs and settings.ablate != "fine-tuning":
            expect_training(benchmark, settings.n_train, self.name)
        extractions = extract(benchmark.corpus, settings.triples)
        # What is a matter of retrieval, or told by what follows, has no part in the key.
        learning = msgspec.structs.replace(settings, documents=0, encoder="", triples="")
        parts = (msgspec.json.encode(part).decode() for part in (learning, extractions))
        key = content_key(_RECIPE, encoder.identity, *parts, benchmark.without_test().hash).hex()
        folder = encoder.store.get_or_make(
            KIND, key, lambda: self.variant()._train(benchmark, extractions, key)
        )
        self.learned, self.history = read_trained(folder)

    def _train(self, benchmark: Benchmark, extractions: Sequence[Extraction], key: str) -> Path:
        corpus, settings = benchmark.corpus, self.settings
        self._see(corpus, extractions)
        human = draw(benchmark.train, settings.n_train or len(benchmark.train), settings.seed)
        labelled = [
            Synthetic(it.text, tuple(corpus.row[id] for id in it.supporting_ids)) for it in human
        ]
        labelled = [question for question in labelled if question.supports]
        synthetic = synthetic_questions(extractions, settings.synthetic, settings.seed)
        stages = [("pre-training", 1, synthetic), ("fine-tuning", settings.epochs, labelled)]
        periods = [
            partial(self._period, stage, questions, epochs, epoch, part)
            for stage, (name, epochs, questions) in enumerate(stages)
            if questions and settings.ablate != name
            for epoch in range(epochs)
            for part in range(CHECKS)
        ]
        most = min(
            DEV_QUESTIONS, max(len(synthetic), len(labelled))
        )  # a check takes no longer than what it checks
        dev = draw(
            [question for question in benchmark.dev if question.supporting], most, settings.seed
        )
        checked = self.variant(documents=TRAINING_DOCUMENTS)  # the same network
        adam = torch.optim.AdamW(self.network.parameters(), weight_decay=0.0)
        told = {"store": self.encoder.store, "kind": KIND, "key": key, "latest_of_equals": True}
        told |= {"check": lambda step: {"measured": dev_recall(checked, dev)}}
        return train(self.network, adam, periods, self._loss, **told)

    def _period(
        self, stage: int, questions: Sequence[Synthetic], epochs: int, epoch: int, part: int
    ) -> Period:
        """The batches between two checks: questions, and what their negatives are drawn by."""
        seeds = [self.settings.seed, stage, epoch]
        places = parts_of_epoch(np.random.default_rng(seeds).permutation(len(questions)))[part]
        n, generator = -(-len(places) // BATCH), np.random.default_rng([*seeds, part])
        batches = [
            ([questions[place] for place in of], generator)
            for of in np.array_split(places, n or 1)
            if len(of)
        ]
        return Period(
            batches,
            (epoch * CHECKS + part) * n,
            epochs * CHECKS * n,
            RATES[stage],
            {"stage": stage},
        )

    def _loss(self, batch: tuple[Sequence[Synthetic], np.random.Generator]) -> Tensor:
        questions, generator = batch
        queries = self.encoder.encode(
            [question.text for question in questions], role="query", progress=False
        )
        near = self.walk.rows(
            queries, max(TRAINING_DOCUMENTS, MOST_SUPPORTS + self.settings.negatives)
        )
        documents = [  # supports first
            np.concatenate([question.supports, rows[~np.isin(rows, question.supports)]])[
                : len(rows)
            ]
            for rows, question in zip(near, questions)
        ]
        with mixed_precision():
            scores = self.document_scores(queries, documents)
        losses = []
        for cosines, question in zip(scores, questions):
            n = len(question.supports)
            picks = generator.permutation(np.arange(n, len(cosines)))
            negatives = cosines[torch.from_numpy(picks[: self.settings.negatives])]
            losses.append(nt_xent(cosines[:n], negatives, self.settings.temperature))
        return torch.stack(losses).mean()


def nt_xent(positives: Tensor, negatives: Tensor, temperature: float) -> Tensor:
    """Eq. 5 of one question: minus the mean over its supports of log e^{s⁺/τ} / (e^{s⁺/τ} + Σ e^{s⁻/τ}).

    ``positives`` and ``negatives`` are cosines. The paper leaves the positive out of the denominator, without which the
    loss has no lower bound (qsgnn-i03); supports are taken one by one (qsgnn-i04).
    """
    against = (
        torch.logsumexp(negatives / temperature, 0) if len(negatives) else torch.tensor(-torch.inf)
    )
    return (torch.logaddexp(positives / temperature, against) - positives / temperature).mean()
