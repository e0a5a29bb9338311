"""JupyterLab, opened at a notebook."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

from kit import paths
from kit.errors import InputError
from kit.lab.catalogue import choose
from kit.lab.handing_out import write_lessons

_WRITTEN = "lessons"  # where a kit that is no clone writes the notebooks, in the working folder


def lab_command(name: str = "", *, browser: bool = True) -> list[str]:
    """The command that opens JupyterLab at a notebook; at the list of lessons without a name.

    A clone's own notebooks are opened. Those that a wheel brought are written to ``lessons/`` in
    the working folder first, and opened there; what is there already is left as it is. Raises
    ``InputError`` for a name that means none, or several.
    """
    notebook = _one(name) if name else None
    root = paths.ROOT
    folder = paths.NOTEBOOKS
    if paths.ROOT != paths.CHECKOUT:
        folder = Path(_WRITTEN).resolve()
        write_lessons(folder)
        root = folder

    shown = folder / notebook.relative_to(paths.NOTEBOOKS) if notebook else folder
    address = quote(f"/lab/tree/{shown.relative_to(root).as_posix()}".removesuffix("/."))
    command = [sys.executable, "-m", "jupyterlab"]
    command += [f"--ServerApp.root_dir={root}", f"--LabApp.default_url={address}"]
    return command if browser else [*command, "--no-browser"]


def _one(name: str) -> Path:
    notebooks = choose(paths.NOTEBOOKS, [name])
    if len(notebooks) > 1:
        raise InputError(f"expected one notebook, not all that {name!r} means", field="notebook")
    return notebooks[0]


def serve(command: list[str]) -> int:
    """Run a server until it is stopped; where one program can take another's place, it does."""
    if os.name == "posix":
        sys.stdout.flush()
        os.execv(command[0], command)
    return subprocess.call(command)
