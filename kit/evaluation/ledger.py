"""The ledger of claims: what the records under ``figures/`` say of every claim, on every data set.

A record is ``figures/DATASET/NN_topic.json`` with a list ``findings``. With many findings a few come out by chance, so
each interval is shown beside a wider one that holds together with all others of its data set (Bonferroni).
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec
import pandas as pd

from kit.corpus import load
from kit.errors import InputError
from kit.evaluation.claims import (
    CLAIMS,
    NOT_REPRODUCED,
    NOT_TESTED,
    STALE,
    UNDECIDED,
    Claim,
    Finding,
    combined,
    show,
    show_effect,
    verdict,
)
from kit.evaluation.statistics import bonferroni_ci
from kit.paths import NOTEBOOKS, ROOT

#: Runs that are not whole: too few questions, or settings of one's own.
_PARTIAL = ("-smoke", "-trial")
#: The data that comes with the kit, by the name of its folder of figures: where it lies (None: the default).
_OWN_DATA = {"atlas": None, "documents-reports": ROOT / "data" / "reports"}
#: What findings are made by; the rest of the kit runs and shows it.
_MEASURING = ("corpus", "text", "graphs", "retrievers", "evaluation")


class Origin(msgspec.Struct, frozen=True):
    """What a record's findings were made from, as far as it says so."""

    data_hash: str = ""
    code_hash: str = ""


class FindingsRecord(msgspec.Struct, frozen=True):
    """The part of a notebook's record that the ledger reads."""

    findings: tuple[Finding, ...]
    notebook: str = ""
    provenance: Origin = Origin()

    def stale(self, dataset: str) -> bool:
        """Whether code or data have changed since. Of a record without a hash, and of others' data, nobody knows."""
        made = self.provenance
        other_code = bool(made.code_hash) and made.code_hash != code_hash(self.notebook)
        return other_code or (dataset in _OWN_DATA and made.data_hash not in ("", _own_hash(dataset)))


@cache
def _own_hash(dataset: str) -> str:
    return load(_OWN_DATA[dataset]).hash


@cache
def code_hash(notebook: str) -> str:
    """A digest of what a notebook's findings come from: its own code, and the kit's, comments and docstrings apart."""
    sink = hashlib.blake2b(digest_size=8)
    files = [path for part in _MEASURING for path in sorted((ROOT / "kit" / part).rglob("*.py"))]
    for path in files:
        if path != Path(__file__):
            sink.update(_bare(path.read_text("utf-8")).encode())
    if (path := NOTEBOOKS / f"{notebook}.ipynb").is_file():
        cells = json.loads(path.read_text("utf-8"))["cells"]
        sink.update("".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code").encode())
    return sink.hexdigest()


def _bare(source: str) -> str:
    """A module's code as Python writes it, without comments and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def read_records(figures: Path, datasets: Sequence[str] | None = None) -> dict[str, list[FindingsRecord]]:
    """The records of each data set that has findings in a folder under ``figures``, the atlas first.

    ``datasets`` names the folders to read; by default all but those of smoke and trial runs. Raises InputError for a
    record that is damaged or tells of a claim that there is not.
    """
    if datasets is None:
        folders = [path for path in figures.glob("*") if path.is_dir() and not path.name.endswith(_PARTIAL)]
        datasets = sorted((path.name for path in folders), key=lambda name: (name != "atlas", name))
    records: dict[str, list[FindingsRecord]] = {}
    for dataset in datasets:
        for path in sorted((figures / dataset).glob("[0-9][0-9]_*.json")):
            try:
                record = msgspec.json.decode(path.read_bytes(), type=FindingsRecord)
            except (OSError, msgspec.DecodeError) as error:
                raise InputError(str(error), file=path) from None
            if unknown := {found.claim for found in record.findings} - set(CLAIMS):
                raise InputError(f"expected the id of a claim, not {min(unknown)!r}", file=path, field="claim")
            if record.findings:
                records.setdefault(dataset, []).append(record)
    return records


def ledger(records: Mapping[str, Sequence[FindingsRecord]]) -> pd.DataFrame:
    """A row for every claim and data set, tested or not.

    Columns: claim, dataset; state: the verdict, or ``stale`` where claim, code or data have changed since it was
    measured; effects, in words; overall: the state that all data sets which tested the claim agree on, else
    ``differs``.
    """
    rows = []
    for dataset, of in records.items():
        n_findings = sum(len(record.findings) for record in of)
        for claim in CLAIMS.values():
            found = [(each, record) for record in of for each in record.findings if each.claim == claim.id]
            old = any(each.stale or record.stale(dataset) for each, record in found)
            findings = [each for each, _ in found if not each.stale]
            state = STALE if old else combined(claim, findings)
            rows.append((claim.id, dataset, state, _effects(claim, findings, n_findings) if findings else ""))
    table = pd.DataFrame(rows, columns=["claim", "dataset", "state", "effects"])
    return table.assign(overall=table["claim"].map(table.groupby("claim")["state"].agg(_overall)))


def _overall(states: pd.Series) -> str:
    tested = set(states) - {NOT_TESTED} or {NOT_TESTED}
    return tested.pop() if len(tested) == 1 else "differs"


def ledger_page(figures: Path, datasets: Sequence[str] | None = None) -> str:
    """The whole ledger in Markdown: every claim, with what the data sets that tested it say."""
    records = read_records(figures, datasets)
    table = ledger(records)
    tested = table[table["state"] != NOT_TESTED]
    parts = ["# What the papers claim, and what came of it here"]
    parts.append(f"{tested['claim'].nunique()} of {len(CLAIMS)} claims are tested. {_WHAT_STATES_SAY}")
    if nameless := sorted({name for name, of in records.items() for each in of if not each.provenance.code_hash}):
        told = "say nothing of the code that made them, so their verdicts stand here as they were recorded, and"
        parts.append(f"Records of {', '.join(nameless)} {told} become *stale* only when claim or data change.")
    for claim in CLAIMS.values():
        of = tested[tested["claim"] == claim.id]
        source = f"{claim.paper} {claim.place}, {claim.kind}; tested: {claim.measure}"
        overall = NOT_TESTED if of.empty else of["overall"].iloc[0]
        parts.append(f"## {claim.id}: {overall}\n\n{claim.claim} ({source} The paper's number: {claim.paper_number}.)")
        lines = [f"- {row.dataset}: {row.state}{': ' * bool(row.effects)}{row.effects}" for row in of.itertuples()]
        parts += ["\n".join(lines)] if lines else []
    return "\n\n".join(parts) + "\n"


_WHAT_STATES_SAY = """\
An interval (95 %, over questions) that lies wholly on the claimed side is *reproduced*, one that lies wholly beside it
*not reproduced*, any other *undecided*; *mechanism reproduced* says that the cause holds which a paper names for its
language model's answers. *Stale*: code or data have changed since. Of several cases the weakest is shown. *Adjusted* is
an interval that holds together with all others of its data set. The papers' corpora, encoders and readers differ from
ours: the sign and the shape are tested, never the level.""".replace("\n", " ")


def _effects(claim: Claim, findings: list[Finding], n_findings: int) -> str:
    """Each criterion's effect in its weakest case."""
    parts = []
    for name in [criterion.name for criterion in claim.criteria]:
        cases = sorted((found for found in findings if found.criterion == name), key=_strength)
        if not cases:
            parts.append(f"{name}: not measured")
            continue
        case = cases[0].case + f", the weakest of {len(cases)}" * (len(cases) > 1)
        told = [name, f"({case})" * bool(case), show_effect(cases[0]) + _adjusted(cases[0], n_findings)]
        parts.append(" ".join(filter(None, told)))
    return "; ".join(filter(None, [*parts, claim.caveat]))


def _strength(found: Finding) -> tuple[int, float]:
    """Orders findings from the one that speaks most against its claim to the one that speaks most for it."""
    rule = CLAIMS[found.claim].criterion(found.criterion)
    order = {NOT_REPRODUCED: 0, UNDECIDED: 1}.get(found.verdict, 2)
    low, high = (found.effect, found.effect) if found.low is None else (found.low, found.high)
    return order, min(low - rule.above, rule.below - high)


def _adjusted(found: Finding, n_findings: int) -> str:
    """The interval that holds together with those of all findings of the data set, and what it does to the verdict."""
    if found.low is None or n_findings == 1:
        return ""
    low, high = bonferroni_ci(found.effect, found.low, found.high, n_findings)
    if found.unit in ("share", "correlation"):
        low, high = max(low, -1.0), min(high, 1.0)
    changed = verdict(CLAIMS[found.claim].criterion(found.criterion), found.effect, low, high, found.n)
    same = changed in found.verdict  # a proxy's verdict is "mechanism reproduced"
    ends = ", ".join(show(end, found.unit, sign=True) for end in (low, high))
    return f" (adjusted [{ends}]{'' if same else f': {changed}'})"
