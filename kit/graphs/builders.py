"""Four ways to connect passages, and their unions (KGP §3 and 8.5; GNN-Ret §3.1)."""

from typing import Annotated

import numpy as np

from kit.arguments import expect
from kit.corpus import Corpus
from kit.corpus.structures import structures
from kit.errors import InputError, known_names, note
from kit.graphs.graph import ContainsEdges, EdgeList, PassageGraph, Relations, TermBipartite
from kit.settings import BaseSettings, Positive, Share, Whole, check, defaults
from kit.text import Encoder, EncoderSettings, NearestNeighbours, keywords, link
from kit.text.entities import read_annotations


class TfidfBuilder(BaseSettings, frozen=True):
    """Passages that share a keyword (KGP §3, "TF-IDF KG Construction")."""

    n_keywords: Annotated[Whole, "keywords per document, beside its title"] = 10
    titles: Annotated[bool, "whether titles are keywords of the passages that mention them"] = True

    def relations(self, corpus: Corpus) -> Relations:
        """The edges, of the kind ``tfidf``."""
        return {"tfidf": TermBipartite(keywords(corpus, self.n_keywords, self.titles))}


class KnnBuilder(EncoderSettings, frozen=True):
    """Each passage points to those with the nearest vectors (KGP §3, "KNN-ST/MDR").

    A trained encoder makes the paper's KNN-MDR.
    """

    k: Annotated[Positive, "others that a passage points to"] = 10

    def relations(self, corpus: Corpus) -> Relations:
        """The edges, of the kind ``knn``."""
        n = len(corpus)
        if n < 2:
            return {"knn": EdgeList.of([], [], n)}
        texts = [passage.full_text for passage in corpus.passages]
        vectors = Encoder(**self.of_encoder()).encode(texts)
        _, rows = NearestNeighbours(vectors).search(vectors, self.k + 1)

        # A passage is its own nearest, unless k + 1 others have the same vector.
        is_other = rows != np.arange(n)[:, None]  # (passages, k + 1)
        is_other &= np.cumsum(is_other, axis=1) <= self.k
        sources, _ = np.nonzero(is_other)
        return {"knn": EdgeList.of(sources, rows[is_other], n)}


class EntityBuilder(BaseSettings, frozen=True):
    """Passages that mention the same entity (KGP §3, "TAGME"; :mod:`kit.text.entities`).

    The paper's graphs, in which a passage has 130 to 670 neighbours, are those without specificity.
    """

    prior: Annotated[Share, "least probability of a link, TAGME's threshold"] = 0.6
    specificity: Annotated[
        bool, "whether a name in many passages links less; TAGME's link as much"
    ] = True
    annotations: Annotated[str, "file of entities found elsewhere: passage, surface, page"] = ""

    def relations(self, corpus: Corpus) -> Relations:
        """The edges, of the kind ``entity``."""
        if self.annotations:
            links = read_annotations(self.annotations, corpus).connecting()
        else:
            links = link(corpus, self.specificity).at_least(self.prior).connecting()
        if len(corpus) > 1 and not len(links.terms):
            note(
                f"no two of {len(corpus):,} passages mention the same name with a prior of "
                f"{self.prior:g}: the graph has no entity edge"
            )
        return {"entity": TermBipartite(links)}


class StructureBuilder(BaseSettings, frozen=True):
    """Passages that stand close together in one document (GNN-Ret §3.1, Appendix B).

    Where documents have pages or tables the graph also has these as structural nodes (KGP §3),
    with edges of the kind ``holds`` to their content.
    """

    reach: Annotated[Positive, "positions apart; 1 is the paper's 'physically next to'"] = 1

    def relations(self, corpus: Corpus) -> Relations:
        """The edges, of the kinds ``structure`` and, where there are such nodes, ``holds``."""
        pairs = [np.zeros((2, 0), int)]
        for rows in corpus.documents.values():
            for distance in range(1, min(self.reach + 1, len(rows))):
                pairs.append((rows[:-distance], rows[distance:]))
        before = np.concatenate(pairs, axis=1)
        both_ways = np.concatenate([before, before[::-1]], axis=1)
        relations = {"structure": EdgeList.of(*both_ways, len(corpus))}
        if nodes := structures(corpus):
            relations["holds"] = ContainsEdges(nodes, len(corpus))
        return relations


Builder = TfidfBuilder | KnnBuilder | EntityBuilder | StructureBuilder

#: By name; the first setting of each is the one that makes its graph denser.
BUILDERS = {
    "tfidf": TfidfBuilder,
    "knn": KnnBuilder,
    "entity": EntityBuilder,
    "structure": StructureBuilder,
}


def build(name: str, corpus: Corpus, **settings: object) -> PassageGraph:
    """The graph over a corpus that a named builder makes, or several joined by ``+``.

    Names are those of :data:`BUILDERS`, and unions such as ``entity+structure``. A setting goes to
    the builder that has it: ``build("entity+knn", corpus, prior=0.8, k=5)``; ``help`` of a builder
    lists its settings. Raises :class:`InputError` for a name, a setting or a value that no builder
    has.
    """
    expect(Corpus, corpus, "corpus")
    relations = {}
    for builder in builders(name, **settings):
        relations |= builder.relations(corpus)
    return PassageGraph(corpus, relations)


def builders(name: str, **settings: object) -> list[Builder]:
    """The builders that a name stands for, with their settings checked."""
    names = str(name).split("+")  # a setting may come as a number
    accepted = set()
    for part in names:
        if part not in BUILDERS:
            raise InputError(
                f"no graph builder {part!r}; "
                f"known are unions such as entity+structure, and {known_names(BUILDERS, part)}"
            )
        accepted |= defaults(BUILDERS[part]).keys()

    unknown = settings.keys() - accepted
    if unknown:
        first = min(unknown)
        raise InputError(
            f"the graph builder {name} has no setting {first!r}; "
            f"it has {known_names(sorted(accepted), first)}"
        )

    checked = []
    for part in names:
        kind = BUILDERS[part]
        values = {key: settings[key] for key in settings.keys() & defaults(kind).keys()}
        checked.append(check(kind, values, f"the graph builder {part}"))
    return checked
