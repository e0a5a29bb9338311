"""What is measured for claims of GNN-Ret where it is more than one difference."""

from collections.abc import Sequence

import numpy as np
from numpy import ndarray

from kit.corpus import Question
from kit.corpus.types import Texts
from kit.evaluation.statistics import N_RESAMPLES, Estimate, estimate, resampled_sums

AROUND = 3  # ranks above and below a passage, in which others are compared with it


def gnn_ret_11(
    recalls: ndarray,
    alphas: Sequence[float],
    seed: int = 0,
    n_resamples: int = N_RESAMPLES,
) -> Estimate:
    """The best α of one layer is below one half: a neighbour's distance weighs more than one's own.

    ``recalls`` (dev questions, alphas) are Recall@10 with each. The interval is of the α that is
    best on resampled questions; of equals the largest, which speaks least for the claim.
    """
    alphas = np.asarray(alphas, float)
    descending = np.argsort(-alphas)
    sums = resampled_sums(recalls[:, descending], seed=seed, n_resamples=n_resamples)
    samples = alphas[descending][sums.round(9).argmax(axis=1)]
    best = recalls[:, descending].sum(axis=0).round(9).argmax()
    return estimate(alphas[descending][best], samples, len(recalls))


def gnn_ret_18(question: Question, before: Texts, after: Texts) -> tuple[float, float]:
    """Supports that hold the answer lie farther away, and the graph lifts exactly those.

    The ranks that the last supports of a question's evidence gain from the ranking ``before`` the
    messages to that ``after`` them, and those that the first gain; each less what other passages of
    about the same rank gain. nan where a support is not ranked.
    """
    chain = question.evidence.to_networkx()
    gained = []
    for degree in (chain.out_degree, chain.in_degree):
        supports = [question.supporting[node] for node in chain if not degree(node)]
        gained.append(_gained_beyond_rank(question, supports, list(before), after))
    last, first = gained
    return last, first


def _gained_beyond_rank(
    question: Question,
    supports: Sequence[Texts],
    before: list[str],
    after: Texts,
) -> float:
    ranks = np.arange(len(before))
    rank_after = {passage: rank for rank, passage in enumerate(after)}
    gained = ranks - [rank_after.get(passage, len(after)) for passage in before]
    is_other = ~np.isin(before, question.supporting_ids)

    beyond = []
    for carriers in supports:
        ranked = set(carriers) & set(before)
        if ranked:
            rank = min(map(before.index, ranked))
            around = is_other & (abs(ranks - rank) <= AROUND)
            if around.any():
                beyond.append(gained[rank] - gained[around].mean())
    return float(np.mean(beyond)) if beyond else np.nan
