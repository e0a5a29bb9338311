"""A retrieval as pictures: what the canvas steps through and a storyboard prints.

A :class:`Replay` holds once what stays the same from step to step (its nodes: text, place, gold), and a :class:`Frame`
for each step what changes. So places are fixed by construction, and a browser gets each text once. Nothing here knows
about any method: :mod:`kit.views.frames` makes frames out of a trace.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pandas as pd
from msgspec.structs import replace

from kit.errors import InputError


class Role(msgspec.Struct, frozen=True):
    """How a node is drawn: the words of the legend, fill, shape, a dashed rim for absence, a ring (``halo``)."""

    label: str
    fill: str = "#d9d9d9"
    shape: str = "circle"
    dashed: bool = False
    halo: bool = False


ROLES = {
    "seed": Role("seed of the search", "#332288", "square"),
    "reached": Role("reached from a seed", "#56b4e9"),
    "sender": Role("sender of messages", halo=True),
    "plain": Role("passage"),
    "visited": Role("visited", "#56b4e9"),
    "path": Role("on the path that grows", halo=True),
    "entity": Role("entity (o)", shape="diamond"),
    "chunk": Role("sentence (c)", shape="square"),
    "document": Role("passage (d)"),
    "listening": Role("the node that listens", "#ffffff", halo=True),
    "rest": Role("all further ones together", "#ffffff", dashed=True),
    "candidate": Role("candidate", "#c8c8c8", dashed=True),
    "missed": Role("not reached", "#ffffff", dashed=True),
}
GOLD = "supporting passage (gold)"
GOLD_RIM = "#e69f00"
HALO = "#cc3311"  # as messages and visits are drawn (see style.py)
#: Fills from far to near: one hue, ever darker, so that the order also shows in grey and to the colour-blind.
SHADES = ("#eff3ff", "#c6dbef", "#9ecae1", "#6baed6", "#3182bd", "#08519c", "#08306b")


def clip(text: str, letters: int) -> str:
    """The text on one line of at most so many letters."""
    line = " ".join(text.split())
    return line if len(line) <= letters else line[: letters - 1].rstrip() + "…"


class Node(msgspec.Struct, frozen=True):
    """A passage or entity, the same in all frames. ``x`` and ``y`` lie in [0, 1], y downwards; ``gold``: a support."""

    id: str
    title: str
    text: str = ""
    x: float = 0.5
    y: float = 0.5
    gold: bool = False

    @property
    def label(self) -> str:
        return clip(self.title, 24)


class Scale(msgspec.Struct, frozen=True):
    """What the values of the nodes measure, and the numbers at its ends: 0 is ``far``, 1 is ``near``.

    ``ends`` are the legend's words for the two.
    """

    name: str
    far: float
    near: float
    ends: tuple[str, str] = ("far", "near")

    def value(self, number: float) -> float:
        """The number as the value of a node, in [0, 1]."""
        return round(min(max((number - self.far) / (self.near - self.far), 0.0), 1.0), 3)


class NodeState(msgspec.Struct, frozen=True):
    """A node's part in one frame: its role, a value in [0, 1] of its size (and fill, where there is a scale).

    ``note`` is for the reader who has it in hand, ``tag`` a number to write behind its title.
    """

    node: str
    role: str = "plain"
    value: float | None = None
    note: str = ""
    tag: str = ""


class Edge(msgspec.Struct, frozen=True):
    """A line between two nodes, one stroke for each of its kinds; ``label`` says what they share."""

    source: str
    target: str
    kinds: tuple[str, ...] = ()
    label: str = ""
    emphasised: bool = False
    directed: bool = False

    @property
    def ends(self) -> tuple[str, str]:
        return self.source, self.target


class RankItem(msgspec.Struct, frozen=True):
    """A place in a ranking: the node, its score, and how far it rose (negative: fell) since the frame before.

    ``place`` is its rank, from 1, where that is not its number in the column: of a passage far below.
    """

    node: str
    score: float | None = None
    moved: int = 0
    place: int | None = None


class Column(msgspec.Struct, frozen=True):
    """A ranking, best first."""

    name: str
    items: tuple[RankItem, ...]


class Frame(msgspec.Struct, frozen=True):
    """One step: nodes and edges to draw, rankings beside them, and what to say.

    ``asked`` is the sub-question that it is about, ``focus`` the node to tell about where the reader has none in hand.
    """

    step: str = ""
    caption: str = ""
    states: tuple[NodeState, ...] = ()
    edges: tuple[Edge, ...] = ()
    columns: tuple[Column, ...] = ()
    asked: str = ""
    focus: str = ""

    @property
    def named(self) -> set[str]:
        """All nodes that the frame shows or lists."""
        return {state.node for state in self.states} | {it.node for column in self.columns for it in column.items}


class Replay(msgspec.Struct, frozen=True):
    """Nodes, the frames that show them, and the question that they are about.

    ``edges`` are drawn faintly in each frame that has both ends. Raises InputError for a node that there is not.
    """

    nodes: tuple[Node, ...]
    frames: tuple[Frame, ...]
    question: str = ""
    edges: tuple[Edge, ...] = ()
    scale: Scale | None = None

    def __post_init__(self) -> None:
        known = self.by_id.keys()
        named = set().union(*(frame.named for frame in self.frames), *(edge.ends for edge in self.lines))
        if len(known) < len(self.nodes) or not self.frames or named - known:
            raise InputError("expected each node once, all that are named, and at least one frame", field="frames")

    @property
    def by_id(self) -> dict[str, Node]:
        return {node.id: node for node in self.nodes}

    @property
    def lines(self) -> Iterator[Edge]:
        """The edges of all frames, and those of each."""
        yield from self.edges
        for frame in self.frames:
            yield from frame.edges

    def without_text(self) -> Replay:
        """The same without what comes from a corpus, for figures of data whose text may not be passed on.

        Steps and captions stay: they hold the method's own words.
        """
        supports = [node.id for node in self.nodes if node.gold]
        names = {id: f"support {number}" for number, id in enumerate(supports, start=1)}
        bare = [tuple(replace(edge, label="") for edge in each.edges) for each in (self, *self.frames)]
        frames = tuple(
            replace(frame, asked="", states=tuple(replace(state, note="") for state in frame.states), edges=edges)
            for frame, edges in zip(self.frames, bare[1:])
        )
        nodes = tuple(replace(node, title=names.get(node.id, ""), text="") for node in self.nodes)
        return Replay(nodes, frames, "", bare[0], self.scale)

    def table(self) -> pd.DataFrame:
        """The numbers behind the pictures: a row a node, edge or place in a ranking, for each frame.

        ``step`` is empty for edges of all frames; ``value`` is a node's size, or a place in a ranking.
        """
        nodes, tagged = self.by_id, any(state.tag for frame in self.frames for state in frame.states)

        def line(edge: Edge) -> dict[str, object]:
            return {"kind": "+".join(edge.kinds), "title": nodes[edge.source].title, "other": nodes[edge.target].title}

        rows: list[dict[str, object]] = [{"step": "", **line(edge)} for edge in self.edges]
        for frame in self.frames:
            for state in frame.states:
                node = nodes[state.node]
                where = {"title": node.title, "role": state.role, "gold": node.gold, "x": node.x, "y": node.y}
                rows.append({"step": frame.step, "kind": "node", **where, "value": state.value, "tag": state.tag})
            rows += [{"step": frame.step, **line(edge)} for edge in frame.edges]
            for column in frame.columns:
                for number, item in enumerate(column.items, start=1):
                    told = {"title": nodes[item.node].title, "gold": nodes[item.node].gold}
                    rows.append({"step": frame.step, "kind": column.name, **told, "value": item.place or number})
        columns = ["step", "kind", "title", "other", "role", "gold", "x", "y", "value", *["tag"] * tagged]
        return pd.DataFrame(rows, columns=columns)
