from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kit.errors import InputError
from kit.views.figures import save_figure
from kit.views.graph_plots import degree_distribution, graph_statistics
from kit.views.quality_plots import quality_by_hops, quality_curves
from kit.views.retrieval_plots import differences, recall_at_k, recall_by_hops
from kit.views.style import Figure, look


def quality(builder: str = "tfidf", **more: object) -> pd.DataFrame:
    table = pd.DataFrame(
        {
            "value": [2, 10, 50],
            "mean_neighbourhood": [6.0, 30.0, 400.0],
            "sf_em": [0.2, 0.5, 0.8],
            "precision": [0.2, 0.05, 0.004],
        }
    )
    for metric in ("sf_em", "precision"):
        table[f"{metric}_low"], table[f"{metric}_high"] = table[metric] * 0.9, table[metric] * 1.1
    return table.assign(builder=builder, parameter="n_keywords", **more)


SEEDS = quality("seeds").head(1).assign(parameter="", value=np.nan)
STATISTICS = pd.DataFrame(
    {
        "graph": ["tfidf", "HotpotQA"],
        "source": ["", "kgp.txt Table 3"],
        "nodes": [2000, 715],
        "density": [0.02, 0.23],
        "mean_degree": [40.0, np.nan],
    }
)
DEGREES = pd.DataFrame({"graph": "knn", "degree": [0, 1, 2, 4], "count": [10, 5, 3, 2]})
RECALL = pd.DataFrame(
    [
        {
            "retriever": name,
            "hops": hops,
            "metric": metric,
            "mean": 0.9 - 0.2 * hops,
            "low": 0.85 - 0.2 * hops,
            "high": 0.95 - 0.2 * hops,
            "n": 50,
        }
        for name in ("bm25", "dense")
        for hops in (1, 2, 4)
        for metric in ("recall@5", "full@5", "recall@10")
    ]
)
DIFFERENCES = pd.DataFrame(
    {
        "retriever": ["dense", "tfidf"],
        "difference": [0.03, -0.01],
        "low": [0.01, -0.03],
        "high": [0.05, 0.01],
        "p_holm": [0.0004, 0.3],
    }
)


def words(figure: Figure) -> str:
    figure.draw_without_rendering()
    return "\n".join(text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text")))


def lines(figure: Figure, panel: int = 0) -> dict[str, np.ndarray]:
    """The drawn lines of a panel by colour."""
    return {
        line.get_color(): np.column_stack(line.get_data())
        for line in figure.axes[panel].lines
        if line.get_linestyle() != "None"
    }


ALL = {
    "quality": lambda title: quality_curves(pd.concat([quality(), SEEDS]), title),
    "by hops": lambda title: quality_by_hops(
        pd.concat([quality(hops=1), quality("knn", hops=3), SEEDS.assign(hops=1)]), title
    ),
    "statistics": lambda title: graph_statistics(STATISTICS, title),
    "degrees": lambda title: degree_distribution(DEGREES, title),
    "recall by hops": lambda title: recall_by_hops(RECALL, title),
    "recall at k": lambda title: recall_at_k(RECALL[RECALL["hops"] == 2], title),
    "differences": lambda title: differences(DIFFERENCES, title, "bm25"),
}


@pytest.mark.parametrize("name", ALL)
def test_every_plot_says_its_finding_and_is_the_same_twice(name, tmp_path):
    title = "A finding of $5 and $6 <b>in</b> a sentence"
    figures = [ALL[name](title) for _ in range(2)]
    assert all(title in words(figure).replace("\n", " ") for figure in figures)
    paths = [save_figure(figure, DEGREES, tmp_path / str(i), "a") for i, figure in enumerate(figures)]
    assert paths[0][0].read_bytes() == paths[1][0].read_bytes()


@pytest.mark.parametrize("name", ALL)
def test_every_word_lies_within_the_page(name):
    figure = ALL[name]("A finding")
    figure.draw_without_rendering()
    page = figure.bbox
    for text in figure.findobj(
        lambda artist: hasattr(artist, "get_text") and artist.get_text() and artist.get_visible()
    ):
        box = text.get_window_extent()
        if box.width and box.overlaps(page):  # ticks beyond an axis are not drawn
            assert box.x1 <= page.x1 + 2 and box.y0 >= page.y0 - 2, text.get_text()


def test_quality_curves_draw_the_numbers_and_name_the_settings():
    figure = quality_curves(pd.concat([quality(), SEEDS]), "t")
    drawn = lines(figure, 0)
    assert drawn[look("tfidf").colour].tolist() == [[6, 0.2], [30, 0.5], [400, 0.8]]
    assert lines(figure, 1)[look("tfidf").colour][:, 1].tolist() == [0.2, 0.05, 0.004]
    said = words(figure)
    assert "tfidf\n(n_keywords)" in said and "seeds alone" in said and "\n50\n" in said
    assert figure.axes[0].get_xscale() == "log"


def test_quality_by_hops_has_a_column_a_hop_count():
    figure = ALL["by hops"]("t")
    assert [ax.get_title(loc="left") for ax in figure.axes[:2]] == ["1 hop", "3 hops"]
    assert set(lines(figure, 1)) == {look("knn").colour}


def test_statistics_say_what_a_paper_does_not_give():
    said = words(graph_statistics(STATISTICS, "t"))
    assert "tfidf, 2,000 passages" in said and "HotpotQA (kgp.txt Table 3)" in said
    assert "not given" in said and "0.23" in said


def test_degrees_are_shares_of_passages_with_at_least_so_many():
    figure = degree_distribution(DEGREES, "t")
    assert lines(figure)[look("knn").colour].tolist() == [[1, 0.5], [2, 0.25], [4, 0.1]]
    assert "knn\n(50.0% without)" in words(figure)


def test_recall_by_hops_keeps_places_for_hop_counts_and_tells_how_many_questions():
    figure = recall_by_hops(RECALL, "t")
    assert len(figure.axes) == 3
    assert "4 hops\n(n = 50)" in words(figure) and "Full@5" in words(figure)
    drawn = lines(figure)
    assert drawn[look("bm25").colour][:, 1].tolist() == pytest.approx([0.7, 0.5, 0.1])
    assert drawn[look("dense").colour][0, 0] - drawn[look("bm25").colour][0, 0] == pytest.approx(0.09)


def test_recall_at_k_reads_the_cut_off_from_the_metric():
    figure = recall_at_k(RECALL[RECALL["hops"] == 2], "t")
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["5", "10"]
    with pytest.raises(InputError, match="at least one row"):
        recall_at_k(RECALL, "t", metric="ndcg")


def test_a_difference_is_filled_only_where_it_is_significant():
    figure = differences(DIFFERENCES, "t", "bm25", "recall@5")
    marks = [line for line in figure.axes[0].lines if line.get_marker() not in ("None", None)]
    assert [mark.get_markerfacecolor() for mark in marks] == [look("dense").colour, "white"]
    said = words(figure)
    assert "+0.030  [+0.010, +0.050]  p < 0.001" in said and "−0.010  [−0.030, +0.010]  p = 0.300" in said
    assert "difference in Recall@5 to bm25" in said


def test_a_missing_column_is_named():
    with pytest.raises(InputError, match="precision_high not there"):
        quality_curves(quality().drop(columns="precision_high"), "t")
