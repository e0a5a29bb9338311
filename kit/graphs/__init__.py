"""How passages meet: builders and the graph type."""

from kit.graphs.builders import BUILDERS, build, builders
from kit.graphs.graph import Links, PassageGraph, SharedTerms
from kit.graphs.structural import Holds

__all__ = ["BUILDERS", "Holds", "Links", "PassageGraph", "SharedTerms", "build", "builders"]
