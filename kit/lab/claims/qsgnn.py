"""What is measured for claims of QSGNN where it is more than one difference."""

from collections.abc import Sequence

import numpy as np
import torch

from kit.corpus import Question
from kit.methods.qsgnn.network import LEVELS
from kit.methods.qsgnn.retriever import QSGNN


@torch.no_grad()
def qsgnn_18(
    network: QSGNN,
    untrained: QSGNN,
    question: Question,
    other: Question,
) -> dict[str, float]:
    """The cause is noise: attention that the query steers passes less on from irrelevant ones.

    What entities that stand in a support and elsewhere, too, hear from supports beyond an even
    share, the mean over layers. Before training attention is dense retrieval already, so that is
    compared ``trained`` with ``untrained``; and with that of ``another question``, whose vector
    steers the same network on the same graph. nan where there are no such entities.
    """
    graph, vector = network.around(question.query)
    _, another = network.around(other.query)
    _, begun = untrained.around(question.query)
    heard = {}
    for name, listener, steering in (
        ("trained", network, vector),
        ("untrained", untrained, begun),
        ("another question", network, another),
    ):
        _, _, layers = listener.network(graph, steering, LEVELS)
        attention = [layer["do"].cpu().numpy() for layer in layers]
        rows = [network.corpus.row[passage] for passage in question.supporting_ids]
        is_support = np.isin(graph["d"].n_id.cpu().numpy(), rows)
        edges = graph["d", "o"].edge_index.cpu().numpy()
        heard[name] = on_supports(attention, is_support, *edges)
    return heard


def on_supports(
    layers: Sequence[np.ndarray],
    is_support: np.ndarray,
    sender: np.ndarray,
    entity: np.ndarray,
) -> float:
    """The attention (edges,) on supporting documents beyond an even share, mean over layers.

    An edge leads from a document ``sender`` to an ``entity``. Only entities count that hear from a
    support and from another document, too; nan where there are none.
    """
    from_support = is_support[sender]
    n_supports = np.bincount(entity, from_support)
    n_documents = np.bincount(entity)
    mixed = (n_supports > 0) & (n_supports < n_documents)
    if not mixed.any():
        return np.nan
    even = n_supports[mixed] / n_documents[mixed]
    beyond = [(np.bincount(entity, layer * from_support)[mixed] - even).mean() for layer in layers]
    return float(np.mean(beyond))
