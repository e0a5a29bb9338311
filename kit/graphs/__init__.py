"""How passages meet: builders and the graph type."""

from kit.graphs.builders import BUILDERS, build, builders
from kit.graphs.graph import Links, PassageGraph, SharedTerms

__all__ = ["BUILDERS", "Links", "PassageGraph", "SharedTerms", "build", "builders"]
