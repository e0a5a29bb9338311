"""One look for every figure: slide size, readable type, and a fixed colour, marker and dash for each method.

What varies from name to name stands in ``looks.toml``, what is the same for all figures in ``kit.mplstyle``.
"""

import io
import textwrap
from collections.abc import Iterable
from contextlib import AbstractContextManager
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib.figure
import matplotlib.style
import msgspec
from matplotlib.backends.backend_agg import FigureCanvasAgg

SIZE = (10.0, 5.625)  # inches: a 16:9 slide
DPI = 160
INK, GREY = "#222222", "#6e6e6e"
SMALL = 9.5  # points: the smallest type on a figure


class Look(msgspec.Struct, frozen=True):
    """How a method or a kind of edges is drawn."""

    colour: str
    marker: str
    dash: tuple[float, ...] = ()

    @property
    def line(self) -> dict[str, Any]:
        """Keyword arguments of ``Axes.plot``."""
        return {"color": self.colour, "linestyle": (0, self.dash) if self.dash else "solid"}


class Role(msgspec.Struct, frozen=True):
    """How a node is drawn: the words of the legend, fill, shape, a dashed rim for absence, a ring (``halo``)."""

    label: str
    fill: str = "#d9d9d9"
    shape: str = "circle"
    dashed: bool = False
    halo: bool = False


_SHEET = msgspec.toml.decode(Path(__file__).with_name("looks.toml").read_bytes())
ROLES = msgspec.convert(_SHEET["roles"], dict[str, Role])
_GROUPS = msgspec.convert(
    _SHEET["looks"], dict[str, Look]
)  # by the names that have a look in common
LOOKS = {name: each for names, each in _GROUPS.items() for name in names.split()}


def look(name: str) -> Look:
    """The look of a builder or retriever; a name that has none is drawn grey."""
    return LOOKS.get(name, LOOKS["paper"])


def looks(names: Iterable[str]) -> dict[str, Look]:
    """A look for each name: a method's own, and for others, such as settings, those that the methods here leave."""
    names = list(dict.fromkeys(names))
    taken = [LOOKS[name] for name in names if name in LOOKS]
    free = cycle([each for each in _GROUPS.values() if each not in taken] or taken)
    return {name: look(name) if name in LOOKS else next(free) for name in names}


def style() -> AbstractContextManager[None]:
    """The kit's settings on top of matplotlib's own: what the user has set plays no part. A decorator, too."""
    return matplotlib.style.context(["default", Path(__file__).with_name("kit.mplstyle")])


class Figure(matplotlib.figure.Figure):
    """A figure that shows itself in Jupyter without pyplot, saved in the kit's style."""

    def __init__(self, title: str, size: tuple[float, float] = SIZE) -> None:
        with style():
            super().__init__(figsize=size, dpi=DPI, layout="constrained")
            self.title, self.files = title, {}
            self.suptitle(textwrap.fill(title, round(size[0] * 8.2)), x=0.01, ha="left")
        FigureCanvasAgg(self)

    def __repr__(self) -> str:
        return f"Figure: {self.title}"

    @style()
    def drawn(self, kind: str) -> bytes:
        """The bytes of a file of the figure, ``png`` or ``svg``, without dates or versions; they are drawn once."""
        if kind not in self.files:
            told = {
                "svg": {"Date": None, "Creator": None, "Title": self.title},
                "png": {"Software": None},
            }[kind]
            self.savefig(sink := io.BytesIO(), format=kind, metadata=told)
            self.files[kind] = sink.getvalue()
        return self.files[kind]

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        width, height = self.get_size_inches() * 96
        return self.drawn("png"), {
            "width": round(width),
            "height": round(height),
            "alt": self.title,
        }
