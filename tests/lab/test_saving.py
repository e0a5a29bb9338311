"""What is saved of a notebook that JupyterLab only showed."""

import shutil
import sys
from pathlib import Path

import pytest
from jupyter_core.paths import jupyter_config_path
from jupyter_server.services.contents.filemanager import FileContentsManager
from traitlets.config.loader import JSONFileConfigLoader

from kit.lab.catalogue import all_notebooks, full_name
from kit.paths import NOTEBOOKS, PACKAGE


@pytest.fixture
def manager(tmp_path: Path) -> FileContentsManager:
    config = JSONFileConfigLoader("jupyter.json", PACKAGE / "lab").load_config()
    return FileContentsManager(config=config, root_dir=str(tmp_path))


def shown_and_saved(manager: FileContentsManager, name: str) -> bytes:
    """The file of a notebook that JupyterLab opened, and saved with what it adds."""
    model = manager.get(name)
    metadata = model["content"]["metadata"]
    metadata["kernelspec"]["display_name"] = "Python 3 (ipykernel)"
    metadata["language_info"] |= {"version": "3.11.7", "pygments_lexer": "ipython3"}
    manager.save(model, name)
    return Path(manager.root_dir, name).read_bytes()


@pytest.mark.parametrize("original", all_notebooks(NOTEBOOKS), ids=full_name)
def test_opening_a_notebook_changes_nothing_in_it(
    manager, tmp_path: Path, monkeypatch, original: Path
) -> None:
    monkeypatch.setattr("kit.paths.NOTEBOOKS", tmp_path.resolve())
    name = f"{full_name(original)}.ipynb"
    copy = tmp_path / name
    copy.parent.mkdir(exist_ok=True)
    shutil.copy(original, copy)
    changed = shown_and_saved(manager, name) != original.read_bytes()
    assert not changed, "pass its metadata to forget_python, and write it with nbformat.write"


def test_notebooks_of_others_are_saved_as_they_are(manager, tmp_path: Path) -> None:
    shutil.copy(NOTEBOOKS / "01_baselines.ipynb", tmp_path)
    assert b"3.11.7" in shown_and_saved(manager, "01_baselines.ipynb")


def test_jupyter_reads_the_setting_where_the_kit_is_installed() -> None:
    folders = [Path(folder) for folder in jupyter_config_path()]
    assert Path(sys.prefix, "etc", "jupyter") in folders
    named = "jupyter_server_config.d/graph-retrieval-kit.json"
    files = [folder / named for folder in folders if (folder / named).is_file()]
    assert files[0].read_bytes() == (PACKAGE / "lab" / "jupyter.json").read_bytes()
