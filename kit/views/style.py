"""One look for every figure: slide size, readable type, and a fixed colour, marker and dash for each method.

Colours come from Paul Tol's and Okabe and Ito's colour-blind-safe sets. The first five also differ in lightness, so
that they stay apart in a grey print; marker and dash tell them apart once more.
"""

import io
import textwrap
import zlib
from collections.abc import Iterable
from contextlib import AbstractContextManager
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
    """How a method is drawn. ``dash`` holds lengths in points, on and off in turn; empty is a solid line."""

    colour: str
    marker: str
    dash: tuple[float, ...] = ()

    @property
    def line(self) -> dict[str, Any]:
        """Keyword arguments of ``Axes.plot``."""
        return {"color": self.colour, "linestyle": (0, self.dash) if self.dash else "solid"}


#: The names that share a look never share a figure. The first five are for settings, too, which have none of their own.
_LOOKS = {
    "tfidf": Look("#332288", "o"),
    "dense knn": Look("#117733", "s", (6, 1.5)),
    "gnn-ret entity dpr": Look("#882255", "D", (2, 1.2)),
    "rgnn-ret structure mdr": Look("#c77700", "^", (6, 1.5, 1.5, 1.5)),
    "bm25 knn-mdr": Look("#1a1a1a", "v", (3, 1.5)),
    "pagerank": Look("#0072b2", "h", (8, 2)),
    "qsgnn": Look("#aa4499", "P"),
    "random": Look("#8a8a8a", "p", (1.2, 1.2)),
    "kgp-t5": Look("#0072b2", "d", (8, 2)),
    "kgp-tfidf": Look("#332288", "P", (8, 2)),  # a walk has the colour of what its agent reads with
    "kgp-dense": Look("#117733", "X", (8, 2)),
    "kgp-mdr": Look("#c77700", "h", (8, 2)),
    "paper": Look(GREY, "o"),
    "bgr right": Look("#117733", "o"),  # in a replay of BGR, with the next four: edges
    "forward": Look("#0072b2", "s", (8, 2)),
    "backward": Look("#882255", "D", (2, 1.2)),
    "superfluous": Look("#cc3311", "o", (1.2, 1.2)),
    "missed": Look("#8a8a8a", "o", (3, 1.5)),
    "graph": Look("#8a8a8a", "o"),  # in a replay: any edge of the graph
    "message visit attention": Look("#cc3311", "o"),  # along one
}
LOOKS = {name: each for names, each in _LOOKS.items() for name in names.split()}
_OTHER_COLOURS = ("#aa4499", "#0072b2", "#cc6677", "#44aa99", "#997700", "#666666")
_OTHER_DASHES = ((8, 2), (4, 1, 1, 1, 1, 1), (1.2, 1.2))


def look(name: str) -> Look:
    """The look of a builder or retriever; a name that has none gets one that depends on the name alone."""
    number = zlib.crc32(str(name).encode())
    other = Look(_OTHER_COLOURS[number % 6], "PXh<>pd"[number // 6 % 7], _OTHER_DASHES[number // 42 % 3])
    return LOOKS.get(name, other)


def looks(names: Iterable[str]) -> dict[str, Look]:
    """A look for each name: a method's own, and for settings first those that the methods here leave."""
    names = list(dict.fromkeys(names))
    taken = [LOOKS[name] for name in names if name in LOOKS]
    free = [each for each in list(_LOOKS.values())[:5] if each not in taken]
    return {name: look(name) if name in LOOKS or not free else free.pop(0) for name in names}


def style() -> AbstractContextManager[None]:
    """The kit's settings on top of matplotlib's own: what the user has set plays no part. A decorator, too."""
    return matplotlib.style.context(["default", Path(__file__).with_name("kit.mplstyle")])


class Figure(matplotlib.figure.Figure):
    """A figure that shows itself in Jupyter without pyplot, saved in the kit's style."""

    def __init__(self, title: str, size: tuple[float, float] = SIZE) -> None:
        with style():
            super().__init__(figsize=size, dpi=DPI, layout="constrained")
            self.title = title
            self.suptitle(textwrap.fill(title, round(size[0] * 8.2)), x=0.01, ha="left")
        FigureCanvasAgg(self)

    def __repr__(self) -> str:
        return f"Figure: {self.title}"

    def savefig(self, *args: Any, **settings: Any) -> None:
        with style():
            super().savefig(*args, **settings)

    def drawn(self, kind: str, metadata: dict[str, str | None] | None = None) -> bytes:
        """The bytes of a file of the figure, ``png`` or ``svg``."""
        sink = io.BytesIO()
        self.savefig(sink, format=kind, metadata=metadata)
        return sink.getvalue()

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        width, height = self.get_size_inches() * 96
        return self.drawn("png"), {"width": round(width), "height": round(height), "alt": self.title}
