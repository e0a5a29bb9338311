"""What is measured for the claims of QSGNN.

``experiment`` has all retrievers on the same questions and ``trained`` those that learned, by name
with their seeds; ``ablations`` are the networks of :mod:`kit.lab.claims.qsgnn_networks`.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy import ndarray
from pandas import DataFrame

from kit.corpus.types import Texts
from kit.evaluation import Experiment, all_seeds, per_question, per_seed
from kit.evaluation.statistics import (
    Estimate,
    best_elsewhere,
    diff_of_means,
    paired,
    rank_correlation,
    slope,
)
from kit.lab.claims.measured import Measured
from kit.lab.claims.qsgnn_networks import (
    FEWER,
    NARROW,
    WHOLE,
    Ablations,
    hops_of,
    noisy_name,
)
from kit.methods import Retriever

#: Whom QSGNN is compared with as the best other.
RIVALS = ("bm25", "dense", "kgp-dense", "gnn-ret", "pagerank", "dpr", "mdr", "logistic")
SEARCHES = ("pagerank", "gnn-ret", "kgp-tfidf", "kgp-dense")  # in the place of HippoRAG 2
#: Of the paper's kinds: what sees gold, and walks of other papers, are none.
KINDS = ("bm25", "tfidf", "dense", "knn", "gnn-ret", "pagerank", "dpr", "mdr", "qsgnn")
MINOR_PARTS = ("no chunk", "no query", "no intra", "no document")
NO_HIPPORAG = "PageRank without a language model stands for HippoRAG 2"
ENCODER_WIDTH = 384  # of the default encoder, where a network does not compress its vectors

Trained = Mapping[str, Retriever]


# ---- Tables 2, 4 and 9


def qsgnn_01(experiment: Experiment, trained: Trained) -> Iterator[Measured]:
    """It retrieves better than sparse, dense, graph-search and other GNN retrievers."""
    networks = all_seeds(trained, "qsgnn")
    rivals = [name for name in RIVALS if name in experiment.rankings]
    over_best, chosen = experiment.gain_over_best("qsgnn", rivals)
    for criterion, gain, rival in (
        ("over dense", experiment.gain("qsgnn", over="dense"), "dense"),
        ("over untrained", experiment.gain_of_training("qsgnn"), "itself untrained"),
        ("over the best other", over_best, " and ".join(chosen)),
    ):
        yield Measured(gain, criterion, trained=networks, how=f"qsgnn − {rival}")


def qsgnn_02(experiment: Experiment, trained: Trained) -> Iterator[Measured]:
    """Its advantage grows with the number of hops and is largest at four.

    Over the best graph search; nothing where no question has two or four hops.
    """
    hops = hops_of(experiment)
    if not {2, 4} <= set(hops):
        return
    best, chosen = _best_search(experiment, hops > 0)
    gain = per_seed(experiment, "qsgnn", "recall@5").to_numpy() - best
    for fewer, words in ((2, "two"), (3, "three")):
        if (hops == fewer).any():
            more = diff_of_means(gain[hops == 4], gain[hops == fewer], **experiment.draws)
            case = f"over {' and '.join(chosen)}"
            yield Measured(more, f"four over {words}", case, all_seeds(trained, "qsgnn"))


def qsgnn_14(experiment: Experiment, trained: Trained) -> Iterator[Measured]:
    """On two hops it is on a par with graph search."""
    two = hops_of(experiment) == 2
    if not two.any():
        return
    best, chosen = _best_search(experiment, two)
    recalls = per_seed(experiment, "qsgnn", "recall@5").to_numpy()[two]
    gain = paired(recalls, best, **experiment.draws)
    how = f"over {' and '.join(chosen)}"
    yield Measured(gain, trained=all_seeds(trained, "qsgnn"), how=how)


def _best_search(experiment: Experiment, chosen: ndarray) -> tuple[ndarray, list[str]]:
    """Recall@5 of the best graph search on some of the questions, and its name."""
    recalls = per_question(experiment, "recall@5")[chosen]
    return best_elsewhere({name: recalls[name].to_numpy() for name in SEARCHES})


def qsgnn_16(experiment: Experiment) -> Iterator[Measured]:
    """All methods get worse with more hops.

    Whatever they have learned: a slope is one.
    """
    hops = hops_of(experiment)
    if len(set(hops)) < 2:
        return
    for name in KINDS:
        if name in experiment.rankings:
            recalls = per_seed(experiment, name, "recall@5").to_numpy()
            yield Measured(slope(hops, recalls, **experiment.draws), case=name, trained=())


# ---- Table 5


def qsgnn_13(costs: DataFrame, **draws: int) -> Iterator[Measured]:
    """A query costs less than graph search, and more than dense retrieval.

    Encoding apart. ``costs`` has a row per question, number of passages and retriever.
    """
    apart = costs.assign(apart=costs["seconds"] - costs["encoding"])
    wide = apart.pivot_table(index="question", columns=["passages", "retriever"], values="apart")
    for size in sorted(costs["passages"].unique()):
        seconds = wide[size]
        if "qsgnn" not in seconds:
            continue
        case = f"{size:,} passages"
        over_dense = paired(seconds["qsgnn"], seconds["dense"], **draws)
        yield Measured(over_dense, "over dense", case)
        search = paired(seconds["pagerank"], seconds["qsgnn"], **draws)
        yield Measured(search, "graph search over it", case, untestable=NO_HIPPORAG)


# ---- Tables 6 and 10: parts and stages


def qsgnn_03(ablations: Ablations) -> Iterator[Measured]:
    """Without the query in the attention it loses, most on many hops."""
    yield _gain(ablations, WHOLE, "no query", "loss")
    yield from _growth(ablations, "no query", "growth with hops")


def qsgnn_04(ablations: Ablations) -> Iterator[Measured]:
    """Without pre-training on synthetic questions it fails: 1,000 training pairs can't fit it."""
    name = "no pre-training"
    if name in ablations.names:
        yield _gain(ablations, WHOLE, name, "loss")
        recalls = ablations.recalls(name)
        lower = paired(ablations.dense.to_numpy(), recalls, **ablations.experiment.draws)
        yield Measured(lower, "below dense", trained=ablations.of(name))


def qsgnn_05(ablations: Ablations) -> Iterator[Measured]:
    """Pre-training alone nearly suffices on 2 hops and lacks some on more, since it has seen 1 and
    2 hops only."""
    name = "no fine-tuning"
    if name not in ablations.names:
        return
    for n in sorted({2, 4} & set(ablations.hops)):
        chosen = ablations.hops == n
        whole = ablations.recalls(WHOLE)[chosen]
        gain = paired(whole, ablations.recalls(name)[chosen], **ablations.experiment.draws)
        yield Measured(gain, f"{n} hops", trained=ablations.of(WHOLE, name))


def qsgnn_06(ablations: Ablations) -> Iterator[Measured]:
    """Entity nodes matter most of all parts.

    The loss without them minus the next largest loss, that of a part which the other half of the
    questions chose.
    """
    lowest, chosen = best_elsewhere({name: -ablations.recalls(name) for name in MINOR_PARTS})
    entity = ablations.recalls("no entity")
    gain = paired(-lowest, entity, **ablations.experiment.draws)
    how = f"{' and '.join(chosen)} − no entity"
    yield Measured(gain, trained=ablations.of("no entity", *chosen), how=how)


def qsgnn_07(ablations: Ablations) -> Iterator[Measured]:
    """Message passing within a level (triples, adjacent sentences) is essential."""
    yield _gain(ablations, WHOLE, "no intra")


def qsgnn_08(ablations: Ablations) -> Iterator[Measured]:
    """Sentence nodes add little, since documents make up for them."""
    yield _gain(ablations, WHOLE, "no chunk")


def qsgnn_15(ablations: Ablations) -> Iterator[Measured]:
    """A GNN that is blind to the query suffers more than dense retrieval on many hops."""
    four = ablations.hops == 4
    if four.any():
        blind = ablations.recalls("no query")[four]
        dense = ablations.dense.to_numpy()[four]
        gain = paired(blind, dense, **ablations.experiment.draws)
        yield Measured(gain, trained=ablations.of("no query"))


# ---- Tables 11 and 12, Figure 3: sizes


def qsgnn_09(ablations: Ablations) -> Iterator[Measured]:
    """More synthetic questions help at every width, with falling returns.

    Only the slope over two doublings is measured, at one width.
    """
    if FEWER in ablations.names:
        yield _slope(ablations, FEWER, 2, "slope")


def qsgnn_10(ablations: Ablations) -> Iterator[Measured]:
    """Wider representations are better, from 32 to 512."""
    name = f"{NARROW} wide"
    if name in ablations.names:
        width = ablations.networks[WHOLE].settings.dimension or ENCODER_WIDTH
        yield _slope(ablations, name, np.log2(width / NARROW))


def qsgnn_11(ablations: Ablations) -> Iterator[Measured]:
    """Two layers are best; one is too few, the more so with more hops; four collapse."""
    yield _gain(ablations, WHOLE, "1 layer", "two over one")
    yield from _growth(ablations, "1 layer", "growth with hops")
    if "4 layers" in ablations.names:
        yield _gain(ablations, WHOLE, "4 layers", "two over four")


def qsgnn_12(ablations: Ablations) -> Iterator[Measured]:
    """One negative is too few; from 10 to 100 the number hardly matters."""
    if "10 negatives" in ablations.names:
        yield _gain(ablations, "10 negatives", "1 negatives", "10 over 1")
        for n in (50, 100):
            more = _gain(ablations, f"{n} negatives", "30 negatives", "more than 30")
            yield more._replace(case=str(n))


def _gain(ablations: Ablations, name: str, over: str, criterion: str = "") -> Measured:
    """What one network gains over another."""
    gain = ablations.experiment.gain(name, over=over)
    return Measured(gain, criterion, trained=ablations.of(name, over))


def _growth(ablations: Ablations, name: str, criterion: str) -> Iterator[Measured]:
    """How much more the whole network gains over another at four hops than at two."""
    lost = ablations.recalls(WHOLE) - ablations.recalls(name)
    four = lost[ablations.hops == 4]
    two = lost[ablations.hops == 2]
    if len(four) and len(two):
        more = diff_of_means(four, two, **ablations.experiment.draws)
        yield Measured(more, criterion, trained=ablations.of(WHOLE, name))


def _slope(ablations: Ablations, small: str, doublings: float, criterion: str = "") -> Measured:
    """What a doubling from a smaller network to the whole one brings."""
    whole = ablations.recalls(WHOLE) / doublings
    per_doubling = paired(whole, ablations.recalls(small) / doublings, **ablations.experiment.draws)
    return Measured(per_doubling, criterion, trained=ablations.of(WHOLE, small))


# ---- the cause (§1), and where it breaks (A.9)


def qsgnn_18(
    attention: DataFrame,
    disturbed: Experiment,
    ablations: Ablations,
    **draws: int,
) -> Iterator[Measured]:
    """The cause is noise: attention that the query steers passes less on from irrelevant
    neighbours.

    ``attention`` is that of :func:`kit.lab.claims.qsgnn_networks.attention_on_supports`, and
    ``disturbed`` has networks among random edges.
    """
    if len(attention):
        of_seeds = attention.pivot(index="question", columns="seed")
        for other in ("untrained", "another question"):
            gain = paired(of_seeds["trained"], of_seeds[other], **draws)
            yield Measured(gain, f"attention over {other}", trained=ablations.of(WHOLE))

    worse = {}
    for name in (WHOLE, "no query"):
        few, many = [
            per_seed(disturbed, noisy_name(name, share), "recall@5").to_numpy()
            for share in (0.0, 2.0)
        ]
        worse[name] = few - many
    noise = paired(worse["no query"], worse[WHOLE], **draws)
    yield Measured(noise, "loss from noise", trained=ablations.of(WHOLE, "no query"))


def qsgnn_19(lost: Mapping[str, ndarray], ablations: Ablations, **draws: int) -> Iterator[Measured]:
    """It breaks on misspelt or rare names that training never showed.

    ``lost`` is the Recall@5 that a misspelt name costs each retriever, (questions, seeds).
    """
    for rival in ("bm25", "dense"):
        more = paired(lost["qsgnn"], lost[rival], **draws)
        yield Measured(more, case=rival, trained=ablations.of(WHOLE))


# ---- Tables 3, 8 and 10: answers


def qsgnn_17(
    f1: DataFrame,
    recalls: DataFrame,
    loops: Texts,
    network: Retriever,
    readers: Sequence[object],
    untestable: str,
    **draws: int,
) -> Iterator[Measured]:
    """Better retrieval gives better answers on average, with two language models.

    ``f1`` of a reader's answers and ``recalls`` have a row per question and a column per method;
    ``loops`` are no rivals of a single retrieval. ``readers`` have learned, too.
    """
    names = [name for name in f1 if name in recalls]
    correlation = rank_correlation(recalls[names], f1[names], **draws)
    how = f"over {len(names)} methods"
    yield Measured(correlation, "correlation", "", readers, how, untestable)

    others = [name for name in names if name not in loops and name != "qsgnn"]
    best, chosen = best_elsewhere({name: f1[name].to_numpy() for name in others})
    gain = paired(f1["qsgnn"], best, **draws)
    case = f"over {' and '.join(chosen)}"
    yield Measured(gain, "F1", case, (network, *readers), untestable=untestable)


def qsgnn_20(
    f1: DataFrame,
    network: Retriever,
    reader: object,
    untestable: str,
    **draws: int,
) -> Iterator[Measured]:
    """Handing documents to the reader beats handing it the best sentences; leaving document nodes
    out is worse still.

    ``f1`` has the columns ``qsgnn`` and ``sentences``, a row per question.
    """
    gain: Estimate = paired(f1["qsgnn"], f1["sentences"], **draws)
    yield Measured(gain, trained=(network, reader), untestable=untestable)
