"""One look for every figure: slide size, readable type, a fixed colour, marker and dash per method.

What varies from name to name stands in ``looks.toml``, what is the same for all figures in
``kit.mplstyle``.
"""

import io
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Self

import matplotlib.figure
import matplotlib.style
import msgspec
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.layout_engine import ConstrainedLayoutEngine
from msgspec.structs import replace
from pandas import DataFrame

from kit.views.fonts import show_scripts

SIZE = (10.0, 5.625)  # inches: a 16:9 slide
DPI = 160
INK = "#222222"
GREY = "#6e6e6e"
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
    """How a node is drawn: the words of the legend, fill, and shape.

    ``dashed`` is a rim for what is absent, ``halo`` a ring around the node.
    """

    label: str
    fill: str = "#d9d9d9"
    shape: str = "circle"
    dashed: bool = False
    halo: bool = False


Looks = dict[str, Look]  # by name
_SHEET = msgspec.toml.decode(Path(__file__).with_name("looks.toml").read_bytes())
ROLES = msgspec.convert(_SHEET["roles"], dict[str, Role])
#: By the names that have a look in common.
_GROUPS = msgspec.convert(_SHEET["looks"], Looks)
LOOKS = {name: group for names, group in _GROUPS.items() for name in names.split()}


def look(name: str) -> Look:
    """The look of a builder or retriever; a name that has none is drawn grey."""
    return LOOKS.get(name, LOOKS["paper"])


def looks(names: Iterable[str]) -> Looks:
    """A look for each name; no two names share one, as long as there are others left.

    A method has its own. Names without one, such as settings, get the looks that no method here
    has, and then mixed ones. A method whose look an earlier name has is treated as these are.
    """
    names = list(dict.fromkeys(names))
    taken = {LOOKS[name] for name in names if name in LOOKS}
    spare = (other for other in _mixed() if other not in taken)
    styles = {}
    for name in names:
        style = LOOKS.get(name)
        if style is None or style in styles.values():
            style = next(spare, LOOKS["paper"])
            taken.add(style)
        styles[name] = style
    return styles


def _mixed() -> Iterator[Look]:
    """All looks, and then their colours with the marker and dash of a later one: some twice."""
    groups = list(_GROUPS.values())
    for distance in range(len(groups)):
        for rank, group in enumerate(groups):
            other = groups[(rank + distance) % len(groups)]
            yield replace(other, colour=group.colour)


def style() -> AbstractContextManager[None]:
    """The kit's settings on top of matplotlib's own: what the user has set plays no part.

    It is a decorator, too.
    """
    return matplotlib.style.context(["default", Path(__file__).with_name("kit.mplstyle")])


class Figure(matplotlib.figure.Figure):
    """A figure that shows itself in Jupyter without pyplot, saved in the kit's style.

    It is laid out when its first file is written: the others do not depend on which that was.
    """

    def __init__(self, title: str, size: tuple[float, float] = SIZE) -> None:
        with style():
            super().__init__(figsize=size, dpi=DPI, layout="constrained")
            self.title = title
            self.table = DataFrame()  # the numbers behind it
            self.files = {}  # what was drawn, as bytes by the file's kind
            width = round(size[0] * 8.2)  # letters
            self.suptitle(textwrap.fill(title, width), x=0.01, ha="left")
        _Canvas(self)

    def __repr__(self) -> str:
        return f"Figure: {self.title}"

    def of(self, table: DataFrame) -> Self:
        """The figure, with the numbers behind it."""
        self.table = table
        return self

    def draw(self, renderer: RendererBase) -> None:
        """As matplotlib's, with fonts for all of its scripts."""
        show_scripts(self)
        super().draw(renderer)

    def drawn(self, kind: str) -> bytes:
        """The bytes of a file of the figure, ``png`` or ``svg``, drawn once."""
        if kind not in self.files:
            sink = io.BytesIO()
            self.savefig(sink, format=kind)
            self.files[kind] = sink.getvalue()
        return self.files[kind]

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        width, height = self.get_size_inches() * 96
        about = {
            "width": round(width),
            "height": round(height),
            "alt": self.title,
        }
        return self.drawn("png"), about


class _Canvas(FigureCanvasAgg):
    """Writes files in the kit's style, without dates, versions or ids that change."""

    @style()
    def print_figure(self, filename: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(self.figure.get_layout_engine(), ConstrainedLayoutEngine):
            self.figure.draw_without_rendering()
            self.figure.set_layout_engine("none")

        kind = kwargs.get("format") or str(filename).rpartition(".")[2]
        timeless = {
            "svg": {"Date": None, "Creator": None, "Title": self.figure.title},
            "png": {"Software": None},
            "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
        }
        metadata = timeless.get(kind, {}) | (kwargs.pop("metadata", None) or {})
        return super().print_figure(filename, *args, metadata=metadata, **kwargs)
