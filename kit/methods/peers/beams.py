"""PropRAG's idea: not single facts start the walk, but paths of facts that read like the question.

Wang and Han, PropRAG: Guiding Retrieval with Beam Search over Proposition Paths, EMNLP 2025. There
a language model writes propositions; here facts are the triples of HippoRAG 2, so that the paths
are all that differs.
"""

from typing import Annotated, ClassVar

import numpy as np
from numpy import ndarray
from scipy import sparse

from kit.corpus import Corpus
from kit.methods.baselines.pagerank import spread
from kit.methods.peers.hipporag2 import HippoRAG2, Telling
from kit.settings import Positive

Path = tuple[int, ...]  # rows of facts


class Beams(HippoRAG2):
    """HippoRAG 2 whose walk restarts at the ends of the facts on the best paths, too.

    A path begins with a fact that is near the query and goes on with one that shares a name with
    its last. It is worth the cosine of the query with its facts, read as one text. Each step keeps
    the best paths; in the end the best of all lengths count.
    """

    name = "beams"

    class Settings(HippoRAG2.Settings, frozen=True):
        beams: Annotated[Positive, "paths that each step keeps"] = 2
        longest: Annotated[Positive, "facts on a path, at most"] = 3
        tried: Annotated[Positive, "facts that may continue a path: those nearest to the query"] = 5
        entities: Annotated[Positive, "ends of facts at which the walk restarts, at most"] = 8

    ranges: ClassVar = {"beams": 10, "longest": 4}

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        ends = self.facts.ends
        n_facts = len(ends)
        rows = np.repeat(np.arange(n_facts), 2)
        shape = (n_facts, len(self.facts.entities))
        has_end = sparse.csr_array((np.ones(2 * n_facts), (rows, ends.ravel())), shape=shape)
        self.sharing = sparse.csr_array(has_end @ has_end.T)  # (facts, facts)

    def telling_facts(self, vector: ndarray) -> Telling:
        """The facts nearest to the query, and those on the best paths.

        Each counts what it is worth alone, or what the best path with it is, if that is more.
        """
        nearest = super().telling_facts(vector)
        if not len(nearest.rows):
            return nearest
        counts = dict(zip(nearest.rows.tolist(), nearest.weights.tolist()))
        paths, cosines = self.best_paths(vector)
        worth = spread(np.concatenate([cosines, self.fact_vectors @ vector])[None])[0]
        for path, value in zip(paths, worth):
            for fact in path:
                counts[fact] = max(counts.get(fact, 0.0), float(value))
        return Telling(np.array(list(counts), int), np.array(list(counts.values())))

    def best_paths(self, vector: ndarray) -> tuple[list[Path], ndarray]:
        """The best paths of all lengths, best first, and their cosines with the unit vector."""
        likeness = self.fact_vectors @ vector
        order = np.argsort(-likeness, kind="stable")
        current = [(int(fact),) for fact in order[: self.settings.beams]]
        paths = {path: float(likeness[path[0]]) for path in current}
        for _ in range(1, self.settings.longest):
            longer = [path for shorter in current for path in self._continued(shorter, likeness)]
            texts = [". ".join(self.facts.texts[fact] for fact in path) for path in longer]
            if not longer:
                break
            cosines = self.encoder.encode(texts, progress=False) @ vector
            best = np.argsort(-cosines, kind="stable")[: self.settings.beams]
            current = [longer[row] for row in best]
            paths |= {longer[row]: float(cosines[row]) for row in best}

        ranked = sorted(paths, key=lambda path: -paths[path])[: self.settings.beams]
        return ranked, np.array([paths[path] for path in ranked])

    def _continued(self, path: Path, likeness: ndarray) -> list[Path]:
        """The path with each fact behind it that shares a name with its last."""
        start, end = self.sharing.indptr[path[-1] : path[-1] + 2]
        others = [fact for fact in self.sharing.indices[start:end].tolist() if fact not in path]
        others.sort(key=lambda fact: (-likeness[fact], fact))
        return [(*path, fact) for fact in others[: self.settings.tried]]
