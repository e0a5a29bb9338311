"""QSGNN: message passing steered by the query on a graph of entities, sentences and passages (qsgnn.txt §3).

The network is in :mod:`kit.retrievers.qsgnn_network` (Eqs. 2–4), its training in :mod:`kit.retrievers.qsgnn_training`
(Eq. 5) on questions of :mod:`kit.retrievers.qsgnn_questions`, the graph in :mod:`kit.graphs.multilevel` (Eq. 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import torch
from torch.nn.functional import cosine_similarity

from kit.corpus import Benchmark, Corpus, Query
from kit.errors import InputError
from kit.retrievers.base import Ranking, Retriever, expect_whole, ranking_from_rows
from kit.retrievers.dpr import expect_training, sample
from kit.retrievers.qsgnn_network import SHARPEST, Network
from kit.retrievers.qsgnn_questions import Synthetic, synthetic_questions
from kit.retrievers.qsgnn_surroundings import Surroundings
from kit.retrievers.qsgnn_training import KIND, TOGETHER, Learning, Run, document_scores
from kit.store import content_key
from kit.text import DEFAULT_ENCODER, Encoder
from kit.text.checkpoints import read_history
from kit.text.precision import one_thread
from kit.text.triples import Extraction, extract

#: What an ablation takes away (Tables 6 and 10).
PARTS = ("", "entity", "chunk", "query", "intra", "pre-training", "fine-tuning")
STARTS = ("dense", "random")
DEV_QUESTIONS = 100
_FITTED = 5_000  # vectors on which the map to fewer dimensions is fitted
_RECIPE = "2"  # to be changed with what is learned, so that weights learned otherwise are not found again


class Attention(NamedTuple):
    """Who listens to whom in the graph around a query (Eqs. 2 and 3).

    ``nodes``: of each level (``o``, ``c``, ``d``) their numbers in the corpus's graph. ``edges``: of each kind, such as
    ``od`` from entities to documents, an array (2, edges): senders and receivers, by their places in ``nodes``.
    ``layers``: of each layer, by kind, the attention of each edge; that of a receiver's senders of a kind sums to 1.
    ``scores``: those of the documents (Eq. 6).
    """

    nodes: dict[str, np.ndarray]
    edges: dict[str, np.ndarray]
    layers: list[dict[str, np.ndarray]]
    scores: np.ndarray


class QSGNN(Retriever):
    """The passages whose vectors, after ``layers`` of messages in the graph around a query, are nearest to it (Eq. 6).

    ``documents`` is how many passages that graph has, found by dense search and shared entities; 0 for the whole
    corpus, as in the paper. Passages outside of it follow in the order of dense retrieval, with scores below −1.
    ``dimension`` is n of the paper; ``sharpness`` is what the scores of its attention are multiplied with (1 in the
    paper, see :class:`kit.retrievers.qsgnn_network.Network`). ``triples``: by ``rules``, of ``openie:FILE``, or by a
    language model (:func:`kit.text.triples.extract`). ``start``: before training the projections are the identity, the
    map to n dimensions keeps cosines (``dense``), or all are drawn at random (``random``). ``without`` takes a part
    away: entity, chunk, query (β and γ, qsgnn-i13), intra, pre-training, fine-tuning.

    Training: at most ``synthetic`` questions (:data:`kit.retrievers.qsgnn_questions.SHARES`), ``pretraining_epochs``
    times, then ``n_train`` training questions (0: all) ``epochs`` times; Eq. 5 with ``temperature`` and ``negatives``.
    The weights of the best Recall@5 on dev questions are kept. ``history`` tells each step (``step``, ``stage``: 0 is
    pre-training, ``loss``) and each check (``step``, ``measured``).
    """

    name = "qsgnn"

    def __init__(
        self,
        encoder: str = DEFAULT_ENCODER,
        dimension: int = 256,
        layers: int = 2,
        documents: int = 60,
        triples: str = "rules",
        without: str = "",
        start: str = "dense",
        sharpness: float = 10.0,
        synthetic: int = 6_000,
        pretraining_epochs: int = 1,
        epochs: int = 2,
        negatives: int = 30,
        temperature: float = 0.07,
        n_train: int = 0,
        seed: int = 0,
    ) -> None:
        for name, value, known in (("without", without, PARTS), ("start", start, STARTS)):
            if value not in known:
                raise InputError(f"expected one of {', '.join(map(repr, known))}, not {value!r}", field=name)
        expect_whole(1, dimension=dimension, layers=layers, negatives=negatives)
        expect_whole(0, documents=documents, synthetic=synthetic, n_train=n_train, seed=seed)
        expect_whole(0, pretraining_epochs=pretraining_epochs, epochs=epochs)
        for name, value, most in (("temperature", temperature, np.inf), ("sharpness", sharpness, SHARPEST)):
            if type(value) not in (int, float) or not 0 < value <= most:
                expected = f"a number above 0, and at most {most}" if np.isfinite(most) else "a number above 0"
                raise InputError(f"expected {expected}, not {value!r}", field=name)
        self.encoder = Encoder(encoder)
        self.dimension, self.layers, self.documents = dimension, layers, documents
        self.triples, self.without, self.start, self.sharpness = triples, without, start, float(sharpness)
        self.synthetic, self.n_train = synthetic, n_train
        self.learning = Learning(
            pretraining_epochs=0 if without == "pre-training" else pretraining_epochs,
            epochs=0 if without == "fine-tuning" else epochs,
            temperature=float(temperature),
            negatives=negatives,
            seed=seed,
        )
        self.network: Network | None = None
        self.surroundings: Surroundings | None = None
        self.history: list[dict[str, float]] = []

    def fit(self, benchmark: Benchmark) -> None:
        if self.learning.epochs:
            expect_training(benchmark, self.n_train, self.name)
        store, extractions = self.encoder.store, extract(benchmark.corpus, self.triples)
        network = [self.dimension, self.layers, self.without, self.start, self.sharpness]
        settings = msgspec.json.encode([network, self.synthetic, self.n_train, self.learning]).decode()
        told = msgspec.json.encode(extractions).decode()
        key = content_key(_RECIPE, self.encoder.identity, settings, benchmark.without_test().hash, told).hex()
        folder = store.get_folder(KIND, key) or self._train(benchmark, extractions, key)
        weights = _read(folder)
        self.network = self._empty(weights["compress.weight"].shape[1])
        self.network.load_state_dict(weights)
        self.history = read_history(folder)

    def _train(self, benchmark: Benchmark, extractions: Sequence[Extraction], key: str) -> Path:
        corpus, seed = benchmark.corpus, self.learning.seed
        self.surroundings = self._looked_at(corpus, extractions)
        run = Run(
            self._begun(self.surroundings),
            self.surroundings,
            self.encoder,
            synthetic_questions(extractions, self.synthetic, seed),
            [
                Synthetic(question.text, tuple(corpus.row[id] for id in question.supporting_ids))
                for question in sample(benchmark.train, self.n_train or len(benchmark.train), seed)
                if question.supporting
            ],
            sample([question for question in benchmark.dev if question.supporting], DEV_QUESTIONS, seed),
            self.learning,
            key,
        )
        run.to_the_end()
        folder = self.encoder.store.put_folder(KIND, key, run.write)
        run.checkpoints.forget()
        return folder

    def _looked_at(self, corpus: Corpus, extractions: Sequence[Extraction]) -> Surroundings:
        return Surroundings.of(
            corpus, extractions, self.encoder, without={"entity": "o", "chunk": "c"}.get(self.without, "")
        )

    def _empty(self, width: int) -> Network:
        steered, intra = self.without != "query", self.without != "intra"
        return Network(width, self.dimension, self.layers, steered=steered, intra=intra, sharpness=self.sharpness)

    def _begun(self, surroundings: Surroundings) -> Network:
        """The network before training."""
        with torch.random.fork_rng():
            torch.manual_seed(self.learning.seed)
            network = self._empty(surroundings.vectors["d"].shape[1])
            if self.start == "random":
                for module in network.modules():
                    if hasattr(module, "reset_parameters"):
                        module.reset_parameters()
                return network
        vectors = np.concatenate([surroundings.vectors["d"], surroundings.vectors["c"]])
        picks = np.random.default_rng(self.learning.seed).permutation(len(vectors))[:_FITTED]
        directions = np.linalg.svd(vectors[picks], full_matrices=False)[2][: self.dimension]
        with torch.no_grad():
            network.compress.weight.zero_()
            network.compress.weight[: len(directions)] = torch.from_numpy(directions)
        return network

    def index(self, corpus: Corpus) -> None:
        if self.surroundings is None or self.surroundings.corpus is not corpus:
            self.surroundings = self._looked_at(corpus, extract(corpus, self.triples))
        if self.network is None:
            self.network = self._begun(self.surroundings)

    @torch.no_grad()
    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        if not queries:
            return []
        assert self.surroundings is not None and self.network is not None
        corpus = self.surroundings.corpus
        vectors = self.encoder.encode([query.text for query in queries], role="query", progress=len(queries) > 64)
        cosines, near = self.surroundings.nearest.search(vectors, k)
        found: list[Ranking] = []
        self.network.eval()
        together = TOGETHER if self.documents else 1
        for start in range(0, len(queries), together):
            part = vectors[start : start + together]
            around = self._around(part, self.documents)
            with one_thread():
                answers = document_scores(self.network, self.surroundings, part, around)
            for scores, rows in zip(answers, around):
                order = np.argsort(-scores.numpy(), kind="stable")[:k]
                others = ~np.isin(near[len(found)], rows)
                ranked = np.concatenate([rows[order], near[len(found)][others]])[:k]
                worth = np.concatenate([scores.numpy()[order], cosines[len(found)][others] - 2])[:k]
                found.append(ranking_from_rows(corpus, ranked, worth))
        return found

    def _around(self, vectors: np.ndarray, documents: int) -> list[np.ndarray]:
        """For each query's vector the rows of the documents in its graph, so many or (0) all."""
        assert self.surroundings is not None
        most = len(self.surroundings.corpus)
        if documents:
            return self.surroundings.around(vectors, min(documents, most))
        return [np.arange(most)] * len(vectors)

    @torch.no_grad()
    @one_thread()
    def attend(self, query: Query | str, *, steered: bool = True, documents: int | None = None) -> Attention:
        """The attention in the graph that :meth:`retrieve` makes for a query.

        ``steered``: False leaves β and γ out, with the same weights. ``documents``: how many, in place of the setting.
        """
        assert self.surroundings is not None and self.network is not None
        text = query if isinstance(query, str) else query.text
        vectors = self.encoder.encode([text], role="query", progress=False)
        around = self._around(vectors, self.documents if documents is None else documents)
        batch = self.surroundings.batch(around)
        network = self.network if steered else self.network.unsteered()
        h, q, layers = network.eval()(batch, torch.from_numpy(vectors), "ocd")
        return Attention(
            self.surroundings.graph.part(around[0]).nodes,
            {kind: edges.numpy() for kind, edges in batch.edges.items()},
            [{kind: weights.numpy() for kind, weights in layer.items()} for layer in layers],
            cosine_similarity(h["d"], q).numpy(),
        )


def _read(folder: Path) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    return load_file(folder / "network.safetensors")
