"""The ledger from records on disk: verdicts by data set, what is stale, intervals adjusted for many findings."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from kit.corpus import load
from kit.errors import InputError
from kit.evaluation.claims import Finding, finding
from kit.evaluation.ledger import _bare, code_hash, ledger, ledger_page, read_records
from kit.evaluation.statistics import Estimate


def kept(path: Path, *findings: Finding, **provenance: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"notebook": path.stem, "findings": findings, "figures": [], "provenance": provenance}
    path.write_bytes(msgspec.json.encode(record))


def recall(effect: float, low: float, high: float, case: str = "") -> Finding:
    return finding("gnn-ret-01", Estimate(effect, low, high, 500), case=case)


def states(figures: Path, claim: str, *datasets: str) -> dict[str, str]:
    table = ledger(read_records(figures, datasets or None)).set_index(["claim", "dataset"])
    return table.loc[claim]["state"].to_dict() | {"overall": table.loc[claim]["overall"].iloc[0]}


def effects(figures: Path, claim: str) -> str:
    return ledger(read_records(figures)).set_index("claim").loc[claim, "effects"]


@pytest.fixture
def figures(tmp_path: Path) -> Path:
    kept(tmp_path / "musique-dev" / "04_messages.json", recall(-0.05, -0.09, -0.01))
    kept(tmp_path / "atlas" / "04_messages.json", recall(0.05, 0.02, 0.08))
    kept(tmp_path / "hotpotqa-dev" / "04_messages.json", recall(0.04, 0.01, 0.07))
    return tmp_path


def test_no_folder_no_findings(tmp_path: Path) -> None:
    assert read_records(tmp_path / "absent") == {} and ledger({}).empty
    page = ledger_page(tmp_path / "absent")
    assert "0 of 90 claims are tested." in page and page.count(": not tested\n") == 90


def test_a_state_a_claim_and_data_set(figures: Path) -> None:
    verdicts = {"atlas": "reproduced", "hotpotqa-dev": "reproduced", "musique-dev": "not reproduced"}
    assert states(figures, "gnn-ret-01") == verdicts | {"overall": "differs"}
    assert effects(figures, "gnn-ret-01").tolist()[0] == "+5.0 [+2.0, +8.0] points"
    assert states(figures, "gnn-ret-01", "atlas", "hotpotqa-dev")["overall"] == "reproduced"
    assert set(states(figures, "kgp-01").values()) == {"not tested"}


def test_whole_runs_that_tested_a_claim_have_a_say(figures: Path) -> None:
    kept(figures / "atlas" / "05_more.json", finding("kgp-08", Estimate(0.1, 0.05, 0.2, 500)))
    found = states(figures, "kgp-08")
    assert found["musique-dev"] == "not tested" and found["overall"] == "mechanism reproduced"
    for partial in ("atlas-smoke", "atlas-trial"):
        kept(figures / partial / "04_messages.json", recall(-0.5, -0.9, -0.1))
    (figures / "atlas" / "04_plot.csv").write_text("not a record")
    (figures / "atlas" / "notes.json").write_text("not a record")
    (figures / "CLAIMS.md").write_text("not a folder")
    assert list(read_records(figures)) == ["atlas", "hotpotqa-dev", "musique-dev"]
    assert list(read_records(figures, ["atlas-trial"])) == ["atlas-trial"]


def test_what_was_measured_by_other_code_on_other_data_or_under_another_rule_is_stale(tmp_path: Path) -> None:
    path, found = tmp_path / "atlas" / "04_gnn_ret.json", recall(0.05, 0.02, 0.08)
    now = {"code_hash": code_hash("04_gnn_ret"), "data_hash": load().hash}
    for provenance, state in (
        ({}, "reproduced"),  # an older record, which does not say
        (now, "reproduced"),
        (now | {"code_hash": "another"}, "stale"),
        (now | {"data_hash": "another"}, "stale"),
    ):
        kept(path, found, **provenance)
        assert states(tmp_path, "gnn-ret-01")["atlas"] == state
    kept(path, msgspec.structs.replace(found, verdict="undecided"), **now)
    assert states(tmp_path, "gnn-ret-01")["atlas"] == "stale"


def test_comments_and_docstrings_are_no_code() -> None:
    one = 'def f(x):\n    """What it does."""\n    return x  # that is all\n'
    assert _bare(one) == _bare("def f( x ):\n  return x") != _bare("def f(x):\n    return -x")
    assert code_hash("04_gnn_ret") != code_hash("05_rgnn_ret")


def test_the_weakest_case_is_shown_with_its_adjusted_interval(tmp_path: Path) -> None:
    cases = [recall(0.05, 0.02, 0.08, "wide"), recall(0.03, 0.001, 0.06, "near"), recall(0.09, 0.06, 0.12, "far")]
    kept(tmp_path / "atlas" / "04_messages.json", *cases)
    # Three findings: the halves grow by 2.3940 / 1.9600, so .029 becomes .0354.
    told = "(near, the weakest of 3) +3.0 [+0.1, +6.0] points (adjusted [−0.5, +6.7]: undecided)"
    assert effects(tmp_path, "gnn-ret-01") == told


def test_adjusted_correlations_stay_within_bounds(tmp_path: Path) -> None:
    rho = finding("kgp-01", Estimate(0.9, 0.75, 1, 50), criterion="SF-EM", case="knn")
    fall = finding("kgp-01", Estimate(-1, -1, -1, 50), criterion="precision", case="knn")
    kept(tmp_path / "atlas" / "02_graph_quality.json", rho, fall)
    # Two findings: the halves grow by 2.2414 / 1.9600, so the upper end would be 1.014.
    told = "SF-EM (knn) +0.9 [+0.75, +1] correlation (adjusted [+0.728, +1]); precision"
    assert effects(tmp_path, "kgp-01").startswith(told)


def test_a_criterion_that_is_left_out_is_named_and_a_caveat_told(tmp_path: Path) -> None:
    kept(tmp_path / "atlas" / "02_graph_quality.json", finding("kgp-01", Estimate(0.98, 0.9, 1, 50), criterion="SF-EM"))
    assert states(tmp_path, "kgp-01")["atlas"] == "undecided"
    assert effects(tmp_path, "kgp-01") == "SF-EM +0.98 [+0.9, +1] correlation; precision: not measured"
    kept(tmp_path / "atlas" / "02_graph_quality.json", finding("bgr-08", Estimate(-0.2, -0.3, -0.1, 500)))
    assert effects(tmp_path, "bgr-08") == "−0.2 [−0.3, −0.1] slope; not tested on ReasonGraphQA"


def test_the_page_has_every_claim_and_says_which_records_have_no_hash(figures: Path) -> None:
    kept(figures / "atlas" / "04_messages.json", recall(0.05, 0.02, 0.08), code_hash=code_hash("04_messages"))
    page = ledger_page(figures)
    assert "1 of 90 claims are tested." in page and page.count("\n## ") == 90
    assert "Records of hotpotqa-dev, musique-dev say nothing of the code that made them" in page
    assert "## gnn-ret-01: differs\n\nOne pass of min-messages" in page
    assert "\n- musique-dev: not reproduced: −5.0 [−9.0, −1.0] points\n" in page


@pytest.mark.parametrize(
    "content", [b"{", b"[]", b'{"findings": [{"claim": "kgp-01"}]}', b'{"figures": []}', b"\xff", b""]
)
def test_damaged_records(content: bytes, figures: Path) -> None:
    path = figures / "atlas" / "06_damaged.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        read_records(figures)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


def test_a_claim_that_there_is_not(figures: Path) -> None:
    path = figures / "atlas" / "04_messages.json"
    path.write_bytes(path.read_bytes().replace(b'"gnn-ret-01"', b'"gnn-ret-99"'))
    with pytest.raises(
        InputError, match=r"04_messages\.json, field claim: expected the id of a claim, not 'gnn-ret-99'"
    ):
        read_records(figures)
