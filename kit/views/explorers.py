"""What the notebooks of the graphs and baselines let a reader explore."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import ipywidgets as widgets
import networkx as nx
from msgspec.structs import replace

from kit.corpus import Question
from kit.errors import InputError
from kit.evaluation import metrics
from kit.views.explorer import Explorer, question_choices, wide
from kit.views.layout import rings, spring
from kit.views.links import links, node_of
from kit.views.story import Column, Entry, Mark, Scene, Story

if TYPE_CHECKING:
    from kit.evaluation.experiment import Experiment
    from kit.graphs import PassageGraph

_MOST_NODES = 60
_MOST_NEIGHBOURS = 40


def explore_graph(graphs: Mapping[str, PassageGraph], rows: Sequence[int], gold: Sequence[str] = ()) -> Explorer:
    """The links between some passages, for each builder: pan, zoom, read a passage, see what an edge's ends share.

    ``rows`` are the passages to show, at most 60 of them; all graphs are over one corpus. ``gold`` are ids to mark.
    Places are computed once from all builders' edges together, so that a change of builder changes the edges alone.
    Node size is the number of links in the picture.
    """
    wanted = list(dict.fromkeys(int(row) for row in rows))
    if not graphs or not wanted:
        raise InputError("expected at least one graph and one passage", field="graphs")
    corpus = next(iter(graphs.values())).corpus
    if not 0 <= min(wanted) <= max(wanted) < len(corpus):
        raise InputError(f"expected rows from 0 to {len(corpus) - 1}", field="rows")
    shown = wanted[:_MOST_NODES]
    parts = {name: graph.subgraph(shown) for name, graph in graphs.items()}
    kinds = list(dict.fromkeys(kind for graph in graphs.values() for kind in graph.kinds))
    together = nx.Graph()
    together.add_nodes_from(range(len(shown)))
    together.add_edges_from(
        pair for part in parts.values() for kind in part.kinds for pair in part.edges(kind).T.tolist()
    )
    places = spring(together)
    nodes = tuple(node_of(corpus.passages[row], places[i], set(gold)) for i, row in enumerate(shown))

    def tell(builder: str, **kept: bool) -> Story:
        edges = links(parts[builder], [kind for kind in kinds if kept.get(kind, True)])
        degrees = Counter(end for edge in edges for end in (edge.source, edge.target))
        most = max(degrees.values(), default=1)
        reach = [f"reaches {len(graphs[builder].neighbours(row)):,} passages of the whole graph" for row in shown]
        marks = [Mark(node.id, value=degrees[node.id] / most, note=note) for node, note in zip(nodes, reach)]
        caption = f"{builder}: {len(edges):,} links between {len(nodes)} passages"
        if len(wanted) > len(shown):
            caption += f"; {len(wanted) - len(shown):,} more passages are not drawn"
        return Story(nodes, (Scene("", caption, tuple(marks), edges),))

    controls: dict[str, widgets.Widget] = {"builder": widgets.Dropdown(description="builder", options=list(graphs))}
    if any(len(graph.kinds) > 1 for graph in graphs.values()):
        controls |= {
            kind: widgets.Checkbox(True, description=f"{kind} edges", indent=False, layout={"width": "auto"})
            for kind in kinds
        }
    return Explorer("Links between passages", controls, tell)


def explore_quality(
    questions: Sequence[Question],
    seeds: Mapping[str, Sequence[str]],
    knobs: Mapping[str, tuple[str, Sequence[float]]],
    graph: Callable[[str, float, Question], PassageGraph],
) -> Explorer:
    """What the neighbourhood of a question's seeds reaches while a builder's knob turns from sparse to dense.

    ``seeds`` maps a question's id to the ids of its seeds; ``knobs`` maps a builder to its parameter and the settings,
    sparse first; ``graph(builder, setting, question)`` gives the graph. A setting is a step of the story. Supports are
    stars, at the right where they are no seeds; of the other neighbours at most 40 are drawn, those found first.
    """
    if not questions or not knobs:
        raise InputError("expected at least one question and one builder", field="questions")
    by_id = {question.id: question for question in questions}

    def tell(question: str, builder: str) -> Story:
        parameter, settings = knobs[builder]
        steps = [(f"{parameter} = {setting:g}", graph(builder, setting, by_id[question])) for setting in settings]
        return _neighbourhoods(by_id[question], list(seeds[question]), steps)

    choices = question_choices(questions)
    controls = {
        "builder": widgets.Dropdown(description="builder", options=list(knobs)),
        "question": wide("question", choices, questions[0].id),
    }
    return Explorer("Neighbourhood of the seeds", controls, tell)


def _neighbourhoods(question: Question, seeds: list[str], steps: list[tuple[str, PassageGraph]]) -> Story:
    """A scene a graph: seeds, what they reach, supports found or missed."""
    passages = steps[0][1].corpus
    gold = set(question.supporting_ids)
    rows = [passages.row[seed] for seed in seeds]
    reached = [[passages.passages[row].id for row in graph.neighbours(rows)] for _, graph in steps]
    order = [id for id in dict.fromkeys(id for found in reached for id in found) if id not in gold and id not in seeds]
    aside = [id for id in question.supporting_ids if id not in seeds]
    drawn = [[id for id in order if id in found][:_MOST_NEIGHBOURS] for found in map(set, reached)]
    ever = set().union(*drawn)
    around = [id for id in order if id in ever]
    places = rings(seeds, around, aside)
    nodes = tuple(node_of(passages[id], places[id], gold) for id in places)
    scenes = []
    for (step, graph), found, part in zip(steps, reached, drawn):
        whole = set(found) | set(seeds)
        marks = (
            [Mark(id, "seed") for id in seeds]
            + [Mark(id, "reached" if id in whole else "missed") for id in aside]
            + [Mark(id, "reached") for id in part]
        )
        ids = [mark.node for mark in marks if mark.role != "missed"]
        near = links(graph.subgraph([passages.row[id] for id in ids]), graph.kinds, range(len(seeds)))
        edges = tuple(replace(edge, emphasised=bool(gold & {edge.source, edge.target} - set(seeds))) for edge in near)
        covered = metrics.covered(question, whole)
        more = len(whole) - len(ids)
        caption = (
            f"SF-EM {metrics.sf_em(question, whole):.0f}: "
            f"{round(covered * question.hops)} of {question.hops} supports reached. "
            f"Precision {metrics.precision(question, whole):.3f}: {len(whole):,} passages in the neighbourhood"
            + (f", {more:,} of them not drawn." if more else ".")
        )
        scenes.append(Scene(step, caption, tuple(marks), edges))
    return Story(nodes, tuple(scenes), _asked(question))


def explore_rankings(experiment: Experiment, k: int = 10) -> Explorer:
    """The first k passages of each retriever, side by side, for a question chosen from those of a hop count.

    Supports are starred; lines join the places of one passage in neighbouring rankings.
    """
    by_id = {question.id: question for question in experiment.questions}
    corpus = experiment.benchmark.corpus

    def tell(question: str) -> Story:
        asked = by_id[question]
        tops = {name: list(of[question].ids[:k]) for name, of in experiment.rankings.items()}
        scores = {name: of[question].scores for name, of in experiment.rankings.items()}
        gold = set(asked.supporting_ids)
        nodes = tuple(
            node_of(corpus[id], (0.5, 0.5), gold) for id in dict.fromkeys(id for ids in tops.values() for id in ids)
        )
        columns = []
        for name, ids in tops.items():
            found = round(metrics.recall_at(asked, ids, k) * asked.hops)
            entries = tuple(Entry(id, float(score)) for id, score in zip(ids, scores[name]))
            columns.append(Column(f"{name}: {found} of {asked.hops} supports", entries))
        return Story(nodes, (Scene(columns=tuple(columns)),), _asked(asked))

    def of_hops(hops: int | None) -> list[tuple[str, str]]:
        return question_choices([question for question in experiment.questions if hops in (None, question.hops)])

    counts = sorted({question.hops for question in experiment.questions})
    hops = widgets.Dropdown(description="hops", options=[("all", None), *((str(count), count) for count in counts)])
    question = wide("question", of_hops(None), experiment.questions[0].id)
    explorer = Explorer("Rankings side by side", {"question": question}, tell, extra=[hops])

    def choose() -> None:
        question.options = of_hops(hops.value)

    explorer.guard(hops, choose)
    return explorer


def _asked(question: Question) -> str:
    return f"{question.text}\nAnswer: {question.answer}"
