"""What is seen: figure style, plots, widgets."""

from kit.views import plots
from kit.views.canvas import GraphCanvas
from kit.views.documents import DocumentExplorer
from kit.views.explorer import Explorer, SideBySide, explore, explore_rankings
from kit.views.figures import save_figure, show_table
from kit.views.frames import replay
from kit.views.graph_page import graph_frame, graph_page
from kit.views.layout import places_of
from kit.views.replay import Column, Edge, Frame, Node, NodeState, RankItem, Replay, Scale
from kit.views.storyboard import storyboard
from kit.views.style import Figure, look
