"""The kit's own format: a folder of JSON lines, which holds everything that the kit's types can say.

``passages.jsonl`` has a :class:`~kit.corpus.types.Passage` a line; ``train.jsonl``, ``dev.jsonl`` and ``test.jsonl``,
as far as there are any, a :class:`~kit.corpus.types.Question` a line.
"""

from pathlib import Path

from kit.corpus.source import Source, Unexpected, quote
from kit.corpus.types import EvidenceGraph, Passage, Question


def read(folder: Path, source: Source) -> None:
    """Passages and questions as they stand there, checked against each other."""
    source.each(folder / "passages.jsonl", Passage, source.add_passage)
    source.each_split(folder, Question, lambda question: _checked(question, source))


def _checked(question: Question, source: Source) -> Question:
    """The question, if its ids and indices lead somewhere, which the types cannot say."""
    for number, carriers in enumerate(question.supporting):
        for id in carriers:
            if id not in source.paragraphs:
                raise Unexpected(
                    f"expected the id of a passage, {quote(id)} is none", f"supporting[{number}]"
                )
    for number, step in enumerate(question.decomposition):
        if step.support is not None and not 0 <= step.support < question.hops:
            raise Unexpected(
                f"expected an index below {question.hops}", f"decomposition[{number}].support"
            )
        if any(not 0 <= earlier < number for earlier in step.depends_on):
            raise Unexpected(
                "expected indices of earlier steps", f"decomposition[{number}].depends_on"
            )
    if graph := question.evidence:
        ends = {end for edge in graph.edges for end in edge}
        if graph.n_nodes != question.hops or not ends <= set(range(question.hops)):
            raise Unexpected(
                f"expected one node a support ({question.hops}), and edges between them", "evidence"
            )
        if EvidenceGraph.of(graph.n_nodes, graph.edges) is None:
            raise Unexpected("expected a graph without a cycle", "evidence.edges")
    return question
