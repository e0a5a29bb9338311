"""What the project promises about itself: its layout, its imports, its pins, its README."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kit.lab.claims.ledger import ledger_page, read_records

ROOT = Path(__file__).resolve().parents[1]
TOP = {
    ".ci",
    ".gitignore",
    ".pre-commit-config.yaml",
    "LICENSE",
    "README.md",
    "data",
    "figures",
    "kit",
    "notebooks",
}
TOP |= {"pyproject.toml", "tests"}
PARTS = ["corpus", "text", "graphs", "retrievers", "evaluation", "views", "runs", "cli"]
SHARED = {"errors", "paths", "settings", "store"}  # root modules that every part may import
MOST_LINES = 400
READ = ("5 passages", "3,500 tokens")  # least and most, in notebook 15


def tracked() -> list[Path]:
    """The files of the checkout that git tracks, or would."""
    listing = ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(listing, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no git checkout")
    return [path for name in names.split("\0") if name and (path := ROOT / name).is_file()]


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports, by their full names."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.relative_to(ROOT)}:{node.lineno} imports relatively"
            yield node.module
            yield from (
                f"{node.module}.{alias.name}" for alias in node.names if node.module == "kit"
            )


def test_the_top_level_holds_what_the_design_names() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in tracked()} <= TOP


def test_files_are_short() -> None:
    long = [
        path for path in sources("kit") if len(path.read_text("utf-8").splitlines()) > MOST_LINES
    ]
    assert not long


def test_imports_point_one_way() -> None:
    wrong = []
    for path in sources("kit"):
        own = path.relative_to(ROOT / "kit").with_suffix("").parts[0]
        if own == "__init__":
            continue
        left = set() if own in SHARED else set(PARTS[: PARTS.index(own) + 1])
        for module in imported(path):
            part = module.split(".")[1] if module.startswith("kit.") else None
            if part and part not in SHARED | left | {"__version__"}:
                wrong.append(f"{path.relative_to(ROOT)} imports {module}")
    assert not wrong


def test_no_path_of_a_machine_is_written_down() -> None:
    found = []
    for path in tracked():
        if path.suffix in {".png"} or path == Path(__file__).resolve():
            continue
        text = path.read_text("utf-8", errors="replace")
        found += [
            f"{path.relative_to(ROOT)}: {hit}"
            for hit in re.findall(r"(?<![\w.])/(?:work|home|root|Users)/\w+", text)
        ]
    assert not found


def declared() -> dict[str, set[str]]:
    """Normalised names of the distributions that pyproject.toml pins: those of the kit, and with those of its tests."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    kit, test = project["dependencies"], project["optional-dependencies"]["test"]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in kit + test), "pins are exact"
    names = [{normalised(line.split("==")[0]) for line in lines} for lines in (kit, test)]
    return {"kit": names[0], "tests": names[0] | names[1]}


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("folder", ["kit", "tests"])
def test_every_package_that_is_imported_is_declared(folder: str) -> None:
    distributions, missing = packages_distributions(), set()
    own = {"kit", "tests"} | {path.stem for path in sources("tests")}
    own |= {f"kit_data_{path.parents[1].name}" for path in ROOT.glob("data/*/make/__init__.py")}
    for path in sources(folder):
        for name in (
            {module.split(".")[0] for module in imported(path)} - own - set(sys.stdlib_module_names)
        ):
            if not {normalised(each) for each in distributions.get(name, [])} & declared()[folder]:
                missing.add(f"{path.relative_to(ROOT)} imports {name}")
    assert not missing


def code_blocks() -> list[str]:
    return re.findall(
        r"^```(?:bash|sh|console)\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.S | re.M
    )


def test_the_readme_begins_with_the_commands_that_install_and_run() -> None:
    run, test = code_blocks()[:2]
    assert (
        run.strip() == "python3.11 -m venv .venv && .venv/bin/pip install -e . && .venv/bin/kit run"
    )
    assert (
        test.strip()
        == 'python3.11 -m venv .venv && .venv/bin/pip install -e ".[test]" && .venv/bin/pytest'
    )


def test_continuous_integration_runs_the_readmes_test_command() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    assert script.read_text("utf-8").rstrip().splitlines()[-1] == code_blocks()[1].strip()


def test_files_that_the_readme_names_exist() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text)
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_ledger_is_that_of_the_committed_figures(committed_figures: Path) -> None:
    records = read_records(committed_figures)
    assert list(records) == [
        "atlas",
        "2wikimultihopqa-dev",
        "documents-reports",
        "hotpotqa-dev",
        "musique-dev",
    ]
    assert (committed_figures / "CLAIMS.md").read_text("utf-8") == ledger_page(records)


def test_the_readme_tells_what_the_committed_figures_show(committed_figures: Path) -> None:
    sets = {
        "atlas": "atlas",
        "2wiki": "2wikimultihopqa-dev",
        "musique": "musique-dev",
        "hotpotqa": "hotpotqa-dev",
    }
    records = read_records(committed_figures)

    def found(of: str, claim: str, criterion: str = "", case: str = "") -> list[float]:
        """Effect, low and high in points."""
        kept = {
            (it.claim, it.criterion, it.case): it
            for record in records[sets[of]]
            for it in record.findings
        }
        it = kept[claim, criterion, case]
        return [100 * it.effect, 100 * it.low, 100 * it.high]

    def means(of: str, table: str, **where: str) -> pd.Series:
        """Percent, by method."""
        rows = pd.read_csv(committed_figures / sets[of] / f"{table}.csv")
        rows = rows.loc[(rows[list(where)] == pd.Series(where)).all(axis=1)]
        return 100 * rows.set_index("retriever")["mean"]

    messages = [found(of, "gnn-ret-01")[0] for of in sets]
    agents, of_2wiki = (means(of, "07_methods", metric="full@30") for of in ("atlas", "2wiki"))
    qsgnn = [found(of, "qsgnn-01", "over dense") for of in ("atlas", "musique", "2wiki")]
    f1 = {
        of: means(of, "13_table_3", metric="F1 of the evidence") / 100
        for of in ("atlas", "2wiki", "musique")
    }
    gain = found("atlas", "bgr-01", "set F1", "rule: code")
    graphs = means("atlas", "13_table_3", metric="GM: nodes and edges right")
    rounds = means("atlas", "14_ablations")
    once = pd.read_csv(committed_figures / "atlas/14_loop.csv").query("by == 'dense, as many'")
    learned = (
        pd.read_csv(committed_figures / "atlas/14_learning.csv").query("learned == 'answerer'")[
            "mean"
        ]
        * 100
    )
    recall, full = (
        means("atlas", "15_recall", metric=metric) for metric in ("recall@5", "full@17")
    )
    search = recall[
        [
            "bm25",
            "tfidf",
            "knn",
            "dense",
            "pagerank",
            "gnn-ret",
            "dpr",
            "mdr",
            "qsgnn",
            "kgp-t5",
            "kgp-mdr",
        ]
    ]
    ras = {
        read: means("atlas", "15_answers", hops="all", metric="em", reader="ras", read=read)
        for read in READ
    }
    spans = means("atlas", "15_answers", hops="all", metric="em", reader="extractive", read=READ[0])
    told = [
        f"for {messages[0]:.0f} points more of the atlas's",
        f"(MuSiQue {messages[2]:.0f}, 2WikiMultiHopQA {messages[1]:.0f}, HotpotQA {messages[3]:.0f})",
        f"for {agents['kgp-mdr']:.0f} % of the atlas's questions with MDR",
        f"for {agents['kgp-t5']:.0f} % with a small language model",
        f"MDR's own beam has {agents['mdr']:.0f} % and dense retrieval {agents['dense']:.0f}",
        f"{of_2wiki['kgp-mdr']:.0f}, {of_2wiki['kgp-t5']:.0f}, {of_2wiki['mdr']:.0f} and {of_2wiki['dense']:.0f}",
        "{:.1f} points of Recall@5 on the atlas [{:.1f}, {:.1f}]".format(*qsgnn[0]),
        f"{qsgnn[1][0]:.1f} on MuSiQue, {qsgnn[2][0]:.1f} on 2WikiMultiHopQA",
        f"has an F1 of {f1['atlas']['bgr']:.2f} over three",
        "{:.1f} points [{:.1f}, {:.1f}] above the better search".format(*gain),
        f"MDR's path has {f1['atlas']['mdr']:.2f}",
        f"right for {graphs['bgr']:.0f} % of the questions, with either search alone for {graphs['forward']:.0f} %",
        f"({f1['2wiki']['forward']:.2f}, merged {f1['2wiki']['bgr']:.2f}, MDR {f1['2wiki']['mdr']:.2f})",
        f"merged {f1['musique']['bgr']:.2f}, MDR {f1['musique']['mdr']:.2f}",
        f"finds {rounds['ras, all of it']:.0f} % of the atlas's supports",
        f"one retrieval of as many passages {100 * np.average(once['mean'], weights=once['n']):.0f} %",
        f"is right for {learned.iloc[-1]:.0f} % of the questions",
        f"of its training questions for {learned.iloc[0]:.0f} %",
        f"IRCoT has {recall['ircot']:.0f} % of the supports among five passages, SelfAsk {recall['selfask']:.0f} %",
        f"ITER-RETGEN {recall['iter-retgen']:.0f} %",
        f"where one search has {search.min():.0f} to {search.max():.0f} %",
        f"from {full['ircot']:.0f} to {full['ircot, rgnn-ret']:.0f} %",
        f"answers {ras[READ[0]]['ras']:.0f} % of the questions from RAS's passages",
        f"copies spans {spans['ras']:.0f} % from the same and {spans['golden']:.0f} %",
        "({:.0f} to {:.0f} %)".format(*(ras[read]["gnn-ret"] for read in READ)),
    ]
    text = (ROOT / "README.md").read_text("utf-8")
    assert [phrase for phrase in told if phrase not in text] == []
