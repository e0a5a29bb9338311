"""What the graph of a loop comes to hold, and what is answered from it (RAS §3.3 and §3.4).

The paper's symbols and the names here: G_Q ``graph`` of a
:class:`kit.methods.loops.steps.Trajectory`, M_ans ``answerer``.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from numpy.random import Generator, default_rng
from pandas import DataFrame

from kit.corpus import Corpus, PlainTriple, Question
from kit.corpus.types import Questions, Texts
from kit.methods.loops.steps import (
    NO_RETRIEVAL,
    UNREADABLE,
    Step,
    Trajectories,
    Trajectory,
)
from kit.methods.loops.teacher import Teacher, has_short_steps, taught
from kit.methods.ras.retriever import RAS
from kit.readers.scoring import exact_match, f1
from kit.text.placeholders import key_of
from kit.text.triples import extract

MOST_STEPS = 5  # after which the answerer is asked
SHARES = (0.0, 0.1, 0.3, 0.5, 0.7, 1.0)  # of the triples, as in RAS Figure 4
N_DRAWS = 5  # of the triples that are kept
FORWARD = "forward search"  # for what an article says of its subject
BACKWARD = "backward search"  # for the article that names something
NO_SEARCH = "no search"  # the graph has the answer


class Answerer(Protocol):
    """Whatever answers questions by their graphs."""

    def answer(self, trajectories: Trajectories) -> list[str]: ...


def holds(triples: Iterable[PlainTriple], answers: Texts) -> float:
    """Whether a graph has an answer among its names."""
    nodes = {key_of(end) for subject, _, target in triples for end in (subject, target)}
    return float(any(key_of(answer) in nodes for answer in answers))


def sub_questions_of(trajectories: Trajectories) -> DataFrame:
    """The sub-questions with holes: a row each with question, text, kind, and whether ``answered``.

    The kind is :data:`FORWARD`, :data:`BACKWARD` or :data:`NO_SEARCH`.
    """
    rows = []
    for trajectory in trajectories:
        for step in trajectory.steps:
            if step.holes:
                rows.append(
                    {
                        "question": trajectory.query.id,
                        "text": step.text,
                        "kind": _kind_of(step),
                        "answered": float(bool(step.answers)),
                    }
                )
    return DataFrame(rows, columns=["question", "text", "kind", "answered"])


def _kind_of(step: Step) -> str:
    if not step.rows:
        return NO_SEARCH
    return BACKWARD if any(hole.backward for hole in step.holes) else FORWARD


def right_actions(ras: RAS, questions: Questions) -> DataFrame:
    """Whether a planner that writes sentences asks, and stops, where a teacher would.

    A row per state of a question through which the teacher goes: question, hops, n_searches that
    went before, ``wanted`` (ask or stop), ``said`` (or neither), ``action``: whether they agree.
    Questions without sub-questions in words have none.
    """
    teacher = Teacher(ras.corpus, ras.settings.top_k)
    divided = list(filter(has_short_steps, questions))
    states = []
    rows = []
    for question, grown in zip(divided, taught(ras.variant(), divided)):
        for n in range(len(grown.steps) + 1):
            states.append(grown.up_to(n))
            wanted = "ask" if teacher.next_step(states[-1]) else "stop"
            rows.append(
                {
                    "question": question.id,
                    "hops": question.hops,
                    "n_searches": n,
                    "wanted": wanted,
                }
            )

    for row, state, step in zip(rows, states, ras.agent.plan(states)):
        row["said"] = _action(state, step)
        row["action"] = row["said"] == row["wanted"]
    return DataFrame(rows)


def _action(state: Trajectory, step: Step | None) -> str:
    if state.ended == UNREADABLE:
        return "neither"
    return "ask" if step and step.text != NO_RETRIEVAL else "stop"


def namesakes_of(trajectories: Trajectories, corpus: Corpus) -> DataFrame:
    """The names that steps ask about or answer with and that several documents bear.

    A graph whose nodes are names takes these for one. Columns: question, name, documents.
    """
    bearers = defaultdict(set)
    for passage in corpus.passages:
        bearers[key_of(passage.title)].add(passage.document)

    rows = []
    for trajectory in trajectories:
        names = dict.fromkeys(_names_of(trajectory.steps))
        for name in names:
            documents = bearers[key_of(name)]
            if len(documents) > 1:
                rows.append((trajectory.query.id, name, ", ".join(sorted(documents))))
    return DataFrame(rows, columns=["question", "name", "documents"])


def _names_of(steps: Iterable[Step]) -> Iterator[str]:
    for step in steps:
        yield from (hole.entity for hole in step.holes)
        yield from step.answers


# ---- answers from a part of the graph


def answers_by_step(
    answerer: Answerer,
    trajectories: Trajectories,
    questions: Questions,
    most: int = MOST_STEPS,
) -> DataFrame:
    """Answers from the graph after 1, 2, … steps: a row per number of ``steps`` and question.

    Columns: steps, question, em, f1, and whether the graph ``held`` an answer.
    """
    rows = []
    for n in range(1, most + 1):
        graphs = [trajectory.up_to(n) for trajectory in trajectories]
        for row, trajectory, question in zip(
            _answered(answerer, graphs, questions), graphs, questions
        ):
            rows.append({"steps": n} | row | {"held": holds(trajectory.graph, question.answers)})
    return DataFrame(rows)


def answers_by_share(
    answerer: Answerer,
    trajectories: Trajectories,
    questions: Questions,
    seed: int = 0,
) -> DataFrame:
    """Answers from a share of the triples (RAS Figure 4): a row per share, draw and question.

    Columns: triples (the share), question, em, f1. Of all and of none there is one draw.
    """
    generator = default_rng(seed)
    rows = []
    for share in SHARES:
        for _ in range(N_DRAWS if 0 < share < 1 else 1):
            graphs = [thinned(trajectory, share, generator) for trajectory in trajectories]
            for row in _answered(answerer, graphs, questions):
                rows.append({"triples": share} | row)
    return DataFrame(rows)


def _answered(
    answerer: Answerer, graphs: Trajectories, questions: Questions
) -> list[dict[str, object]]:
    rows = []
    for answer, question in zip(answerer.answer(graphs), questions):
        rows.append(
            {
                "question": question.id,
                "em": exact_match(answer, question.answers),
                "f1": f1(answer, question.answers),
            }
        )
    return rows


def thinned(trajectory: Trajectory, share: float, generator: Generator) -> Trajectory:
    """A loop with a share of its triples, drawn by lot, and the answers that can be read off."""
    kept = {triple: row for triple, row in trajectory.graph.items() if generator.random() < share}
    steps = []
    for step in trajectory.steps:
        steps.append(Step(step.text, step.holes, step.rows, step.triples, step.read(kept)))
    return Trajectory(trajectory.query, steps, kept)


# ---- triples


def gold_triples_read(corpus: Corpus, questions: Questions, sources: Texts) -> DataFrame:
    """Which gold triples are read from their question's supports: a row per source and triple.

    Columns: source, question, ``pair`` (the two names were read as one triple, however they are
    related) and ``triple`` (the relation is right, too).
    """
    supports = {carriers[0] for question in questions for carriers in question.supporting}
    ids = sorted(supports)
    rows = []
    for source in sources:
        extractions = extract(corpus, source, [corpus.row[passage] for passage in ids])
        triples = {}
        for passage, extraction in zip(ids, extractions):
            triples[passage] = {
                (key_of(triple.subject), triple.relation, key_of(triple.object))
                for triple in extraction.triples
            }
        for question in questions:
            rows += [{"source": source} | row for row in _gold_hits(question, triples)]
    return DataFrame(rows, columns=["source", "question", "pair", "triple"])


def _gold_hits(
    question: Question,
    triples: dict[str, set[PlainTriple]],
) -> list[dict[str, object]]:
    read = set().union(*(triples[carriers[0]] for carriers in question.supporting))
    pairs = {pair_of(triple) for triple in read}
    rows = []
    for subject, relation, target in question.triples:
        gold = (key_of(subject), relation, key_of(target))
        rows.append(
            {
                "question": question.id,
                "pair": float(pair_of(gold) in pairs),
                "triple": float(gold in read),
            }
        )
    return rows


def pair_of(triple: Sequence[str]) -> frozenset[str]:
    """The two ends of a triple."""
    return frozenset((triple[0], triple[2]))
