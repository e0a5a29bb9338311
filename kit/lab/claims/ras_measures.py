"""What RAS's claims and the paper's tables are measured on: scopes, times, loops taken apart."""

from collections.abc import Mapping, Sequence
from copy import copy
from time import perf_counter

import numpy as np
import pandas as pd
from numpy import ndarray
from numpy.random import default_rng
from pandas import DataFrame
from scipy.sparse import csr_array, hstack
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_fscore_support
from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
from sklearn.preprocessing import StandardScaler

from kit.corpus.types import PlainTriple, Questions
from kit.evaluation.growth import pair_of
from kit.evaluation.metrics import covered
from kit.methods import Ranking, Retriever
from kit.methods.loops.agents import Agent
from kit.methods.loops.fact_reader import FactReader
from kit.methods.loops.small_plan import begun_plan, small_prompt
from kit.methods.loops.steps import NextSteps, Step, Trajectories, Trajectory
from kit.methods.ras.answerer import GraphAnswerer
from kit.methods.ras.retriever import OUT_OF_SCOPE, RAS, sub_questions
from kit.methods.ras.themes import THEMES, Themes
from kit.methods.training import query_for
from kit.text.placeholders import key_of
from kit.text.triples import extract

RAW = "the query's own"
FROM_PROFILE = "shifted from its profile"
FROM_VECTOR = "shifted from its vector"
SCOPES = (0.1, 0.25, 0.5, 1.0)  # K/N
N_THEMES = 35  # T, in times
WIDTH = 384  # d
LEFT_OUT = {"settlement", "water", "company", "school"}  # themes, for ras-15
ALMOST_EMPTY = 0.3  # the highest probability of a theme, below which a passage has none

#: The triples that each passage states, as of :func:`kit.worlds.planner.stated_facts`.
StatedFacts = Mapping[str, set[PlainTriple]]


class Scopes:
    """The themes of a corpus, with and without a learned shift, asked for sub-questions."""

    def __init__(self, ras: RAS, questions: Questions, seed: int = 0) -> None:
        """``ras`` has taken sub-questions to learn from, and indexed the corpus."""
        pairs = sub_questions(questions)
        self.corpus = ras.corpus
        self.vectors = ras.vectors
        self.seed = seed
        self.sought = np.array([ras.corpus.row[passage] for _, passage in pairs])
        self.queries = ras.encoder.encode([text for text, _ in pairs], role="query")
        texts, passages = zip(*ras.theme_pairs)
        self.pairs = (ras.encoder.encode(texts, role="query"), ras.encoder.encode(passages))

        raw = Themes(ras.corpus, ras.vectors)
        self.themes = {RAW: raw}
        for name in (FROM_PROFILE, FROM_VECTOR):
            self.themes[name] = copy(raw)
            self.themes[name].fit(
                *self.pairs,
                from_vectors=name == FROM_VECTOR,
                seed=seed,
            )

    def hits(self, themes: Themes, share: float) -> tuple[ndarray, ndarray]:
        """Whether a scope keeps the passage that is sought, and whether it is in the first five."""
        scores = self.queries @ self.vectors.T
        if share < 1:
            scores = scores - OUT_OF_SCOPE * ~themes.scoped(self.queries, share)
        best = np.argsort(
            -scores,
            axis=1,
            kind="stable",
        )[:, :5]
        is_kept = scores[np.arange(len(self.sought)), self.sought] > -OUT_OF_SCOPE / 2
        return is_kept, (best == self.sought[:, None]).any(1)

    def table(self) -> DataFrame:
        """A row per profile, K/N, metric and sub-question; ``found`` is 0 or 1."""
        parts = []
        for name, themes in self.themes.items():
            for share in SCOPES:
                kept, first = self.hits(themes, share)
                hits = DataFrame({"kept in scope": kept, "recall@5": first}).astype(float)
                rows = hits.reset_index(names="question").melt(
                    "question",
                    None,
                    "metric",
                    "found",
                )
                parts.append(rows.assign(profile=name, **{"K/N": share}))
        return pd.concat(parts, ignore_index=True)

    def divergences(self) -> dict[str, ndarray]:
        """How far the profiles of sub-questions are from those of their passages, in nats."""
        target = self.themes[RAW].profiles[self.sought]
        nats = {}
        for name in (RAW, FROM_PROFILE):
            profiles = self.themes[name].shifted(self.queries)
            nats[name] = (target * np.log((target + 1e-9) / (profiles + 1e-9))).sum(1)
        return nats

    def agreement(self) -> DataFrame:
        """How well half of the labelled passages teach the themes of the other half."""
        whole = self.themes[RAW]
        labelled = np.flatnonzero(whole.labels.any(1))
        to_train, to_test = np.array_split(default_rng(self.seed).permutation(labelled), 2)
        classifier = clone(whole.classifier).fit(self.vectors[to_train], whole.labels[to_train])
        predicted = classifier.predict(self.vectors[to_test])
        labels = whole.labels[to_test]
        columns = {"all of them": (labels.ravel(), predicted.ravel())}
        columns |= dict(zip(whole.names, zip(labels.T, predicted.T)))
        rows = []
        for name, (right, given) in columns.items():
            measures = precision_recall_fscore_support(
                right,
                given,
                average="binary",
                zero_division=0.0,
            )
            rows.append((name, int(right.sum()), *measures[:3]))
        return DataFrame(rows, columns=["theme", "passages", "precision", "recall", "F1"])

    def newer_text(self) -> tuple[ndarray, ndarray, list[ndarray]]:
        """What :func:`kit.lab.claims.ras.ras_15` takes: some themes are never learned."""
        kept = {name: words for name, words in THEMES.items() if name not in LEFT_OUT}
        fewer = Themes(
            self.corpus,
            self.vectors,
            kept,
        )
        strengths = fewer.classifier.predict_proba(self.vectors)
        empty = (strengths.max(1) < ALMOST_EMPTY).astype(float)
        whole = self.themes[RAW]
        unseen = whole.labels[:, [name in LEFT_OUT for name in whole.names]].any(1)
        fewer.fit(
            *self.pairs,
            from_vectors=True,
            seed=self.seed,
        )
        held = []
        for themes in (self.themes[FROM_VECTOR], fewer):
            held.append(self.hits(themes, 0.25)[1][unseen[self.sought]])
        return empty, unseen, held


# ---- times (Figure 2)


def law_of_saving(share: float) -> float:
    """What a scope would save if choosing and gathering cost nothing: 1 − T/d − K/N."""
    return 1 - N_THEMES / WIDTH - share


def seconds_saved(
    n_vectors: int,
    shares: Sequence[float],
    seed: int = 0,
    repeat: int = 9,
) -> dict[tuple[int, float], ndarray]:
    """1 − seconds of scoped search over those of unscoped search, of random vectors.

    By the number of vectors, ``n_vectors`` and a quarter of these, and the share that is kept. The
    scoped one has to choose and to gather, too; each repeat is another query.
    """
    generator = default_rng(seed)
    vectors, profiles = [
        generator.random((n_vectors, size), np.float32) for size in (WIDTH, N_THEMES)
    ]
    saved = {}
    for n in (n_vectors // 4, n_vectors):
        for share in shares:
            saved[n, share] = _saved(
                share,
                vectors[:n],
                profiles[:n],
                seed,
                repeat,
            )
    return saved


def _saved(
    share: float,
    vectors: ndarray,
    profiles: ndarray,
    seed: int,
    repeat: int,
) -> ndarray:
    generator = default_rng(seed)
    k = max(1, round(share * len(vectors)))
    squares = (profiles**2).sum(1)
    saved = []
    for _ in range(repeat):
        query = generator.random(WIDTH, np.float32)
        wanted = generator.random(N_THEMES, np.float32)
        start = perf_counter()
        np.argpartition(vectors @ query, -5)
        whole = perf_counter() - start
        start = perf_counter()
        kept = np.argpartition(squares - 2 * profiles @ wanted, k - 1)[:k]  # by L2
        np.argpartition(vectors[kept] @ query, -5)
        saved.append(1 - (perf_counter() - start) / whole)
    return np.array(saved[1:])


# ---- loops


class Blind(Agent):
    """A planner that never sees what was read: no step has answers for it."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.model = agent.model

    def plan(self, trajectories: Trajectories, policy: str = "ras") -> NextSteps:
        blinded = []
        for trajectory in trajectories:
            steps = [Step(step.text, step.holes) for step in trajectory.steps]
            blinded.append(Trajectory(trajectory.query, steps))
        return self.agent.plan(blinded, policy)


def blinded(ras: RAS) -> RAS:
    """The same RAS with a planner that does not see the graph."""
    variant = ras.variant()
    variant.agent = Blind(ras.agent)
    return variant


def with_gold_triples(ras: RAS, stated: StatedFacts) -> RAS:
    """The same RAS, which reads from each passage what the passage states, without error."""
    variant = ras.variant()
    variant.facts = FactReader(ras.corpus, "rules")
    for passage, triples in stated.items():
        variant.facts.triples[ras.corpus.row[passage]] = sorted(triples)
    return variant


def run_loop(loop: RAS, questions: Questions) -> list[Trajectory]:
    """What becomes of the questions."""
    return loop.run([query_for(loop, question) for question in questions])


def beside_dense(
    loops: Mapping[str, Trajectories],
    ras: RAS,
    dense: Retriever,
    questions: Questions,
) -> DataFrame:
    """What each loop found, and what dense retrieval finds with as many passages.

    A row per loop and question: retriever, question, hops, passages, recall, dense, full,
    dense_full.
    """
    most = ras.settings.rounds * ras.settings.top_k
    once = ranked(
        dense,
        questions,
        most,
    )
    rows = []
    for name, trajectories in loops.items():
        for question, trajectory in zip(questions, trajectories):
            ids = ras.ids(trajectory.rows)
            recall = covered(question, ids)
            by_dense = covered(question, once[question.id].ids[: max(1, len(ids))])
            rows.append(
                {
                    "retriever": name,
                    "question": question.id,
                    "hops": question.hops,
                    "passages": len(ids),
                    "recall": recall,
                    "dense": by_dense,
                    "full": float(recall == 1),
                    "dense_full": float(by_dense == 1),
                }
            )
    return DataFrame(rows)


def ranked(retriever: Retriever, questions: Questions, k: int) -> dict[str, Ranking]:
    """The rankings of questions by their ids."""
    queries = [query_for(retriever, question) for question in questions]
    rankings = retriever.retrieve_many(queries, k)
    return {question.id: ranking for question, ranking in zip(questions, rankings)}


# ---- decisions (Table 2, No GraphToken)


def decisions(
    answerer: GraphAnswerer,
    trajectories: Trajectories,
    questions: Questions,
) -> dict[str, ndarray]:
    """Whether a linear head sees, after each step, that all supports are found: per question.

    One head reads the planner's text, the other also the mean of the answerer's node vectors; each
    question is judged by heads that learned from others.
    """
    ras = answerer.retriever
    states = []
    owners = []
    prompts = []
    enough = []
    for row, (question, trajectory) in enumerate(zip(questions, trajectories)):
        prompt, names = small_prompt(question.text, ras.linker)
        for n in range(1, len(trajectory.steps) + 1):
            state = trajectory.up_to(n)
            begun = begun_plan([step for step in state.steps if step.holes], names)
            states.append(state)
            owners.append(row)
            prompts.append(f"{prompt} {begun}")
            enough.append(covered(question, ras.ids(state.rows)) == 1)

    words = TfidfVectorizer(token_pattern=r"\S+", ngram_range=(1, 2)).fit_transform(prompts)
    vectors = StandardScaler().fit_transform(graph_vectors(answerer, states))
    heads = {"text": words, "text and graph": hstack([words, vectors]).tocsr()}
    return {
        name: _judged(
            features,
            enough,
            owners,
        )
        for name, features in heads.items()
    }


def graph_vectors(answerer: GraphAnswerer, states: Trajectories) -> ndarray:
    """The mean of each graph's node vectors; 0 of an empty one."""
    means = []
    hook = answerer.network.encoder.register_forward_hook(
        lambda layer, given, h: means.append(h.mean(0).numpy())
    )
    for graph in answerer.graphs(states):
        answerer.network.scores([graph])
    hook.remove()
    return np.nan_to_num(means)


def _judged(features: csr_array, enough: Sequence[bool], owners: Sequence[int]) -> ndarray:
    decided = cross_val_predict(
        LogisticRegression(max_iter=1_000),
        features,
        enough,
        groups=owners,
        cv=StratifiedGroupKFold(5),
    )
    is_right = pd.Series(decided == np.array(enough))
    return is_right.groupby(owners).mean().to_numpy()


# ---- triples (Eq. 7)


def agreement_with_facts(ras: RAS, questions: Questions, stated: StatedFacts) -> DataFrame:
    """F1 of what each source reads from the supports, of pairs of names and of whole triples."""
    ids = sorted({carriers[0] for question in questions for carriers in question.supporting})
    rows = []
    for source in ("rules", ras.settings.planner):
        read = {}
        extractions = extract(
            ras.corpus,
            source,
            [ras.corpus.row[passage] for passage in ids],
        )
        for passage, extraction in zip(ids, extractions):
            read[passage] = {
                (key_of(triple.subject), triple.relation, key_of(triple.object))
                for triple in extraction.triples
            }
        row = {"source": source}
        for name, kind in (("pairs", pair_of), ("triples", tuple)):
            facts = {(passage, kind(triple)) for passage in ids for triple in read[passage]}
            gold = {(passage, kind(triple)) for passage in ids for triple in stated[passage]}
            row[f"F1 of {name}"] = 2 * len(facts & gold) / (len(facts) + len(gold))
        rows.append(row)
    return DataFrame(rows)
