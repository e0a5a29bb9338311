"""Triples of passages, as a loop of retrieval reads them (RAS Eqs. 7 and 9)."""

from collections.abc import Sequence

from kit.corpus import Corpus, PlainTriple
from kit.methods.loops.steps import Trajectories
from kit.text.triples import extract


class FactReader:
    """Reads triples by a source of :func:`kit.text.triples.extract`, each passage once."""

    def __init__(self, corpus: Corpus, source: str) -> None:
        self.corpus = corpus
        self.source = source
        self.triples = {}  # of each row that was read

    def graphs(self, lists: Sequence[Sequence[int]]) -> list[dict[PlainTriple, int]]:
        """The triples of each list of rows (Eq. 7), each triple with the first row that says it."""
        unread = sorted(set().union(*lists) - self.triples.keys())
        if unread:
            extractions = extract(self.corpus, self.source, unread, of_ras=True)
            for row, extraction in zip(unread, extractions):
                self.triples[row] = [
                    (triple.subject, triple.relation, triple.object)
                    for triple in extraction.triples
                ]

        graphs = []
        for rows in lists:
            graph = {}
            for row in rows:
                for triple in self.triples[row]:
                    graph.setdefault(triple, row)
            graphs.append(graph)
        return graphs

    def read(self, trajectories: Trajectories, top_k: int) -> None:
        """Let the last steps grow their graphs by what the first passages say (Eq. 9).

        Then what fills a step's holes answers it.
        """
        last_steps = [trajectory.last for trajectory in trajectories]
        graphs = self.graphs([step.rows[:top_k] for step in last_steps])
        for trajectory, step, graph in zip(trajectories, last_steps, graphs):
            step.triples = tuple(triple for triple in graph if triple not in trajectory.graph)
            for triple in step.triples:
                trajectory.graph[triple] = graph[triple]
            step.answers = step.read(trajectory.graph)
