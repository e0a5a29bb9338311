"""The canvas on which a browser draws a replay."""

import anywidget
import traitlets

from kit.views.replay import Replay
from kit.views.replay_page import CANVAS_SCRIPT, CANVAS_STYLE, Content, canvas_content


class GraphCanvas(anywidget.AnyWidget):
    """Shows a :class:`~kit.views.replay.Replay`.

    All frames are in the browser: a step needs no answer from Python. ``index`` is the frame in
    view, ``heading`` a line above all else, ``problem`` one shown as an alert. Text reaches the
    page as text nodes only, and nothing is asked of any host.
    """

    _esm = CANVAS_SCRIPT
    _css = CANVAS_STYLE
    replay = traitlets.Dict().tag(sync=True)
    looks = traitlets.Dict().tag(sync=True)
    name = traitlets.Unicode().tag(sync=True)
    heading = traitlets.Unicode("").tag(sync=True)
    index = traitlets.Int(0).tag(sync=True)
    problem = traitlets.Unicode("").tag(sync=True)

    def __init__(self, replay: Replay, name: str = "Passage graph") -> None:
        super().__init__(name=name)
        self.show(replay)

    @property
    def content(self) -> Content:
        """What is shown, at the step in view."""
        return {"replay": self.replay, "looks": self.looks, "index": self.index}

    def show(self, replay: Replay) -> None:
        """Put another replay in place of this one.

        One of the same steps keeps the step in view.
        """
        content = canvas_content(replay)
        steps = [frame["step"] for frame in content["replay"]["frames"]]
        steps_before = [frame["step"] for frame in self.replay.get("frames", ())]
        with self.hold_sync():
            self.problem = ""
            self.looks = content["looks"]
            if steps != steps_before:
                self.index = 0
            self.replay = content["replay"]
