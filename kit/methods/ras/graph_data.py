"""A question's graph G_Q as numbers: what the answerer's network reads (RAS §3.3.2, Eq. 8).

The paper's symbols and the names here: v.attr ``x``, e.attr ``edge_attr``, f_enc the encoder that
made ``vectors``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from numpy import ndarray
from torch import Tensor
from torch.nn.functional import pad
from torch_geometric.data import Data

from kit.corpus.types import Questions, Texts
from kit.methods.loops.steps import Trajectories, Trajectory
from kit.methods.ras.retriever import RAS
from kit.readers.scoring import normalise
from kit.text.placeholders import DATE, NUMBER, Mention, key_of

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
CLOSED_ANSWERS = ("yes", "no", *map(str, range(10)))  # answers that are no node
DAY_FORMATS = ("%d %B %Y", "%B %d, %Y", "%B %Y")


class NodeFeatures(NamedTuple):
    """What the planner's steps and the question say of a node.

    The last four are 0 unless the node is a value, a date or a number, that answers a step.
    """

    in_question: float  # the question names it
    answers_step: float  # it answers a step
    answers_last_step: float
    n_answered: float  # how many steps it answers, in thirds
    asked_about: float  # the last step asks about it
    is_value: float
    standardised: float  # the value, among all values that answer a step
    extreme: float  # 1 for the least of several such values, -1 for the greatest
    side: float  # -1 below the number in the question, 1 above it
    has_side: float  # there is a number in the question


def node_features(
    trajectory: Trajectory,
    nodes: Texts,
    mentions: Sequence[Mention],
) -> ndarray:
    """:class:`NodeFeatures` of each node, by its key, of shape (nodes, features).

    The question has these ``mentions``.
    """
    in_question = keys_of(mention.entity for mention in mentions)
    asked_about = keys_of(hole.entity for step in trajectory.steps[-1:] for hole in step.holes)
    answers = [keys_of(step.answers) for step in trajectory.steps if step.holes]
    last_answers = answers[-1] if answers else ()

    rows = []
    n_answered = [sum(node in keys for keys in answers) for node in nodes]
    for node, n, comparison in zip(nodes, n_answered, compared(nodes, n_answered, mentions)):
        rows.append(
            NodeFeatures(
                node in in_question,
                n > 0,
                node in last_answers,
                n / 3,
                node in asked_about,
                value_of(node) is not None,
                *comparison,
            )
        )
    return np.array(rows, np.float32).reshape(-1, len(NodeFeatures._fields))


def compared(
    nodes: Texts,
    n_answered: Sequence[int],
    mentions: Sequence[Mention],
) -> list[Sequence[float]]:
    """The last four of :class:`NodeFeatures`, of each node."""
    values = [value_of(node) if n else None for node, n in zip(nodes, n_answered)]
    answering = [value for value in values if value is not None]
    limits = map(value_of, (mention.entity for mention in mentions))
    limit = next((value for value in limits if value is not None), None)

    rows = []
    for value in values:
        if value is None:
            rows.append((0, 0, 0, 0))
            continue
        standardised = (value - np.mean(answering)) / (np.std(answering) or 1.0)
        extreme = (value == min(answering)) - (value == max(answering))  # 0 of a single value
        side = 0 if limit is None else np.sign(value - limit)
        rows.append((standardised, extreme, side, limit is not None))
    return rows


def value_of(text: str) -> float | None:
    """What a date or a number comes to, in years or as it is; None for a name."""
    if text in WORDS:
        return float(WORDS.index(text))
    if NUMBER.fullmatch(text):
        return float(text.replace(",", ""))
    if not DATE.fullmatch(text):
        return None
    for pattern in DAY_FORMATS:
        with suppress(ValueError):
            day = datetime.strptime(text, pattern)
            return day.year + day.timetuple().tm_yday / 367
    return None


def keys_of(entities: Iterable[str]) -> set[str]:
    """By what mentions of entities are the same."""
    return set(map(key_of, entities))


Vectors = Mapping[str, ndarray]  # of names and relations


def to_data(
    trajectory: Trajectory,
    question: ndarray,
    vectors: Vectors,
    mentions: Sequence[Mention] = (),
    answers: Texts = (),
) -> Data:
    """G_Q for PyG, by the ``vectors`` of names and relations; each edge goes backward, too.

    ``x``: (nodes, width), Eq. 8. ``names`` are the nodes' own.
    ``edge_attr``: (edges, width + 1), Eq. 8; the last is 1 on the way from subject to object.
    ``features``: (nodes, features), as of :func:`node_features`.
    ``question``: (1, width).
    ``right``: (nodes,) and ``right_closed``: (1, closed answers) say which is one of ``answers``.
    """
    names = {}  # by key, as they are written first
    ends = [end for head, _, tail in trajectory.graph for end in (head, tail)]
    keys = list(map(key_of, ends))
    for key, end in zip(keys, ends):
        names.setdefault(key, end)
    row = dict(zip(names, range(len(names))))

    edges = torch.tensor([row[key] for key in keys], dtype=torch.long).reshape(-1, 2)
    relation_vectors = stacked(
        [relation for _, relation, _ in trajectory.graph],
        vectors,
        len(question),
    )
    forward = pad(relation_vectors, (0, 1), value=1.0)
    backward = pad(relation_vectors, (0, 1), value=0.0)

    wanted = keys_of(answers).union(map(normalise, answers))
    return Data(
        x=stacked(names.values(), vectors, len(question)),
        edge_index=torch.cat([edges, edges.flip(1)]).T,
        edge_attr=torch.cat([forward, backward]),
        features=torch.tensor(node_features(trajectory, list(names), mentions)),
        question=torch.tensor(question)[None],
        right=torch.tensor([node in wanted for node in names], dtype=torch.bool),
        right_closed=torch.tensor([[answer in wanted for answer in CLOSED_ANSWERS]]),
        names=list(names.values()),
    )


def graphs_of(retriever: RAS, trajectories: Trajectories, questions: Questions = ()) -> list[Data]:
    """The graphs of trajectories, with the answers of ``questions`` where these are given."""
    triples = chain.from_iterable(trajectory.graph for trajectory in trajectories)
    texts = sorted(set(chain.from_iterable(triples)))
    vectors = dict(zip(texts, retriever.encoder.encode(texts)))  # f_enc of Eq. 8

    queries = [trajectory.query.text for trajectory in trajectories]
    encoded = retriever.encoder.encode(
        queries,
        role="query",
        progress=False,
    )
    answers = [question.answers for question in questions] or [()] * len(queries)
    graphs = []
    for trajectory, vector, right in zip(trajectories, encoded, answers):
        mentions = retriever.linker.mentions(trajectory.query.text, numbers=True)
        graphs.append(to_data(trajectory, vector, vectors, mentions, right))
    return graphs


def stacked(
    texts: Iterable[str],
    vectors: Vectors,
    width: int,
) -> Tensor:
    """The vectors of texts, (texts, width); there may be none."""
    rows = [vectors[text] for text in texts]
    return torch.tensor(np.array(rows, np.float32).reshape(-1, width))
