"""RAS's answerer (ras.txt §3.4, Eqs. 8 and 11): a graph network reads the question's graph G_Q.

For a class :class:`GraphAnswerer`, which scores the graph's nodes, yes, no and small numbers, and learns in a minute.
The paper's GraphLLM (C.3), where the network's output is a soft prompt of a language model, is PyG's GRetriever with a
:class:`GraphEncoder` as its ``gnn``, given the parts of :func:`to_data`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import MLP, TransformerConv, global_add_pool
from torch_geometric.utils import scatter, softmax

from kit.corpus import Benchmark, Query, Question
from kit.errors import InputError
from kit.learning.training import History, periods_of, read_trained, train
from kit.methods.loops.agents import Trajectory
from kit.methods.ras.retriever import RAS
from kit.readers.extractive import Reader
from kit.readers.scoring import exact_match, normalise
from kit.settings import BaseSettings, Positive, Whole, check
from kit.store import content_key
from kit.text.placeholders import DATE, NUMBER, Mention, key_of

KIND = "ras-answerers"  # in the store
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
CLOSED = ("yes", "no", *map(str, range(len(WORDS))))  # answers that are no node
MARKS = 10  # of a node: see `marks`
BATCH, RATE = 16, 2e-3
AT_ONCE = 64  # graphs that are answered together
_RECIPE = (
    "2"  # to be changed with what is learned, so that weights learned otherwise are not found again
)


def value_of(text: str) -> float | None:
    """What a date or a number comes to, in years or as it is; None for a name."""
    if text in WORDS:
        return float(WORDS.index(text))
    if NUMBER.fullmatch(text):
        return float(text.replace(",", ""))
    if not DATE.fullmatch(text):
        return None
    for pattern in ("%d %B %Y", "%B %d, %Y", "%B %Y"):
        with suppress(ValueError):
            day = datetime.strptime(text, pattern)
            return day.year + day.timetuple().tm_yday / 367
    return None


def marks(of: Trajectory, nodes: Sequence[str], mentions: Sequence[Mention]) -> np.ndarray:
    """What the planner's steps and the question (by its ``mentions``) say of each node, (nodes, MARKS).

    Named in the question; answer of a step, of the last one, and of how many (a third of it); what the last one asks
    about; a value, and if it answers a step how it stands among such values (standardised, least, greatest), and on
    which side of a number in the question.
    """
    steps = [[key_of(answer) for answer in step.answers] for step in of.steps if step.holes]
    about = {key_of(hole.entity) for step in of.steps[-1:] for hole in step.holes}
    named = {key_of(mention.entity) for mention in mentions}
    limit = next(
        (value for mention in mentions if (value := value_of(mention.entity)) is not None), None
    )
    values = {node: value for node in nodes if (value := value_of(node)) is not None}
    answering = [value for node, value in values.items() if any(node in step for step in steps)]
    mean, spread = (np.mean(answering), np.std(answering) or 1.0) if answering else (0.0, 1.0)
    found = np.zeros((len(nodes), MARKS), np.float32)
    for row, node in zip(found, nodes):
        n = sum(node in step for step in steps)
        row[:6] = (
            node in named,
            n > 0,
            bool(steps) and node in steps[-1],
            n / 3,
            node in about,
            node in values,
        )
        if node in values and n:
            value, one = values[node], len(set(answering)) > 1
            row[6:8] = (
                (value - mean) / spread,
                one * (value == min(answering)) - one * (value == max(answering)),
            )
            row[8:] = (0, 0) if limit is None else (np.sign(value - limit), 1)
    return found


def to_data(
    of: Trajectory,
    question: np.ndarray,
    vectors: Mapping[str, np.ndarray],
    mentions: Sequence[Mention] = (),
    answers: Sequence[str] = (),
) -> Data:
    """G_Q for PyG: ``x`` (nodes, width) and ``edge_attr`` (edges, width + 1) of Eq. 8, each edge also backward.

    ``vectors`` has those of names and relations, ``question`` (width,) is the question's. The last column of
    ``edge_attr`` is 1 on the way from subject to object. ``marks`` as above; ``right`` (nodes,) and ``right_closed``
    (1, closed answers) say which of the ``answers`` is where; ``names`` are the nodes' own.
    """
    names: dict[str, str] = {}
    for subject, _, object in of.graph:
        names.setdefault(key_of(subject), subject)
        names.setdefault(key_of(object), object)
    place = {node: number for number, node in enumerate(names)}
    edges = np.array(
        [(place[key_of(it[0])], place[key_of(it[2])]) for it in of.graph], int
    ).reshape(-1, 2)
    x, said = (
        torch.tensor(
            np.array([vectors[text] for text in texts], np.float32).reshape(-1, len(question))
        )
        for texts in (names.values(), [relation for _, relation, _ in of.graph])
    )
    wanted = {key_of(answer) for answer in answers} | {normalise(answer) for answer in answers}
    return Data(
        x=x,
        edge_index=torch.tensor(np.concatenate([edges, edges[:, ::-1]]).T),
        edge_attr=torch.cat(
            [nn.functional.pad(said, (0, 1), value=forward) for forward in (1.0, 0.0)]
        ),
        marks=torch.tensor(marks(of, list(names), mentions)),
        question=torch.tensor(question)[None],
        right=torch.tensor([node in wanted for node in names], dtype=torch.bool),
        right_closed=torch.tensor([[answer in wanted for answer in CLOSED]]),
        names=list(names.values()),
    )


class GraphEncoder(nn.Module):
    """``layers`` of the paper's Graph Transformer (PyG's TransformerConv with edge vectors, C.3), each with a residual.

    x: (nodes, in_channels), edge_attr: (edges, edge_dim) → (nodes, out_channels).
    """

    def __init__(
        self, in_channels: int, edge_dim: int, out_channels: int, layers: int, heads: int = 4
    ) -> None:
        super().__init__()
        self.out_channels = out_channels
        self.enter = nn.Linear(in_channels, out_channels)
        self.convs = nn.ModuleList(
            TransformerConv(out_channels, out_channels // heads, heads, edge_dim=edge_dim)
            for _ in range(layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(out_channels) for _ in range(layers))

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        h = self.enter(x)
        for conv, norm in zip(self.convs, self.norms):
            h = h + conv(norm(h), edge_index, edge_attr).relu()
        return h


class AnswerNetwork(nn.Module):
    """Scores of all nodes and of the closed answers, in the light of the question."""

    def __init__(self, width: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.text, self.edge = nn.Linear(width, hidden), nn.Linear(width + 1, hidden)
        self.ask = nn.Sequential(nn.Dropout(0.2), nn.Linear(width, hidden))
        self.encoder = GraphEncoder(2 * hidden + MARKS, hidden, hidden, layers)
        self.node = MLP([2 * hidden + MARKS, 128, 1], dropout=0.2, norm=None)
        self.closed = MLP([3 * hidden + 2 * MARKS, 128, len(CLOSED)], dropout=0.2, norm=None)

    def forward(self, data: Batch) -> tuple[Tensor, Tensor]:
        """Of shapes (nodes,) and (graphs, closed answers)."""
        asked, batch = self.ask(data.question), data.batch
        x = torch.cat(
            [
                nn.functional.dropout(self.text(data.x), 0.3, self.training),
                asked[batch],
                data.marks,
            ],
            1,
        )
        h = self.encoder(x, data.edge_index, self.edge(data.edge_attr))
        last, any_step = (
            data.marks[:, 2:3],
            data.marks[:, 1:2],
        )  # what answers the last step, and what answers any
        told = torch.cat([h * last, h * any_step / 3, data.marks * last, data.marks * any_step], 1)
        nodes = self.node(torch.cat([h, asked[batch], data.marks], 1)).squeeze(1)
        return nodes, self.closed(torch.cat([asked, global_add_pool(told, batch, len(asked))], 1))


def loss_of(nodes: Tensor, closed: Tensor, data: Batch) -> Tensor:
    """Minus the mean log-likelihood of the right answers, wherever they stand, of graphs where one does."""
    of = torch.cat([data.batch, torch.arange(len(closed)).repeat_interleave(closed.shape[1])])
    right = torch.cat([data.right, data.right_closed.ravel()])
    likely = scatter(softmax(torch.cat([nodes, closed.ravel()]), of) * right, of, 0, len(closed))
    known = scatter(right.float(), of, 0, len(closed)) > 0
    return -likely[known].log().mean() if known.any() else 0 * nodes.sum()


class GraphAnswerer:
    """Learns on the graphs that a RAS grows for training questions, chosen on dev; ``layers=0`` sends no messages.

    ``known`` are the graphs that another answerer of the same RAS learned on, which are then not grown again.
    """

    class Settings(BaseSettings, frozen=True):
        hidden: Positive = 64
        layers: Whole = 3
        epochs: Positive = 20
        seed: Whole = 0

    history: History = ()

    def __init__(
        self, retriever: RAS, known: dict[Query, Data] | None = None, **settings: object
    ) -> None:
        self.retriever, self.encoder, self.known = (
            retriever,
            retriever.encoder,
            {} if known is None else known,
        )
        self.settings = check(self.Settings, settings, "the answerer of ras")

    def graphs(self, grown: Sequence[Trajectory], questions: Sequence[Question] = ()) -> list[Data]:
        """For the network, with the answers of ``questions`` where these are given."""
        texts = sorted({part for of in grown for triple in of.graph for part in triple})
        vectors = dict(zip(texts, self.encoder.encode(texts)))
        asked = self.encoder.encode([of.query.text for of in grown], role="query", progress=False)
        linked = [self.retriever.linker.mentions(of.query.text, numbers=True) for of in grown]
        answers = [(it.answer, *it.aliases) for it in questions] or [()] * len(grown)
        return [
            to_data(of, question, vectors, *each)
            for of, question, *each in zip(grown, asked, linked, answers)
        ]

    def fit(self, benchmark: Benchmark) -> None:
        """Raises InputError where no training question has an answer."""
        train_on, dev = ([it for it in of if it.answer] for of in (benchmark.train, benchmark.dev))
        if not train_on:
            raise InputError(
                "expected training questions with answers (--train FILE)", record=benchmark.name
            )
        settings, model = (
            (repr(self.settings), repr(self.retriever.settings)),
            self.retriever.agent.model,
        )
        identities = self.encoder.identity, model.identity if model else ""
        key = content_key(_RECIPE, *settings, *identities, benchmark.without_test().hash).hex()
        with torch.random.fork_rng():
            torch.manual_seed(self.settings.seed)
            width = self.retriever.vectors.shape[1]
            self.network = AnswerNetwork(width, self.settings.hidden, self.settings.layers)
        folder = self.encoder.store.get_or_make(KIND, key, lambda: self._train(train_on, dev, key))
        learned, self.history = read_trained(folder)
        self.network.load_state_dict(learned)
        self.network.eval()

    def _train(self, train_on: Sequence[Question], dev: Sequence[Question], key: str) -> Path:
        new = [it for it in (*train_on, *dev) if it.query not in self.known]
        grown = self.retriever.run(
            [it.gold_query if self.retriever.sees_gold else it.query for it in new]
        )
        self.known.update(zip([it.query for it in new], self.graphs(grown, new)))
        graphs, checked = ([self.known[it.query] for it in of] for of in (train_on, dev))
        batches = DataLoader(graphs, BATCH, shuffle=True)  # anew in each epoch, from its own seed
        optimiser = torch.optim.AdamW(self.network.parameters(), weight_decay=0.01)

        def measure(step: int) -> dict[str, float]:
            self.network.eval()
            told = zip(self._scores(checked), dev)
            return {
                "measured": np.mean(
                    [exact_match(next(iter(of)), (it.answer, *it.aliases)) for of, it in told]
                )
            }

        told = {"store": self.encoder.store, "kind": KIND, "key": key}
        told |= {"check": measure if dev else None, "dropout_seed": self.settings.seed}
        periods = periods_of([batches] * self.settings.epochs, RATE)
        return train(
            self.network,
            optimiser,
            periods,
            lambda batch: loss_of(*self.network(batch), batch),
            **told,
        )

    @torch.no_grad()
    def _scores(self, graphs: Sequence[Data]) -> list[dict[str, float]]:
        found = []
        for part in DataLoader(graphs, AT_ONCE):
            nodes, closed = self.network(part)
            for names, *scores in zip(part.names, nodes.split(part.ptr.diff().tolist()), closed):
                likely = zip([*names, *CLOSED], torch.cat(scores).softmax(0).tolist())
                found.append(dict(sorted(likely, key=lambda pair: -pair[1])))
        return found

    def scores(self, of: Trajectory) -> dict[str, float]:
        """How probable each answer is, the best first."""
        return self._scores(self.graphs([of]))[0]

    def answer(self, grown: Sequence[Trajectory]) -> list[str]:
        """The best node or closed answer of each graph."""
        return [next(iter(scores)) for scores in self._scores(self.graphs(grown))]


class GraphReader(Reader):
    """RAS's reader for what any method found: a plan over the triples of its passages, and an answer from their graph.

    The passages must be of the corpus that it was fitted on.
    """

    name = "ras"

    def fit(self, benchmark: Benchmark) -> None:
        self.retriever = RAS()
        self.retriever.index(benchmark.corpus)
        self.answerer = GraphAnswerer(self.retriever)
        self.answerer.fit(benchmark)
        self.row = {passage.full_text: row for row, passage in enumerate(benchmark.corpus.passages)}

    def answer(self, questions: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[str]:
        if any(text not in self.row for texts in contexts for text in texts):
            raise InputError(
                "expected passages of the corpus that the reader learned on", field="reader"
            )
        rows = [[self.row[text] for text in texts] for texts in contexts]
        queries = [Query("", text) for text in questions]
        return self.answerer.answer(self.retriever.agent.reason(queries, rows))
