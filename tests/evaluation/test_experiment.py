"""What ``evaluate`` measures, on rankings that are plain to see.

Passages stand in the order of their ids, and reversed.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kit.corpus import (
    Benchmark,
    Corpus,
    EvidenceGraph,
    Passage,
    Query,
    Question,
    check,
    example,
    export,
)
from kit.errors import InputError
from kit.evaluation import (
    all_seeds,
    before_training,
    evaluate,
    experiment,
    of_seeds,
    per_question,
    per_seed,
    statistics,
    time_parts,
    variants,
)
from kit.methods import Ranking, Retriever
from kit.methods.baselines.classic import Dense
from kit.text import Encoder


@pytest.fixture
def evaluated(alphabetical, reverse, benchmark):
    return evaluate(
        {"a to z": alphabetical, "z to a": reverse}, benchmark, ks=(5, 2), k=6, progress=False
    )


def test_what_is_asked_as_before_training_never_learns(alphabetical, reverse, benchmark) -> None:
    names = {"by name": alphabetical, "by name, untrained": reverse}
    result = evaluate(names, benchmark, ks=(2,), k=6, progress=False)
    assert len(alphabetical.fitted) == 1 and reverse.fitted == []
    gain = result.gain_of_training("by name", "recall@2")
    assert gain[:4] == result.gain("by name", "by name, untrained", "recall@2")[:4]
    [(name, network)] = before_training("encoder", "dpr", seed=3).items()
    assert name == "encoder, untrained" and network.settings.seed == 3 and not network.history


def test_the_best_rival_is_chosen_on_the_other_half(alphabetical, reverse, benchmark) -> None:
    """Recall@2 of a to z is 1, 0, 1/4 and of z to a 0, 1, 1/2: each is best elsewhere."""
    names = {"a to z": alphabetical, "z to a": reverse, "mine": type(reverse)()}
    result = evaluate(names, benchmark, ks=(2,), k=6, progress=False)
    gain, chosen = result.gain_over_best("mine", ["a to z", "z to a"], "recall@2")
    # The second question has a to z, which is best on the first and third: 0 − 0.
    # These have z to a, which is best on the second: 1 − 0 and 1/4 − 1/2.
    assert gain.value == pytest.approx((1 - 1 / 4) / 3) and chosen == ["z to a", "a to z"]
    values = per_seed(result, "a to z", "recall@2")
    assert values["a to z"].tolist() == [1, 0, 1 / 4]


def test_table(evaluated) -> None:
    columns = [
        "retriever",
        "question",
        "hops",
        "type",
        "structure",
        "recall@2",
        "recall@5",
        "full@2",
        "full@5",
        "mrr",
    ]
    assert list(evaluated.table.columns) == [
        *columns[:5],
        "shape",
        *columns[5:],
        "seconds",
        "calls",
        "tokens",
    ]
    assert evaluated.table["shape"].tolist() == ["chain", "flat", ""] * 2
    # By hand: ranks of the supports are a to z 1 2 | 3 5 | 1 3 5 6, z to a 6 5 | 3 2 | 6 4 2 1.
    assert evaluated.table[columns].values.tolist() == [
        ["a to z", "q1", 2, "bridge", "single-chain multi-hop", 1, 1, 1, 1, 1],
        ["a to z", "q2", 2, "comparison", "multi-chain single-hop", 0, 1, 0, 1, 1 / 3],
        ["a to z", "q3", 4, "bridge", "", 1 / 4, 3 / 4, 0, 0, 1],
        ["z to a", "q1", 2, "bridge", "single-chain multi-hop", 0, 1 / 2, 0, 0, 1 / 5],
        ["z to a", "q2", 2, "comparison", "multi-chain single-hop", 1 / 2, 1, 0, 1, 1 / 2],
        ["z to a", "q3", 4, "bridge", "", 1 / 2, 3 / 4, 0, 0, 1],
    ]


def test_calls_and_tokens_of_a_model_are_those_of_asking_each_question_once(
    alphabetical, benchmark
) -> None:
    class Asking(type(alphabetical)):
        def usage(self) -> pd.DataFrame:
            n = len(self.asked)  # those whose time is taken among them
            expected = {"calls": [n, n], "prompt_tokens": [5 * n, 0], "answer_tokens": [n, 0]}
            return pd.DataFrame({"model": "m", "source": ["live", "replayed"]} | expected)

    evaluated = evaluate(
        {"asks": Asking(), "plain": alphabetical}, benchmark, ks=(2,), n_timed=2, progress=False
    )
    costs = evaluated.table.set_index("retriever")[["calls", "tokens"]]
    assert costs.loc["asks"].to_numpy().tolist() == [[2, 6]] * 3 and costs.loc["plain"].isna().all(
        axis=None
    )
    assert "2.0 a question" in evaluated.text() and "calls" not in evaluated.only(["plain"]).text()


def test_seeds_are_shown_as_their_mean_and_compared_one_by_one(
    alphabetical, reverse, benchmark
) -> None:
    named = {"base": alphabetical, "x": alphabetical, "x, seed 4": reverse}
    evaluated = evaluate(named, benchmark, ks=(2,), k=6, progress=False)
    assert list(evaluated.rankings) == ["base", "x"] == list(evaluated.table["retriever"].unique())
    assert per_question(evaluated, "recall@2")["x"].tolist() == [1 / 2, 1 / 4, 3 / 8]
    assert evaluated.table["hops"].tolist() == [2, 2, 4] * 2 and len(evaluated.runs) == 9
    gain = evaluated.gain("x", over="base", metric="recall@2")
    assert gain.draws == (
        0,
        pytest.approx((-1 + 1 / 2 + 1 / 4) / 3),
    ) and gain.value == pytest.approx(sum(gain.draws) / 2)
    assert evaluated.gain("base", over="x", metric="recall@2").rival == pytest.approx(
        (1 / 2 + 1 / 4 + 3 / 8) / 3
    )


def test_seeds_have_names() -> None:
    made = of_seeds("trained", (3, 4, 5), "gnn-ret", n_train=20) | {"dense": Dense()}
    assert list(made) == ["trained", "trained, seed 4", "trained, seed 5", "dense"]
    assert [retriever.settings.seed for retriever in all_seeds(made, "trained")] == [3, 4, 5]
    assert all_seeds(made, "dense", "none") == (made["dense"],) and all_seeds(made, "train") == ()


def test_only_the_first_k_count(alphabetical, reverse, benchmark) -> None:
    reverse.retrieve_many = lambda queries, k: [
        Ranking(tuple("defabc"), np.zeros(6)) for _ in queries
    ]
    evaluated = evaluate(
        {"short": alphabetical, "generous": reverse}, benchmark, ks=(1,), k=2, progress=False
    )
    assert all(len(ranking.ids) == 2 for ranking in evaluated.rankings["short"].values())
    assert evaluated.table["mrr"].tolist() == [
        1,
        0,
        1,
        0,
        1,
        1 / 2,
    ]  # the first support of q2 is third of the short one


def test_retrievers_see_no_gold(evaluated, alphabetical, benchmark) -> None:
    assert alphabetical.asked == [Query("q1", "one"), Query("q2", "two"), Query("q3", "three")]
    (fitted,) = alphabetical.fitted
    assert fitted.test == () and fitted.train == benchmark.train
    assert alphabetical.indexed == [benchmark.corpus]
    other = Benchmark(
        "other", Corpus([Passage("p", "p", "", "p")]), train=benchmark.train, test=benchmark.test
    )
    evaluate({"x": alphabetical}, benchmark, training=other, progress=False)
    assert alphabetical.fitted[1].name == "other" and alphabetical.fitted[1].test == ()


def test_per_question(alphabetical, per_question) -> None:
    evaluated = evaluate({"x": alphabetical}, per_question, ks=(2,), progress=False)
    assert [list(corpus.row) for corpus in alphabetical.indexed] == [
        ["a", "b", "c"],
        ["c", "d", "e"],
        list("acef"),
    ]
    assert evaluated.table["recall@2"].tolist() == [1, 1 / 2, 1 / 2]


class Slow(Retriever):
    """Takes 100 to learn, 1 to index a passage, 3 for each call, and counts the calls."""

    def __init__(self, clock: list[float]) -> None:
        self.clock = clock
        self.calls = []

    def fit(self, benchmark: Benchmark) -> None:
        self.clock[0] += 100

    def index(self, corpus: Corpus) -> None:
        self.clock[0] += len(corpus)

    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        self.clock[0] += 3
        self.calls.append([query.id for query in queries])
        return [Ranking(("a",), np.zeros(1)) for _ in queries]


def test_times_are_of_a_sample_asked_one_by_one(
    benchmark, per_question, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(experiment.time, "perf_counter", lambda: clock[0])
    slow = Slow(clock)
    other = Slow(clock)
    pooled = evaluate({"slow": slow, "other": other}, benchmark, n_timed=2, progress=False)
    assert pooled.seconds_to_fit == {"slow": 106, "other": 106}
    assert set(pooled.table["seconds"].dropna()) == {3}

    *single, together = slow.calls
    assert together == ["q1", "q2", "q3"]
    assert slow.calls == other.calls
    assert [len(ids) for ids in single] == [1, 1, 1]
    assert single[0] == single[-1]  # once to warm up
    is_timed = [[passage] in single for passage in 2 * together]
    assert pooled.table["seconds"].notna().tolist() == is_timed

    caption = "Times: 2 questions, one after another on one thread, each encoded anew"
    assert caption in pooled.caption
    assert "Times" not in evaluate({"slow": Slow(clock)}, benchmark, progress=False).caption
    assert pooled.gain("slow", over="other", metric="seconds")[:4] == (0, 0, 0, 2)

    closed = evaluate({"slow": Slow(clock)}, per_question, n_timed=99, progress=False)
    assert closed.seconds_to_fit == {"slow": 100 + 3 + 3 + 4}
    assert closed.table["seconds"].tolist() == [3, 3, 3]


def test_the_vector_of_a_question_is_made_anew_where_it_is_timed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dense = Dense()
    read = []
    dense.index(example().corpus)

    def embed(self: Encoder, texts: list[str], role: str) -> np.ndarray:
        read.extend(texts)
        return np.ones((len(texts), 384), np.float32)

    monkeypatch.setattr(Encoder, "_embed", embed)
    time_parts(dense, example().test, 2)
    town, river = (question.text for question in example().test)
    assert read == [river, town, river]


def test_summary(evaluated) -> None:
    summary = evaluated.summary().set_index(["retriever", "metric"])
    assert list(summary.columns) == ["mean", "low", "high", "n"] and (summary["n"] == 3).all()
    assert summary.loc[("a to z", "recall@2"), "mean"] == pytest.approx(5 / 12)
    assert summary.loc[("z to a", "mrr"), "mean"] == pytest.approx(17 / 30)
    values = evaluated.table.query("retriever == 'a to z'")["recall@5"]
    expected = statistics.interval(values, 0)[:3]
    assert summary.loc[("a to z", "recall@5"), ["mean", "low", "high"]].tolist() == pytest.approx(
        expected
    )
    by_hops = evaluated.summary(by="hops")
    assert list(by_hops.columns) == ["retriever", "hops", "metric", "mean", "low", "high", "n"]
    assert by_hops["retriever"].drop_duplicates().tolist() == ["a to z", "z to a"]
    single = by_hops.query("hops == 4 and metric == 'recall@2'")
    assert single["mean"].tolist() == [1 / 4, 1 / 2] and single["low"].isna().all()
    crossed = evaluated.summary(by=["type", "hops"])
    crossed = crossed.query("metric == 'mrr' and retriever == 'a to z'")
    assert crossed[["type", "hops", "n"]].values.tolist() == [
        ["bridge", 2, 1],
        ["bridge", 4, 1],
        ["comparison", 2, 1],
    ]


class Always(Retriever):
    """One and the same passage for every question."""

    name = "always"

    def __init__(self, passage: str) -> None:
        super().__init__()
        self.id = passage

    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        return [Ranking((self.id,), np.ones(1)) for _ in queries]


def test_compare() -> None:
    """Of 200 one-hop questions of two kinds ``good`` finds the supports of 20, ``bad`` none."""
    corpus = Corpus(Passage(passage, "", "", passage) for passage in "xyz")
    questions = [
        Question(f"q{i}", "", "", (("x" if i < 20 else "y",),), type="ab"[i % 2])
        for i in range(200)
    ]
    many = Benchmark("many", corpus, test=questions)
    evaluated = evaluate({"bad": Always("z"), "good": Always("x")}, many, ks=(1,), progress=False)
    row = evaluated.compare("bad", "recall@1").iloc[0]
    assert (row["retriever"], row["baseline"], row["metric"], row["n"]) == (
        "good",
        "bad",
        "recall@1",
        200,
    )
    assert row["difference"] == pytest.approx(0.1)
    # Normal approximation of the interval of a share: .1 ± 1.96 √(.1 · .9 / 200).
    assert (row["low"], row["high"]) == pytest.approx((0.0584, 0.1416), abs=0.006)
    assert row["p"] < 0.001 and row["p_holm"] == row["p"]
    table = evaluated.compare("bad", "recall@1", by="type")
    assert table["type"].tolist() == ["a", "b"] and table["n"].tolist() == [100, 100]
    # 10 changes of one sign: 2 of 1024 signings are as far from 0, and two rows are tested.
    assert table["p"].tolist() == pytest.approx([2 / 1024] * 2)
    assert table["p_holm"].tolist() == pytest.approx([4 / 1024] * 2)


def test_caption(evaluated) -> None:
    assert "3 questions, 6 passages (pooled)" in evaluated.caption
    expected = "1 of 3 questions have more than 2 supports: Full@2 counts them as 0, "
    expected += "Recall@2 can reach 0.833."
    assert expected in evaluated.caption and "Full@5" not in evaluated.caption


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ks": ()}, "field k: expected cut-offs from 1"),
        ({"ks": (0, 5)}, "field k: expected cut-offs from 1"),
        ({"ks": (5,), "k": 3}, r"up to the length of a ranking \(3\), not \[5\]"),
    ],
)
def test_bad_settings(settings, message, alphabetical, benchmark) -> None:
    with pytest.raises(InputError, match=message):
        evaluate({"x": alphabetical}, benchmark, progress=False, **settings)
    with pytest.raises(InputError, match="record small: expected questions in test, found none"):
        evaluate({"x": alphabetical}, benchmark.without_test(), progress=False)
    assert alphabetical.indexed == []


def test_some_of_the_retrievers(evaluated) -> None:
    part = evaluated.only(["z to a"])
    assert part.table.equals(evaluated.table.iloc[3:].reset_index(drop=True)) and list(
        part.rankings
    ) == ["z to a"]
    assert (
        part.summary()["mean"].tolist()
        == evaluated.summary().query("retriever == 'z to a'")["mean"].tolist()
    )


# ---- retrievers beside each other


@pytest.fixture
def backwards(alphabetical, reverse, benchmark) -> experiment.Experiment:
    """Names and questions against their alphabetical order: a table that sorts is noticed."""
    named = {"z to a": reverse, "a to z": alphabetical}
    turned = benchmark.asking(benchmark.test[::-1])
    return evaluate(named, turned, ks=(2, 5), seed=7, n_resamples=500, progress=False)


def test_a_metric_of_each_question_as_asked(backwards) -> None:
    # By hand: q3 needs a c e f, q2 needs c or d, and e, q1 needs a b.
    # The first two are f e, or a b.
    values = per_question(backwards, "recall@2")
    assert values.index.tolist() == ["q3", "q2", "q1"] and values.columns.tolist() == [
        "z to a",
        "a to z",
    ]
    assert values.to_numpy().tolist() == [[1 / 2, 1 / 4], [1 / 2, 0], [0, 1]]


def test_each_variant_beside_the_first_of_its_group(backwards) -> None:
    table = variants(backwards, {"order": ["a to z", "z to a"], "alone": ["z to a"]}, "recall@2")
    assert table["group"].tolist() == ["order", "order", "alone"] and set(table["n"]) == {3}
    assert table["mean"].tolist() == pytest.approx([5 / 12, 1 / 3, 1 / 3])
    # (1/2 − 1/4 + 1/2 − 0 + 0 − 1) / 3; the first of a group has nothing to differ from.
    assert table["difference"].tolist() == pytest.approx([np.nan, -1 / 12, np.nan], nan_ok=True)
    assert table[["difference_low", "difference_high"]].isna().any(axis=1).tolist() == [
        True,
        False,
        True,
    ]


def test_a_gain_is_the_difference_of_the_comparison(backwards) -> None:
    row = backwards.compare("a to z", "recall@5").iloc[0]
    gain = backwards.gain("z to a", over="a to z")
    assert gain[:5] == (row["difference"], row["low"], row["high"], row["n"], row["p"])
    assert gain.value == pytest.approx(
        -1 / 6
    )  # q1 alone: z to a has one of its two supports among five
    seeds = backwards.gain(["a to z", "z to a"], over="z to a", metric="recall@2")
    assert seeds.value == pytest.approx(1 / 24)


class Chained(Dense):
    """The nearest passages, the first two as a chain."""

    def rank(self, queries, k: int) -> list[Ranking]:
        chain = EvidenceGraph(2, ((0, 1),))
        rankings = super().rank(queries, k)
        return [Ranking(ranking.ids, ranking.scores, evidence=chain) for ranking in rankings]


@pytest.mark.parametrize("setting", ["pooled", "per-question"])
def test_a_question_that_is_a_passage_does_not_find_itself(setting: str) -> None:
    # As in Quora: each passage but the last is asked, too, and its duplicate is to be found. The
    # last question shares its id with a support by chance.
    texts = {"1": "Who made it?", "2": "Who has made it?", "3": "What is it?", "4": "And when?"}
    corpus = Corpus(Passage(name, "", text, name) for name, text in texts.items())
    pairs = (("1", "2"), ("2", "1"), ("4", "4"))
    questions = [Question(name, texts[name], "", ((support,),)) for name, support in pairs]
    benchmark = Benchmark("duplicates", corpus, test=questions)
    if setting == "per-question":
        benchmark.collections = {name: np.arange(4) for name, _ in pairs}

    retrievers = {"dense": Dense(), "chained": Chained()}
    measured = evaluate(retrievers, benchmark, ks=(1, 3), n_timed=2, progress=False)
    assert measured.table["recall@1"].tolist() == [1] * 6
    assert measured.rankings["dense"]["1"].ids[0] == "2"
    assert [len(ranking.ids) for ranking in measured.rankings["dense"].values()] == [3, 3, 3]
    assert "2 of 3 questions have the id of a passage, which is left out" in measured.caption
    graph = measured.rankings["chained"]["1"].evidence  # it began with the question's own passage
    assert graph is None

    kept = evaluate(["dense"], benchmark, ks=(1,), ignore_identical_ids=False, progress=False)
    assert kept.table["recall@1"].tolist() == [0, 0, 1]
    assert "the id of a passage" not in kept.caption


# ---- copies


def test_either_of_two_passages_of_the_same_text_counts_where_that_is_asked_for(
    alphabetical: Retriever, tmp_path: Path
) -> None:
    """a and c are one text, but for white space; d has the text under another title."""
    passages = [
        Passage("a", "Oll", "Oll is a town.", "a"),
        Passage("b", "Selby", "Selby is a town.", "b"),
        Passage("c", "Oll", "Oll is  a town.\n", "c"),
        Passage("d", "Oll (film)", "Oll is a town.", "d"),
    ]
    questions = [Question("q1", "Oll?", "x", (("c",), ("b",))), Question("q2", "?", "x", (("d",),))]
    benchmark = Benchmark("copies", Corpus(passages), test=questions)
    exact = evaluate({"a to z": alphabetical}, benchmark, ks=(1, 2, 3), progress=False)
    assert exact.table["recall@1"].tolist() == [0, 0]
    assert exact.table["recall@2"].tolist() == [0.5, 0]
    assert "copies" not in exact.caption

    by_text = evaluate(
        {"a to z": alphabetical}, benchmark, ks=(1, 2, 3), same_text=True, progress=False
    )
    assert by_text.table["recall@1"].tolist() == [0.5, 0]
    assert by_text.table["recall@2"].tolist() == [1, 0]
    assert by_text.table["mrr"].tolist() == [1, 0]
    copies = "1 of 2 questions have a support of which the corpus has copies, each of which counts."
    assert copies in by_text.caption
    assert by_text.questions == benchmark.test

    errors, notes = check(export(benchmark, tmp_path / "folder", "kit"))
    assert errors == []
    assert [note.partition(": ")[2] for note in notes] == [
        "1 of 2 questions have a support of which the corpus has copies under other ids, "
        "the first is q1: `kit evaluate --same-text` takes any of them"
    ]
