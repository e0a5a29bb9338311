"""Environment variables for what is started meanwhile."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import environ


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set some variables, and put them back as they were."""
    before = {name: environ.get(name) for name in variables}
    environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                environ.pop(name, None)
            else:
                environ[name] = value
