"""What the project promises about itself: its layout, its imports, its pins, its README."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import kit
from kit.lab.claims.ledger import ledger_page, read_records
from kit.lab.claims.readme import findings_section

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
#: Folders of the kit; each may import those before it.
PARTS = ["corpus", "text", "learning", "graphs", "readers", "methods", "evaluation", "views"]
PARTS += ["worlds", "lab"]
#: Modules of the root that every part may import.
SHARED = {"arguments", "cost", "errors", "files", "fingerprint", "paths", "progress", "settings"}
SHARED |= {"precision", "store", "timer"}


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


def test_imports_point_one_way() -> None:
    wrong = []
    for path in sources("kit"):
        room = path.relative_to(ROOT / "kit").with_suffix("").parts[0]
        if room in ("__init__", "__main__"):
            continue
        below = set() if room in SHARED else set(PARTS[: PARTS.index(room) + 1])
        for module in imported(path):
            part = module.split(".")[1] if module.startswith("kit.") else None
            if part and part not in SHARED | below | {"__version__"}:
                wrong.append(f"{path.relative_to(ROOT)} imports {module}")
    assert not wrong


def test_no_path_of_a_machine_is_written_down() -> None:
    written = []
    for path in tracked():
        if path.suffix in {".png"} or path == Path(__file__).resolve():
            continue
        text = path.read_text("utf-8", errors="replace")
        written += [
            f"{path.relative_to(ROOT)}: {hit}"
            for hit in re.findall(r"(?<![\w.])/(?:work|home|root|Users)/\w+", text)
        ]
    assert not written


def declared() -> dict[str, set[str]]:
    """Names of the distributions that are pinned: of the kit, and with those of its tests."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = project["dependencies"]
    tested = project["optional-dependencies"]["test"]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in needed + tested), "pins are exact"
    names = [{normalised(line.split("==")[0]) for line in lines} for lines in (needed, tested)]
    return {"kit": names[0], "tests": names[0] | names[1]}


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("folder", ["kit", "tests"])
def test_every_package_that_is_imported_is_declared(folder: str) -> None:
    distributions = packages_distributions()
    own_modules = {"kit", "tests"} | {path.stem for path in sources("tests")}
    provided = own_modules | set(sys.stdlib_module_names)
    missing = set()
    for path in sources(folder):
        packages = {module.split(".")[0] for module in imported(path)}
        for package in packages - provided:
            names = {normalised(name) for name in distributions.get(package, [])}
            if not names & declared()[folder]:
                missing.add(f"{path.relative_to(ROOT)} imports {package}")
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
        "hotpotqa-dev",
        "musique-dev",
    ]
    assert (committed_figures / "CLAIMS.md").read_text("utf-8") == ledger_page(records)


def test_the_readme_tells_what_the_committed_figures_show(committed_figures: Path) -> None:
    """Its numbers are those of the findings: ``kit claims --readme`` writes them."""
    assert findings_section(committed_figures) in (ROOT / "README.md").read_text("utf-8")


def test_the_door_leads_to_all_that_it_names() -> None:
    """In a fresh process, lazily, and with the same names for editors."""
    code = (
        "import sys, kit; assert 'numpy' not in sys.modules; print(*(getattr(kit, name) and name "
    )
    code += "for name in kit.__all__))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == kit.__all__
    editors = re.findall(r"import \w+ as (\w+)$", Path(kit.__file__).read_text("utf-8"), re.M)
    assert sorted(editors) == kit.__all__
    with pytest.raises(AttributeError, match="no attribute 'lode'; it has Benchmark, Corpus"):
        _ = kit.lode


def test_keyword_search_waits_for_no_network() -> None:
    """BM25 is made, indexed and asked without torch."""
    code = (
        "import sys, kit; print(kit.ask('Which river?', kit.example().corpus, method='bm25', k=1)"
    )
    code += ".passage[0], 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "False"


#: What a digest of trained networks or of the atlas is made of: a change would make both anew.
NAME_A_PAPERS_FILE = {
    "kit/methods/baselines/mdr.py",
    "kit/text/prompts.toml",
    "kit/worlds/atlas/prose/plan.toml",
}


def test_papers_are_named_and_not_files_that_a_clone_lacks() -> None:
    named = set()
    for path in [*(ROOT / "kit").rglob("*.*"), *(ROOT / "data").rglob("README.md")]:
        if path.suffix in (".py", ".md", ".toml") and re.search(
            r"\b(kgp|gnn-ret|qsgnn|bgr|ras)\.txt\b", path.read_text("utf-8")
        ):
            named.add(path.relative_to(ROOT).as_posix())
    assert named == NAME_A_PAPERS_FILE
