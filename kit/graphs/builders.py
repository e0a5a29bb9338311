"""Four ways to connect passages, and their unions (kgp.txt §3 and 8.5; gnn-ret.txt §3.1)."""

import numpy as np

from kit.corpus import Corpus
from kit.corpus.structures import structures
from kit.errors import InputError
from kit.graphs.graph import ContainsEdges, EdgeList, PassageGraph, TermBipartite
from kit.settings import BaseSettings, Positive, Share, Whole, check, defaults
from kit.text import DEFAULT_ENCODER, Encoder, NearestNeighbours, keywords, link


class Tfidf(BaseSettings, frozen=True):
    """Passages that share a keyword (kgp.txt §3, "TF-IDF KG Construction").

    ``n_keywords`` a document; its title is one more.
    """

    n_keywords: Whole = 10

    def relations(self, corpus: Corpus) -> dict[str, TermBipartite]:
        return {"tfidf": TermBipartite(keywords(corpus, self.n_keywords))}


class Knn(BaseSettings, frozen=True):
    """Each passage points to the ``k`` others whose vectors are nearest (kgp.txt §3, "KNN-ST/MDR KG Construction").

    ``encoder`` is anything that :class:`kit.text.Encoder` takes; a trained one makes the paper's KNN-MDR.
    """

    k: Positive = 10
    encoder: str = DEFAULT_ENCODER

    def relations(self, corpus: Corpus) -> dict[str, EdgeList]:
        n = len(corpus)
        if n < 2:
            return {"knn": EdgeList.of([], [], n)}
        vectors = Encoder(self.encoder).encode([passage.full_text for passage in corpus.passages])
        _, rows = NearestNeighbours(vectors).search(vectors, self.k + 1)
        # A passage is its own nearest, unless k + 1 others have the same vector.
        others = rows != np.arange(n)[:, None]
        others &= np.cumsum(others, axis=1) <= self.k
        sources = np.repeat(np.arange(n), others.sum(axis=1))
        return {"knn": EdgeList.of(sources, rows[others], n)}


class Entity(BaseSettings, frozen=True):
    """Passages that mention the same entity (kgp.txt §3, "TAGME").

    ``prior`` is the least probability of a link (:mod:`kit.text.entities`), TAGME's threshold.
    """

    prior: Share = 0.6

    def relations(self, corpus: Corpus) -> dict[str, TermBipartite]:
        return {"entity": TermBipartite(link(corpus).at_least(self.prior).connecting())}


class Structure(BaseSettings, frozen=True):
    """Passages up to ``reach`` places apart in one document; 1 is the paper's "physically next to each other".

    gnn-ret.txt §3.1, Appendix B. Where documents have pages or tables the graph also has these as structural nodes
    (kgp.txt §3), with edges of the kind ``holds`` to their content.
    """

    reach: Positive = 1

    def relations(self, corpus: Corpus) -> dict[str, EdgeList]:
        pairs = [
            (rows[:-distance], rows[distance:])
            for rows in corpus.documents.values()
            for distance in range(1, min(self.reach, len(rows) - 1) + 1)
        ]
        before, after = np.concatenate([np.zeros((2, 0), int), *pairs], axis=1)
        adjacent = EdgeList.of(
            np.concatenate([before, after]), np.concatenate([after, before]), len(corpus)
        )
        contains = (
            {"holds": ContainsEdges(nodes, len(corpus))} if (nodes := structures(corpus)) else {}
        )
        return {"structure": adjacent} | contains


#: By name; the first setting of each is the one that makes its graph denser.
BUILDERS = {"tfidf": Tfidf, "knn": Knn, "entity": Entity, "structure": Structure}


def build(name: str, corpus: Corpus, **settings: object) -> PassageGraph:
    """The graph of a named builder, or of several joined by ``+`` ("entity+structure").

    A setting goes to the builder that has it. Raises InputError: a name, a setting or a value that no builder has.
    """
    relations = {}
    for builder in builders(name, **settings):
        relations |= builder.relations(corpus)
    return PassageGraph(corpus, relations)


def builders(name: str, **settings: object) -> list[Tfidf | Knn | Entity | Structure]:
    """The builders that a name stands for, with their settings checked."""
    names = str(name).split("+")  # a setting may come as a number
    if unknown := [each for each in names if each not in BUILDERS]:
        known = f"{', '.join(BUILDERS)} and unions such as entity+structure"
        raise InputError(f"no graph builder {unknown[0]!r}; known are {known}")
    known = {each: defaults(BUILDERS[each]).keys() for each in names}
    takes = set().union(*known.values())
    if unknown := settings.keys() - takes:
        raise InputError(
            f"the graph builder {name} has no setting {min(unknown)!r}; it has {', '.join(sorted(takes))}"
        )
    own = {each: {key: settings[key] for key in settings.keys() & known[each]} for each in names}
    return [check(BUILDERS[each], own[each], f"the graph builder {each}") for each in names]
