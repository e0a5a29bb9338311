"""The papers' numbers (``papers.csv``) and claims, what runs found for them, and the ledger of both.

The claims are data (``claims.toml``): what is claimed, how it is measured here, and which effect would bear it out are
fixed before anything is measured. A finding measures one criterion of a claim on one data set; a notebook leaves its
own in a record, ``figures/DATASET/NN_topic.json``. The ledger shows beside each interval a wider one that holds
together with all others of its data set (Bonferroni).
"""

import ast
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
import pandas as pd

from kit.corpus import load
from kit.errors import InputError
from kit.evaluation.statistics import Estimate, bonferroni_ci
from kit.paths import NOTEBOOKS, ROOT

REPRODUCED, NOT_REPRODUCED, UNDECIDED, NOT_TESTED = "reproduced", "not reproduced", "undecided", "not tested"
MECHANISM = "mechanism reproduced"  # by a proxy that succeeds: the cause that the paper names, not the paper's number
STALE = "stale"  # claim, code or data have changed since a verdict was found
#: A claimed gain whose interval lies wholly below this is not reproduced, even if it reaches across 0.
SMALLEST_GAIN = 0.01


class Criterion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The range in which a claim wants an effect: above ``above`` and below ``below``, at least one of them given.

    ``unit`` is ``share`` (a mean over questions from 0 to 1, or a difference of two) or names another quantity.
    """

    name: str = ""
    unit: str = "share"
    above: float = -math.inf
    below: float = math.inf

    @property
    def expected(self) -> str:
        """The range in words."""
        unit = " points" if self.unit == "share" else ""
        low, high = show(self.above, self.unit), show(self.below, self.unit)
        if math.isinf(self.below):
            return f"> {low}{unit}"
        if math.isinf(self.above):
            return f"< {high}{unit}"
        return f"within ±{high}{unit}" if self.above == -self.below else f"between {low} and {high}{unit}"


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a paper claims, where it says so and what it measured, and how the kit tests it: by all its criteria."""

    id: str
    place: str
    claim: str
    measure: str
    kind: Literal["direct", "proxy"]
    paper_number: str
    needs: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    caveat: str = ""

    @property
    def paper(self) -> str:
        return self.id.rpartition("-")[0]


_TOLD = Path(__file__).with_name("claims.toml").read_bytes()
CLAIMS = {claim.id: claim for claim in msgspec.toml.decode(_TOLD, type=dict[str, list[Claim]])["claims"]}
_RULES = {(claim.id, rule.name): rule for claim in CLAIMS.values() for rule in claim.criteria}
_NUMBERS = pd.read_csv(Path(__file__).with_name("papers.csv"), keep_default_na=False, dtype={"value": float})


def paper_numbers(paper: str, place: str) -> pd.DataFrame:
    """The numbers of one table or figure as printed, such as ``paper_numbers("gnn-ret", "Table 5")``.

    Columns: paper, place, dataset (as the paper names it), group, row, metric, value, unit, note.
    """
    return _NUMBERS[(_NUMBERS["paper"] == paper) & (_NUMBERS["place"] == place)].reset_index(drop=True)


def paper_table(paper: str, *places: str, metrics: Sequence[str] = ()) -> pd.DataFrame:
    """Tables of a paper as they are read: a row a method (and group), a column a data set and metric (or all)."""
    table = pd.concat([paper_numbers(paper, place) for place in places])
    table = table[table["metric"].isin(metrics)] if metrics else table
    table["row"] = table["row"] + table["group"].map(lambda group: f" ({group})" if group else "")
    table["column"] = table["dataset"] + " " + table["metric"]
    rows, columns = (list(dict.fromkeys(part)) for part in (zip(table["place"], table["row"]), table["column"]))
    wide = table.pivot(index=["place", "row"], columns="column", values="value")
    return wide.loc[rows, columns].rename_axis(columns=None).reset_index()


def verdict(claim: Claim, rule: Criterion, effect: float, low: float | None, high: float | None, n: int) -> str:
    """What an effect with the interval [low, high], from n questions, says of a criterion of a claim.

    Reproduced (by a proxy: its mechanism): the interval lies wholly inside the claimed range. Not reproduced:
    it lies wholly outside; or, for a gain (or loss) in a share, stays wholly short of one point. Undecided: the rest.
    """
    if low is None or high is None:
        return UNDECIDED
    above, below = rule.above, rule.below
    is_gain = rule.unit == "share" and (above, below) in ((0, math.inf), (-math.inf, 0))  # or a loss
    if above < low and high < below:
        borne_out = MECHANISM if claim.kind == "proxy" else REPRODUCED
        return UNDECIDED if is_gain and abs(effect) * n < 1 - 1e-9 else borne_out
    smallest = SMALLEST_GAIN if is_gain else 0
    return NOT_REPRODUCED if high < above + smallest or low > below - smallest else UNDECIDED


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What one run measured for one criterion of a claim; made by ``finding``.

    ``case`` names what the claim was tried on where it speaks of several (a builder, a baseline, a context size).
    ``low`` and ``high`` end the 95 % interval over ``n`` questions, None where there is none.
    """

    claim: str
    criterion: str
    case: str
    effect: float
    low: float | None
    high: float | None
    unit: str
    expected: str
    n: int
    seed: int
    verdict: str
    how: str
    paper_number: str


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What a notebook found, of its record on disk."""

    notebook: str
    provenance: Mapping[str, object] = {}
    findings: tuple[Finding, ...]


def finding(
    claim: str, found: Estimate, *, criterion: str = "", case: str = "", how: str = "", seed: int = 0
) -> Finding:
    """What was measured for a claim, with its verdict. ``how`` is the claim's own measure if nothing is said.

    Effects in the unit ``share`` are fractions: 0.032 is shown as +3.2 points; nan for both ends of the interval says
    that there is none. Raises InputError for an unknown claim or criterion, and an effect that is no number.
    """
    if (claim, criterion) not in _RULES:
        raise InputError(f"expected a claim and a criterion of claims.toml, not {criterion!r}", record=claim)
    known, rule = CLAIMS[claim], _RULES[claim, criterion]
    if not math.isfinite(found.value):
        raise InputError(f"expected a number, not {found.value}", record=claim, field="effect")
    low, high = (None if math.isnan(end) else float(end) for end in (found.low, found.high))
    measured = {"effect": float(found.value), "low": low, "high": high, "n": int(found.n)}
    told = {"unit": rule.unit, "expected": rule.expected, "how": how or known.measure, "seed": int(seed)}
    told |= {"verdict": verdict(known, rule, **measured), "paper_number": known.paper_number}
    return Finding(claim=claim, criterion=criterion, case=case, **measured, **told)


def verdicts(findings: Iterable[Finding]) -> pd.DataFrame:
    """Findings as a table to read, a row each: claim, case, effect with interval, what was expected, verdict, paper."""
    columns = ["claim", "place", "what", "effect", "expected", "n", "verdict", "the paper's number"]
    rows = []
    for of in findings:
        claim, what = CLAIMS[of.claim], ", ".join(filter(None, [of.criterion, of.case]))
        told = (f"{claim.paper} {claim.place}", what, show_effect(of))
        rows.append((of.claim, *told, of.expected, of.n, of.verdict, of.paper_number))
    return pd.DataFrame(rows, columns=columns)


def show(value: float, unit: str, *, sign: bool = False) -> str:
    """The number of a quantity for people: a share in points with one decimal, anything else with three digits."""
    form = "+" if sign else ""
    return (f"{100 * value:{form}.1f}" if unit == "share" else f"{value:{form}.3g}").replace("-", "−")


def show_effect(found: Finding) -> str:
    """An effect with its interval for people: ``+3.2 [+1.0, +5.4] points``."""
    effect, *ends = [show(x, found.unit, sign=True) for x in (found.effect, found.low, found.high) if x is not None]
    interval = f" [{', '.join(ends)}]" if ends else ""
    return f"{effect}{interval} {'points' if found.unit == 'share' else found.unit}"


# ---- the ledger

_PARTIAL = ("-smoke", "-trial")  # runs with too few questions, or settings of one's own
#: The data that comes with the kit, by the name of its folder of figures: where it lies (None: the default).
_OWN_DATA = {"atlas": None, "documents-reports": ROOT / "data" / "reports"}
_own_hash = cache(lambda dataset: load(_OWN_DATA[dataset]).hash)
_MEASURING = ("corpus", "text", "graphs", "retrievers", "evaluation")  # what makes findings; the rest shows them


@cache
def code_hash(notebook: str) -> str:
    """A digest of what a notebook's findings come from: its own code, and the kit's, comments and docstrings apart."""
    sink = hashlib.blake2b(digest_size=8)
    for path in [path for part in _MEASURING for path in sorted((ROOT / "kit" / part).rglob("*.py"))]:
        tree = ast.parse("" if path == Path(__file__) else path.read_text("utf-8"))  # of rules ``is_stale`` tells
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):  # a docstring
                node.value.value = None
        sink.update(ast.unparse(tree).encode())
    if (path := NOTEBOOKS / f"{notebook}.ipynb").is_file():
        cells = json.loads(path.read_text("utf-8"))["cells"]
        sink.update("".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code").encode())
    return sink.hexdigest()


def is_stale(found: Finding, record: Record, dataset: str) -> bool:
    """Whether claim, code or data have changed since. Of a record without a hash, and of others' data, nobody knows."""
    rule = _RULES.get((found.claim, found.criterion))
    code, data = (record.provenance.get(name) for name in ("code_hash", "data_hash"))
    if rule is None or (code and code != code_hash(record.notebook)):
        return True
    if data and dataset in _OWN_DATA and data != _own_hash(dataset):
        return True
    now = verdict(CLAIMS[found.claim], rule, found.effect, found.low, found.high, found.n)
    return (found.unit, found.expected, found.verdict) != (rule.unit, rule.expected, now)


def read_records(figures: Path) -> dict[str, list[Record]]:
    """The records with findings of each data set, the atlas first; smoke and trial runs don't count."""
    records: dict[str, list[Record]] = {}
    paths = [path for path in figures.glob("*/[0-9][0-9]_*.json") if not path.parent.name.endswith(_PARTIAL)]
    for path in sorted(paths, key=lambda path: (path.parent.name != "atlas", path)):
        try:
            record = msgspec.json.decode(path.read_bytes(), type=Record)
        except (OSError, msgspec.DecodeError) as error:
            raise InputError(str(error), file=path) from None
        if unknown := {found.claim for found in record.findings} - set(CLAIMS):
            raise InputError(f"expected the id of a claim, not {min(unknown)!r}", file=path, field="claim")
        if record.findings:
            records.setdefault(path.parent.name, []).append(record)
    return records


def ledger(records: Mapping[str, Sequence[Record]]) -> pd.DataFrame:
    """A row a claim and data set: state (the verdict, or ``stale``), effects (in words), overall (the common state)."""
    rows = []
    for dataset, of in records.items():
        n_findings = sum(len(record.findings) for record in of)
        for claim in CLAIMS.values():
            made = [(found, record) for record in of for found in record.findings if found.claim == claim.id]
            findings, state, told = [found for found, _ in made], NOT_TESTED, ""
            if findings:
                verdicts = {found.verdict for found in findings}
                whole = {found.criterion for found in findings} == {rule.name for rule in claim.criteria}
                state = verdicts.pop() if whole and len(verdicts) == 1 else UNDECIDED
                state = NOT_REPRODUCED if NOT_REPRODUCED in {state, *verdicts} else state  # one case suffices
                state = STALE if any(is_stale(found, record, dataset) for found, record in made) else state
                effects = [_effect(claim, rule, findings, n_findings) for rule in claim.criteria]
                told = "; ".join(filter(None, [*effects, claim.caveat]))
            rows.append((claim.id, dataset, state, told))
    table = pd.DataFrame(rows, columns=["claim", "dataset", "state", "effects"])
    tested = table[table["state"] != NOT_TESTED].groupby("claim")["state"].unique()
    agreed = tested.map(lambda states: states[0] if len(states) == 1 else "differs")
    return table.assign(overall=table["claim"].map(agreed).fillna(NOT_TESTED))


def ledger_page(records: Mapping[str, Sequence[Record]]) -> str:
    """The whole ledger in Markdown: every claim, with what the data sets that tested it say."""
    table = ledger(records)
    tested = table[table["state"] != NOT_TESTED]
    parts = ["# What the papers claim, and what came of it here"]
    parts.append(f"{tested['claim'].nunique()} of {len(CLAIMS)} claims are tested. {_WHAT_STATES_SAY}")
    nameless = sorted(name for name, of in records.items() if not all(each.provenance.get("code_hash") for each in of))
    if nameless:
        told = "say nothing of the code that made them, so their verdicts stand here as they were recorded, and"
        parts.append(f"Records of {', '.join(nameless)} {told} become *stale* only when claim or data change.")
    for claim in CLAIMS.values():
        of = tested[tested["claim"] == claim.id]
        source = f"{claim.paper} {claim.place}, {claim.kind}; tested: {claim.measure}"
        overall = NOT_TESTED if of.empty else of["overall"].iloc[0]
        parts.append(f"## {claim.id}: {overall}\n\n{claim.claim} ({source} The paper's number: {claim.paper_number}.)")
        lines = [f"- {': '.join(filter(None, row))}" for row in zip(of["dataset"], of["state"], of["effects"])]
        if lines:
            parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


_WHAT_STATES_SAY = """\
An interval (95 %, over questions) that lies wholly on the claimed side is *reproduced*, one that lies wholly beside it
*not reproduced*, any other *undecided*; *mechanism reproduced* says that the cause holds which a paper names for its
language model's answers. *Stale*: code or data have changed since. Of several cases the weakest is shown. *Adjusted* is
an interval that holds together with all others of its data set. The papers' corpora, encoders and readers differ from
ours: the sign and the shape are tested, never the level.""".replace("\n", " ")


def _effect(claim: Claim, rule: Criterion, findings: Sequence[Finding], n_findings: int) -> str:
    """A criterion's effect in the case that speaks most against the claim, with the interval that holds for all."""

    def strength(found: Finding) -> tuple[int, float]:
        order = {NOT_REPRODUCED: 0, UNDECIDED: 1}.get(found.verdict, 2)
        low, high = (found.effect, found.effect) if found.low is None else (found.low, found.high)
        return order, min(low - rule.above, rule.below - high)

    cases = [found for found in findings if found.criterion == rule.name]
    if not cases:
        return f"{rule.name}: not measured"
    found = min(cases, key=strength)
    case, told = found.case + f", the weakest of {len(cases)}" * (len(cases) > 1), show_effect(found)
    if found.low is not None and n_findings > 1:
        low, high = bonferroni_ci(found.effect, found.low, found.high, n_findings)
        if found.unit in ("share", "correlation"):
            low, high = max(low, -1.0), min(high, 1.0)
        changed = verdict(claim, rule, found.effect, low, high, found.n)
        ends = ", ".join(show(end, found.unit, sign=True) for end in (low, high))
        told += f" (adjusted [{ends}]{'' if changed == found.verdict else f': {changed}'})"
    return " ".join(filter(None, [rule.name, f"({case})" * bool(case), told]))
