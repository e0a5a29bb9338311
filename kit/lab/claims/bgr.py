"""What is measured for the claims of BGR.

``graphs`` is the experiment of :mod:`kit.lab.claims.bgr_graphs`, ``trained`` are all retrievers
that learned, by name with their seeds.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy import ndarray
from numpy.random import default_rng
from pandas import DataFrame
from sklearn.linear_model import LogisticRegression

from kit.corpus.types import Texts
from kit.evaluation import Experiment, all_seeds, per_seed
from kit.evaluation.statistics import (
    N_RESAMPLES,
    Estimate,
    best_elsewhere,
    diff_of_means,
    estimate,
    interval,
    paired,
    slope,
)
from kit.lab.claims.bgr_answers import EvidenceAnswers
from kit.lab.claims.bgr_graphs import (
    MAY_BE_EMPTY,
    RULES,
    reading,
    set_f1,
)
from kit.lab.claims.findings import FLOOR, too_low
from kit.lab.claims.measured import Measured
from kit.methods import Retriever

HARDEST = "multi-chain multi-hop"
SIMPLEST = "single-chain single-hop"
SETS = {"set F1": "evidence_f1", "set EM": "evidence_em"}
CHAIN_RETRIEVERS = ("grr", "mdr")
SINGLE_SHOTS = ("dense", "bm25", "dpr")
LEARNING = ("dpr", "mdr", "grr")  # rivals that learn
ORDER_UNREAD = "an extractive reader cannot tell the order of passages"
ONE_NETWORK = "one network reads the facts once for both directions; the paper has two"

Trained = Mapping[str, Retriever]


def bgr_01(
    graphs: Experiment,
    trained: Trained,
    answers: EvidenceAnswers | None = None,
) -> Iterator[Measured]:
    """The merged search in both directions is best on graphs, on evidence sets and on answers at
    once.

    Merged minus the better single direction, chosen on the other half of the questions; a case is
    a reading of Eq. 3, or what the kit has in its place.
    """
    networks = all_seeds(trained, "bgr")
    ways = {f"rule: {rule}": reading(rule) for rule in RULES}
    ways |= {
        "chosen on dev": "chosen",
        "the most likely graph": "likely",
    }
    for case, name in ways.items():
        for criterion, measure in ({"GM": "gm"} | SETS).items():
            merged = _values(graphs, name, measure)
            gain = paired(
                merged,
                _better_direction(graphs, measure),
                **graphs.draws,
            )
            yield Measured(gain, criterion, case, networks)
    if answers:
        single, _ = best_elsewhere({name: answers.right[name] for name in ("forward", "backward")})
        gain = paired(answers.right["bgr"], single, **graphs.draws)
        yield Measured(
            gain,
            "answers",
            "rule: code",
            networks,
            untestable=answers.why_unread,
        )


def bgr_02(graphs: Experiment, trained: Trained) -> Iterator[Measured]:
    """Searching backward from the last evidence builds far better graphs than searching forward."""
    for criterion, measure in (("GM", "gm"), ("GS", "gs")):
        gain = graphs.gain("backward", over="forward", metric=measure)
        yield Measured(gain, criterion, trained=all_seeds(trained, "bgr"))


def bgr_03(graphs: Experiment, trained: Trained) -> Iterator[Measured]:
    """Forward search is the better one for the evidence set.

    A case is that a search has at least one piece of evidence, or may have none.
    """
    for criterion, measure in SETS.items():
        for case, end in (
            ("at least one evidence", ""),
            ("may be empty", MAY_BE_EMPTY),
        ):
            ahead = _values(graphs, f"forward{end}", measure)
            back = _values(graphs, f"backward{end}", measure)
            gain = paired(ahead, back, **graphs.draws)
            yield Measured(gain, criterion, case, all_seeds(trained, "bgr"))


def bgr_04(recalls: DataFrame, trained: Trained, **draws: int) -> Iterator[Measured]:
    """Forward accuracy drops with depth and backward accuracy does not, so merging repairs deep
    graphs.

    ``recalls`` are those of :func:`kit.lab.claims.bgr_graphs.recalls_by_depth`.
    """
    keys = ["question", "depth"]
    wide = recalls.pivot_table("recall", keys, "retriever").reset_index()
    for criterion, of_depth in slopes_by_depth(wide, **draws).items():
        yield Measured(of_depth, criterion, trained=all_seeds(trained, "bgr"))


def slopes_by_depth(recalls: DataFrame, **draws: int) -> dict[str, Estimate]:
    """The slope over depth of each direction and of their difference.

    ``recalls`` has a row per question and depth with the share of edges that ``forward`` and
    ``backward`` find. A slope that begins near the floor is flat whatever happens, so depths at
    which a direction has less than 5 % are left out. None where one depth is left.
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
        slopes[criterion] = slope(
            rows["depth"],
            of_depth,
            questions=rows["question"],
            **draws,
        )
    return slopes


def bgr_05(graphs: Experiment, trained: Trained) -> Iterator[Measured]:
    """Retrievers of chains are precise but miss evidence beside the chain; the search in both
    directions gets it back.

    A case is a retriever of chains.
    """
    merged = _values(graphs, "bgr", "evidence_recall")
    several = np.array([len(question.evidence.chains) > 1 for question in graphs.questions])
    for name in CHAIN_RETRIEVERS:
        networks = all_seeds(trained, "bgr", name)
        recall = _values(graphs, name, "evidence_recall")
        precision = _values(graphs, name, "evidence_precision")
        narrow = paired(precision, recall, **graphs.draws)
        yield Measured(narrow, "precision over recall", name, networks)
        gain = paired(merged, recall, **graphs.draws)
        yield Measured(gain, "recall gained", name, networks)
        if several.any() and not several.all():
            gained = merged - recall
            more = diff_of_means(gained[several], gained[~several], **graphs.draws)
            yield Measured(more, "more in multi-chain", name, networks)


def bgr_06(
    graphs: Experiment,
    trained: Trained,
    inner: Mapping[str, float],
) -> Iterator[Measured]:
    """An intermediate γ balances graph and set best.

    ``inner`` has for each reading of Eq. 3, a case, the γ between 0 and 1 that is best on dev
    questions.
    """
    for rule, gamma in inner.items():
        balanced = _balance(graphs, reading(rule, gamma))
        for end in (0.0, 1.0):
            gain = paired(
                balanced,
                _balance(graphs, reading(rule, end)),
                **graphs.draws,
            )
            yield Measured(
                gain,
                f"over γ = {end:g}",
                f"rule: {rule}",
                all_seeds(trained, "bgr"),
                how=f"the mean of GM and F1 at γ = {gamma:g}, chosen on dev, minus at each end",
            )


def bgr_07(graphs: Experiment, trained: Trained) -> Iterator[Measured]:
    """Merging helps multi-chain multi-hop questions most, and slightly hurts the simplest ones."""
    matched = {name: _values(graphs, name, "gm") for name in ("bgr", "forward", "backward")}
    structures = [question.structure for question in graphs.questions]
    for criterion, gain in gains_by_structure(matched, structures, **graphs.draws).items():
        yield Measured(gain, criterion, trained=all_seeds(trained, "bgr"))


def gains_by_structure(
    matched: Mapping[str, ndarray],
    structures: Texts,
    **draws: int,
) -> dict[str, Estimate]:
    """What merging gains for the hardest questions over the simplest, and for these alone.

    ``matched`` has the graph match (n, seeds) of ``bgr``, ``forward`` and ``backward``. The gain is
    over the better direction of each structure, chosen on the other half of its questions. None
    where a structure has fewer than two questions.
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


def bgr_08(graphs: Experiment, trained: Trained) -> Iterator[Measured]:
    """Graphs with more chains and hops are built less exactly."""
    sizes = []
    for question in graphs.questions:
        chains = question.evidence.chains
        sizes.append(len(chains) + max(map(len, chains)))
    matched = _values(graphs, "bgr", "gm")
    if len(set(sizes)) > 1:
        by_size = slope(sizes, matched, **graphs.draws)
        networks = all_seeds(trained, "bgr")
        yield Measured(
            by_size,
            trained=networks,
            untestable=too_low(matched.mean()),
        )


def bgr_09(
    right: Mapping[str, ndarray],
    case: str,
    trained: Sequence[Retriever] = (),
    untestable: str = "",
    **draws: int,
) -> Iterator[Measured]:
    """Telling the reader how the evidence hangs together improves answers.

    ``right`` has the exact match of answers from the right evidence ``with`` its graph and
    ``without``.
    """
    gain = paired(right["with"], right["without"], **draws)
    yield Measured(gain, case=case, trained=trained, untestable=untestable)


def bgr_10(graphs: Experiment, trained: Trained, sizes: Mapping[str, int]) -> Iterator[Measured]:
    """Retrieval trained on evidence graphs beats single-shot and chain retrieval for evidence.

    A case is a rival: with the true number of facts, and single shots also with the number,
    ``sizes``, that is best on dev questions.
    """
    merged = _values(graphs, "bgr", "evidence_f1")
    for name in (*SINGLE_SHOTS, "mdr", "grr"):
        over = paired(
            merged,
            _values(graphs, name, "evidence_f1"),
            **graphs.draws,
        )
        yield Measured(over, case=name, trained=_with_rival(trained, name))
    for name, k in sizes.items():
        rival = set_f1(graphs.questions, graphs.rankings[name], k)[:, None]
        over = paired(merged, rival, **graphs.draws)
        case = f"{name}, k chosen on dev: {k}"
        yield Measured(over, case=case, trained=_with_rival(trained, name))


def bgr_11(
    answers: EvidenceAnswers,
    trained: Trained,
    seed: int = 0,
    n_resamples: int = 1_000,
) -> Iterator[Measured]:
    """Good answers need the set and the structure: the set alone does not foretell them."""
    if 0 < answers.exact.sum() < len(answers.exact):
        n_questions = len(answers.right["bgr"])
        coefficient = coefficient_of_graphs(
            answers.measures,
            answers.exact,
            n_questions,
            seed=seed,
            n_resamples=n_resamples,
        )
        yield Measured(
            coefficient,
            case="reader ras",
            trained=all_seeds(trained, "bgr", "dpr", "mdr"),
            untestable=answers.why_unread,
        )


def coefficient_of_graphs(
    measures: ndarray,
    exact: ndarray,
    n_questions: int,
    seed: int = 0,
    n_resamples: int = N_RESAMPLES,
) -> Estimate:
    """The coefficient of graph match in a logistic model of right answers, ``exact`` (rows,).

    ``measures`` (rows, 3) are set F1, set EM and GM: an exact graph is an exact set, so without
    set EM the coefficient would be that of the set. The rows are methods × questions; questions
    are drawn whole.
    """
    repeats = len(exact) // n_questions
    share = [1 / n_questions] * n_questions
    counts = default_rng(seed).multinomial(n_questions, share, n_resamples)
    coefficients = []
    for weights in (np.ones(n_questions), *counts):
        model = LogisticRegression(C=100)
        model.fit(measures, exact, np.tile(weights, repeats))
        coefficients.append(model.coef_[0, 2])
    return estimate(coefficients[0], np.array(coefficients[1:]), n_questions)


def bgr_12(graphs: Experiment, trained: Trained) -> Iterator[Measured]:
    """Comparison and boolean questions are easiest for evidence; no count question gets its graph
    exactly.
    """
    networks = all_seeds(trained, "bgr")
    merged = _values(graphs, "bgr", "evidence_f1")
    types = np.array([question.type for question in graphs.questions])
    others = ~np.isin(types, ["comparison", "boolean"])
    for kind in ("comparison", "boolean"):
        if (types == kind).sum() > 1 and others.sum() > 1:
            easier = diff_of_means(
                merged[types == kind],
                merged[others],
                **graphs.draws,
            )
            yield Measured(easier, kind, trained=networks)

    count = types == "count"
    if count.sum() > 1:
        sizes = [q.evidence.n_nodes for q in graphs.questions if q.type == "count"]
        largest = max(sizes)
        why = f"count questions have at most {largest} facts" if largest < 5 else ""
        counted = interval(_values(graphs, "bgr", "gm")[count], **graphs.draws)
        yield Measured(
            counted,
            "GM of count",
            trained=networks,
            untestable=why,
        )


def bgr_13(seconds: Mapping[str, ndarray], trained: Trained, **draws: int) -> Iterator[Measured]:
    """Two directions cost about twice one.

    ``seconds`` per question are of ``both``, ``forward`` and ``backward``.
    """
    ratio = seconds["both"] / (seconds["forward"] + seconds["backward"])
    networks = all_seeds(trained, "bgr")
    yield Measured(
        interval(ratio, **draws),
        trained=networks,
        untestable=ONE_NETWORK,
    )


def bgr_14(graphs: Experiment, trained: Trained, model: str) -> Iterator[Measured]:
    """Few-shot language models find the wrong evidence, yet get the shape of the graph
    comparatively right.

    GS minus GM of a chat model, ``model``, minus that of a trained retriever, a case.
    """
    in_shape = _shape_alone(graphs, model)
    for name in ("forward", "backward", "bgr", "mdr"):
        gap = paired(in_shape, _shape_alone(graphs, name), **graphs.draws)
        yield Measured(gap, case=name, trained=_with_rival(trained, name))


def _values(graphs: Experiment, name: str, measure: str) -> ndarray:
    """A measure of a graph, (questions, seeds)."""
    return per_seed(graphs, name, measure).to_numpy()


def _better_direction(graphs: Experiment, measure: str) -> ndarray:
    """The direction that alone has more, chosen on the other half of the questions."""
    single = {name: _values(graphs, name, measure) for name in ("forward", "backward")}
    return best_elsewhere(single)[0]


def _balance(graphs: Experiment, name: str) -> ndarray:
    """The mean of GM and F1."""
    return (_values(graphs, name, "gm") + _values(graphs, name, "evidence_f1")) / 2


def _shape_alone(graphs: Experiment, name: str) -> ndarray:
    return _values(graphs, name, "gs") - _values(graphs, name, "gm")


def _with_rival(trained: Trained, name: str) -> tuple[Retriever, ...]:
    """All seeds of BGR, and of the rival where it learns."""
    rivals = [name] if name in LEARNING else []
    return all_seeds(trained, "bgr", *rivals)
