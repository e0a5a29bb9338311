"""The entity linker: its three factors worked out by hand on the six passages."""

from pathlib import Path

import numpy as np
import pytest

from kit.corpus import Corpus, Passage, example
from kit.errors import InputError, Note
from kit.text import link
from kit.text.entities import (
    SurfaceMatcher,
    fold,
    lower,
    names_in,
    read_annotations,
    surfaces,
    without_qualifier,
)

#: Two passages mention the name, of few, which count as 64: 1 − log 2 / log 64.
OF_TWO = 5 / 6


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
        ("novel", "The Glass Harbour (film)"): OF_TWO / 2,
        ("harbour", "The Glass Harbour (novel)"): OF_TWO / 2,
        ("moravec", "Ines Moravec"): 1,
        ("harbour", "Ines Moravec"): OF_TWO,
        ("quay", "Selby Quay"): 1,
        ("moravec", "Selby Quay"): OF_TWO,
        ("oll", "Oll"): 1,
        ("quay", "Oll"): OF_TWO,
        # No page, but a name: it stands for itself.
        ("moravec-later", "Lantern Prize"): OF_TWO,
        ("novel", "Lantern Prize"): OF_TWO,
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
    assert priors(corpus)["3", "Tide"] == pytest.approx(3 / 6 * OF_TWO)


def test_an_alias_in_the_lead_links() -> None:
    marsh = Passage(
        "a", "Ottoline Marsh", "Ottoline Marsh, also known as Lina Fenn, was a singer.", "a"
    )
    song = Passage("b", "A Song", "It was first sung by Lina Fenn.", "b")
    town = Passage("c", "A Town", "It has a market.", "c")
    assert priors(Corpus([marsh, song, town]))["b", "Ottoline Marsh"] == pytest.approx(OF_TWO)


def with_passage(title: str, text: str) -> Corpus:
    """The six passages and a seventh."""
    return Corpus([*example().corpus.passages, Passage("extra", title, text, "extra")])


def test_one_more_mention_in_a_small_corpus_cuts_no_edge() -> None:
    corpus = with_passage("A Letter", "It was sent to Ines Moravec.")
    # Three of seven passages mention her: 1 − log 3 / log 7 would be 0.435.
    prior = 1 - np.log(3) / np.log(64)
    assert priors(corpus)["harbour", "Ines Moravec"] == pytest.approx(prior)
    assert prior > 0.6


def test_specificity_of_64_passages_and_more_counts_them() -> None:
    passages = [Passage(str(n), f"Page {n}", "By the Oll.", str(n)) for n in range(81)]
    passages += [Passage("oll", "Oll", "A river.", "oll")]
    links = priors(Corpus(passages[:3] + passages[-1:]))
    assert links["0", "Oll"] == pytest.approx(1 - np.log(4) / np.log(64))
    far = [Passage(str(n), f"Page {n}", "Nothing.", str(n)) for n in range(3, 80)]
    links = priors(Corpus(passages[:3] + far + passages[-1:]))
    assert links["0", "Oll"] == pytest.approx(1 - np.log(4) / np.log(81))


def test_without_specificity_the_prior_is_tagmes() -> None:
    incidence = link(example().corpus, specificity=False)
    weights = incidence.matrix.tocoo().data
    # Every name is always written as one; "The Glass Harbour" means the film or the novel.
    assert sorted(set(weights.tolist())) == [0.5, 1.0]
    assert np.count_nonzero(weights == 0.5) == 2


@pytest.mark.parametrize(
    ("title", "text", "links"),
    [
        ("A Winter", "Ines Moravec wrote this novel in a winter.", False),
        ("A Winter", "Ines Moravec is the heroine of this novel.", True),
        ("Mark Fenn", "Samuel Clem Holm (born 1835) was a writer.", True),
        ("John Holm (pilot)", "John Selby Holm flew mail.", True),
    ],
)
def test_the_name_that_opens_an_article_is_an_alias_if_it_is_the_subjects(
    title: str, text: str, links: bool
) -> None:
    corpus = with_passage(title, text)
    name = " ".join(text.split()[: 2 if text.startswith("Ines") else 3])
    is_alias = "extra" in surfaces(corpus).get(fold(name), {})
    assert is_alias == links


def test_an_alias_by_a_writers_name_takes_nothing_from_her_own_article() -> None:
    corpus = with_passage("A Winter", "Ines Moravec wrote this novel in a winter.")
    prior = 1 - np.log(3) / np.log(64)  # with such an alias two thirds of it
    assert priors(corpus)["harbour", "Ines Moravec"] == pytest.approx(prior)


# ---- entities that another linker found

ANNOTATED = """\ufeffharbour\tInes Moravec\tInes_Moravec
moravec\tshe\tInes_Moravec\r

quay\tOll\t
elsewhere\tOll\tOll
oll\tOll\tOll
"""


def test_annotations_of_another_linker_are_read(tmp_path: Path) -> None:
    file = tmp_path / "entities.tsv"
    file.write_text(ANNOTATED, "utf-8")
    corpus = example().corpus
    with pytest.warns(Note, match="1 lines are about passages that the corpus lacks"):
        incidence = read_annotations(file, corpus)
    assert incidence.terms.tolist() == ["Ines_Moravec", "Oll"]
    matrix = incidence.matrix.tocoo()
    held = {(corpus.passages[row].id, column) for row, column in zip(matrix.row, matrix.col)}
    # Without a page the surface stands for itself.
    assert held == {("harbour", 0), ("moravec", 0), ("quay", 1), ("oll", 1)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("harbour\tOll\n", "record 1: expected passage, surface and page, with tabs between"),
        ("\nharbour\t\t\n", "record 2: expected passage, surface and page"),
        ("elsewhere\tOll\tOll\n", "expected a line about a passage of the corpus"),
        (None, "no such file"),
    ],
)
def test_annotations_of_another_form_are_one_plain_line(
    text: str | None, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "entities.tsv"
    if text is not None:
        file.write_text(text, "utf-8")
    with pytest.raises(InputError, match=f"entities.tsv.*{message}"):
        read_annotations(file, example().corpus)


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
