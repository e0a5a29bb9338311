"""Figures of documents with pages and tables: what holds what, and what is fetched exactly."""

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from pandas import DataFrame

from kit.corpus import Corpus, Question
from kit.corpus.structures import structures
from kit.evaluation import Experiment, statistics
from kit.evaluation.metrics import struct_em
from kit.views import plots
from kit.views.names import listed, name_of
from kit.views.replay import count
from kit.views.sentences import gain_sentence
from kit.views.style import GREY, INK, SMALL, Figure, style

CONTEXT = 30  # passages that a reader gets (kgp.txt §5.1)
_ABOUT = ("page", "table", "page and table")  # types of questions about structures
_ASKED = "as many as asked"
_HEIGHTS = {"page": 1, "table": -1}  # passages are at 0
_SIGNS = {
    "page": ("#332288", "s"),
    "table": ("#b36b00", "D"),
    "passage of text": ("#56b4e9", "o"),
    "passage of table": ("#f5c76a", "o"),
}


def holdings(corpus: Corpus) -> DataFrame:
    """Each page and table with each passage that it holds, a row per pair."""
    rows = []
    for structure, held in structures(corpus).items():
        for passage in [corpus.passages[row] for row in held]:
            row = {"document": structure.document, "kind": structure.kind}
            row |= {"label": structure.label, "passage": passage.id}
            rows.append(row | {"position": passage.position, "holds": passage.kind})
    return DataFrame(rows, columns=["document", "kind", "label", "passage", "position", "holds"])


@style()
def structure_graph(corpus: Corpus) -> Figure:
    """Pages above, tables below, between them the passages; a band per document."""
    table = holdings(corpus)
    kinds = table[["document", "kind", "label"]].drop_duplicates()["kind"].value_counts()
    parts = [count(int(kinds.get(kind, 0)), kind) for kind in ("page", "table")]
    held = count(table["passage"].nunique(), "passage")
    title = f"{listed(parts)} of {count(table['document'].nunique(), 'document')} hold {held}"
    if table.empty:
        return Figure("These documents have neither pages nor tables").of(table)

    documents = table.groupby("document", sort=False)
    figure = Figure(title, (10, 1.2 + 1.6 * documents.ngroups))
    bands = figure.subplots(documents.ngroups, squeeze=False)[:, 0]
    for ax, (document, members) in zip(bands, documents):
        _draw_document(ax, members)
        ax.set_title(document, fontsize=11, pad=14)
        ax.set(ylim=(-1.5, 1.5))
        ax.set_axis_off()
    signs = bands[0].get_legend_handles_labels()
    figure.legend(*signs, loc="outside lower left", ncols=4, fontsize=SMALL)
    return figure.of(table)


def _draw_document(ax: Axes, held: DataFrame) -> None:
    """The nodes of one document in reading order, and what holds what."""
    nodes = held["kind"] + " " + held["label"]
    edges = nx.Graph(list(zip(nodes, held["position"])))
    positions = {}
    for node, members in held["position"].groupby(nodes, sort=False):
        positions[node] = (members.mean(), _HEIGHTS[node.split()[0]])
    for position in held["position"]:
        positions[position] = (position, 0)
    nx.draw_networkx_edges(edges, positions, ax=ax, edge_color=GREY)

    content = dict(zip(held["position"], "passage of " + held["holds"]))
    for kind, (colour, marker) in _SIGNS.items():
        points = [positions[node] for node in edges if _kind(node, content) == kind]
        x, y = np.array(points).reshape(-1, 2).T
        ax.scatter(x, y, 70, colour, marker=marker, edgecolors=INK, zorder=3, label=kind)
    for node in nodes.unique():
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


def _kind(node: str | int, content: dict[int, str]) -> str:
    return node.split()[0] if isinstance(node, str) else content[node]


def fetched_exactly(experiment: Experiment, kgp: str, rivals: list[str]) -> Figure:
    """Struct-EM by the kind of question: exactly the passages of what is named, and no others.

    A ranking that ends nowhere is cut twice: after a reader's context, and after as many passages
    as the question asks for, a number that no retriever knows.
    """
    about = [question for question in experiment.questions if question.type in _ABOUT]
    rows = []
    for name in [kgp, *rivals]:
        for question in about:
            ids = list(experiment.rankings[name][question.id].ids)
            for context, fetched in _contexts(ids, question, ends=name == kgp).items():
                score = struct_em(question, fetched)
                row = {"retriever": name, "context": context, "type": question.type}
                rows.append(row | {"question": question.id, "value": score})
    if not rows:
        return Figure("No question is about a page or a table").of(DataFrame(rows))

    scores = DataFrame(rows)
    keys = ["retriever", "context", "type"]
    table = statistics.by_group(scores, keys, "value", **experiment.draws)
    row = table["retriever"].map(name_of) + ", " + table["context"]
    kind = table["type"] + table["n"].map(" (n = {})".format)
    figure = plots.points(
        table.assign(row=row, kind=kind),
        _best_rival(scores, kgp, experiment),
        "row",
        facet="kind",
        share=True,
        xlabel="Struct-EM: share of questions with exactly what is asked",
    )
    return figure.of(table)


def _contexts(ids: list[str], question: Question, ends: bool) -> dict[str, list[str]]:
    if ends:
        return {"what it fetches": ids}
    return {f"{CONTEXT} passages": ids[:CONTEXT], _ASKED: ids[: question.hops]}


def _best_rival(scores: DataFrame, kgp: str, experiment: Experiment) -> str:
    """What KGP gains over the better of the others, cut where it helps them most."""
    exact = scores[(scores["retriever"] == kgp) | (scores["context"] == _ASKED)]
    values = exact.pivot(index="question", columns="retriever", values="value")
    best = values.drop(columns=kgp).mean().idxmax()
    gain = statistics.paired(values[kgp], values[best], **experiment.draws)
    return gain_sentence(gain, kgp, best, "Struct-EM")
