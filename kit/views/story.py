"""A retrieval as pictures: what a widget replays and a storyboard prints.

A :class:`Story` holds what stays the same from step to step (its nodes: text, place, gold) once, and a :class:`Scene` a
step what changes. So positions are fixed by construction, and a browser gets each passage once however many steps there
are. A method's ``Trace`` becomes a story by making scenes out of its steps; nothing here knows about any method.
"""

from __future__ import annotations

import msgspec
import pandas as pd
from msgspec.structs import replace

from kit.errors import InputError


class Role(msgspec.Struct, frozen=True):
    """How a node of a scene is drawn: the words of the legend, a fill colour, a shape, a dashed rim for absence.

    ``halo``: with a ring around it.
    """

    label: str
    fill: str
    shape: str = "circle"
    dashed: bool = False
    halo: bool = False


ROLES = {
    "seed": Role("seed of the search", "#332288", "square"),
    "reached": Role("reached from a seed", "#56b4e9"),
    "sender": Role("sender of messages", "#d9d9d9", halo=True),
    "plain": Role("passage", "#d9d9d9"),
    "visited": Role("visited", "#56b4e9"),
    "path": Role("on the path that grows", "#d9d9d9", halo=True),
    "entity": Role("entity (o)", "#d9d9d9", "diamond"),
    "chunk": Role("sentence (c)", "#d9d9d9", "square"),
    "document": Role("passage (d)", "#d9d9d9"),
    "listening entity": Role("entity (o) that listens", "#ffffff", "diamond", halo=True),
    "listening chunk": Role("sentence (c) that listens", "#ffffff", "square", halo=True),
    "listening document": Role("passage (d) that listens", "#ffffff", halo=True),
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
    """A passage or entity, the same in all scenes. ``x`` and ``y`` lie in [0, 1], y downwards; ``gold``: a support."""

    id: str
    title: str
    text: str = ""
    x: float = 0.5
    y: float = 0.5
    gold: bool = False

    @property
    def label(self) -> str:
        """The title on one short line."""
        return clip(self.title, 24)


class Scale(msgspec.Struct, frozen=True):
    """What the values of a story's marks measure, and the numbers at its ends: 0 is ``far``, 1 is ``near``.

    ``ends`` are the legend's words for the two.
    """

    name: str
    far: float
    near: float
    ends: tuple[str, str] = ("far", "near")

    def value(self, number: float) -> float:
        """The number as the value of a mark, in [0, 1]."""
        return min(max((number - self.far) / (self.near - self.far), 0.0), 1.0)


class Mark(msgspec.Struct, frozen=True):
    """A node's part in one scene: its role, a value in [0, 1] that sets its size, and a note for the reader.

    In a story with a :class:`Scale` the value sets the node's fill, too. ``tag`` is a number to write behind its title.
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


class Entry(msgspec.Struct, frozen=True):
    """A place in a ranking: the node, its score, and how far it rose (negative: fell) since the scene before.

    ``place`` is its rank, from 1, where that is not its number in the column: of a passage far below. ``indent`` is the
    depth in a tree, from 0; entries of a tree have no rank.
    """

    node: str
    score: float | None = None
    moved: int = 0
    place: int | None = None
    indent: int | None = None


class Column(msgspec.Struct, frozen=True):
    """A ranking, best first."""

    name: str
    entries: tuple[Entry, ...]


class Scene(msgspec.Struct, frozen=True):
    """One step: nodes and edges to draw, rankings beside them, what to say; ``step`` names it in a few words.

    ``asked`` is the sub-question that the scene is about. ``focus`` is the node to tell about where the reader has none
    in hand.
    """

    step: str = ""
    caption: str = ""
    marks: tuple[Mark, ...] = ()
    edges: tuple[Edge, ...] = ()
    columns: tuple[Column, ...] = ()
    asked: str = ""
    focus: str = ""


class Story(msgspec.Struct, frozen=True):
    """Nodes, the scenes that show them, and the question that they are about.

    ``edges`` are drawn faintly in each scene that has both ends. Raises InputError for a role or a node that there is
    not.
    """

    nodes: tuple[Node, ...]
    scenes: tuple[Scene, ...]
    question: str = ""
    edges: tuple[Edge, ...] = ()
    scale: Scale | None = None

    def __post_init__(self) -> None:
        known = {node.id for node in self.nodes}
        if len(known) < len(self.nodes):
            raise InputError("expected each node once", field="nodes")
        if not self.scenes:
            raise InputError("expected at least one scene", field="scenes")
        if strange := {end for edge in self.edges for end in (edge.source, edge.target)} - known:
            raise InputError(f"expected a node of the story, not {min(strange)!r}", field="edges")
        for number, scene in enumerate(self.scenes):
            named = {mark.node for mark in scene.marks}
            named |= {end for edge in scene.edges for end in (edge.source, edge.target)}
            named |= {entry.node for column in scene.columns for entry in column.entries}
            named |= {scene.focus} - {""}
            if strange := named - known:
                raise InputError(f"expected a node of the story, not {min(strange)!r}", record=number, field="scenes")
            if strange := {mark.role for mark in scene.marks} - set(ROLES):
                raise InputError(
                    f"expected one of {', '.join(ROLES)}, not {min(strange)!r}", record=number, field="role"
                )
            if {end for edge in scene.edges for end in (edge.source, edge.target)} - {
                mark.node for mark in scene.marks
            }:
                raise InputError("expected a mark for both ends of each edge", record=number, field="edges")

    def without_text(self) -> Story:
        """The same story without what comes from a corpus: questions, titles, texts, notes, labels of edges.

        For figures of data whose text may not be passed on. Steps and captions stay: they hold the method's own words.
        """
        supports = {node.id: number for number, node in enumerate([n for n in self.nodes if n.gold], start=1)}
        names = {node.id: f"support {supports[node.id]}" if node.gold else "" for node in self.nodes}
        nodes = tuple(replace(node, title=names[node.id], text="") for node in self.nodes)
        scenes = tuple(
            replace(
                scene,
                asked="",
                marks=tuple(replace(mark, note="") for mark in scene.marks),
                edges=tuple(replace(edge, label="") for edge in scene.edges),
            )
            for scene in self.scenes
        )
        return Story(nodes, scenes, "", tuple(replace(edge, label="") for edge in self.edges), self.scale)

    @property
    def by_id(self) -> dict[str, Node]:
        return {node.id: node for node in self.nodes}

    def table(self) -> pd.DataFrame:
        """The numbers behind the pictures: a row a node or place in a ranking, for each scene.

        Columns: step (empty for edges of all scenes), kind (node, edge or the ranking's name), title, other (an edge's
        second end), role, gold, x, y, value (a node's size, a place in a ranking), and in a story that has such numbers
        tag (the one behind a node's title).
        """
        nodes, tagged = self.by_id, any(mark.tag for scene in self.scenes for mark in scene.marks)

        def line(edge: Edge) -> dict[str, object]:
            return {"kind": "+".join(edge.kinds), "title": nodes[edge.source].title, "other": nodes[edge.target].title}

        rows: list[dict[str, object]] = [{"step": "", **line(edge)} for edge in self.edges]
        for scene in self.scenes:
            for mark in scene.marks:
                node = nodes[mark.node]
                where = {"title": node.title, "role": mark.role, "gold": node.gold, "x": node.x, "y": node.y}
                rows.append({"step": scene.step, "kind": "node", **where, "value": mark.value, "tag": mark.tag})
            rows += [{"step": scene.step, **line(edge)} for edge in scene.edges]
            for column in scene.columns:
                for number, entry in enumerate(column.entries, start=1):
                    node, place = nodes[entry.node], entry.place or number
                    of = {"title": node.title, "gold": node.gold, "value": place}
                    rows.append({"step": scene.step, "kind": column.name, **of})
        columns = ["step", "kind", "title", "other", "role", "gold", "x", "y", "value", *["tag"] * tagged]
        return pd.DataFrame(rows, columns=columns)
