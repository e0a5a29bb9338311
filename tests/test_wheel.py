"""The kit as a wheel, away from any clone: data, lessons and findings are inside."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A function that runs ``python -m kit`` out of the unpacked wheel, in an empty folder."""
    folder = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", folder, ROOT]
    subprocess.run(command, check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")

    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("KIT_", "XDG_"))
    }
    environment |= {"PYTHONPATH": str(folder / "site"), "HOME": str(folder / "home")}

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "kit", *arguments],
            cwd=elsewhere,
            env=environment,
            capture_output=True,
            encoding="utf-8",
        )

    run.elsewhere, run.home, run.wheel = elsewhere, folder / "home", wheel
    return run


def test_a_wheel_is_light_and_carries_no_results(installed):
    with zipfile.ZipFile(installed.wheel) as archive:
        names = archive.namelist()

    assert installed.wheel.stat().st_size < 23e6
    assert "kit/carried/data/atlas/test.jsonl" in names
    assert "kit/carried/notebooks/01_baselines.ipynb" in names
    results = [name for name in names if name.startswith("kit/carried/figures/")]
    assert results and all(name.endswith(".json") for name in results)
    assert not [name for name in names if name.endswith((".png", ".sqlite"))]
    assert not [name for name in names if "executed" in name or "cache" in name]


def test_methods_are_evaluated_on_the_atlas(installed):
    result = installed("evaluate", "bm25")

    assert result.returncode == 0, result.stderr
    assert "2,020 passages" in result.stdout
    assert not list(installed.elsewhere.iterdir())


def test_a_lesson_runs_and_draws_into_the_users_own_folder(installed):
    result = installed("run", "01", "--scale", "smoke")

    assert result.returncode == 0, result.stdout + result.stderr
    assert list(installed.home.rglob("figures/atlas-smoke/01_*.png"))
    assert not list(installed.elsewhere.iterdir())


def test_the_lessons_are_written_out_and_kept(installed):
    changed = installed.elsewhere / "lessons" / "01_baselines.ipynb"
    installed("lessons", "lessons")
    changed.write_text("my notes")

    again = installed("lessons", "lessons")

    assert len(list(changed.parent.glob("*.ipynb"))) == len(
        list((ROOT / "notebooks").glob("*.ipynb"))
    )
    assert "left as they are: 01_baselines.ipynb" in again.stdout
    assert changed.read_text() == "my notes"
    shutil.rmtree(changed.parent)


def test_findings_are_inside(installed):
    assert "are tested" in installed("claims").stdout
    assert "\n0 of " not in installed("claims").stdout


@pytest.mark.parametrize(
    "arguments",
    [["run", "--publish"], ["claims", "--markdown"], ["record", "15", "--model", "server:x"]],
)
def test_what_changes_the_projects_files_wants_a_clone(installed, arguments):
    result = installed(*arguments)

    assert result.returncode == 2
    assert result.stderr.endswith("changes the project's files: expected a clone of it\n")
