"""Six passages and two questions, small enough to check every number by hand: the first page of each notebook."""

from dataclasses import replace

from kit.corpus.loading import load
from kit.corpus.types import Benchmark
from kit.paths import ROOT


def example() -> Benchmark:
    """The six passages and their two questions, one of two hops and one of three."""
    return replace(load(ROOT / "data" / "example"), name="example")
