"""RAS's GraphLLM (C.3): one language model plans and answers, and the graph is a token of it.

As in G-Retriever (He et al., NeurIPS 2024; PyG's ``GRetriever``) what a graph network makes of the
triples stands before the prompt, as if it were the vector of a word. Here each sub-question has a
graph of its own; the token is the mean of these graphs. The language model learns by changes of low
rank, the graph network and the projector wholly.

The paper's symbols and the names here: g_i the ``triples`` of a step, f_gnn ``encoder``,
ψ_proj ``projector``, M_plan and M_ans the same network with two instructions
(:mod:`kit.methods.loops.asking`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import torch
from msgspec.structs import replace
from numpy.random import default_rng
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import global_mean_pool
from torch_geometric.utils import scatter

from kit.corpus import Benchmark, Question
from kit.corpus.types import Questions, Texts
from kit.errors import InputError
from kit.learning.adapters import (
    AdapterSettings,
    adapted,
    answer_loss,
    released,
    shuffled_batches,
)
from kit.learning.trained import Trained
from kit.learning.training import Slot, Trainer, parts_of_epoch, periods_of, read_weights
from kit.methods.loops import asking
from kit.methods.loops.agents import ChatAgent
from kit.methods.loops.small_plan import LONGEST_PLAN
from kit.methods.loops.steps import Trajectories, Trajectory
from kit.methods.loops.teacher import Teacher, has_short_steps, is_short, taught
from kit.methods.ras.graph_data import graphs_of
from kit.methods.ras.network import GraphEncoder
from kit.methods.ras.retriever import RAS
from kit.progress import progress_bar
from kit.settings import BaseSettings, Positive, Whole, check
from kit.store import Store
from kit.text.language_models import CausalModel, Prompt, Request, as_request
from kit.text.language_models.smollm2 import NAME

BATCH = 4  # examples per step
RATE = 1e-3  # the highest learning rate
MOST_TOKENS = 1_000  # of a lesson: longer ones are left out
GRAPH = -1  # in the place of a token: here the graph stands

Roles = Literal["both", "planner", "answerer"]


class Lesson(NamedTuple):
    """What a state of a question is asked about, and what the reply ought to be."""

    state: Trajectory
    request: Request
    reply: str


class Read(NamedTuple):
    """A lesson as numbers: its tokens, how many are the reply's, the sub-questions' graphs."""

    tokens: list[int]
    n_of_reply: int
    graphs: Sequence[Data]


class GraphLLMSettings(BaseSettings, frozen=True):
    """The parts of GraphLLM that RAS's Table 2 takes away, and how it learns."""

    graph_token: Annotated[bool, "the graph stands before the prompt"] = True
    lora: Annotated[bool, "the language model changes, too"] = True
    roles: Annotated[Roles, "both, or only planner or answerer"] = "both"
    base: Annotated[str, "causal language model, by name or folder"] = NAME
    hidden: Annotated[Positive, "width of the graph network"] = 128
    layers: Annotated[Positive, "rounds of messages"] = 3
    rank: Annotated[Positive, "r of each change (LoRA)"] = 4
    epochs: Annotated[Positive, "times through the lessons"] = 1
    seed: Annotated[Whole, "of the first weights and the order"] = 0


class GraphLLMNetwork(nn.Module):
    """A causal language model that reads a graph as a token.

    Args:
        base: the model; this network changes it, so it must be of no other.
        width: of the vectors of names and relations.
        settings: its parts.
    """

    def __init__(self, base: CausalModel, width: int, settings: GraphLLMSettings) -> None:
        super().__init__()
        self.language = adapted(base, AdapterSettings(rank=settings.rank, seed=settings.seed))
        if not settings.lora:
            self.language = released(self.language).requires_grad_(False)
        hidden = settings.hidden
        size = self.language.get_input_embeddings().embedding_dim
        torch.manual_seed(settings.seed)
        self.encoder = GraphEncoder(width, width + 1, hidden, settings.layers)
        self.projector = nn.Sequential(
            nn.Linear(hidden, hidden),
            nn.Sigmoid(),
            nn.Linear(hidden, size),
        )
        self.to(self.language.device)

    @property
    def learning(self) -> nn.ParameterList:
        """The weights that learn."""
        return nn.ParameterList(weight for weight in self.parameters() if weight.requires_grad)

    def graph_tokens(self, graphs: Sequence[Sequence[Data]]) -> Tensor:
        """ψ_proj(mean_i mean(f_gnn(g_i))) of each state's graphs: (states, embedding).

        A state without any graph has the projection of zeros.
        """
        owner = [row for row, of_state in enumerate(graphs) for _ in of_state]
        flat = list(chain.from_iterable(graphs))
        device = self.language.device
        means = torch.zeros(len(graphs), self.encoder.out_channels, device=device)
        if flat:
            batch = Batch.from_data_list(flat, exclude_keys=["names"]).to(device)
            h = self.encoder(batch.x, batch.edge_index, batch.edge_attr)
            of_graphs = global_mean_pool(h, batch.batch, len(flat))
            means = scatter(of_graphs, torch.tensor(owner, device=device), 0, len(graphs), "mean")
        return self.projector(means)

    def embedded(self, tokens: Tensor, graph_tokens: Tensor) -> Tensor:
        """The vectors of tokens, with those of the graphs where :data:`GRAPH` stands.

        (prompts, tokens) and (prompts, embedding) → (prompts, tokens, embedding).
        """
        tokens = tokens.to(graph_tokens.device)
        vectors = self.language.get_input_embeddings()(tokens.clamp(min=0))
        is_graph = (tokens == GRAPH)[..., None]
        return vectors.masked_scatter(is_graph, graph_tokens.to(vectors))

    def loss(self, batch: Sequence[Read]) -> Tensor:
        """Cross-entropy of the replies' tokens, in nats."""
        graph_tokens = self.graph_tokens([lesson.graphs for lesson in batch])
        in_order = iter(graph_tokens)

        def foresee(tokens: Tensor, n: int) -> Tensor:
            vectors = self.embedded(tokens, torch.stack(list(islice(in_order, len(tokens)))))
            return self.language(inputs_embeds=vectors, logits_to_keep=n).logits

        return answer_loss(foresee, [lesson[:2] for lesson in batch])

    @torch.no_grad()
    def write(self, lesson: Read, end: int) -> list[int]:
        """The tokens of the likeliest reply, word by word, up to the token that ends one."""
        vectors = self.embedded(torch.tensor([lesson.tokens]), self.graph_tokens([lesson.graphs]))
        [written] = self.language.generate(
            inputs_embeds=vectors,
            attention_mask=torch.ones(vectors.shape[:2], dtype=torch.long, device=vectors.device),
            max_new_tokens=LONGEST_PLAN,
            do_sample=False,
            eos_token_id=end,
            pad_token_id=end,
        ).tolist()
        return written


class GraphLLM(Trained):
    """Learns to plan and to answer from a teacher's states of the training questions.

    Args:
        retriever: the RAS that finds what the states have, with an index.
        settings: as of :class:`GraphLLMSettings`.
    """

    name = "graph-llm"
    kind = "graph-llms"
    training_settings = GraphLLMSettings.__struct_fields__

    def __init__(self, retriever: RAS, **settings: object) -> None:
        self.retriever = retriever
        self.settings = check(GraphLLMSettings, settings, "GraphLLM")
        self.base = CausalModel(self.settings.base)
        self.base.takes_instructions = False  # it learns what is wanted

    @property
    def store(self) -> Store:
        return self.retriever.encoder.store

    def agent(self, graph_token: bool = True) -> GraphAgent:
        """Who plans and answers by it in a RAS, with the graph's token or without."""
        self.expect_fit()
        return GraphAgent(self, graph_token and self.settings.graph_token)

    def replies(
        self,
        trajectories: Trajectories,
        requests: Sequence[Request],
        graph_token: bool,
    ) -> list[str]:
        """What it writes about states of questions."""
        lessons = list(map(Lesson, trajectories, requests, [""] * len(requests)))
        tokenizer, _ = self.base.loaded
        self.network.eval()
        replies = []
        for read in progress_bar(self._read(lessons, graph_token), desc="asking GraphLLM"):
            written = self.network.write(read, tokenizer.eos_token_id)
            replies.append(tokenizer.decode(written, skip_special_tokens=True).strip())
        return replies

    # ---- how it learns

    def expect_training(self, benchmark: Benchmark) -> None:
        """Raises :class:`InputError` where no question has steps with short answers."""
        if not any(map(_teaches, benchmark.train)):
            raise InputError(
                "expected training questions with sub-questions and short answers (--train FILE)",
                record=benchmark.name,
            )
        self.base.expect_ready()

    def key_parts(self) -> Texts:
        retriever = self.retriever
        return repr(retriever.settings), retriever.encoder.identity, self.base.identity

    def train(self, benchmark: Benchmark, slot: Slot) -> Path:
        """Learn by the cross-entropy of replies; kept are the weights that are best on dev's."""
        lessons, dev = map(self._read_to_learn, (benchmark.train, benchmark.dev))
        network = self._untrained()

        @torch.no_grad()
        def check_replies(_: int) -> dict[str, float]:
            return {"log_likelihood": -network.loss(dev).item()}

        trainer = Trainer(
            network.learning,
            torch.optim.AdamW(network.learning.parameters(), weight_decay=0.0),
            network.loss,
            check=check_replies if dev else None,
        )
        parts = []
        for epoch in range(self.settings.epochs):
            generator = default_rng([self.settings.seed, epoch])
            parts += parts_of_epoch(shuffled_batches(lessons, BATCH, generator))
        return trainer.run(periods_of(parts, RATE), slot)

    def lessons(self, questions: Questions) -> list[Lesson]:
        """Of each question that teaches: what is next at each state, and the answer at the last."""
        teaching = list(filter(_teaches, questions))
        retriever = self.retriever
        teacher = Teacher(retriever.corpus, retriever.settings.top_k)
        lessons = []
        for question, grown in zip(teaching, taught(retriever.variant(), teaching)):
            if self.settings.roles != "answerer":
                for n in range(len(grown.steps) + 1):
                    state = grown.up_to(n)
                    request = as_request(asking.about_next_step(state, "ras", False))
                    lessons.append(Lesson(state, request, teacher.reply(state)))
            if self.settings.roles != "planner":
                request = asking.about_graph(grown, takes_instructions=False)
                lessons.append(Lesson(grown, request, question.answer))
        return lessons

    def _read_to_learn(self, questions: Questions) -> list[Read]:
        read = self._read(self.lessons(questions), self.settings.graph_token)
        return [lesson for lesson in read if len(lesson.tokens) <= MOST_TOKENS]

    def _read(self, lessons: Sequence[Lesson], graph_token: bool) -> list[Read]:
        """Each with its tokens; :data:`GRAPH` stands where the prompt itself begins."""
        of_steps = [_sub_graphs(lesson.state) for lesson in lessons]
        graphs = iter(graphs_of(self.retriever, list(chain.from_iterable(of_steps))))
        read = []
        for lesson, states in zip(lessons, of_steps):
            tokens = self.base.tokens_of(lesson.request)
            if graph_token:
                tokens.insert(self._begin_of(lesson.request), GRAPH)
            reply = self.base.tokens_of_answer(lesson.reply) if lesson.reply else []
            read.append(Read(tokens + reply, len(reply), [next(graphs) for _ in states]))
        return read

    def _begin_of(self, request: Request) -> int:
        """How many tokens a chat has before its prompt."""
        pairs = zip(*(self.base.tokens_of(replace(request, prompt=prompt)) for prompt in "ab"))
        return next(n for n, (one, other) in enumerate(pairs) if one != other)

    def _untrained(self) -> GraphLLMNetwork:
        base = CausalModel(self.settings.base)  # of this network alone
        with torch.random.fork_rng():
            return GraphLLMNetwork(base, self.retriever.vectors.shape[1], self.settings)

    def restore(self, folder: Path) -> None:
        self.network = self._untrained()
        self.network.learning.load_state_dict(read_weights(folder))


def _teaches(question: Question) -> bool:
    return has_short_steps(question) and is_short(question.answer)


def _sub_graphs(state: Trajectory) -> list[Trajectory]:
    """A trajectory of each sub-question that has triples, with these alone."""
    return [
        Trajectory(state.query, [step], dict.fromkeys(step.triples, 0))
        for step in state.steps
        if step.triples
    ]


class GraphAgent(ChatAgent):
    """A planner and answerer that sees the graph as a token, too."""

    def __init__(self, graph_llm: GraphLLM, graph_token: bool) -> None:
        super().__init__(graph_llm.base, graph_llm.retriever.corpus)
        self.graph_llm = graph_llm
        self.graph_token = graph_token

    def replies(self, trajectories: Trajectories, questions: Sequence[Prompt]) -> list[str]:
        requests = list(map(as_request, questions))
        return self.graph_llm.replies(trajectories, requests, self.graph_token)
