"""Where a support was lost: on the way from the question over a graph into the first k passages."""

from collections.abc import Iterator
from math import inf

from msgspec import Struct
from pandas import DataFrame

from kit.corpus import Question
from kit.corpus.types import Indices, Texts
from kit.errors import InputError
from kit.evaluation.graph_quality import find_seeds
from kit.evaluation.metrics import described, support_ranks
from kit.evaluation.results import Experiment
from kit.graphs import PassageGraph, build
from kit.text.entities import fold

# The stages, in the order in which a support can be lost, and what is left.
APART = "without an edge"
FAR = "out of reach"
LOW = "ranked too low"
UNUSED = "found, answer wrong"
FOUND = "found"
STAGES = (APART, FAR, LOW, UNUSED, FOUND)


class Support(Struct):
    """Where a support lies, for any retriever."""

    title: str
    named: bool  # in the question
    steps: float  # from the seeds; infinity beyond the reach
    lost_at: str  # the stage, if it is not found


def lost_supports(
    experiment: Experiment,
    builder: str = "entity",
    *,
    k: int = 5,
    reach: int = 1,
    n_seeds: int = 5,
    answers: Experiment | None = None,
) -> DataFrame:
    """What became of each support, a row per retriever and support.

    A support that is not among the first ``k`` passages was lost at the first of three stages: its
    passage has no edge in the ``builder``'s graph (:data:`APART`); it is more than ``reach`` steps
    from the first ``n_seeds`` of a TF-IDF search (:data:`FAR`); or it was there to be found
    (:data:`LOW`). One that is among them may still not be used: ``answers``
    (:meth:`kit.evaluation.answers.Reading.answers`) say which are wrong, by exact match
    (:data:`UNUSED`).

    Columns: retriever, those of :func:`kit.evaluation.metrics.described`, title, named (whether the
    question has the title in it), steps (from the seeds, inf beyond the reach), rank (inf where it
    was not retrieved), stage. Of several carriers of a support the nearest counts. Raises
    :class:`InputError` for a k up to which no ranking was kept.
    """
    if k > max(experiment.ks):
        raise InputError(f"expected at most {max(experiment.ks)}, not {k}", field="k")

    supports = {}
    for corpus, questions in experiment.benchmark.asked_together(experiment.questions):
        graph = build(builder, corpus)
        seeds = find_seeds(corpus, questions, n_seeds)
        for question, first in zip(questions, seeds, strict=True):
            supports[question.id] = list(
                _supports(graph, question, _steps_from(graph, first, reach))
            )

    is_right = {} if answers is None else _right_answers(answers)
    rows = []
    for name, rankings in experiment.rankings.items():
        for question in experiment.questions:
            found_at = FOUND if is_right.get((name, question.id), True) else UNUSED
            ranks = support_ranks(question, rankings[question.id].ids)
            for support, rank in zip(supports[question.id], ranks):
                rows.append(
                    {
                        "retriever": name,
                        **described(question),
                        "title": support.title,
                        "named": support.named,
                        "steps": support.steps,
                        "rank": rank,
                        "stage": found_at if rank <= k else support.lost_at,
                    }
                )
    return DataFrame(rows)


def _right_answers(answers: Experiment) -> dict[tuple[str, str], bool]:
    """Whether a retriever's passages led to a question's answer."""
    table = answers.table
    keys = zip(table["retriever"], table["question"])
    return {key: value == 1 for key, value in zip(keys, table["em"])}


def _steps_from(graph: PassageGraph, seeds: Indices, reach: int) -> dict[int, int]:
    """How many steps away the rows are that can be reached; the seeds themselves 0."""
    steps = dict.fromkeys(seeds, 0)
    border = list(steps)
    for step in range(1, reach + 1):
        border = [row for row in graph.neighbours(border).tolist() if row not in steps]
        steps |= dict.fromkeys(border, step)
    return steps


def _supports(graph: PassageGraph, question: Question, steps: dict[int, int]) -> Iterator[Support]:
    corpus = graph.corpus
    text = fold(question.text)
    for carriers in question.supporting:
        rows = [corpus.row[carrier] for carrier in carriers]
        nearest = min(steps.get(row, inf) for row in rows)
        if nearest < inf:
            lost_at = LOW
        else:
            lost_at = FAR if graph.degrees[rows].any() else APART
        title = corpus[carriers[0]].title
        yield Support(title, fold(title) in text, nearest, lost_at)


def shares(table: DataFrame, by: Texts = ()) -> DataFrame:
    """The share of supports at each stage, of all or by columns, from :func:`lost_supports`.

    Columns: retriever, those of ``by``, stage (in the order of :data:`STAGES`), mean, n (supports).
    """
    keys = ["retriever", *by]
    groups = table.groupby(keys, sort=False)["stage"]
    by_stage = groups.value_counts(normalize=True).unstack(fill_value=0.0)
    means = by_stage.reindex(columns=list(STAGES), fill_value=0.0).stack().rename("mean")
    return means.reset_index().merge(groups.size().rename("n").reset_index(), on=keys)
