from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kit.runs import provenance


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    return tmp_path


def git(folder: Path, *arguments: str) -> str:
    settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", "-C", folder, *settings, *arguments], check=True, capture_output=True, text=True
    ).stdout


def test_commit_and_whether_what_matters_was_changed(checkout: Path) -> None:
    git(checkout, "init", "-q")
    assert provenance.commit() == (None, None)  # nothing committed yet
    (checkout / "kit").mkdir()
    (checkout / "kit" / "a.py").write_text("a = 1\n")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", "first")
    head = git(checkout, "rev-parse", "HEAD").strip()
    assert provenance.commit() == (head, False)
    (checkout / "figures").mkdir()
    (checkout / "figures" / "new.svg").write_text("made by a run")
    assert provenance.commit() == (head, False)
    (checkout / "kit" / "a.py").write_text("a = 2\n")
    assert provenance.commit() == (head, True)


def test_outside_a_checkout_or_without_git_there_is_none(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert provenance.commit() == (None, None)
    git(checkout, "init", "-q")
    monkeypatch.setenv("PATH", str(checkout))
    assert provenance.commit() == (None, None)


@pytest.mark.parametrize("content", [b"", b"{", b'{"figures": 3}', b"\xff"])
def test_figures_of_a_damaged_record_are_unknown(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "01.json").write_bytes(content)
    assert provenance.read_figures(tmp_path / "01.json") == ()
    assert provenance.read_figures(tmp_path / "02.json") == ()
