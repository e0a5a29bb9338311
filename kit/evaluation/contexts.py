"""What fits into a context of so many tokens: whole passages, in the order of a ranking.

As in GNN-Ret, Tables 1 and 6 and Figure 5. Tokens are those that the default encoder counts.
"""

from collections.abc import Sequence

import numpy as np
from numpy import ndarray
from pandas import DataFrame
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests

from kit.corpus import Corpus
from kit.corpus.types import Texts
from kit.evaluation.metrics import full_at, recall_at
from kit.evaluation.results import Experiment
from kit.evaluation.statistics import interval
from kit.text import Encoder

BUDGETS = (1_000, 3_000, 3_500, 5_000, 10_000, 20_000)  # Table 6, and 3,500 as elsewhere
USUAL = 3_500


def token_counts(corpus: Corpus) -> ndarray:
    """How many tokens each passage has (passages,)."""
    texts = [passage.full_text for passage in corpus.passages]
    tokenizer = Encoder().model.tokenizer
    tokenized = tokenizer(
        texts,
        add_special_tokens=False,
        truncation=False,
        padding=False,
        verbose=False,
    )
    return np.array([len(token_ids) for token_ids in tokenized["input_ids"]])


def deepest_rank(tokens: ndarray, budget: int = max(BUDGETS)) -> int:
    """As many passages as could ever fit: the shortest ones."""
    return int((np.sort(tokens).cumsum() <= budget).sum())


def in_contexts(
    experiment: Experiment,
    names: Texts,
    tokens: ndarray,
    budgets: Sequence[int] = BUDGETS,
) -> DataFrame:
    """What of the supports is in a context: a row per method, question and budget.

    Columns: retriever, question, hops, budget, passages (that fit), recall, full.
    """
    corpus = experiment.benchmark.corpus
    rows = []
    for name in names:
        for question in experiment.questions:
            ids = experiment.rankings[name][question.id].ids
            used = tokens[[corpus.row[passage] for passage in ids]].cumsum()
            for budget in budgets:
                n_fit = int((used <= budget).sum())  # until the next would not fit
                recall = recall_at(question, ids, n_fit)
                full = full_at(question, ids, n_fit)
                rows.append((name, question.id, question.hops, budget, n_fit, recall, full))
    columns = ["retriever", "question", "hops", "budget", "passages", "recall", "full"]
    return DataFrame(rows, columns=columns)


def by_question(contexts: DataFrame, budget: int, metric: str = "full") -> DataFrame:
    """A metric in contexts of one budget: questions × methods."""
    chosen = contexts[contexts["budget"] == budget]
    return chosen.pivot(index="question", columns="retriever", values=metric)


def counts_by_supports(
    contexts: DataFrame,
    name: str,
    over: str,
    budget: int = USUAL,
    **draws: int,
) -> DataFrame:
    """Questions with all supports in the context, by the number of supports (Figure 5).

    ``gained`` are those that ``name`` has and ``over`` misses, ``lost`` the reverse; p is of
    McNemar's exact test. ``difference``, low and high are counts.
    """
    full = by_question(contexts, budget)
    hops = contexts.drop_duplicates("question").set_index("question")["hops"]
    groups = {str(n): full[hops.loc[full.index] == n] for n in sorted(hops.unique())}
    rows = []
    for supports, values in {**groups, "all": full}.items():
        after = values[name]
        before = values[over]
        gained = int((after > before).sum())
        lost = int((after < before).sum())
        change = interval((after - before).to_numpy(), **draws)
        rows.append(
            {
                "retriever": name,
                "supports": supports,
                "n": len(values),
                "share": after.mean(),
                "share_before": before.mean(),
                "gained": gained,
                "lost": lost,
                "difference": gained - lost,
                "low": len(values) * change.low,
                "high": len(values) * change.high,
                "p": binomtest(lost, gained + lost).pvalue if gained + lost else 1.0,
            }
        )
    counted = DataFrame(rows)
    counted["p_holm"] = multipletests(counted["p"].to_numpy(), method="holm")[1]
    return counted
