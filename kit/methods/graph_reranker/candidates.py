"""What plain methods make of a question: some scores of each passage, from which candidates come.

Two are similarities, standardised over the passages of the corpus, so that neither the scale of an
encoder's cosines nor its zero counts; the others are ranks, as −ln rank, so that 0 is the best.
"""

import numpy as np
from numpy import ndarray

from kit import timer
from kit.corpus import Corpus
from kit.corpus.types import Texts
from kit.methods.baselines.pagerank import PageRank
from kit.methods.gnn_ret.retriever import GNNRet
from kit.methods.graph_reranker.words import Vocabulary, WordIndex
from kit.methods.peers.linear import LinearRAG
from kit.text import EncoderSettings

#: What is scored how: the similarities, then the ranks.
SCORES = (
    "dense",
    "bm25",
    "gnn-ret rank",
    "walk rank",
    "pagerank rank",
    "linear rank",
    "bm25 rank",
)
WALK_LAYERS = 2  # of GNN-Ret as it finds the documents around QSGNN's queries
WALK_SENDERS = 10
SMALL = 1e-6


class Scorers:
    """The plain methods over one corpus."""

    def __init__(self, corpus: Corpus, settings: EncoderSettings, triples: str) -> None:
        options = settings.of_encoder()
        self.messages = GNNRet(**options)
        self.messages.index(corpus)
        self.walk = self.messages.variant(
            layers=WALK_LAYERS,
            top_k=WALK_SENDERS,
        )
        self.pagerank = PageRank(**options, triples=triples)
        self.pagerank.index(corpus)
        self.linear = LinearRAG(**options)
        self.linear.index(corpus)

        texts = [passage.full_text for passage in corpus.passages]
        titles = [passage.title for passage in corpus.passages]
        self.vocabulary = Vocabulary(texts)
        self.words = WordIndex(self.vocabulary, texts, titles)

    def encode(self, texts: Texts) -> ndarray:
        """Unit vectors (texts, dimension) of questions."""
        return self.walk.encode(list(texts))

    @timer.part("seeding")
    def scores(self, text: str, vector: ndarray) -> ndarray:
        """Of each passage, (passages, scores), for a question and its unit vector."""
        distances = self.walk.distances(vector[None])  # (1, passages)
        dense = 1 - distances[0].numpy()
        bm25 = self.words.bm25 @ self.vocabulary.marked(text)

        ranked = []
        for method in (self.messages, self.walk):
            h = distances.clone()
            method.propagate(h, method.dense_rows(h, 0))
            ranked.append(-h[0].numpy())
        ranked.append(self.pagerank.visits(vector[None])[0])
        ranked.append(self.linear.visits(text, vector))
        ranked.append(bm25)

        similarities = [standardised(dense), standardised(bm25)]
        return np.stack([*similarities, *map(log_rank, ranked)], axis=1)


def standardised(scores: ndarray) -> ndarray:
    """Each column with mean 0 and standard deviation 1; equal scores become 0."""
    if not len(scores):
        return scores
    deviation = scores.std(axis=0)
    varies = deviation > SMALL
    return (scores - scores.mean(axis=0)) * varies / np.where(varies, deviation, 1)


def log_rank(scores: ndarray) -> ndarray:
    """−ln rank of each score, the highest of which has rank 1; equal ones in their order."""
    order = np.argsort(-scores, kind="stable")
    ranks = np.empty(len(scores), np.float32)
    ranks[order] = -np.log(np.arange(1, len(scores) + 1))
    return ranks
