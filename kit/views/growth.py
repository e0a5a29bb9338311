"""Figures of RAS: what its planner asks, what its graph comes to hold, and what is answered.

Each takes what was measured (:mod:`kit.evaluation.growth`) and brings its title and its table.
"""

from collections.abc import Mapping

import pandas as pd
from pandas import DataFrame

from kit.evaluation.growth import BACKWARD, FORWARD
from kit.evaluation.statistics import Estimate, by_group, diff_of_means, paired
from kit.views import plots
from kit.views.names import capital
from kit.views.sentences import FEWEST, points
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
    table = by_group(rows, ["right about", "hops"], "value", **draws)
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


def searches(sub_questions: DataFrame, **draws: int) -> Figure:
    """How often a search answers its sub-question, by its direction."""
    searched = sub_questions[sub_questions["kind"].isin([FORWARD, BACKWARD])]
    table = by_group(searched, ["kind"], "answered", **draws)
    answered = searched.groupby("kind")["answered"]
    title = "There are no searches of two directions to compare"
    if answered.ngroups == 2:
        values = [answered.get_group(kind).to_numpy() for kind in (BACKWARD, FORWARD)]
        gain = diff_of_means(*values, **draws)
        title = change_sentence("answered searches", gain, "from forward to backward ones")
    label = "share of searches that answer their sub-question"
    return plots.points(table, title, rows="kind", by="kind", xlabel=label).of(table)


def by_step(answers: DataFrame, **draws: int) -> Figure:
    """Right answers, and graphs that hold the answer, after 1, 2, … steps."""
    words = {"held": "the graph holds the answer", "em": "the answer is right"}
    rows = answers.rename(columns=words).melt(["steps", "question"], [*words.values()], "what")
    table = by_group(rows, ["what", "steps"], "value", **draws)
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
    table = by_group(pd.concat(parts), ["answerer", "triples"], "em", **draws)
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
    table = by_group(rows, ["source", "what"], "value", **draws)
    title = "There is one source of triples"
    sources = list(read["source"].unique())
    if len(sources) > 1:
        of_question = read.pivot_table("pair", "question", "source")
        first, last = sources[0], sources[-1]
        gain = paired(of_question[last], of_question[first], **draws)
        title = change_sentence("gold pairs that are read", gain, f"from {first} to {last}")
    label = "share of the gold triples"
    return plots.points(
        table, title, rows="source", by="source", facet="what", share=True, xlabel=label
    ).of(table)
