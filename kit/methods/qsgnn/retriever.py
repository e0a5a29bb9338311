"""QSGNN: message passing guided by the query on a graph of entities, sentences and passages.

qsgnn.txt §3. The graph is in :mod:`kit.methods.qsgnn.graph` (Eq. 1), the network in
:mod:`kit.methods.qsgnn.network` (Eqs. 2–4), the loss in :mod:`kit.methods.qsgnn.training` (Eq. 5);
here are the documents' scores (Eq. 6), and the graph around a query.

The paper's symbols and the names here: H^l, the documents' part of ``h``; Sim(q, H^l) ``scores``.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np
import torch
from msgspec import Meta
from numpy import ndarray
from torch import Tensor
from torch.nn.functional import cosine_similarity
from torch_geometric.data import Batch

from kit.corpus import Benchmark, Corpus, Query
from kit.corpus.types import Queries
from kit.learning.trained import Trained
from kit.learning.training import Slot, one_thread, read_weights
from kit.methods.base import Ranking, Rankings, Retriever, as_query
from kit.methods.gnn_ret.retriever import GNNRet
from kit.methods.qsgnn import training
from kit.methods.qsgnn.graph import NO_NODES, MultiLevelGraph
from kit.methods.qsgnn.network import LEVELS, Attention, Network
from kit.methods.training import expect_training
from kit.settings import Positive, Whole
from kit.text import ENCODER_SETTINGS, EncoderSettings
from kit.text.triples import extract

WALK_LAYERS = 2  # of GNN-Ret, which finds the documents around a query
WALK_SENDERS = 10  # its top_k
ABLATED_LEVELS = {"entity": "o", "chunk": "c"}
LOWEST = -1.0  # cosine
OUTSIDE = -2  # the score of the first document that is not in the graph; the next has one less
N_FITTED = 5_000  # vectors on which the map to fewer dimensions is fitted

AboveZero = Annotated[float, Meta(gt=0)]


class QSGNN(Trained, Retriever):
    """The passages that are nearest to a query after messages in the graph around it (Eq. 6).

    The graph holds the first passages in the order of GNN-Ret, which walks from the nearest ones
    along entities. All others follow in that order, with scores below −1.

    It learns from synthetic questions once (:data:`kit.methods.qsgnn.questions.SHARES`), then from
    training questions. The weights of the best Recall@5 on dev questions are kept. ``history`` has
    ``step`` with ``loss`` and ``stage`` (0 for pre-training), or with ``measured``.

    What ``ablate`` takes away (Tables 6 and 10): the nodes of a level, where a document without a
    node has the score of its best sentence; ``query``, which is β and γ (qsgnn-i13); ``intra``,
    messages within a level; or a stage of the training.
    """

    name = "qsgnn"
    kind = "qsgnn"
    index_settings = (
        *ENCODER_SETTINGS,
        "dimension",
        "layers",
        "triples",
        "ablate",
        "init",
        "logit_scale",
        "seed",
    )
    fixed_by_training = (*ENCODER_SETTINGS, "dimension", "layers")
    training_settings = (
        "dimension",
        "layers",
        "ablate",
        "init",
        "logit_scale",
        "synthetic",
        "epochs",
        "negatives",
        "temperature",
        "n_train",
        "seed",
    )

    class Settings(EncoderSettings, frozen=True):
        dimension: Annotated[Positive, "n, to which vectors are compressed"] = 192
        layers: Annotated[Positive, "rounds of messages"] = 2
        documents: Annotated[Whole, "passages of a query's graph; 0 for all, as in the paper"] = 60
        triples: Annotated[str, "where triples come from, see kit.text.triples.extract"] = "rules"
        ablate: Annotated[
            Literal[
                "", "entity", "chunk", "document", "query", "intra", "pre-training", "fine-tuning"
            ],
            "the part that is taken away",
        ] = ""
        init: Annotated[
            Literal["dense", "random"],
            "begin as dense retrieval, by identities and a map that keeps cosines, or at random",
        ] = "dense"
        logit_scale: Annotated[AboveZero, "by which cosines are multiplied in a softmax"] = 10.0
        synthetic: Annotated[Whole, "questions of pre-training, at most"] = 1_000
        epochs: Annotated[Whole, "times through the training questions"] = 2
        negatives: Annotated[Positive, "passages against each support (Eq. 5)"] = 30
        temperature: Annotated[AboveZero, "τ of Eq. 5"] = 0.07
        n_train: Annotated[Whole, "training questions, drawn by the seed; 0 for all"] = 0
        seed: Annotated[Whole, "of all that is drawn"] = 0

    learned: dict[str, Tensor] | None = None  # weights of the network

    # ---- the graph and the network

    def index(self, corpus: Corpus) -> None:
        if not len(corpus):
            return super().index(corpus)  # there is no graph to make
        self.index_untrained(corpus)
        if self.learned:
            self.network.load_state_dict(self.learned)

    def index_untrained(self, corpus: Corpus) -> None:
        """Make the graph of a corpus, and a network as it is before training."""
        self.corpus = corpus
        self.walk = GNNRet(
            **self.settings.of_encoder(),
            layers=WALK_LAYERS,
            top_k=WALK_SENDERS,
        )
        if self.settings.ablate == "entity":
            self.walk = self.walk.variant(graph="structure")
        self.walk.index(corpus)
        self.graph = self._build_graph()
        self.network = self._build_network()

    def _build_graph(self) -> MultiLevelGraph:
        extractions = extract(self.corpus, self.settings.triples)
        graph = MultiLevelGraph.build(self.corpus, extractions)
        if self.settings.ablate in ABLATED_LEVELS:
            graph = graph.without(ABLATED_LEVELS[self.settings.ablate])
        return graph.encoded(self.walk.encoder, self.walk.vectors)

    def _build_network(self) -> Network:
        settings = self.settings
        x = self.graph.data.x_dict
        with torch.random.fork_rng():
            torch.manual_seed(settings.seed)
            network = Network(
                x["d"].shape[1],
                settings.dimension,
                settings.layers,
                settings.logit_scale,
                query_aware=settings.ablate != "query",
                intra=settings.ablate != "intra",
            )
            if settings.init == "random":
                network.draw()

        if settings.init == "dense":
            vectors = torch.cat([x["d"], x["c"]])
            picks = np.random.default_rng(settings.seed).permutation(len(vectors))
            network.keep_cosines(vectors[picks[:N_FITTED]])
        return network

    def batch(self, documents: Sequence[ndarray]) -> Batch:
        """The subgraphs of several queries' documents, side by side."""
        parts = []
        for rows in documents:
            part = self.graph.subgraph(torch.from_numpy(rows))
            if self.settings.ablate == "document":
                part = part.subgraph({"d": NO_NODES})
            parts.append(part)
        return Batch.from_data_list(parts)

    # ---- retrieval

    def document_scores(self, queries: ndarray, documents: Sequence[ndarray]) -> tuple[Tensor, ...]:
        """Eq. 6: for each query the cosines of its documents, score = Sim(q, H^l).

        ``queries`` (queries, dimension) and, for each, the rows of the documents in its graph.
        """
        batch = self.batch(documents)
        level = "c" if self.settings.ablate == "document" else "d"
        h, q, _ = self.network(batch, torch.from_numpy(queries), level)

        # In full precision: cosines are divided by τ, and lie close together.
        query_of_node = batch[level].batch
        scores = cosine_similarity(h[level].float(), q.float()[query_of_node])
        if level == "d":
            return scores.split([len(rows) for rows in documents])
        return self._best_of_chunks(scores, batch, documents)

    def _best_of_chunks(
        self, scores: Tensor, batch: Batch, documents: Sequence[ndarray]
    ) -> tuple[Tensor, ...]:
        """A document's score is the best of its chunks'."""
        chunks = batch["c"]
        document_of_chunk = self.graph.data["cd"].edge_index[1][chunks.n_id]
        sizes = chunks.ptr.diff().tolist()  # chunks per query
        parts = (scores.split(sizes), document_of_chunk.split(sizes), documents)
        best = []
        for chunk_scores, owners, rows in zip(*parts):
            lowest = scores.new_full((len(self.corpus),), LOWEST)
            best.append(lowest.scatter_reduce(0, owners, chunk_scores, "amax")[rows])
        return tuple(best)

    @torch.no_grad()
    @one_thread()
    def rank(self, queries: Queries, k: int) -> Rankings:
        size = self._graph_size
        rankings = []
        vectors = self.walk.encode([query.text for query in queries])
        for vector in vectors[:, None]:  # (1, dimension)
            [rows] = self.walk.rows(vector, max(size, k))
            [cosines] = self.document_scores(vector, [rows[:size]])
            outside = OUTSIDE - np.arange(len(rows) - len(cosines), dtype=np.float32)
            scores = np.concatenate([cosines.numpy(), outside])
            best = np.argsort(-scores, kind="stable")[:k]
            rankings.append(Ranking(self.ids(rows[best]), scores[best]))
        return rankings

    @torch.no_grad()
    @one_thread()
    def attend(self, query: Query | str) -> tuple[Batch, list[Attention]]:
        """The graph around a query and, per layer, who listens to whom there (Eqs. 2 and 3).

        That is the attention of each edge of a kind, such as ``od``, which sums to 1 per receiver.
        """
        graph, vectors = self.around(query)
        _, _, attention = self.network(graph, vectors, LEVELS)
        return graph, attention

    def around(self, query: Query | str) -> tuple[Batch, Tensor]:
        """The graph that a query is answered in, and the query's vector (1, dimension)."""
        vectors = self.walk.encode([as_query(query).text])
        rows = self.walk.rows(vectors, self._graph_size)
        return self.batch(rows), torch.from_numpy(vectors)

    @property
    def _graph_size(self) -> int:
        """The documents in the graph around a query."""
        return self.settings.documents or len(self.corpus)

    # ---- learning

    def expect_training(self, benchmark: Benchmark) -> None:
        if self.settings.epochs and self.settings.ablate != "fine-tuning":
            expect_training(benchmark, benchmark.train, self.settings.n_train, self.name)

    def data_key(self, benchmark: Benchmark) -> str:
        """The triples count, wherever they come from."""
        extractions = extract(benchmark.corpus, self.settings.triples)
        return super().data_key(benchmark) + msgspec.json.encode(extractions).decode()

    def train(self, benchmark: Benchmark, slot: Slot) -> Path:
        learner = self.variant()
        learner.index_untrained(benchmark.corpus)
        return training.train(learner, benchmark, slot)

    def restore(self, folder: Path) -> None:
        self.learned = read_weights(folder)
