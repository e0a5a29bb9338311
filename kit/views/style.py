"""One look for every figure: slide size, readable type, and a fixed colour, marker and dash for each method.

Colours come from Paul Tol's and Okabe and Ito's colour-blind-safe sets. The named ones also differ in lightness, so
that they stay apart in a grey print; marker and dash tell them apart once more.
"""

from __future__ import annotations

import io
import textwrap
import zlib
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

import matplotlib.figure
import matplotlib.style
import msgspec
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

SIZE = (10.0, 5.625)  # inches: a 16:9 slide
DPI = 160
INK, GREY = "#222222", "#6e6e6e"
SMALL = 9.5  # points: the smallest type on a figure

_RC = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so a figure is the same everywhere
    "font.size": 12,
    "figure.titlesize": 14,
    "figure.titleweight": "bold",
    "axes.titlesize": 12,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "legend.frameon": False,
    "lines.linewidth": 2,
    "lines.markersize": 7,
    "text.color": INK,
    "text.parse_math": False,  # a title with two dollar signs is text
    "svg.fonttype": "path",  # letters as outlines: no reader needs the font
    "svg.hashsalt": "kit",  # the ids in an SVG are the same on each run
}


class Look(msgspec.Struct, frozen=True):
    """How a method is drawn. ``dash`` holds lengths in points, on and off in turn; empty is a solid line."""

    colour: str
    marker: str
    dash: tuple[float, ...] = ()

    @property
    def line(self) -> dict[str, Any]:
        """Keyword arguments of ``Axes.plot``."""
        style = (0, self.dash) if self.dash else "solid"
        return {"color": self.colour, "marker": self.marker, "linestyle": style, "markeredgecolor": "white"}


#: A walk has the colour of what its agent reads with; builders and retrievers that read a text in the same way share a
#: look (kNN graphs and dense search, for one); so do the edges of a graph and the methods whose messages they carry.
LOOKS = {
    "tfidf": Look("#332288", "o"),
    "dense": Look("#117733", "s", (6, 1.5)),
    "gnn-ret": Look("#882255", "D", (2, 1.2)),
    "rgnn-ret": Look("#c77700", "^", (6, 1.5, 1.5, 1.5)),
    "bm25": Look("#1a1a1a", "v", (3, 1.5)),
}
_FREE = tuple(LOOKS.values())  # those of settings, which have no look of their own
LOOKS |= {"knn": LOOKS["dense"], "entity": LOOKS["gnn-ret"], "dpr": LOOKS["gnn-ret"], "knn-mdr": LOOKS["bm25"]}
LOOKS |= {"structure": LOOKS["rgnn-ret"], "mdr": LOOKS["rgnn-ret"], "paper": Look(GREY, "o")}
LOOKS |= {"pagerank": Look("#0072b2", "h", (8, 2)), "qsgnn": Look("#aa4499", "P")}
LOOKS |= {"random": Look("#8a8a8a", "p", (1.2, 1.2)), "kgp-t5": Look("#0072b2", "d", (8, 2))}
LOOKS |= {"kgp-tfidf": Look("#332288", "P", (8, 2)), "kgp-dense": Look("#117733", "X", (8, 2))}
LOOKS |= {"kgp-mdr": Look("#c77700", "h", (8, 2))}
LOOKS |= {"graph": Look("#8a8a8a", "o")}  # in a replay: any edge of the graph
LOOKS |= dict.fromkeys(("message", "visit", "attention"), Look("#cc3311", "o"))  # along one
_OTHER_COLOURS = ("#aa4499", "#0072b2", "#cc6677", "#44aa99", "#997700", "#666666")
_OTHER_MARKERS = ("P", "X", "h", "<", ">", "p", "d")
_OTHER_DASHES = ((8, 2), (4, 1, 1, 1, 1, 1), (1.2, 1.2))


def look(name: str) -> Look:
    """The look of a builder or retriever; a name that has none gets one that depends on the name alone."""
    number = zlib.crc32(str(name).encode())
    colour, marker, dash = _OTHER_COLOURS[number % 6], _OTHER_MARKERS[number // 6 % 7], _OTHER_DASHES[number // 42 % 3]
    return LOOKS.get(name) or Look(colour, marker, dash)


def looks(names: Iterable[str]) -> dict[str, Look]:
    """A look for each name: a method's own, and for settings first those that the methods here leave."""
    names = list(dict.fromkeys(names))
    own = {name: LOOKS[name] for name in names if name in LOOKS}
    free = [each for each in _FREE if each not in own.values()]
    return {name: own.get(name) or (free.pop(0) if free else look(name)) for name in names}


def style() -> AbstractContextManager[None]:
    """The kit's settings on top of matplotlib's own: what the user has set plays no part. A decorator, too."""
    return matplotlib.style.context(["default", _RC])


class Figure(matplotlib.figure.Figure):
    """A figure that shows itself in Jupyter without pyplot, and is drawn in the kit's style whenever it is drawn."""

    def __init__(self, title: str, size: tuple[float, float] = SIZE) -> None:
        with style():
            super().__init__(figsize=size, dpi=DPI, layout="constrained")
            self.title = title
            self.suptitle(textwrap.fill(title, round(size[0] * 8.2)), x=0.01, ha="left", parse_math=False)
        FigureCanvasAgg(self)

    def __repr__(self) -> str:
        return f"Figure: {self.title}"

    def draw(self, renderer: Any) -> None:
        with style():
            super().draw(renderer)

    def savefig(self, *args: Any, **settings: Any) -> None:
        with style():
            super().savefig(*args, **settings)

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        sink = io.BytesIO()
        self.savefig(sink, format="png")
        width, height = self.get_size_inches() * 96
        return sink.getvalue(), {"width": round(width), "height": round(height), "alt": self.title}


def plain_log(ax: Axes, which: str, values: Iterable[float], *, narrow: bool = False) -> None:
    """Makes the ``x`` or ``y`` axis logarithmic, with plain numbers; a narrow axis shows powers of ten only.

    It is linear below 1 if there are zeros, for which a logarithm has no place.
    """
    least, most = min(values, default=1.0), max(values, default=1.0)
    axis, scale = (ax.xaxis, ax.set_xscale) if which == "x" else (ax.yaxis, ax.set_yscale)
    scale(**{"value": "log"} if least > 0 else {"value": "symlog", "linthresh": 1})
    if least > 0:
        axis.set_major_locator(LogLocator(subs=(1,) if narrow or most / least > 150 else (1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.set_minor_formatter(NullFormatter())


def heading(text: object) -> str:
    """``recall@5`` as it is written in a heading."""
    return str(text)[:1].upper() + str(text)[1:]


def wrapped(text: object, width: int) -> str:
    """A label in lines of this width, cut after the third."""
    return textwrap.fill(str(text), width, max_lines=3, placeholder=" …")


def signed(value: float) -> str:
    """A difference of fractions with its sign, the minus as long as the plus."""
    return f"{value:+.3f}".replace("-", "−")
