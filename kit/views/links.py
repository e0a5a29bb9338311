"""Passages and what joins them, as nodes and edges of a story."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from kit.corpus import Passage
from kit.views.story import Edge, Node

if TYPE_CHECKING:
    from kit.graphs import PassageGraph

_MOST_SHARED = 8  # keywords told of an edge


def node_of(passage: Passage, place: tuple[float, float], gold: Collection[str]) -> Node:
    """The passage as a node at its place."""
    return Node(passage.id, passage.title, passage.text, *place, gold=passage.id in gold)


def links(part: PassageGraph, kinds: Collection[str], ends: Collection[int] | None = None) -> tuple[Edge, ...]:
    """The edges of a small graph that are of these kinds, and have one of these rows at an end (None: any)."""
    found: dict[tuple[int, int], dict[str, None]] = {}
    for kind in part.kinds:
        for source, target in part.edges(kind).T.tolist() if kind in kinds else ():
            if ends is None or source in ends or target in ends:
                found.setdefault((min(source, target), max(source, target)), {})[kind] = None
    ids = [passage.id for passage in part.corpus.passages]
    return tuple(
        Edge(ids[source], ids[target], tuple(by), _shared([part.relations[kind].shared(source, target) for kind in by]))
        for (source, target), by in found.items()
    )


def _shared(terms: Sequence[Sequence[str]]) -> str:
    """What the ends of an edge have in common, in words."""
    told = list(dict.fromkeys(str(term) for of_kind in terms for term in of_kind))
    more = f" and {len(told) - _MOST_SHARED} more" if len(told) > _MOST_SHARED else ""
    return f"both have {', '.join(told[:_MOST_SHARED])}{more}" if told else ""
