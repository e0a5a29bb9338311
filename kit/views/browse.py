"""What the notebooks of graph quality and of the baselines let a reader browse."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kit.corpus import Question
from kit.errors import InputError
from kit.evaluation import metrics
from kit.views.explorer import Explorer, question_choices, setting_control, wide
from kit.views.layout import links, passage_node, rings
from kit.views.replay import Column, Frame, NodeState, RankItem, Replay

if TYPE_CHECKING:
    from kit.evaluation.experiment import Experiment
    from kit.graphs import PassageGraph

_MOST = 40  # neighbours


def explore_quality(
    questions: Sequence[Question],
    seeds: Mapping[str, Sequence[str]],
    density_params: Mapping[str, tuple[str, Sequence[float]]],
    graph: Callable[[str, float, Question], PassageGraph],
) -> Explorer:
    """What the neighbourhood of a question's seeds reaches while a builder's graph turns from sparse to dense.

    ``seeds`` maps a question's id to the ids of its seeds; ``density_params`` maps a builder to the parameter and its
    values, sparse first; ``graph(builder, value, question)`` gives the graph. A value is a step. Supports are stars, at
    the right where they are no seeds; of the other neighbours at most 40 are drawn, those found first.
    """
    if not questions or not density_params:
        raise InputError("expected at least one question and one builder", field="questions")
    by_id = {question.id: question for question in questions}

    def tell(question: str, builder: str) -> Replay:
        parameter, values = density_params[builder]
        steps = [(f"{parameter} = {value:g}", graph(builder, value, by_id[question])) for value in values]
        return _neighbourhoods(by_id[question], list(seeds[question]), steps)

    controls = {
        "builder": setting_control("builder", next(iter(density_params)), list(density_params)),
        "question": wide("question", question_choices(questions), questions[0].id),
    }
    return Explorer("Neighbourhood of the seeds", controls, tell)


def _neighbourhoods(question: Question, seeds: list[str], steps: list[tuple[str, PassageGraph]]) -> Replay:
    """A frame a graph: seeds, what they reach, supports found or missed."""
    corpus, gold = steps[0][1].corpus, set(question.supporting_ids)
    rows = [corpus.row[seed] for seed in seeds]
    reached = [[corpus.passages[row].id for row in graph.neighbours(rows)] for _, graph in steps]
    order = [id for id in dict.fromkeys(id for ids in reached for id in ids) if id not in gold and id not in seeds]
    drawn = [[id for id in order if id in ids][:_MOST] for ids in map(set, reached)]
    aside = [id for id in question.supporting_ids if id not in seeds]
    ever = set().union(*drawn)
    places = rings(seeds, [id for id in order if id in ever], aside)
    frames = []
    for (step, graph), ids, part in zip(steps, reached, drawn):
        whole = set(ids) | set(seeds)
        roles = dict.fromkeys(seeds, "seed") | {id: "reached" if id in whole else "missed" for id in aside}
        roles |= dict.fromkeys(part, "reached")
        shown = [id for id, role in roles.items() if role != "missed"]
        near = links(graph.subgraph([corpus.row[id] for id in shown]), range(len(seeds)))
        edges = tuple(replace(edge, emphasised=bool(gold & set(edge.ends) - set(seeds))) for edge in near)
        found = round(metrics.covered(question, whole) * question.hops)
        caption = f"SF-EM {metrics.sf_em(question, whole):.0f}: {found} of {question.hops} supports reached. "
        caption += f"Precision {metrics.precision(question, whole):.3f}: {len(whole):,} passages in the neighbourhood"
        caption += f", {len(whole) - len(shown):,} of them not drawn." if len(whole) > len(shown) else "."
        frames.append(Frame(step, caption, tuple(NodeState(id, role) for id, role in roles.items()), edges))
    nodes = tuple(passage_node(corpus, id, places, gold, part=False) for id in places)
    return Replay(nodes, tuple(frames), f"{question.text}\nAnswer: {question.answer}")


def explore_rankings(experiment: Experiment, k: int = 10) -> Explorer:
    """The first k passages of each retriever, side by side; questions stand in the order of their hops.

    Supports are starred; lines join the places of one passage in neighbouring rankings.
    """
    questions = sorted(experiment.questions, key=lambda question: question.hops)
    by_id, corpus = {question.id: question for question in questions}, experiment.benchmark.corpus

    def tell(question: str) -> Replay:
        asked, columns, ids = by_id[question], [], {}
        for name, rankings in experiment.rankings.items():
            ranking = rankings[question]
            found = round(metrics.recall_at(asked, ranking.ids, k) * asked.hops)
            items = tuple(RankItem(id, float(score)) for id, score in zip(ranking.ids[:k], ranking.scores))
            columns.append(Column(f"{name}: {found} of {asked.hops} supports", items))
            ids |= dict.fromkeys(ranking.ids[:k])
        nodes = tuple(passage_node(corpus, id, {}, asked.supporting_ids, part=False) for id in ids)
        return Replay(nodes, (Frame(columns=tuple(columns)),), f"{asked.text}\nAnswer: {asked.answer}")

    controls = {"question": wide("question", question_choices(questions), questions[0].id)}
    return Explorer("Rankings side by side", controls, tell)
