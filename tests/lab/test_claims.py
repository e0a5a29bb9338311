"""The claims as data, the rule for verdicts at each of its edges, and the ledger from records."""

import math
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.corpus import load
from kit.errors import InputError
from kit.evaluation.statistics import Estimate, diff_of_means, interval, paired, slope
from kit.fingerprint import with_imports
from kit.lab.claims import findings
from kit.lab.claims.claims import CLAIMS, DEPARTS, Criterion
from kit.lab.claims.findings import (
    Finding,
    cannot_read,
    cell_of,
    finding,
    has_learned,
    is_a_bound,
    show_effect,
    too_low,
    verdicts,
)
from kit.lab.claims.ledger import (
    Record,
    code_hash,
    ledger,
    ledger_page,
    modules_behind,
    read_records,
)
from kit.methods import make

GAIN = Criterion(above=0)
LOSS = Criterion(below=0)
ALIKE = Criterion(above=-0.02, below=0.02)


def test_all_claims_are_there() -> None:
    papers = [claim.paper for claim in CLAIMS.values()]
    assert Counter(papers) == {
        "kgp": 19,
        "gnn-ret": 22,
        "qsgnn": 20,
        "bgr": 14,
        "ras": 15,
        "peers": 6,
    }
    assert list(CLAIMS) == [
        f"{paper}-{papers[:i].count(paper) + 1:02d}" for i, paper in enumerate(papers)
    ]
    for claim in CLAIMS.values():
        names = [criterion.name for criterion in claim.criteria]
        assert names and len(set(names)) == len(names) and (names == [""] or all(names)), claim.id
        for criterion in claim.criteria:
            assert criterion.above < criterion.below and (criterion.above, criterion.below) != (
                -math.inf,
                math.inf,
            )
        departs = claim.departs or DEPARTS[claim.paper]
        for text in (
            claim.source,
            claim.claim,
            claim.measure,
            claim.paper_number,
            departs,
            *claim.needs,
        ):
            assert text.strip() == text != ""
        assert claim.needs and claim.claim.endswith(".") and claim.measure.endswith(".")


@pytest.mark.parametrize(
    ("criterion", "effect", "low", "high", "n", "expected"),
    [
        (GAIN, 0.05, 0.01, 0.09, 100, "reproduced"),
        (GAIN, 0.05, 0.0, 0.09, 100, "undecided"),  # 0 is not on the claimed side
        (GAIN, -0.05, -0.09, -0.01, 100, "not reproduced"),
        (GAIN, 0.0, -0.009, 0.009, 1000, "not reproduced"),  # around 0 and wholly below one point
        (GAIN, 0.0, -0.01, 0.01, 1000, "undecided"),
        (GAIN, 0.005, 0.001, 0.009, 1000, "reproduced"),  # small, but on the claimed side
        (ALIKE, 0.0, -0.019, 0.019, 100, "reproduced"),
        (ALIKE, 0.0, -0.02, 0.019, 100, "undecided"),
        (ALIKE, 0.05, 0.03, 0.07, 100, "not reproduced"),
        (Criterion(above=-0.02), -0.02, -0.03, -0.01, 100, "undecided"),
        (
            Criterion(above=0, unit="correlation"),
            0.0,
            -0.005,
            0.005,
            100,
            "undecided",
        ),  # points are for shares
        (Criterion(above=1, below=2, unit="exponent"), 1.5, 1.1, 1.9, 5, "reproduced"),
        (GAIN, 0.05, None, None, 1, "undecided"),
    ],
)
def test_verdict(
    criterion: Criterion, effect: float, low: float, high: float, n: int, expected: str
) -> None:
    low, high = (math.nan if end is None else end for end in (low, high))
    assert judge(criterion, effect, low, high, n) == expected


def judge(
    criterion: Criterion,
    *measured: float,
    learned: bool | None = None,
    seeds: int = 0,
    **more: float,
) -> str:
    """The verdict on an estimate, by a criterion of a direct claim."""
    result = finding("kgp-01", Estimate(*measured, **more), criterion="SF-EM")
    result = msgspec.structs.replace(result, learned=learned, seeds=seeds)
    state, _ = findings.verdict(result, criterion)
    return state


@pytest.mark.parametrize(
    ("criterion", "gains", "rivals", "expected"),
    [
        (GAIN, [0.5] * 6 + [0] * 2, 0.5, "reproduced"),  # exact p 2 / 64
        (GAIN, [0.5] * 5 + [0] * 3, 0.5, "undecided"),  # exact p 2 / 32, whatever the interval
        (GAIN, [-0.5] * 3 + [0] * 13, 0.5, "undecided"),  # 3 of 16 questions
        (
            GAIN,
            [1, 0, 0, 0, 0, 0, 0, 0],
            0.5,
            "undecided",
        ),  # one question differs, whichever way it goes
        (GAIN, [-1] + [0] * 999, 0.5, "undecided"),
        (GAIN, [-1, -1] + [0] * 998, 0.5, "not reproduced"),
        (GAIN, [0] * 1000, 0.5, "not tested"),  # the same numbers, maybe of the same network
        (LOSS, [-1] + [0] * 999, 0.5, "undecided"),
        (ALIKE, [1e-6] + [0] * 148, 0.5, "undecided"),  # 3 in 149 may yet differ
        (ALIKE, [1e-6] + [0] * 150, 0.5, "reproduced"),
        (ALIKE, [0] * 151, 0.5, "not tested"),
        (GAIN, [-1, -1] + [0] * 998, 1.0, "undecided"),  # a ceiling: nothing could be gained
        (GAIN, [-1, -1] + [0] * 998, 0.991, "undecided"),
        (GAIN, [-1, -1] + [0] * 998, 0.989, "not reproduced"),
        (GAIN, [0.04] * 998 + [0] * 2, 0.0, "undecided"),  # a floor: both have less than 5 %
        (GAIN, [0.06] * 998 + [0] * 2, 0.0, "reproduced"),  # a gain that leads off it
        (LOSS, [0.04] * 998 + [0] * 2, 0.049, "undecided"),
        (LOSS, [1, 1] + [0] * 998, 0.0, "undecided"),  # a floor: nothing could be lost
        (LOSS, [1, 1] + [0] * 998, 1.0, "not reproduced"),
        (ALIKE, [-1e-6] * 9 + [0] * 991, 1.0, "undecided"),  # alike, since both have all
        (ALIKE, [1e-6] * 9 + [0] * 991, 0.04, "undecided"),
        (ALIKE, [-1] * 100 + [0] * 900, 1.0, "not reproduced"),  # a failure needs no room above
    ],
)
def test_one_question_a_ceiling_and_a_floor_decide_nothing(
    criterion, gains, rivals: float, expected: str
) -> None:
    rival = np.full(len(gains), rivals)
    assert judge(criterion, *paired(rival + gains, rival, n_resamples=500)) == expected


def test_points_and_seconds_have_no_ceiling() -> None:
    assert judge(Criterion(above=0, unit="seconds"), 0.2, 0.1, 0.3, 20, rival=5.0) == "reproduced"


def test_what_tells_something_is_counted() -> None:
    assert paired([1, 0.5, 0], [0, 0.5, 1]).differ == 2 and interval([0.5, 0, 0]).differ is None
    assert diff_of_means([0, 0, 1], [0, 1]).differ == 2
    assert (
        slope([2, 3, 4, 4], [1, 1, 1, 0.5]).differ == 1
    )  # the commonest value says nothing of a slope
    assert slope([2, 3], [1, 2]).differ == 2


def test_what_is_trained_must_have_learned_with_three_seeds() -> None:
    result = 0.05, 0.01, 0.09, 100
    for learned, seeds, expected in (
        (True, 3, "reproduced"),
        (True, 2, "undecided"),
        (False, 3, "undecided"),
    ):
        assert judge(GAIN, *result, learned=learned, seeds=seeds) == expected
        assert judge(GAIN, -0.05, -0.09, -0.01, 100, learned=learned, seeds=seeds) in (
            "not reproduced",
            expected,
        )


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ([0.7] * 8, True),
        ([0.5] * 8, False),  # the weights of the start were kept
        ([0.7, 0.3] * 4, False),  # better on some questions, worse on others
    ],
)
def test_better_than_the_start_is_a_paired_gain_and_no_best_check(after, expected: bool) -> None:
    """Of noisy checks the best is above the first by chance: with 20 questions nearly always."""
    assert has_learned(paired(after, [0.5] * 8, n_resamples=500)) is expected


def trained(name: str, seeds: int) -> list[SimpleNamespace]:
    return [SimpleNamespace(name=name, settings=make(name, seed=n).settings) for n in range(seeds)]


def test_every_cell_that_is_compared_has_its_seeds_and_has_learned() -> None:
    result = Estimate(0.05, 0.01, 0.09, 100, differ=30, rival=0.5, draws=(0.04, 0.05, 0.06))
    three = trained("mdr", 3) + trained("dpr", 3)
    learned = {cell_of(retriever): True for retriever in three}
    assert len(learned) == 2  # whatever the seed
    only_mdr = {cell_of(three[0]): True, cell_of(three[-1]): False}
    unlearned = "a network is not shown to be better than its start"
    for retrievers, cells, why in (
        (three, learned, ""),
        (three[:-1], learned, "2 of 3 training seeds"),
        (three, only_mdr, unlearned),
        (three, {}, unlearned),
        (None, learned, "it is not said what was trained"),  # kgp-08 needs a trained retriever
        ((), {}, ""),  # it is said that nothing is trained
    ):
        made = finding("kgp-08", result, trained=retrievers, learned=cells)
        assert (made.verdict, made.why) == ("undecided" if why else "mechanism reproduced", why)
    assert finding("gnn-ret-01", result).verdict == "reproduced"  # needs none
    assert finding("kgp-14", Estimate(-0.1, -0.2, -0.05, 9)).verdict == "reproduced"  # of seconds
    assert show_effect(made) == "+5.0 [+1.0, +9.0] points (seeds +4.0 to +6.0)"
    table = verdicts([finding("kgp-08", result, trained=three[:-1], learned=learned)])
    assert table["verdict"].tolist() == ["undecided (2 of 3 training seeds)"]


def test_an_oracle_a_reader_at_the_floor_and_a_measure_that_cannot_fail_are_no_tests() -> None:
    clear = Estimate(0.4, 0.3, 0.5, 100, p=0.001, differ=60, rival=0.3)
    planned = SimpleNamespace(name="ras", sees_gold=True)
    plain = SimpleNamespace(name="dense", sees_gold=False)
    assert is_a_bound(planned, planned) == is_a_bound(plain, plain) == ""  # both or none
    for pair in ((planned, plain), (plain, planned)):
        oracle = finding("ras-01", clear, untestable=is_a_bound(*pair))
        assert (oracle.verdict, oracle.why) == ("not tested", "a bound: ras sees gold fields")

    one_of_eighty = np.eye(1, 80)[0]
    why = cannot_read(one_of_eighty, 0 * one_of_eighty, n_resamples=500)
    assert why.startswith("the reader can't read: golden over nothing +1.25 [+0, ")
    blind = finding("kgp-17", clear, trained=(), untestable=why)
    assert (blind.verdict, blind.why) == ("not tested", why)
    assert cannot_read(np.ones(80), one_of_eighty, n_resamples=500) == ""

    grows = Criterion(above=0, unit="slope", cannot_fail="a graph that grows loses nothing")
    assert judge(grows, 0.1, 0.05, 0.15, 100) == "not tested"
    assert too_low(0.01, 0.049) == "a floor: none has more than 4.9 %" and too_low(0.01, 0.05) == ""


def test_a_range_that_is_narrower_than_the_interval_says_how_many_questions_it_would_take() -> None:
    """±4 points of 150 questions are twice as wide as ±2: four times as many would do."""
    wide = finding("qsgnn-14", Estimate(0, -0.04, 0.04, 150, differ=40, rival=0.5), trained=())
    assert wide.verdict == "undecided"
    assert wide.why == "the interval is wider than the claimed range: some 600 questions are needed"
    shifted = finding("qsgnn-14", Estimate(0.015, 0, 0.03, 150, rival=0.5), trained=())
    assert (shifted.verdict, shifted.why) == ("undecided", "")


def test_few_differing_questions_need_the_exact_test() -> None:
    five = paired([1.0] * 5 + [0.5] * 95, [0.0] * 5 + [0.5] * 95, n_resamples=500)
    assert five.low > 0
    measured = finding("gnn-ret-01", five)
    assert (measured.verdict, measured.p) == ("undecided", 0.0625)
    many = finding("gnn-ret-01", Estimate(0.05, 0.01, 0.09, 100, p=0.07, differ=30, rival=0.5))
    assert (many.verdict, many.why) == ("undecided", "30 questions differ, exact p 0.07")


ends = st.lists(st.floats(-1, 1), min_size=3, max_size=3).map(sorted)


@given(ends, ends, st.integers(1, 5000))
def test_gains_and_losses_are_judged_alike_and_more_data_never_turns_a_verdict(
    inner, outer, n: int
) -> None:
    low, effect, high = inner
    result = judge(GAIN, effect, low, high, n)
    assert result == judge(LOSS, -effect, -high, -low, n)
    wide = judge(GAIN, effect, min(low, outer[0]), max(high, outer[2]), n)
    opposite = {"reproduced": "not reproduced", "not reproduced": "reproduced"}
    # A gain below one point is the one exception: sure of its sign, it is small and yet there.
    if not 0 < low <= high < 0.01:
        assert result != opposite.get(wide)


def test_expected_in_words() -> None:
    odd = Criterion(below=0.5, unit="weight"), Criterion(above=1, below=2, unit="exponent")
    words = ["> 0.0 points", "within ±2.0 points", "< 0.5", "between 1 and 2"]
    assert [rule.expected for rule in (GAIN, ALIKE, *odd)] == words


def test_finding() -> None:
    measured = Estimate(np.float64(-0.9), -1, np.float32(-0.75), np.int64(81))
    result = finding("kgp-01", measured, criterion="precision", case="tfidf", seed=3)
    assert (result.verdict, result.unit, result.expected) == ("reproduced", "correlation", "< 0")
    assert (
        result.paper_number == CLAIMS["kgp-01"].paper_number
        and result.how == CLAIMS["kgp-01"].measure
    )
    assert msgspec.json.decode(msgspec.json.encode(result), type=Finding) == result
    assert (
        finding("kgp-08", Estimate(0.1, 0.05, 0.2, 100), trained=()).verdict
        == "mechanism reproduced"
    )  # a proxy
    alone = finding("kgp-08", Estimate(0.1, math.nan, math.nan, 1), trained=())
    assert (alone.low, alone.high, alone.verdict) == (None, None, "undecided")


def test_bad_findings() -> None:
    for claim, criterion, effect, message in (
        (
            "kgp-99",
            "",
            0.1,
            "record kgp-99: expected a claim and a criterion of claims.toml, not ''",
        ),
        (
            "kgp-01",
            "recall",
            0.1,
            "record kgp-01: expected a claim and a criterion of claims.toml, not 'recall'",
        ),
        ("kgp-08", "", math.nan, "record kgp-08, field effect: expected a number, not nan"),
    ):
        with pytest.raises(InputError, match=f"^{message}$"):
            finding(claim, Estimate(effect, 0, 1, 9), criterion=criterion)


def sf_em(case: str, low: float) -> Finding:
    return finding("kgp-01", Estimate(0.5, low, 0.9, 50), criterion="SF-EM over chance", case=case)


def precision(case: str, high: float) -> Finding:
    return finding("kgp-01", Estimate(-0.5, -0.9, high, 50), criterion="precision", case=case)


def test_verdicts_table() -> None:
    table = verdicts(
        [
            precision("tfidf", -0.1),
            finding("kgp-08", Estimate(0.032, -0.01, 0.054, 100), trained=()),
        ]
    )
    assert table["what"].tolist() == ["precision, tfidf", ""]
    assert table["effect"].tolist() == [
        "−0.5 [−0.9, −0.1] correlation",
        "+3.2 [−1.0, +5.4] points",
    ]
    assert table["verdict"].tolist() == ["reproduced", "undecided"]
    assert list(verdicts([]).columns) == list(table.columns)


# ---- the ledger


def kept(path: Path, *cases: Finding, **provenance: str | None) -> None:
    """A record of the code and data of today, or as is said."""
    path.parent.mkdir(parents=True, exist_ok=True)
    provenance = {"code_hash": code_hash(path.stem), "data_hash": load().hash} | provenance
    record = {"notebook": path.stem, "findings": cases, "figures": [], "provenance": provenance}
    path.write_bytes(msgspec.json.encode(record))


def recall(effect: float, low: float, high: float, case: str = "") -> Finding:
    return finding("gnn-ret-01", Estimate(effect, low, high, 500), case=case)


def states(figures: Path, claim: str) -> dict[str, str]:
    rows = ledger(read_records(figures)).set_index(["claim", "dataset"]).loc[claim]
    return rows["state"].to_dict() | {"overall": rows["overall"].iloc[0]}


def test_a_papers_record_counts_like_a_lessons(tmp_path: Path) -> None:
    kept(tmp_path / "atlas" / "gnn_ret.json", recall(0.05, 0.01, 0.09))
    assert [record.notebook for record in read_records(tmp_path)["atlas"]] == ["gnn_ret"]
    assert states(tmp_path, "gnn-ret-01")["atlas"] == "reproduced"


def effects(figures: Path, claim: str) -> str:
    return ledger(read_records(figures)).set_index("claim").loc[[claim], "effects"].iloc[0]


@pytest.fixture
def figures(tmp_path: Path) -> Path:
    kept(tmp_path / "musique-dev" / "04_messages.json", recall(-0.05, -0.09, -0.01))
    kept(tmp_path / "atlas" / "04_messages.json", recall(0.05, 0.02, 0.08))
    kept(tmp_path / "hotpotqa-dev" / "04_messages.json", recall(0.04, 0.01, 0.07))
    kept(
        tmp_path / "atlas-smoke" / "04_messages.json", recall(-0.5, -0.9, -0.1)
    )  # only whole runs have a say
    return tmp_path


def test_a_state_a_claim_and_data_set(figures: Path) -> None:
    result = {"atlas": "reproduced", "hotpotqa-dev": "reproduced", "musique-dev": "not reproduced"}
    assert states(figures, "gnn-ret-01") == result | {"overall": "differs"}
    assert effects(figures, "gnn-ret-01") == "+5.0 [+2.0, +8.0] points"
    assert set(states(figures, "kgp-01").values()) == {"not tested"}
    kept(
        figures / "atlas" / "05_more.json",
        finding("kgp-08", Estimate(0.1, 0.05, 0.2, 500), trained=()),
    )
    assert states(figures, "kgp-08")["overall"] == "mechanism reproduced"  # where it was tested
    old = Record(
        notebook="04_more",
        findings=(finding("kgp-08", Estimate(-0.1, -0.2, -0.05, 500), trained=()),),
    )
    (figures / "hotpotqa-dev").mkdir(exist_ok=True)
    (figures / "hotpotqa-dev" / "04_more.json").write_bytes(
        msgspec.json.encode(old)
    )  # of nobody knows which code
    assert states(figures, "kgp-08")["overall"] == "mechanism reproduced"
    assert states(figures, "kgp-08")["hotpotqa-dev"] == "stale"


def test_what_was_measured_by_other_code_on_other_data_or_under_another_rule_is_stale(
    tmp_path: Path,
) -> None:
    path = tmp_path / "atlas" / "04_gnn_ret.json"
    result = recall(0.05, 0.02, 0.08)
    now: dict[str, str | None] = {}
    changes = (
        {"verdict": "undecided"},
        {"criterion": "x"},
        {"expected": "> 1.0 points"},
        {"unit": "points"},
    )
    for measured, provenance, state in (
        (result, now, "reproduced"),
        (result, now | {"code_hash": None}, "stale"),  # an older record, which does not say
        (result, now | {"data_hash": None}, "stale"),
        (result, now | {"code_hash": "another"}, "stale"),
        (result, now | {"data_hash": "another"}, "stale"),
        *((msgspec.structs.replace(result, **change), now, "stale") for change in changes),
    ):
        kept(path, measured, **provenance)
        assert states(tmp_path, "gnn-ret-01")["atlas"] == state


@pytest.mark.parametrize(
    "code", ['make("kgp-mdr")', "KGPMDR()", "from kit.methods.kgp.agents import KGPMDR"]
)
def test_a_method_counts_where_it_is_named_with_what_it_imports(code: str) -> None:
    modules = modules_behind(code)
    assert {"kit.methods.kgp.walk", "kit.methods.baselines.mdr", "kit.methods.base"} <= modules
    assert not any("qsgnn" in module for module in modules)
    assert "kit.methods.qsgnn.retriever" in modules_behind('make("qsgnn", seed=1)')


def test_what_measures_always_counts_and_what_shows_never() -> None:
    modules = modules_behind("")
    assert {"kit.corpus.types", "kit.graphs.builders", "kit.evaluation.experiment"} <= modules
    assert not any(module.startswith("kit.methods.kgp") for module in modules)

    lesson = "from kit.lab.lesson import start\nfrom kit.views import plots"
    assert modules_behind(lesson) == modules
    assert "kit.evaluation.answers" in modules_behind("from kit.evaluation.answers import Reading")
    assert "kit.store" in with_imports(modules) - modules


def test_the_hash_is_of_the_notebook_and_of_the_modules_behind_it() -> None:
    assert code_hash("no such notebook") == code_hash("nor this one")
    assert len({code_hash(name) for name in ("01_baselines", "07_kgp", "no such notebook")}) == 3


def test_the_weakest_case_is_shown(tmp_path: Path) -> None:
    cases = [
        recall(0.05, 0.02, 0.08, "wide"),
        recall(0.03, 0.001, 0.06, "near"),
        recall(0.09, 0.06, 0.12, "far"),
    ]
    kept(tmp_path / "atlas" / "04_messages.json", *cases)
    assert effects(tmp_path, "gnn-ret-01") == "(near, the weakest of 3) +3.0 [+0.1, +6.0] points"
    kept(tmp_path / "atlas" / "04_messages.json", precision("knn", -0.1))
    assert effects(tmp_path, "kgp-01").startswith(
        "SF-EM: not measured; precision (knn) −0.5 [−0.9, −0.1] correlation; SF-EM over chance"
    )


def test_one_case_against_suffices_all_criteria_are_asked_for(tmp_path: Path) -> None:
    against = finding("kgp-01", Estimate(0.5, 0.2, 0.8, 50), criterion="precision", case="b")
    for expected, *cases in [
        ("not tested", sf_em("a", 0.1)),  # a criterion is not measured
        ("reproduced", sf_em("a", 0.1), precision("a", -0.1)),
        ("undecided", sf_em("a", 0.1), sf_em("b", -0.1), precision("a", -0.1)),
        ("not reproduced", sf_em("a", 0.1), precision("a", -0.1), against),
    ]:
        kept(tmp_path / "atlas" / "02_graph_quality.json", *cases)
        assert states(tmp_path, "kgp-01")["atlas"] == expected
    yes = (0.05, 0.02, 0.08)
    no = (-0.05, -0.08, -0.02)
    for expected, *cases in (
        ("undecided", yes, no),
        ("reproduced", yes, yes),
        ("not reproduced", no, no),
    ):  # readings
        results = [
            finding("gnn-ret-03", Estimate(*case, 99), case=str(i)) for i, case in enumerate(cases)
        ]
        kept(tmp_path / "atlas" / "02_graph_quality.json", *results)
        assert states(tmp_path, "gnn-ret-03")["atlas"] == expected
    kept(tmp_path / "atlas" / "02_graph_quality.json", sf_em("", 0.1))
    assert (
        effects(tmp_path, "kgp-01") == "SF-EM: not measured; precision: not measured; "
        "SF-EM over chance +50.0 [+10.0, +90.0] points"
    )
    kept(
        tmp_path / "atlas" / "02_graph_quality.json", finding("kgp-08", Estimate(0.1, 0.05, 0.2, 9))
    )
    assert (
        effects(tmp_path, "kgp-08")
        == "+10.0 [+5.0, +20.0] points (it is not said what was trained)"
    )


def test_what_a_data_set_cannot_test_may_be_tested_on_another(tmp_path: Path) -> None:
    """gnn-ret-05 is about long documents and about many: no data has both."""
    across = finding("gnn-ret-05", Estimate(-0.05, -0.09, -0.01, 500), criterion="across documents")
    kept(tmp_path / "hotpotqa-dev" / "04_gnn_ret.json", across)
    assert states(tmp_path, "gnn-ret-05")["overall"] == "not tested"
    within = finding("gnn-ret-05", Estimate(0.05, 0.01, 0.09, 50), criterion="long documents")
    kept(tmp_path / "musique-dev" / "08_own_documents.json", within)
    assert states(tmp_path, "gnn-ret-05") == {
        "hotpotqa-dev": "reproduced",
        "musique-dev": "reproduced",
        "overall": "reproduced",
    }


def test_the_papers_own_measure_decides_where_it_is_tested(tmp_path: Path) -> None:
    recall = finding(
        "gnn-ret-20", Estimate(0.06, 0.02, 0.1, 150), (), "recall", case="ircot", how=""
    )
    path = tmp_path / "hotpotqa-dev" / "15_answers.json"
    kept(path, recall)
    assert states(tmp_path, "gnn-ret-20")["hotpotqa-dev"] == "mechanism reproduced"
    measured = Estimate(0.0, -0.03, 0.03, 150, differ=20, rival=0.5)
    same = finding("gnn-ret-20", measured, (), "answers", case="ircot")
    kept(path, recall, same)
    assert states(tmp_path, "gnn-ret-20")["hotpotqa-dev"] == "undecided"
    blind = finding("gnn-ret-20", measured, (), "answers", untestable="the reader can't read")
    kept(path, recall, blind)
    assert states(tmp_path, "gnn-ret-20")["hotpotqa-dev"] == "mechanism reproduced"
    assert "the reader can't read" in effects(tmp_path, "gnn-ret-20")


def test_a_measure_that_cannot_fail_is_shown_and_tests_nothing(tmp_path: Path) -> None:
    path = tmp_path / "musique-dev" / "14_ras.json"
    grows = finding("ras-08", Estimate(0.1, 0.05, 0.15, 99), (), "growth")
    kept(path, grows)
    assert states(tmp_path, "ras-08")["musique-dev"] == "not tested"
    beyond = [
        finding("ras-08", Estimate(0.1, 0.05, 0.15, 99), (), criterion)
        for criterion in ("growth over chance", "connected over chance")
    ]
    kept(path, grows, *beyond)
    assert states(tmp_path, "ras-08")["musique-dev"] == "reproduced"


def test_records_of_old_are_judged_by_the_rules_of_today(tmp_path: Path) -> None:
    """What was called reproduced and is no test now is never shown as reproduced, nor as stale."""
    path = tmp_path / "musique-dev" / "05_rgnn_ret.json"
    none_differs = msgspec.structs.replace(
        finding("gnn-ret-06", Estimate(0, 0, 0, 99, differ=0), (), "graph over none"),
        verdict="reproduced",
    )
    kept(path, none_differs, code_hash="another")
    assert states(tmp_path, "gnn-ret-06")["musique-dev"] == "not tested"
    once = msgspec.structs.replace(none_differs, criterion="once")
    kept(path, once)
    assert states(tmp_path, "gnn-ret-06")["musique-dev"] == "stale"


def test_the_page_has_a_table_per_paper_and_the_details_of_every_claim(figures: Path) -> None:
    page = ledger_page(read_records(figures))
    assert "1 of 96 claims are tested." in page
    tables, details = page.split("# The claims one by one")
    assert tables.count("\n| [") == 96 and tables.count("\n## [") == len(DEPARTS)
    assert "## [GNN-Ret](../../notebooks/papers/gnn_ret.ipynb)\n\n| claim | atlas |" in tables
    row = next(line for line in tables.splitlines() if line.startswith("| [gnn-ret-01]"))
    assert row.endswith("| ✔ | ✔ | ✘ | atlas: +5.0 [+2.0, +8.0] points |")
    row = next(line for line in tables.splitlines() if line.startswith("| [kgp-16]"))
    assert row.endswith("|  |  |  | not measured; it needs: language model, GPU |")

    assert "### gnn-ret-01\n\n**Differs.** One pass of min-messages" in details
    departs = f"*Departs from it:* {CLAIMS['gnn-ret-01'].departs}; {DEPARTS['gnn-ret']}."
    assert departs in details and details.count("*Departs from it:* ") == 96
    assert "\n- musique-dev: not reproduced: −5.0 [−9.0, −1.0] points\n" in details


def test_the_page_says_why_a_claim_is_not_tested(tmp_path: Path) -> None:
    """A criterion that nobody measured, where another one was."""
    trade = finding("kgp-01", Estimate(-1, -1, -1, 500), (), "precision")
    kept(tmp_path / "atlas" / "03_quality.json", trade)
    page = ledger_page(read_records(tmp_path))
    row = next(line for line in page.splitlines() if line.startswith("| [kgp-01]"))
    assert row.endswith("| – | atlas: not measured: SF-EM over chance |")


@pytest.mark.parametrize(
    "content", [b"{", b"[]", b'{"findings": [{"claim": "kgp-01"}]}', b'{"notebook": ""}', b"\xff"]
)
def test_damaged_records(content: bytes, figures: Path) -> None:
    path = figures / "atlas" / "06_damaged.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        read_records(figures)
    assert str(path) in str(error.value) and "\n" not in str(error.value)
    path.unlink()
    kept(
        path.with_name("04_messages.json"),
        msgspec.structs.replace(recall(0.1, 0, 1), claim="gnn-ret-99"),
    )
    with pytest.raises(
        InputError, match=r"04_.*, field claim: expected the id of a claim, not 'gnn-ret-99'"
    ):
        read_records(figures)
