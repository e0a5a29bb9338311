"""What is measured for claims of QSGNN, by hand."""

from collections.abc import Iterable, Sequence
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from kit.corpus import Question, example
from kit.evaluation import SEED, Experiment, mean_over_seeds
from kit.evaluation.results import UNTRAINED
from kit.lab.claims import qsgnn
from kit.lab.claims import qsgnn_networks as networks
from kit.lab.claims.measured import Measured
from kit.lab.claims.qsgnn_networks import PARTS, STAGES, WHOLE, Ablations, Grid
from kit.methods import make

HAND = example()
FEW = {"seed": 0, "n_resamples": 100}
HOPS = (2, 2, 3, 4, 4)
QUESTIONS = tuple(
    Question(f"q{n}", "Who?", "She", tuple((f"p{m}",) for m in range(hops)))
    for n, hops in enumerate(HOPS)
)
ALL = 1.0
NONE = 0.0


def experiment(**recalls: float | Sequence[float]) -> Experiment:
    """Two seeds of each retriever, whose Recall@5 is the same or stands per question."""
    rows = []
    for name, values in recalls.items():
        for seed in ("", f"{SEED}1"):
            of_questions = np.broadcast_to(np.asarray(values, float), len(QUESTIONS))
            for question, recall in zip(QUESTIONS, of_questions):
                about = {"retriever": name + seed, "question": question.id, "hops": question.hops}
                rows.append(about | {"recall@5": recall})
    runs = pd.DataFrame(rows)
    return Experiment(
        table=mean_over_seeds(runs),
        rankings={name: {} for name in recalls},
        seconds_to_fit={},
        benchmark=HAND,
        questions=QUESTIONS,
        ks=(5,),
        draws=FEW,
        runs=runs,
    )


def ablations(dense: float = NONE, **recalls: float | Sequence[float]) -> Ablations:
    """Networks with these recalls; underscores stand for spaces, ``whole`` for all of it."""
    named = {}
    for name, values in recalls.items():
        label = WHOLE if name == "whole" else name.removeprefix("n_").replace("_", " ")
        named[label.replace("pre training", "pre-training").replace("fine t", "fine-t")] = values
    grid = Grid({}, {label: {} for label in named}, {}, frozenset())
    made = experiment(**named)
    whole = SimpleNamespace(settings=SimpleNamespace(dimension=64))
    recalls_of_dense = pd.Series(dense, index=[question.id for question in QUESTIONS])
    return Ablations(grid, {WHOLE: whole}, made, recalls_of_dense)


def effects(measured: Iterable[Measured]) -> dict[str, float]:
    """The values by criterion, or by case where that has no name."""
    return {part.criterion or part.case: part.effect.value for part in measured}


def test_qsgnn_01_is_over_dense_its_own_start_and_the_best_other() -> None:
    values = {"qsgnn": 0.75, "qsgnn, untrained": 0.5, "dense": 0.25, "mdr": 0.75, "residual": 1}
    measured = list(qsgnn.qsgnn_01(experiment(**values), {}))
    assert effects(measured) == {
        "over dense": 0.5,
        "over untrained": 0.25,
        "over the best other": 0,
    }
    assert measured[-1].how == "qsgnn − mdr"  # another form of itself is no rival


def test_qsgnn_02_and_14_are_over_the_best_graph_search() -> None:
    searches = {"pagerank": 0.5, "gnn-ret": 0.25, "kgp-tfidf": NONE, "kgp-dense": NONE}
    made = experiment(qsgnn=(0.5, 0.5, 0.75, 1, 1), **searches)
    assert effects(qsgnn.qsgnn_02(made, {})) == {"four over two": 0.5, "four over three": 0.25}
    [measured] = qsgnn.qsgnn_14(made, {})
    assert (measured.effect.value, measured.how) == (0, "over pagerank")


def test_qsgnn_16_is_the_slope_over_hops_of_the_papers_kinds() -> None:
    made = experiment(dense=(1, 1, 0.5, 0, 0), **{"rgnn-ret": ALL, "bm25": ALL})
    assert effects(qsgnn.qsgnn_16(made)) == {"dense": -0.5, "bm25": 0}


def test_qsgnn_13_takes_search_apart_from_encoding() -> None:
    rows = []
    for name, seconds in {"qsgnn": 0.2, "dense": 0.1, "pagerank": 0.5}.items():
        for question in ("q", "r"):
            about = {"question": question, "retriever": name, "passages": 1000}
            rows.append(about | {"seconds": seconds + 1, "encoding": 1})
    over_dense, search = qsgnn.qsgnn_13(pd.DataFrame(rows), **FEW)
    assert (over_dense.effect.value, over_dense.case) == (pytest.approx(0.1), "1,000 passages")
    assert search.effect.value == pytest.approx(0.3)
    assert search.untestable and not over_dense.untestable
    untrained = pd.DataFrame(rows[2:])
    assert list(qsgnn.qsgnn_13(untrained, **FEW)) == []


def test_what_a_part_costs_and_how_that_grows_with_hops() -> None:
    made = ablations(
        whole=ALL,
        no_query=(1, 1, 1, 0.5, 0.5),
        no_intra=0.5,
        no_chunk=0.75,
        no_document=0.75,
        no_entity=0.25,
        dense=0.75,
    )
    assert effects(qsgnn.qsgnn_03(made)) == {"loss": pytest.approx(0.2), "growth with hops": 0.5}
    assert effects(qsgnn.qsgnn_07(made)) == {"": 0.5}
    assert effects(qsgnn.qsgnn_08(made)) == {"": 0.25}
    [measured] = qsgnn.qsgnn_06(made)
    assert (measured.effect.value, measured.how) == (0.25, "no intra − no entity")
    assert effects(qsgnn.qsgnn_15(made)) == {"": -0.25}


def test_stages_of_the_training_are_measured_where_there_are_any() -> None:
    made = ablations(whole=ALL, no_pre_training=0.25, no_fine_tuning=0.5, dense=0.5)
    assert effects(qsgnn.qsgnn_04(made)) == {"loss": 0.75, "below dense": 0.25}
    assert effects(qsgnn.qsgnn_05(made)) == {"2 hops": 0.5, "4 hops": 0.5}
    bare = ablations(whole=ALL)
    assert list(qsgnn.qsgnn_04(bare)) == list(qsgnn.qsgnn_05(bare)) == []


def test_sizes_are_measured_where_they_were_trained() -> None:
    negatives = {f"n_{n}_negatives": 0.5 + n / 200 for n in (10, 30, 50, 100)}
    made = ablations(
        whole=ALL,
        n_1_layer=0.5,
        n_4_layers=0.25,
        n_32_wide=0.75,
        a_quarter_of_the_synthetic=0.5,
        n_1_negatives=NONE,
        **negatives,
    )
    assert effects(qsgnn.qsgnn_09(made)) == {"slope": 0.25}
    assert effects(qsgnn.qsgnn_10(made)) == {"": 0.25}
    layers = {"two over one": 0.5, "growth with hops": 0, "two over four": 0.75}
    assert effects(qsgnn.qsgnn_11(made)) == layers
    measured = list(qsgnn.qsgnn_12(made))
    assert [part.case for part in measured] == ["", "50", "100"]
    assert [part.effect.value for part in measured] == pytest.approx([0.55, 0.1, 0.35])

    bare = ablations(whole=ALL, n_1_layer=0.5)
    assert list(effects(qsgnn.qsgnn_11(bare))) == ["two over one", "growth with hops"]
    for claim in (qsgnn.qsgnn_09, qsgnn.qsgnn_10, qsgnn.qsgnn_12):
        assert list(claim(bare)) == []


def test_qsgnn_18_compares_attention_and_what_noise_costs() -> None:
    rows = []
    for question in ("q", "r"):
        for seed in (0, 1):
            heard = {"trained": 0.5, "untrained": 0.25, "another question": 0.125}
            rows.append({"question": question, "seed": seed} | heard)
    disturbed = experiment(
        **{
            "all of it, 0% more edges": ALL,
            "all of it, 200% more edges": 0.75,
            "no query, 0% more edges": ALL,
            "no query, 200% more edges": 0.25,
        }
    )
    made = ablations(whole=ALL, no_query=ALL)
    assert effects(qsgnn.qsgnn_18(pd.DataFrame(rows), disturbed, made, **FEW)) == {
        "attention over untrained": 0.25,
        "attention over another question": 0.375,
        "loss from noise": 0.5,
    }
    without = qsgnn.qsgnn_18(pd.DataFrame(), disturbed, made, **FEW)
    assert list(effects(without)) == ["loss from noise"]


def test_qsgnn_19_is_what_a_misspelt_name_costs_beyond_others() -> None:
    lost = {"qsgnn": np.full((3, 2), 0.5), "bm25": np.full((3, 1), 0.75), "dense": np.zeros((3, 1))}
    assert effects(qsgnn.qsgnn_19(lost, ablations(whole=ALL), **FEW)) == {
        "bm25": -0.25,
        "dense": 0.5,
    }


def test_qsgnn_17_and_20_are_of_answers() -> None:
    f1 = pd.DataFrame({"qsgnn": [0.5] * 4, "dense": [0.25] * 4, "ircot": [1.0] * 4})
    recalls = f1.assign(golden=1.0)
    reader = object()
    correlation, gain = qsgnn.qsgnn_17(f1, recalls, ["ircot"], "network", [reader], "", **FEW)
    assert correlation.effect.value == pytest.approx(1)
    assert (gain.effect.value, gain.case) == (0.25, "over dense")
    assert gain.trained == ("network", reader)
    spans = pd.DataFrame({"qsgnn": [0.5] * 4, "sentences": [0.75] * 4})
    [measured] = qsgnn.qsgnn_20(spans, "network", reader, "cannot read", **FEW)
    assert (measured.effect.value, measured.untestable) == (-0.25, "cannot read")


# ---- the networks


def test_a_grid_has_the_start_of_each_network() -> None:
    changes = {WHOLE: {}} | {f"no {part}": {"ablate": part} for part in (*PARTS, *STAGES)}
    changes |= {"1 layer": {"layers": 1}, "10 negatives": {"negatives": 10}}
    grid = Grid({"synthetic": 4, "epochs": 1}, changes, {}, frozenset([WHOLE]))
    assert grid.starts["no query"] == "no query" + UNTRAINED
    for name in ("10 negatives", "no pre-training", "no fine-tuning"):
        assert grid.starts[name] == WHOLE + UNTRAINED
    cells = grid.cells(0, range(2))
    assert cells[f"{WHOLE}{SEED}1"] == {"synthetic": 4, "epochs": 1, "seed": 1}
    assert f"no query{SEED}1" not in cells
    assert cells["1 layer" + UNTRAINED] == {"layers": 1, "synthetic": 0, "epochs": 0, "seed": 0}


def test_attention_beyond_an_even_share_of_entities_that_hear_both() -> None:
    """Entity 0 hears a support and another, by .8 and .2: .3 beyond ½; in a second layer by .5.

    Entity 1 hears a support alone: it can't but listen.
    """
    is_support = np.array([True, False])
    sender = np.array([0, 1, 0])
    entity = np.array([0, 0, 1])
    layers = [np.array([0.8, 0.2, 1.0]), np.array([0.5, 0.5, 1.0])]
    assert networks.on_supports(layers, is_support, sender, entity) == pytest.approx(0.15)
    assert np.isnan(networks.on_supports(layers, is_support, sender[2:], entity[2:] - 1))


def test_attention_is_of_one_network_steered_by_two_questions_on_one_graph() -> None:
    network = make("qsgnn", documents=0, dimension=16, start="untrained")
    network.index(HAND.corpus)
    town, river = HAND.test
    shares = networks.attention_of(network, network, town, river)
    assert shares["trained"] == shares["untrained"] != shares["another question"]
    same = networks.attention_of(network, network, town, town)
    assert shares["trained"] == same["another question"]

    table = networks.attention_on_supports([network], network, HAND.test)
    assert set(table["question"]) <= {question.id for question in HAND.test}


def test_random_edges_come_beside_those_that_there_are() -> None:
    settings = {"start": "untrained", "documents": 0, "dimension": 16}
    noisy = networks.with_random_edges({WHOLE: settings, f"no query{SEED}1": settings, "x": {}})
    assert list(noisy) == [
        *(networks.noisy_name(WHOLE, share) for share in networks.SHARES),
        *(networks.noisy_name("no query", share) + f"{SEED}1" for share in networks.SHARES),
    ]
    counts = []
    for network in list(noisy.values())[:3]:
        network.index(HAND.corpus)
        counts.append(network.graph.data["oo"].edge_index.shape[1])
    assert counts[0] == 5 and counts[0] <= counts[1] <= counts[2]


def test_the_longest_name_is_misspelt() -> None:
    generator = np.random.default_rng(0)
    question = Question("q", "Who directed The Glass Harbour?", "She", (("p",),))
    wrong = networks.misspelt(question, generator)
    assert wrong.text != question.text and sorted(wrong.text) == sorted(question.text)
    assert wrong.text.startswith("Who directed The Glass ")
    nameless = Question("q", "Who was it?", "She", (("p",),))
    assert networks.misspelt(nameless, generator) is None


def test_the_best_sentences_are_of_the_graph() -> None:
    network = make("qsgnn", documents=0, dimension=16, start="untrained")
    network.index(HAND.corpus)
    sentences = networks.sentences_of(network, HAND.test[0])
    assert len(set(sentences)) == 10 and set(sentences) <= set(network.graph.chunks)
