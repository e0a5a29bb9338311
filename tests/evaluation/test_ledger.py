"""The ledger from records on disk: verdicts by data set, intervals adjusted for many findings, damaged records."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from kit.errors import InputError
from kit.evaluation.claims import Finding, finding
from kit.evaluation.ledger import ledger, ledger_markdown, ledger_text, read_findings


def kept(path: Path, *findings: Finding) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.encode({"notebook": path.stem, "findings": findings, "figures": []}))


def recall(effect: float, low: float, high: float, case: str = "") -> Finding:
    return finding("gnn-ret-01", case=case, effect=effect, low=low, high=high, n=500)


@pytest.fixture
def figures(tmp_path: Path) -> Path:
    kept(tmp_path / "musique-dev" / "04_messages.json", recall(-0.05, -0.09, -0.01))
    kept(tmp_path / "atlas" / "04_messages.json", recall(0.05, 0.02, 0.08))
    kept(tmp_path / "hotpotqa-dev" / "04_messages.json", recall(0.04, 0.01, 0.07))
    return tmp_path


def test_no_folder_no_findings(tmp_path: Path) -> None:
    table = ledger(tmp_path / "absent")
    assert len(table) == 90 and (table["overall"] == "not tested").all()
    assert ledger_markdown(tmp_path / "absent") == "0 of 90 claims are tested.\n"


def test_ledger(figures: Path) -> None:
    table = ledger(figures).set_index("claim")
    assert list(table.columns[4:]) == ["atlas", "hotpotqa-dev", "musique-dev", "overall"]
    row = table.loc["gnn-ret-01"]
    assert row["place"] == "gnn-ret §D, Figure 5"
    assert row["atlas"] == "reproduced: +5.0 [+2.0, +8.0] points"
    assert row["musique-dev"] == "not reproduced: −5.0 [−9.0, −1.0] points"
    assert row["overall"] == "differs"
    assert table.loc["kgp-01", ["atlas", "overall"]].tolist() == ["not tested", "not tested"]


def test_overall_verdict_where_all_agree(figures: Path) -> None:
    table = ledger(figures, ["atlas", "hotpotqa-dev"]).set_index("claim")
    assert table.loc["gnn-ret-01", "overall"] == "reproduced"
    assert "musique-dev" not in table.columns


def test_data_sets_that_did_not_test_a_claim_have_no_say(figures: Path) -> None:
    kept(figures / "atlas" / "05_more.json", finding("kgp-08", effect=0.1, low=0.05, high=0.2, n=500))
    row = ledger(figures).set_index("claim").loc["kgp-08"]
    assert row["musique-dev"] == "not tested" and row["overall"] == "mechanism reproduced"


def test_smoke_and_trial_runs_do_not_count(figures: Path) -> None:
    kept(figures / "atlas-smoke" / "04_messages.json", recall(-0.5, -0.9, -0.1))
    kept(figures / "atlas-trial" / "04_messages.json", recall(-0.5, -0.9, -0.1))
    assert list(read_findings(figures)) == ["atlas", "hotpotqa-dev", "musique-dev"]
    assert list(read_findings(figures, ["atlas-trial"])) == ["atlas-trial"]


def test_the_weakest_case_is_shown_with_its_adjusted_interval(tmp_path: Path) -> None:
    cases = [recall(0.05, 0.02, 0.08, "wide"), recall(0.03, 0.001, 0.06, "near"), recall(0.09, 0.06, 0.12, "far")]
    kept(tmp_path / "atlas" / "04_messages.json", *cases)
    cell = ledger(tmp_path).set_index("claim").loc["gnn-ret-01", "atlas"]
    # Three findings: the halves grow by 2.3940 / 1.9600, so .029 becomes .0354.
    assert cell == ("reproduced: (near, the weakest of 3) +3.0 [+0.1, +6.0] points (adjusted [−0.5, +6.7]: undecided)")


def test_adjusted_correlations_stay_within_bounds(tmp_path: Path) -> None:
    rho = finding("kgp-01", criterion="SF-EM", case="knn", effect=0.9, low=0.75, high=1, n=50)
    fall = finding("kgp-01", criterion="precision", case="knn", effect=-1, low=-1, high=-1, n=50)
    kept(tmp_path / "atlas" / "02_graph_quality.json", rho, fall)
    cell = ledger(tmp_path).set_index("claim").loc["kgp-01", "atlas"]
    # Two findings: the halves grow by 2.2414 / 1.9600, so the upper end would be 1.014.
    assert cell.startswith("reproduced: SF-EM (knn) +0.9 [+0.75, +1] correlation (adjusted [+0.728, +1]); precision")


def test_a_criterion_that_is_left_out_is_named(tmp_path: Path) -> None:
    rho = finding("kgp-01", criterion="SF-EM", effect=0.98, low=0.9, high=1, n=50)
    kept(tmp_path / "atlas" / "02_graph_quality.json", rho)
    cell = ledger(tmp_path).set_index("claim").loc["kgp-01", "atlas"]
    assert cell == "undecided: SF-EM +0.98 [+0.9, +1] correlation; precision: not measured"


def test_caveats_stand_beside_verdicts(tmp_path: Path) -> None:
    kept(tmp_path / "atlas" / "07_evidence.json", finding("bgr-08", effect=-0.2, low=-0.3, high=-0.1, n=500))
    cell = ledger(tmp_path).set_index("claim").loc["bgr-08", "atlas"]
    assert cell == "reproduced: −0.2 [−0.3, −0.1] slope; not tested on ReasonGraphQA"


def test_markdown(figures: Path) -> None:
    kept(figures / "atlas" / "05_more.json", recall(0.05, 0.02, 0.08, "a|b"))
    lines = ledger_markdown(figures).splitlines()
    assert lines[0] == "1 of 90 claims are tested."
    assert lines[2] == "| claim | the paper says | its number | atlas | hotpotqa-dev | musique-dev | overall |"
    assert lines[3] == "|---|---|---|---|---|---|---|"
    assert len(lines) == 5 and lines[4].startswith("| gnn-ret-01 (gnn-ret §D, Figure 5) | One pass of min-messages")
    assert lines[4].replace("\\|", "").count("|") == 8


def test_text(figures: Path) -> None:
    text = ledger_text(figures, width=60)
    assert "gnn-ret-01  gnn-ret §D, Figure 5  [differs]" in text
    assert "  musique-dev: not reproduced: −5.0 [−9.0, −1.0] points" in text
    assert text.count("[not tested]") == 89
    assert max(len(line) for line in text.splitlines() if line.startswith(" ")) <= 60


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b'{"findings": [{"claim": "kgp-01"}]}', b'{"figures": []}', b"\xff", b""],
)
def test_damaged_records(content: bytes, figures: Path) -> None:
    path = figures / "atlas" / "06_damaged.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        ledger(figures)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


def test_stale_records(figures: Path) -> None:
    path = figures / "atlas" / "04_messages.json"
    path.write_bytes(path.read_bytes().replace(b'"reproduced"', b'"undecided"'))
    with pytest.raises(InputError, match=r"04_messages\.json: .*gnn-ret-01: stale: .* run the notebook again"):
        ledger(figures)


def test_other_files_are_left_alone(figures: Path) -> None:
    (figures / "atlas" / "04_plot.csv").write_text("not a record")
    (figures / "atlas" / "notes.json").write_text("not a record")
    (figures / "README.md").write_text("not a folder")
    assert list(read_findings(figures)) == ["atlas", "hotpotqa-dev", "musique-dev"]
