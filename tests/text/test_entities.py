"""The entity linker: its three factors worked out by hand on the six passages."""

from pathlib import Path

import numpy as np
import pytest

from kit.corpus import Corpus, Passage, example
from kit.text import link
from kit.text.entities import SurfaceMatcher, fold, lower, names_in, without_qualifier

#: Of six passages two mention the name: 1 − log 2 / log 6.
TWO_OF_SIX = 1 - np.log(2) / np.log(6)


def priors(corpus: Corpus) -> dict[tuple[str, str], float]:
    incidence = link(corpus)
    matrix = incidence.matrix.tocoo()
    pairs = [
        (corpus.passages[row].id, incidence.terms[column])
        for row, column in zip(matrix.row, matrix.col)
    ]
    return dict(zip(pairs, matrix.data.tolist()))


def test_priors_of_the_example() -> None:
    expected = {
        ("harbour", "The Glass Harbour (film)"): 1,
        ("novel", "The Glass Harbour (novel)"): 1,
        # "The Glass Harbour" may mean the film or the novel: half of it each.
        ("novel", "The Glass Harbour (film)"): TWO_OF_SIX / 2,
        ("harbour", "The Glass Harbour (novel)"): TWO_OF_SIX / 2,
        ("moravec", "Ines Moravec"): 1,
        ("harbour", "Ines Moravec"): TWO_OF_SIX,
        ("quay", "Selby Quay"): 1,
        ("moravec", "Selby Quay"): TWO_OF_SIX,
        ("oll", "Oll"): 1,
        ("quay", "Oll"): TWO_OF_SIX,
        # No page, but a name: it stands for itself.
        ("moravec-later", "Lantern Prize"): TWO_OF_SIX,
        ("novel", "Lantern Prize"): TWO_OF_SIX,
    }
    links = priors(example().corpus)
    assert (
        "moravec-later",
        "Ines Moravec",
    ) not in links  # a later passage's title is its document's
    assert {
        key: value for key, value in links.items() if value < 1 or key in expected
    } == pytest.approx(expected)


def test_link_probability_is_the_share_written_as_a_name() -> None:
    texts = [
        "Tide was drawn by hand.",
        "It was high tide.",
        "Between tide and tide.",
        "The film Tide won.",
    ]
    corpus = Corpus(
        Passage(str(n), "Tide" if n == 0 else f"Page {n}", text, str(n))
        for n, text in enumerate(texts)
    )
    # "tide" occurs six times (a title is read with its passage), three of them with a capital, in
    # two passages of four.
    assert priors(corpus)["3", "Tide"] == pytest.approx(3 / 6 * (1 - np.log(2) / np.log(4)))


def test_an_alias_in_the_lead_links() -> None:
    marsh = Passage(
        "a", "Ottoline Marsh", "Ottoline Marsh, also known as Lina Fenn, was a singer.", "a"
    )
    song = Passage("b", "A Song", "It was first sung by Lina Fenn.", "b")
    town = Passage("c", "A Town", "It has a market.", "c")
    assert priors(Corpus([marsh, song, town]))["b", "Ottoline Marsh"] == pytest.approx(
        1 - np.log(2) / np.log(3)
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Later she moved to Selby Quay.", ["selby quay"]),
        ("It won. The House of the Hill stood.", ["house of the hill"]),
        ("In May the Anna's ship came to St. Orr.", ["anna", "st. orr"]),
        ("She met Ines Moravec. Its print burned.", ["ines moravec"]),
        ("the J. R. Holm prize", ["j. r. holm"]),
        ("Nothing here", []),
    ],
)
def test_names_in_text(text: str, names: list[str]) -> None:
    assert list(names_in(text)) == names


def test_nested_names_are_found_and_parts_of_words_are_not() -> None:
    mentions = SurfaceMatcher(["cassel", "siege of cassel", "oll"])
    surfaces = [(0, "siege of cassel"), (9, "cassel"), (31, "oll")]
    assert sorted(mentions.find("Siege of Cassel, a roll of the Oll")) == surfaces
    assert list(SurfaceMatcher([]).find("anything")) == []
    assert [fold(name) for name in ("The  Glass Harbour", '"Ines Moravec\'s"')] == [
        "glass harbour",
        "ines moravec",
    ]
    assert without_qualifier("Left & Right (song)") == "Left & Right"
    assert without_qualifier("(untitled)") == "(untitled)"
    assert len(lower("İstanbul")) == len("İstanbul")


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("file", "least"),
    [("hotpotqa/dev.json", 0.61), ("2wikimultihopqa/dev.json", 0.69), ("musique/dev.jsonl", 0.69)],
)
def test_supporting_passages_are_neighbours(realdata: Path, file: str, least: float) -> None:
    """At a mean degree of at most 22, most supports touch another one of their question."""
    from kit.corpus import load
    from kit.graphs import build

    benchmark = load(realdata / file)
    graph = build("entity", benchmark.corpus)
    linked = []
    for question in benchmark.test:
        rows = [benchmark.corpus.row[support] for support in question.supporting_ids]
        linked += [bool(set(rows) & set(graph.neighbours(row).tolist())) for row in rows]
    assert graph.mean_degree <= 22
    assert np.mean(linked) >= least
