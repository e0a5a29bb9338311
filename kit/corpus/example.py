"""Six passages and two questions, small enough to check every number by hand: the first page of each notebook."""

from __future__ import annotations

from kit.corpus.types import Benchmark, Corpus, EvidenceGraph, Passage, Question, SubQuestion

_FILM, _NOVEL, _PAINTER = "The Glass Harbour (film)", "The Glass Harbour (novel)", "Ines Moravec"
_TEXTS = {
    (
        "harbour",
        _FILM,
    ): "The Glass Harbour is a silent film directed by Ines Moravec. Its only print burned in a cellar.",
    (
        "moravec",
        _PAINTER,
    ): "Ines Moravec was a painter who turned to pictures. She was born in Selby Quay, a net-maker's child.",
    ("moravec-later", _PAINTER): "Later she taught drawing, and the Lantern Prize came too late to please her.",
    ("quay", "Selby Quay"): "Selby Quay is a fishing town. Every spring the river Oll floods its lower streets.",
    ("oll", "Oll"): "The Oll is a river that rises in chalk hills and falls gently to the sea.",
    ("novel", _NOVEL): "The Glass Harbour is a novel about a harbour pilot who counts ships. It won the Lantern Prize.",
}
_PASSAGES = [
    Passage(id, title, text, title, position=int(id == "moravec-later")) for (id, title), text in _TEXTS.items()
]
_STEPS = (
    SubQuestion("Who directed the film The Glass Harbour?", "Ines Moravec", support=0),
    SubQuestion("In which town was #1 born?", "Selby Quay", support=1, depends_on=(0,)),
    SubQuestion("Which river floods #2?", "Oll", support=2, depends_on=(1,)),
)
_TRIPLES = (
    ("The Glass Harbour", "directed by", "Ines Moravec"),
    ("Ines Moravec", "born in", "Selby Quay"),
    ("Selby Quay", "flooded by", "Oll"),
)
_QUESTIONS = (
    Question(
        id="town",
        text="In which town was the director of the film The Glass Harbour born?",
        answer="Selby Quay",
        supporting=(("harbour",), ("moravec",)),
        type="query",
        decomposition=_STEPS[:2],
        evidence=EvidenceGraph(2, ((0, 1),)),
        triples=_TRIPLES[:2],
    ),
    Question(
        id="river",
        text="Which river floods the birthplace of the director of the film The Glass Harbour?",
        answer="Oll",
        supporting=(("harbour",), ("moravec",), ("quay",)),
        type="query",
        decomposition=_STEPS,
        evidence=EvidenceGraph(3, ((0, 1), (1, 2))),
        triples=_TRIPLES,
    ),
)


def example() -> Benchmark:
    """The six passages and their two questions, one of two hops and one of three."""
    return Benchmark("example", Corpus(_PASSAGES), test=_QUESTIONS)
