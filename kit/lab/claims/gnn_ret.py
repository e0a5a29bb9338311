"""The claims of GNN-Ret: each function yields what was measured for its claim.

``networks`` are trained retrievers by name, all seeds (:func:`kit.evaluation.of_seeds`). ``draws``
are the seed and the resamples of intervals. Tables are those of
:mod:`kit.lab.claims.gnn_ret_measures`, :mod:`kit.evaluation.contexts` and
:mod:`kit.evaluation.sub_questions`.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np
from numpy import ndarray
from pandas import DataFrame

from kit.corpus.types import Texts
from kit.evaluation import SEED, Experiment, all_seeds, per_question, statistics
from kit.evaluation.contexts import USUAL, by_question
from kit.evaluation.statistics import Estimate
from kit.graphs import PassageGraph
from kit.lab.claims.findings import FEW
from kit.lab.claims.gnn_ret_answers import POLICIES, Answers, Loops
from kit.lab.claims.gnn_ret_measures import ALPHAS, best_alpha
from kit.lab.claims.measured import Measured
from kit.methods import Retriever

Networks = Mapping[str, Retriever]
BASELINES = ("bm25", "tfidf", "dense", "dpr")
USUAL_CELL = "K = 5, O = 25"  # of the grid
METRIC = "recall@10"


def _gain(values: DataFrame, name: str, over: str, **draws: int) -> Estimate:
    """The paired difference of two columns of questions × methods."""
    return statistics.paired(values[name], values[over], **draws)


# ---- one query (Tables 1, 4 and 6, Figure 5)


def gnn_ret_01(contexts: DataFrame, **draws: int) -> Iterator[Measured]:
    """One pass of min-messages over the passage graph finds all supports for more questions than
    the distances that it starts from.
    """
    full = by_question(contexts, USUAL)
    yield Measured(_gain(full, "gnn-ret", "dense", **draws))


def gnn_ret_13(contexts: DataFrame, **draws: int) -> Iterator[Measured]:
    """The gain over SBERT holds at every context size from 1,000 to 20,000 tokens."""
    for budget in sorted(set(contexts["budget"]) - {USUAL}):
        full = by_question(contexts, budget)
        gain = _gain(full, "gnn-ret", "dense", **draws)
        yield Measured(gain, case=f"{budget:,} tokens")


def gnn_ret_02(
    experiment: Experiment, networks: Networks, answers: Answers | None = None
) -> Iterator[Measured]:
    """A single retrieval by GNN-Ret gives better answers than BM25, DPR and SBERT on four sets."""
    baselines = [name for name in BASELINES if name in experiment.rankings]
    for k, baseline in product((10, 17), baselines):
        gain = experiment.gain(
            "gnn-ret",
            over=baseline,
            metric=f"recall@{k}",
        )
        yield Measured(
            gain,
            f"Recall@{k}",
            baseline,
            all_seeds(networks, baseline),
        )

    for baseline in ("bm25", "dpr", "dense"):
        if answers and baseline in answers.right:
            right = answers.right
            gain = _gain(right, "gnn-ret", baseline, **experiment.draws)
            first_seeds = [networks[baseline]] if baseline in networks else []
            trained = (*answers.taught, *first_seeds)
            yield Measured(
                gain,
                "answers",
                baseline,
                trained,
                untestable=answers.unread,
            )


def gnn_ret_14(
    experiment: Experiment, networks: Networks, by_reader: Sequence[Answers] = ()
) -> Iterator[Measured]:
    """The gain does not depend on the language model."""
    for name, over in (("gnn-ret", "dense"), ("gnn-ret on dpr", "dpr")):
        if name in experiment.rankings:
            gain = experiment.gain(name, over=over, metric=METRIC)
            trained = all_seeds(networks, over)
            yield Measured(
                gain,
                "recall",
                f"distances of {over}",
                trained,
            )

    for answers in by_reader:
        right = answers.right
        gain = _gain(right, "gnn-ret", "dense", **experiment.draws)
        case = f"reader {answers.reader}, {answers.size}"
        yield Measured(
            gain,
            "answers",
            case,
            answers.taught,
            untestable=answers.unread,
        )


# ---- the parts (Tables 2 and 3, section 3.2)


def gnn_ret_03(parts: Experiment, networks: Networks) -> Iterator[Measured]:
    """Passing on the minimum of the neighbours beats passing on their mean."""
    senders = parts.gain("gnn-ret", over="mean", metric=METRIC)
    yield Measured(senders, case="untrained, mean of senders")
    # K is the same in both.
    everyone = parts.gain(
        "all send",
        over="all send, mean",
        metric=METRIC,
    )
    yield Measured(everyone, case="untrained, mean of all neighbours")
    if networks:
        trained = parts.gain(
            "trained",
            over="trained, mean",
            metric=METRIC,
        )
        seeds = all_seeds(networks, "trained", "trained, mean")
        yield Measured(
            trained,
            case="trained, mean of senders",
            trained=seeds,
        )


def gnn_ret_04(parts: Experiment, has_adjacency: bool) -> Iterator[Measured]:
    """Edges between adjacent passages and edges of shared keywords each help, and both together
    help most.

    Adjacency needs documents of several passages.
    """
    keywords = parts.gain(
        "shared entities",
        over="dense",
        metric=METRIC,
    )
    yield Measured(keywords, "keywords over none")
    if has_adjacency:
        adjacency = parts.gain(
            "adjacent passages",
            over="dense",
            metric=METRIC,
        )
        yield Measured(adjacency, "adjacency over none")
        single = ["shared entities", "adjacent passages"]
        union, _ = parts.gain_over_best("gnn-ret", single, METRIC)
        yield Measured(union, "both over the better one")


def gnn_ret_05(
    parts: Experiment | None = None, reports: Experiment | None = None
) -> Iterator[Measured]:
    """Which edges matter depends on the data: keywords across documents, adjacency inside one long
    story.

    ``parts`` are of documents of a few passages, ``reports`` of long ones.
    """
    if parts:
        alone = parts.gain(
            "adjacent passages",
            over="dense",
            metric=METRIC,
        )
        why = f"adjacency changes {alone.differ} questions" if alone.differ < FEW else ""
        across = parts.gain(
            "adjacent passages",
            over="shared entities",
            metric=METRIC,
        )
        yield Measured(across, "across documents", untestable=why)
    if reports:
        within = reports.gain(
            "adjacent passages",
            over="shared entities",
            metric=METRIC,
        )
        case = f"{len(reports.benchmark.corpus.documents)} documents"
        yield Measured(within, "long documents", case)


def gnn_ret_16(parts: Experiment) -> Iterator[Measured]:
    """Letting only the K nearest passages send is better, and cheaper, than letting all send."""
    for case, name in (("K = 5", "gnn-ret"), ("K = 10", "K = 10")):
        gain = parts.gain(name, over="all send", metric=METRIC)
        saved = parts.gain("all send", over=name, metric="seconds")
        yield Measured(gain, "recall", case)
        yield Measured(saved, "time saved", case)


# ---- training (Tables 1 and 7, Figure 4)


def gnn_ret_10(
    experiment: Experiment, networks: Networks, trained: str, untrained: str, case: str
) -> Iterator[Measured]:
    """Training α on 20 questions improves on α = .5.

    ``case`` is GNN-Ret or RGNN-Ret.
    """
    gain = experiment.gain(trained, over=untrained, metric=METRIC)
    yield Measured(
        gain,
        case=case,
        trained=all_seeds(networks, trained),
    )


def gnn_ret_11(
    recalls: ndarray, alphas: Sequence[float] = ALPHAS, **draws: int
) -> Iterator[Measured]:
    """The learned α of one layer is below one half: a neighbour's distance weighs more than a
    passage's own.

    ``recalls`` (dev questions, alphas) are Recall@10 with each.
    """
    if len(recalls) > 1:
        yield Measured(best_alpha(recalls, alphas, **draws), trained=())


def gnn_ret_12(layers: Experiment, networks: Networks) -> Iterator[Measured]:
    """One, two and three layers perform alike."""
    for name, count in (("depth 2", "two"), ("depth 3", "three")):
        gain = layers.gain(name, over="depth 1", metric=METRIC)
        seeds = all_seeds(networks, "depth 1", name)
        yield Measured(gain, f"{count} over one", trained=seeds)


def gnn_ret_15(
    grid: Experiment, networks: Networks, cells: Texts, usual: str = USUAL_CELL
) -> Iterator[Measured]:
    """Results are stable over the numbers of senders K and of competitors O."""
    for name in cells:
        if name != usual and usual in cells:
            gain = grid.gain(name, over=usual, metric=METRIC)
            yield Measured(
                gain,
                case=name,
                trained=all_seeds(
                    networks,
                    name,
                    usual,
                ),
            )


# ---- sub-questions (Table 2, section 3.3)


def gnn_ret_06(
    experiment: Experiment, in_steps: Texts, loops: Loops | None = None
) -> Iterator[Measured]:
    """Recurrence over sub-questions and the graph each help, and are best together.

    ``in_steps`` are the ids of the questions that have sub-questions.
    """
    draws = experiment.draws
    if in_steps:
        full = per_question(experiment, "full@17").loc[list(in_steps)]
        none = full["sub-questions alone"]
        single = {"graph": full["graph, no memory"], "memory": full["memory, no graph"]}
        better, _ = statistics.best_elsewhere(single)
        for criterion, variant, rival in (
            ("recurrence over none", full["memory, no graph"], none),
            ("graph over none", full["graph, no memory"], none),
            ("both over none", full["rgnn-ret"], none),
            ("both over the better one", full["rgnn-ret"], better),
        ):
            gain = statistics.paired(variant, rival, **draws)
            yield Measured(gain, criterion, "gold sub-questions")

    if loops and {"rgnn-ret", "sub-questions alone"}.issubset(loops.values.get("answers", ())):
        right = loops.values["answers"]
        gain = _gain(right, "rgnn-ret", "sub-questions alone", **draws)
        yield Measured(
            gain,
            "answers",
            "planned: both over none",
            loops.trained["answers"],
            untestable=loops.unread["answers"],
        )


def gnn_ret_07(wrong: DataFrame, without: str, **draws: int) -> Iterator[Measured]:
    """Recurrence makes later steps robust against wrong sub-questions.

    The loss of a step's recall through wrong bridges, of the method ``without`` memory minus that
    of each other.
    """
    if wrong.empty:
        return
    recall = wrong.pivot_table(
        index="question",
        columns=["retriever", "share"],
        values="recall",
    )
    loss = {}
    for name in recall.columns.unique("retriever"):
        loss[name] = recall[name][[0.0]].to_numpy() - recall[name]
    remembering = [name for name in wrong["retriever"].unique() if name != without]
    for share in sorted(set(wrong["share"]) - {0.0}):
        for name in remembering:
            spared = statistics.paired(
                loss[without][share],
                loss[name][share],
                **draws,
            )
            case = f"{name.removeprefix('rgnn-ret, ')}, {share:.0%} wrong"
            yield Measured(spared, case=case)


def gnn_ret_09(recalls: DataFrame, networks: Networks, **draws: int) -> Iterator[Measured]:
    """As a step's training target, supports of this and later steps beat this step's support, which
    beats all supports.

    ``recalls`` are of steps, of all seeds of ``target: all``, ``own`` and ``later``.
    """
    if recalls.empty:
        return
    of_steps = recalls.pivot_table(
        index="question",
        columns="retriever",
        values="recall",
    )
    columns = {}
    for target in ("all", "own", "later"):
        name = f"target: {target}"
        columns[target] = [column for column in of_steps if column.split(SEED)[0] == name]
    for better, rival in (("later", "own"), ("own", "all")):
        gain = statistics.paired(
            of_steps[columns[better]],
            of_steps[columns[rival]],
            **draws,
        )
        seeds = all_seeds(
            networks,
            f"target: {better}",
            f"target: {rival}",
        )
        yield Measured(gain, f"{better} over {rival}", trained=seeds)


# ---- loops of a language model (Tables 1 and 8, Figure 2)


def gnn_ret_08(loops: Loops, **draws: int) -> Iterator[Measured]:
    """Sub-questions with self-critique on RGNN-Ret beat other multi-step methods.

    The rivals are all loops, RAS, and KGP's walks.
    """
    rivals = [f"{name}{loops.suffix}" for name in (*POLICIES, "ras")] + ["kgp-t5", "kgp-mdr"]
    for criterion, values in loops.values.items():
        has_critique = "self-critique" in values
        name = "self-critique" if has_critique else f"rgnn-ret{loops.suffix}"
        among = {rival: values[rival] for rival in rivals if rival in values}
        best, chosen = statistics.best_elsewhere(among)
        uncritical = "" if has_critique else "no self-critique: a small plan is its own"
        yield Measured(
            statistics.paired(values[name], best, **draws),
            criterion,
            f"over {' and '.join(chosen)}",
            loops.trained[criterion],
            untestable=loops.bound or uncritical or loops.unread[criterion],
        )


def gnn_ret_19(
    loops: Loops | None = None, steps: Experiment | None = None, in_steps: Texts = (), **draws: int
) -> Iterator[Measured]:
    """One query with GNN-Ret reaches what methods with many calls of a language model reach.

    Golden sub-questions, of the experiment ``steps``, are a bound.
    """
    if steps and in_steps:
        full = per_question(steps, "full@17").loc[list(in_steps)]
        bound = _gain(full, "gnn-ret", "sub-questions alone", **draws)
        why = "a bound: the other sees gold sub-questions and answers"
        yield Measured(
            bound,
            "recall",
            "gold plan",
            untestable=why,
        )

    for criterion, values in loops.values.items() if loops else ():
        for policy in POLICIES:
            name = f"{policy}{loops.suffix}"
            yield Measured(
                _gain(values, "gnn-ret", name, **draws),
                criterion,
                f"than {name}",
                loops.trained[criterion],
                untestable=loops.bound or loops.unread[criterion],
            )


def gnn_ret_20(loops: Loops, **draws: int) -> Iterator[Measured]:
    """RGNN retrieval improves IRCoT and ITER-RETGEN as well."""
    for criterion, values in loops.values.items():
        for policy in POLICIES:
            name = f"{policy}{loops.suffix}"
            lifted = f"{name}, rgnn-ret"
            if lifted in values:
                yield Measured(
                    _gain(values, lifted, name, **draws),
                    criterion,
                    name,
                    loops.trained[criterion],
                    untestable=loops.bound or loops.unread[criterion],
                )


def gnn_ret_21(stops: DataFrame, model: str, **draws: int) -> Iterator[Measured]:
    """Asking whether the sub-answers suffice stops better than SelfAsk does.

    ``stops`` is :func:`kit.lab.claims.gnn_ret_answers.stops` of a language model.
    """
    right = stops.astype(float)
    gain = statistics.paired(right["self-critique"], right["selfask"], **draws)
    yield Measured(gain, case=model, trained=())


# ---- cost, supports, graphs (section 7, Figure 1, Table 5)


def gnn_ret_17(times: DataFrame, seconds_per_query: float, **draws: int) -> Iterator[Measured]:
    """Message passing costs next to nothing: linear in K times the neighbours.

    ``seconds_per_query`` is the time of a whole query, its encoding included.
    """
    growth = statistics.slope(
        np.log(times["edges"]),
        np.log(times["seconds_messages"]),
        questions=times["question"],
        **draws,
    )
    yield Measured(growth, "exponent")
    five = times[times["top_k"] == 5]
    share = statistics.interval(five["seconds_messages"] / seconds_per_query, **draws)
    yield Measured(share, "share of query time")


def gnn_ret_18(ranks: DataFrame, gained: DataFrame, **draws: int) -> Iterator[Measured]:
    """Supports that hold the answer lie farther from the question than those of its background, and
    the graph lifts exactly those.

    Both tables have a column for the ``first`` supports of the evidence and one for the ``last``.
    """
    if len(ranks):
        yield Measured(_gain(ranks, "last", "first", **draws), "rank")
    if len(gained):
        more = _gain(gained, "last", "first", **draws)
        yield Measured(more, "places gained")
        of_first = statistics.interval(gained["first"], **draws)
        yield Measured(of_first, "places gained by the first")


def gnn_ret_22(graph: PassageGraph, parts: DataFrame, seed: int = 0) -> Iterator[Measured]:
    """Passage graphs are sparse, and passages have more neighbours in larger corpora.

    ``parts`` are graphs of random parts of the documents.
    """
    density = statistics.interval(graph.degrees / max(graph.n_nodes - 1, 1), seed)
    yield Measured(density, "density")
    if parts["passages"].nunique() > 1:
        sizes = np.log(parts["passages"])
        growth = statistics.slope(
            sizes,
            parts["edges_per_passage"],
            seed,
        )
        yield Measured(growth, "edges a passage")
