"""A retrieval as pictures, for the canvas and for print; :mod:`kit.views.frames` makes them.

A :class:`Replay` holds once what stays the same from step to step (its nodes: text, place, gold),
and per step a :class:`Frame` with what changes. So places are fixed by construction, and a browser
gets each text once.
"""

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from typing import Any, Self

import msgspec
from msgspec.structs import replace
from pandas import DataFrame

from kit.corpus import Corpus, Question
from kit.views.style import ROLES, Role

Position = tuple[float, float]
Positions = Mapping[Hashable, Position]

GOLD = "supporting passage (gold)"
GOLD_RIM = "#e69f00"
HALO = "#cc3311"  # as messages and visits are drawn (see style.py)
#: Fills from far to near: one hue, ever darker, so that the order also shows in grey and to the
#: colour-blind.
SHADES = ("#eff3ff", "#c6dbef", "#9ecae1", "#6baed6", "#3182bd", "#08519c", "#08306b")
MIDDLE = (0.5, 0.5)  # where a node stands that has no place of its own
COLUMNS = ["step", "kind", "title", "other", "role", "gold", "x", "y", "value"]  # of a table


def clip(text: str, letters: int) -> str:
    """The text on one line of at most so many letters."""
    line = " ".join(text.split())
    return line if len(line) <= letters else line[: letters - 1].rstrip() + "…"


def count(n: int, word: str) -> str:
    """A number and a word in its singular or plural: "1 passage", "2 passages"."""
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"


def question_with_answer(question: Question) -> str:
    """The lines of a question and of its answer, which one that was typed has not."""
    return "\nAnswer: ".join(filter(None, (question.text, question.answer)))


class Node(msgspec.Struct, frozen=True):
    """A passage or entity, the same in all frames.

    ``x`` and ``y`` lie in [0, 1], y downwards. ``gold`` marks a supporting passage.
    """

    id: str
    title: str
    text: str = ""
    x: float = 0.5
    y: float = 0.5
    gold: bool = False

    @property
    def position(self) -> Position:
        return self.x, self.y

    @property
    def label(self) -> str:
        return clip(self.title, 24)


def passage_node(corpus: Corpus, name: str, positions: Positions, gold: Collection[str]) -> Node:
    """The passage as a node, at its place if it has one.

    The passages of a document share its title; where there are several, theirs say which they are.
    """
    passage = corpus[name]
    title = passage.title
    if len(corpus.documents[passage.document]) > 1:
        part = f"§{passage.position + 1}"
        if passage.page:
            part = f"p. {passage.page} · {clip(passage.text, 40)} ·"
        title = f"{part} {title}"
    return Node(
        name,
        title,
        passage.text,
        *positions.get(name, MIDDLE),
        gold=name in gold,
    )


class Scale(msgspec.Struct, frozen=True, rename={"farthest": "far", "nearest": "near"}):
    """What the values of the nodes measure: 0 stands for ``farthest``, 1 for ``nearest``."""

    name: str
    farthest: float
    nearest: float

    def value(self, measured: float) -> float:
        """What was measured as the value of a node, in [0, 1]."""
        share = (measured - self.farthest) / (self.nearest - self.farthest or 1.0)
        return round(min(max(share, 0.0), 1.0), 3)


class NodeState(msgspec.Struct, frozen=True):
    """A node's part in one frame.

    ``value`` in [0, 1] is its size and, with a scale, its fill; ``note`` shows on demand.
    """

    node: str
    role: str = "plain"
    value: float | None = None
    note: str = ""


class Edge(msgspec.Struct, frozen=True):
    """A line between two nodes, one stroke per kind; ``label`` says what they share."""

    source: str
    target: str
    kinds: tuple[str, ...] = ()
    label: str = ""
    emphasised: bool = False
    directed: bool = False

    @property
    def ends(self) -> tuple[str, str]:
        return self.source, self.target


class RankItem(msgspec.Struct, frozen=True, rename={"rank": "place"}):
    """A node in a ranking, and how far it rose (negative: fell).

    ``rank`` is given where it is not the item's position in the list.
    """

    node: str
    score: float | None = None
    moved: int = 0
    rank: int | None = None

    @property
    def in_words(self) -> str:
        """The rank before and after, on one line."""
        arrow = "\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}"
        return f"{self.rank + self.moved}{arrow}{self.rank}"


class Column(msgspec.Struct, frozen=True):
    """A ranking, best first."""

    name: str
    items: Sequence[RankItem]


class Frame(msgspec.Struct, frozen=True, rename={"sub_question": "asked"}):
    """One step; ``focus`` is the node to tell about where the reader has none in hand."""

    step: str = ""
    caption: str = ""
    states: Sequence[NodeState] = ()
    edges: Sequence[Edge] = ()
    columns: Sequence[Column] = ()
    sub_question: str = ""
    focus: str = ""

    @property
    def shown(self) -> list[str]:
        """The nodes that are drawn, and those in rankings."""
        return [part.node for part in (*self.states, *self.items)]

    @property
    def items(self) -> list[RankItem]:
        """The items of all rankings."""
        return [item for column in self.columns for item in column.items]


class Replay(msgspec.Struct, frozen=True):
    """Nodes, the frames that show them, and their question.

    ``edges`` are drawn faintly in each frame that has both ends. ``by_rank`` says that the nodes
    are ranked: in print, they are drawn in the order of the frame's ranking.
    """

    nodes: Sequence[Node]
    frames: Sequence[Frame]
    question: str = ""
    edges: Sequence[Edge] = ()
    scale: Scale | None = None
    by_rank: bool = False

    @classmethod
    def from_frames(
        cls,
        frames: Sequence[Frame],
        corpus: Corpus,
        question: Question | None,
        positions: Positions,
        nodes: Sequence[Node] = (),
        **fields: Any,
    ) -> Self:
        """The replay of frames: what they show as nodes, supports first, and the question.

        ``nodes`` are those that are no passages, ``fields`` the edges and the scale. A question
        that was typed has no answer.
        """
        gold = ()
        text = ""
        if question:
            gold = question.supporting_ids
            text = question_with_answer(question)

        shown = [name for frame in frames for name in frame.shown]
        supports = [name for name in gold if name in shown]
        drawn = {node.id: node for node in nodes}
        order = dict.fromkeys(supports + shown)
        for name in order.keys() - drawn.keys():
            drawn[name] = passage_node(corpus, name, positions, gold)
        return cls([drawn[name] for name in order], frames, text, **fields)

    @property
    def by_id(self) -> dict[str, Node]:
        return {node.id: node for node in self.nodes}

    @property
    def kinds(self) -> list[str]:
        """The kinds of all edges."""
        kinds = set()
        for edges in (self.edges, *(frame.edges for frame in self.frames)):
            kinds.update(kind for edge in edges for kind in edge.kinds)
        return sorted(kinds)

    @property
    def roles(self) -> dict[str, Role]:
        """The roles of all states, in the order of a legend."""
        used = {state.role for frame in self.frames for state in frame.states}
        return {name: role for name, role in ROLES.items() if name in used}

    @property
    def shaded_roles(self) -> list[str]:
        """The roles whose nodes are filled by the scale: none of them lacks a value."""
        if not self.scale:
            return []
        lacking = {name for name, role in self.roles.items() if role.dashed}
        for frame in self.frames:
            lacking.update(state.role for state in frame.states if state.value is None)
        return [name for name in self.roles if name not in lacking]

    def without_text(self) -> Self:
        """The same for figures of data whose text may not be passed on.

        Notes and the labels of edges, which no figure has, stay.
        """
        supports = [node.id for node in self.nodes if node.gold]
        titles = {name: f"support {rank}" for rank, name in enumerate(supports, start=1)}
        return replace(
            self,
            nodes=[replace(node, title=titles.get(node.id, ""), text="") for node in self.nodes],
            frames=[replace(frame, sub_question="", caption="") for frame in self.frames],
            question="",
        )

    def table(self) -> DataFrame:
        """A row per node, edge and item of a ranking; of edges of all frames ``step`` is empty.

        ``value`` is a node's size, or the rank.
        """
        rows = []
        for frame in (Frame(edges=self.edges), *self.frames):
            for node, cells in _cells(frame, self.by_id):
                rows.append(
                    {
                        "step": frame.step,
                        "title": node.title,
                        "gold": node.gold,
                        **cells,
                    }
                )
        return DataFrame(rows, columns=COLUMNS)


def _cells(frame: Frame, nodes: Mapping[str, Node]) -> Iterator[tuple[Node, dict[str, Any]]]:
    """Each node of a frame, with the cells of its row that are its kind's."""
    for state in frame.states:
        node = nodes[state.node]
        yield (
            node,
            {
                "kind": "node",
                "x": node.x,
                "y": node.y,
                "role": state.role,
                "value": state.value,
            },
        )
    for edge in frame.edges:
        other = nodes[edge.target].title
        yield nodes[edge.source], {"kind": "+".join(edge.kinds), "other": other}
    for column in frame.columns:
        for rank, item in enumerate(column.items, start=1):
            yield nodes[item.node], {"kind": column.name, "value": item.rank or rank}
