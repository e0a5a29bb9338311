"""QSGNN's attention as frames: who a node of the graph around a query listens to (qsgnn.txt §3.2, Eqs. 2 and 3).

Sentences are the paper's chunks, passages its documents; o, c and d are its letters for the three levels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import pi, sin
from typing import Any

import numpy as np
from msgspec.structs import replace

from kit.corpus import Benchmark, Question
from kit.errors import InputError
from kit.graphs.multilevel import LEVELS, MultiLevelGraph
from kit.retrievers.qsgnn import QSGNN, Attention
from kit.retrievers.qsgnn_network import INTER, INTRA
from kit.views.explorer import Explorer, asked_of, asking_controls, setting_control
from kit.views.frames import count
from kit.views.replay import Column, Edge, Frame, Node, NodeState, Place, RankItem, Replay, Scale, clip, passage_node

_MOST = 16  # senders that are drawn one by one
_LISTENERS = {"passage": "d", "entity": "o", "sentence": "c"}
_EVEN = Scale("× even share", far=0.0, near=2.0)
_MORE = 1.2  # even shares from which on an edge is drawn strong


def explore_attention(retriever: QSGNN, benchmark: Benchmark, questions: Sequence[Question], **start: Any) -> Explorer:
    """Who a node listens to, and how much, at each layer and level; ``start`` are first values of the controls.

    These are ``question`` (an id), ``typed``, ``listener`` (passage, entity or sentence), ``number`` (which of them: of
    the supports and then the passages ranked first, or of what these hold) and ``alignment``, ``on`` or ``off``:
    without β and γ, same weights. Colour and size compare a sender's attention with an even share, 1 ÷ senders.
    """
    if retriever.settings.ablate == "query":
        raise InputError("expected a retriever that the query steers", field="retriever")
    find = asked_of(benchmark, questions)
    ready = lru_cache(maxsize=8)(lambda corpus: retriever.variant(corpus=corpus))
    attend = lru_cache(maxsize=32)(lambda corpus, text, on: ready(corpus).attend(text, query_aware=on))

    def tell(question: str, typed: str, listener: str, number: int, alignment: str) -> Replay:
        asked, corpus = find(question, typed)
        on, off = (attend(corpus, asked.text, aware) for aware in (True, False))
        heard = _Heard(ready(corpus).graph, on, off, asked, alignment == "on")
        return heard.replay(_LISTENERS[listener], number)

    controls = asking_controls(questions)
    controls["listener"] = setting_control("who listens", "passage", [*_LISTENERS])
    controls["number"] = setting_control("number", 1, 8)
    controls["alignment"] = setting_control("query alignment", "on", ("on", "off"))
    return Explorer("Query-steered attention", controls, tell, start)


@dataclass
class _Heard:
    """The graph around a query and the attention in it, with the query alignment on and off: ``steered`` is shown."""

    graph: MultiLevelGraph
    on: Attention
    off: Attention
    asked: Question
    steered: bool

    def node(self, level: str, place: int, at: Place = (0.5, 0.5)) -> Node:
        number, corpus, gold = int(self.on.nodes[level][place]), self.graph.corpus, self.asked.supporting_ids
        if level == "o":
            return Node(f"entity {number}", self.graph.entities[number], "", *at)
        row = number if level == "d" else int(self.graph.data["cd"].edge_index[1][number])  # a sentence's passage
        passage = corpus.passages[row]
        if level == "d":
            return replace(passage_node(corpus, passage.id, {passage.id: at}, gold), id=f"passage {passage.id}")
        sentence = self.graph.chunks[number].removeprefix(f"{passage.title}\n")
        return Node(f"sentence {number}", f"“{clip(sentence, 80)}”", f"In {passage.title}", *at)

    def replay(self, level: str, number: int) -> Replay:
        """A frame a layer and kind of edges: the senders of a node at its sides, the same in all layers."""
        ids = [self.graph.corpus.passages[row].id for row in self.on.nodes["d"]]
        ranked = np.argsort(-self.on.scores, kind="stable").tolist()
        places = [*dict.fromkeys([*(ids.index(id) for id in self.asked.supporting_ids if id in ids), *ranked])]
        if level != "d":  # what these passages hold
            sender, receiver = self.on.edges[f"{level}d"]
            places = [*dict.fromkeys(it for place in places for it in sender[receiver == place].tolist())]
        place = places[min(number, len(places)) - 1]
        own = self.node(level, place)
        nodes = {own.id: own}
        kinds = [kind for kind in (*INTRA, *INTER) if kind[1] == level and kind in self.on.layers[0]]
        frames = [self._frame(nodes, own, place, *at) for at in product(range(len(self.on.layers)), kinds)]
        return Replay.of(frames, self.graph.corpus, self.asked, {}, nodes=nodes.values(), scale=_EVEN)

    def _frame(self, nodes: dict[str, Node], own: Node, place: int, layer: int, kind: str) -> Frame:
        """The 16 whom the node listens to most, and the others together; what is drawn is added to ``nodes``."""
        sender, receiver = self.on.edges[kind]
        here = np.flatnonzero(receiver == place)
        on, off = (np.stack([it[kind][here] for it in each.layers]) for each in (self.on, self.off))
        shares, others = (on[layer], off[layer]) if self.steered else (off[layer], on[layer])
        drawn = np.sort(np.argsort(-np.maximum(on, off).max(axis=0), kind="stable")[:_MOST]).tolist()
        states, edges, items = [NodeState(own.id, "listening")], [], []
        for number, i in enumerate(drawn):
            node, share = self.node(kind[0], int(sender[here[i]]), _flank(number, len(drawn))), float(shares[i])
            even, word = share * len(here), "without" if self.steered else "with"
            told = f"{even:.2f} × an even share; {others[i]:.3f} {word} query alignment"
            nodes.setdefault(node.id, node)
            states.append(NodeState(node.id, LEVELS[kind[0]], _EVEN.value(even), told, f"{share:.3f}"))
            edges.append(Edge(node.id, own.id, ("attention",), told, emphasised=even >= _MORE, directed=True))
            items.append(RankItem(node.id, round(share, 6)))
        if rest := len(here) - len(drawn):
            id = f"rest {kind}"
            nodes[id] = Node(id, f"{rest:,} more", "", 0.5, 1.0)
            states.append(NodeState(id, "rest", tag=f"{1 - shares[drawn].sum():.3f}"))
            edges.append(Edge(id, own.id, ("attention",), directed=True))
        senders = count(len(here), "sender")
        caption = f"{'Steered by the query' if self.steered else 'Query alignment off'}: {senders}."
        if self.steered and len(here) > 1:
            caption += f" The query moves {abs(shares - others).sum() / 2:.3f} of the attention to others."
        step = f"layer {layer + 1} · {'within' if kind in INTRA else 'between'}: {kind[0]} → {kind[1]}"
        column = Column(f"{senders}, by attention", tuple(sorted(items, key=lambda item: -item.score)))
        return Frame(step, caption, tuple(states), tuple(edges), (column,) * bool(items), focus=own.id)


def _flank(i: int, n: int) -> Place:
    """The i-th of n places at the sides of what stands in the middle: the first half left, downwards, then right."""
    left = (n + 1) // 2
    side, y = (-1, (i + 0.5) / left) if i < left else (1, (i - left + 0.5) / (n - left))
    return round(0.5 + side * (0.22 + 0.09 * sin(pi * y)), 4), round(y, 4)
