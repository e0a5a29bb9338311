"""What is measured for claims of BGR where it is more than one difference."""

from collections.abc import Mapping

import numpy as np
from numpy import ndarray
from numpy.random import default_rng
from pandas import DataFrame
from sklearn.linear_model import LogisticRegression

from kit.corpus.types import Texts
from kit.evaluation.statistics import (
    N_RESAMPLES,
    Estimate,
    best_elsewhere,
    diff_of_means,
    estimate,
    paired,
    slope,
)
from kit.lab.claims.findings import FLOOR

HARDEST = "multi-chain multi-hop"
SIMPLEST = "single-chain single-hop"


def bgr_04(recalls: DataFrame, **draws: int) -> dict[str, Estimate]:
    """Forward accuracy drops with depth and backward accuracy does not.

    ``recalls`` has a row per question and depth with the share of edges that ``forward`` and
    ``backward`` find. A slope that begins near the floor is flat whatever happens, so depths at
    which a direction has less than 5 % are left out. Of each criterion; none where one depth is
    left.
    """
    levels = recalls.groupby("depth")[["forward", "backward"]].mean()
    kept = levels.index[levels.min(axis=1) >= FLOOR]
    rows = recalls[recalls["depth"].isin(kept)]
    if len(kept) < 2:
        return {}
    difference = rows["backward"] - rows["forward"]
    values = {
        "forward": rows["forward"],
        "backward": rows["backward"],
        "backward over forward": difference,
    }
    slopes = {}
    for criterion, of_depth in values.items():
        slopes[criterion] = slope(rows["depth"], of_depth, questions=rows["question"], **draws)
    return slopes


def bgr_07(
    matched: Mapping[str, ndarray],
    structures: Texts,
    **draws: int,
) -> dict[str, Estimate]:
    """Merging helps multi-chain multi-hop questions most, and slightly hurts the simplest ones.

    ``matched`` has the graph match (n, seeds) of ``bgr``, ``forward`` and ``backward``. The gain is
    over the better direction of each structure, chosen on the other half of its questions. Of each
    criterion; none where a structure has fewer than two questions.
    """
    gains = {}
    for structure in (HARDEST, SIMPLEST):
        rows = np.flatnonzero(np.asarray(structures) == structure)
        if len(rows) < 2:
            return {}
        single, _ = best_elsewhere({name: matched[name][rows] for name in ("forward", "backward")})
        gains[structure] = matched["bgr"][rows] - single
    simplest = gains[SIMPLEST]
    return {
        "interaction": diff_of_means(gains[HARDEST], simplest, **draws),
        "simplest": paired(simplest, 0 * simplest, **draws)._replace(rival=np.nan),
    }


def bgr_11(
    measures: ndarray,
    answered: ndarray,
    n_questions: int,
    seed: int = 0,
    n_resamples: int = N_RESAMPLES,
) -> Estimate:
    """Good answers need the set and the structure: the set alone does not foretell them.

    The coefficient of graph match in a logistic model of right answers. ``measures`` (rows, 3) are
    set F1, set EM and GM: an exact graph is an exact set, so without set EM the coefficient would
    be that of the set. The rows are methods × questions; questions are drawn whole.
    """
    repeats = len(answered) // n_questions
    share = [1 / n_questions] * n_questions
    counts = default_rng(seed).multinomial(n_questions, share, n_resamples)
    coefficients = []
    for weights in (np.ones(n_questions), *counts):
        model = LogisticRegression(C=100)
        model.fit(measures, answered, np.tile(weights, repeats))
        coefficients.append(model.coef_[0, 2])
    return estimate(coefficients[0], np.array(coefficients[1:]), n_questions)
