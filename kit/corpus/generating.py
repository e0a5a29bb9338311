"""Data that a program of the project makes: the package ``data/NAME/make``, whose ``main`` is a click command."""

import sys
from importlib import util
from types import ModuleType

from kit.corpus.types import Benchmark
from kit.paths import ROOT


def generators() -> list[str]:
    """The names of the data that can be made."""
    return sorted(file.parents[1].name for file in ROOT.glob("data/*/make/__init__.py"))


def generator(name: str) -> ModuleType:
    """The package that makes the data of this name, loaded from its folder as ``kit_data_NAME``."""
    spec = util.spec_from_file_location(f"kit_data_{name}", ROOT / "data" / name / "make" / "__init__.py")
    if spec.name not in sys.modules:
        sys.modules[spec.name] = module = util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[spec.name]


def generated(name: str, **settings: object) -> Benchmark:
    """A benchmark made anew: ``generated("atlas", seed=1, size=20_000, test=100)``."""
    return generator(name).generate(**settings)
