"""Small files of each published format, written by hand; all of their text is invented."""

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from kit.corpus import check, load
from kit.errors import InputError

Write = Callable[[str, object], Path]
Draw = Callable[[Canvas], None]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file: a list as JSON, or JSON lines in NAME.jsonl; text and bytes as they are."""

    def to(name: str, content: object) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, bytes | str):
            if path.suffix == ".jsonl":
                content = "".join(json.dumps(record) + "\n" for record in content)
            else:
                content = json.dumps(content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to


@pytest.fixture
def problem_of() -> Callable[[Path], str]:
    """The one line in which loading ends, that ``check`` tells too."""

    def load_and_check(path: Path) -> str:
        with pytest.raises(InputError) as raised:
            load(path)
        line = str(raised.value)
        problems, _ = check(path)
        assert any(line.startswith(problem) for problem in problems)
        assert "\n" not in line
        return line

    return load_and_check


def sample(name: str) -> list[dict]:
    return json.loads((Path(__file__).parent / "samples" / f"{name}.json").read_text("utf-8"))


@pytest.fixture
def hotpotqa() -> list[dict]:
    """Two questions; the second shares a paragraph with the first."""
    return sample("hotpotqa")


@pytest.fixture
def reasongraphqa() -> list[dict]:
    """A question of two chains, whose facts are not in their order, and one of a single fact."""
    return sample("reasongraphqa")


@pytest.fixture
def twowiki() -> list[dict]:
    """A bridge comparison whose supports are not in the triples' order, and a composition."""
    return sample("twowiki")


@pytest.fixture
def musique() -> list[dict]:
    """A 3hop2 question (two steps meet in a third) with a repeated title, and a 2hop question."""
    return sample("musique")


@pytest.fixture
def iirc(write: Write) -> Path:
    """Four questions about a passage, one without an answer, with the articles that it links to."""
    articles = json.loads((Path(__file__).parent / "samples" / "iirc_articles.json").read_text())
    write("iirc/context_articles.json", articles)
    return write("iirc/dev.json", sample("iirc"))


@pytest.fixture
def quality() -> list[dict]:
    """Two sets of questions about one article."""
    return sample("quality")


@pytest.fixture
def beir(write: Write) -> Path:
    """A folder with three documents and questions in train and test."""
    documents = [
        ("d1", "Ode", "The Ode is a river. It is rich in eel."),
        ("d2", "", "Eels swim."),
        ("d3", "Marl", ""),
    ]
    write(
        "beir/corpus.jsonl",
        [{"_id": name, "title": title, "text": text} for name, title, text in documents],
    )
    write(
        "beir/queries.jsonl",
        [{"_id": f"q{n}", "text": f"What about {n}?", "metadata": {}} for n in (1, 2, 3)],
    )
    write("beir/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td2\t1\nq1\td1\t2\nq1\td3\t0\n")
    return write("beir/qrels/train.tsv", "query-id\tcorpus-id\tscore\nq2\td3\t1\n").parents[1]


@pytest.fixture
def kit_folder(write: Write) -> Path:
    """A folder in the kit's own format: a document of two passages, a question that needs both."""
    first = {
        "id": "p1",
        "title": "Lowick",
        "text": "Lowick is a town. It lies on the Ode.",
        "document": "lowick",
    }
    write(
        "town/passages.jsonl",
        [first, first | {"id": "p2", "text": "Its mill burned.", "position": 1}],
    )
    question = {
        "id": "q1",
        "text": "What burned in the town on the Ode?",
        "answer": "mill",
        "supporting": [["p1"], ["p2"]],
        "decomposition": [
            {"text": "Which town is on the Ode?", "answer": "Lowick", "support": 0},
            {"text": "What burned in #1?", "answer": "mill", "support": 1, "depends_on": [0]},
        ],
        "evidence": {"n_nodes": 2, "edges": [[0, 1]]},
    }
    return write("town/test.jsonl", [question]).parent


@pytest.fixture
def pdf() -> Callable[..., bytes]:
    """Make a PDF: a page is a text with a line a line, or a function that draws on a canvas."""

    def make(*pages: str | Draw, **options: object) -> bytes:
        sink = BytesIO()
        canvas = Canvas(sink, pagesize=(400, 600), invariant=1, **options)
        for page in pages:
            if callable(page):
                page(canvas)
            else:
                canvas.setFont("Times-Roman", 10)
                for index, line in enumerate(page.splitlines()):
                    canvas.drawString(50, 480 - 12 * index, line)
            canvas.showPage()
        canvas.save()
        return sink.getvalue()

    return make


@pytest.fixture
def documents(write: Write, pdf: Callable[..., bytes]) -> Path:
    """A folder with a PDF of two pages and a question about each way to ask."""
    write(
        "papers/mill.pdf",
        pdf("The mill stands at Lowick.", "It burned in 1820. A bell was\nsaved."),
    )
    about_page = {"id": "q1", "text": "What is on page 2?", "answer": "a fire"}
    quoted = {"id": "q2", "text": "Where is the mill?", "answer": "Lowick"}
    questions = [
        about_page | {"structures": [{"document": "mill", "kind": "page", "label": "2"}]},
        quoted | {"quotes": [{"document": "mill", "text": "stands at  Lowick"}]},
    ]
    return write("papers/test.jsonl", questions).parent
