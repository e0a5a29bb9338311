"""How passages meet: builders and the graph type."""

from kit.graphs.builders import BUILDERS, build, builders
from kit.graphs.graph import ContainsEdges, EdgeList, PassageGraph, TermBipartite
