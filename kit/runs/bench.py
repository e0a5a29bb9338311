"""How fast the graph builders are, and what memory they take."""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise

from kit.corpus import generated
from kit.evaluation.graph_quality import describe_graph
from kit.graphs import BUILDERS, build
from kit.text import Encoder

_COLUMNS = "{:10} {:>9} {:>11} {:>9} {:>11} {:>12} {:>12} {:>9}"


def bench_graphs(builders: Sequence[str], sizes: Sequence[int]) -> Iterator[str]:
    """Lines of a table: each builder at its defaults on atlas passages, each in a process of its own.

    Encoding is told apart from building, since its vectors are stored. Statistics are degrees, density and components.
    Memory is the peak of the process, the passages included.
    """
    yield _COLUMNS.format(
        "builder", "passages", "encoding, s", "build, s", "statistics,s", "passages/s", "mean degree", "peak MiB"
    )
    spawn = multiprocessing.get_context("spawn")
    for size in sizes:
        for builder in builders:
            with spawn.Pool(1) as pool:
                yield pool.apply(_measure, (builder, size))


def _measure(builder: str, size: int) -> str:
    corpus = generated("atlas", size=size).corpus
    times = [time.perf_counter()]
    if "encoder" in BUILDERS[builder].__struct_fields__:
        Encoder().encode([passage.full_text for passage in corpus.passages])
    times.append(time.perf_counter())
    graph = build(builder, corpus)
    times.append(time.perf_counter())
    statistics = describe_graph(graph)
    times.append(time.perf_counter())
    encoding, building, counting = (later - earlier for earlier, later in pairwise(times))
    return _COLUMNS.format(
        builder,
        f"{len(corpus):,}",
        f"{encoding:.1f}",
        f"{building:.2f}",
        f"{counting:.2f}",
        f"{len(corpus) / (building + counting):,.0f}",
        f"{statistics['mean_degree']:.1f}",
        f"{peak_memory():,.0f}",
    )


def peak_memory() -> float:
    """The most memory that this process has held, in MiB."""
    # Kilobytes on Linux, bytes on macOS.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << (20 if sys.platform == "darwin" else 10))
