"""How dense the graphs are, and how unevenly their passages are linked."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kit.views.labels import label_lines
from kit.views.style import GREY, INK, SMALL, Figure, look, panels, plain_log, require, styled


@styled
def graph_statistics(table: pd.DataFrame, title: str) -> Figure:
    """Density and mean degree of each graph beside those of the papers (kgp.txt Table 3, gnn-ret.txt Table 5).

    ``table`` has a row a graph: graph, source (empty for a graph of ours, else where the numbers stand), nodes, density
    (a fraction) and mean_degree (2|E|/|V|); a number that a paper does not give is missing.
    """
    require(table, "graph", "source", "nodes", "density", "mean_degree")
    rows = list(table.sort_values("source", key=lambda s: s.fillna("") != "", kind="stable").itertuples())
    figure = Figure(title)
    [axes] = panels(figure, 1, 2, sharey=True)
    for ax, (field, meaning) in zip(
        axes, {"density": "density 2|E| / |V|(|V|−1)", "mean_degree": "mean degree 2|E| / |V|"}.items()
    ):
        ax.set_title(meaning)
        plain_log(ax, "x", table[field].dropna())
        ax.grid(axis="y", visible=False)
        for height, row in enumerate(rows):
            value, ours = getattr(row, field), not row.source or pd.isna(row.source)
            colour = look(row.graph).colour if ours else GREY
            ax.axhline(height, color="#eeeeee", linewidth=1, zorder=0)
            if pd.isna(value):
                ax.annotate(
                    "not given",
                    (0, height),
                    xycoords=("axes fraction", "data"),
                    color=GREY,
                    fontsize=SMALL,
                    va="center",
                )
                continue
            ax.plot(
                value,
                height,
                look(row.graph).marker if ours else "o",
                color=colour,
                markersize=9,
                fillstyle="full" if ours else "none",
            )
            ax.annotate(
                f"{value:.3g}",
                (value, height),
                (0, 7),
                textcoords="offset points",
                ha="center",
                fontsize=SMALL,
                color=colour,
            )
    names = [
        f"{row.graph}, {row.nodes:,.0f} passages"
        if not row.source or pd.isna(row.source)
        else f"{row.graph} ({row.source})"
        for row in rows
    ]
    axes[0].set_yticks(range(len(rows)), names, parse_math=False)
    axes[0].set_ylim(len(rows) - 0.4, -0.8)
    for label, row in zip(axes[0].get_yticklabels(), rows):
        label.set_color(INK if not row.source or pd.isna(row.source) else GREY)
    return figure


@styled
def degree_distribution(table: pd.DataFrame, title: str) -> Figure:
    """The share of passages that have at least so many neighbours, a curve a graph, both axes logarithmic.

    ``table`` has a row a graph and degree: graph, degree, count (passages of exactly this degree). Passages without any
    neighbour have no place on a logarithmic axis: their share stands beside the name.
    """
    require(table, "graph", "degree", "count")
    figure = Figure(title)
    [[ax]] = panels(figure)
    ends = []
    for name, of in table.groupby("graph", sort=False):
        of = of.sort_values("degree")
        share = of["count"][::-1].cumsum()[::-1] / of["count"].sum()
        alone = of.loc[of["degree"] == 0, "count"].sum() / of["count"].sum()
        linked = of["degree"] > 0
        style = look(name).line | {"marker": look(name).marker if linked.sum() < 40 else None}
        ax.plot(of["degree"][linked], share[linked], **style)
        ends.append((of["degree"].iloc[-1], share.iloc[-1], f"{name}\n({alone:.1%} without)", look(name).colour))
    plain_log(ax, "x", table.loc[table["degree"] > 0, "degree"])
    ax.set_yscale("log")
    plain_log(ax, "y", np.array([1e-3, 1.0]))
    ax.set(xlabel="neighbours of a passage", ylabel="share of passages with at least so many")
    label_lines(ax, ends)
    return figure
