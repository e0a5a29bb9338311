"""QSGNN's attention, node by node: who a node of the graph around a query listens to (qsgnn.txt §3.2, Eqs. 2 and 3).

Sentences are the paper's chunks, passages its documents; o, c and d are its letters for the three levels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from functools import lru_cache
from typing import Any, NamedTuple

import ipywidgets as widgets
import numpy as np
from msgspec.structs import replace

from kit.corpus import Benchmark, Corpus, Question
from kit.errors import InputError
from kit.graphs.multilevel import LEVELS
from kit.retrievers import QSGNN
from kit.retrievers.qsgnn_network import INTER, INTRA
from kit.views.drawing import storyboard
from kit.views.explorer import Explorer, wide
from kit.views.layout import flanks
from kit.views.story import Column, Edge, Entry, Mark, Node, Scale, Scene, Story, clip
from kit.views.style import Figure
from kit.views.trace_explorer import SideBySide, asking, start_with, whole

_MOST = 16  # senders that are drawn one by one
_MOST_PASSAGES = 200  # around a query, on the slider
# To choose from: passages, others ranked high, and what each of the first holds of a level.
_HEADS, _TOP, _NEAR = 3, 8, 5
_ONE, _MANY = ({"o": "entity", "c": "sentence", "d": "passage"}, {"o": "entities", "c": "sentences", "d": "passages"})
_EVEN = Scale("× even share", far=0.0, near=2.0, ends=("less", "more"))
_MORE = 1.2  # even shares from which on an edge is drawn strong
_SHARED = ("question", "typed", "node", "documents")


def explore_attention(retriever: QSGNN, benchmark: Benchmark, questions: Sequence[Question], **start: Any) -> Explorer:
    """Who a node listens to, and how much, at each layer and level; ``start`` are first values of the controls.

    These are ``question`` (an id), ``typed``, ``node``, ``documents`` (passages in the graph around the query) and
    ``alignment``, ``on`` or ``off``: without β and γ, with the same weights. A node is called ``passage ID``,
    ``entity NAME`` or ``sentence NUMBER of ID``; to choose from are the supports, the passages that are ranked first,
    and what these hold. A step shows the senders of one level: the 16 whom the node listens to most in any layer, with
    the query or without it, and the others together. Colour and size compare a sender's attention with an even share,
    1 ÷ senders.
    """
    return _explorer(_Listener(retriever, benchmark, questions), start)


def compare_attention(
    retriever: QSGNN, benchmark: Benchmark, questions: Sequence[Question], **start: Any
) -> AttentionSideBySide:
    """As :func:`explore_attention`, with the query alignment on at the left and off at the right."""
    listener = _Listener(retriever, benchmark, questions)
    left, right = (_explorer(listener, {**start, "alignment": alignment}) for alignment in ("on", "off"))
    return AttentionSideBySide(left, right, _SHARED)


class AttentionSideBySide(SideBySide):
    """Attention with the query alignment on and off, of one node."""

    def story(self, *, text: bool = True, **values: Any) -> Story:
        """Both sides as one story, for print: each step of the left, then of the right, below one another."""
        left, right = self.stories(text=text, **values)
        sides = ((each, side.controls["alignment"].value) for each, side in ((left, self.left), (right, self.right)))
        scenes = (replace(scene, step=f"{scene.step} · {word}") for story, word in sides for scene in story.scenes)
        nodes = tuple({node.id: node for node in (*right.nodes, *left.nodes)}.values())
        return replace(left, nodes=nodes, scenes=tuple(scenes))

    def storyboard(self, title: str, steps: Sequence[int] | None = None, **chosen: Any) -> Figure:
        """The picture as a figure, left above right: of ``steps``, or of the first layer."""
        both = self.story(**chosen)
        count = len(both.scenes) // 2
        if steps is None:
            steps = [i for i, scene in enumerate(both.scenes[:count]) if scene.step.startswith("layer 1 ")]
        if not steps or not all(0 <= step < count for step in steps):
            raise InputError(f"expected steps from 0 to {count - 1}, not {list(steps)}", field="steps")
        return storyboard(both, title, [*steps, *(count + step for step in steps)], across=len(steps))


class _Listener:
    """What explorers of one retriever share: the graphs around the queries that were asked last."""

    def __init__(self, retriever: QSGNN, benchmark: Benchmark, questions: Sequence[Question]) -> None:
        if not questions:
            raise InputError("expected at least one question", field="questions")
        if retriever.without == "query":
            raise InputError("expected a retriever that the query steers", field="retriever")
        self.questions, self.by_id = questions, {question.id: question for question in questions}
        self.most = min(len(benchmark.corpus), _MOST_PASSAGES)
        self.size = min(retriever.documents, self.most)  # 0: all passages, and no slider
        collection = lru_cache(maxsize=8)(lambda question: benchmark.collection(self.by_id[question]))

        @lru_cache(maxsize=8)
        def ready(corpus: Corpus) -> QSGNN:
            placed = copy(retriever)
            placed.index(corpus)
            return placed

        @lru_cache(maxsize=16)
        def heard(corpus: Corpus, text: str, documents: int) -> _Heard:
            return _Heard(ready(corpus), text, documents)

        self._collection: Callable[[str], Corpus] = collection
        self._heard = heard

    def ask(self, question: str, typed: str, documents: int | None = None) -> tuple[_Heard, Question | None]:
        """What is around the query, and the question where it is one of the list."""
        asked, text = self.by_id[question], typed.strip()
        found = self._heard(
            self._collection(question), text or asked.text, self.size if documents is None else documents
        )
        return found, None if text else asked

    def choices(self, question: str, typed: str, documents: int | None = None) -> list[tuple[str, str]]:
        """Labels and names of the nodes to choose from."""
        heard, asked = self.ask(question, typed, documents)
        return heard.choices(asked.supporting_ids if asked else ())

    def tell(self, question: str, typed: str, node: str, alignment: str, documents: int | None = None) -> Story:
        heard, asked = self.ask(question, typed, documents)
        gold = asked.supporting_ids if asked else ()
        if node not in heard.places:  # of another question
            node = heard.choices(gold)[0][1]
        words = f"{asked.text}\nAnswer: {asked.answer}" if asked else typed.strip()
        return _Teller(heard, node, gold, steered=alignment == "on").story(words)


def _explorer(listener: _Listener, start: dict[str, Any]) -> Explorer:
    controls: dict[str, Any] = asking(listener.questions)
    if listener.size:
        controls["documents"] = whole("passages", listener.size, listener.most)
    asked = dict(controls)
    start_with(controls, {name: value for name, value in start.items() if name in asked})

    def choices() -> list[tuple[str, str]]:
        return listener.choices(**{name: control.value for name, control in asked.items()})

    names = choices()
    node = wide("node", names, names[0][1])
    alignment = widgets.Dropdown(
        description="query alignment", options=["on", "off"], style={"description_width": "initial"}
    )
    alignment.layout.width = "210px"
    controls |= {"node": node, "alignment": alignment}

    def choose(change: Any) -> None:
        """Nodes of what is asked now; one that is among them stays, unless the question is another."""
        with suppress(Exception):  # which the explorer meets, too, and shows
            names, before = choices(), node.value
            if names != list(node.options):
                node.options = names  # which takes the first
                if change["owner"] is asked.get("documents") and before in [name for _, name in names]:
                    node.value = before

    for control in asked.values():
        control.observe(choose, "value")  # before the explorer does
    start_with(controls, {name: value for name, value in start.items() if name not in asked})
    return Explorer("Query-steered attention", controls, listener.tell)


class _Senders(NamedTuple):
    """Those who send to a node by edges of a kind: places in their level, and their attention, a row a layer."""

    places: np.ndarray
    on: np.ndarray
    off: np.ndarray


class _Heard:
    """The graph around a query and the attention in it, with the query alignment on and off."""

    def __init__(self, retriever: QSGNN, text: str, documents: int) -> None:
        assert retriever.surroundings is not None
        self.graph = retriever.surroundings.graph
        self.on, self.off = (retriever.attend(text, steered=steered, documents=documents) for steered in (True, False))
        names = ((level, place) for level in "doc" for place in range(len(self.on.nodes[level])))
        #: The level and place of each node, by its name.
        self.places = {self.name(*each): each for each in names}

    def name(self, level: str, place: int) -> str:
        number = int(self.on.nodes[level][place])
        if level == "o":
            return f"entity {self.graph.entities[number]}"
        if level == "d":
            return f"passage {self.graph.corpus.passages[number].id}"
        document, position = self._sentence(number)
        return f"sentence {position + 1} of {self.graph.corpus.passages[document].id}"

    def _sentence(self, number: int) -> tuple[int, int]:
        """The passage of a sentence, and its place there; sentences are numbered from passage to passage."""
        documents = self.graph.edges["cd"][1]
        return int(documents[number]), number - int(np.searchsorted(documents, documents[number]))

    def node(self, level: str, place: int, at: tuple[float, float], gold: Sequence[str]) -> Node:
        name, number = self.name(level, place), int(self.on.nodes[level][place])
        if level == "o":
            return Node(name, self.graph.entities[number], "", *at)
        row, position = (number, 0) if level == "d" else self._sentence(number)
        passage = self.graph.corpus.passages[row]
        part = f"§{passage.position + 1} " if len(self.graph.corpus.documents[passage.document]) > 1 else ""
        if level == "d":
            return Node(name, f"{part}{passage.title}", passage.text, *at, gold=passage.id in gold)
        sentence = self.graph.chunks[number].removeprefix(f"{passage.title}\n")
        return Node(name, f"“{clip(sentence, 80)}”", f"Sentence {position + 1} of {part}{passage.title}", *at)

    def senders(self, kind: str, place: int) -> _Senders:
        sender, receiver = self.on.edges[kind]
        own = receiver == place
        on, off = (np.stack([layer[kind][own] for layer in each.layers]) for each in (self.on, self.off))
        return _Senders(sender[own], on, off)

    def choices(self, gold: Sequence[str]) -> list[tuple[str, str]]:
        """Labels and names of some nodes: supports, passages ranked first, and what the first of these hold."""
        order = np.argsort(-self.on.scores, kind="stable").tolist()
        row = self.graph.corpus.row
        rows = {int(number): place for place, number in enumerate(self.on.nodes["d"])}
        heads = [rows[row[id]] for id in gold if row.get(id) in rows] or order[:_HEADS]
        passages = list(dict.fromkeys([*heads, *order[: len(heads) + _TOP]]))[: len(heads) + _TOP]
        found = [("d", place) for place in passages]
        for level in "oc":
            held = [place for head in heads for place in self.senders(f"{level}d", head).places[:_NEAR].tolist()]
            found += [(level, place) for place in dict.fromkeys(held)]
        nodes = [(level, self.node(level, place, (0.5, 0.5), gold)) for level, place in found]
        return [(f"{'★ ' * node.gold}{_ONE[level]} · {clip(node.title, 80)}", node.id) for level, node in nodes]


class _Teller:
    """Makes the scenes of one node: a layer and kind of edges each."""

    def __init__(self, heard: _Heard, node: str, gold: Sequence[str], steered: bool) -> None:
        self.heard, self.id, self.gold, self.steered = heard, node, gold, steered
        self.level, self.place = heard.places[node]
        network = heard.on.layers[0]  # which may do without messages within a level
        self.kinds = [kind for kind in (*INTRA, *INTER) if kind[1] == self.level and kind in network]
        self.senders = {kind: heard.senders(kind, self.place) for kind in self.kinds}

    def story(self, asked: str) -> Story:
        nodes: dict[str, Node] = {}
        for kind in self.kinds:
            nodes |= {node.id: node for node in self._nodes(kind)}
        nodes[self.id] = self.heard.node(self.level, self.place, (0.5, 0.5), self.gold)
        layers = range(len(self.heard.on.layers))
        scenes = tuple(self._scene(layer, kind) for layer in layers for kind in self.kinds)
        return Story(tuple(nodes.values()), scenes, asked, scale=_EVEN)

    def _drawn(self, kind: str) -> list[int]:
        """The numbers of the senders that are drawn one by one: the same in all layers, with the query or without."""
        _, on, off = self.senders[kind]
        most = np.argsort(-np.maximum(on, off).max(axis=0), kind="stable")[:_MOST]
        return np.sort(most).tolist()

    def _nodes(self, kind: str) -> list[Node]:
        level, (places, *_), drawn = kind[0], self.senders[kind], self._drawn(kind)
        at = flanks("", drawn)
        nodes = [self.heard.node(level, int(places[i]), at[i], self.gold) for i in drawn]
        if rest := len(places) - len(drawn):
            nodes.append(Node(f"rest {kind}", f"{rest:,} more {(_ONE if rest == 1 else _MANY)[level]}", "", 0.5, 1.0))
        return nodes

    def _scene(self, layer: int, kind: str) -> Scene:
        level, passing = kind[0], "within" if kind in INTRA else "between"
        step = f"layer {layer + 1} · {passing}: {level} → {self.level}"
        marks, edges, entries = [Mark(self.id, f"listening {LEVELS[self.level]}", note=self._standing())], [], []
        shares = self._shares(kind)[layer]
        n, drawn = len(shares), self._drawn(kind)
        ranks = self._ranks(kind)
        for i in drawn:
            name = self.heard.name(level, int(self.senders[kind].places[i]))
            note, even = self._note(kind, layer, i), float(shares[i] * n)
            value = round(_EVEN.value(even), 3)
            marks.append(Mark(name, LEVELS[level], value, f"attention {note}", f"{shares[i]:.3f}"))
            edges.append(Edge(name, self.id, ("attention",), note, emphasised=even >= _MORE, directed=True))
        for i in sorted(drawn, key=lambda i: ranks[layer, i]):
            moved = int(ranks[layer - 1, i] - ranks[layer, i]) if layer else 0
            name = self.heard.name(level, int(self.senders[kind].places[i]))
            entries.append(Entry(name, round(float(shares[i]), 6), moved))
        if len(drawn) < n:
            held = f"{1 - shares[drawn].sum():.3f}"
            note = f"{_count(n - len(drawn), level)} that are not drawn: {held} together"
            marks.append(Mark(f"rest {kind}", "rest", None, note, held))
            edges.append(Edge(f"rest {kind}", self.id, ("attention",), note, directed=True))
        columns = (Column(f"{_count(n, level)}, by attention", tuple(entries)),) if n else ()
        return Scene(step, self._caption(kind, layer), tuple(marks), tuple(edges), columns, focus=self.id)

    def _shares(self, kind: str) -> np.ndarray:
        return self.senders[kind].on if self.steered else self.senders[kind].off

    def _ranks(self, kind: str) -> np.ndarray:
        """The place of each sender, most attention first; (layers, senders)."""
        return np.argsort(np.argsort(-self._shares(kind).round(6), axis=1, kind="stable"), axis=1, kind="stable")

    # ---- words

    def _note(self, kind: str, layer: int, i: int) -> str:
        places, on, off = self.senders[kind]
        own, other = (on, off) if self.steered else (off, on)
        share = f"{own[layer, i]:.3f}, {own[layer, i] * len(places):.2f} × an even share"
        return f"{share}; {other[layer, i]:.3f} with the query alignment {'off' if self.steered else 'on'}"

    def _standing(self) -> str:
        """How a passage that listens ends up; for others, how many send to it."""
        if self.level != "d":
            told = [_count(len(senders.places), kind[0]) for kind, senders in self.senders.items()]
            return f"listens to {', '.join(told)}"
        ends = []
        for attention, word in ((self.heard.on, "on"), (self.heard.off, "off")):
            score = attention.scores[self.place]
            place = int((attention.scores > score).sum()) + 1
            ends.append((word, f"score {score:.3f}, place {place:,} of {len(attention.scores):,}"))
        (_, own), (other, there) = ends if self.steered else ends[::-1]
        return f"after the last layer {own}; with the query alignment {other} {there}"

    def _caption(self, kind: str, layer: int) -> str:
        places, on, off = self.senders[kind]
        n, word, shares = len(places), _ONE[kind[0]], self._shares(kind)[layer]
        how = "Steered by the query" if self.steered else "Query alignment off"
        if n == 0:
            return f"{how}: no {word} sends to this {_ONE[self.level]}, so that it hears nothing from this level."
        if n == 1:
            return f"{how}: the one {word} that sends gets all of the attention; there is nothing to steer."
        even = f"{shares.max():.3f}, {shares.max() * n:.2f} × an even share"
        if self.steered:
            moved = abs(on[layer] - off[layer]).sum() / 2
            told = f"of {_count(n, kind[0])} one gets {even}. The query moves {moved:.3f} of the attention to others."
        elif kind in INTER:
            told = f"each of {_count(n, kind[0])} gets the same, {1 / n:.3f}; the message is their mean."
        else:
            told = f"by likeness alone (α), of {_count(n, kind[0])} one gets {even}."
        return f"{how}: {told}"


def _count(n: int, level: str) -> str:
    return f"{n:,} {(_ONE if n == 1 else _MANY)[level]}"
