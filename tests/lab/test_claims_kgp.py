"""What is measured for claims of KGP, by hand."""

import inspect
from collections.abc import Iterable

import numpy as np
import pandas as pd
import pytest

from kit.corpus import example
from kit.evaluation import Experiment, mean_over_seeds
from kit.evaluation.graph_quality import SEEDS
from kit.evaluation.structures import ALL_AMONG, AS_MANY, FETCHED, STRUCT_EM
from kit.evaluation.walks import METRICS
from kit.lab.claims import kgp
from kit.lab.claims.claims import CLAIMS
from kit.lab.claims.kgp_answers import Answers
from kit.lab.claims.kgp_measures import (
    all_are_drawn,
    rank_below_best,
    reach_beyond_chance,
    slope_on_degree,
)
from kit.lab.claims.measured import Measured
from kit.methods import make

FEW = {"seed": 0, "n_resamples": 200}
QUESTIONS = example().test
IDS = [question.id for question in QUESTIONS]
NETWORKS = {"kgp-mdr": make("kgp-tfidf"), "kgp-mdr, seed 1": make("kgp-tfidf")}


def experiment(**values: float) -> Experiment:
    """Methods with one value of all metrics; names have _ for -, and two seeds each."""
    rows = []
    for name, value in values.items():
        for seed in ("", ", seed 1"):
            for question in IDS:
                about = {"retriever": name.replace("_", "-") + seed, "question": question}
                rows.append(about | dict.fromkeys(METRICS, value))
    runs = pd.DataFrame(rows)
    return Experiment(
        table=mean_over_seeds(runs),
        rankings={name.replace("_", "-"): {} for name in values},
        seconds_to_fit={},
        benchmark=example(),
        questions=QUESTIONS,
        ks=(5, 30),
        draws=FEW,
        runs=runs,
    )


def effects(measured: Iterable[Measured]) -> dict[tuple[str, str], float]:
    return {(part.criterion, part.case): part.effect.value for part in measured}


def sweep(**columns: object) -> pd.DataFrame:
    """A KNN, an entity and a keyword graph at two densities, for two questions."""
    rows = []
    for builder in ("knn", "entity", "tfidf"):
        for step, value in enumerate((1.0, 2.0)):
            for question in IDS:
                row = {"builder": builder, "value": value, "question": question}
                size = {"neighbourhood": 5 + 15 * step, "mean_degree": 2.0 ** (step + 1)}
                rows.append(row | size | {"density": 0.01 * (step + 1)})
    return pd.DataFrame(rows).assign(**columns)


def test_the_claims_are_told_in_their_own_words() -> None:
    functions = [
        function
        for name, function in vars(kgp).items()
        if name.startswith("kgp_") and name[4:].isdigit()
    ]
    assert len(functions) == 18  # all but the one that takes a GPU
    for function in functions:
        claim = CLAIMS[function.__name__.replace("_", "-")]
        words = " ".join(inspect.getdoc(function).split())
        assert words.startswith(claim.claim), function.__name__


# ---- quantities


def test_the_chance_that_all_wanted_passages_are_among_those_drawn() -> None:
    """Of 4 passages 2 are drawn: one wanted is among them in 1/2, both of two in 1/6."""
    wanted = np.array([0, 1, 2, 2])
    drawn = np.array([2, 2, 2, 1])
    assert all_are_drawn(wanted, drawn, np.full(4, 4)) == pytest.approx([1, 1 / 2, 1 / 6, 0])


def test_what_a_graph_reaches_beyond_as_many_passages_by_lot() -> None:
    """Two questions, 5 passages, one seed each; at both settings one more passage is reached.

    q misses one support, which the graph reaches at the second setting only: 1/2 − 1/4 = 1/4 on
    average. Of r the seed is the support: 1 − 1 = 0.
    """
    seeds = pd.DataFrame(
        {"question": ["q", "r"], "neighbourhood": 1, "covered": [0.5, 1.0], "hops": [2, 1]}
    )
    reached = pd.DataFrame(
        {"question": ["q", "r"] * 2, "neighbourhood": 2, "sf_em": [0.0, 1.0, 1.0, 1.0]}
    )
    measured = reach_beyond_chance(reached, seeds, 5, **FEW)
    assert measured.value == pytest.approx(0.25 / 2) and measured.n == 2


def test_methods_are_ranked_by_each_metric() -> None:
    """By the first metric the walk is best of three, by the second it is second: rank 1.5.

    The better other is second and first: 1.5, too.
    """
    walk = [np.array([1.0, 1.0]), np.array([0.5, 0.5])]
    others = [
        {"a": np.array([0.5, 0.5]), "b": np.array([0.0, 0.0])},
        {"a": np.array([1.0, 1.0]), "b": np.array([0.0, 0.0])},
    ]
    assert rank_below_best(walk, others, **FEW)[:4] == (0, 0, 0, 2)
    seeds = [np.array([[1.0, 0.2]] * 2)] * 2  # by the second seed behind a: 2 − 1
    only_a = [{"a": np.array([0.5, 0.5])}] * 2
    ranked = rank_below_best(seeds, only_a, **FEW)
    assert ranked.value == -1 and ranked.draws == (-1, 1)


def test_a_slope_on_the_doublings_of_the_degree() -> None:
    """From degree 1 to 2 to 4 the first question gains ¼ per doubling, the second nothing."""
    values = pd.DataFrame({8: [0.0, 0.5], 16: [0.25, 0.5], 32: [0.5, 0.5], 0: [9, 9]})
    measured = slope_on_degree(values, {8: 1, 16: 2, 32: 4, 0: 0}, **FEW)
    assert measured.value == pytest.approx(0.125) and measured.differ == 1


# ---- graphs


def test_kgp_01_follows_each_builder_that_needs_no_training() -> None:
    """The denser half covers all and wastes more; a trained KNN graph is not asked."""
    denser = sweep()["value"] > 1
    quality = sweep(sf_em=1.0 * denser, precision=np.where(denser, 0.1, 0.5), covered=0.5, hops=2)
    alone = quality[quality["value"] == 1].assign(builder=SEEDS, neighbourhood=4)
    trained = quality[quality["builder"] == "knn"].assign(builder="knn-mdr")
    table = pd.concat([quality, alone.drop_duplicates("question"), trained])
    values = effects(kgp.kgp_01(table, 100, **FEW))
    assert values["SF-EM", "knn"] == 1 and values["precision", "entity"] == -1
    assert len(values) == 9 and 0 < values["SF-EM over chance", "tfidf"] < 0.5
    assert len(effects(kgp.kgp_01(table, **FEW))) == 6


def test_kgp_02_and_03_compare_where_as_many_passages_are_reached() -> None:
    quality = sweep(sf_em=0.25)
    trained = quality[quality["builder"] == "knn"]
    seeds = [trained.assign(builder=f"knn-mdr{end}", sf_em=0.75) for end in ("", ", seed 1")]
    table = pd.concat([quality, *seeds])
    values = effects(kgp.kgp_02(table, {}, **FEW))
    assert values == dict.fromkeys(values, 0.5)
    assert set(values) == {
        (f"over {rival}", f"{size} passages") for rival in ("KNN-ST", "TF-IDF") for size in (10, 20)
    }
    assert effects(kgp.kgp_03(table, {}, **FEW)) == values
    assert not effects(kgp.kgp_02(quality, {}, **FEW))


def test_kgp_15_is_about_the_last_doubling_of_keywords() -> None:
    values = effects(kgp.kgp_15(sweep(sf_em=0.6), 100, **FEW))
    assert values["density", ""] == pytest.approx(0.01)
    assert values["SF-EM", ""] == 0 and values["SF-EM stays below", ""] == pytest.approx(0.6)


def test_kgp_18_compares_edges_at_the_degree_of_plain_keywords() -> None:
    relevant = np.where(sweep()["builder"] == "entity", 0.5, 0.25)
    keywords = pd.DataFrame({"question": IDS, "relevant": 0.125, "mean_degree": 3.0})
    values = effects(kgp.kgp_18(sweep(relevant=relevant), keywords, {}, **FEW))
    assert values == {("", "entity"): 0.375, ("", "knn"): 0.125}


# ---- methods and agents


def test_kgp_04_and_05_compare_the_walk_with_the_best_and_with_lesser_agents() -> None:
    measured = experiment(bm25=0.25, dpr=0.5, kgp_mdr=0.75, kgp_tfidf=0.5, kgp_dense=0.25)
    exact = pd.DataFrame({"kgp-mdr": [1.0, 1.0], "bm25": [0.0, 1.0], "kgp-tfidf": [0.0, 0.0]})
    answers = Answers(exact, exact, (), "cannot read")
    parts = list(kgp.kgp_04(measured, NETWORKS, ["bm25", "dpr"], answers))
    assert effects(parts) == {
        ("over the runner-up", "kgp-mdr over dpr"): 0.25,
        ("mean rank", ""): -1,
        ("answers", "over bm25"): 0.5,
    }
    assert parts[2].untestable == "cannot read" and len(parts[0].trained) == 2
    values = effects(kgp.kgp_05(measured, NETWORKS, answers))
    assert values["MDR agent over TF-IDF agent", ""] == 0.25
    assert values["MDR agent over question alone", ""] == 0.5
    assert values["answers", "MDR agent over TF-IDF agent"] == 1
    assert len(effects(kgp.kgp_05(measured, NETWORKS))) == 2


def test_kgp_06_07_and_08_have_the_sign_of_the_claim() -> None:
    names = {"mdr, neighbours": 0.5, "mdr": 0.25, "dpr": 0.125}
    names |= {"mdr, neighbours, untrained": 0.25, "mdr, untrained": 0.5}
    measured = experiment(**names, kgp_tfidf=0.5)
    scored = {
        name: pd.DataFrame({"scored": [n, n]}) for name, n in (("mdr", 9), ("mdr, neighbours", 4))
    }
    assert effects(kgp.kgp_06(measured, {}, scored)) == {
        ("recall", ""): 0.25,
        ("recall", "untrained"): -0.25,
        ("passages scored", ""): -5,
    }
    assert effects(kgp.kgp_08(measured, {})) == {("", ""): 0.125}
    chance = pd.DataFrame({"question": IDS, "full@30": 0.125})
    assert effects(kgp.kgp_07(measured, {}, chance, ["kgp-tfidf"])) == {("", "kgp-tfidf"): 0.375}


def test_kgp_13_compares_with_the_best_search_that_is_cut() -> None:
    """KGP fetches what is asked for, BM25 if it knows how many passages that is."""
    rows = []
    for question in IDS:
        for retriever, context, value in (
            ("kgp-tfidf", FETCHED, 1.0),
            ("bm25", AS_MANY, 0.5),
            ("bm25", "30 passages", 0.0),
        ):
            rows.append((STRUCT_EM, retriever, context, question, "page", value))
        rows.append((ALL_AMONG, "kgp-tfidf", "", question, "page", 1.0))
        rows.append((ALL_AMONG, "bm25", "", question, "page", 0.75))
    columns = ["measure", "retriever", "context", "question", "type", "value"]
    parts = list(kgp.kgp_13(pd.DataFrame(rows, columns=columns), 73, True, **FEW))
    assert effects(parts) == {
        ("", "page, 30 of 73 passages, over bm25, which has 75%"): 0.25,
        ("", "Struct-EM, over bm25, which has 50%"): 0.5,
    }
    assert all(part.untestable for part in parts)


def test_kgp_17_is_the_gap_to_the_golden_passages() -> None:
    overlap = pd.DataFrame({"golden": [1.0, 0.5], "bm25": [0.25, 0.25], "dense": [0.0, 0.0]})
    answers = Answers(overlap, overlap, (), "", "a floor")
    [part] = kgp.kgp_17(answers, ["bm25", "dense"], **FEW)
    assert part.effect.value == 0.5 and part.case == "over bm25" and part.untestable == "a floor"


# ---- sweeps


def test_kgp_09_compares_the_chosen_branching_with_both_ends() -> None:
    rows = []
    for branching, value in ((2, 0.25), (5, 0.75), (30, 0.5)):
        for question in IDS:
            rows.append(("kgp-mdr", 0, branching, question, value))
    table = pd.DataFrame(rows, columns=["retriever", "run", "branching", "question", "full@30"])
    values = effects(kgp.kgp_09(table, NETWORKS, "kgp-mdr", 5, **FEW))
    assert values == {("over b = 2", ""): 0.5, ("over b = 30", ""): 0.25}


def walks_of(**columns: object) -> pd.DataFrame:
    return sweep(**{"full@30": 0.25, "matching": 0.125, "sf_em": 0.5} | columns)


def test_kgp_10_has_a_slope_a_plateau_and_a_time_per_builder() -> None:
    denser = sweep()["value"] > 1
    values = effects(kgp.kgp_10(walks_of(**{"full@30": 0.25 * denser}), **FEW))
    assert len(values) == 9
    assert values["rise", "knn"] == values["plateau", "knn"] == 0.25
    assert values["time", "knn"] == 0


def test_kgp_11_and_12_compare_graphs_at_equal_size_and_as_they_are_built() -> None:
    walks = walks_of()
    trained = walks[walks["builder"] == "knn"].assign(builder="knn-mdr", **{"full@30": 0.75})
    table = pd.concat([walks, trained])
    assert effects(kgp.kgp_11(table, {}, True, **FEW)) == {("same data", ""): 0.5}
    assert effects(kgp.kgp_11(table, {}, False, **FEW)) == {("other data", ""): 0.5}
    assert not effects(kgp.kgp_11(walks, {}, True, **FEW))

    built = table[table["value"] == 1]
    built = built.assign(mean_degree=np.where(built["builder"] == "entity", 5.0, 2.0))
    values = effects(kgp.kgp_12(table, built, {}, 100, **FEW))
    assert len(values) == 10
    assert values["density", "knn"] == 3 and values["SF-EM at equal size", "knn"] == 0
    assert values["Full@30", "knn-mdr"] == -0.5 and values["time", "knn"] == 0


def test_kgp_14_has_vectors_at_hand_or_encodes_the_collection() -> None:
    """A walk of words takes 2 s, DPR 1 s of which it encodes half a second; 10 passages take 5."""
    rows = []
    for question in IDS:
        for retriever, seconds, encoding in (("kgp-tfidf", 2.0, 0.0), ("dpr", 1.0, 0.5)):
            rows.append((10, question, retriever, seconds, encoding))
    columns = ["passages", "question", "retriever", "seconds", "encoding"]
    values = effects(kgp.kgp_14(pd.DataFrame(rows, columns=columns), ["kgp-tfidf"], **FEW))
    assert values == {
        ("", "kgp-tfidf, 10 passages, vectors at hand"): 1.0,
        ("", "kgp-tfidf, 10 passages, encoded anew"): -4.0,
    }


def test_kgp_19_is_an_exponent_over_two_sizes_at_least() -> None:
    times = pd.DataFrame({"passages": [10, 10, 100, 100], "seconds": [1.0, 1.0, 10.0, 10.0]})
    times["question"] = IDS * 2
    [part] = kgp.kgp_19(times, **FEW)
    assert part.effect.value == pytest.approx(1) and part.effect.n == 2
    assert not list(kgp.kgp_19(times[:2], **FEW))
