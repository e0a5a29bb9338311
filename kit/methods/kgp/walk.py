"""KGP: from seeds that TF-IDF finds, an agent walks the passage graph (kgp.txt §4, Algorithm 1; 8.2).

The paper's symbols and the names here: G ``graph``; f_GT ``score``; g, the TF-IDF search, ``tfidf``; V^s ``seeds``, the
candidates of the path that has no passage yet; P ``queue``; C ``candidates``, looked up when it is their path's turn; K
``budget``; k, how many passages are retrieved, the length of ``found``. ``branching`` has no symbol there.

An agent is a subclass that scores candidates by Eq. 1, s_{j+1} = argmax_{v ∈ N_j} φ(g(X_v), f(q ‖ X_0 … X_j)): from the
question and the passages of a path, in the order of the visits, it makes what it looks for (f), and compares each
candidate (g) with it (φ).
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from operator import itemgetter
from typing import NamedTuple

import msgspec
import numpy as np

from kit.corpus import Benchmark, Corpus, Query
from kit.graphs import PassageGraph, build, builders
from kit.methods.base import Ranking, Retriever, as_query
from kit.methods.baselines.dpr import DPR
from kit.methods.baselines.mdr import MDR, path_text
from kit.methods.kgp.structure import StructureReader
from kit.methods.loops.agents import LONGEST_PLAN, PLANNER, SmallAgent
from kit.methods.trace import AnyEvent, NodeVisit, Seed, Trace
from kit.settings import BaseSettings, Positive, Whole
from kit.store import content_key
from kit.text import DEFAULT_ENCODER, Encoder, TfidfIndex
from kit.text.language_models import LanguageModel, SequenceToSequence, language_model
from kit.text.prompts import evidence_prompt

_TRAINING = [(each.name, each.type, each.default) for each in msgspec.structs.fields(DPR.Settings)]


class AgentInput(NamedTuple):
    """What an agent is asked: a question, the rows of a path (none at the start), and those of its candidates."""

    query: Query
    path: tuple[int, ...]
    candidates: np.ndarray


class AgentOutput(NamedTuple):
    """A score for each candidate, higher is better, and the evidence text that was looked for, where one is written."""

    scores: np.ndarray
    generated_evidence: str = ""


class Path(NamedTuple):
    """Rows of passages in the order of the visits, what the agent gave each, and the evidence it chose the last by."""

    rows: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()
    evidence: str = ""


@dataclass
class Walk:
    """How far the walk for one question has come."""

    query: Query
    similarity: np.ndarray  # (passages,) TF-IDF cosines to the question
    seeds: np.ndarray  # rows
    queue: deque[Path] = field(default_factory=lambda: deque([Path()]))
    ended: list[Path] = field(default_factory=list)  # paths that grow no further
    found: dict[int, None] = field(default_factory=dict)  # distinct rows as they were met
    visits: list[Path] = field(default_factory=list)  # paths as they were queued
    n_scored: int = 0  # what the agent compared


class KGP(Retriever):
    """Algorithm 1 with an agent, over a ``graph`` by a builder's name or a union (:func:`kit.graphs.build`).

    The seeds are the ⌊``budget`` / ``branching``⌋ passages that TF-IDF puts first (kgp-i16), in the order of the agent,
    which scores them as it does any candidate. From there a path grows by the ``branching`` best neighbours of its last
    passage that it has not visited, to at most ``depth`` passages; another path may have visited them, and then they
    are not counted again (kgp-i31). The walk ends with ``budget`` distinct passages, or where no path can grow.

    Paths are ranked by the sum of their scores, each standardised among those of the question's visits, to seeds and to
    neighbours apart (kgp-i18); passages by their first appearance, then, by TF-IDF, those that the walk did not find.
    """

    index_settings = ("graph",)
    encoder: Encoder | None = (
        None  # the agent's, where it has one; a ``knn`` graph is built with it
    )

    class Settings(BaseSettings, frozen=True):
        graph: str = "entity+structure"
        branching: Positive = 3
        depth: Positive = 2
        budget: Positive = 30

        def __post_init__(self) -> None:
            builders(self.graph)

    def index(self, corpus: Corpus) -> None:
        self.corpus, self.tfidf, self.reader = corpus, TfidfIndex(corpus), StructureReader(corpus)
        with_encoder = self.encoder and "knn" in self.settings.graph.split("+")
        self.graph = build(
            self.settings.graph, corpus, **({"encoder": self.encoder.name} if with_encoder else {})
        )

    @property
    def graph(self) -> PassageGraph:
        return self._graph

    @graph.setter
    def graph(self, graph: PassageGraph) -> None:
        self._graph, self.neighbours = graph, lru_cache(maxsize=10_000)(graph.neighbours)

    def score(self, inputs: Sequence[AgentInput]) -> list[AgentOutput]:
        """The agent, Eq. 1. The inputs are of any questions: what is costly is done for all of them at once."""
        raise NotImplementedError

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        return self.reader.rankings(
            queries, k, lambda asked, k: [self._ranking(it, k) for it in self._walk(asked)]
        )

    def rank_traced(self, query: Query, k: int) -> Ranking:
        query = as_query(query)
        if self.reader.asked(query.text):
            return super().rank_traced(query, k)
        [walk] = self._walk([query])
        return msgspec.structs.replace(self._ranking(walk, k), trace=self._trace(walk))

    def _walk(self, queries: Sequence[Query]) -> list[Walk]:
        """The walks for questions about content."""
        n_seeds = max(1, self.settings.budget // self.settings.branching)
        walks = [
            Walk(query, similarity, np.argsort(-similarity, kind="stable")[:n_seeds])  # line 1
            for query, similarity in zip(
                queries, self.tfidf.scores([query.text for query in queries])
            )
        ]
        # The questions walk abreast, a path each at a time, so that the agent is asked about many at once.
        while active := [
            walk for walk in walks if walk.queue and len(walk.found) < self.settings.budget
        ]:  # line 5
            growing, inputs = [], []
            for walk in active:
                path = walk.queue.popleft()  # line 6
                candidates = self._candidates(walk, path)
                if len(candidates):
                    growing.append((walk, path))
                    inputs.append(AgentInput(walk.query, path.rows, candidates))
                else:
                    walk.ended.append(path)
            outputs = self.score(inputs) if inputs else []  # line 7
            for (walk, path), asked, output in zip(growing, inputs, outputs):
                self._visit(walk, path, asked.candidates, output)
        return walks

    def _candidates(self, walk: Walk, path: Path) -> np.ndarray:
        """The rows that a path may go on to: at first the seeds, then neighbours of its last passage (kgp-i13)."""
        if not path.rows:
            return walk.seeds
        if len(path.rows) == self.settings.depth:
            return np.zeros(0, int)
        near = self.neighbours(path.rows[-1])
        return near[~np.isin(near, path.rows)]

    def _visit(self, walk: Walk, path: Path, candidates: np.ndarray, output: AgentOutput) -> None:
        walk.n_scored += len(candidates)
        best = np.argsort(
            -output.scores, kind="stable"
        )  # equal ones in the order of the candidates
        for place in best[: self.settings.branching if path.rows else len(best)]:  # line 8
            row, score = int(candidates[place]), float(output.scores[place])
            longer = Path((*path.rows, row), (*path.scores, score), output.generated_evidence)
            walk.queue.append(longer)  # line 9
            walk.visits.append(longer)
            walk.found.setdefault(row)  # line 10
            if len(walk.found) == self.settings.budget:  # line 11
                return

    def _ranking(self, walk: Walk, k: int) -> Ranking:
        scales = []  # of the scores of seeds, and of neighbours
        for later in (False, True):
            given = [path.scores[-1] for path in walk.visits if (len(path.rows) > 1) == later] or [
                0.0
            ]
            scales.append(
                (float(np.mean(given)), float(np.std(given)) or 1.0)
            )  # 1 where all are equal
        valued = []
        for path in (*walk.ended, *walk.queue):
            scaled = [
                (score - scales[at > 0][0]) / scales[at > 0][1]
                for at, score in enumerate(path.scores)
            ]
            valued.append((sum(scaled), path.rows))
        found: dict[int, float] = {}
        for value, rows in sorted(valued, key=itemgetter(0), reverse=True):
            for row in rows:
                found.setdefault(row, value)
        lowest = min(found.values(), default=0.0)
        for row in (
            np.argsort(-walk.similarity, kind="stable")[:k].tolist() if k > len(found) else ()
        ):
            found.setdefault(row, lowest - 1 + min(float(walk.similarity[row]), 1.0))
        return Ranking(self.ids(found)[:k], np.array(list(found.values())[:k]))

    def _trace(self, walk: Walk) -> Trace:
        seeds = zip(self.ids(walk.seeds), walk.similarity[walk.seeds].tolist())
        events: list[AnyEvent] = [Seed(0, id, score) for id, score in seeds]
        for path in walk.visits:
            *before, passage = self.ids(path.rows)
            source = before.pop() if before else ""
            events.append(
                NodeVisit(
                    len(path.rows) - 1,
                    passage,
                    source,
                    path.scores[-1],
                    path.evidence,
                    tuple(before),
                )
            )
        return Trace(tuple(events), walk.n_scored)


# ---- agents (Table 2)


class KGPRandom(KGP):
    """To the random agent all candidates are alike (§5.3). Its draws depend on ``seed``, question and path alone."""

    name = "kgp-random"

    class Settings(KGP.Settings, frozen=True):
        seed: Whole = 0

    def score(self, inputs: Sequence[AgentInput]) -> list[AgentOutput]:
        found = []
        for query, path, candidates in inputs:
            key = content_key(str(self.settings.seed), query.text, *self.ids(path))
            found.append(
                AgentOutput(np.random.default_rng(int.from_bytes(key[:8])).random(len(candidates)))
            )
        return found


class KGPTfidf(KGP):
    """The TF-IDF agent (Table 2), on the schedule of the others (kgp-i20).

    φ is the cosine of TF-IDF vectors, with the whole collection's idf (kgp-i11), to the question alone (8.2).
    """

    name = "kgp-tfidf"

    def generated_evidence(self, inputs: Sequence[AgentInput]) -> list[str]:
        """f: the text that the candidates of each input are to be like, for an agent that writes one; else empty."""
        return [""] * len(inputs)

    def score(self, inputs: Sequence[AgentInput]) -> list[AgentOutput]:
        texts = self.generated_evidence(inputs)
        vectors = self.tfidf.vectorizer.transform(
            [text or each.query.text for each, text in zip(inputs, texts)]
        )
        return [
            AgentOutput((self.tfidf.passages[each.candidates] @ vector.T).toarray().ravel(), text)
            for each, vector, text in zip(inputs, vectors, texts)
        ]


class KGPDense(KGP):
    """The agent is a sentence encoder as it comes, which reads the question alone: φ is the cosine of vectors."""

    name = "kgp-dense"
    index_settings = ("graph", "encoder")
    reads_path = False  # with the passages so far, as Eq. 1 has it: an encoding a path takes a hundred times as long
    learned: Encoder | None = None

    class Settings(KGP.Settings, frozen=True):
        encoder: str = DEFAULT_ENCODER

    def index(self, corpus: Corpus) -> None:
        self.encoder = self.learned or Encoder(self.settings.encoder)
        super().index(corpus)
        self.vectors = self.encoder.encode([passage.full_text for passage in corpus.passages])

    def score(self, inputs: Sequence[AgentInput]) -> list[AgentOutput]:
        paths = [
            [self.corpus.passages[row] for row in each.path] if self.reads_path else ()
            for each in inputs
        ]
        texts = [path_text(each.query.text, path) for each, path in zip(inputs, paths)]
        f = self.encoder.encode(texts, role="query", progress=False)
        return [
            AgentOutput(self.vectors[each.candidates] @ vector) for each, vector in zip(inputs, f)
        ]


class KGPMDR(KGPDense):
    """The agent is the encoder that :class:`kit.methods.baselines.mdr.MDR` trains, by settings as it has them."""

    name = "kgp-mdr"
    fixed_by_training = ("encoder",)
    reads_path = True
    history: tuple[dict[str, float], ...] = ()  # see :class:`DPR`
    Settings = msgspec.defstruct(
        "Settings", _TRAINING, bases=(KGP.Settings,), frozen=True, kw_only=True
    )

    def fit(self, benchmark: Benchmark) -> None:
        mdr = MDR(**{name: getattr(self.settings, name) for name, *_ in _TRAINING})
        mdr.fit(benchmark)
        self.learned, self.history = mdr.learned, mdr.history


class KGPT5(KGPTfidf):
    """The agent is the kit's small language model (kgp.txt, "KGP-T5"), ``data/planner``, which learned on other data.

    It reads the triples of a path's passages and plans with them. f is the question with the first step of the plan
    that these do not answer, or with the last and what answers it: "… selby quay on river". (The paper's T5, 700 times
    as large, writes whole sentences, and these stand alone.)
    """

    name = "kgp-t5"

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)
        self.model = language_model(
            f"t5:{PLANNER}", longest_answer=LONGEST_PLAN
        )  # variants share it

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        self.agent = SmallAgent(self.model, corpus, f"t5:{PLANNER}")

    def generated_evidence(self, inputs: Sequence[AgentInput]) -> list[str]:
        self.agent.facts.facts(
            [each.candidates for each in inputs if not each.path]
        )  # of all seeds, at once
        found = self.agent.reason([each.query for each in inputs], [each.path for each in inputs])
        return [f"{of.query.text} {of.steps[-1].sentence}" if of.steps else "" for of in found]


class KGPChat(KGPTfidf):
    """The agent is a language model (kgp.txt, Table 2), ``model``, that is asked by Listing 1 for the next evidence.

    It is a chat model, ``server:MODEL``, or a sequence-to-sequence model that understands such a prompt, ``t5:MODEL``
    (see :func:`kit.text.language_models.language_model`). The answers are kept, so that a run is repeated without the
    model. Candidates are compared with what it writes alone (Eq. 1); with the question where that is nothing.
    """

    name = "kgp-chat"

    class Settings(KGP.Settings, frozen=True):
        model: str = ""

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)
        self._models = cache(language_model)  # variants share it
        _ = self.model

    @property
    def model(self) -> LanguageModel:
        return self._models(self.settings.model)

    def generated_evidence(self, inputs: Sequence[AgentInput]) -> list[str]:
        name = "prefixed_evidence" if isinstance(self.model, SequenceToSequence) else "evidence"
        paths = [[self.corpus.passages[row].full_text for row in each.path] for each in inputs]
        prompts = [
            evidence_prompt(each.query.text, path, name) for each, path in zip(inputs, paths)
        ]
        return [answer.text for answer in self.model.generate(prompts, progress=len(prompts) > 64)]
