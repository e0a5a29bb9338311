"""`kit ask`: what a method finds in documents of one's own, where that stands, and why."""

from pathlib import Path

import pytest

import kit
from kit.corpus import load_corpus
from kit.lab.ask import why
from kit.methods.trace import Expansion, InitialScore, Message, NodeVisit, Seed, Trace
from kit.methods.trace import SubQuestionEvent as SubQuestion
from tests.lab.test_cli import kit as command

QUESTION = "Who made the film The Glass Harbour in 1961?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A text of two parts and a web page of one."""
    folder = tmp_path / "notes"
    folder.mkdir()
    film = (
        "# The Glass Harbour\n\nA film of 1961 by Ines Moravec.\n\n## Making\n\nIt was made at sea."
    )
    (folder / "film.md").write_text(film)
    page = "<h1>Ines Moravec</h1><p>Ines Moravec was born in &lt;Selby Quay&gt;."
    (folder / "moravec.html").write_text(page)
    (folder / ".DS_Store").write_text("?")
    return folder


def test_passages_with_scores_places_and_reasons(folder, tmp_path):
    page = tmp_path / "steps.html"
    done = command("ask", QUESTION, "--data", folder, "--html", page, "--set", "top_k=1")
    assert done.returncode == 0, done.stderr
    assert f"note: {folder}: passed over, left by a system or an editor: .DS_Store" in done.stderr

    blocks = done.stdout.strip().split("\n\n")
    corpus = load_corpus([folder])
    table = kit.ask(QUESTION, corpus, top_k=1)
    assert len(blocks) == len(table) == 3
    for block, passage in zip(blocks, table.itertuples()):
        heading, *text, reason = block.split("\n")
        assert heading == f"{passage.rank}. {passage.title} ({passage.place}): {passage.score:.3f}"
        assert "".join(text).split() == passage.text.split()
        assert reason == f"   → {passage.why}"

    by_id = table.set_index("passage")
    assert by_id["place"].to_dict() == {
        "moravec.html#1": "moravec.html",
        "film.md#1": "film.md, part 1 of 2",
        "film.md#2": "film.md, part 2 of 2",
    }
    # The nearest sends its score to the part beside it.
    nearest = by_id.loc["film.md#1"]
    beside = by_id.loc["film.md#2"]
    assert (nearest["rank"], nearest["why"]) == (1, "by its own text alone")
    alone = float(beside["why"].rsplit(" ", 1)[1])
    heard = f"hears from film.md, part 1 of 2 ({nearest['score']:.3f})"
    assert beside["why"] == f"{heard}, by its own text {alone:.3f}"
    assert beside["score"] == pytest.approx((nearest["score"] + alone) / 2, abs=1e-3)

    html = page.read_text("utf-8")
    assert "\\u003cSelby Quay>" in html and "<Selby" not in html
    assert "http" not in html.replace("http://www.w3.org/", "")


@pytest.mark.parametrize("method", ["bm25", "rgnn-ret", "kgp-tfidf"])
def test_the_passages_are_those_that_the_method_retrieves(method):
    corpus = kit.example().corpus
    question = kit.example().test[0].text
    retriever = kit.make(method)
    retriever.index(corpus)
    ranking = retriever.retrieve(question, 3)
    table = kit.ask(question, corpus, method=method, k=3)
    assert tuple(table["passage"]) == ranking.ids
    assert table["score"].tolist() == pytest.approx(ranking.scores[:3].tolist())


def test_parts_are_as_long_as_one_says(folder):
    done = command(
        "ask", QUESTION, "--data", folder, "--method", "bm25", "--passage-tokens", 5, "--k", 9
    )
    assert "moravec.html, part 2 of 2" in done.stdout
    assert "→" not in done.stdout  # a plain search has no reason but the text


def test_what_cannot_be_asked_is_one_line(folder, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    for arguments, line in [
        ((" ", "--data", folder), "kit: field question: expected a question\n"),
        ((QUESTION, "--data", empty), "or .pdf, .txt, .md, .html (documents)\n"),
        ((QUESTION, "--data", folder, "--html", tmp_path / "no" / "a.html"), "that exists\n"),
        ((QUESTION, "--data", folder, "--method", "bm26"), "bm26"),
        (
            ("Zzz?", "--data", folder, "--method", "kgp-tfidf", "--html", tmp_path / "a.html"),
            "kit: field question: kgp-tfidf finds nothing for these words\n",
        ),
    ]:
        done = command("ask", *arguments)
        lines = [text for text in done.stderr.splitlines() if "note:" not in text]
        assert (done.returncode, done.stdout, len(lines)) == (2, "", 1)
        assert line in done.stderr


def test_reasons_by_the_events_of_a_trace(folder):
    corpus = load_corpus([folder])
    first, second, person = (passage.id for passage in corpus.passages)

    def reason(*events) -> str:
        return why(first, Trace(events), corpus, "Who?")

    assert reason(Seed(0, first, 1.0)) == ""
    assert reason(SubQuestion(0, "Who?"), Seed(0, first, 1.0)) == "found for the question itself"
    assert (
        reason(SubQuestion(0, "Who?"), SubQuestion(1, "Where?"), Seed(1, first, 1.0))
        == "found for “Where?”"
    )
    assert reason(NodeVisit(0, first, "", 1.0)) == "the walk begins here"
    assert (
        reason(NodeVisit(1, first, person, 1.0, "a film"), NodeVisit(2, first, second, 1.0))
        == "reached from Ines Moravec, looking for “a film”"
    )
    taken = Expansion(0, "forward", (person,), (first,), ((first, 0.9),))
    assert reason(taken) == "taken forward from Ines Moravec"
    messages = [
        Message(0, source, first, value, 0.25, 0.3, 0.5)
        for source, value in ((second, 0.4), (person, 0.8), (first, 0.9))
    ]
    assert reason(InitialScore(0, first, 0.3), *messages) == (
        "hears from Ines Moravec (0.800), film.md, part 2 of 2 (0.400), by its own text 0.300"
    )
