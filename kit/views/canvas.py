"""The widget that shows a story: a graph to pan, zoom and walk with the keyboard, rankings, and a step bar."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import msgspec
import traitlets

from kit.views.story import GOLD, GOLD_RIM, HALO, ROLES, SHADES, Story
from kit.views.style import look

_HERE = Path(__file__).parent


class GraphCanvas(anywidget.AnyWidget):
    """Shows a :class:`~kit.views.story.Story`. All scenes are in the browser: a step needs no answer from Python.

    ``index`` is the scene in view. ``problem`` is a line shown as an alert above the picture. Keys are told below the
    picture. Text reaches the page as text nodes only, and nothing is asked of any host.
    """

    _esm = "\n".join((_HERE / name).read_text("utf-8") for name in ("keys.js", "shapes.js", "canvas.js"))
    _css = _HERE / "canvas.css"
    story = traitlets.Dict().tag(sync=True)
    looks = traitlets.Dict().tag(sync=True)
    name = traitlets.Unicode().tag(sync=True)
    index = traitlets.Int(0).tag(sync=True)
    problem = traitlets.Unicode("").tag(sync=True)

    def __init__(self, story: Story, name: str = "Passage graph") -> None:
        super().__init__(name=name)
        self.show(story)

    def __repr__(self) -> str:
        return f"{self.name} (a widget: open the notebook in Jupyter to use it)"

    def show(self, story: Story, index: int = 0) -> None:
        """Put another story in place of this one."""
        with self.hold_sync():
            self.problem = ""
            self.looks = _looks(story)
            self.index = min(index, len(story.scenes) - 1)
            self.story = _sendable(story)


def _sendable(story: Story) -> dict[str, Any]:
    shown = {mark.node for scene in story.scenes for mark in scene.marks}
    shown |= {entry.node for scene in story.scenes for column in scene.columns for entry in column.entries}
    nodes = {node.id: msgspec.to_builtins(node) | {"label": node.label} for node in story.nodes if node.id in shown}
    scenes, edges = msgspec.to_builtins((story.scenes, story.edges))
    return {"nodes": nodes, "scenes": scenes, "question": story.question, "edges": edges}


def _looks(story: Story) -> dict[str, Any]:
    edges = [*story.edges, *(edge for scene in story.scenes for edge in scene.edges)]
    kinds = sorted({kind for edge in edges for kind in edge.kinds})
    roles = {mark.role for scene in story.scenes for mark in scene.marks}
    return {
        "roles": {name: msgspec.to_builtins(role) for name, role in ROLES.items() if name in roles},
        "kinds": {kind: msgspec.to_builtins(look(kind)) for kind in kinds},
        "gold": {"label": GOLD, "rim": GOLD_RIM},
        "halo": HALO,
        "scale": msgspec.to_builtins(story.scale) | {"shades": SHADES} if story.scale else None,
    }
