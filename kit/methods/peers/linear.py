"""LinearRAG: from the names in a question through the best sentence of each, no relations at all.

Zhuang et al., LinearRAG: Linear Graph Retrieval Augmented Generation on Large-scale Corpora, ICLR
2026; the constants are those of its code. Names there are found by spaCy, here by the kit's linker.
"""

from collections.abc import Mapping
from itertools import chain, count
from typing import Annotated, NamedTuple

import numpy as np
from numpy import ndarray
from scipy import sparse

from kit.corpus import Corpus
from kit.corpus.sentences import split_sentences
from kit.corpus.types import Queries
from kit.methods.base import Rankings, ranking_from_scores
from kit.methods.baselines.classic import Dense
from kit.methods.baselines.pagerank import spread
from kit.methods.peers.walk import visits
from kit.settings import Positive, Share
from kit.text import ENCODER_SETTINGS
from kit.text.derived import kept
from kit.text.placeholders import EntityLinker, key_of, linker_of

OF_DENSE = 1.5  # what a passage's own likeness counts beside the names that stand in it


class Sentence(NamedTuple):
    """A sentence after the title of its passage, which is a row, and the keys of its names."""

    text: str
    passage: int
    names: list[str]


def _named_sentences(corpus: Corpus) -> list[Sentence]:
    linker = linker_of(corpus)
    named = []
    for row, passage in enumerate(corpus.passages):
        for sentence in split_sentences(passage.text):
            text = f"{passage.title}\n{sentence}"
            named.append(Sentence(text, row, _names_in(text, linker)))
    return named


def _names_in(text: str, linker: EntityLinker) -> list[str]:
    """The keys of a text's names, each once."""
    return list(dict.fromkeys(key_of(mention.entity) for mention in linker.mentions(text)))


class LinearRAG(Dense):
    """The passages where a random walk that restarts at activated names is most often.

    The question's names are active. Each activates the names of its best sentence, the one that is
    most like the question and was not used: by its own activation times the sentence's likeness,
    if that is enough; and so on for some rounds. The walk goes between names and the passages that
    they stand in. It restarts at the active names, and a little at all passages by their likeness
    and by what active names they have. Where the question has no name the ranking is that of dense
    retrieval.

    A likeness is a cosine, spread from 0 for the least of the query to 1 for the highest.
    """

    name = "linear"
    index_settings = ENCODER_SETTINGS

    class Settings(Dense.Settings, frozen=True):
        rounds: Annotated[Positive, "of activation, that of the question's names included"] = 3
        least: Annotated[Share, "activation from which a name is active"] = 0.5
        passage_weight: Annotated[Share, "what passages count in a restart"] = 0.05
        damping: Annotated[Share, "probability to go on instead of restarting"] = 0.5

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        self.linker = linker_of(corpus)
        named = kept(_named_sentences, list[Sentence], corpus, corpus.hash)
        self.sentences = [sentence.text for sentence in named]
        keys = dict.fromkeys(chain.from_iterable(sentence.names for sentence in named))
        self.rows = dict(zip(keys, count()))  # of names, by their keys
        self.names_of = [[self.rows[key] for key in sentence.names] for sentence in named]
        self.sentence_vectors = self.encoder.encode(self.sentences)
        self._join(np.array([sentence.passage for sentence in named], int))

    def _join(self, passage_of: ndarray) -> None:
        """Which sentences a name has, and how often it stands in which passage."""
        n_names = [len(names) for names in self.names_of]
        sentence = np.repeat(np.arange(len(n_names)), n_names)
        name = np.array([row for names in self.names_of for row in names], int)
        ones = np.ones(len(name))
        n = len(self.rows)
        self.sentences_of = sparse.csr_array((ones, (name, sentence)), shape=(n, len(n_names)))
        in_passages = (ones, (name, passage_of[sentence]))
        self.times = sparse.csr_array(in_passages, shape=(n, len(self.corpus)))
        # Nodes: the names, then the passages.
        self.adjacency = sparse.csr_matrix(
            sparse.block_array([[None, self.times], [self.times.T, None]])
        )

    def rank(self, queries: Queries, k: int) -> Rankings:
        rankings = []
        for query, vector in zip(queries, self.encoded(queries)):
            scores = self.visits(query.text, vector)
            rankings.append(ranking_from_scores(self.corpus, scores, k))
        return rankings

    def visits(self, text: str, vector: ndarray) -> ndarray:
        """How often the walk for a question, with its vector, is at each passage: (passages,).

        Where no name is active these are the restarts, in the order of dense retrieval.
        """
        active = self.activate(text, vector)
        scores = self.restarts(active, vector)
        if active:
            scores = visits(self.adjacency, scores, self.settings.damping)
        return scores[len(self.rows) :]

    def activate(self, text: str, vector: ndarray) -> dict[int, tuple[float, int]]:
        """The active names' rows, each with its activation and the round in which it came."""
        keys = _names_in(text, self.linker)
        current = {self.rows[key]: 1.0 for key in keys if key in self.rows}
        if not current:
            return {}
        active = {row: (value, 1) for row, value in current.items()}
        likeness = spread(vector[None] @ self.sentence_vectors.T)[0]
        used = set()
        for tier in range(2, self.settings.rounds + 1):
            current = self._passed_on(current, likeness, used)
            for row, value in current.items():
                earlier, _ = active.get(row, (0.0, tier))
                active[row] = (earlier + value, tier)
        return active

    def _passed_on(
        self, active: Mapping[int, float], likeness: ndarray, used: set[int]
    ) -> dict[int, float]:
        """What names hear through the best sentences of active ones, which are used then."""
        heard = {}
        for row, value in active.items():
            sentences = [sentence for sentence in self._sentences(row) if sentence not in used]
            best = max(sentences, key=likeness.__getitem__, default=None)
            if best is None:
                continue
            used.add(best)
            passed_on = float(value * likeness[best])
            if passed_on >= self.settings.least:
                for other in self.names_of[best]:
                    heard[other] = heard.get(other, 0.0) + passed_on
        return heard

    def _sentences(self, row: int) -> list[int]:
        start, end = self.sentences_of.indptr[row : row + 2]
        return self.sentences_of.indices[start:end].tolist()

    def restarts(self, active: dict[int, tuple[float, int]], vector: ndarray) -> ndarray:
        """How often the walk restarts where, (names + passages,), up to a factor."""
        of_names = np.zeros(len(self.rows))
        by_round = np.zeros(len(self.rows))
        for row, (value, tier) in active.items():
            of_names[row] = value
            by_round[row] = value / tier
        bonus = self.times.log1p().T @ by_round
        dense = spread(vector[None] @ self.vectors.T)[0]
        of_passages = self.settings.passage_weight * (OF_DENSE * dense + np.log1p(bonus))
        return np.concatenate([of_names, of_passages])
