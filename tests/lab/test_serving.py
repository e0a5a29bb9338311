"""JupyterLab at a notebook: which command, and one real start."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kit.errors import InputError
from kit.lab.serving import lab_command
from kit.paths import ROOT

ADDRESS = "--LabApp.default_url=/lab/tree"
LAB = [sys.executable, "-m", "jupyterlab"]


def test_a_clones_own_notebook_is_opened() -> None:
    root = f"--ServerApp.root_dir={ROOT}"
    lesson = f"{ADDRESS}/notebooks/01_baselines.ipynb"
    assert lab_command("1") == [*LAB, root, lesson]
    assert lab_command("01_base", browser=False) == [*LAB, root, lesson, "--no-browser"]
    assert lab_command() == [*LAB, root, f"{ADDRESS}/notebooks"]


@pytest.mark.parametrize(
    ("name", "line"),
    [("99", "expected the beginning of a notebook's name"), ("0", "expected one notebook")],
)
def test_what_means_no_notebook_or_several_is_refused(project, monkeypatch, name, line) -> None:
    monkeypatch.setattr("kit.paths.NOTEBOOKS", project.notebooks)
    project.write("00_first")
    project.write("00_first_again")
    with pytest.raises(InputError, match=line):
        lab_command(name)


def test_what_a_wheel_brought_is_written_first_and_opened_there(project, monkeypatch) -> None:
    monkeypatch.setattr("kit.paths.ROOT", project.notebooks.parent)
    monkeypatch.setattr("kit.paths.NOTEBOOKS", project.notebooks)
    project.write("01_first")
    project.write("papers/kgp")
    folder = Path("lessons").resolve()
    root = f"--ServerApp.root_dir={folder}"
    assert lab_command("papers/kgp") == [*LAB, root, f"{ADDRESS}/papers/kgp.ipynb"]
    assert (folder / "papers" / "kgp.ipynb").exists() and (folder / "01_first.ipynb").exists()
    assert lab_command() == [*LAB, root, ADDRESS]


@pytest.mark.browser
def test_it_starts_at_the_lesson(tmp_path: Path) -> None:
    settings = {"ServerApp": {"allow_root": True, "port": 0, "ip": "127.0.0.1"}}
    (tmp_path / "jupyter_server_config.json").write_text(json.dumps(settings))
    names = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
    environment = os.environ | {f"JUPYTER_{name}": str(tmp_path) for name in names}
    server = subprocess.Popen(
        [sys.executable, "-m", "kit", "lab", "01", "--no-browser"],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = []
    for line in server.stderr:
        lines.append(line)
        if "http://127.0.0.1" in line:
            break
    server.terminate()
    server.communicate(timeout=30)
    assert "/lab/tree/notebooks/01_baselines.ipynb?token=" in lines[-1], "".join(lines)
