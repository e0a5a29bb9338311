"""What is seen: figure style, plots, widgets."""

from kit.views.canvas import GraphCanvas
from kit.views.drawing import storyboard
from kit.views.explorer import Explorer
from kit.views.explorers import explore_graph, explore_quality, explore_rankings
from kit.views.figures import save_figure, show_table
from kit.views.graph_plots import degree_distribution, graph_statistics
from kit.views.quality_plots import quality_by_hops, quality_curves
from kit.views.retrieval_plots import differences, recall_at_k, recall_by_hops
from kit.views.story import Column, Edge, Entry, Mark, Node, Scene, Story
from kit.views.style import Figure, look

__all__ = [
    "Column",
    "Edge",
    "Entry",
    "Explorer",
    "Figure",
    "GraphCanvas",
    "Mark",
    "Node",
    "Scene",
    "Story",
    "degree_distribution",
    "differences",
    "explore_graph",
    "explore_quality",
    "explore_rankings",
    "graph_statistics",
    "look",
    "quality_by_hops",
    "quality_curves",
    "recall_at_k",
    "recall_by_hops",
    "save_figure",
    "show_table",
    "storyboard",
]
