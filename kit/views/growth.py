"""Figures of RAS: what its planner asks, what its graph comes to hold, and what is answered.

Each takes what was measured (:mod:`kit.evaluation.growth`) and brings its title and its table.
"""

from collections.abc import Mapping

import pandas as pd
from numpy import ndarray
from pandas import DataFrame

from kit.evaluation.growth import BACKWARD, FORWARD
from kit.evaluation.statistics import Estimate, by_group, diff_of_means, interval, paired
from kit.views import plots
from kit.views.names import capital
from kit.views.sentences import FEWEST, gain_sentence, headline, points
from kit.views.style import Figure


def change_sentence(what: str, gain: Estimate, where: str) -> str:
    """That something rises or falls, or that no change can be seen: "… from one step to five"."""
    if gain.n < FEWEST:
        return f"{gain.n} observations are too few to see how {what} change {where}"
    if gain.low <= 0 <= gain.high:
        return capital(f"{what} change by no more than chance {where}")
    verb = "rise" if gain.value > 0 else "fall"
    return capital(f"{what} {verb} by {points(gain.value)} {where}")


def right_steps(steps: DataFrame, **draws: int) -> Figure:
    """How often the planner is right, by hops (:func:`kit.worlds.planner.right_steps`)."""
    words = {"action": "to ask or to stop", "step": "the whole sub-question"}
    rows = steps.rename(columns=words).melt(["question", "hops"], [*words.values()], "right about")
    rows["value"] = rows["value"].astype(float)
    table = by_group(
        rows,
        ["right about", "hops"],
        "value",
        **draws,
    )
    shares = steps[["action", "step"]].mean()
    title = (
        f"Of {len(steps)} steps the planner is right to ask or to stop in {shares['action']:.1%} "
        f"and writes {shares['step']:.1%} exactly"
    )
    return plots.lines(
        table,
        title,
        "hops",
        by="right about",
        xlabel="hops of the question",
        ylabel="share of steps",
    ).of(table)


def right_actions(actions: DataFrame, **draws: int) -> Figure:
    """How often a planner asks and stops where a teacher would, by how much was asked before.

    ``actions`` is :func:`kit.evaluation.growth.right_actions`.
    """
    words = {"ask": "there is more to ask", "stop": "all was found"}
    rows = actions.assign(state=actions["wanted"].map(words), value=actions["action"].astype(float))
    table = by_group(rows, ["state", "n_searches"], "value", **draws)
    title = (
        f"In {len(actions)} states the planner is right to ask or to stop in "
        f"{actions['action'].mean():.1%}"
    )
    return plots.lines(
        table,
        title,
        "n_searches",
        by="state",
        xlabel="searches before",
        ylabel="share of states",
    ).of(table)


def by_variant(answers: DataFrame, **draws: int) -> Figure:
    """F1 of GraphLLM, whole and without its parts (RAS, Table 2).

    ``answers`` is :func:`kit.lab.claims.ras_language.answers_of_variants`.
    """
    table = by_group(answers, ["retriever"], "f1", **draws)
    f1 = answers.pivot(index="question", columns="retriever", values="f1")
    whole, *others = answers["retriever"].unique()
    rows = []
    for name in others:
        gain = paired(f1[name], f1[whole], **draws)
        effect = {"difference": gain.value, "low": gain.low, "high": gain.high, "n": gain.n}
        rows.append({"retriever": name, "baseline": whole, "metric": "f1", **effect})
    title = headline(DataFrame(rows))
    return plots.points(table, title, rows="retriever", by="retriever", xlabel="F1").of(table)


def searches(sub_questions: DataFrame, **draws: int) -> Figure:
    """How often a search answers its sub-question, by its direction."""
    searched = sub_questions[sub_questions["kind"].isin([FORWARD, BACKWARD])]
    table = by_group(
        searched,
        ["kind"],
        "answered",
        **draws,
    )
    answered = searched.groupby("kind")["answered"]
    title = "There are no searches of two directions to compare"
    if answered.ngroups == 2:
        values = [answered.get_group(kind).to_numpy() for kind in (BACKWARD, FORWARD)]
        gain = diff_of_means(*values, **draws)
        title = change_sentence("answered searches", gain, "from forward to backward ones")
    label = "share of searches that answer their sub-question"
    return plots.points(
        table,
        title,
        rows="kind",
        by="kind",
        xlabel=label,
    ).of(table)


def by_step(answers: DataFrame, **draws: int) -> Figure:
    """Right answers, and graphs that hold the answer, after 1, 2, … steps."""
    words = {"held": "the graph holds the answer", "em": "the answer is right"}
    rows = answers.rename(columns=words).melt(["steps", "question"], [*words.values()], "what")
    table = by_group(
        rows,
        ["what", "steps"],
        "value",
        **draws,
    )
    wide = answers.pivot(index="question", columns="steps", values="em")
    first, last = wide.columns[[0, -1]]
    gain = paired(wide[last], wide[first], **draws)
    title = change_sentence("right answers", gain, f"from {first} step to {last}")
    return plots.lines(
        table,
        title,
        "steps",
        by="what",
        xlabel="steps of the loop",
        ylabel="share of questions",
    ).of(table)


def by_share(answers: Mapping[str, DataFrame], **draws: int) -> Figure:
    """Right answers by the share of triples that is left, a line per answerer."""
    parts = []
    for name, rows in answers.items():
        of_questions = rows.groupby(["triples", "question"], as_index=False)["em"].mean()
        parts.append(of_questions.assign(answerer=name))
    table = by_group(
        pd.concat(parts),
        ["answerer", "triples"],
        "em",
        **draws,
    )
    wide = parts[0].pivot(index="question", columns="triples", values="em")
    gain = paired(wide[wide.columns[-1]], wide[wide.columns[0]], **draws)
    title = change_sentence("right answers", gain, "from no triples to all")
    return plots.lines(
        table,
        title,
        "triples",
        by="answerer",
        xlabel="share of the triples that is left",
        ylabel="exact match",
    ).of(table)


def triples_read(read: DataFrame, **draws: int) -> Figure:
    """How many of the gold triples each source reads, as pairs of names and with the relation."""
    words = {"pair": "both names", "triple": "both names and the relation"}
    rows = read.rename(columns=words).melt(["source", "question"], [*words.values()], "what")
    table = by_group(
        rows,
        ["source", "what"],
        "value",
        **draws,
    )
    title = "There is one source of triples"
    sources = list(read["source"].unique())
    if len(sources) > 1:
        facts = read.assign(fact=read.groupby("source").cumcount())  # the same in each source
        of_fact = facts.pivot(index="fact", columns="source", values="pair")
        gain = paired(of_fact[sources[-1]], of_fact[sources[0]], **draws)
        where = f"from {sources[0]} to {sources[-1]}"
        title = change_sentence("gold pairs that are read", gain, where)
    label = "share of the gold triples"
    return plots.points(
        table,
        title,
        rows="source",
        by="source",
        facet="what",
        share=True,
        xlabel=label,
    ).of(table)


# ---- of the paper's tables


def beside_dense(beside: DataFrame, main: str, **draws: int) -> Figure:
    """The supports that loops find, by hops, and those of dense retrieval beside the ``main`` one.

    ``beside`` has the columns retriever, question, hops, recall, dense.
    """
    of_main = beside[beside["retriever"] == main]
    once = of_main.assign(retriever="dense, as many passages", recall=of_main["dense"])
    rows = pd.concat([beside, once])
    table = by_group(
        rows,
        ["hops", "retriever"],
        "recall",
        **draws,
    )
    gain = paired(of_main["recall"], of_main["dense"], **draws)
    title = gain_sentence(
        gain,
        main,
        "dense",
        "recall",
    )
    return plots.lines(
        table,
        title,
        "hops",
        joined=False,
        xlabel="hops of the question",
        ylabel="share of supports",
    ).of(table)


def ablations(beside: DataFrame, **draws: int) -> Figure:
    """The supports that variants of a loop find; the first is the whole loop."""
    table = by_group(
        beside,
        ["retriever"],
        "recall",
        **draws,
    )
    first, *others = table["retriever"]
    recall = beside.pivot(index="question", columns="retriever", values="recall")
    rows = []
    for name in others:
        gain = paired(recall[name], recall[first], **draws)
        rows.append(
            {
                "retriever": name,
                "baseline": first,
                "metric": "recall",
                "difference": gain.value,
                "low": gain.low,
                "high": gain.high,
                "n": gain.n,
            }
        )
    title = headline(DataFrame(rows))
    return plots.points(table, title, xlabel="share of supports").of(table)


def scopes(scoping: DataFrame, profile: str, baseline: str, **draws: int) -> Figure:
    """What scopes keep, by the share that is left; two profiles are compared at a quarter."""
    table = by_group(
        scoping,
        ["profile", "K/N", "metric"],
        "found",
        **draws,
    )
    first_five = scoping[scoping["metric"] == "recall@5"]
    quarter = first_five[first_five["K/N"] == 0.25]
    wide = quarter.pivot(index="question", columns="profile", values="found")
    gain = paired(wide[profile], wide[baseline], **draws)
    where = f"in a quarter of the corpus, from {baseline} profile to one {profile}"
    title = change_sentence("hits among five passages", gain, where)
    return plots.lines(
        table,
        title,
        "K/N",
        by="profile",
        facet="metric",
        ylabel="share of sub-questions",
    ).of(table)


def learning(right: DataFrame, **draws: int) -> Figure:
    """What planner and answerer get right by the ``share`` of their training data.

    Columns: learned (planner or answerer), what, share, question, right.
    """
    table = by_group(
        right,
        ["share", "learned", "what"],
        "right",
        **draws,
    )
    of_planner = right[right["learned"] == "planner"]
    decisions = of_planner[of_planner["what"] == of_planner["what"].iloc[0]]
    wide = decisions.pivot(index="question", columns="share", values="right")
    gain = paired(wide[wide.columns[-1]], wide[wide.columns[0]], **draws)
    where = f"from {wide.columns[0]:.0%} of the training data to all"
    title = change_sentence("the planner's right decisions", gain, where)
    return plots.lines(
        table.drop(columns="n"),  # the planner's questions are others than the answerer's
        title,
        "share",
        by="learned",
        facet="what",
        xlabel="share of the training data",
        ylabel="right",
    ).of(table)


def savings(
    saved: Mapping[tuple[int, float], ndarray],
    law: Mapping[float, float],
    **draws: int,
) -> Figure:
    """The share of the seconds that a scope saves, and what it would save by the ``law``."""
    rows = []
    for (n, share), shares_saved in saved.items():
        rows.append((f"{n:,} vectors", share, *interval(shares_saved, **draws)[:3]))
    rows += [("the law", share, saving, saving, saving) for share, saving in law.items()]
    table = DataFrame(rows, columns=["retriever", "K/N", "mean", "low", "high"])
    title = "Seconds that a scope saves by its size, and by the law 1 − T/d − K/N"
    return plots.lines(
        table,
        title,
        "K/N",
        xlabel="share of the corpus, K/N",
        ylabel="share of the seconds saved",
    ).of(table)
