"""Explorers of passage graphs: what joins the supports, and what the seeds of a search reach."""

from collections.abc import Mapping, Sequence
from functools import cache

from ipywidgets import Dropdown
from msgspec.structs import replace
from pandas import DataFrame

from kit.corpus import Benchmark, Corpus, Question
from kit.corpus.types import Questions
from kit.evaluation.graph_quality import KNOBS, find_seeds, graph_quality
from kit.graphs import PassageGraph, build
from kit.views.controls import question_list
from kit.views.explorer import Explorer
from kit.views.graph_page import graph_frame
from kit.views.layout import places_of
from kit.views.replay import NodeState, Replay

_AROUND = 30  # passages around the supports of a question
_REACHED = 40  # passages around the seeds of a search
_LISTED = 40  # questions to choose from


def explore_graphs(graphs: Mapping[str, PassageGraph], questions: Questions) -> Explorer:
    """The supports of a question and what they touch, in one graph after another.

    A passage has the same position in all graphs.
    """
    default = "entity" if "entity" in graphs else next(iter(graphs))

    def make_replay(builder: str, question: Question) -> Replay:
        corpus = graphs[builder].corpus
        supports = [corpus.row[passage] for passage in question.supporting_ids]
        around = [row for row in graphs[default].neighbours(supports) if row not in supports]
        rows = [*supports, *around[: _AROUND - len(supports)]]
        positions = places_of(graphs.values(), rows)
        picture = graph_frame(
            graphs[builder],
            rows,
            question.supporting_ids,
            positions,
            f"{builder} graph",
        )
        return replace(picture, question=question.text)

    controls = {
        "builder": Dropdown(options=list(graphs), value=default, description="graph"),
        "question": _question_control(questions),
    }
    return Explorer("What joins the supports", controls, make_replay)


def explore_neighbourhoods(
    benchmark: Benchmark,
    densities: Mapping[str, Sequence[float]],
    n_seeds: int = 5,
) -> Explorer:
    """What the seeds of a search reach in a builder's graphs, from sparse to dense."""

    @cache
    def graph_at(builder: str, value: float, corpus: Corpus) -> PassageGraph:
        return build(builder, corpus, **{KNOBS[builder]: value})

    def make_replay(builder: str, question: Question) -> Replay:
        corpus = benchmark.collection(question)
        [seeds] = find_seeds(corpus, [question], n_seeds)
        graphs = {}
        for value in densities[builder]:
            step = f"{KNOBS[builder]} = {value:g}"
            graphs[step] = graph_at(builder, value, corpus)
        return _neighbourhoods(graphs, question, seeds)

    controls = {
        "builder": Dropdown(options=list(densities), description="graph"),
        "question": _question_control(benchmark.test),
    }
    return Explorer("Neighbourhood of the seeds", controls, make_replay)


def turning(quality: DataFrame, questions: Questions, builder: str = "entity") -> Question:
    """The first question that a builder covers only where its graph is dense.

    ``quality`` is a :func:`kit.evaluation.graph_quality.density_sweep`. Where there is none, it is
    the first question.
    """
    swept = quality[quality["builder"] == builder]
    ends = swept.groupby("question")["sf_em"].agg(["first", "last"])
    turned = set(ends.index[ends["first"] < ends["last"]])
    for question in questions:
        if question.id in turned:
            return question
    return questions[0]


def _question_control(questions: Questions) -> Dropdown:
    """Some of the questions, those of many hops first."""
    in_order = sorted(questions, key=lambda question: (-question.hops, question.id))
    step = max(1, len(in_order) // _LISTED)
    return question_list(in_order[::step])


def _neighbourhoods(
    graphs: Mapping[str, PassageGraph],
    question: Question,
    seeds: Sequence[int],
) -> Replay:
    """A frame per graph: seeds, supports, and the first passages that any graph reaches."""
    *_, densest = graphs.values()
    corpus = densest.corpus
    gold = question.supporting_ids
    rows = [*seeds, *map(corpus.row.get, gold)]
    for graph in graphs.values():
        rows += graph.neighbours(seeds).tolist()
    rows = list(dict.fromkeys(rows))[:_REACHED]
    positions = places_of([densest], rows)
    seed_ids = {corpus.passages[row].id for row in seeds}

    frames = []
    for step, graph in graphs.items():
        picture = graph_frame(graph, rows, gold, positions, step)
        [frame] = picture.frames
        states, caption = _reached(graph, question, seeds, rows)
        changed = replace(
            frame,
            step=step,
            caption=caption,
            states=states,
            edges=[edge for edge in frame.edges if seed_ids & {*edge.ends}],
        )
        frames.append(changed)
    return Replay(picture.nodes, frames, f"{question.text}\nAnswer: {question.answer}")


def _reached(
    graph: PassageGraph,
    question: Question,
    seeds: Sequence[int],
    rows: Sequence[int],
) -> tuple[list[NodeState], str]:
    """What one graph reaches of these rows, and a caption."""
    corpus = graph.corpus
    gold = {corpus.row[passage] for passage in question.supporting_ids}
    reached = graph.neighbours(seeds).tolist()
    roles = dict.fromkeys(gold, "missed")
    roles.update(dict.fromkeys(reached, "reached"))
    roles.update(dict.fromkeys(seeds, "seed"))
    states = []
    for row in rows:
        if row in roles:
            passage = corpus.passages[row]
            states.append(NodeState(passage.id, roles[row]))

    quality = graph_quality(graph, [question], [seeds]).iloc[0]
    caption = (
        f"{quality['neighbourhood']:,} passages reached: {quality['covered']:.0%} of the supports, "
        f"SF-EM {quality['sf_em']:.0f}, precision {quality['precision']:.3f}"
    )
    return states, caption
