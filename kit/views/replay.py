"""A retrieval as pictures, for the canvas and for print; :mod:`kit.views.frames` makes them out of a trace.

A :class:`Replay` holds once what stays the same from step to step (its nodes: text, place, gold), and a :class:`Frame`
for each step what changes. So places are fixed by construction, and a browser gets each text once.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Self

import msgspec
import pandas as pd
from msgspec.structs import replace

from kit.corpus import Corpus, Question
from kit.views.style import ROLES, Role

Place = tuple[float, float]
Places = Mapping[str, Place]

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


def passage_node(corpus: Corpus, id: str, places: Places, gold: Collection[str]) -> Node:
    """The passage as a node at its place, if it has one. Those of a document, which share its title, say which."""
    passage = corpus[id]
    page = (
        f"p. {passage.page} · {clip(passage.text, 40)} · "
        if passage.page
        else f"§{passage.position + 1} "
    )
    title = f"{page if len(corpus.documents[passage.document]) > 1 else ''}{passage.title}"
    return Node(id, title, passage.text, *places.get(id, (0.5, 0.5)), gold=id in gold)


class Scale(msgspec.Struct, frozen=True):
    """What the values of the nodes measure: 0 is the number ``far``, 1 is ``near``."""

    name: str
    far: float
    near: float

    def value(self, number: float) -> float:
        """The number as the value of a node, in [0, 1]."""
        return round(min(max((number - self.far) / (self.near - self.far or 1.0), 0.0), 1.0), 3)


class NodeState(msgspec.Struct, frozen=True):
    """A node's part in one frame: ``value`` in [0, 1] is its size and, with a scale, its fill; ``note`` on demand."""

    node: str
    role: str = "plain"
    value: float | None = None
    note: str = ""


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
    """A place in a ranking: how far the node rose (negative: fell), and its rank where that is not its number here."""

    node: str
    score: float | None = None
    moved: int = 0
    place: int | None = None


class Column(msgspec.Struct, frozen=True):
    """A ranking, best first."""

    name: str
    items: tuple[RankItem, ...]


class Frame(msgspec.Struct, frozen=True):
    """One step; ``asked`` is its sub-question, ``focus`` the node to tell about where the reader has none in hand."""

    step: str = ""
    caption: str = ""
    states: tuple[NodeState, ...] = ()
    edges: tuple[Edge, ...] = ()
    columns: tuple[Column, ...] = ()
    asked: str = ""
    focus: str = ""

    @property
    def shown(self) -> list[str]:
        """The nodes that are drawn, and those in rankings."""
        return [
            it.node
            for part in (self.states, *(column.items for column in self.columns))
            for it in part
        ]


class Replay(msgspec.Struct, frozen=True):
    """Nodes, the frames that show them, their question, and ``edges``: drawn faintly where a frame has both ends."""

    nodes: tuple[Node, ...]
    frames: tuple[Frame, ...]
    question: str = ""
    edges: tuple[Edge, ...] = ()
    scale: Scale | None = None

    @classmethod
    def of(
        cls,
        frames: Sequence[Frame],
        corpus: Corpus,
        question: Question | None,
        places: Places,
        **more: Any,
    ) -> Self:
        """That of frames: what they show as nodes, supports first, and the question; ``more`` are further fields.

        ``nodes`` among these are what is no passage. A question that was typed has no answer.
        """
        known, gold = (
            {node.id: node for node in more.pop("nodes", ())},
            question.supporting_ids if question else (),
        )
        shown = dict.fromkeys(id for frame in frames for id in frame.shown)
        ids = dict.fromkeys([*(id for id in gold if id in shown), *shown])
        nodes = tuple(known.get(id) or passage_node(corpus, id, places, gold) for id in ids)
        asked = (
            "\nAnswer: ".join(filter(None, (question.text, question.answer))) if question else ""
        )
        return cls(nodes, tuple(frames), asked, **more)

    @property
    def by_id(self) -> dict[str, Node]:
        return {node.id: node for node in self.nodes}

    @property
    def kinds(self) -> list[str]:
        """Of all edges."""
        lists = [self.edges, *(frame.edges for frame in self.frames)]
        return sorted({kind for edges in lists for edge in edges for kind in edge.kinds})

    @property
    def roles(self) -> dict[str, Role]:
        """Those of all states, in the order of a legend."""
        used = {state.role for frame in self.frames for state in frame.states}
        return {name: role for name, role in ROLES.items() if name in used}

    def without_text(self) -> Self:
        """The same for figures of data whose text may not be passed on; notes and labels, which no figure has, stay."""
        supports = [node.id for node in self.nodes if node.gold]
        names = {id: f"support {number}" for number, id in enumerate(supports, start=1)}
        nodes = tuple(replace(node, title=names.get(node.id, ""), text="") for node in self.nodes)
        return replace(
            self,
            nodes=nodes,
            frames=tuple(replace(it, asked="") for it in self.frames),
            question="",
        )

    def table(self) -> pd.DataFrame:
        """A row a node, edge (of all frames: ``step`` is empty) or place in a ranking; ``value``: size, or place."""
        nodes, rows = self.by_id, []

        def add(kind: str, id: str, **told: Any) -> None:
            rows.append(
                {
                    "step": frame.step,
                    "kind": kind,
                    "title": nodes[id].title,
                    "gold": nodes[id].gold,
                    **told,
                }
            )

        for frame in (Frame(edges=self.edges), *self.frames):
            for it in frame.states:
                add(
                    "node",
                    it.node,
                    x=nodes[it.node].x,
                    y=nodes[it.node].y,
                    role=it.role,
                    value=it.value,
                )
            for edge in frame.edges:
                add("+".join(edge.kinds), edge.source, other=nodes[edge.target].title)
            for column in frame.columns:
                for number, item in enumerate(column.items, start=1):
                    add(column.name, item.node, value=item.place or number)
        return pd.DataFrame(
            rows, columns=["step", "kind", "title", "other", "role", "gold", "x", "y", "value"]
        )


def count(n: int, word: str) -> str:
    return f"{n:,} {word}{'s' * (n != 1)}"
