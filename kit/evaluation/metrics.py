"""How good a ranking or a set of passages is for one question. All definitions of the kit stand here.

A support is a tuple of carriers, passages that each hold it, and is found with the first of them
(``Question.supporting``). Repeated ids count once, at their first place: methods are compared at equal numbers of
distinct passages. Every function raises InputError for a question without supports.
"""

import math
from collections.abc import Iterable, Sequence
from functools import cache

import networkx as nx

from kit.corpus import EvidenceGraph, Question
from kit.errors import InputError

GRAPH_MEASURES = ("gm", "gs", "ged", "ged_labelled")
GRAPH_MEASURES += ("evidence_f1", "evidence_precision", "evidence_recall", "evidence_em")
ANSWER_MEASURES = (
    "em",
    "f1",
    "accuracy",
    "judged",
    "unclear",
    "words",
)  # of kit.evaluation.answers
GED_SECONDS = 0.5  # for one graph edit distance; bgr.txt's code gives it 0.8


def supports(question: Question) -> tuple[tuple[str, ...], ...]:
    """The question's supports, at least one."""
    if not question.supporting:
        raise InputError(
            "expected at least one supporting passage", record=question.id, field="supporting"
        )
    return question.supporting


def support_ranks(question: Question, ids: Iterable[str]) -> list[float]:
    """The rank, from 1, at which each support of the question is found; infinity where it is not."""
    rank = {id: place for place, id in enumerate(dict.fromkeys(ids), start=1)}
    return [
        min(rank.get(carrier, math.inf) for carrier in carriers) for carriers in supports(question)
    ]


def recall_at(question: Question, ids: Iterable[str], k: float) -> float:
    """Recall@k: the share of the question's supports in the first k passages (qsgnn.txt §4.1).

    Below 1 by construction where the question has more than k supports, see ``recall_ceiling``.
    """
    ranks = support_ranks(question, ids)
    return sum(rank <= k for rank in ranks) / len(ranks)


def full_at(question: Question, ids: Iterable[str], k: float) -> float:
    """Full@k: 1 if all supports are in the first k passages, else 0 (gnn-ret.txt §D, there called EM of passages).

    0 by construction where the question has more than k supports: a mean over such questions needs a caption.
    """
    return float(max(support_ranks(question, ids)) <= k)


def reciprocal_rank(question: Question, ids: Iterable[str]) -> float:
    """One over the rank of the first passage that carries a support; 0 if none does."""
    return 1 / min(support_ranks(question, ids))


def sf_em(question: Question, ids: Iterable[str]) -> float:
    """SF-EM of a set of passages: 1 if every supporting fact is in the set, else 0 (kgp.txt §3, Figure 5).

    The paper introduces it as a share of supporting facts, our ``covered``, then speaks of questions fully covered.
    """
    return float(max(support_ranks(question, ids)) < math.inf)


def covered(question: Question, ids: Iterable[str]) -> float:
    """The share of the question's supports in a set of passages: the other reading of SF-EM (kgp.txt §3)."""
    return sum(rank < math.inf for rank in support_ranks(question, ids)) / question.hops


def precision(question: Question, ids: Iterable[str]) -> float:
    """The share of the passages of a set that carry a support; 0 for an empty set (kgp.txt §3, Figure 5)."""
    carriers = {carrier for support in supports(question) for carrier in support}
    found = set(ids)
    return len(found & carriers) / len(found) if found else 0.0


def struct_em(question: Question, ids: Iterable[str]) -> float:
    """Struct-EM of a question about pages or tables: 1 if exactly the asked structures were fetched, else 0.

    The paper reports it (kgp.txt Table 1, "Struct-EM") and defines it nowhere; this is our reading (kgp-i34). What is
    fetched of a structure is its content, so the passages must be those of the asked structures, which are the
    supports of such a question: none missing, none besides. The order does not count.
    """
    return float({carrier for support in supports(question) for carrier in support} == set(ids))


def recall_ceiling(question: Question, k: int) -> float:
    """The best Recall@k that a ranking can reach if no passage carries two supports: min(1, k / supports)."""
    return min(1.0, k / len(supports(question)))


def graph_measures(
    question: Question, ids: Sequence[str], evidence: EvidenceGraph
) -> dict[str, float]:
    """How well a retrieved evidence graph agrees with the question's (bgr.txt §6.3, A.7); its nodes are places in ids.

    Of the evidence as a set: precision, recall, F1, and whether it is exactly the supports (``evidence_em``). Of the
    graph, the question a node that leads to the sources (bgr-i10): ``gm``, whether nodes and edges are the same;
    ``gs``, whether they are but for which node is which, as directed graphs; ``ged``, the fewest nodes and edges to
    add, take away or replace where nodes bear no names, the best that is found within ``GED_SECONDS`` (bgr-i21); and
    ``ged_labelled``, nodes and edges to add and to take away where they do. Without evidence all shares are 0.
    """
    gold, found = question.evidence, evidence
    if gold is None:
        raise InputError(
            "expected a question with an evidence graph", record=question.id, field="evidence"
        )
    of = {
        carrier: place
        for place, carriers in reversed(list(enumerate(supports(question))))
        for carrier in carriers
    }
    names: dict[int, object] = {-1: -1}
    for node in range(found.n_nodes):  # a second carrier of a support is one too many
        place = of.get(ids[node], ids[node])
        names[node] = ids[node] if place in names.values() else place
    right = len(set(names.values()) & set(range(gold.n_nodes)))
    precision, recall = right / max(1, found.n_nodes), right / gold.n_nodes
    edges = {(names[i], names[j]) for i, j in found.rooted.edges}
    nodes_differ = set(names.values()) ^ {-1, *range(gold.n_nodes)}
    edges_differ = edges ^ set(gold.rooted.edges)
    return {
        "gm": float(not nodes_differ and not edges_differ),
        "gs": float(nx.is_isomorphic(found.rooted, gold.rooted)),
        "ged": _edit_distance(found, gold),
        "ged_labelled": float(len(nodes_differ) + len(edges_differ)),
        "evidence_f1": 2 * precision * recall / (precision + recall) if right else 0.0,
        "evidence_precision": precision,
        "evidence_recall": recall,
        "evidence_em": float(not nodes_differ),
    }


@cache
def _edit_distance(found: EvidenceGraph, gold: EvidenceGraph) -> float:
    return nx.graph_edit_distance(found.rooted, gold.rooted, roots=(-1, -1), timeout=GED_SECONDS)
