"""Models as small as those of these tests are slower on several threads than on one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kit.text.precision import one_thread


@pytest.fixture(autouse=True)
def quickly() -> Iterator[None]:
    with one_thread():
        yield
