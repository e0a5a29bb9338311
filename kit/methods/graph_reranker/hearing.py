"""What documents heard of each other in a round, read off the maxima of the messages.

Each component of a message comes along one edge. What a document heard from an entity is the share
of all that it heard, added up over the components, that the entity brought. The passage behind the
entity is that of which the entity, in the same round, had heard most, itself or by its sentences.
"""

from collections import Counter
from collections.abc import Iterator

from numpy import ndarray

from kit.methods.graph_reranker.features import Edges, Surroundings
from kit.methods.graph_reranker.network import Heard
from kit.methods.trace import Hearing, Sender

MOST = 3  # senders that a hearing names
Parts = list[Counter[int]]  # by receiver, what it heard of each sender


def hearings(
    index: int,
    heard: Heard,
    graph: Surroundings,
    before: ndarray,  # scores (documents,)
    after: ndarray,
) -> Iterator[Hearing]:
    """What each document heard in the round of this index, from 0."""
    ids = list(map(graph.corpus.passage, graph.rows["d"].tolist()))
    names = list(map(graph.corpus.entity, graph.rows["o"].tolist()))
    to_documents = _parts(heard, "od", graph.edges, len(ids))
    from_sentences = _parts(heard, "cd", graph.edges, len(ids))
    behind = _behind(heard, graph)

    for document, parts in enumerate(to_documents):
        total = parts.total() + from_sentences[document].total()
        senders = []
        for entity, part in parts.most_common():
            others = behind[entity].copy()
            others.pop(document, None)
            for source, _ in others.most_common(1):
                sender = Sender(
                    ids[source],
                    names[entity],
                    part / total,
                )
                senders.append(sender)
        yield Hearing(
            index,
            ids[document],
            tuple(senders[:MOST]),
            float(before[document]),
            float(after[document]),
        )


def _behind(heard: Heard, graph: Surroundings) -> Parts:
    """By entity, what it heard of each document and of its sentences."""
    n_entities = len(graph.rows["o"])
    behind = _parts(heard, "do", graph.edges, n_entities)
    document_of = graph.edges["cd"].index[1].tolist()  # of each sentence
    for entity, parts in enumerate(_parts(heard, "co", graph.edges, n_entities)):
        for sentence, part in parts.items():
            behind[entity][document_of[sentence]] += part
    return behind


def _parts(heard: Heard, kind: str, edges: dict[str, Edges], n_receivers: int) -> Parts:
    """What was heard along a kind of edges, which may be left out."""
    parts = [Counter() for _ in range(n_receivers)]
    if kind not in heard:
        return parts
    messages, edge = heard[kind]
    is_heard = edge >= 0
    receivers, _ = is_heard.nonzero(as_tuple=True)
    senders = edges[kind].index[0, edge[is_heard]]
    values = messages[is_heard]
    for receiver, sender, value in zip(
        receivers.tolist(),
        senders.tolist(),
        values.tolist(),
    ):
        parts[receiver][sender] += value
    return parts
