"""Synthetic questions of two triples, by hand, and what holds of any."""

from __future__ import annotations

from kit.corpus import load
from kit.retrievers.qsgnn_questions import CHAINS, Synthetic, one_hop, two_hop
from kit.text.triples import Extraction, Triple, by_rules

TOLD = [
    Extraction(("A.",), (Triple("Ada Venn", "moved to", "Orm", 0), Triple("Ada Venn", "was born in", "1901", 0))),
    Extraction(("B.",), (Triple("Orm", "is a port of", "Venland", 0), Triple("Orm", "is the home of", "Ada Venn", 0))),
]


def test_one_hop() -> None:
    assert one_hop(TOLD)[:4] == [
        Synthetic("Ada Venn moved to what?", (0,)),
        Synthetic("What moved to Orm?", (0,)),
        Synthetic("Ada Venn was born in what?", (0,)),
        Synthetic("What was born in 1901?", (0,)),
    ]
    assert len(one_hop(TOLD)) == 8


def test_two_hop() -> None:
    found = two_hop(TOLD, seed=0)
    assert Synthetic("the one that Ada Venn moved to is a port of what?", (0, 1)) in found
    assert Synthetic("What moved to the one that is a port of Venland?", (0, 1)) in found
    # Not back to where it came from, and not over a date.
    assert not any("is the home of what" in text and "moved to" in text for text, _ in found)
    assert not any(supports == (0, 1) and "1901" in text for text, supports in found)
    # From Orm by way of Ada Venn: to 1901.
    assert Synthetic("the one that Orm is the home of was born in what?", (1, 0)) in found
    assert len(found) == 4


def test_chains_lead_over_two_passages_and_hubs_are_capped() -> None:
    told = by_rules(load().corpus)
    found = two_hop(told, seed=0)
    triples = sum(len(of.triples) for of in told)
    assert all(first != second for _, (first, second) in found)
    assert triples < len(found) <= 2 * CHAINS * triples
    assert found == two_hop(told, seed=0) and found != two_hop(told, seed=1)
