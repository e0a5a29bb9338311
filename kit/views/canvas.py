"""The canvas on which a browser draws a replay."""

from pathlib import Path

import anywidget
import traitlets
from msgspec import to_builtins

from kit.views.replay import GOLD, GOLD_RIM, HALO, SHADES, Replay
from kit.views.style import look

_FOLDER = Path(__file__).parent


class GraphCanvas(anywidget.AnyWidget):
    """Shows a :class:`~kit.views.replay.Replay`.

    All frames are in the browser: a step needs no answer from Python. ``index`` is the frame in
    view, ``problem`` a line shown as an alert above the picture. Text reaches the page as text
    nodes only, and nothing is asked of any host.
    """

    _esm = "\n".join((_FOLDER / name).read_text("utf-8") for name in ("shapes.js", "canvas.js"))
    _css = _FOLDER / "canvas.css"
    replay = traitlets.Dict().tag(sync=True)
    looks = traitlets.Dict().tag(sync=True)
    name = traitlets.Unicode().tag(sync=True)
    index = traitlets.Int(0).tag(sync=True)
    problem = traitlets.Unicode("").tag(sync=True)

    def __init__(self, replay: Replay, name: str = "Passage graph") -> None:
        super().__init__(name=name)
        self.show(replay)

    def show(self, replay: Replay) -> None:
        """Put another replay in place of this one.

        One of the same steps keeps the step in view.
        """
        content = to_builtins(replay)
        content["nodes"] = {
            node.id: to_builtins(node) | {"label": node.label} for node in replay.nodes
        }

        looks = {
            "roles": replay.roles,
            "kinds": {kind: look(kind) for kind in replay.kinds},
            "halo": HALO,
            "gold": {"label": GOLD, "rim": GOLD_RIM},
            "scale": None,
        }
        if replay.scale:
            looks["scale"] = content["scale"] | {"shades": SHADES}

        steps = [frame["step"] for frame in content["frames"]]
        steps_before = [frame["step"] for frame in self.replay.get("frames", ())]
        with self.hold_sync():
            self.problem = ""
            self.looks = to_builtins(looks)
            if steps != steps_before:
                self.index = 0
            self.replay = content
