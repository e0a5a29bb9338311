"""BGR: the graph of a question's evidence, found from the question on and from the last evidence back (bgr.txt §5).

From a path, the question and the evidence so far, a network judges every candidate (Eq. 1); those that it takes make
the path longer (Eq. 2), and none ends it. The graphs of both directions are made one (Eqs. 3 and 4), in
:mod:`kit.methods.bgr.graphs`. One network does both: its encoder reads the direction before the question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from pathlib import Path as Folder
from typing import Literal, NamedTuple

import numpy as np
import torch
from msgspec.structs import replace
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, normalize
from torch.nn.utils.rnn import pad_sequence

from kit.corpus import Benchmark, Corpus, EvidenceGraph, Query, Question
from kit.errors import InputError
from kit.learning.partly_frozen import PartlyFrozenEncoder
from kit.learning.training import periods_of, read_trained, train
from kit.methods.base import Ranking, Retriever, as_query, ranking_from_order
from kit.methods.baselines.classic import Dense
from kit.methods.bgr import graphs as bgr_graphs
from kit.methods.bgr.graphs import (
    QUESTION,
    Edge,
    Path,
    Rule,
    acyclic,
    decisions,
    depth_first,
    edges_of,
)
from kit.methods.trace import Expansion, Merge, Trace
from kit.methods.training import draw
from kit.settings import BaseSettings, Positive, Share, Whole
from kit.store import content_key
from kit.text import DEFAULT_ENCODER, Encoder

KIND = "bgr"  # in the store
FORWARD, BACKWARD = "forward", "backward"
LAYERS = 3  # upper ones of the encoder that learn, and read paths
BATCH, PERIOD = 4, 150  # questions a step, and steps between two checks
RATE, ENCODER_TIMES = 2e-3, 0.25  # the highest learning rate, and the encoder's share of it
DEV_QUESTIONS = 40  # by whose set F1 weights are chosen (bgr-i28)
TAKEN = -1.0  # the least logit, by F1, EM and GM on the atlas's dev questions; a lower one finds more, less exactly
MOST_EDGES, LONGEST = 25, 6  # of one search (bgr-i09)
MOST_TOKENS, MOST_WORDS = (
    40,
    40,
)  # of a candidate, and of it as evidence on a path; bgr.txt reads 30 tokens
_RECIPE = (
    "7"  # to be changed with what is learned, so that weights learned otherwise are not found again
)


class Reading(NamedTuple):
    """A question and its candidates, as the encoder's lower layers read them, which do not learn.

    The question is the first text: ``tokens`` (texts, tokens, width) with a ``mask``; ``vectors`` (texts, width).
    """

    tokens: Tensor
    mask: Tensor
    vectors: Tensor


class Compared(NamedTuple):
    """As ``tokens`` are compared, their ``weights`` in a candidate, and how well each text matches each (``pairs``)."""

    reading: Reading
    tokens: Tensor
    weights: Tensor
    pairs: Tensor


class Match(nn.Module):
    """Eq. 1: a feed-forward network with ELU says how surely each candidate comes next on a path.

    It sees how well each candidate matches question and path: how alike they are as vectors, and how well the tokens of
    each are found in the other, which weigh as much as ``heads`` learned attentions give them. Then every candidate
    hears of the others, of those most that it matches itself: what comes next may be known by what lies beyond it.
    """

    def __init__(
        self, width: int, heads: int = 6, compared: int = 96, plan: int = 16, hidden: int = 128
    ) -> None:
        super().__init__()
        self.project = nn.Linear(width, compared, bias=False)
        nn.init.orthogonal_(self.project.weight)  # equal words are alike from the start
        self.weigh = nn.ModuleDict(
            {name: nn.Linear(width, heads) for name in ("path", "text", "candidate")}
        )
        self.place = nn.Parameter(torch.zeros(MOST_TOKENS, heads))  # a title stands first
        self.near = nn.Linear(width, width, bias=False)
        nn.init.eye_(self.near.weight)
        self.plan = nn.Linear(width, plan)
        n = 4 * heads + 2 + plan + LONGEST + 2
        self.see = nn.ModuleList(
            nn.Sequential(nn.Linear(n, hidden), nn.ELU()) for _ in (FORWARD, BACKWARD)
        )
        self.link = nn.ModuleList(
            nn.Linear(2 * heads + 1, 4) for _ in (FORWARD, BACKWARD)
        )  # four ways to hear
        parts = (
            (nn.Dropout(0.2), nn.Linear(2 * hidden, hidden), nn.ELU(), nn.Linear(hidden, 1))
            for _ in range(2)
        )
        self.judge = nn.ModuleList(nn.Sequential(*layers) for layers in parts)

    def compare(self, reading: Reading) -> Compared:
        """What no path changes."""
        tokens, padding = normalize(self.project(reading.tokens), dim=-1), ~reading.mask[..., None]
        alike = torch.einsum("atd,bsd->abts", tokens, tokens)
        found = alike.masked_fill(~reading.mask[None, :, None], -1).amax(-1)
        weights = (
            self.weigh[of](reading.tokens) + self.place[: len(found[0, 0])]
            for of in ("text", "candidate")
        )
        text, candidate = (of.masked_fill(padding, -1e4).softmax(1) for of in weights)
        inside, around = (
            torch.einsum("abt,ath->abh", found, candidate),
            torch.einsum("bat,bth->abh", found, text),
        )
        pairs = torch.cat([inside, around, (reading.vectors @ reading.vectors.T)[..., None]], -1)
        return Compared(reading, tokens, candidate, pairs)

    def forward(
        self, compared: Compared, direction: str, paths: Sequence[Path], states: Sequence[Tensor]
    ) -> tuple[Tensor, Tensor]:
        """Logits and likenesses of vectors, both of shape (paths, candidates).

        ``paths`` hold places of candidates; ``states`` are those of a path's tokens, (tokens, width).
        """
        (reading, texts, weights, pairs), n, way = (
            compared,
            len(compared.pairs) - 1,
            int(direction == BACKWARD),
        )
        own = pad_sequence(list(states), batch_first=True)
        there = pad_sequence(
            [state.new_ones(len(state), dtype=torch.bool) for state in states], batch_first=True
        )
        alike = torch.einsum("ptd,csd->pcts", normalize(self.project(own), dim=-1), texts[1:])
        inside = alike.masked_fill(~there[:, None, :, None], -1).amax(2)
        around = alike.masked_fill(~reading.mask[1:, None], -1).amax(3)
        weight = self.weigh["path"](own).masked_fill(~there[..., None], -1e4).softmax(1)
        matches = [
            torch.einsum("pcs,csh->pch", inside, weights[1:]),
            torch.einsum("pct,pth->pch", around, weight),
        ]
        vectors = normalize(torch.stack([state.mean(0) for state in states]), dim=-1)
        likeness = 20 * vectors @ normalize(self.near(reading.vectors[1:]), dim=-1).T
        depth = torch.eye(LONGEST, device=own.device)[
            [min(len(path), LONGEST - 1) for path in paths]
        ]
        of_path = torch.cat([5 * self.plan(vectors), depth], -1)[:, None].expand(-1, n, -1)
        on = torch.zeros(len(paths), n, 2, device=own.device)  # on the path, and its last
        for number, path in enumerate(paths):
            on[number, list(path), 0] = on[number, list(path[-1:]), 1] = 1
        matches += [pairs[1:, 0].expand(len(paths), -1, -1), likeness[..., None] / 5]
        seen = self.see[way](torch.cat([*matches, of_path, on], -1))
        itself = torch.eye(n, dtype=torch.bool, device=own.device)[..., None]
        hears = (10 * self.link[way](pairs[1:, 1:])).masked_fill(itself, -1e4).softmax(1)
        heard = torch.einsum(
            "cdl,pdlv->pclv", hears, seen.unflatten(-1, (hears.shape[-1], -1))
        ).flatten(2)
        return self.judge[way](torch.cat([seen, heard], -1)).squeeze(
            -1
        ) - 3, likeness  # of twenty, one is right


def in_steps(question: Question, rng: np.random.Generator) -> Question:
    """Asked by some of its sub-questions in a row, those before answered: less is to be found."""
    steps = question.decomposition
    first = int(rng.integers(len(steps)))
    asked = steps[first : int(rng.integers(first, len(steps))) + 1]
    kept = sorted({step.support for step in asked if step.support is not None})
    if not kept or not question.evidence:  # what only computes finds nothing
        return question
    text = " ".join(
        step.filled([it.answer for it in steps[:first]] + ["that"] * len(steps)) for step in asked
    )
    edges = [
        (kept.index(i), kept.index(j))
        for i, j in question.evidence.edges
        if i in kept and j in kept
    ]
    supporting = tuple(question.supporting[i] for i in kept)
    return replace(
        question, text=text, supporting=supporting, evidence=EvidenceGraph(len(kept), tuple(edges))
    )


class Found(NamedTuple):
    """A search in one direction over ``rows``: what it took from each path (places), and how it judged all of them."""

    rows: np.ndarray
    taken: dict[Path, list[int]]
    logits: dict[Path, np.ndarray]

    def edges(self, direction: str) -> list[Edge]:
        """Between rows of the corpus and the question, acyclic, in the order in which they were found."""
        graph = acyclic(edges_of(depth_first(self.taken), direction == BACKWARD)[:MOST_EDGES])
        row = {QUESTION: QUESTION, **dict(enumerate(self.rows.tolist()))}
        return [(row[parent], row[child]) for parent, child in graph.edges]


class BGR(Retriever):
    """Evidence graphs in both directions, merged (Eqs. 1 to 4); a ranking begins with the evidence as it was found.

    ``direction``: both, or one alone; ``rule`` and ``gamma`` as in :func:`kit.methods.bgr.graphs.merge`. A path goes
    on to all candidates that are judged to come next, but no more than ``successors`` (0: all; 1: it is a chain); with
    ``at_least_one`` the best candidate is evidence even if none is judged to be. Candidates are the whole corpus, or in
    a larger one the ``candidates`` nearest to the question. ``n_train`` questions are drawn by ``seed`` (0: all).
    ``history`` has ``step`` with ``loss`` or ``measured``, the F1 of the evidence of dev questions.
    """

    name = "bgr"
    index_settings = ("encoder",)
    fixed_by_training = ("encoder", "steps", "n_train", "seed")

    class Settings(BaseSettings, frozen=True):
        encoder: str = DEFAULT_ENCODER
        direction: Literal["both", "forward", "backward"] = "both"
        rule: Rule = "code"
        gamma: Share = 0.2
        successors: Whole = 0
        at_least_one: bool = True
        candidates: Positive = 25
        steps: Positive = 450
        n_train: Whole = 0
        seed: Whole = 0

    history: Sequence[dict[str, float]] = ()
    network: nn.ModuleDict | None = None

    def fit(self, benchmark: Benchmark) -> None:
        known = [question for question in benchmark.train if question.evidence]
        n_train, encoder = self.settings.n_train, Encoder(self.settings.encoder)
        if len(known) < max(1, n_train):
            expected = f"expected {n_train or 'some'} training questions with evidence graphs (--train FILE) for bgr"
            raise InputError(
                f"{expected}, found {len(known)}", record=benchmark.name, field="evidence"
            )
        told = [
            str(getattr(self.settings, name)) for name in ("steps", "n_train", "seed", "candidates")
        ]
        key = content_key(_RECIPE, encoder.identity, *told, benchmark.without_test().hash).hex()
        self._see(encoder)
        questions = draw(known, n_train or len(known), self.settings.seed)
        folder = encoder.store.get_or_make(
            KIND, key, lambda: self.variant()._train(benchmark, questions, key)
        )
        self.learned, self.history = read_trained(folder)
        self.network.load_state_dict(self.learned)
        self.network.eval()

    def _see(self, encoder: Encoder) -> None:
        """An untrained network: the encoder that reads paths, and what they are matched by."""
        self.encoder, self.learner, self.known = encoder, PartlyFrozenEncoder(encoder, LAYERS), {}
        with torch.random.fork_rng():
            torch.manual_seed(self.settings.seed)
            match = Match(self.learner.upper.get_embedding_dimension()).to(
                self.learner.upper.device
            )
        self.network = nn.ModuleDict({"encoder": self.learner.upper, "match": match})

    def index(self, corpus: Corpus) -> None:
        """Of a corpus that is no larger than ``candidates`` nothing is to be made ready."""
        self.corpus, self.first = corpus, None
        if self.network is None:
            self._see(Encoder(self.settings.encoder))
            self.network.eval()
        if len(corpus) > self.settings.candidates:
            self.first = Dense(encoder=self.settings.encoder)
            self.first.index(corpus)

    def _candidates(self, queries: Sequence[Query]) -> list[np.ndarray]:
        """For each query the rows that are judged."""
        if self.first is None:
            return [np.arange(len(self.corpus))] * len(queries)
        rankings = self.first.retrieve_many(queries, self.settings.candidates)
        return [np.array([self.corpus.row[id] for id in ranking.ids]) for ranking in rankings]

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        return [
            self._ranking(query, rows, k)[0]
            for query, rows in zip(queries, self._candidates(queries))
        ]

    def rank_traced(self, query: Query, k: int) -> Ranking:
        query = as_query(query)
        ranking, found, merged = self._ranking(query, self._candidates([query])[0], k)
        events = []
        for number, (direction, search) in enumerate(found.items()):
            ids = self.ids(search.rows)
            for path, taken in depth_first(search.taken):
                sure = 1 / (1 + np.exp(-search.logits[path]))
                best = [
                    place
                    for place in np.argsort(-sure, kind="stable").tolist()
                    if place not in path
                ]
                judged = tuple((ids[place], round(float(sure[place]), 4)) for place in best)
                named = (tuple(ids[place] for place in of) for of in (path, taken))
                events.append(Expansion(number, direction, *named, judged))
        if merged:
            events.append(merged)
        return replace(
            ranking, trace=Trace(tuple(events), sum(len(it.taken) for it in found.values()))
        )

    def _ranking(
        self, query: Query, rows: np.ndarray, k: int
    ) -> tuple[Ranking, dict[str, Found], Merge | None]:
        """The merged graph's nodes first, then the other candidates in their order; and how the graph came about."""
        chosen = self.settings
        directions = (FORWARD, BACKWARD) if chosen.direction == "both" else (chosen.direction,)
        found = {direction: self.search(query, rows, direction) for direction in directions}
        graphs, merged = [search.edges(direction) for direction, search in found.items()], None
        edges = graphs[-1]
        if len(graphs) == 2:
            edges = list(acyclic(bgr_graphs.merge(*graphs, chosen.gamma, chosen.rule)).edges)
            name = {QUESTION: "", **{row: self.corpus.passages[row].id for row in rows.tolist()}}
            named = (tuple((name[i], name[j]) for i, j in graph) for graph in (*graphs, edges))
            share = bgr_graphs.bsc(*graphs)
            word = ">" if share > chosen.gamma else "≤"
            merged = Merge(
                2, *named, f"{chosen.rule}: BSC = {share:.2f} {word} γ = {chosen.gamma:g}"
            )
        ranking = evidence_ranking(self.corpus, edges, rows, k)
        return ranking, found, merged

    def search(self, query: Query, rows: np.ndarray, direction: str) -> Found:
        """Eqs. 1 and 2, level by level: which candidates each path goes on to, until none does."""
        match, taken, judged = self.network["match"], {}, {}
        with torch.no_grad():
            compared = match.compare(self._read(query, rows))
        paths: list[Path] = [()]
        while paths:
            with torch.no_grad():
                states = self.learner.states(
                    [self._text(query, rows, path, direction) for path in paths], "query"
                )
                logits = match(compared, direction, paths, states)[0].cpu().numpy() - TAKEN
            longer = []
            for path, of in zip(paths, logits):
                of[list(path)] = -np.inf  # no evidence twice on a path
                best = np.argsort(-of, kind="stable").tolist()
                found = [place for place in best if of[place] > 0] or best[
                    : not path and self.settings.at_least_one
                ]
                taken[path], judged[path] = found[: self.settings.successors or None], of
                longer += [(*path, place) for place in taken[path]]
            paths = [path for path in longer if len(path) < LONGEST][:MOST_EDGES]
        return Found(rows, taken, judged)

    def _text(self, query: Query, rows: np.ndarray, path: Path, direction: str) -> str:
        """What the encoder reads of a path."""
        evidence = [
            " ".join(self.corpus.passages[rows[place]].full_text.split()[:MOST_WORDS])
            for place in path
        ]
        return "\n".join([f"{direction}: {query.text}", *evidence])

    def _read(self, query: Query, rows: Sequence[int]) -> Reading:
        texts = [query.text, *(self.corpus.passages[row].full_text for row in rows)]
        if new := sorted({text for text in texts if text not in self.known}):
            read = (
                self.learner.lower.encode_document
            )  # by words rather than by meaning: more is found so, in less time
            states = read(new, output_value="token_embeddings", show_progress_bar=False)
            self.known.update(
                (text, state[:MOST_TOKENS].clone()) for text, state in zip(new, states)
            )
        tokens = [self.known[text] for text in texts]
        vectors = torch.stack([state.mean(0) for state in tokens])
        mask = pad_sequence(
            [state.new_ones(len(state), dtype=torch.bool) for state in tokens], batch_first=True
        )
        return Reading(pad_sequence(tokens, batch_first=True), mask, normalize(vectors, dim=-1))

    def _train(self, benchmark: Benchmark, questions: Sequence[Question], key: str) -> Folder:
        """By the kit's one loop: the loss of Eq. 1 in both directions."""
        self.corpus = benchmark.corpus
        if benchmark.collections is None:  # else each question has its candidates
            self.index(benchmark.corpus)
        dev = [question for question in benchmark.dev if question.evidence]
        dev, encoder = draw(dev, DEV_QUESTIONS, self.settings.seed), self.network["encoder"]
        rows = dict(
            zip(
                [it.id for it in (*questions, *dev)], self._databases(benchmark, [*questions, *dev])
            )
        )

        def loss(batch: Sequence[Question]) -> Tensor:
            return torch.stack(list(self._losses(batch, rows))).mean()

        def check(step: int) -> dict[str, float]:
            self.network.eval()  # a period leaves its dropout on
            return {
                "measured": float(
                    np.mean([self._f1(question, rows[question.id]) for question in dev] or [0.0])
                )
            }

        groups = [{"params": encoder.parameters(), "times": ENCODER_TIMES}]
        adam = torch.optim.AdamW(
            [*groups, {"params": self.network["match"].parameters()}], weight_decay=0.01
        )
        told = {
            "store": self.encoder.store,
            "kind": KIND,
            "key": key,
            "check": check,
            "latest_of_equals": True,
        }
        steps = list(islice(self._batches(questions), self.settings.steps))
        periods = periods_of(
            [steps[start : start + PERIOD] for start in range(0, len(steps), PERIOD)], RATE
        )
        return train(self.network, adam, periods, loss, dropout_seed=self.settings.seed, **told)

    def _batches(self, questions: Sequence[Question]) -> Iterator[list[Question]]:
        """Epoch after epoch, each dealt anew; one question of each is asked in steps beside."""
        for epoch in count():
            rng = np.random.default_rng([self.settings.seed, epoch])
            dealt = [questions[place] for place in rng.permutation(len(questions))]
            for batch in (dealt[start : start + BATCH] for start in range(0, len(dealt), BATCH)):
                yield [*batch, *(in_steps(it, rng) for it in batch[:1] if it.decomposition)]

    def _databases(self, benchmark: Benchmark, questions: Sequence[Question]) -> list[np.ndarray]:
        """The rows that a question is learned from: its own, or its supports and what is nearest to it by vector."""
        if benchmark.collections is not None:
            return [benchmark.collections[question.id] for question in questions]
        gold = [[self.corpus.row[id] for id in question.supporting_ids] for question in questions]
        near = self._candidates([question.query for question in questions])
        n = self.settings.candidates
        return [
            np.array([*rows, *(row for row in of.tolist() if row not in rows)][:n])
            for rows, of in zip(gold, near)
        ]

    def _losses(
        self, questions: Sequence[Question], rows: Mapping[str, np.ndarray]
    ) -> Iterator[Tensor]:
        """For each question and direction the binary cross-entropy of the candidates of two paths (bgr-i07).

        They are the empty one and another of its graph, drawn anew: more steps of these learn better in less time than
        fewer of all paths. Beside it, as the encoder learns faster so, that of a softmax over likenesses in favour of
        what comes next.
        """
        self.network["encoder"].eval()  # without dropout, as in all trainings of encoders here
        asked = []
        for question in questions:
            place = {row: place for place, row in enumerate(rows[question.id].tolist())}
            gold = [place[self.corpus.row[carriers[0]]] for carriers in question.supporting]
            for direction in (FORWARD, BACKWARD):
                known = decisions(question.evidence, direction == BACKWARD)
                known = {
                    tuple(gold[i] for i in path): [gold[i] for i in found]
                    for path, found in known.items()
                }
                drawn = (0, 1 + int(torch.randint(len(known) - 1, ())))
                asked.append(
                    (question, direction, dict(list(known.items())[place] for place in drawn))
                )
        texts = [
            self._text(it.query, rows[it.id], path, way)
            for it, way, known in asked
            for path in known
        ]
        states = iter(self.learner.states(texts, "query"))
        for question, direction, known in asked:
            if direction == FORWARD:
                compared = self.network["match"].compare(
                    self._read(question.query, rows[question.id])
                )
            paths = list(known)
            logits, likeness = self.network["match"](
                compared, direction, paths, [next(states) for _ in paths]
            )
            right, free = torch.zeros_like(logits), torch.ones_like(logits)
            for number, path in enumerate(paths):
                right[number, known[path]], free[number, list(path)] = 1, 0
            found = (
                binary_cross_entropy_with_logits(logits, right, weight=free, reduction="none")
                .sum(1)
                .mean()
            )
            against = likeness.masked_fill((right + 1 - free).bool(), -torch.inf).logsumexp(
                1, keepdim=True
            )
            yield found + (torch.logaddexp(likeness, against) - likeness)[right.bool()].mean()

    def _f1(self, question: Question, rows: np.ndarray) -> float:
        """How well the evidence that is found for a question is that of its supports."""
        graphs = [
            self.search(question.query, rows, direction).edges(direction)
            for direction in (FORWARD, BACKWARD)
        ]
        found = {
            row for _, row in bgr_graphs.merge(*graphs, self.settings.gamma, self.settings.rule)
        }
        gold = {self.corpus.row[carriers[0]] for carriers in question.supporting}
        return 2 * len(found & gold) / (len(found) + len(gold))


def evidence_ranking(corpus: Corpus, edges: Sequence[Edge], rows: Sequence[int], k: int) -> Ranking:
    """Evidence in the order in which a graph's edges reach it, with the graph, then further rows."""
    nodes = list(dict.fromkeys(child for _, child in edges))[:k]
    place = {row: number for number, row in enumerate(nodes)}
    kept = [(place[i], place[j]) for i, j in edges if i in place and j in place]
    ids = [corpus.passages[row].id for row in dict.fromkeys([*nodes, *np.asarray(rows).tolist()])][
        :k
    ]
    return replace(ranking_from_order(ids), evidence=EvidenceGraph.of(len(nodes), kept))
