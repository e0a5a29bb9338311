"""Further measures of rankings, as other benchmarks report them: nDCG, MAP and all of ir_measures.

MacAvaney et al., Streamlining Evaluation with ir-measures, ECIR 2022.
"""

from collections.abc import Mapping
from dataclasses import replace

import ir_measures
from ir_measures import Measure, Qrel, ScoredDoc

from kit.corpus.types import Questions, Texts
from kit.errors import InputError
from kit.evaluation.results import Experiment
from kit.methods import Ranking


def with_measures(experiment: Experiment, names: Texts) -> Experiment:
    """The experiment with a column for each measure, such as nDCG@10, AP or P@5.

    A passage that carries a support is relevant, each as much as the others. A measure without a
    cut-off looks at all passages that were ranked. Raises :class:`InputError` for a name that
    ir_measures does not know.
    """
    measures = {name: read_measure(name) for name in names}
    table = experiment.table.copy()
    for name, measure in measures.items():
        values = {}
        for retriever, rankings in experiment.rankings.items():
            for question, value in _values(measure, experiment.questions, rankings).items():
                values[retriever, question] = value
        keys = zip(table["retriever"], table["question"])
        table[name] = [values[key] for key in keys]
    return replace(experiment, table=table, further=(*experiment.further, *measures))


def read_measure(name: str) -> Measure:
    """A measure by its name; :class:`InputError` where there is none or it lacks a parameter."""
    try:
        measure = ir_measures.parse_measure(name)
        measure.validate_params()
    except (NameError, ValueError, TypeError, AssertionError) as error:
        raise InputError(
            f"expected a measure of ir_measures such as nDCG@10, AP or P@5, not {name!r}",
            field="measure",
        ) from error
    return measure


def _values(
    measure: Measure, questions: Questions, rankings: Mapping[str, Ranking]
) -> dict[str, float]:
    """The measure of each question, 0 where nothing was found."""
    qrels = [
        Qrel(question.id, passage, 1)
        for question in questions
        for passage in question.supporting_ids
    ]
    run = [
        ScoredDoc(question, passage, -rank)
        for question, ranking in rankings.items()
        for rank, passage in enumerate(ranking.ids)
    ]
    values = dict.fromkeys(rankings, 0.0)
    if run:
        for metric in ir_measures.iter_calc([measure], qrels, run):
            values[metric.query_id] = float(metric.value)
    return values
