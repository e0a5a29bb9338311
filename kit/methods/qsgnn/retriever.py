"""QSGNN: message passing guided by the query on a graph of entities, sentences and passages.

QSGNN §3. The graph is in :mod:`kit.methods.qsgnn.graph` (Eq. 1), the network in
:mod:`kit.methods.qsgnn.network` (Eqs. 2–4), the loss in :mod:`kit.methods.qsgnn.training` (Eq. 5);
here are the documents' scores (Eq. 6), and the graph around a query.

The paper's symbols and the names here: H^l, the documents' part of ``h``; Sim(q, H^l) ``cosines``.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec
import numpy as np
import torch
from numpy import ndarray
from torch import Tensor
from torch.nn.functional import cosine_similarity
from torch_geometric.data import Batch

from kit.corpus import Benchmark, Corpus, Query
from kit.corpus.types import Queries
from kit.errors import InputError
from kit.learning.shipped import Benchmarks, Shipped, Start
from kit.learning.training import Slot, one_thread, read_weights
from kit.methods.base import Ranking, Rankings, Retriever, as_query
from kit.methods.gnn_ret.retriever import GNNRet
from kit.methods.graph_reranker.candidates import WALK_LAYERS, WALK_SENDERS
from kit.methods.graph_reranker.logistic import Logistic
from kit.methods.qsgnn import training
from kit.methods.qsgnn.graph import NO_NODES, MultiLevelGraph
from kit.methods.qsgnn.network import INTER, INTRA, LEVELS, Attention, Network, Residual
from kit.methods.training import expect_training
from kit.precision import device
from kit.settings import AboveZero, Positive, Whole
from kit.text import ENCODER_SETTINGS, EncoderSettings
from kit.text.tfidf import best_rows
from kit.text.triples import extract

ABLATED_LEVELS = {"entity": "o", "chunk": "c"}
ABLATED_KINDS = {"intra": INTRA, "inter": INTER}
LOWEST = -1.0  # cosine
SHAPE = ("dimension", "layers", "rank", "init", "logit_scale")  # settings of the kit's weights
N_FITTED = 5_000  # vectors on which the map to fewer dimensions is fitted


class Asked(NamedTuple):
    """A question, the documents of its graph, and what plain methods say of these."""

    vector: ndarray  # (dimension,)
    documents: ndarray  # rows
    plain: ndarray  # (documents, scores); no scores where the form is the printed one

    def first(self, n: int) -> "Asked":
        """The same of the first n documents."""
        return Asked(self.vector, self.documents[:n], self.plain[:n])


class QSGNN(Shipped, Retriever):
    """The passages that are nearest to a query after messages in the graph around it (Eq. 6).

    The graph holds the first passages in the order of GNN-Ret, which walks from the nearest ones
    along entities, or of ``logistic`` where the form is the residual one. All others follow in that
    order, with lower scores.

    With ``start="worlds"`` it begins with weights that were learned on invented worlds, which
    ``kit data make networks`` makes of both forms. Of a benchmark it learns from synthetic
    questions (:data:`kit.methods.qsgnn.questions.SHARES`), then from training questions.
    The weights with the least loss on held-out questions are kept: a part of the synthetic ones,
    and dev questions. ``history`` has ``step`` with ``loss`` and ``stage`` (0 for pre-training), or
    with ``measured``, the negative loss on held-out questions.

    What ``ablate`` takes away (Tables 6 and 10): the nodes of a level, where a document without a
    node has the score of its best sentence; ``query``, which is β and γ (qsgnn-i13); ``intra`` or
    ``inter``, messages within a level or between levels; or a stage of the training.
    """

    name = "qsgnn"
    kind = "qsgnn"
    index_settings = (
        *ENCODER_SETTINGS,
        "form",
        "dimension",
        "layers",
        "rank",
        "triples",
        "ablate",
        "init",
        "logit_scale",
        "temperature",
        "seed",
    )
    fixed_by_training = (*ENCODER_SETTINGS, "form", "dimension", "layers", "rank")
    training_settings = (
        "form",
        "dimension",
        "layers",
        "rank",
        "triples",
        "ablate",
        "init",
        "logit_scale",
        "synthetic",
        "questions",
        "pretraining_epochs",
        "pretraining_rate",
        "epochs",
        "learning_rate",
        "batch",
        "training_documents",
        "negatives",
        "temperature",
        "n_train",
        "seed",
    )

    class Settings(EncoderSettings, frozen=True):
        start: Start = "worlds"
        form: Annotated[
            Literal["printed", "residual"],
            "Eq. 6 learned by Eq. 5, or what it adds to the score of `logistic`, learned as a list",
        ] = "printed"
        dimension: Annotated[Whole, "n, to which vectors are compressed; 0 for the encoder's"] = 0
        layers: Annotated[Positive, "rounds of messages"] = 2
        rank: Annotated[
            Whole, "of what is learned beside identities; 0 for whole matrices, as in the paper"
        ] = 4
        documents: Annotated[Whole, "passages of a query's graph; 0 for all, as in the paper"] = 60
        triples: Annotated[str, "where triples come from, see kit.text.triples.extract"] = "rules"
        ablate: Annotated[
            Literal[
                "",
                "entity",
                "chunk",
                "document",
                "query",
                "intra",
                "inter",
                "pre-training",
                "fine-tuning",
            ],
            "the part that is taken away",
        ] = ""
        init: Annotated[
            Literal["dense", "random"],
            "begin as dense retrieval, by identities, or as whole matrices drawn at random",
        ] = "dense"
        logit_scale: Annotated[AboveZero, "by which cosines are multiplied in a softmax"] = 10.0
        synthetic: Annotated[
            Whole, "questions that are made of the corpus, to learn from first, at most"
        ] = 0
        questions: Annotated[str, "who makes them: templates, or a language model"] = "templates"
        pretraining_epochs: Annotated[Whole, "times through these; the paper has 5"] = 1
        pretraining_rate: Annotated[AboveZero, "the highest learning rate meanwhile"] = 1e-3
        epochs: Annotated[Whole, "times through the training questions; the paper has 3"] = 2
        learning_rate: Annotated[AboveZero, "the highest learning rate meanwhile"] = 5e-4
        batch: Annotated[Positive, "questions per step"] = 12
        training_documents: Annotated[
            Positive, "passages of a training question's graph: its supports, and others"
        ] = 40
        negatives: Annotated[Positive, "of these others, against each support (Eq. 5)"] = 30
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
            self.network.load_state_dict(self.learned, strict=False)  # what is left out began so

    def index_untrained(self, corpus: Corpus) -> None:
        """Make the graph of a corpus, and a network as it is before training."""
        self.corpus = corpus
        options = self.settings.of_encoder()
        self.base = None
        if self.settings.form == "residual":
            self.base = Logistic(**options, triples=self.settings.triples)
            self.base.index(corpus)
            self.walk = self.base.scorers.walk
        else:
            self.walk = GNNRet(**options, layers=WALK_LAYERS, top_k=WALK_SENDERS)
            self.walk.index(corpus)
        self.graph = self._build_graph()
        self.device = torch.device(device())
        self.network = self._build_network().to(self.device)

    def _build_graph(self) -> MultiLevelGraph:
        extractions = extract(self.corpus, self.settings.triples)
        graph = MultiLevelGraph.build(self.corpus, extractions)
        if self.settings.ablate in ABLATED_LEVELS:
            graph = graph.without(ABLATED_LEVELS[self.settings.ablate])
        return graph.encoded(self.walk.encoder, self.walk.vectors)

    def _build_network(self) -> Network:
        settings = self.settings
        x = self.graph.data.x_dict
        width = x["d"].shape[1]
        gone = ABLATED_KINDS.get(settings.ablate, ())
        with torch.random.fork_rng():
            torch.manual_seed(settings.seed)
            network = Network(
                width,
                settings.dimension or width,
                settings.layers,
                settings.rank if settings.init == "dense" else 0,
                settings.logit_scale,
                query_aware=settings.ablate != "query",
                kinds=[kind for kind in (*INTRA, *INTER) if kind not in gone],
            )
            if settings.init == "random":
                network.draw()

        if settings.init == "dense":
            vectors = torch.cat([x["d"], x["c"]])
            picks = np.random.default_rng(settings.seed).permutation(len(vectors))
            network.keep_cosines(vectors[picks[:N_FITTED]])
        if settings.form == "residual":
            weights = torch.from_numpy(self.base.weights[:-1]).float()
            network.residual = Residual(weights, settings.temperature)
        return network

    def batch(self, documents: Sequence[ndarray]) -> Batch:
        """The subgraphs of several queries' documents, side by side."""
        parts = []
        for rows in documents:
            part = self.graph.subgraph(torch.from_numpy(rows))
            if self.settings.ablate == "document":
                part = part.subgraph({"d": NO_NODES})
            parts.append(part)
        return Batch.from_data_list(parts).to(self.device)

    # ---- retrieval

    def asked(
        self,
        text: str,
        vector: ndarray,  # (dimension,), of unit length
        n: int,
        supports: Sequence[int] = (),
        without: Sequence[int] = (),
    ) -> Asked:
        """A question with the first n passages around it.

        Its ``supports`` stand before all others where they are said; ``without`` are left out.
        """
        plain = np.empty((len(self.corpus), 0), np.float32)
        n_ordered = n + len(without)
        if self.base:
            plain = self.base.scorers.scores(text, vector)  # (passages, scores)
            weights = self.network.residual.base.weight[0].detach().cpu().numpy()
            order = best_rows(plain @ weights, n_ordered)
        else:
            [order] = self.walk.rows(vector[None], n_ordered)

        first = np.array(supports, dtype=order.dtype)
        others = order[~np.isin(order, [*supports, *without])]
        rows = np.concatenate([first, others])[:n]
        return Asked(vector, rows, plain[rows])

    def scores(self, questions: Sequence[Asked]) -> tuple[Tensor, ...]:
        """What each question's documents are ranked by: Eq. 6, or what it adds to plain scores."""
        vectors = np.stack([question.vector for question in questions])
        cosines = self.document_scores(vectors, [question.documents for question in questions])
        if not self.base:
            return cosines

        scores = []
        for question, of_question in zip(questions, cosines):
            plain = torch.from_numpy(question.plain).to(self.device)
            scores.append(self.network.residual(plain, of_question))
        return tuple(scores)

    def document_scores(self, queries: ndarray, documents: Sequence[ndarray]) -> tuple[Tensor, ...]:
        """Eq. 6: for each query the cosines of its documents, score = Sim(q, H^l).

        ``queries`` (queries, dimension) and, for each, the rows of the documents in its graph.
        """
        batch = self.batch(documents)
        level = "c" if self.settings.ablate == "document" else "d"
        h, q, _ = self.network(batch, torch.from_numpy(queries).to(self.device), level)

        # In full precision: cosines are divided by τ, and lie close together.
        query_of_node = batch[level].batch
        cosines = cosine_similarity(h[level].float(), q.float()[query_of_node])
        if level == "d":
            return cosines.split([len(rows) for rows in documents])
        return self._best_of_chunks(cosines, batch, documents)

    def _best_of_chunks(
        self, cosines: Tensor, batch: Batch, documents: Sequence[ndarray]
    ) -> tuple[Tensor, ...]:
        """A document's score is the best of its chunks'."""
        chunks = batch["c"]
        document_of_chunk = self.graph.data["cd"].edge_index[1].to(self.device)[chunks.n_id]
        sizes = chunks.ptr.diff().tolist()  # chunks per query
        parts = (cosines.split(sizes), document_of_chunk.split(sizes), documents)
        best = []
        for of_chunks, owners, rows in zip(*parts):
            lowest = cosines.new_full((len(self.corpus),), LOWEST)
            best.append(lowest.scatter_reduce(0, owners, of_chunks, "amax")[rows])
        return tuple(best)

    @torch.no_grad()
    @one_thread()
    def rank(self, queries: Queries, k: int) -> Rankings:
        size = self._graph_size
        rankings = []
        vectors = self.walk.encode([query.text for query in queries])
        for query, vector in zip(queries, vectors):
            order = self.asked(query.text, vector, max(size, k))
            [inside] = self.scores([order.first(size)])
            inside = inside.cpu().numpy()
            beneath = min(inside.min(initial=LOWEST), LOWEST)
            n_outside = len(order.documents) - len(inside)
            outside = beneath - np.arange(1, n_outside + 1, dtype=np.float32)
            scores = np.concatenate([inside, outside])
            best = np.argsort(-scores, kind="stable")[:k]
            rankings.append(Ranking(self.ids(order.documents[best]), scores[best]))
        return rankings

    @torch.no_grad()
    @one_thread()
    def attend(self, query: Query | str) -> tuple[Batch, list[Attention]]:
        """The graph around a query and, per layer, who listens to whom there (Eqs. 2 and 3).

        That is the attention of each edge of a kind, such as ``od``, which sums to 1 per receiver.
        """
        graph, vectors = self.around(query)
        _, _, layers = self.network(graph, vectors, LEVELS)
        on_cpu = [{kind: of_kind.cpu() for kind, of_kind in layer.items()} for layer in layers]
        return graph.cpu(), on_cpu

    def around(self, query: Query | str) -> tuple[Batch, Tensor]:
        """The graph that a query is answered in, and the query's vector (1, dimension)."""
        text = as_query(query).text
        vectors = self.walk.encode([text])
        documents = self.asked(text, vectors[0], self._graph_size).documents
        return self.batch([documents]), torch.from_numpy(vectors).to(self.device)

    @property
    def _graph_size(self) -> int:
        """The documents in the graph around a query."""
        return self.settings.documents or len(self.corpus)

    # ---- learning

    @property
    def shipped_folder(self) -> Path:
        """Each form has weights of its own."""
        return super().shipped_folder / self.settings.form

    def _begin(self) -> None:
        if self.settings.start == "worlds":
            self._expect_shape_of_worlds()
        super()._begin()

    def _expect_shape_of_worlds(self) -> None:
        """Raise :class:`InputError` where the kit's weights are those of another network."""
        usual = self.defaults()
        for name in SHAPE:
            if getattr(self.settings, name) != usual[name]:
                raise InputError(
                    f"the weights of {self.name} that come with the kit are for "
                    f"{name}={usual[name]!r}: with another expected start=untrained",
                    field=name,
                )
        if not self.shipped_folder.is_dir():
            network = f"{self.name}/{self.settings.form}"
            raise InputError(
                f"expected weights, which `kit data make networks {network}` makes",
                file=self.shipped_folder,
            )

    def expect_training(self, benchmark: Benchmark) -> None:
        if self.settings.epochs and self.settings.ablate != "fine-tuning":
            expect_training(benchmark, benchmark.train, self.settings.n_train, self.name)

    def data_key(self, benchmark: Benchmark) -> str:
        """The triples count, wherever they come from."""
        extractions = extract(benchmark.corpus, self.settings.triples)
        return super().data_key(benchmark) + msgspec.json.encode(extractions).decode()

    def train(self, benchmarks: Benchmarks, slot: Slot) -> Path:
        """Learn from each benchmark over its own corpus; one network for all."""
        learners = []
        for benchmark in benchmarks:
            learner = self.variant()
            learner.index_untrained(benchmark.corpus)
            learners.append(learner)
        network = learners[0].network
        for learner in learners:
            learner.network = network

        if self.learned:
            network.load_state_dict(self.learned, strict=False)
        elif self.settings.form == "residual":
            base = learners[0].base
            base.learn(benchmarks)
            network.residual.base.weight.data.copy_(torch.from_numpy(base.weights[:-1]))
        return training.train(learners, benchmarks, slot)

    def restore(self, folder: Path) -> None:
        self.learned = {name: weight.float() for name, weight in read_weights(folder).items()}
