"""GRR: chains of evidence, found by a recurrent network (Asai et al. 2020), BGR's rival.

    w_i = BERT([q; p_i]),  P(p_i | h_t) = σ(w_i · h_t + b)
    h_{t+1} = α · a / ‖a‖,  a = W [h_t; w_i] + c

The paper's symbols and the names here: w_i are the ``vectors`` of candidates read with the
question, h_t is the ``state`` of a chain, and the vector of the end, [EOE], stands after those of
the candidates. A beam keeps the chains whose product of probabilities is highest; the best one that
ends is the evidence, each piece the parent of the next.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, normalize

from kit.corpus import Benchmark, Corpus
from kit.corpus.types import Queries
from kit.learning.partly_frozen import PartlyFrozenEncoder
from kit.learning.trained import Trained
from kit.learning.training import Slot, Trainer, periods_of, read_weights
from kit.methods.base import Rankings
from kit.methods.bgr.choices import gold_edges, marks
from kit.methods.bgr.evidence import EvidenceRetriever, evidence_ranking, with_graphs
from kit.methods.bgr.graphs import QUESTION, Edges, NodePath
from kit.methods.bgr.network import MASKED
from kit.methods.bgr.search import Candidates, in_rows
from kit.methods.bgr.training import Example, batches, optimiser_of
from kit.methods.training import draw
from kit.settings import Positive, Whole
from kit.text import ENCODER_SETTINGS, Encoder, EncoderSettings

LAYERS = 2  # upper ones of the encoder that learn
BATCH = 2  # questions per step
PERIOD = 100  # steps between two checks
DEV_QUESTIONS = 40
LONGEST_CHAIN = 6  # pieces of evidence
MOST_WORDS = 40  # of a candidate that are read


class Chain(NamedTuple):
    """A beginning of a chain: its evidence, log probability and state."""

    path: NodePath
    score: float
    state: Tensor  # (width)
    has_ended: bool = False


class ChainNetwork(nn.Module):
    """The encoder's upper layers, the first state, the end's vector and the recurrent step."""

    def __init__(self, base: Encoder, seed: int) -> None:
        super().__init__()
        self.learner = PartlyFrozenEncoder(base, LAYERS)
        self.encoder = self.learner.upper
        width = self.encoder.get_embedding_dimension()
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.first_state = nn.Parameter(torch.randn(width) / width**0.5)
            self.end = nn.Parameter(torch.randn(width) / width**0.5)
            self.step = nn.Linear(2 * width, width)
        self.length = nn.Parameter(torch.tensor(10.0))  # α
        self.bias = nn.Parameter(torch.tensor(-3.0))  # b
        self.to(self.encoder.device)

    def vectors(self, all_candidates: Sequence[Candidates]) -> Sequence[Tensor]:
        """For each question w of its candidates and of the end: (candidates + 1, width)."""
        texts = []
        for question, *passages in (candidates.texts for candidates in all_candidates):
            texts += [f"{question}\n{' '.join(text.split()[:MOST_WORDS])}" for text in passages]
        means = torch.stack([states.mean(0) for states in self.learner.states(texts)])
        sizes = [len(candidates.rows) for candidates in all_candidates]
        return [torch.cat([normalize(part, dim=-1), self.end[None]]) for part in means.split(sizes)]

    def begin(self) -> Tensor:
        """h of the empty chain: (width)."""
        return self.length * normalize(self.first_state, dim=-1)

    def go_on(self, state: Tensor, vector: Tensor) -> Tensor:
        """h after one more piece of evidence: (width)."""
        return self.length * normalize(self.step(torch.cat([state, vector])), dim=-1)

    def judge(self, vectors: Tensor, state: Tensor, path: NodePath) -> Tensor:
        """Logits of all candidates, and of the end: (candidates + 1). Nothing comes twice."""
        logits = vectors @ state + self.bias
        is_free = torch.ones_like(logits, dtype=torch.bool)
        is_free[list(path)] = False
        return logits.masked_fill(~is_free, MASKED)

    def loss(self, examples: Sequence[Example]) -> Tensor:
        """The mean over steps of the sum over all candidates, of the chains that are drawn."""
        self.encoder.eval()
        losses = []
        all_vectors = self.vectors([example.candidates for example in examples])
        for example, vectors in zip(examples, all_vectors):
            chain = draw_chain(example)
            state = self.begin()
            for length, target in enumerate([*chain, len(vectors) - 1]):
                path = chain[:length]
                logits = self.judge(vectors, state, path)
                is_right = torch.zeros_like(logits)
                is_right[target] = 1
                wrong = binary_cross_entropy_with_logits(logits, is_right, reduction="sum")
                losses.append(wrong)
                state = self.go_on(state, vectors[target])
        return torch.stack(losses).mean()

    @torch.no_grad()
    def search(self, vectors: Tensor, beam: int) -> NodePath:
        """The best chain that ends, or that is as long as any may be."""
        end = len(vectors) - 1
        chains = [Chain((), 0.0, self.begin())]
        for _ in range(LONGEST_CHAIN):
            longer = [chain for chain in chains if chain.has_ended]
            for chain in chains:
                if not chain.has_ended:
                    longer += self._longer(chain, vectors, end, beam)
            chains = sorted(longer, key=lambda chain: chain.score, reverse=True)[:beam]
        return chains[0].path

    def _longer(self, chain: Chain, vectors: Tensor, end: int, beam: int) -> Iterator[Chain]:
        logits = self.judge(vectors, chain.state, chain.path)
        if not chain.path:
            logits[end] = MASKED  # a question has evidence
        best = logits.sigmoid().log().topk(min(beam, len(logits)))
        for score, position in zip(best.values.tolist(), best.indices.tolist()):
            total = chain.score + score
            if position == end:
                yield Chain(chain.path, total, chain.state, has_ended=True)
            else:
                state = self.go_on(chain.state, vectors[position])
                yield Chain((*chain.path, position), total, state)


class GRR(Trained, EvidenceRetriever):
    """Graph recurrent retriever: a chain of evidence by a beam (Asai et al. 2020; BGR §6.1).

    As BGR judges every candidate, so does this; the links of Wikipedia, by which the original finds
    candidates, have no part. ``history`` has ``step`` with ``loss`` or ``measured``, the F1 of the
    evidence of dev questions.
    """

    name = "grr"
    kind = "grr"
    index_settings = (*EvidenceRetriever.index_settings, "seed")
    training_settings = ("steps", "learning_rate", "n_train", "seed", "candidates")
    fixed_by_training = (*ENCODER_SETTINGS, "steps", "learning_rate", "n_train", "seed")

    class Settings(EncoderSettings, frozen=True):
        beam: Annotated[Positive, "chains that are followed"] = 8
        candidates: Annotated[Positive, "of a larger corpus, those nearest to the question"] = 25
        steps: Annotated[Positive, "steps of training"] = 200
        learning_rate: Annotated[float, "the highest"] = 1e-3
        n_train: Annotated[Whole, "training questions that are drawn; 0: all"] = 0
        seed: Annotated[Whole, "of the first weights and of what is drawn"] = 0

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        self.blank = None if self.learned else self._untrained()

    def rank(self, queries: Queries, k: int) -> Rankings:
        network = self.learned or self.blank
        rankings = []
        for query, rows in zip(queries, self.nearest_rows(queries, k)):
            candidates = Candidates.of(
                query.text,
                rows[: self.settings.candidates],
                self.corpus,
            )
            edges = in_rows(found_by(network, candidates, self.settings.beam), candidates.rows)
            rankings.append(evidence_ranking(self.corpus, edges, rows, k))
        return rankings

    def expect_training(self, benchmark: Benchmark) -> None:
        self.expect_graphs(benchmark)

    def train(self, benchmark: Benchmark, slot: Slot) -> Path:
        settings = self.settings
        learnable = with_graphs(benchmark.train)
        drawn = draw(learnable, settings.n_train or len(learnable), settings.seed)
        examples = self.examples(benchmark, drawn)
        n_choosing = min(DEV_QUESTIONS, settings.n_train or DEV_QUESTIONS)
        choosing = draw(with_graphs(benchmark.dev), n_choosing, settings.seed)
        dev = self.examples(benchmark, choosing)

        network = self._untrained()
        endless = batches(examples, settings.seed, BATCH, with_steps=False)
        steps = list(islice(endless, settings.steps))
        parts = [steps[start : start + PERIOD] for start in range(0, len(steps), PERIOD)]
        trainer = Trainer(
            network,
            optimiser_of(network),
            network.loss,
            check=partial(measure, network, dev, settings.beam),
            latest_of_equals=True,
        )
        return trainer.run(periods_of(parts, settings.learning_rate), slot)

    def restore(self, folder: Path) -> None:
        self.learned = self._untrained()
        self.learned.load_state_dict(read_weights(folder))

    def _untrained(self) -> ChainNetwork:
        return ChainNetwork(Encoder(**self.settings.of_encoder()), self.settings.seed).eval()


def found_by(network: ChainNetwork, candidates: Candidates, beam: int) -> Edges:
    """The edges of the best chain, between positions among candidates."""
    if not len(candidates.rows):
        return []
    with torch.no_grad():
        [vectors] = network.vectors([candidates])
    path = network.search(vectors, beam)
    return list(zip((QUESTION, *path), path))


def draw_chain(example: Example) -> NodePath:
    """A chain of the question's graph from a source to a sink, as positions of candidates."""
    chains = example.question.evidence.chains
    chain = chains[int(torch.randint(len(chains), ()))]
    return tuple(example.gold[node] for node in chain)


def measure(
    network: ChainNetwork,
    dev: Sequence[Example],
    beam: int,
    step: int,
) -> dict[str, float]:
    """The mean F1 of the evidence of dev questions."""
    network.eval()
    scores = []
    for example in dev:
        _, f1 = marks(found_by(network, example.candidates, beam), gold_edges(example))
        scores.append(f1)
    return {"measured": float(np.mean(scores or [0.0]))}
