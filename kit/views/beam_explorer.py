"""MDR's paths, step by step, for a question that the reader chooses or types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import ipywidgets as widgets
import numpy as np

from kit.corpus import Benchmark, Corpus, Question
from kit.errors import InputError
from kit.graphs import PassageGraph, build
from kit.retrievers import MDR
from kit.views.explorer import Explorer
from kit.views.trace_explorer import explore_retrieval, whole

_GRAPH = "entity+structure"


class _Backdrop(PassageGraph):
    """A graph drawn behind paths that may go on to any passage: a passage's neighbours are no candidates."""

    def neighbours(self, rows: int | Sequence[int] | np.ndarray) -> np.ndarray:
        return np.zeros(0, int)


def explore_mdr(
    benchmark: Benchmark,
    questions: Sequence[Question],
    retrievers: Mapping[str, MDR],
    top: int = 10,
    **start: Any,
) -> Explorer:
    """MDR's beam search, path by path (kgp.txt §8.2); ``start`` are first values of the controls.

    ``retrievers`` are those to choose from by name, such as one before training and one after it. Two of them side by
    side: :func:`kit.views.side_by_side` of two explorers. The edges behind the paths are those of shared entities and
    of neighbours in a document, which MDR does not see.
    """
    if not retrievers:
        raise InputError("expected at least one retriever", field="retrievers")
    settings = {
        "encoder": widgets.Dropdown(description="encoder", options=list(retrievers), layout={"width": "230px"}),
        "beam": whole("beam", 5, 15),
        "branches": whole("branches", 3, 5),
        "hops": whole("hops", 2, 4),
    }

    @lru_cache(maxsize=8)
    def graph(corpus: Corpus) -> PassageGraph:
        return _Backdrop(corpus, build(_GRAPH, corpus).relations)

    placed = lru_cache(maxsize=8)(lambda corpus, encoder: retrievers[encoder].variant(corpus=corpus))

    def ready(corpus: Corpus, encoder: str, beam: int, branches: int, hops: int) -> MDR:
        return placed(corpus, encoder).variant(over=graph(corpus), beam=beam, branches=branches, hops=hops)

    name = "MDR, path by path"
    return explore_retrieval(name, benchmark, questions, settings, ready, distances=False, top=top, start=start)
