"""What JupyterLab does when it saves one of the kit's notebooks."""

from pathlib import Path
from typing import Any

from kit import paths


def forget_kernel(model: dict[str, Any], path: str, contents_manager: Any, **_: Any) -> None:
    """Leave out which Python showed a notebook of the kit: opening one changes nothing in it.

    A hook of Jupyter's before a file is saved, which ``jupyter.json`` names. Notebooks elsewhere
    are saved as they are.
    """
    file = Path(contents_manager.root_dir, path.strip("/")).resolve()
    if model["type"] == "notebook" and file.is_relative_to(paths.NOTEBOOKS):
        forget_python(model["content"]["metadata"])


def forget_python(metadata: dict[str, Any]) -> None:
    """Make a notebook's metadata those of any Python 3, as all notebooks of the kit have them."""
    metadata["language_info"] = {"name": "python"}
    metadata["kernelspec"] = {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    }
