"""Small files of each published format, written by hand; all of their text is invented."""

from __future__ import annotations

import copy
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
    """Write a file: a list as JSON, a list into NAME.jsonl as JSON lines, text and bytes as they are."""

    def to(name: str, content: object) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        elif path.suffix == ".jsonl":
            path.write_text("".join(json.dumps(record) + "\n" for record in content), encoding="utf-8")
        else:
            path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return to


@pytest.fixture
def told() -> Callable[..., str]:
    """The one line in which loading ends, that ``check`` tells too."""

    def line(path: Path, **settings: object) -> str:
        with pytest.raises(InputError) as raised:
            load(path, **settings)
        assert any(problem.error and str(raised.value).startswith(problem.line) for problem in check(path, **settings))
        assert "\n" not in str(raised.value)
        return str(raised.value)

    return line


@pytest.fixture
def hotpotqa() -> list[dict]:
    """Two questions; the second shares a paragraph with the first."""
    ada = ["Ada Brill", ["Ada Brill was born in Lowick.", " She kept bees.", " She painted boats."]]
    horn = ["Nell Horn", ["Nell Horn is a cape."]]
    ferry = ["Grey Ferry", ["Grey Ferry is a painting.", " It is by Ada Brill."]]
    bridge = {"_id": "h1", "question": "In which town was the painter of Grey Ferry born?", "answer": "Lowick"}
    bridge |= {"type": "bridge", "level": "easy", "context": [ada, horn, ferry]}
    bridge["supporting_facts"] = [["Grey Ferry", 1], ["Ada Brill", 0], ["Ada Brill", 2]]
    comparison = {"_id": "h2", "question": "Which is larger, Nell Horn or Oster Horn?", "answer": "Oster Horn"}
    comparison |= {"type": "comparison", "level": "hard", "supporting_facts": [["Nell Horn", 0], ["Oster Horn", 0]]}
    comparison["context"] = [horn, ["Oster Horn", ["Oster Horn is a large cape.", ""]]]
    return copy.deepcopy([bridge, comparison])


@pytest.fixture
def twowiki() -> list[dict]:
    """A bridge comparison whose supports are not listed in the triples' order, and a compositional question."""
    bridge = {"_id": "w1", "type": "bridge_comparison", "answer": "Salt Road"}
    bridge["question"] = "Which film has the older director, Salt Road or Tin Moon (1931 film)?"
    bridge["context"] = [
        ["Salt Road", ["Salt Road is a film by Ina Koll."]],
        ["Ina Koll", ["Ina Koll was a director.", "She was born in 1890."]],
        ["Tin Moon (1931 film)", ["Tin Moon is a film by Jan Vesper."]],
        ["Jan Vesper", ["Jan Vesper was born in 1902."]],
        ["Other Moon", ["Other Moon is a song."]],
    ]
    bridge["supporting_facts"] = [["Salt Road", 0], ["Ina Koll", 1], ["Tin Moon (1931 film)", 0], ["Jan Vesper", 0]]
    bridge["evidences"] = [
        ["Salt Road", "director", "Ina Koll"],
        ["Tin Moon", "director", "Jan Vesper (director)"],
        ["Ina Koll", "date of birth", "1890"],
        ["Jan Vesper", "date of birth", "1902"],
    ]
    bridge |= {"evidences_id": [], "entity_ids": "Q1_Q2_Q3_Q4", "answer_id": None}
    pairs = {
        "Who directed Tin Moon?": "Tin Moon was directed by Jan Vesper.",
        "Who directed Salt Road?": "Salt Road was directed by Ina Koll.",
        "When was Ina Koll born?": "Ina Koll was born in 1890.",
        "When was Jan Vesper born?": "Jan Vesper was born in 1902.",
    }
    bridge["qa_pairs"] = [{"question": question, "answer": answer} for question, answer in pairs.items()]
    chain = {"_id": "w2", "type": "compositional", "answer": "Marl"}
    chain["question"] = "Where was the singer of Other Moon born?"
    chain["context"] = [
        ["Other Moon", ["Other Moon is a song.", "Peg Amsel sings it."]],
        ["Margaret Amsel", ["Margaret Amsel was born in Marl."]],
    ]
    chain["supporting_facts"] = [["Other Moon", 1], ["Margaret Amsel", 3]]
    chain["evidences"] = [["Other Moon", "performer", "Peg Amsel"], ["Peggy Amsel", "place of birth", "Marl"]]
    chain["evidences_id"] = [["Q5", "performer", "Q6"], ["Q6", "place of birth", "Q7"]]
    return [bridge, chain]


@pytest.fixture
def musique() -> list[dict]:
    """A question of type 3hop2 (two steps meet in a third) with a repeated title, and a 2hop question."""

    def paragraphs(*texts: tuple[str, str, bool]) -> list[dict]:
        names = ("idx", "title", "paragraph_text", "is_supporting")
        return [dict(zip(names, (idx, *text))) for idx, text in enumerate(texts)]

    def steps(*texts: tuple[int, str, str, int]) -> list[dict]:
        return [dict(zip(("id", "question", "answer", "paragraph_support_idx"), text)) for text in texts]

    ode = ("Lowick", "Lowick lies on the Ode.", True)
    first = {"id": "3hop2__7_8_9", "answer": "Tam Orr", "answer_aliases": ["T. Orr"], "answerable": True}
    first["question"] = "Who bridged the river of Lowick in the year of the Marl fire?"
    first["paragraphs"] = paragraphs(
        ("Lowick", "Lowick has a market.", False),
        ("Bridges", "In 1820 Tam Orr bridged it.", True),
        ("Marl", "Marl burned in 1820.", True),
        ode,
    )
    first["question_decomposition"] = steps(
        (7, "Lowick >> river", "Ode", 3),
        (8, "When did Marl burn?", "1820", 2),
        (9, "Who bridged #1 in #2 ?", "Tam Orr", 1),
    )
    second = {"id": "2hop__7_4", "question": "What is caught in the river of Lowick?", "answer": "eel"}
    second |= {"answer_aliases": [], "answerable": True}
    second["paragraphs"] = paragraphs(("Ode", "The Ode is rich in eel.", True), ode)
    second["question_decomposition"] = steps((7, "Lowick >> river", "Ode", 1), (4, "What is caught in #1 ?", "eel", 0))
    return [first, second]


@pytest.fixture
def beir(write: Write) -> Path:
    """A folder with three documents and questions in train and test."""
    documents = [("d1", "Ode", "The Ode is a river. It is rich in eel."), ("d2", "", "Eels swim."), ("d3", "Marl", "")]
    write("beir/corpus.jsonl", [{"_id": id, "title": title, "text": text} for id, title, text in documents])
    write("beir/queries.jsonl", [{"_id": f"q{n}", "text": f"What about {n}?", "metadata": {}} for n in (1, 2, 3)])
    write("beir/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td2\t1\nq1\td1\t2\nq1\td3\t0\n")
    return write("beir/qrels/train.tsv", "query-id\tcorpus-id\tscore\nq2\td3\t1\n").parents[1]


@pytest.fixture
def own(write: Write) -> Path:
    """A folder in the kit's own format: a document of two passages, a question that needs both."""
    write(
        "town/passages.jsonl",
        [
            {"id": "p1", "title": "Lowick", "text": "Lowick is a town. It lies on the Ode.", "document": "lowick"},
            {"id": "p2", "title": "Lowick", "text": "Its mill burned.", "document": "lowick", "position": 1},
        ],
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

    def of(*pages: str | Draw, **options: object) -> bytes:
        sink = BytesIO()
        canvas = Canvas(sink, pagesize=(400, 600), invariant=1, **options)
        for page in pages:
            if callable(page):
                page(canvas)
            else:
                canvas.setFont("Times-Roman", 10)
                for number, line in enumerate(page.splitlines()):
                    canvas.drawString(50, 480 - 12 * number, line)
            canvas.showPage()
        canvas.save()
        return sink.getvalue()

    return of


@pytest.fixture
def documents(write: Write, pdf: Callable[..., bytes]) -> Path:
    """A folder with a PDF of two pages and a question about each way to ask."""
    write("papers/mill.pdf", pdf("The mill stands at Lowick.", "It burned in 1820. A bell was\nsaved."))
    asked = {"id": "q1", "text": "What is on page 2?", "answer": "a fire"}
    quoted = {"id": "q2", "text": "Where is the mill?", "answer": "Lowick"}
    questions = [
        asked | {"structures": [{"document": "mill", "kind": "page", "label": "2"}]},
        quoted | {"quotes": [{"document": "mill", "text": "stands at  Lowick"}]},
    ]
    return write("papers/test.jsonl", questions).parent
