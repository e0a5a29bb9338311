"""Documents of one's own, explored: upload PDFs, ask, see evidence and the path to it (kgp.txt 8.7, Figures 11–18)."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape

import ipywidgets as widgets
import networkx as nx
import pandas as pd
from msgspec.structs import replace

from kit.corpus import Corpus, Passage, Question, read_document
from kit.corpus.structures import Structure, label_of, structures
from kit.errors import InputError
from kit.methods import make
from kit.methods.kgp.structure import StructureReader, mentions
from kit.views.explorer import Explorer
from kit.views.frames import replay
from kit.views.graph_page import spring
from kit.views.replay import Column, Edge, Frame, Node, NodeState, RankItem, Replay, clip, count

_AGENTS = (
    "kgp-tfidf",
    "kgp-dense",
    "kgp-random",
)  # the first finds all that the reports' dev questions need
_BEST = 10  # passages of a walk that are shown
_BAR = re.compile(r"(?<!\\)\|")  # between two cells; one that belongs to a cell's text is escaped
# Jupyter's server drops larger messages, and nobody is told.
_HINT = "Uploads: at most 10 MB at a time; nothing leaves this machine."


class DocumentExplorer(Explorer):
    """Upload PDFs and ask; at first there are ``corpus`` and ``questions``.

    ``passages`` is the evidence in view, ``told`` the line above it.
    """

    def __init__(self, corpus: Corpus, questions: Sequence[Question] = ()) -> None:
        self._own: dict[str, Corpus] = {}  # the reader's own documents, each by its name
        self._upload = widgets.FileUpload(accept=".pdf", multiple=True, description="Upload PDFs")
        scrolling = {"overflow": "auto"}
        self._loaded = widgets.HTML(layout=scrolling | {"max_height": "200px"}, tabbable=True)
        self._evidence = widgets.HTML(layout=scrolling | {"max_height": "350px"}, tabbable=True)
        self._use(corpus, questions)
        asking = widgets.Combobox(
            description="question", options=[*self.questions], continuous_update=False
        )
        asking.value = next(iter(self.questions), "What is on page 1?")
        asking.placeholder, asking.layout.width = "your question, then Enter", "calc(100% - 290px)"
        agent = widgets.Dropdown(description="agent", options=_AGENTS, layout={"width": "260px"})
        controls = {"question": asking, "agent": agent}
        super().__init__(
            "From the question to the evidence", controls, lambda **it: self.ask(**it)[1]
        )
        row, canvas = self.children
        self.children = [self._upload, self._loaded, row, self._evidence, canvas]
        self._upload.observe(self._uploaded, "value")
        self.load({})
        self.present()

    def _use(self, corpus: Corpus, questions: Sequence[Question]) -> None:
        self.corpus, self.structures = corpus, StructureReader(corpus)
        self.questions = {
            it.text: it for it in questions if all(id in corpus for id in it.supporting_ids)
        }
        self._indexed = lru_cache(maxsize=None)(lambda agent: make(agent).variant(corpus=corpus))

    def ask(self, question: str, agent: str) -> tuple[list[Passage], Replay, str]:
        """The evidence, the way to it, and what kind of question it is.

        Structures that it names are fetched (kgp.txt §4), else the agent walks. Raises InputError if it is empty.
        """
        text = question.strip()
        if not text:
            raise InputError("expected a question", field="question")
        named, asked = (
            self.structures.asked(text),
            self.questions.get(text) or Question("", text, "", ()),
        )
        if named:
            passages = [self.corpus.passages[row] for row in self.structures.rows(text)]
            told = "A question about structure: no search is needed."
            return passages, structure_replay(named, passages, self.structures, asked), told
        walker = self._indexed(agent)
        ranking = walker.explain(text, len(self.corpus))
        passages = [self.corpus[id] for id in ranking.ids[:_BEST]]
        told = f"A question about content: {agent} walks the passages, the best {len(passages)} follow."
        told = f"It names a page or table that no document has. {told}" if mentions(text) else told
        return passages, replay(ranking, self.corpus, asked, walker.graph, _BEST), told

    def present(self) -> None:
        self.passages, shown, self.told = self.ask(**self.values)
        self.canvas.show(shown)
        self._evidence.value = lines_html([self.told]) + evidence_html(self.passages)

    def _uploaded(self, change: Mapping) -> None:
        if change["new"]:
            files = {file["name"]: bytes(file["content"]) for file in change["new"]}
            self._upload.value = ()  # so that the same file can be given again
            self.load(files)

    def load(self, files: Mapping[str, bytes]) -> None:
        """Add PDFs, given as bytes by file name, to the reader's own; the first take the place of what was begun with.

        One of the same name replaces an earlier one. What can't be read is told. The question is asked again.
        """
        problems, read = [], {}
        for name, data in files.items():
            try:
                part = Corpus(read_document(name, data))
                read |= dict.fromkeys(part.documents, part)
            except Exception as error:  # a callback's exception would reach only the log
                problems.append(str(error))
        if read:
            self._own |= read
            self._use(
                Corpus(passage for part in self._own.values() for passage in part.passages), ()
            )
            self.controls["question"].options = ()
            self._changed(None)
        refused = lines_html(problems, "kit-problem", "alert") if problems else ""
        self._loaded.value = refused + lines_html([*loaded(self.corpus), _HINT])


def structure_replay(
    named: Sequence[Structure],
    passages: Sequence[Passage],
    reader: StructureReader,
    asked: Question,
) -> Replay:
    """Structures that a question names, and the passages that each of them holds, one structure a frame."""
    corpus = reader.corpus
    held = {
        str(it): [corpus.passages[row].id for row in reader.contains.content(it)] for it in named
    }
    places = spring(nx.Graph(held))
    nodes = [
        Node(name, name, f"holds {count(len(ids), 'passage')}", *places[name])
        for name, ids in held.items()
    ]
    states = {name: NodeState(name, "seed", 1.0) for name in held}
    edges, frames = [], []
    for step, ids in {"what the question names": [], **held, "result": []}.items():
        states |= {id: NodeState(id, "reached", note=f"held by {step}") for id in ids}
        new = [Edge(step, id, ("holds",), emphasised=True, directed=True) for id in ids]
        items = tuple(RankItem(id) for id in states if id in corpus)
        column = Column(f"{len(items)} of {len(passages)} passages fetched", items)
        caption = (
            f"It holds {count(len(ids), 'passage')}."
            if ids
            else f"{step}: {clip(', '.join(held), 300)}."
        )
        frames.append(Frame(step, caption, tuple(states.values()), (*edges, *new), (column,)))
        edges += [replace(edge, emphasised=False) for edge in new]
    return Replay.of(frames, corpus, asked, places, nodes=nodes)


def loaded(corpus: Corpus) -> list[str]:
    """What there is: a line a document."""
    kinds, lines = (
        Counter((structure.document, structure.kind) for structure in structures(corpus)),
        [],
    )
    for name, rows in corpus.documents.items():
        held = [count(kinds[name, kind], kind) for kind in ("page", "table")] + [
            count(len(rows), "passage")
        ]
        lines.append(f"{corpus.passages[rows[0]].title} ({name}): {', '.join(held)}")
    return lines


def evidence_html(passages: Sequence[Passage]) -> str:
    """Numbered passages with title, document, table and page; tables as tables. All text is escaped: it is data."""
    items = []
    for number, passage in enumerate(passages, start=1):
        label = label_of(passage.text) if passage.kind == "table" else None
        parts = [f"Table {label}"] * bool(label) + [f"page {passage.page}"] * (
            passage.page is not None
        )
        place = f"{passage.document} · {', '.join(parts) or f'§{passage.position + 1}'}"
        head = f"<strong>{number} · {escape(passage.title)}</strong> <small>{escape(place)}</small>"
        body = (
            table_html(passage.text)
            if passage.kind == "table"
            else f"<p>{escape(passage.text)}</p>"
        )
        items.append(f"<li>{head}{body}</li>")
    return f'<div class="kit-sheet"><ol aria-label="Evidence">{"".join(items)}</ol></div>'


def table_html(text: str) -> str:
    """A table passage, caption and markdown, as an HTML table; its first row are the names of the columns."""
    lines = [line.strip() for line in text.splitlines()]
    rows = [
        [cell.strip().replace("\\|", "|") for cell in _BAR.split(line)[1:-1]]
        for line in lines
        if line[:1] == "|"
    ]
    head, *body = rows[:1] + rows[2:] or [[]]  # a rule stands below the head
    table = pd.DataFrame(body).reindex(columns=range(len(head))).set_axis(head, axis=1)
    caption = escape(" ".join(line for line in lines if line[:1] != "|").strip())
    with pd.option_context("display.max_colwidth", None):
        html = table.to_html(index=False, border=0, na_rep="").replace(
            "<table", f'<table aria-label="{caption}"', 1
        )
    return f"<strong>{caption}</strong>{html}"


def lines_html(lines: Sequence[str], kind: str = "kit-sheet", role: str = "status") -> str:
    return f'<div class="{kind}" role="{role}">{"".join(f"<p>{escape(line)}</p>" for line in lines)}</div>'
