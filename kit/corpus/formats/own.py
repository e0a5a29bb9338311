"""The kit's own format: a folder of JSON lines, which holds everything that the kit's types can say.

``passages.jsonl`` has a :class:`~kit.corpus.types.Passage` a line; ``train.jsonl``, ``dev.jsonl`` and ``test.jsonl``,
as far as there are any, a :class:`~kit.corpus.types.Question` a line.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from kit.corpus import records
from kit.corpus.problems import Problems, quote
from kit.corpus.source import SPLITS, Item, Source, evidence_graph
from kit.corpus.types import Passage, Question


def read(folder: Path, problems: Problems) -> Source:
    """Passages and questions as they stand there, checked against each other."""
    source = Source("kit")
    passages = folder / "passages.jsonl"
    passage_decoder, question_decoder = msgspec.json.Decoder(Passage), msgspec.json.Decoder(Question)
    for raw in records.read(passages, problems):
        passage = records.decode(raw, passage_decoder, problems, passages)
        if passage is None:
            continue
        where = {"record": records.label(raw, passage.id), "file": passages}
        source.add_passage(passage, problems, id_field="id", **where)
        if not passage.document:
            problems.error("expected the name of a document, it is empty", field="document", **where)
    for split in SPLITS:
        file = folder / f"{split}.jsonl"
        for raw in records.read(file, problems) if file.exists() else ():
            question = records.decode(raw, question_decoder, problems, file)
            if question is not None:
                where = {"record": records.label(raw, question.id), "file": file}
                _check(question, source, problems, where)
                source.ask(Item(question, split=split), problems, id_field="id", text_field="text", **where)
    return source


def _check(question: Question, source: Source, problems: Problems, where: dict[str, object]) -> None:
    """What the types cannot say: that ids and indices lead somewhere."""
    if not question.supporting:
        problems.error("expected at least one support", field="supporting", **where)
    for number, carriers in enumerate(question.supporting):
        field = f"supporting[{number}]"
        if not carriers:
            problems.error("expected the id of at least one passage", field=field, **where)
        for id in carriers:
            if id not in source.paragraphs:
                problems.error(f"expected the id of a passage, {quote(id)} is none", field=field, **where)
    for number, step in enumerate(question.decomposition):
        field = f"decomposition[{number}]"
        if step.support is not None and not 0 <= step.support < question.hops:
            problems.error(f"expected an index below {question.hops}", field=f"{field}.support", **where)
        if any(not 0 <= earlier < number for earlier in step.depends_on):
            problems.error("expected indices of earlier steps", field=f"{field}.depends_on", **where)
    if question.evidence is not None:
        nodes, edges = question.evidence.n_nodes, question.evidence.edges
        if nodes != question.hops:
            problems.error(f"expected one node a support ({question.hops})", field="evidence.n_nodes", **where)
        elif any(not (0 <= i < nodes and 0 <= j < nodes and i != j) for i, j in edges):
            problems.error("expected edges between two different nodes", field="evidence.edges", **where)
        elif evidence_graph(nodes, edges) is None:
            problems.error("expected a graph without a cycle", field="evidence.edges", **where)
