"""What is measured for claims of QSGNN, by hand."""

import numpy as np
import pytest

from kit.corpus import example
from kit.lab.claims.qsgnn import on_supports, qsgnn_18
from kit.methods import make

HAND = example()


def test_attention_beyond_an_even_share_of_entities_that_hear_both() -> None:
    """Entity 0 hears a support and another, by .8 and .2: .3 beyond ½; in a second layer by .5.

    Entity 1 hears a support alone: it can't but listen.
    """
    is_support = np.array([True, False])
    sender = np.array([0, 1, 0])
    entity = np.array([0, 0, 1])
    layers = [np.array([0.8, 0.2, 1.0]), np.array([0.5, 0.5, 1.0])]
    assert on_supports(layers, is_support, sender, entity) == pytest.approx(0.15)
    assert np.isnan(on_supports(layers, is_support, sender[2:], entity[2:] - 1))


def test_qsgnn_18_steers_one_network_by_two_questions_on_one_graph() -> None:
    network = make("qsgnn", documents=0, dimension=16, start="untrained")
    network.index(HAND.corpus)
    town, river = HAND.test
    heard = qsgnn_18(network, network, town, river)
    assert heard["trained"] == heard["untrained"] != heard["another question"]
    assert heard["trained"] == qsgnn_18(network, network, town, town)["another question"]
