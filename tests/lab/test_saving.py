"""What is saved of a notebook that JupyterLab only showed."""

import shutil
from pathlib import Path

from jupyter_server.services.contents.filemanager import FileContentsManager
from traitlets.config.loader import JSONFileConfigLoader

from kit.paths import NOTEBOOKS, ROOT


def test_opening_a_notebook_changes_nothing_in_it(tmp_path: Path) -> None:
    config = JSONFileConfigLoader("jupyter_server_config.json", ROOT).load_config()
    manager = FileContentsManager(config=config, root_dir=str(tmp_path))
    for original in sorted(NOTEBOOKS.glob("*.ipynb")):
        shutil.copy(original, tmp_path)
        model = manager.get(original.name)
        metadata = model["content"]["metadata"]  # as JupyterLab fills it in
        metadata["kernelspec"]["display_name"] = "Python 3 (ipykernel)"
        metadata["language_info"] |= {"version": "3.11.7", "pygments_lexer": "ipython3"}
        manager.save(model, original.name)
        assert (tmp_path / original.name).read_bytes() == original.read_bytes()
