"""Figures of documents with pages and tables: what holds what, and what is fetched exactly."""

from collections.abc import Sequence

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from pandas import DataFrame

from kit.corpus import Corpus
from kit.corpus.structures import structures
from kit.corpus.types import Texts
from kit.evaluation import Experiment, statistics
from kit.evaluation.metrics import struct_em
from kit.views import plots
from kit.views.names import listed, name_of
from kit.views.replay import count
from kit.views.sentences import gain_sentence
from kit.views.style import GREY, INK, SMALL, Figure, style

CONTEXT = 30  # passages that a reader gets (KGP §5.1)
_ABOUT = ("page", "table", "page and table")  # types of questions about structures
_WHOLE = "what it fetches"
_AS_MANY = "as many as the question asks for"
_HEIGHTS = {"page": 1, "table": -1}  # passages are at 0
_SIGNS = {
    "page": ("#332288", "s"),
    "table": ("#b36b00", "D"),
    "passage of text": ("#56b4e9", "o"),
    "passage of table": ("#f5c76a", "o"),
}


def holdings(corpus: Corpus) -> DataFrame:
    """Each page and table with each passage that it holds, a row per pair."""
    columns = ["document", "kind", "label", "passage", "position", "holds"]
    rows = []
    for structure, held in structures(corpus).items():
        for row in held:
            passage = corpus.passages[row]
            rows.append(
                (
                    structure.document,
                    structure.kind,
                    structure.label,
                    passage.id,
                    passage.position,
                    passage.kind,
                )
            )
    return DataFrame(rows, columns=columns)


@style()
def structure_graph(corpus: Corpus) -> Figure:
    """Pages above, tables below, between them the passages; a band per document."""
    table = holdings(corpus)
    if table.empty:
        return Figure("These documents have neither pages nor tables").of(table)

    documents = table.groupby("document", sort=False)
    n_documents = documents.ngroups
    figure = Figure(_what_is_held(table), (10, 1.2 + 1.6 * n_documents))
    axes = figure.subplots(n_documents, squeeze=False)
    for ax, (document, members) in zip(axes.flat, documents):
        _draw_document(ax, members)
        ax.set_title(document, fontsize=11, pad=14)
        ax.set(ylim=(-1.5, 1.5))
        ax.set_axis_off()
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower left",
        ncols=4,
        fontsize=SMALL,
    )
    return figure.of(table)


def _what_is_held(table: DataFrame) -> str:
    """How many pages and tables hold how many passages, in a sentence."""
    nodes = table[["document", "kind", "label"]].drop_duplicates()
    counts = nodes["kind"].value_counts()
    parts = []
    for kind in ("page", "table"):
        parts.append(count(int(counts.get(kind, 0)), kind))
    documents = count(table["document"].nunique(), "document")
    passages = count(table["passage"].nunique(), "passage")
    return f"{listed(parts)} of {documents} hold {passages}"


def _draw_document(ax: Axes, held: DataFrame) -> None:
    """The nodes of one document in reading order, and what holds what."""
    nodes = held["kind"] + " " + held["label"]
    kinds = dict(zip(nodes, held["kind"]))
    kinds.update(zip(held["position"], "passage of " + held["holds"]))

    across = held["position"].groupby(nodes).mean()
    positions = {}
    for node, kind in kinds.items():
        x = across.get(node, node)
        positions[node] = (x, _HEIGHTS.get(kind, 0))

    edges = list(zip(nodes, held["position"]))
    nx.draw_networkx_edges(
        nx.Graph(edges),
        positions,
        ax=ax,
        edge_color=GREY,
    )
    for kind in _SIGNS:
        _draw_nodes(ax, kind, [positions[node] for node in kinds if kinds[node] == kind])
    for node in across.index:
        x, y = positions[node]
        ax.annotate(
            node,
            (x, y),
            (0, 12 * y),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=SMALL,
        )


def _draw_nodes(ax: Axes, kind: str, points: Sequence[tuple[float, float]]) -> None:
    """The nodes of one kind; where there are none, only their sign for the legend."""
    colour, marker = _SIGNS[kind]
    x, y = np.array(points).reshape(-1, 2).T
    ax.scatter(
        x,
        y,
        70,
        colour,
        marker=marker,
        edgecolors=INK,
        zorder=3,
        label=kind,
    )


# ---- what is fetched


def fetched_exactly(experiment: Experiment, kgp: str, rivals: Texts) -> Figure:
    """Struct-EM by the kind of question: exactly the passages of what is named, and no others.

    A ranking that ends nowhere is cut twice: after a reader's context, and after as many passages
    as the question asks for, a number that no retriever knows.
    """
    scores = _struct_em(experiment, kgp, rivals)
    if scores.empty:
        return Figure("No question is about a page or a table").of(scores)

    table = statistics.by_group(
        scores,
        ["retriever", "context", "type"],
        "value",
        **experiment.draws,
    )
    counts = table["n"].map(" (n = {})".format)
    named = table.assign(
        row=table["retriever"].map(name_of) + ", " + table["context"],
        kind=table["type"] + counts,
    )
    figure = plots.points(
        named,
        _best_rival(scores, kgp, experiment),
        "row",
        facet="kind",
        share=True,
        xlabel="Struct-EM: share of questions with exactly what is asked",
    )
    return figure.of(table)


def _struct_em(experiment: Experiment, kgp: str, rivals: Texts) -> DataFrame:
    """A row per method, context and question about structures."""
    rows = []
    for name in [kgp, *rivals]:
        rankings = experiment.rankings[name]
        for question in experiment.questions:
            if question.type not in _ABOUT:
                continue
            ids = rankings[question.id].ids
            contexts = {_WHOLE: ids}
            if name != kgp:  # ends nowhere
                contexts = {
                    f"{CONTEXT} passages": ids[:CONTEXT],
                    _AS_MANY: ids[: question.hops],
                }
            for context, fetched in contexts.items():
                score = struct_em(question, fetched)
                rows.append((name, context, question.type, question.id, score))
    columns = ["retriever", "context", "type", "question", "value"]
    return DataFrame(rows, columns=columns)


def _best_rival(scores: DataFrame, kgp: str, experiment: Experiment) -> str:
    """What KGP gains over the better of the others, cut where it helps them most."""
    exact = scores[scores["context"].isin([_WHOLE, _AS_MANY])]
    values = exact.pivot(index="question", columns="retriever", values="value")
    means = values.drop(columns=kgp).mean()
    best = means.idxmax()
    gain = statistics.paired(values[kgp], values[best], **experiment.draws)
    return gain_sentence(gain, kgp, best, "Struct-EM")
