"""How much of the evidence fits into a reader's context: rankings cut by tokens instead of by passages.

gnn-ret.txt §4.1 (3,500 tokens), Table 6 and Appendix E (1k to 20k), Appendix D and Figure 5 (all supports found). The
paper does not say what becomes of a passage that fits in part. Here a context takes whole passages in rank order until
the next would not fit, so a passage longer than what is left ends it, even if a shorter one follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from statsmodels.stats.contingency_tables import mcnemar

from kit.errors import InputError
from kit.evaluation import metrics, statistics
from kit.evaluation.experiment import Experiment

#: What a budget is measured by, the columns of :func:`within_budgets`: passages that fit, and the metrics of these.
_MEASURED = ("passages", "recall", "full")
#: In the column ``supports``: the row of all questions together.
ALL = "all"


def passages_to_rank(tokens: np.ndarray, budget: int) -> int:
    """The length of a ranking that fills the budget (tokens) whatever passages it holds.

    ``tokens`` (passages,) are the lengths of the corpus's passages: no more of them fit than of the shortest ones.
    """
    return int(np.searchsorted(np.cumsum(np.sort(tokens)), budget, side="right"))


def within_budgets(experiment: Experiment, tokens: np.ndarray, budgets: Sequence[int]) -> pd.DataFrame:
    """What the first passages of each ranking hold that fit into each of the ``budgets`` (tokens).

    ``tokens`` (passages,) has the length of each passage of the corpus (``Encoder.count_tokens`` of its full text). A
    row a retriever, question and budget: retriever, question, hops, type, structure, budget, passages (how many fit),
    recall and full (Recall@passages, Full@passages). Raises InputError for lengths that are not those of the corpus, a
    budget below 1, and a ranking that ends before the budget is full though there are more passages to rank.
    """
    corpus = experiment.benchmark.corpus
    if len(tokens) != len(corpus):
        raise InputError(f"expected {len(corpus)} lengths, one a passage, not {len(tokens)}", field="tokens")
    if not budgets or min(budgets) < 1:
        raise InputError(f"expected numbers of tokens from 1, not {list(budgets)}", field="budgets")
    collections = experiment.benchmark.collections
    rows = []
    for question in experiment.questions:
        lengths = tokens if collections is None else tokens[collections[question.id]]
        needed = {budget: passages_to_rank(lengths, budget) for budget in budgets}
        about = {"hops": question.hops, "type": question.type, "structure": question.structure}
        for name, rankings in experiment.rankings.items():
            ids = tuple(dict.fromkeys(rankings[question.id].ids))
            used = np.cumsum(tokens[[corpus.row[id] for id in ids]])
            for budget in budgets:
                fit = int(np.searchsorted(used, budget, side="right"))
                if fit == len(ids) < needed[budget]:
                    raise InputError(
                        f"expected rankings of {needed[budget]} passages for {budget} tokens (k of evaluate), {name} "
                        f"gives {len(ids)}",
                        record=question.id,
                        field="budgets",
                    )
                found = {"recall": metrics.recall_at(question, ids, fit), "full": metrics.full_at(question, ids, fit)}
                row = {"retriever": name, "question": question.id, **about}
                rows.append(row | {"budget": budget, "passages": fit, **found})
    order = {name: number for number, name in enumerate(experiment.rankings)}
    return pd.DataFrame(rows).sort_values("retriever", key=lambda c: c.map(order), kind="stable", ignore_index=True)


def summarise_budgets(
    table: pd.DataFrame, baseline: str, *, by: Sequence[str] = (), seed: int, draws: int = statistics.DRAWS
) -> pd.DataFrame:
    """Means of :func:`within_budgets` over questions, and paired differences to a baseline, with 95 % intervals.

    A row a retriever, budget, group of ``by`` (columns such as hops) and metric (passages, recall, full). Columns:
    retriever, budget, those of ``by``, metric, mean, low, high, n (questions), difference, difference_low,
    difference_high, p (permutation test), p_holm (adjusted for all rows of its metric); the last five are missing for
    the baseline itself.
    """
    rows = []
    for group, of in _groups(table, [*by, "budget"], baseline):
        wide = of.pivot(index="question", columns="retriever", values=list(_MEASURED))
        for metric in _MEASURED:
            values = wide[metric][list(dict.fromkeys(of["retriever"]))]
            means = statistics.intervals(values.to_numpy(float), seed=seed, draws=draws)
            for name, (mean, low, high) in zip(values, means):
                row = {"retriever": name, **group, "metric": metric, "mean": mean, "low": low, "high": high}
                row["n"] = len(values)
                if name != baseline:
                    found = statistics.paired(values[name], values[baseline], seed, draws=draws)
                    row |= {"difference": found.difference, "difference_low": found.low, "difference_high": found.high}
                    row["p"] = found.p
                rows.append(row)
    columns = ["retriever", "budget", *by, "metric", "mean", "low", "high", "n"]
    columns += ["difference", "difference_low", "difference_high", "p"]
    summary = pd.DataFrame(rows, columns=columns)
    summary["p_holm"] = summary.groupby("metric")["p"].transform(lambda p: statistics.holm(p.to_numpy()))
    return summary


def count_found(
    table: pd.DataFrame, baseline: str, metric: str = "full", *, seed: int, draws: int = statistics.DRAWS
) -> pd.DataFrame:
    """Questions with all supports found, by their number of supports and for all together (gnn-ret.txt Figure 5).

    ``table`` has a row a retriever and question: retriever, question, hops and ``metric`` (0 or 1), such as the rows of
    one budget of :func:`within_budgets`, or ``Experiment.table`` with ``full@10``. Columns: retriever, supports (text:
    a number or ``all``), n (questions), found (questions), share; against the baseline, all in questions: gained (found
    here alone), lost (found there alone), difference, low, high (95 %, bootstrap); p (McNemar's exact test), p_holm
    (adjusted for all rows). Those are missing for the baseline.
    """
    groups = [(group["hops"], of) for group, of in _groups(table, ["hops"], baseline)]
    if len(groups) > 1:
        groups.append((ALL, table))
    rows = []
    for supports, of in groups:
        wide = of.pivot(index="question", columns="retriever", values=metric)
        for name in dict.fromkeys(of["retriever"]):
            found, before = wide[name].to_numpy() == 1, wide[baseline].to_numpy() == 1
            row = {"retriever": name, "supports": str(supports), "n": len(found), "found": int(found.sum())}
            row["share"] = found.mean()
            if name != baseline:
                gained, lost = int((found & ~before).sum()), int((before & ~found).sum())
                ends = statistics.interval(found.astype(float) - before, seed, draws=draws)
                row |= {"gained": gained, "lost": lost, "difference": gained - lost}
                row |= {"low": len(found) * ends.low, "high": len(found) * ends.high}
                row["p"] = float(mcnemar([[0, lost], [gained, 0]], exact=True).pvalue) if gained + lost else 1.0
            rows.append(row)
    columns = ["retriever", "supports", "n", "found", "share", "gained", "lost", "difference", "low", "high", "p"]
    counted = pd.DataFrame(rows, columns=columns)
    return counted.assign(p_holm=statistics.holm(counted["p"].to_numpy()))


def _groups(table: pd.DataFrame, by: Sequence[str], baseline: str) -> Iterator[tuple[dict[str, object], pd.DataFrame]]:
    """The rows of each group, with its values of ``by``. Raises InputError for a baseline that is not in the table."""
    names = list(dict.fromkeys(table["retriever"]))
    if baseline not in names:
        raise InputError(f"expected one of {', '.join(names)}, not {baseline!r}", field="baseline")
    for key, of in table.groupby(list(by), sort=True):
        yield dict(zip(by, key)), of
