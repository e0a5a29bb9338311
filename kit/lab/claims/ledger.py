"""The papers' numbers (``papers.csv``) and claims, what runs found for them, and the ledger of both.

The claims are data (``claims.toml``): what is claimed, how it is measured here, and which effect would bear it out are
fixed before anything is measured. A finding measures one criterion of a claim on one data set; a notebook leaves its
own in a record, ``figures/DATASET/NN_topic.json``.
"""

import ast
import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
import pandas as pd

from kit.corpus import load
from kit.errors import InputError
from kit.evaluation.statistics import Estimate
from kit.methods import METHODS, Retriever
from kit.paths import NOTEBOOKS, ROOT

REPRODUCED, NOT_REPRODUCED, UNDECIDED, NOT_TESTED = (
    "reproduced",
    "not reproduced",
    "undecided",
    "not tested",
)
MECHANISM = "mechanism reproduced"  # by a proxy that succeeds: the cause that the paper names, not the paper's number
STALE = "stale"  # claim, code or data have changed since a verdict was found
#: A claimed gain whose interval lies wholly below this is not reproduced, even if it reaches across 0.
SMALLEST_GAIN = 0.01
N_SEEDS = 3  # of training, at least, for a verdict on what is trained


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
        return (
            f"within ±{high}{unit}"
            if self.above == -self.below
            else f"between {low} and {high}{unit}"
        )


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
    departs: str = ""
    readings: bool = False  # cases are readings of the paper: where they differ, nothing is decided

    @property
    def paper(self) -> str:
        return self.id.rpartition("-")[0]


_BYTES = Path(__file__).with_name("claims.toml").read_bytes()
_TOLD = msgspec.toml.decode(_BYTES, type=dict[str, list[Claim] | dict[str, str]])
CLAIMS, DEPARTS = {claim.id: claim for claim in _TOLD["claims"]}, _TOLD["departs"]
_RULES = {(claim.id, rule.name): rule for claim in CLAIMS.values() for rule in claim.criteria}


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What one run measured for one criterion of a claim; made by ``finding``.

    ``case`` names what the claim was tried on where it speaks of several (a builder, a baseline, a context size).
    ``low`` and ``high`` end the 95 % interval over ``n`` questions, None where there is none; differ, rival and draws
    are those of the estimate. ``learned``, ``seeds``: of what was trained for it. ``why`` no verdict was possible.
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
    differ: int | None = None
    rival: float | None = None
    draws: tuple[float, ...] = ()
    learned: bool | None = None
    seeds: int = 0
    why: str = ""


def verdict(found: Finding) -> tuple[str, str]:
    """What a finding says of its criterion of a claim, and, where it can say nothing whatever its effect, why.

    Reproduced (by a proxy: its mechanism): the interval lies wholly inside the claimed range. Not reproduced: it lies
    wholly outside; or, for a gain (or loss) in a share, stays wholly short of one point. Undecided: the rest, and what
    rests on a network that did not learn, on fewer than three training seeds, on one question that differs, or has no
    room: 100 % against 100 % tells of no gain.
    """
    rule, low, high = _RULES[found.claim, found.criterion], found.low, found.high
    above, below, spans_0 = (
        rule.above,
        rule.below,
        rule.above < 0 < rule.below,
    )  # no less than, or the same
    if low is None or high is None:
        return UNDECIDED, "no interval"
    if found.learned is False:
        return (
            UNDECIDED,
            "a network did not demonstrably learn"
            if found.seeds
            else "it is not said what was trained",
        )
    if found.learned and found.seeds < N_SEEDS:
        return UNDECIDED, f"{found.seeds} of {N_SEEDS} training seeds"
    if (
        found.differ is not None and found.differ < 2
    ):  # then no resampling tells what the next question would do
        if not spans_0:
            return UNDECIDED, f"{found.differ or 'no'} question differs"
        low, high = low - 3 / found.n, high + 3 / found.n  # the rule of three
    is_share = rule.unit == "share"
    is_gain = is_share and (above, below) in ((0, math.inf), (-math.inf, 0))  # or a loss
    smallest = SMALLEST_GAIN if is_gain else 0
    told = NOT_REPRODUCED if high < above + smallest or low > below - smallest else UNDECIDED
    if above < low and high < below:
        told = MECHANISM if CLAIMS[found.claim].kind == "proxy" else REPRODUCED
    if (
        is_share and found.rival is not None and not (spans_0 and told == NOT_REPRODUCED)
    ):  # such a failure has its room
        # Each side of the rival that the claimed range reaches to must be open.
        if (found.rival > 1 - SMALLEST_GAIN and below > 0) or (
            found.rival < SMALLEST_GAIN and above < 0
        ):
            return UNDECIDED, f"no room: the other has {show(found.rival, 'share')} %"
    return told, ""


def has_learned(history: Sequence[Mapping[str, float]]) -> bool:
    """Whether training brought the best check on dev questions above its start; without checks, the whole loss down."""
    scores = [row["measured"] for row in history if "measured" in row]
    scores = (
        scores or [-row["loss"] for row in history if "step" not in row] or [0.0]
    )  # of all questions at once
    return max(scores) > scores[0]


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What a notebook found, of its record on disk."""

    notebook: str
    provenance: Mapping[str, object] = {}
    findings: tuple[Finding, ...]


def finding(
    claim: str,
    found: Estimate,
    trained: Sequence[Retriever] | None = None,
    criterion: str = "",
    **told: str | int,
) -> Finding:
    """What was measured for a claim, with its verdict; ``told`` has case, how (else the claim's own measure) and seed.

    Effects in the unit ``share`` are fractions: 0.032 is shown as +3.2 points; nan for both ends of the interval says
    that there is none. ``trained`` holds every fitted retriever that the effect rests on, each of at least three seeds
    and better on dev questions than at its start, or the finding is undecided; () says that nothing was trained. If
    nothing is said, that holds of claims that need no trained retriever, and of quantities that are no share.
    Raises InputError for an unknown claim or criterion, and an effect that is no number.
    """
    if (claim, criterion) not in _RULES:
        raise InputError(
            f"expected a claim and a criterion of claims.toml, not {criterion!r}", record=claim
        )
    known, rule = CLAIMS[claim], _RULES[claim, criterion]
    if not math.isfinite(found.value):
        raise InputError(f"expected a number, not {found.value}", record=claim, field="effect")
    learned = all(has_learned(each.history) for each in trained) if trained else None
    if trained is None and "trained retriever" in known.needs and rule.unit in ("share", "slope"):
        learned = False  # nobody says so
    settings = [
        (each.name, msgspec.structs.asdict(each.settings) | {"seed": 0}) for each in trained or ()
    ]
    cells = Counter((name, *sorted(told.items())) for name, told in settings)
    low, high, rival = (
        None if math.isnan(end) else float(end) for end in (found.low, found.high, found.rival)
    )
    measured = {
        "effect": float(found.value),
        "low": low,
        "high": high,
        "n": int(found.n),
        "differ": found.differ,
    }
    measured |= {
        "rival": rival,
        "draws": found.draws,
        "learned": learned,
        "seeds": min(cells.values(), default=0),
    }
    about = {
        "case": "",
        "how": known.measure,
        "seed": 0,
        "unit": rule.unit,
        "expected": rule.expected,
    } | told
    about |= {"verdict": "", "paper_number": known.paper_number}
    made = Finding(claim=claim, criterion=criterion, **about, **measured)
    return msgspec.structs.replace(made, **dict(zip(("verdict", "why"), verdict(made))))


def verdicts(findings: Iterable[Finding]) -> pd.DataFrame:
    """Findings as a table to read, a row each: claim, case, effect with interval, what was expected, verdict, paper."""
    rows = []
    for of in findings:
        place, what = (
            f"{CLAIMS[of.claim].paper} {CLAIMS[of.claim].place}",
            filter(None, [of.criterion, of.case]),
        )
        said = of.verdict + f" ({of.why})" * bool(of.why)
        rows.append(
            (
                of.claim,
                place,
                ", ".join(what),
                show_effect(of),
                of.expected,
                of.n,
                said,
                of.paper_number,
            )
        )
    columns = ["claim", "place", "what", "effect", "expected", "n", "verdict", "the paper's number"]
    return pd.DataFrame(rows, columns=columns)


def show(value: float, unit: str, *, sign: bool = False) -> str:
    """The number of a quantity for people: a share in points with one decimal, anything else with three digits."""
    form = "+" if sign else ""
    return (f"{100 * value:{form}.1f}" if unit == "share" else f"{value:{form}.3g}").replace(
        "-", "−"
    )


def show_effect(found: Finding) -> str:
    """An effect with its interval for people: ``+3.2 [+1.0, +5.4] points``, and its range over training seeds."""
    effect, *ends = [
        show(x, found.unit, sign=True)
        for x in (found.effect, found.low, found.high)
        if x is not None
    ]
    interval = f" [{', '.join(ends)}]" if ends else ""
    ends = (
        [show(end(found.draws), found.unit, sign=True) for end in (min, max)] if found.draws else []
    )
    seeds = f" (seeds {' to '.join(ends)})" * bool(ends)
    return f"{effect}{interval} {'points' if found.unit == 'share' else found.unit}{seeds}"


# ---- the ledger

_PARTIAL = ("-smoke", "-trial")  # runs with too few questions, or settings of one's own
#: The data that comes with the kit, by the name of its folder of figures: where it lies (None: the default).
_OWN_DATA = {"atlas": None, "documents-reports": ROOT / "data" / "reports"}
_own_hash = cache(lambda dataset, setting: load(_OWN_DATA[dataset], setting=setting).hash)
_MEASURING = (
    "corpus",
    "text",
    "graphs",
    "retrievers",
    "evaluation",
)  # what makes findings; the rest shows them


@cache
def code_hash(notebook: str) -> str:
    """A digest of what a notebook's findings come from: its own code, and the kit's, comments and docstrings apart.

    Of the methods' files those count that it names (a method, its class or its module), or that what counts names.
    """
    code: dict[Path, str] = {}
    for path in [
        path for part in _MEASURING for path in sorted((ROOT / "kit" / part).rglob("*.py"))
    ]:
        tree = ast.parse(
            "" if path == Path(__file__) else path.read_text("utf-8")
        )  # of rules ``is_stale`` tells
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):  # a docstring
                node.value.value = None
        code[path] = ast.unparse(tree)
    own, folder = NOTEBOOKS / f"{notebook}.ipynb", ROOT / "kit" / "retrievers"
    cells = json.loads(own.read_text("utf-8"))["cells"] if own.is_file() else []
    code[own] = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    methods = {
        path.stem: path
        for path in code
        if path.parent == folder and path.stem not in ("__init__", "base")
    }
    for name, method in METHODS.items():
        methods[name] = methods[method.__name__] = methods.get(method.__module__.rpartition(".")[2])
    used = code.keys() - methods.values()
    left = used - {folder / "__init__.py"}  # which names them all
    while left:
        named = {methods.get(word) for path in left for word in re.findall(r"[\w-]+", code[path])}
        left = named - used - {None}
        used |= left
    sink = hashlib.blake2b(digest_size=8)
    for path in sorted(used):
        sink.update(code[path].encode())
    return sink.hexdigest()


def is_stale(found: Finding, record: Record, dataset: str) -> bool:
    """Whether claim, code or data are others today, or the record does not say. Of others' data nobody knows here."""
    rule = _RULES.get((found.claim, found.criterion))
    code, data = (record.provenance.get(name) for name in ("code_hash", "data_hash"))
    if rule is None or not data or code != code_hash(record.notebook):
        return True
    setting = "facts" if record.provenance.get("setting") == "per-question" else "pooled"
    if dataset in _OWN_DATA and data != _own_hash(dataset, setting):
        return True
    return (found.unit, found.expected, found.verdict) != (
        rule.unit,
        rule.expected,
        verdict(found)[0],
    )


def read_records(figures: Path) -> dict[str, list[Record]]:
    """The records with findings of each data set, the atlas first; smoke and trial runs don't count."""
    records: dict[str, list[Record]] = {}
    paths = [
        path
        for path in figures.glob("*/[0-9][0-9]_*.json")
        if not path.parent.name.endswith(_PARTIAL)
    ]
    for path in sorted(paths, key=lambda path: (path.parent.name != "atlas", path)):
        try:
            record = msgspec.json.decode(path.read_bytes(), type=Record)
        except (OSError, msgspec.DecodeError) as error:
            raise InputError(str(error), file=path) from None
        if unknown := {found.claim for found in record.findings} - set(CLAIMS):
            raise InputError(
                f"expected the id of a claim, not {min(unknown)!r}", file=path, field="claim"
            )
        if record.findings:
            records.setdefault(path.parent.name, []).append(record)
    return records


def ledger(records: Mapping[str, Sequence[Record]]) -> pd.DataFrame:
    """A row a claim and data set: state (the verdict, or ``stale``), effects (in words), overall (the common state).

    What is stale has no part in the common state, unless all is.
    """
    rows = []
    for dataset, of in records.items():
        for claim in CLAIMS.values():
            made = [
                (found, record)
                for record in of
                for found in record.findings
                if found.claim == claim.id
            ]
            findings, told = [found for found, _ in made], {found.verdict for found, _ in made}
            whole = {found.criterion for found in findings} == {
                rule.name for rule in claim.criteria
            }
            if not findings:
                state = NOT_TESTED
            elif any(is_stale(found, record, dataset) for found, record in made):
                state = STALE
            elif NOT_REPRODUCED in told and not claim.readings:  # one case suffices
                state = NOT_REPRODUCED
            else:
                state = told.pop() if whole and len(told) == 1 else UNDECIDED
            effects = [_effect(rule, findings) for rule in claim.criteria if findings]
            rows.append((claim.id, dataset, state, "; ".join(effects)))
    table = pd.DataFrame(rows, columns=["claim", "dataset", "state", "effects"])
    tested = table[table["state"] != NOT_TESTED].groupby("claim")["state"].unique()
    fresh = tested.map(lambda states: [state for state in states if state != STALE] or [STALE])
    agreed = fresh.map(lambda states: states[0] if len(states) == 1 else "differs")
    return table.assign(overall=table["claim"].map(agreed).fillna(NOT_TESTED))


def ledger_page(records: Mapping[str, Sequence[Record]]) -> str:
    """The whole ledger in Markdown: every claim, with what the data sets that tested it say."""
    table = ledger(records)
    tested = table[table["state"] != NOT_TESTED]
    head = Path(__file__).with_name("ledger.md").read_text("utf-8")  # with what the states say
    parts = [head.strip().format(tested=tested["claim"].nunique(), claims=len(CLAIMS))]
    for claim in CLAIMS.values():
        of = tested[tested["claim"] == claim.id]
        source = (
            f"{claim.paper} {claim.place}, {claim.kind}; tested: {claim.measure} Departs from it: "
        )
        source += "; ".join(filter(None, [claim.departs, DEPARTS[claim.paper]]))
        overall = NOT_TESTED if of.empty else of["overall"].iloc[0]
        parts.append(
            f"## {claim.id}: {overall}\n\n{claim.claim} ({source}. The paper's number: {claim.paper_number}.)"
        )
        lines = [
            f"- {': '.join(filter(None, row))}"
            for row in zip(of["dataset"], of["state"], of["effects"])
        ]
        if lines:
            parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _effect(rule: Criterion, findings: Sequence[Finding]) -> str:
    """A criterion's effect in the case that speaks most against the claim."""

    def strength(found: Finding) -> tuple[int, float]:
        order = {NOT_REPRODUCED: 0, UNDECIDED: 1}.get(found.verdict, 2)
        low, high = (found.effect, found.effect) if found.low is None else (found.low, found.high)
        return order, min(low - rule.above, rule.below - high)

    cases = [found for found in findings if found.criterion == rule.name]
    if not cases:
        return f"{rule.name}: not measured"
    found = min(cases, key=strength)
    case = found.case + f", the weakest of {len(cases)}" * (len(cases) > 1)
    told = [
        rule.name,
        f"({case})" * bool(case),
        show_effect(found),
        f"({found.why})" * bool(found.why),
    ]
    return " ".join(filter(None, told))
