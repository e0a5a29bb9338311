"""How good a ranking or a set of passages is for one question: all definitions of the kit.

A support is a tuple of carriers, passages that each hold it, and is reached with the first of them
(``Question.supporting``). Repeated ids count once, at their first rank: methods are compared at
equal numbers of distinct passages. Every function raises :class:`InputError` for a question without
supports.
"""

import sys
from collections.abc import Iterable
from functools import cache
from math import inf

import networkx as nx

from kit.corpus import EvidenceGraph, Question
from kit.corpus.types import Strings, Texts
from kit.errors import InputError

PassageIds = Iterable[str]

GRAPH_MEASURES = (
    "gm",
    "gs",
    "ged",
    "ged_labelled",
    "evidence_f1",
    "evidence_precision",
    "evidence_recall",
    "evidence_em",
)
#: Of :mod:`kit.evaluation.answers`.
ANSWER_MEASURES = (
    "em",
    "f1",
    "accuracy",
    "judged",
    "unclear",
    "words",
)
GED_SECONDS = 0.5  # for one graph edit distance; BGR's code gives it 0.8
WHOLE_SET = sys.maxsize  # a cut-off that cuts nothing off
QUESTION = -1  # the question's node in a rooted evidence graph


def described(question: Question) -> dict[str, object]:
    """The columns of a table that say which question a row is about."""
    return {
        "question": question.id,
        "hops": question.hops,
        "type": question.type,
        "structure": question.structure,
    }


def supports(question: Question) -> tuple[Strings, ...]:
    """The question's supports, at least one."""
    if not question.supporting:
        raise InputError(
            "expected at least one supporting passage",
            record=question.id,
            field="supporting",
        )
    return question.supporting


# ---- of rankings


def support_ranks(question: Question, ids: PassageIds) -> list[float]:
    """The rank, from 1, of each support of the question; infinity where it was not retrieved."""
    ranks = {passage: rank for rank, passage in enumerate(dict.fromkeys(ids), start=1)}
    return [min(ranks.get(carrier, inf) for carrier in carriers) for carriers in supports(question)]


def recall_at(question: Question, ids: PassageIds, k: float) -> float:
    """Recall@k: the share of the question's supports in the first k passages (QSGNN §4.1).

    Below 1 by construction where the question has more than k supports, see ``recall_ceiling``.
    """
    ranks = support_ranks(question, ids)
    return sum(rank <= k for rank in ranks) / len(ranks)


def recall_ceiling(question: Question, k: int) -> float:
    """The best Recall@k that a ranking can reach if no passage carries two supports.

    That is min(1, k / supports).
    """
    return min(1.0, k / len(supports(question)))


def full_at(question: Question, ids: PassageIds, k: float) -> float:
    """Full@k: 1 if all supports are in the first k passages, else 0.

    It is called EM of passages in GNN-Ret §D. 0 by construction where the question has more
    than k supports: a mean over such questions needs a caption.
    """
    return float(max(support_ranks(question, ids)) <= k)


def reciprocal_rank(question: Question, ids: PassageIds) -> float:
    """One over the rank of the first passage that carries a support; 0 if none does."""
    return 1 / min(support_ranks(question, ids))


# ---- of sets


def sf_em(question: Question, ids: PassageIds) -> float:
    """SF-EM of a set of passages: 1 if every supporting fact is in the set, else 0.

    KGP §3, Figure 5. The paper introduces it as a share of supporting facts, our ``covered``,
    then speaks of questions fully covered.
    """
    return full_at(question, ids, WHOLE_SET)


def covered(question: Question, ids: PassageIds) -> float:
    """The share of the question's supports in a set of passages.

    The other reading of SF-EM (KGP §3).
    """
    return recall_at(question, ids, WHOLE_SET)


def precision(question: Question, ids: PassageIds) -> float:
    """The share of the passages of a set that carry a support (KGP §3, Figure 5).

    0 for an empty set.
    """
    carriers = _carriers(question)
    distinct = set(ids)
    if not distinct:
        return 0.0
    return len(distinct & carriers) / len(distinct)


def struct_em(question: Question, ids: PassageIds) -> float:
    """Struct-EM of a question about pages or tables.

    1 if exactly the structures that it names were fetched, else 0. The paper reports it (KGP
    Table 1, "Struct-EM") and defines it nowhere; this is our reading (kgp-i34). What is fetched of
    a structure is its content, so the passages must be those of the named structures, which are the
    supports of such a question: none missing, none besides. The order does not count.
    """
    return float(_carriers(question) == set(ids))


def _carriers(question: Question) -> set[str]:
    """The passages that carry a support."""
    return set().union(*supports(question))


# ---- of evidence graphs


def graph_measures(
    question: Question,
    ids: Texts,
    evidence: EvidenceGraph,
) -> dict[str, float]:
    """How well a retrieved evidence graph agrees with the question's (BGR §6.3, A.7).

    Its node i is passage ``ids[i]``. Of the evidence as a set:

    - ``evidence_precision``, ``evidence_recall``, ``evidence_f1``;
    - ``evidence_em``: whether it is exactly the supports.

    Of the graph, the question a node that leads to the sources (bgr-i10):

    - ``gm``: whether nodes and edges are the same;
    - ``gs``: whether they are but for which node is which, as directed graphs;
    - ``ged``: the fewest nodes and edges to add, take away or replace where nodes bear no names,
      the best of what is tried within ``GED_SECONDS`` (bgr-i21);
    - ``ged_labelled``: nodes and edges to add and to take away where nodes bear names.

    Without evidence all shares are 0. Raises :class:`InputError` for a question without such a
    graph.
    """
    gold = question.evidence
    if gold is None:
        raise InputError(
            "expected a question with an evidence graph",
            record=question.id,
            field="evidence",
        )

    names = _names_of_nodes(question, ids[: evidence.n_nodes])
    named = set(names.values())
    n_right = len(named.intersection(range(gold.n_nodes)))
    precision = n_right / max(1, evidence.n_nodes)
    recall = n_right / gold.n_nodes
    f1 = 0.0
    if n_right:
        f1 = 2 * precision * recall / (precision + recall)

    edges = {(names[start], names[end]) for start, end in evidence.rooted.edges}
    different_nodes = named ^ {QUESTION, *range(gold.n_nodes)}
    n_different = len(different_nodes) + len(edges.symmetric_difference(gold.rooted.edges))
    return {
        "gm": float(n_different == 0),
        "gs": float(nx.is_isomorphic(evidence.rooted, gold.rooted)),
        "ged": _edit_distance(evidence, gold),
        "ged_labelled": float(n_different),
        "evidence_f1": f1,
        "evidence_precision": precision,
        "evidence_recall": recall,
        "evidence_em": float(not different_nodes),
    }


def _names_of_nodes(question: Question, ids: Texts) -> dict[int, object]:
    """Each node of a graph over ``ids`` by the index of the support that it carries.

    A node without one has its passage's id, and so has a second carrier of a support, which is one
    too many.
    """
    support_of = {}
    for support, carriers in enumerate(supports(question)):
        for carrier in carriers:
            support_of.setdefault(carrier, support)

    names = {QUESTION: QUESTION}
    for node, passage in enumerate(ids):
        name = support_of.get(passage, passage)
        names[node] = passage if name in names.values() else name
    return names


@cache
def _edit_distance(evidence: EvidenceGraph, gold: EvidenceGraph) -> float:
    return nx.graph_edit_distance(
        evidence.rooted,
        gold.rooted,
        roots=(QUESTION, QUESTION),
        timeout=GED_SECONDS,
    )
