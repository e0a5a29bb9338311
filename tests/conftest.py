"""What several tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("kit", deadline=None)  # speed is measured in benchmarks, not by a clock in a test
settings.load_profile("kit")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def realdata() -> Path:
    """The folder of the samples of the published data sets; skips the test where there is none."""
    folder = Path(os.environ.get("KIT_REALDATA") or ROOT.parent / "shared" / "datasets")
    if not folder.is_dir():
        pytest.skip(f"no samples of the published data sets at {folder.name} (set KIT_REALDATA)")
    return folder
