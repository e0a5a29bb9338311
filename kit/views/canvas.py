"""The widget that shows a replay: a graph to pan, zoom and walk with the keyboard, rankings, and a step bar."""

from pathlib import Path

import anywidget
import traitlets
from msgspec import to_builtins

from kit.views.replay import GOLD, GOLD_RIM, HALO, ROLES, SHADES, Replay
from kit.views.style import look

_HERE = Path(__file__).parent


class GraphCanvas(anywidget.AnyWidget):
    """Shows a :class:`~kit.views.replay.Replay`. All frames are in the browser: a step needs no answer from Python.

    ``index`` is the frame in view. ``problem`` is a line shown as an alert above the picture. Keys are told below the
    picture. Text reaches the page as text nodes only, and nothing is asked of any host.
    """

    _esm = "\n".join((_HERE / name).read_text("utf-8") for name in ("shapes.js", "canvas.js"))
    _css = _HERE / "canvas.css"
    replay = traitlets.Dict().tag(sync=True)
    looks = traitlets.Dict().tag(sync=True)
    name = traitlets.Unicode().tag(sync=True)
    index = traitlets.Int(0).tag(sync=True)
    problem = traitlets.Unicode("").tag(sync=True)

    def __init__(self, replay: Replay, name: str = "Passage graph") -> None:
        super().__init__(name=name)
        self.show(replay)

    def show(self, replay: Replay, index: int = 0) -> None:
        """Put another replay in place of this one."""
        used, told = {state.role for frame in replay.frames for state in frame.states}, to_builtins(replay)
        roles = {name: to_builtins(role) for name, role in ROLES.items() if name in used}
        kinds = {kind: to_builtins(look(kind)) for kind in replay.kinds}
        scale = told["scale"] and told["scale"] | {"shades": SHADES}
        nodes = {node.id: to_builtins(node) | {"label": node.label} for node in replay.nodes}
        with self.hold_sync():
            self.problem = ""
            gold = {"label": GOLD, "rim": GOLD_RIM}
            self.looks = {"roles": roles, "kinds": kinds, "scale": scale, "halo": HALO, "gold": gold}
            self.index = min(index, len(replay.frames) - 1)
            self.replay = told | {"nodes": nodes}
