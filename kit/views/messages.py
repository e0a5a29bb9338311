"""Figures of GNN-Ret and RGNN-Ret: what their weights do, and how their steps fare."""

from collections.abc import Mapping

import pandas as pd
from pandas import DataFrame

from kit.corpus import Benchmark
from kit.evaluation import Experiment
from kit.evaluation.contexts import USUAL, by_question, counts_by_supports
from kit.evaluation.statistics import Estimate, by_group, interval, intervals, paired
from kit.methods.gnn_ret.retriever import GNNRet
from kit.views import plots
from kit.views.names import listed, metric_name
from kit.views.sentences import FEWEST, best_sentence, gain_sentence, headline
from kit.views.style import Figure

LOSS = "hinge loss of training questions"
SYMBOLS = {
    "alpha1": "α",
    "alpha2": "α of layer 2",
    "alpha3": "α of layer 3",
    "beta": "β",
}
STEP_METRIC = "recall@5 of a step"
STEP_RECALL = "Recall@5 of the step's own support"


def along_alpha(
    experiment: Experiment,
    methods: Mapping[str, GNNRet],
    training: Benchmark,
    metric: str = "recall@10",
) -> Figure:
    """The hinge loss of training questions, and what is retrieved for test questions, along α.

    ``methods`` are GNN-Ret of one layer with different α, by their names in ``experiment``.
    """
    alphas = {name: round(method.alphas[0].item(), 6) for name, method in methods.items()}
    rows = []
    for name, alpha in alphas.items():
        loss = _mean_loss(methods[name], training, experiment)
        rows.append((name, alpha, LOSS, *loss[:4]))
    losses = DataFrame(rows, columns=["retriever", "alpha", "quantity", "mean", "low", "high", "n"])

    summary = experiment.only(list(alphas)).summary()
    found_share = summary[summary["metric"] == metric]
    recalls = found_share.assign(
        alpha=found_share["retriever"].map(alphas),
        quantity=f"{metric_name(metric)} of test questions",
    )
    table = pd.concat([losses, recalls.drop(columns="metric")], ignore_index=True)
    figure = plots.curves(
        table,
        _lowest_and_highest(
            losses,
            recalls,
            experiment,
            metric,
        ),
        "alpha",
        by="quantity",
        facet="quantity",
        xlabel="α, the weight of a passage's own distance",
    )
    return figure.of(table)


def _mean_loss(method: GNNRet, training: Benchmark, experiment: Experiment) -> Estimate:
    """The hinge loss (Eq. 3) over the training questions."""
    student = method.variant(corpus=training.corpus)
    losses = student.losses(training.train)()
    return interval(losses.numpy(), **experiment.draws)


def _lowest_and_highest(
    losses: DataFrame, recalls: DataFrame, experiment: Experiment, metric: str
) -> str:
    """Where the loss is lowest, and whether more is retrieved elsewhere."""
    lowest = losses.loc[losses["mean"].idxmin()]
    highest = recalls.loc[recalls["mean"].idxmax()]
    words = metric_name(metric)
    start = f"The hinge loss is lowest at α = {lowest['alpha']:.1f}"
    if lowest["retriever"] == highest["retriever"]:
        return f"{start}, and {words} is highest there"

    gain = experiment.gain(highest["retriever"], over=lowest["retriever"], metric=metric)
    if gain.n >= FEWEST and gain.low > 0:
        return f"{start}, {words} is highest at α = {highest['alpha']:.1f}"
    return f"{start}, where {words} is not told apart from its best"


def by_step(recalls: DataFrame, **draws: int) -> Figure:
    """How often each step's ranking has its own support among the first five.

    ``recalls`` are those of :func:`kit.evaluation.sub_questions.step_recalls`; the first retriever
    is what the others are compared with. ``draws`` are the seed and n_resamples of the intervals.
    """
    table = by_group(
        recalls,
        ["retriever", "step"],
        "recall",
        **draws,
    )
    title = headline(_compared(recalls, draws))
    return plots.lines(
        table,
        title,
        "step",
        xlabel="step",
        ylabel=STEP_RECALL,
    ).of(table)


def by_wrong_bridges(recalls: DataFrame, **draws: int) -> Figure:
    """How a step's recall falls with the share of wrong bridges before it.

    ``recalls`` are those of :func:`kit.evaluation.sub_questions.recalls_with_wrong_bridges`; the
    first retriever is what the others are compared with.
    """
    of_question = recalls.groupby(["retriever", "share", "question"], sort=False)["recall"].mean()
    means = of_question.reset_index()
    table = by_group(
        means,
        ["retriever", "share"],
        "recall",
        **draws,
    ).sort_values("share", kind="stable")
    half = means[means["share"] == 0.5]
    title = f"{headline(_compared(half, draws))}, with half of the bridges wrong"
    shown = table.assign(share=table["share"].map("{:.0%}".format))
    figure = plots.lines(
        shown,
        title,
        "share",
        xlabel="share of wrong bridges",
        ylabel=STEP_RECALL,
    )
    return figure.of(table)


def _compared(recalls: DataFrame, draws: Mapping[str, int]) -> DataFrame:
    """The paired differences to the first retriever, with the columns of ``compare``."""
    wide = recalls.pivot_table(
        index="question",
        columns="retriever",
        values="recall",
        sort=False,
    )
    rows = []
    for name in wide.columns[1:]:
        gain = paired(wide[name].to_numpy(), wide.iloc[:, 0].to_numpy(), **draws)
        rows.append((name, wide.columns[0], STEP_METRIC, *gain[:4]))
    columns = ["retriever", "baseline", "metric", "difference", "low", "high", "n"]
    return DataFrame(rows, columns=columns)


# ---- training


def learned(weights: DataFrame, by: str = "", levels: Mapping[str, float] | None = None) -> Figure:
    """What descent learns from more or fewer questions: the median, and nine tenths of the draws.

    ``weights`` are those of :func:`kit.lab.claims.gnn_ret_measures.learned_weights`. A line per
    value of the column ``by``, and a panel per weight. ``levels`` are values to compare with.
    """
    named = weights.assign(weight=weights["weight"].map(SYMBOLS).fillna(weights["weight"]))
    groups = ["weight", *([by] if by else []), "n_train"]
    quantiles = named.groupby(groups, sort=False)["value"].quantile([0.5, 0.05, 0.95]).unstack()
    table = quantiles.set_axis(["mean", "low", "high"], axis=1).reset_index()
    table["line"] = table[by] if by else "learned"

    most = table["n_train"].max()
    medians = table[table["n_train"] == most]
    said = []
    for row in medians.itertuples():
        which = f" ({row.line})" if by else ""
        said.append(f"{row.weight} = {row.mean:.2f}{which}")
    figure = plots.lines(
        table,
        f"The median of what {most} questions teach: {listed(said)}",
        "n_train",
        "line",
        "weight",
        levels=levels,
        xlabel="training questions",
        ylabel="median and central 90 % of the draws",
    )
    return figure.of(table)


def layers(recall_and_alphas: DataFrame, gain: Estimate) -> Figure:
    """The learned α of each layer, and Recall@10 by the number of layers.

    ``recall_and_alphas`` as of :func:`kit.lab.claims.gnn_ret_measures.recall_and_alphas`. ``gain``
    is what three layers have over one.
    """
    is_recall = recall_and_alphas["quantity"] == "recall@10"
    depth = recall_and_alphas["layers"]
    rows = recall_and_alphas.assign(layer=recall_and_alphas["layer"].fillna(depth).astype(int))
    rows["line"] = depth.map({1: "1 layer", 2: "2 layers", 3: "3 layers"}).mask(is_recall, "Recall")
    panels = {True: "Recall@10 by number of layers", False: "learned α of each layer"}
    rows["panel"] = is_recall.map(panels)
    title = gain_sentence(
        gain,
        "a third layer",
        "one layer",
        "recall@10",
    )
    figure = plots.lines(
        rows, title, "layer", "line", "panel", share=False, xlabel="layer, or number of layers"
    )
    return figure.of(recall_and_alphas)


def grid(experiment: Experiment, cells: Mapping[str, tuple[int, int]]) -> Figure:
    """Recall@10 over the numbers of senders and of competitors, by the names of ``cells``."""
    summary = experiment.only(list(cells)).summary()
    table = summary[summary["metric"] == "recall@10"]
    title = best_sentence(table, "recall@10")
    senders, competitors = zip(*cells.values())
    squares = table.assign(senders=senders, competitors=competitors)
    figure = plots.heatmap(
        squares,
        title,
        "senders",
        "competitors",
        "recall@10",
        xlabel="K, passages that send",
        ylabel="O, candidates to learn from",
    )
    return figure.of(squares)


# ---- contexts


def found_by_supports(contexts: DataFrame, name: str, over: str, **draws: int) -> Figure:
    """Questions with all supports in a context of 3,500 tokens, by their number of supports.

    ``contexts`` are those of :func:`kit.evaluation.contexts.in_contexts`.
    """
    counted = counts_by_supports(
        contexts,
        name,
        over,
        **draws,
    )
    rows = counted.assign(row=counted.apply(_counts_in_words, axis=1))
    for column in ("difference", "low", "high"):
        rows[column] /= rows["n"]
    title = headline(rows.tail(1).assign(baseline=over, metric=f"Full within {USUAL:,} tokens"))
    return plots.differences(
        rows,
        title,
        over,
        "share of the questions",
        "row",
    ).of(counted)


def _counts_in_words(row: pd.Series) -> str:
    """A row's supports, the shares before and after, and n."""
    supports = "1 support" if row["supports"] == "1" else f"{row['supports']} supports"
    return f"{supports}: {row['share_before']:.0%} → {row['share']:.0%} (n = {row['n']:,})"


def along_budgets(contexts: DataFrame, name: str, over: str, **draws: int) -> Figure:
    """The share of questions with all supports in a context, along its number of tokens."""
    tables = []
    gains = []
    for budget in sorted(contexts["budget"].unique()):
        full = by_question(contexts, budget)[[over, name]]
        means = intervals(full, **draws)
        tables.append(means.rename_axis("retriever").reset_index().assign(budget=budget))
        gain = paired(full[name].to_numpy(), full[over].to_numpy(), **draws)
        row = {"retriever": name, "baseline": over, "metric": f"Full within {budget:,} tokens"}
        gains.append(row | {"budget": budget, "p": gain.p} | gain_columns(gain))
    compared = DataFrame(gains)
    table = pd.concat(tables, ignore_index=True)
    columns = ["retriever", "budget", "difference", "p"]
    table = table.merge(compared[columns], "left", ["retriever", "budget"])

    largest = compared.loc[[compared["difference"].abs().idxmax()]]
    figure = plots.lines(
        table,
        headline(largest),
        "budget",
        xlabel="tokens of the context",
        ylabel="questions with all supports in it",
    )
    return figure.of(table)


def gain_columns(gain: Estimate) -> dict[str, float]:
    """An estimate as the columns of ``compare``."""
    return {
        "difference": gain.value,
        "low": gain.low,
        "high": gain.high,
        "n": gain.n,
    }
