"""Does the query keep noise out (qsgnn.txt §1, §3.2, A.9)? What attention listens to, random edges, misspelt names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import torch
from msgspec.structs import replace as changed
from tqdm.auto import tqdm

from kit.corpus import Question
from kit.retrievers.qsgnn import QSGNN
from kit.text.precision import one_thread


def attention_on_supports(retriever: QSGNN, questions: Sequence[Question]) -> pd.DataFrame:
    """How much of what entities hear from documents comes from supports, in the first layer.

    A row a question: question, hops, ``attention``, ``uniform`` (had the entity listened to all alike) and
    ``entities``, how many stand in a support and elsewhere too, over which both are means. Questions without any are
    left out. The retriever is indexed.
    """
    row_of, rows = retriever.corpus.row, []
    for question in tqdm(questions, desc="attention", unit="question"):
        heard = retriever.attend(question.query)
        sender, entity = heard.edges["do"]
        gold = np.isin(heard.nodes["d"], [row_of[id] for id in question.supporting_ids])[sender]
        n = len(heard.nodes["o"])
        attention, supports, documents = (
            np.bincount(entity, weights, n) for weights in (heard.layers[0]["do"] * gold, gold, None)
        )
        chosen = (supports > 0) & (supports < documents)
        if chosen.any():
            found = {"attention": attention[chosen], "uniform": supports[chosen] / documents[chosen]}
            row = {"question": question.id, "hops": question.hops, "entities": int(chosen.sum())}
            rows.append(row | {name: float(values.mean()) for name, values in found.items()})
    return pd.DataFrame(rows, columns=["question", "hops", "entities", "attention", "uniform"])


@torch.no_grad()
@one_thread()
def likeness(retriever: QSGNN, questions: Sequence[Question]) -> np.ndarray:
    """The mean cosine of two documents' vectors after the last layer, for each question: 1 is utter over-smoothing.

    The retriever is indexed. (qsgnn.txt A.7)
    """
    found = []
    vectors = retriever.encoder.encode([question.text for question in questions], role="query", progress=False)
    for vector in vectors:
        batch = retriever.batch(retriever.sampler.sample(vector[None], retriever.settings.documents))
        h, _, _ = retriever.network(batch, torch.from_numpy(vector[None]))
        unit = torch.nn.functional.normalize(h["d"], dim=1)
        n = len(unit)
        found.append(((unit @ unit.T).sum() - n).item() / max(n * (n - 1), 1))
    return np.array(found)


def with_random_edges(retriever: QSGNN, share: float, seed: int) -> QSGNN:
    """An indexed retriever, with random edges between entities added to its graph.

    ``share`` is how many, of those that there are. What lies around a query stays the same.
    """
    data = copy(retriever.graph.data)
    edges, generator = data["oo"].edge_index.numpy(), np.random.default_rng(seed)
    more = generator.integers(data["o"].num_nodes, size=(2, round(share * edges.shape[1])))
    both = np.sort(np.concatenate([edges, more[:, more[0] != more[1]]], 1), axis=0)
    data["oo"].edge_index = torch.from_numpy(np.unique(both, axis=1))
    return retriever.variant(over=replace(retriever.graph, data=data))


def misspelt(questions: Sequence[Question], seed: int) -> list[Question]:
    """The questions that hold a name, with two neighbouring letters of it in the wrong order.

    Changed is the longest word with a capital that does not open the question, and not that capital.
    """
    generator, found = np.random.default_rng(seed), []
    for question in questions:
        word = max(filter(str.istitle, re.findall(r"\w+", question.text)[1:]), key=len, default="")
        swaps = [place for place in range(1, len(word) - 1) if word[place] != word[place + 1]]
        if swaps:
            place = swaps[generator.integers(len(swaps))]
            wrong = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
            found.append(changed(question, text=question.text.replace(word, wrong, 1)))
    return found
