"""Figures of networks that learn: what training adds, and whom they listen to.

One call each, with a sentence as title and the numbers behind it, as in
:mod:`kit.views.experiments`.
"""

from collections.abc import Mapping, Sequence
from textwrap import shorten

import ipywidgets as widgets
import pandas as pd
from pandas import DataFrame, Series

from kit.corpus import Benchmark, Question
from kit.corpus.types import Questions, Texts
from kit.evaluation import Experiment, per_question, variants
from kit.evaluation.statistics import interval, paired
from kit.methods.qsgnn.retriever import QSGNN
from kit.views import plots
from kit.views.controls import question_list
from kit.views.experiments import parts_of_table
from kit.views.names import capital, listed, metric_name, name_of
from kit.views.sentences import FEWEST, best_sentence, headline
from kit.views.style import Figure

_MOST_SENDERS = 8  # of a level that are drawn
_AMONG_NOISE = r"(?P<network>.*), (?P<edges>.*) more edges"
_LETTERS = 34  # of a sender's name
_SENDERS = {"entities": "od", "sentences": "cd"}  # levels that a passage listens to, by their edges


# ---- of experiments


def means_of_all(
    experiments: Sequence[Experiment],
    only: Texts,
    metric: str = "recall@5",
) -> Figure:
    """The means of retrievers of several experiments on the same questions, in the order of
    ``only``."""
    summaries = pd.concat([experiment.summary() for experiment in experiments])
    of_metric = summaries[summaries["metric"] == metric].drop_duplicates("retriever")
    table = of_metric.set_index("retriever").loc[list(only)].reset_index()
    title = best_sentence(table, metric)
    return plots.points(table, title, xlabel=metric_name(metric)).of(table)


def ablations(experiments: Mapping[str, Experiment], metric: str = "recall@5") -> Figure:
    """The retrievers of each experiment beside its first one, an experiment per group."""
    tables = []
    for group, experiment in experiments.items():
        labels = list(experiment.rankings)
        tables.append(variants(experiment, {group: labels}, metric))
    return parts_of_table(pd.concat(tables, ignore_index=True), metric)


def before_and_after(
    experiments: Sequence[Experiment],
    starts: Mapping[str, str],
    metric: str = "recall@5",
) -> Figure:
    """Each trained network (a key of ``starts``) beside what its training began with.

    They are in one or several experiments on the same questions. The title says how many networks
    training made better by more than chance.
    """
    values = pd.concat([per_question(experiment, metric) for experiment in experiments], axis=1)
    draws = experiments[0].draws
    rows = []
    for name, start in starts.items():
        gain = paired(values[name], values[start], **draws)
        begun = _mean_of(values[start], draws)
        rows.append({"group": name_of(name), "label": "before training"} | begun)
        ends = {"difference": gain.value, "difference_low": gain.low, "difference_high": gain.high}
        learned = _mean_of(values[name], draws)
        rows.append({"group": name_of(name), "label": "trained"} | learned | ends)

    table = DataFrame(rows)
    title = _count_of_learners(table[table["label"] == "trained"])
    return plots.ablation(table, title, metric).of(table)


def _mean_of(values: Series, draws: Mapping[str, int]) -> dict[str, float]:
    mean, low, high, n = interval(values, **draws)[:4]
    return {"mean": mean, "low": low, "high": high, "n": n}


def _count_of_learners(trained: DataFrame) -> str:
    """How many networks training made better, in a sentence."""
    if trained["n"].max() < FEWEST:
        return f"{trained['n'].max()} questions are too few to tell whether a network learned"
    better = trained[trained["difference_low"] > 0]["group"]
    worse = trained[trained["difference_high"] < 0]["group"]
    sentence = f"training makes {len(better)} of {len(trained)} networks better than their start"
    if len(worse):
        sentence += f", and {listed(list(worse))} worse"
    return capital(sentence)


# ---- of tables


def what_is_added(added: DataFrame) -> Figure:
    """What training adds by hops, of :func:`kit.evaluation.training_curves.what_training_adds`."""
    table = added.assign(
        retriever=added["questions"].map("{:,} questions".format),
        width=added["dimension"].map("{} dimensions".format),
        baseline="the untrained network",
        metric="recall@5",
    )
    figure = plots.lines(
        table,
        headline(table, "hops"),
        "hops",
        facet="width",
        y="difference",
        levels={"untrained": 0},
        xlabel="hops of the question",
        ylabel="difference in Recall@5",
    )
    return figure.of(table)


def along_noise(experiment: Experiment, metric: str = "recall@5") -> Figure:
    """A metric of networks along the share of random edges in their graphs.

    The retrievers are called "NETWORK, SHARE more edges", the least share first. The title is the
    largest loss to a network's own least share that is more than chance.
    """
    names = Series(list(experiment.rankings)).str.extract(_AMONG_NOISE)
    lines = Series(experiment.rankings.keys()).groupby(names["network"], sort=False)
    compared = []
    for _, labels in lines:
        line = experiment.only(list(labels))
        compared.append(line.compare(labels.iloc[0], metric))

    unchanged = f"random edges change no network's {metric_name(metric)} by more than chance"
    summary = experiment.summary()
    table = summary[summary["metric"] == metric]
    table = table.join(table["retriever"].str.extract(_AMONG_NOISE))
    figure = plots.lines(
        table,
        headline(pd.concat(compared), otherwise=unchanged),
        "edges",
        "network",
        xlabel="random edges added, of those between entities",
        ylabel=metric_name(metric),
    )
    return figure.of(table)


# ---- of attention


def attention(
    network: QSGNN,
    benchmark: Benchmark,
    question: Question,
    listener: int = 1,
    *,
    text: bool = True,
) -> Figure:
    """Whom a passage listens to in each layer, and whom without the question.

    ``listener`` counts the passages around the question, the supports first. Of the entities and of
    the sentences the eight are drawn that are heard most. ``text=False`` leaves out what the corpus
    says.
    """
    table = _attention_of(network, benchmark, question, listener, text)
    layers = table.filter(like="layer ")
    moved = layers.sub(table["without the question"], axis="index").abs()
    share = moved.groupby(table["level"]).sum().max(axis="columns") / 2

    strongest = layers.max(axis="columns").groupby(table["level"])
    is_drawn = strongest.rank(ascending=False, method="first") <= _MOST_SENDERS
    rows = table[is_drawn].melt(
        ["passage", "level", "sender"], var_name="panel", value_name="attention"
    )
    passage = table["passage"].iloc[0]
    words = [f"{share[level]:.0%} on {level}" for level in share.index]
    asks = f"“{question.text}” moves" if text else "The question moves"
    figure = plots.points(
        rows,
        f"{asks} attention of “{passage}”: {listed(words)}",
        "sender",
        "attention",
        "level",
        "panel",
        "level",
        share=True,
        xlabel=f"share of the attention of {passage}",
    )
    return figure.of(rows)


def _attention_of(
    network: QSGNN,
    benchmark: Benchmark,
    question: Question,
    listener: int,
    text: bool,
) -> DataFrame:
    """A passage's attention on its entities and sentences.

    It has a column for each layer, and one without the question.
    """
    corpus = benchmark.collection(question)
    steered = network.variant(corpus=corpus)
    graph, layers = steered.attend(question.query)
    _, (even, *_) = network.variant(corpus=corpus, ablate="query").attend(question.query)

    ids = steered.ids(graph["d"].n_id)
    supports = [passage for passage in question.supporting_ids if passage in ids]
    passage = list(dict.fromkeys([*supports, *ids]))[listener - 1]
    texts = {"o": steered.graph.entities, "c": steered.graph.chunks}

    parts = []
    for level, kind in _SENDERS.items():
        sender, receiver = graph[tuple(kind)].edge_index
        is_heard = receiver == ids.index(passage)
        part = DataFrame({"sender": graph[kind[0]].n_id[sender[is_heard]]})
        part["sender"] = _named(part["sender"], texts[kind[0]], text)
        for n, layer in enumerate(layers, start=1):
            part[f"layer {n}"] = layer[kind][is_heard]
        part["without the question"] = even[kind][is_heard]
        parts.append(part.assign(level=level))
    table = pd.concat(parts, ignore_index=True)
    return table.assign(passage=steered.corpus[passage].title if text else "a passage")


def _named(rows: Series, texts: Texts, shows_text: bool) -> list[str]:
    """The senders by their number and, where that is shown, by the last line of their text."""
    names = []
    for n, row in enumerate(rows, start=1):
        words = texts[row].rpartition("\n")[2] if shows_text else ""
        names.append(shorten(f"{n} {words}", _LETTERS, placeholder=" …"))
    return names


def explore_attention(
    network: QSGNN,
    benchmark: Benchmark,
    questions: Questions,
) -> widgets.VBox:
    """A widget that shows :func:`attention` of a question of the list, and of a passage."""
    chosen = question_list(questions)
    listener = widgets.IntSlider(1, 1, 8, description="passage", continuous_update=False)
    image = widgets.Image()

    def draw(_: object = None) -> None:
        figure = attention(network, benchmark, chosen.value, listener.value)
        image.value = figure.drawn("png")

    for control in (chosen, listener):
        control.observe(draw, "value")
    draw()
    return widgets.VBox([chosen, listener, image])
