"""The programs that make the project's own data: packages, each with a command ``main``."""

from importlib import import_module
from types import ModuleType

from kit.arguments import expect_known
from kit.corpus import Benchmark

WORLDS = ("atlas", "planner", "reports", "networks", "adapters")


def world(name: str) -> ModuleType:
    """The package that makes the data of this name. Raises :class:`InputError` for another."""
    expect_known([name], WORLDS, "world")
    return import_module(f"kit.worlds.{name}")


def generated(name: str, **settings: object) -> Benchmark:
    """A benchmark made anew: ``generated("atlas", seed=1, size=20_000, test=100)``."""
    return world(name).generate(**settings)
