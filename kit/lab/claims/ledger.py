"""The ledger: what the records of all runs say of each claim, on each data set.

A notebook leaves its findings in a record: ``figures/DATASET/NN_topic.json`` of a lesson,
``figures/DATASET/PAPER.json`` of a paper's. What is committed stands in ``figures/published``.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec
import pandas as pd
from msgspec.structs import replace
from pandas import DataFrame

from kit.corpus import load
from kit.errors import InputError
from kit.fingerprint import digest_of, with_imports
from kit.lab.catalogue import notebook_file
from kit.lab.claims.claims import CLAIMS, CRITERIA, DEPARTS, Claim, Criterion
from kit.lab.claims.findings import (
    MECHANISM,
    NOT_REPRODUCED,
    NOT_TESTED,
    REPRODUCED,
    UNDECIDED,
    Finding,
    in_brackets,
    show_effect,
    verdict,
)
from kit.methods import METHODS
from kit.paths import ROOT
from kit.store import content_key

STALE = "stale"  # claim, code or data have changed since a verdict was given

#: How the tables of the page show a verdict.
_SIGNS = {
    REPRODUCED: "✔",
    MECHANISM: "(✔)",
    NOT_REPRODUCED: "✘",
    UNDECIDED: "?",
    NOT_TESTED: "–",
    STALE: "old",
}

#: The papers by their names, in the order of the page.
_PAPERS = {
    "kgp": "KGP",
    "gnn-ret": "GNN-Ret",
    "qsgnn": "QSGNN",
    "bgr": "BGR",
    "ras": "RAS",
    "peers": "Peers",
}

_PARTIAL = ("-smoke", "-trial")  # runs with too few questions, or with settings of one's choice
#: The data that comes with the kit, by its folder of figures: where it lies (None: the default).
_KITS_DATA = {"atlas": None, "documents-reports": ROOT / "data" / "reports"}
#: The rooms whose code makes findings; others only show them.
_ROOMS = (
    "kit.corpus",
    "kit.text",
    "kit.learning",
    "kit.graphs",
    "kit.readers",
    "kit.methods",
    "kit.evaluation",
    *(f"kit.lab.claims.{paper.replace('-', '_')}" for paper in DEPARTS),  # what claims measure
)
#: What every notebook measures with.
_ALWAYS = {"kit.corpus", "kit.text", "kit.graphs", "kit.evaluation"}


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What a notebook found, of its record on disk."""

    notebook: str
    provenance: Mapping[str, object] = {}
    findings: tuple[Finding, ...]


def read_records(*figures: Path) -> dict[str, list[Record]]:
    """The records with findings of each data set, the atlas first.

    A notebook's record in a later folder takes the place of one in an earlier. Smoke and trial runs
    don't count. Raises :class:`InputError` for a damaged record, and for a claim that does not
    exist.
    """
    paths = {}
    for folder in figures:
        for path in folder.glob("*/*.json"):
            if not path.parent.name.endswith(_PARTIAL):
                paths[path.parent.name != "atlas", path.parent.name, path.name] = path

    records = {}
    for (_, dataset, _), path in sorted(paths.items()):
        record = _read(path)
        if record.findings:
            records.setdefault(dataset, []).append(record)
    return records


def _read(path: Path) -> Record:
    try:
        record = msgspec.json.decode(path.read_bytes(), type=Record)
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(str(error), file=path) from None

    unknown = {finding.claim for finding in record.findings} - CLAIMS.keys()
    if unknown:
        raise InputError(
            f"expected the id of a claim, not {min(unknown)!r}",
            file=path,
            field="claim",
        )
    return record


# ---- what is stale


def is_stale(finding: Finding, record: Record, dataset: str) -> bool:
    """Whether claim, code or data are others today, or the record does not say which they were.

    Whether other people's data has changed, nobody knows here.
    """
    criterion = CRITERIA.get((finding.claim, finding.criterion))
    if criterion is None:
        return True
    state, _ = verdict(finding, criterion)
    judged_then = (finding.unit, finding.expected, finding.verdict)
    if judged_then != (criterion.unit, criterion.expected, state):
        return True
    return not _is_current(record, dataset)


def _is_current(record: Record, dataset: str) -> bool:
    """Whether a record tells of the code and data of today."""
    data = record.provenance.get("data_hash")
    if not data or record.provenance.get("code_hash") != code_hash(record.notebook):
        return False
    setting = "facts" if record.provenance.get("setting") == "per-question" else "pooled"
    return dataset not in _KITS_DATA or data == _data_hash(dataset, setting)


@cache
def _data_hash(dataset: str, setting: str) -> str:
    return load(_KITS_DATA[dataset], setting=setting).hash


@cache
def code_hash(notebook: str) -> str:
    """A digest of what a notebook's findings come from: its own code, and the kit's that counts.

    The kit's comments and docstrings are left out (:func:`modules_behind` says what counts).
    """
    path = notebook_file(notebook)
    code = _code_of(path) if path.is_file() else ""
    return content_key(code, digest_of(modules_behind(code))).hex()


def _code_of(path: Path) -> str:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return "".join(line for cell in cells if cell["cell_type"] == "code" for line in cell["source"])


def modules_behind(code: str) -> set[str]:
    """The modules of the kit that the findings of a notebook's code come from.

    These are what every notebook measures with, modules that the code names, and the methods that
    it names by their id or class; all with what they import. Views and lab make no findings, so
    they are left out, with what only they import.
    """
    modules = _ALWAYS.union(re.findall(r"kit\.[\w.]+", code))
    words = set(re.findall(r"[\w-]+", code))
    for name, target in METHODS.items():
        module, _, class_name = str(target).partition(":")
        if words.intersection([name, class_name]):
            modules.add(module)

    counted = [module for module in modules if module.startswith(_ROOMS)]
    return {module for module in with_imports(counted) if module.startswith(_ROOMS)}


# ---- the table, and the page


def ledger(records: Mapping[str, Sequence[Record]]) -> DataFrame:
    """What was found for each claim on each data set, a row each.

    Columns: claim, dataset, state (the verdict, or ``stale``), effects (in words), why (the effect
    that speaks most against the claim), overall (the common state). What is stale has no part in
    the common state, unless all is.
    """
    rows = []
    for claim in CLAIMS.values():
        measured = {dataset: _findings(claim, records[dataset]) for dataset in records}
        states = [_states(findings) for findings in measured.values()]
        anywhere = set().union(*states)
        for (dataset, findings), of_dataset in zip(measured.items(), states):
            state = _state(claim, of_dataset, anywhere)
            state = _or_stale(state, claim, records[dataset], dataset)
            effects = [_weakest(criterion, findings) for criterion in claim.criteria if findings]
            why = _why(claim, findings, state)
            rows.append((claim.id, dataset, state, "; ".join(effects), why))

    table = DataFrame(rows, columns=["claim", "dataset", "state", "effects", "why"])
    tested = table[table["state"] != NOT_TESTED]
    overall = tested.groupby("claim")["state"].agg(_common_state)
    return table.assign(overall=table["claim"].map(overall).fillna(NOT_TESTED))


def _findings(claim: Claim, records: Sequence[Record]) -> list[Finding]:
    """The findings for a claim, judged by the rules of today."""
    every = [finding for record in records for finding in record.findings]
    return [_judged_today(finding) for finding in every if finding.claim == claim.id]


def _or_stale(state: str, claim: Claim, records: Sequence[Record], dataset: str) -> str:
    """The state, or that it is stale; what is no test under today's rules is none when stale.

    A criterion that the claim had once says nothing else.
    """
    for record in records:
        for finding in record.findings:
            if finding.claim == claim.id and is_stale(finding, record, dataset):
                is_of_old = (claim.id, finding.criterion) not in CRITERIA
                if is_of_old or state != NOT_TESTED:
                    return STALE
    return state


def _judged_today(finding: Finding) -> Finding:
    """A finding with the verdict of today's rules; one of a criterion of old as it was."""
    criterion = CRITERIA.get((finding.claim, finding.criterion))
    if criterion is None:
        return finding
    state, why = verdict(finding, criterion)
    return replace(finding, verdict=state, why=why)


def _states(findings: Sequence[Finding]) -> dict[str, set[str]]:
    """The verdicts on each criterion that was tested."""
    states = {}
    for finding in findings:
        if finding.verdict != NOT_TESTED:
            states.setdefault(finding.criterion, set()).add(finding.verdict)
    return states


def _state(claim: Claim, states: Mapping[str, set[str]], anywhere: Collection[str]) -> str:
    """What the verdicts of one data set say of a claim together.

    Its criteria must all have been tested, if some only ``anywhere``, on other data.
    """
    needed = claim.needed(states)
    counted = set().union(*[states.get(name, ()) for name in needed])
    if NOT_REPRODUCED in counted and not claim.readings:  # a single case suffices
        return NOT_REPRODUCED
    if not counted or not needed.issubset(anywhere):
        return NOT_TESTED
    return counted.pop() if len(counted) == 1 else UNDECIDED


def _common_state(states: pd.Series) -> str:
    fresh = states[states != STALE].unique()
    if not len(fresh):
        return STALE
    return fresh[0] if len(fresh) == 1 else "differs"


def _why(claim: Claim, findings: Sequence[Finding], state: str) -> str:
    """The effect that speaks most against a claim, of those that it is decided by.

    Where nothing was tested, the criterion that was not measured, or why none can fail.
    """
    needed = claim.needed(_states(findings))
    if not needed:
        return claim.criteria[0].cannot_fail
    deciding = [finding for finding in findings if finding.criterion in needed]
    missing = needed.difference(finding.criterion for finding in deciding)
    if missing and (state == NOT_TESTED or not deciding):
        return f"not measured: {', '.join(sorted(missing))}"
    return _in_words(min(deciding, key=_strength))


def _weakest(criterion: Criterion, findings: Sequence[Finding]) -> str:
    """A criterion's effect in the case that speaks most against the claim."""
    cases = [finding for finding in findings if finding.criterion == criterion.name]
    if not cases:
        return f"{criterion.name}: not measured"
    return _in_words(min(cases, key=_strength), len(cases))


def _strength(finding: Finding) -> tuple[int, float]:
    """How much a finding speaks for its claim: by its verdict, then by its interval."""
    order = {NOT_REPRODUCED: 0, UNDECIDED: 1, NOT_TESTED: 3}.get(finding.verdict, 2)
    criterion = CRITERIA.get((finding.claim, finding.criterion))
    if criterion is None:
        return order, 0.0
    low = finding.effect if finding.low is None else finding.low
    high = finding.effect if finding.low is None else finding.high
    return order, min(low - criterion.above, criterion.below - high)


def _in_words(finding: Finding, n_cases: int = 1) -> str:
    """A finding's criterion, case, effect and what is to be said of it."""
    case = finding.case
    if n_cases > 1:
        case += f", the weakest of {n_cases}"
    parts = [
        finding.criterion,
        in_brackets(case),
        show_effect(finding),
        in_brackets(finding.why),
    ]
    return " ".join(filter(None, parts))


# ---- the page


def ledger_page(records: Mapping[str, Sequence[Record]]) -> str:
    """The whole ledger in Markdown: a table per paper, then the details of every claim."""
    table = ledger(records)
    head = Path(__file__).with_name("ledger.md").read_text("utf-8").strip()
    parts = [head.format(tested=how_many_tested(table))]
    for paper in _PAPERS:
        claims = [claim for claim in CLAIMS.values() if claim.paper == paper]
        notebook = f"../../notebooks/papers/{paper.replace('-', '_')}.ipynb"
        parts += [f"## [{_PAPERS[paper]}]({notebook})", _paper_table(claims, table)]
    parts += ["# The claims one by one", claim_details(table)]
    return "\n\n".join(parts) + "\n"


def how_many_tested(table: DataFrame) -> str:
    """In a sentence; ``table`` is a :func:`ledger`."""
    tested = table.loc[table["state"] != NOT_TESTED, "claim"].nunique()
    return f"{tested} of {len(CLAIMS)} claims are tested."


def _paper_table(claims: Sequence[Claim], table: DataFrame) -> str:
    """The claims of a paper, a row each: the verdict on each data set as a sign, and why."""
    datasets = list(table["dataset"].unique())
    names = [dataset.removesuffix("-dev") for dataset in datasets]
    lines = [
        f"| claim | {' | '.join(names)} | why |",
        "|---" * (len(datasets) + 2) + "|",
    ]
    for claim in claims:
        rows = table[table["claim"] == claim.id].set_index("dataset")
        signs = [_sign(rows.loc[dataset]) for dataset in datasets]
        text = f"[{claim.id}](#{claim.id}). {claim.claim}"
        lines.append(f"| {text} | {' | '.join(signs)} | {_line_why(claim, rows)} |")
    return "\n".join(lines)


def _sign(row: pd.Series) -> str:
    return _SIGNS[row["state"]] if row["effects"] else ""


def _line_why(claim: Claim, rows: DataFrame) -> str:
    """Why, on the first data set with a verdict; else why there is none."""
    measured = rows[rows["effects"] != ""]
    if measured.empty:
        return f"not measured; it needs: {', '.join(claim.needs)}"
    judged = measured[measured["state"] != NOT_TESTED]
    first = (measured if judged.empty else judged).iloc[0]
    return f"{first.name.removesuffix('-dev')}: {first['why']}"


def claim_details(table: DataFrame) -> str:
    """What each claim says, how it was tested, and what was measured on each data set.

    ``table`` is a :func:`ledger`.
    """
    measured = table[table["effects"] != ""]
    parts = []
    for claim in CLAIMS.values():
        rows = measured[measured["claim"] == claim.id]
        overall = NOT_TESTED if rows.empty else rows["overall"].iloc[0]
        departs = "; ".join(filter(None, [claim.departs, DEPARTS[claim.paper]]))
        parts.append(f"### {claim.id}\n\n**{overall.capitalize()}.** {claim.claim}")
        parts.append(
            f"*Where:* {claim.paper} {claim.source} ({claim.kind}). *Tested:* {claim.measure} "
            f"*Departs from it:* {departs}. *The paper's number:* {claim.paper_number}."
        )
        if not rows.empty:
            lines = [f"- {row.dataset}: {row.state}: {row.effects}" for row in rows.itertuples()]
            parts.append("\n".join(lines))
    return "\n\n".join(parts)
