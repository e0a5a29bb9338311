"""What is seen: figure style, plots, widgets."""

from kit.views.attention import compare_attention, explore_attention
from kit.views.beam_explorer import explore_mdr
from kit.views.budget_plots import budget_curve, found_by_supports
from kit.views.canvas import GraphCanvas
from kit.views.comparison_plots import gains, recall_against_time
from kit.views.document_plots import structure_graph, structure_points
from kit.views.documents import explore_documents
from kit.views.drawing import storyboard
from kit.views.explorer import Explorer
from kit.views.explorers import explore_graph, explore_quality, explore_rankings
from kit.views.figures import save_figure, show_table
from kit.views.gnn_plots import ablation, learned_weights, recall_by_layers, robustness, sender_grid, step_recall
from kit.views.graph_plots import degree_distribution, graph_statistics
from kit.views.grid import explore_settings
from kit.views.quality_plots import quality_by_hops, quality_curves
from kit.views.replay import replay
from kit.views.retrieval_plots import differences, recall_at_k, recall_by_hops
from kit.views.story import Column, Edge, Entry, Mark, Node, Scale, Scene, Story
from kit.views.style import Figure, look
from kit.views.trace_explorer import explore_gnn_ret, explore_kgp, explore_retrieval, explore_rgnn_ret, side_by_side
from kit.views.training_plots import recall_along, training_curves
from kit.views.walk_plots import agents, branching_curve, density_curves, quality_to_retrieval, time_by_size

__all__ = [
    "Column",
    "Edge",
    "Entry",
    "Explorer",
    "Figure",
    "GraphCanvas",
    "Mark",
    "Node",
    "Scale",
    "Scene",
    "Story",
    "ablation",
    "agents",
    "branching_curve",
    "budget_curve",
    "compare_attention",
    "degree_distribution",
    "density_curves",
    "differences",
    "explore_attention",
    "explore_documents",
    "explore_gnn_ret",
    "explore_graph",
    "explore_kgp",
    "explore_mdr",
    "explore_quality",
    "explore_rankings",
    "explore_retrieval",
    "explore_rgnn_ret",
    "explore_settings",
    "found_by_supports",
    "gains",
    "graph_statistics",
    "learned_weights",
    "look",
    "quality_by_hops",
    "quality_curves",
    "quality_to_retrieval",
    "recall_against_time",
    "recall_along",
    "recall_at_k",
    "recall_by_hops",
    "recall_by_layers",
    "replay",
    "robustness",
    "save_figure",
    "sender_grid",
    "show_table",
    "side_by_side",
    "step_recall",
    "storyboard",
    "structure_graph",
    "structure_points",
    "time_by_size",
    "training_curves",
]
