"""QSGNN's attention as frames: who a node of the graph around a query listens to (qsgnn.txt §3.2, Eqs. 2 and 3).

Sentences are the paper's chunks, passages its documents; o, c and d are its letters for the three levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import pi, sin
from typing import Any

import numpy as np

from kit.corpus import Benchmark, Question
from kit.errors import InputError
from kit.graphs.multilevel import LEVELS
from kit.retrievers import QSGNN
from kit.retrievers.qsgnn_network import INTER, INTRA
from kit.views.explorer import Explorer, asking_controls, setting_control
from kit.views.layout import Place, passage_node
from kit.views.replay import Column, Edge, Frame, Node, NodeState, RankItem, Replay, Scale, clip

_MOST = 16  # senders that are drawn one by one
_MOST_PASSAGES = 200  # around a query, on the slider
_WORDS = {"o": ("entity", "entities"), "c": ("sentence", "sentences"), "d": ("passage", "passages")}
_EVEN = Scale("× even share", far=0.0, near=2.0, ends=("less", "more"))
_MORE = 1.2  # even shares from which on an edge is drawn strong


def explore_attention(retriever: QSGNN, benchmark: Benchmark, questions: Sequence[Question], **start: Any) -> Explorer:
    """Who a node listens to, and how much, at each layer and level; ``start`` are first values of the controls.

    These are ``question`` (an id), ``typed``, ``listener`` (passage, entity or sentence), ``number`` (which of them: of
    the supports and then the passages ranked first, or of what the first of these holds), ``documents`` (passages in
    the graph around the query) and ``alignment``, ``on`` or ``off``: without β and γ, with the same weights. A step
    shows the senders of one level: the 16 whom the node listens to most, and the others together. Colour and size
    compare a sender's attention with an even share, 1 ÷ senders.
    """
    if not questions:
        raise InputError("expected at least one question", field="questions")
    if retriever.settings.ablate == "query":
        raise InputError("expected a retriever that the query steers", field="retriever")
    by_id = {question.id: question for question in questions}
    ready = lru_cache(maxsize=8)(lambda corpus: retriever.variant(corpus=corpus))
    heard = lru_cache(maxsize=16)(lambda corpus, text, documents: Heard(ready(corpus), text, documents))

    def tell(question: str, typed: str, listener: str, number: int, alignment: str, documents: int = 0) -> Replay:
        asked, text = by_id[question], typed.strip()
        found = heard(benchmark.collection(asked), text or asked.text, documents)
        told = text or f"{asked.text}\nAnswer: {asked.answer}"
        return found.replay(listener, number, () if text else asked.supporting_ids, told, query_aware=alignment == "on")

    controls = asking_controls(questions)
    controls["listener"] = setting_control("who listens", "passage", [word for word, _ in _WORDS.values()])
    controls["number"] = setting_control("number", 1, 8)
    if retriever.settings.documents:  # 0: all passages, and no slider
        most = min(len(benchmark.corpus), _MOST_PASSAGES)
        controls["documents"] = setting_control("passages", min(retriever.settings.documents, most), most)
    asking = tuple(controls)
    controls["alignment"] = setting_control("query alignment", "on", ("on", "off"))
    return Explorer("Query-steered attention", controls, tell, asking=asking, start=start)


class Heard:
    """The graph around a query and the attention in it, with the query alignment on and off."""

    def __init__(self, retriever: QSGNN, text: str, documents: int) -> None:
        self.graph = retriever.graph
        self.on, self.off = (retriever.attend(text, query_aware=aware, documents=documents) for aware in (True, False))

    def node(self, level: str, place: int, gold: Sequence[str], at: Place = (0.5, 0.5)) -> Node:
        number, corpus = int(self.on.nodes[level][place]), self.graph.corpus
        if level == "o":
            return Node(f"entity {self.graph.entities[number]}", self.graph.entities[number], "", *at)
        row = number if level == "d" else int(self.graph.data["cd"].edge_index[1][number])  # a sentence's passage
        passage = passage_node(corpus, corpus.passages[row].id, {}, gold)
        if level == "d":
            return Node(f"passage {passage.id}", passage.title, passage.text, *at, gold=passage.gold)
        sentence = self.graph.chunks[number].removeprefix(f"{corpus.passages[row].title}\n")
        return Node(f"sentence {number}", f"“{clip(sentence, 80)}”", f"In {passage.title}", *at)

    def senders(self, kind: str, place: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Those who send to a node: places in their level, and their attention (layers, senders), on and off."""
        sender, receiver = self.on.edges[kind]
        own = receiver == place
        on, off = (np.stack([layer[kind][own] for layer in each.layers]) for each in (self.on, self.off))
        return sender[own], on, off

    def listener(self, word: str, number: int, gold: Sequence[str]) -> tuple[str, int]:
        """The level and place of a node: of the supports and the passages ranked first, or of what these hold."""
        ranked = np.argsort(-self.on.scores, kind="stable").tolist()
        ids = [self.graph.corpus.passages[row].id for row in self.on.nodes["d"]]
        found = list(dict.fromkeys([*(ids.index(id) for id in gold if id in ids), *ranked]))
        level = next(level for level, (one, _) in _WORDS.items() if one == word)
        if level != "d":
            found = list(
                dict.fromkeys(each for place in found for each in self.senders(f"{level}d", place)[0].tolist())
            )
        return level, found[min(number, len(found)) - 1]

    def replay(self, word: str, number: int, gold: Sequence[str], asked: str, *, query_aware: bool) -> Replay:
        """A frame a layer and kind of edges: the senders of a node at its sides, the same in all layers."""
        level, place = self.listener(word, number, gold)
        own = self.node(level, place, gold)
        nodes, frames = {own.id: own}, []
        for layer in range(len(self.on.layers)):
            for kind in (kind for kind in (*INTRA, *INTER) if kind[1] == level and kind in self.on.layers[0]):
                shown, frame = self._frame(own, place, kind, layer, gold, query_aware)
                nodes |= {node.id: node for node in shown if node.id != own.id}
                frames.append(frame)
        return Replay(tuple(nodes.values()), tuple(frames), asked, scale=_EVEN)

    def _frame(
        self, listener: Node, place: int, kind: str, layer: int, gold: Sequence[str], query_aware: bool
    ) -> tuple[list[Node], Frame]:
        sender, (places, on, off) = kind[0], self.senders(kind, place)
        own, other, word = (on[layer], off[layer], "off") if query_aware else (off[layer], on[layer], "on")
        drawn = np.sort(np.argsort(-np.maximum(on, off).max(axis=0), kind="stable")[:_MOST]).tolist()
        at, n = flanks(drawn), len(places)
        nodes = [self.node(sender, int(places[i]), gold, at[i]) for i in drawn]
        states, edges = [NodeState(listener.id, "listening")], []
        for i, node in zip(drawn, nodes):
            even = float(own[i] * n)
            told = f"{own[i]:.3f}, {even:.2f} × an even share; {other[i]:.3f} with the query alignment {word}"
            state = NodeState(node.id, LEVELS[sender], _EVEN.value(even), f"attention {told}", f"{own[i]:.3f}")
            states.append(state)
            edges.append(Edge(node.id, listener.id, ("attention",), told, emphasised=even >= _MORE, directed=True))
        ranked = sorted(zip(own[drawn].round(6).tolist(), nodes), key=lambda it: -it[0])
        if rest := n - len(drawn):
            held = f"{1 - own[drawn].sum():.3f}"
            nodes.append(Node(f"rest {kind}", f"{rest:,} more {_WORDS[sender][rest > 1]}", "", 0.5, 1.0))
            states.append(NodeState(f"rest {kind}", "rest", note=f"attention {held} together", tag=held))
            edges.append(Edge(f"rest {kind}", listener.id, ("attention",), f"{held} together", directed=True))
        count = f"{n:,} {_WORDS[sender][n != 1]}"
        column = Column(f"{count}, by attention", tuple(RankItem(node.id, share) for share, node in ranked))
        caption = f"{'Steered by the query' if query_aware else 'Query alignment off'}: {count} to listen to."
        if n > 1 and query_aware:
            caption += f" The query moves {abs(own - other).sum() / 2:.3f} of the attention to others."
        step = f"layer {layer + 1} · {'within' if kind in INTRA else 'between'}: {sender} → {kind[1]}"
        return nodes, Frame(step, caption, tuple(states), tuple(edges), (column,) * bool(n), focus=listener.id)


def flanks(around: Sequence[int]) -> dict[int, Place]:
    """Places at the sides of what stands in the middle: the first half left, downwards, the others right."""
    places, half = {}, (len(around) + 1) // 2
    for side, column in ((-1, around[:half]), (1, around[half:])):
        for i, node in enumerate(column):
            y = (i + 0.5) / len(column)
            places[node] = (round(0.5 + side * (0.22 + 0.09 * sin(pi * y)), 4), round(y, 4))
    return places
