"""The ledger of claims: what the records under ``figures/`` say of every claim, on every data set.

A record is ``figures/DATASET/NN_topic.json`` with a list ``findings``. With many findings a few come out by chance, so
each interval is shown beside a wider one that holds together with all others of its data set (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap

import msgspec
import pandas as pd

from kit.errors import InputError
from kit.evaluation.claims import (
    CLAIMS,
    NOT_REPRODUCED,
    NOT_TESTED,
    UNDECIDED,
    Claim,
    Finding,
    combined,
    show,
    show_effect,
    verdict,
)
from kit.evaluation.statistics import widened

#: Runs that are not whole: too few questions, or settings of one's own.
_PARTIAL = ("-smoke", "-trial")


class _Record(msgspec.Struct):
    findings: list[Finding]


def read_findings(figures: Path, datasets: Sequence[str] | None = None) -> dict[str, list[Finding]]:
    """The findings of each data set that has a folder under ``figures``, the atlas first.

    ``datasets`` names the folders to read; by default all but those of smoke and trial runs. Raises InputError for a
    record that is damaged, or made under another rule than the claim's present one.
    """
    if datasets is None:
        folders = [path for path in figures.glob("*") if path.is_dir() and not path.name.endswith(_PARTIAL)]
        datasets = sorted((path.name for path in folders), key=lambda name: (name != "atlas", name))
    findings = {}
    for dataset in datasets:
        found: list[Finding] = []
        for path in sorted((figures / dataset).glob("[0-9][0-9]_*.json")):
            try:
                found += msgspec.json.decode(path.read_bytes(), type=_Record).findings
            except (OSError, msgspec.DecodeError) as error:
                raise InputError(str(error), file=path) from None
        if found:
            findings[dataset] = found
    return findings


def ledger(figures: Path, datasets: Sequence[str] | None = None) -> pd.DataFrame:
    """A row for every claim, tested or not.

    Columns: claim, place, says (the claim), kind, paper_number; one for each data set with its verdict and effects;
    overall, the verdict that all tested data sets agree on, else ``differs``. See ``read_findings`` for the arguments.
    """
    findings = read_findings(figures, datasets)
    rows = []
    for claim in CLAIMS.values():
        row = {"claim": claim.id, "place": f"{claim.paper} {claim.place}", "says": claim.claim, "kind": claim.kind}
        row["paper_number"] = claim.paper_number
        by_dataset = {name: [one for one in found if one.claim == claim.id] for name, found in findings.items()}
        row |= {name: _cell(claim, by_dataset[name], len(found)) for name, found in findings.items()}
        verdicts = {combined(claim, found) for found in by_dataset.values()} - {NOT_TESTED} or {NOT_TESTED}
        row["overall"] = verdicts.pop() if len(verdicts) == 1 else "differs"
        rows.append(row)
    return pd.DataFrame(rows)


def ledger_markdown(figures: Path, datasets: Sequence[str] | None = None) -> str:
    """The tested claims as a Markdown table, and a line that says how many of all are tested."""
    table = ledger(figures, datasets)
    tested = table[table["overall"] != NOT_TESTED]
    if tested.empty:
        return _how_many(table) + "\n"
    names = _datasets(table)
    head = ["claim", "the paper says", "its number", *names, "overall"]
    lines = [_how_many(table), "", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in tested.to_dict("records"):
        cells = [f"{row['claim']} ({row['place']})", row["says"], row["paper_number"]]
        cells += [row[name] for name in names] + [row["overall"]]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def ledger_text(figures: Path, datasets: Sequence[str] | None = None, *, width: int = 100) -> str:
    """The whole ledger for a terminal of ``width`` columns: what is tested in full, the rest by its claim."""
    table = ledger(figures, datasets)
    lines = [_how_many(table)]
    for row in table.to_dict("records"):
        lines += ["", f"{row['claim']}  {row['place']}  [{row['overall']}]"]
        told = [row["says"]]
        if row["overall"] != NOT_TESTED:
            told += [f"{name}: {row[name]}" for name in _datasets(table) if row[name] != NOT_TESTED]
            told.append(f"the paper's number: {row['paper_number']}")
        lines += [part for line in told for part in wrap(line, width, initial_indent="  ", subsequent_indent="    ")]
    return "\n".join(lines) + "\n"


def _datasets(table: pd.DataFrame) -> list[str]:
    """The columns of a ledger that stand for data sets."""
    return list(table.columns[5:-1])


def _how_many(table: pd.DataFrame) -> str:
    return f"{(table['overall'] != NOT_TESTED).sum()} of {len(table)} claims are tested."


def _cell(claim: Claim, findings: list[Finding], n_findings: int) -> str:
    """The verdict on one data set, and each criterion's effect in its weakest case."""
    if not findings:
        return NOT_TESTED
    parts = []
    for criterion in claim.criteria:
        cases = [found for found in findings if found.criterion == criterion.name]
        if not cases:
            parts.append(f"{criterion.name}: not measured")
            continue
        weakest = min(cases, key=_strength)
        what = criterion.name
        if len(cases) > 1:
            what = f"{what} ({weakest.case}, the weakest of {len(cases)})".strip()
        elif weakest.case:
            what = f"{what} ({weakest.case})".strip()
        parts.append(f"{what} {show_effect(weakest)}{_adjusted(weakest, n_findings)}".strip())
    caveat = f"; {claim.caveat}" if claim.caveat else ""
    return f"{combined(claim, findings)}: {'; '.join(parts)}{caveat}"


def _strength(found: Finding) -> tuple[int, float]:
    """Orders findings from the one that speaks most against its claim to the one that speaks most for it."""
    rule = CLAIMS[found.claim].criterion(found.criterion)
    order = {NOT_REPRODUCED: 0, UNDECIDED: 1}.get(found.verdict, 2)
    low, high = (found.effect, found.effect) if found.low is None else (found.low, found.high)
    margins = [low - rule.above] if rule.above is not None else []
    margins += [rule.below - high] if rule.below is not None else []
    return order, min(margins)


def _adjusted(found: Finding, n_findings: int) -> str:
    """The interval that holds together with those of all findings of the data set, and what it does to the verdict."""
    if found.low is None or n_findings == 1:
        return ""
    low, high = widened(found.effect, found.low, found.high, n_findings)
    if found.unit in ("share", "correlation"):
        low, high = max(low, -1.0), min(high, 1.0)
    rule = CLAIMS[found.claim].criterion(found.criterion)
    changed = verdict(rule, found.effect, low, high, found.n)
    same = changed in found.verdict  # a proxy's verdict is "mechanism reproduced"
    ends = ", ".join(show(end, found.unit, sign=True) for end in (low, high))
    return f" (adjusted [{ends}]{'' if same else f': {changed}'})"
