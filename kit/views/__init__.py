"""What is seen: figure style, plots, widgets."""

from kit.views.attention import explore_attention
from kit.views.browse import explore_quality, explore_rankings
from kit.views.budget_plots import budget_curve, found_by_supports
from kit.views.canvas import GraphCanvas
from kit.views.comparison_plots import gains, recall_against_time
from kit.views.document_plots import structure_graph, structure_points
from kit.views.documents import explore_documents
from kit.views.explorer import Explorer, SideBySide, explore
from kit.views.figures import save_figure, show_table
from kit.views.frames import replay
from kit.views.gnn_plots import ablation, learned_weights, recall_by_layers, robustness, sender_grid, step_recall
from kit.views.graph_page import graph_frame, graph_page, places_of
from kit.views.graph_plots import degree_distribution, graph_statistics
from kit.views.quality_plots import quality_by_hops, quality_curves
from kit.views.replay import Column, Edge, Frame, Node, NodeState, RankItem, Replay, Scale
from kit.views.retrieval_plots import differences, recall_at_k, recall_by_hops
from kit.views.storyboard import storyboard
from kit.views.style import Figure, look
from kit.views.training_plots import recall_along, training_curves
from kit.views.walk_plots import agents, branching_curve, density_curves, quality_to_retrieval, time_by_size

__all__ = [
    "Column",
    "Edge",
    "Explorer",
    "Figure",
    "Frame",
    "GraphCanvas",
    "Node",
    "NodeState",
    "RankItem",
    "Replay",
    "Scale",
    "SideBySide",
    "ablation",
    "agents",
    "branching_curve",
    "budget_curve",
    "degree_distribution",
    "density_curves",
    "differences",
    "explore",
    "explore_attention",
    "explore_documents",
    "explore_quality",
    "explore_rankings",
    "found_by_supports",
    "gains",
    "graph_frame",
    "graph_page",
    "graph_statistics",
    "learned_weights",
    "look",
    "places_of",
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
    "step_recall",
    "storyboard",
    "structure_graph",
    "structure_points",
    "time_by_size",
    "training_curves",
]
