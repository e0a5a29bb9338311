"""Six passages and two questions, small enough to check every number by hand: the first page of each notebook."""

from __future__ import annotations

from kit.corpus.types import Benchmark, Corpus, EvidenceGraph, Passage, Question, SubQuestion

_PASSAGES = (
    Passage(
        id="harbour",
        title="The Glass Harbour (film)",
        text="The Glass Harbour is a silent film directed by Ines Moravec. Its only print burned in a cellar.",
        document="The Glass Harbour (film)",
    ),
    Passage(
        id="moravec",
        title="Ines Moravec",
        text="Ines Moravec was a painter who turned to pictures. She was born in Selby Quay, a net-maker's child.",
        document="Ines Moravec",
    ),
    Passage(
        id="moravec-later",
        title="Ines Moravec",
        text="Later she taught drawing, and the Lantern Prize came too late to please her.",
        document="Ines Moravec",
        position=1,
    ),
    Passage(
        id="quay",
        title="Selby Quay",
        text="Selby Quay is a fishing town. Every spring the river Oll floods its lower streets.",
        document="Selby Quay",
    ),
    Passage(
        id="oll",
        title="Oll",
        text="The Oll is a river that rises in chalk hills and falls gently to the sea.",
        document="Oll",
    ),
    Passage(
        id="novel",
        title="The Glass Harbour (novel)",
        text="The Glass Harbour is a novel about a harbour pilot who counts ships. It won the Lantern Prize.",
        document="The Glass Harbour (novel)",
    ),
)

_BORN = SubQuestion(text="In which town was #1 born?", answer="Selby Quay", support=1, depends_on=(0,))
_DIRECTED = SubQuestion(text="Who directed the film The Glass Harbour?", answer="Ines Moravec", support=0)

_QUESTIONS = (
    Question(
        id="town",
        text="In which town was the director of the film The Glass Harbour born?",
        answer="Selby Quay",
        supporting=(("harbour",), ("moravec",)),
        type="query",
        decomposition=(_DIRECTED, _BORN),
        evidence=EvidenceGraph(2, ((0, 1),)),
        triples=(("The Glass Harbour", "directed by", "Ines Moravec"), ("Ines Moravec", "born in", "Selby Quay")),
    ),
    Question(
        id="river",
        text="Which river floods the birthplace of the director of the film The Glass Harbour?",
        answer="Oll",
        supporting=(("harbour",), ("moravec",), ("quay",)),
        type="query",
        decomposition=(
            _DIRECTED,
            _BORN,
            SubQuestion(text="Which river floods #2?", answer="Oll", support=2, depends_on=(1,)),
        ),
        evidence=EvidenceGraph(3, ((0, 1), (1, 2))),
        triples=(
            ("The Glass Harbour", "directed by", "Ines Moravec"),
            ("Ines Moravec", "born in", "Selby Quay"),
            ("Selby Quay", "flooded by", "Oll"),
        ),
    ),
)


def example() -> Benchmark:
    """The six passages and their two questions, one of two hops and one of three."""
    return Benchmark("example", Corpus(_PASSAGES), test=_QUESTIONS)
