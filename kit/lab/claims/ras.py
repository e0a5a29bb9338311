"""What is measured for each claim of RAS: a function per claim, named by its id."""

import re
from collections.abc import Iterator, Mapping, Sequence

import networkx as nx
import numpy as np
from numpy import ndarray
from numpy.random import Generator, default_rng
from pandas import DataFrame

from kit.corpus.types import PlainTriple, Questions, Texts
from kit.evaluation.growth import MOST_STEPS, holds
from kit.evaluation.statistics import Estimate, diff_of_means, interval, paired, slope
from kit.lab.claims.findings import is_a_bound
from kit.lab.claims.measured import Measured
from kit.lab.claims.ras_language import NO_TOKEN, SEPARATE, WHOLE
from kit.lab.claims.ras_measures import FROM_PROFILE, RAW, law_of_saving
from kit.methods import Retriever
from kit.methods.loops.agents import SmallAgent
from kit.methods.loops.steps import Trajectories, Trajectory
from kit.methods.ras.retriever import RAS
from kit.text.placeholders import key_of

Triples = Sequence[PlainTriple]
QUARTER = 0.25  # of the corpus: the scope in which the shift is judged


def ras_01(
    beside: DataFrame,
    loops: Mapping[str, RAS],
    dense: Retriever,
    **draws: int,
) -> Iterator[Measured]:
    """Planning sub-queries step by step beats one retrieval with the question.

    ``beside`` is :func:`kit.lab.claims.ras_measures.beside_dense` of all loops; each is a case.
    """
    for name, loop in loops.items():
        rows = beside[beside["retriever"] == name]
        gain = paired(rows["full"], rows["dense_full"], **draws)
        trained = (loop,) if isinstance(loop.agent, SmallAgent) else ()
        yield Measured(
            gain,
            case=name,
            trained=trained,
            untestable=is_a_bound(loop, dense),
        )


def ras_02(saved: Mapping[tuple[int, float], ndarray], **draws: int) -> Iterator[Measured]:
    """Searching only documents of the right theme saves about 60 % of the retrieval time.

    ``saved`` has the shares of the seconds by the number of vectors and the share that is kept.
    """
    for (n, share), shares_saved in saved.items():
        case = f"K/N = {share:g}, {n:,} vectors"
        yield Measured(interval(shares_saved, **draws), "saving", case)
        off = interval(shares_saved - law_of_saving(share), **draws)
        yield Measured(off, "law", case)


def ras_03(scoping: DataFrame, **draws: int) -> Iterator[Measured]:
    """It does so without losing quality.

    ``scoping`` is that of :meth:`kit.lab.claims.ras_measures.Scopes.table`.
    """
    wide = _first_five(scoping)
    for share in sorted(set(scoping["K/N"]) - {1.0}):
        gain = paired(wide[FROM_PROFILE, share], wide[FROM_PROFILE, 1.0], **draws)
        yield Measured(gain, case=f"K/N = {share:g}")


def ras_04(
    scoping: DataFrame,
    divergences: Mapping[str, ndarray],
    **draws: int,
) -> Iterator[Measured]:
    """Questions and documents have different theme profiles, and a learned shift from one to the
    other is needed.

    ``divergences`` are nats per sub-question, by the profile.
    """
    less = paired(divergences[RAW], divergences[FROM_PROFILE], **draws)
    yield Measured(less, "divergence")
    wide = _first_five(scoping)
    gain = paired(wide[FROM_PROFILE, QUARTER], wide[RAW, QUARTER], **draws)
    yield Measured(gain, "recall", f"K/N = {QUARTER:g}")


def _first_five(scoping: DataFrame) -> DataFrame:
    """Recall@5 of each sub-question by profile and share."""
    rows = scoping[scoping["metric"] == "recall@5"]
    return rows.pivot_table("found", "question", ["profile", "K/N"])


def ras_05(
    by_triples: DataFrame,
    by_spans: DataFrame,
    ras: RAS,
    **draws: int,
) -> Iterator[Measured]:
    """Triples drawn from the passages serve the answerer better than the passages.

    Both are F1 per question, a column for each method whose passages are read: by RAS's reader, and
    by the extractive one.
    """
    for name in ("dense", "ras"):
        yield Measured(
            paired(by_triples[name], by_spans[name], **draws),
            case=f"passages of {name}",
            trained=(ras,),
            how="RAS's reader minus the extractive one, each trained once",
            untestable="two readers, one of triples and one of passages",
        )


def ras_06(by_share: DataFrame, ras: RAS, **draws: int) -> Iterator[Measured]:
    """More of the extracted triples means better answers, on every task.

    ``by_share`` is :func:`kit.evaluation.growth.answers_by_share`. All rows of a question, of every
    share and draw, are resampled together.
    """
    shares = by_share["triples"].to_numpy()
    rise = slope(
        shares,
        by_share["f1"].to_numpy(),
        questions=by_share["question"],
        **draws,
    )
    yield Measured(rise, trained=(ras,))


def ras_07(
    decided: Mapping[str, ndarray],
    ras: RAS,
    answers: DataFrame | None = None,
    **draws: int,
) -> Iterator[Measured]:
    """Encoding the graph with a GNN adds to its text form.

    ``answers`` is :func:`kit.lab.claims.ras_language.answers_of_variants`, where a language model
    learned with the graph's token and without.
    """
    if answers is not None:
        f1 = answers.pivot(index="question", columns="retriever", values="f1")
        yield Measured(paired(f1[WHOLE], f1[NO_TOKEN], **draws), case=WHOLE, trained=(ras,))
    if not decided:
        return
    gain = paired(decided["text and graph"], decided["text"], **draws)
    why = "a linear head decides whether all is found, not the planner"
    yield Measured(gain, trained=(ras,), untestable=why)


def ras_08(
    trajectories: Trajectories,
    questions: Questions,
    ras: RAS,
    **draws: int,
) -> Iterator[Measured]:
    """A graph that grows with each sub-query comes to hold what the question needs.

    Of the questions whose answer is a name.
    """
    loops = named_answers(trajectories, questions)
    rounds = []
    steps = []
    for trajectory, _ in loops:
        graphs = [trajectory.up_to(n).graph for n in range(1, MOST_STEPS + 1)]
        rounds.append([list(graph) for graph in graphs])
        steps.append([step.triples for step in trajectory.steps])
    texts = [trajectory.query.text for trajectory, _ in loops]
    answers = [right for _, right in loops]
    effects = growth_slopes(rounds, answers, **draws)
    effects |= connection_gains(
        steps,
        texts,
        answers,
        **draws,
    )
    for criterion, effect in effects.items():
        yield Measured(effect, criterion, trained=(ras,))


def ras_09(right: DataFrame, reader: str, **draws: int) -> Iterator[Measured]:
    """Retrieval can hurt, so it has to be on demand.

    ``right`` says whether a language model's answers contain the right one: questions × what it
    reads, of which *none* is one.
    """
    for name in right.columns.drop(["none", "golden"]):
        gain = paired(right["none"], right[name], **draws)
        yield Measured(gain, case=f"{reader}, {name}", trained=())


def ras_10(
    right: Sequence[Sequence[Sequence[float]]],
    case: str,
    trained: Sequence[Retriever],
    **draws: int,
) -> Iterator[Measured]:
    """Quality is limited by the answerer far more than by the planner.

    ``right[answerer][planner]`` are the scores (n,) with the better (0) and the worse (1) of each.
    The effect of the better answerer, the mean over both planners, minus that of the better
    planner, the mean over both answerers.
    """
    table = np.asarray(right, float)  # (answerers, planners, n)
    of_answerer = (table[0] - table[1]).mean(axis=0)
    of_planner = (table[:, 0] - table[:, 1]).mean(axis=0)
    effect = paired(of_answerer, of_planner, **draws)._replace(rival=np.nan)
    yield Measured(effect, case=case, trained=trained)


def ras_11(
    loops: Mapping[str, Trajectories],
    questions: Questions,
    ras: RAS,
    **draws: int,
) -> Iterator[Measured]:
    """A better triple extractor lifts the whole system.

    ``loops`` are by their triples: "gold triples", "the small model", "triples by rules".
    """
    held = {}
    for source, trajectories in loops.items():
        named = named_answers(trajectories, questions)
        held[source] = [holds(trajectory.graph, right) for trajectory, right in named]
    gain = paired(held["gold triples"], held["the small model"], **draws)
    yield Measured(gain, "gold over patterns", trained=(ras,))
    gain = paired(held["the small model"], held["triples by rules"], **draws)
    why = "the planner asks with the relations of the small model, which rules don't have"
    yield Measured(
        gain,
        "patterns over rules",
        trained=(ras,),
        untestable=why,
    )


def ras_12(curve: DataFrame, ras: RAS, **draws: int) -> Iterator[Measured]:
    """More training data helps, and 5 % of it already beats earlier systems on three tasks.

    ``curve`` has a row per ``share`` and question; the second half would need the loop with the
    planner that learned from 5 %.
    """
    shares = np.log10(curve["share"])
    rise = slope(
        shares,
        curve["action"],
        questions=curve["question"],
        **draws,
    )
    yield Measured(rise, "slope", trained=(ras,))


def ras_13(answers: DataFrame, ras: RAS, **draws: int) -> Iterator[Measured]:
    """One model trained for both roles beats two.

    ``answers`` is :func:`kit.lab.claims.ras_language.answers_of_variants`.
    """
    f1 = answers.pivot(index="question", columns="retriever", values="f1")
    yield Measured(paired(f1[WHOLE], f1[SEPARATE], **draws), trained=(ras,))


def ras_14(full: DataFrame, ras: RAS, **draws: int) -> Iterator[Measured]:
    """It beats retrieve-once and self-reflective systems, with open and closed models.

    ``full`` is Full@10 per question, with the columns ras, by name, and the rivals.
    """
    for rival in ("dense", "rgnn-ret, planned"):
        yield Measured(paired(full["ras"], full[rival], **draws), case=rival, trained=(ras,))
        gain = paired(full["by name"], full[rival], **draws)
        yield Measured(gain, case=f"by name, {rival}", trained=(ras,))


def ras_15(
    empty: ndarray,
    unseen: ndarray,
    held: Sequence[ndarray],
    **draws: int,
) -> Iterator[Measured]:
    """Theme scoping breaks on newer text: a third of it gets almost empty theme vectors.

    ``empty`` says which passages get almost no theme from a classifier that never learned those of
    the ``unseen``; ``held`` are, for sub-questions about these, the hits within a scope of all
    themes and of the fewer.
    """
    if not len(held[0]):  # none is looked for
        return
    yield Measured(diff_of_means(empty[unseen], empty[~unseen], **draws), "empty vectors")
    yield Measured(paired(*held, **draws), "recall lost")


# ---- what graphs hold and connect


def named_answers(
    trajectories: Trajectories,
    questions: Questions,
) -> list[tuple[Trajectory, Texts]]:
    """The loops of questions whose answer is a name, each with the right answers."""
    loops = []
    for trajectory, question in zip(trajectories, questions):
        answer = question.answers[0]
        if answer not in ("yes", "no") and not answer.isdigit():
            loops.append((trajectory, question.answers))
    return loops


def connects(triples: Triples, question: str, answers: Texts) -> float:
    """Whether a path of triples leads from a name that is in the question to an answer."""
    graph = nx.Graph((key_of(subject), key_of(target)) for subject, _, target in triples)
    text = question.lower()
    starts = [name for name in graph if re.search(rf"\b{re.escape(name)}\b", text)]
    ends = [key_of(answer) for answer in answers if key_of(answer) in graph]
    return float(any(nx.has_path(graph, a, b) for a in starts for b in ends if a != b))


def growth_slopes(
    rounds: Sequence[Sequence[Triples]],
    answers: Sequence[Texts],
    **draws: int,
) -> dict[str, Estimate]:
    """How the share of graphs that hold an answer grows; of each criterion of ras-08's first half.

    Of each question ``rounds`` has the graph after each sub-query. The slope over these of the
    share that holds an answer can't be below 0, as a graph loses nothing; *over chance* it is that
    minus the same of as many triples from the graphs of other questions.
    """
    generator = default_rng(draws.get("seed", 0))
    rows = []
    for question, graphs in enumerate(rounds):
        others = _of_others(rounds, question)
        for n, graph in enumerate(graphs, start=1):
            held = holds(graph, answers[question])
            by_chance = holds(_drawn(others, len(graph), generator), answers[question])
            rows.append((question, n, held, held - by_chance))
    question, n, held, beyond = np.array(rows).T
    return {
        "growth": slope(
            n,
            held,
            questions=question,
            **draws,
        ),
        "growth over chance": slope(
            n,
            beyond,
            questions=question,
            **draws,
        ),
    }


def connection_gains(
    steps: Sequence[Sequence[Triples]],
    texts: Texts,
    answers: Sequence[Texts],
    **draws: int,
) -> dict[str, Estimate]:
    """Whether one graph connects question and answer where one per sub-query does not.

    That is the second half of ras-08. Of each question ``steps`` has the triples of each sub-query.
    Merged they hold each part, so the difference can't be below 0; *over chance* each part has as
    many triples of other questions added as merging adds.
    """
    generator = default_rng(draws.get("seed", 0))
    rows = []
    for question, parts in enumerate(steps):
        others = _of_others(steps, question)
        merged = list(dict.fromkeys(triple for part in parts for triple in part))
        apart = [0.0]
        by_chance = [0.0]
        for part in parts:
            more = _drawn(others, len(merged) - len(set(part)), generator)
            apart.append(connects(part, texts[question], answers[question]))
            by_chance.append(connects([*part, *more], texts[question], answers[question]))
        whole = connects(merged, texts[question], answers[question])
        rows.append((whole, max(apart), max(by_chance)))
    whole, apart, by_chance = np.array(rows).T
    return {
        "merged over separate": paired(whole, apart, **draws),
        "connected over chance": paired(whole, by_chance, **draws),
    }


def _of_others(graphs: Sequence[Sequence[Triples]], question: int) -> list[PlainTriple]:
    """The triples of all graphs but those of one question."""
    triples = []
    for row, parts in enumerate(graphs):
        if row != question:
            triples += [triple for part in parts for triple in part]
    return list(dict.fromkeys(triples))


def _drawn(triples: Triples, n: int, generator: Generator) -> list[PlainTriple]:
    """At most n of the triples."""
    picks = generator.permutation(len(triples))[:n]
    return [triples[pick] for pick in picks]
