"""The kit's own format: a folder of JSON lines, which holds all that the kit's types can say.

``passages.jsonl`` has a :class:`~kit.corpus.types.Passage` per line. ``train.jsonl``, ``dev.jsonl``
and ``test.jsonl``, as far as there are any, have a :class:`~kit.corpus.types.Question` per line.
"""

from itertools import chain
from pathlib import Path

from kit.corpus.source import Source, Unexpected, quote
from kit.corpus.types import EvidenceGraph, Passage, Question


def read_folder(folder: Path, source: Source) -> None:
    """Passages and questions as they stand there, checked against each other."""

    def checked(question: Question) -> Question:
        _check_supports(question, source)
        _check_steps(question)
        _check_evidence(question)
        if question.options and question.answer not in question.options:
            raise Unexpected("expected the answer among them", "options")
        return question

    source.read_records(folder / "passages.jsonl", Passage, source.add_passage)
    source.read_splits(folder, Question, checked)


def _check_supports(question: Question, source: Source) -> None:
    for index, carriers in enumerate(question.supporting):
        for carrier in carriers:
            if carrier not in source.paragraphs:
                raise Unexpected(
                    f"expected the id of a passage, {quote(carrier)} is none",
                    f"supporting[{index}]",
                )


def _check_steps(question: Question) -> None:
    for index, step in enumerate(question.decomposition):
        field = f"decomposition[{index}]"
        if step.support is not None and step.support not in range(question.hops):
            raise Unexpected(
                f"expected an index below {question.hops}",
                f"{field}.support",
            )
        if not set(step.depends_on) <= set(range(index)):
            raise Unexpected("expected indices of earlier steps", f"{field}.depends_on")


def _check_evidence(question: Question) -> None:
    graph = question.evidence
    if graph is None:
        return
    ends = set(chain.from_iterable(graph.edges))
    if graph.n_nodes != question.hops or not ends <= set(range(question.hops)):
        raise Unexpected(
            f"expected one node a support ({question.hops}), and edges between them",
            "evidence",
        )
    if EvidenceGraph.acyclic(graph.n_nodes, graph.edges) is None:
        raise Unexpected("expected a graph without a cycle", "evidence.edges")
