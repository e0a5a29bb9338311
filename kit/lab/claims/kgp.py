"""The claims of KGP: each function yields what was measured for the claim of its name.

``networks`` are trained retrievers by name, all seeds (:func:`kit.evaluation.of_seeds`). ``draws``
are the seed and the resamples of intervals. Tables are those of
:func:`kit.evaluation.graph_quality.density_sweep` (``quality``) and :mod:`kit.evaluation.walks`.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from pandas import DataFrame

from kit.corpus.types import Texts
from kit.evaluation import SEED, Experiment, all_seeds, per_seed, statistics
from kit.evaluation.graph_quality import SEEDS, at_equal_size
from kit.evaluation.results import UNTRAINED
from kit.evaluation.statistics import Estimate
from kit.evaluation.structures import FETCHED, READ, STRUCT_EM
from kit.evaluation.walks import METRICS
from kit.lab.claims.kgp_answers import Answers
from kit.lab.claims.kgp_measures import (
    by_value,
    degrees_of,
    middle_degree,
    middle_of_sweep,
    rank_below_best,
    reach_beyond_chance,
    relevant_edges,
    seeds_of,
    slope_on_degree,
    untrained_builders,
)
from kit.lab.claims.measured import Measured
from kit.methods import Retriever

Networks = Mapping[str, Retriever]
FULL = METRICS[-1]
AMONG_NEIGHBOURS = "mdr, neighbours"  # MDR whose later hops go to neighbours alone
SIZES = (10, 20, 50, 150, 300)  # passages, at which neighbourhoods are compared


# ---- the quality of graphs (§3)


def kgp_01(quality: DataFrame, n_passages: int = 0, **draws: int) -> Iterator[Measured]:
    """A denser passage graph, however built, covers all supports of more questions with the
    neighbours of the seeds, and a smaller share of those neighbours is relevant.

    ``n_passages`` of the one corpus of all questions, if it is one.
    """
    alone = quality[quality["builder"] == SEEDS]
    for builder, swept in untrained_builders(quality):
        size = by_value(swept, "neighbourhood")
        for metric, criterion in (("sf_em", "SF-EM"), ("precision", "precision")):
            along = statistics.rank_correlation(size, by_value(swept, metric), **draws)
            yield Measured(along, criterion, builder)
        if n_passages:
            beyond = reach_beyond_chance(swept, alone, n_passages, **draws)
            yield Measured(beyond, "SF-EM over chance", builder)


def kgp_02(
    quality: DataFrame,
    networks: Networks,
    name: str = "mdr",
    **draws: int,
) -> Iterator[Measured]:
    """On the data that its encoder was trained for, a KNN graph over MDR embeddings trades coverage
    against precision better than one over sentence embeddings and than shared keywords.

    SF-EM where the graphs of the encoder ``name`` and others reach as many passages.
    """
    graphs = quality[quality["builder"] != SEEDS]
    sizes = graphs.groupby(["builder", "value"], sort=False)["neighbourhood"].mean().reset_index()
    for size in SIZES:
        reached = at_equal_size(graphs, sizes, "sf_em", size, by="neighbourhood")
        columns = seeds_of(f"knn-{name}", reached)
        for rival, criterion in (("knn", "over KNN-ST"), ("tfidf", "over TF-IDF")):
            if columns and rival in reached:
                gain = statistics.paired(reached[columns], reached[rival], **draws)
                yield Measured(
                    gain,
                    criterion,
                    f"{size} passages",
                    all_seeds(networks, name),
                )


def kgp_03(
    quality: DataFrame,
    networks: Networks,
    name: str = "mdr",
    **draws: int,
) -> Iterator[Measured]:
    """That advantage is gone on other data: an MDR encoder trained on HotpotQA gives the worst
    trade-off of the three on MuSiQue.

    Measured as :func:`kgp_02`, of an encoder ``name`` that learned from other data.
    """
    yield from kgp_02(quality, networks, name, **draws)


def kgp_15(quality: DataFrame, n_passages: int, **draws: int) -> Iterator[Measured]:
    """The density of a keyword graph is bounded, so its SF-EM levels off, whatever the number of
    keywords.
    """
    keywords = quality[quality["builder"] == "tfidf"]
    change = keywords.groupby("value", sort=False)["density"].mean().diff().iloc[-1]
    yield Measured(Estimate(change, change, change, n_passages), "density")

    reached = by_value(keywords, "sf_em")
    step = statistics.paired(reached.iloc[:, -1], reached.iloc[:, -2], **draws)
    yield Measured(step, "SF-EM")
    level = statistics.interval(reached.iloc[:, -1].to_numpy(), **draws)
    yield Measured(level, "SF-EM stays below")


def kgp_18(
    quality: DataFrame,
    keywords: DataFrame,
    networks: Networks,
    **draws: int,
) -> Iterator[Measured]:
    """Keyword graphs connect passages through words that don't matter more often than other
    constructions do.

    ``keywords`` is the quality of graphs of keywords without titles, whose degree all have here.
    """
    joined = relevant_edges(quality, keywords)
    builders = {column.split(SEED)[0] for column in joined} - {"tfidf"}
    for name in sorted(builders):
        more = statistics.paired(
            joined[seeds_of(name, joined)],
            joined["tfidf"],
            **draws,
        )
        yield Measured(
            more,
            case=name,
            trained=all_seeds(networks, name.removeprefix("knn-")),
        )


# ---- methods and agents (Tables 1 and 2)


def kgp_04(
    experiment: Experiment,
    networks: Networks,
    rivals: Texts,
    answers: Answers | None = None,
) -> Iterator[Measured]:
    """Walking the graph with a trained generator has the best average rank of all retrieval
    methods, MDR the second best.

    ``rivals`` are the methods that do not walk.
    """
    walker = "kgp-mdr"
    gain, best = experiment.gain_over_best(walker, rivals, FULL)
    case = f"{walker} over {' and '.join(best)}"
    yield Measured(
        gain,
        "over the runner-up",
        case,
        all_seeds(networks, walker, *best),
    )

    of_walk = [
        per_seed(
            experiment,
            walker,
            metric,
        ).to_numpy()
        for metric in METRICS
    ]
    of_others = []
    for metric in METRICS:
        others = {
            name: per_seed(
                experiment,
                name,
                metric,
            ).to_numpy()
            for name in rivals
        }
        of_others.append(others)
    rank = rank_below_best(of_walk, of_others, **experiment.draws)
    yield Measured(
        rank,
        "mean rank",
        trained=all_seeds(networks, walker, "mdr", "dpr"),
    )

    if answers:
        others = [name for name in rivals if name in answers.exact and name != "dense"]
        yield from _answers(experiment, networks, answers, others)


def kgp_05(
    experiment: Experiment,
    networks: Networks,
    answers: Answers | None = None,
) -> Iterator[Measured]:
    """On the same graph, an agent that foresees the next evidence picks better neighbours than
    similarity to the question.
    """
    walkers = all_seeds(networks, "kgp-mdr")
    for rival, words in (("kgp-tfidf", "TF-IDF agent"), ("kgp-dense", "question alone")):
        gain = experiment.gain("kgp-mdr", over=rival, metric=FULL)
        yield Measured(gain, f"MDR agent over {words}", trained=walkers)
    if answers:
        case = "MDR agent over TF-IDF agent"
        yield from _answers(experiment, networks, answers, ["kgp-tfidf"], case)


def _answers(
    experiment: Experiment,
    networks: Networks,
    answers: Answers,
    rivals: Texts,
    case: str = "",
) -> Iterator[Measured]:
    """Exact answers from the walk's passages minus from the best rival's."""
    exact = answers.exact
    best, chosen = statistics.best_elsewhere({name: exact[name] for name in rivals})
    gain = statistics.paired(exact["kgp-mdr"], best, **experiment.draws)
    yield Measured(
        gain,
        "answers",
        case or f"over {' and '.join(chosen)}",
        (networks["kgp-mdr"], *answers.taught),
        untestable=answers.unread,
    )


def kgp_06(
    experiment: Experiment,
    networks: Networks,
    scored: Mapping[str, DataFrame],
) -> Iterator[Measured]:
    """A trained ranker that chooses only among graph neighbours does at least as well as one that
    chooses from everything.

    ``scored`` are tables of :func:`kit.evaluation.walks.ask_variants` of both.
    """
    bound = AMONG_NEIGHBOURS
    alike = experiment.gain(bound, over="mdr", metric="recall@30")
    yield Measured(alike, "recall", trained=all_seeds(networks, bound, "mdr"))
    start = experiment.gain(
        bound + UNTRAINED,
        over="mdr" + UNTRAINED,
        metric="recall@30",
    )
    yield Measured(start, "recall", "untrained", ())
    fewer = statistics.paired(
        scored[bound]["scored"],
        scored["mdr"]["scored"],
        **experiment.draws,
    )
    yield Measured(fewer, "passages scored")


def kgp_07(
    experiment: Experiment,
    networks: Networks,
    chance: DataFrame,
    walks: Texts,
) -> Iterator[Measured]:
    """Walking to random neighbours is worse than any guided walk.

    ``chance`` is the table of :func:`kit.evaluation.walks.random_walks`.
    """
    by_chance = chance.set_index("question")[FULL]
    for name in walks:
        guided = per_seed(experiment, name, FULL).loc[by_chance.index]
        gain = statistics.paired(guided, by_chance, **experiment.draws)
        yield Measured(gain, case=name, trained=all_seeds(networks, name))


def kgp_08(experiment: Experiment, networks: Networks) -> Iterator[Measured]:
    """Training for the order of the evidence (MDR) beats training on pairs of question and support
    (DPR).

    Both have the same encoder, questions, negatives and epochs; MDR has some more pairs, and reads
    more at each question.
    """
    gain = experiment.gain("mdr", over="dpr", metric="recall@30")
    yield Measured(gain, trained=all_seeds(networks, "dpr", "mdr"))


def kgp_13(
    fetched: DataFrame, n_passages: int, made_here: bool, **draws: int
) -> Iterator[Measured]:
    """Nodes for pages and tables answer questions about pages and tables, which retrieval of text
    can't.

    ``fetched`` is the table of :func:`kit.evaluation.structures.fetched_structures`, of KGP and
    baselines. Documents that were ``made_here`` have questions and patterns by one hand.
    """
    exact = fetched["measure"] == STRUCT_EM
    cases = {}
    for kind, among in fetched[~exact].groupby("type"):
        cases[f"{kind}, {READ} of {n_passages} passages"] = among
    cases[STRUCT_EM] = fetched[exact & (fetched["context"] != f"{READ} passages")]

    walker = fetched.loc[fetched["context"] == FETCHED, "retriever"].iloc[0]
    one_hand = "questions and patterns are by the same hand" if made_here else ""
    for case, among in cases.items():
        values = among.pivot(index="question", columns="retriever", values="value")
        rivals = {name: values[name].to_numpy() for name in values if name != walker}
        best, chosen = statistics.best_elsewhere(rivals)
        gain = statistics.paired(values[walker], best, **draws)
        over = f"over {' and '.join(chosen)}, which has {best.mean():.0%}"
        yield Measured(
            gain,
            case=f"{case}, {over}",
            untestable=one_hand,
        )


def kgp_17(answers: Answers, names: Texts, **draws: int) -> Iterator[Measured]:
    """Every retrieval lies between no context and the gold context, and the gap is wide."""
    overlap = answers.overlap
    best, chosen = statistics.best_elsewhere({name: overlap[name] for name in names})
    gap = statistics.paired(overlap["golden"], best, **draws)
    case = f"over {' and '.join(chosen)}"
    yield Measured(gap, case=case, trained=answers.taught, untestable=answers.unread_overlap)


# ---- branching, density and size (§5.2 and 5.4)


def kgp_09(
    sweep: DataFrame,
    networks: Networks,
    name: str,
    best: int,
    **draws: int,
) -> Iterator[Measured]:
    """With a fixed budget, quality rises and then falls with the branching factor, because wider
    branching leaves fewer seeds.

    ``best`` is the inner branching of the walker ``name`` that dev questions chose.
    """
    walks = sweep[sweep["retriever"] == name]
    columns = ["branching", "run"]
    values = walks.pivot(index="question", columns=columns, values=FULL)
    for end in (2, 30):
        gain = statistics.paired(
            values[best],
            values[end],
            **draws,
        )
        how = f"b = {best}, chosen on dev"
        trained = all_seeds(networks, name)
        yield Measured(gain, f"over b = {end}", trained=trained, how=how)


def kgp_10(walks: DataFrame, **draws: int) -> Iterator[Measured]:
    """Denser graphs give better answers up to a plateau, and take longer to match neighbours.

    By the slope over the sparser half of a sweep, its last step, and the slope of the time.
    """
    for builder, swept in untrained_builders(walks):
        full = by_value(swept, FULL)
        degrees = swept.groupby("value")["mean_degree"].mean().sort_values()
        degrees = degrees[degrees > 0]
        sparser = degrees.iloc[: max(2, (len(degrees) + 1) // 2)]
        yield Measured(
            slope_on_degree(full, sparser.to_dict(), **draws),
            "rise",
            builder,
        )

        timed = by_value(swept.dropna(subset="matching"), "matching")
        yield Measured(
            slope_on_degree(timed, degrees.to_dict(), **draws),
            "time",
            builder,
        )
        last = statistics.paired(
            full.iloc[:, -1],
            full.iloc[:, -2],
            **draws,
        )
        yield Measured(last, "plateau", builder)


def kgp_11(
    walks: DataFrame,
    networks: Networks,
    same_data: bool,
    **draws: int,
) -> Iterator[Measured]:
    """The better graph gives the better answers: at equal density KNN-MDR wins on HotpotQA, KNN-ST
    mostly on MuSiQue.
    """
    equal = at_equal_size(
        walks,
        degrees_of(walks),
        FULL,
        middle_degree(walks),
    )
    columns = seeds_of("knn-mdr", equal)
    if columns and "knn" in equal:
        gain = statistics.paired(
            equal[columns],
            equal["knn"],
            **draws,
        )
        criterion = "same data" if same_data else "other data"
        yield Measured(gain, criterion, trained=all_seeds(networks, "mdr"))


def kgp_12(
    walks: DataFrame,
    by_default: DataFrame,
    networks: Networks,
    n_passages: int,
    **draws: int,
) -> Iterator[Measured]:
    """The entity-link graph serves the agent best, being the densest, and pays in latency.

    ``walks`` along density, and over graphs as they are built ``by_default``.
    """
    neighbours = by_default.groupby("builder")["mean_degree"].mean()
    sizes = walks.groupby(["builder", "value"], sort=False)["neighbourhood"].mean().reset_index()
    at_middle = (sizes["builder"] == "knn") & (sizes["value"] == middle_of_sweep(walks))
    size = sizes.loc[at_middle, "neighbourhood"].item()
    reached = at_equal_size(walks, sizes, "sf_em", size, by="neighbourhood")

    for name in ("knn", "knn-mdr"):
        columns = seeds_of(name, neighbours.index)
        if not columns:
            continue
        taught = all_seeds(networks, "mdr") if name == "knn-mdr" else ()
        for column, criterion in (("sf_em", "SF-EM"), (FULL, "Full@30"), ("matching", "time")):
            values = by_default.pivot(index="question", columns="builder", values=column).dropna()
            gain = statistics.paired(
                values["entity"],
                values[columns],
                **draws,
            )
            trained = () if criterion == "time" else taught
            yield Measured(gain, criterion, name, trained)

        more = neighbours["entity"] - neighbours[columns].mean()
        yield Measured(
            Estimate(more, more, more, n_passages),
            "density",
            name,
            (),
        )
        if {"entity", *columns} <= set(reached):
            gain = statistics.paired(
                reached["entity"],
                reached[columns],
                **draws,
            )
            yield Measured(gain, "SF-EM at equal size", name, taught)


def kgp_14(costs: DataFrame, walkers: Texts, **draws: int) -> Iterator[Measured]:
    """Walking the graph is faster than retrieval by embeddings, and the graph lowers latency as the
    collection grows.

    With the passages' vectors at hand; or with each collection encoded anew, of which each passage
    takes about as long as a question.
    """
    each_text = costs.loc[costs["retriever"] == "dpr", "encoding"].mean()
    for size, of_size in costs.groupby("passages"):
        seconds = of_size.pivot(index="question", columns="retriever", values="seconds")
        for name in [name for name in walkers if {name, "dpr"} <= set(seconds)]:
            timed = seconds[[name, "dpr"]].dropna()
            longer = statistics.paired(
                timed[name].to_numpy(),
                timed["dpr"].to_numpy(),
                **draws,
            )
            case = f"{name}, {size:,} passages"
            yield Measured(longer, case=f"{case}, vectors at hand")
            if name == "kgp-tfidf":  # which needs no vectors
                ends = [end - size * each_text for end in longer[:3]]
                yield Measured(Estimate(*ends, longer.n), case=f"{case}, encoded anew")


def kgp_19(times: DataFrame, **draws: int) -> Iterator[Measured]:
    """The cost of a walk grows between linearly and quadratically with the number of passages.

    ``times`` is the table of :func:`kit.evaluation.walks.growing_walks`.
    """
    passages = times["passages"]
    if passages.nunique() > 1 and times["question"].nunique() > 1:
        growth = statistics.slope(
            np.log(passages), np.log(times["seconds"]), questions=times["question"], **draws
        )
        how = f"kgp-tfidf, {passages.min():,} to {passages.max():,} passages"
        yield Measured(growth, how=how)
