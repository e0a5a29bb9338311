"""What a benchmark's gold evidence graphs are like: the counts of BGR, Table 2."""

from collections import Counter, defaultdict
from collections.abc import Iterable

import networkx as nx
import pandas as pd

from kit.corpus import Benchmark, EvidenceGraph

#: Structures of BGR §4.5 as its Table 2 calls them: single or multi chain, single or multi hop.
STRUCTURES = {
    "single-chain single-hop": "SC, SH",
    "single-chain multi-hop": "SC, MH",
    "multi-chain single-hop": "MC, SH",
    "multi-chain multi-hop": "MC, MH",
}


def evidence_table(benchmark: Benchmark) -> pd.DataFrame:
    """A row per split and one of all: questions by their graphs' structure (BGR, Table 2).

    Then how many questions have a graph, their mean numbers of nodes and edges, and the number of
    shapes: graphs that differ by more than the names of their nodes. Edges from the question to
    the sources count (bgr-i10).
    """
    splits = dict(benchmark.splits)
    splits["all"] = [question for split in splits.values() for question in split]
    rows = {}
    for split, questions in splits.items():
        graphs = [question.evidence for question in questions if question.evidence]
        structures = Counter(STRUCTURES[graph.structure] for graph in graphs)
        row = {name: structures[name] for name in STRUCTURES.values()}
        row["questions"] = len(graphs)
        row["nodes"] = _mean(graph.n_nodes for graph in graphs)
        row["edges"] = _mean(graph.rooted.number_of_edges() for graph in graphs)
        row["shapes"] = count_shapes(graphs)
        rows[split] = row
    return pd.DataFrame.from_dict(rows, orient="index")


def count_shapes(graphs: Iterable[EvidenceGraph]) -> int:
    """The number of graphs no two of which are isomorphic."""
    alike = defaultdict(list)  # one graph of each shape, by their degrees
    for graph in set(graphs):
        rooted = graph.rooted
        degrees = sorted((rooted.in_degree(node), rooted.out_degree(node)) for node in rooted)
        others = alike[tuple(degrees)]
        if not any(nx.is_isomorphic(rooted, other) for other in others):
            others.append(rooted)
    return sum(map(len, alike.values()))


def _mean(values: Iterable[int]) -> float:
    return float(pd.Series(list(values), dtype=float).mean())
