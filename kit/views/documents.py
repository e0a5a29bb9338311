"""Documents of one's own, explored: upload PDFs, ask, see evidence and the path to it (kgp.txt 8.7, Figures 11–18)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

import ipywidgets as widgets
import msgspec
import networkx as nx
from msgspec.structs import replace

from kit.corpus import Corpus, Passage, Question, load, read_documents
from kit.corpus.pdf import Structure, label_of, structures
from kit.errors import InputError
from kit.paths import ROOT
from kit.retrievers import KGP, make
from kit.retrievers.structure import StructureReader, mentions
from kit.views.explorer import Explorer
from kit.views.frames import count, replay
from kit.views.layout import passage_node, spring
from kit.views.replay import Column, Edge, Frame, Node, NodeState, RankItem, Replay, clip

if TYPE_CHECKING:
    from kit.text.reader import Reader

_MOST = "at most 10 MB at a time"  # Jupyter's server drops larger messages, and nobody is told
_BAR = re.compile(r"(?<!\\)\|")  # between two cells; one that belongs to a cell's text is escaped
_FIRST = "What is on page 1?"  # what documents without questions of their own are asked first


#: A white sheet with dark ink in light and dark themes, as the canvas is.
SHEET = """<style>
.kit-sheet { color: #222; background: #fff; font-size: 14px; line-height: 1.35; padding: 2px 8px; }
.kit-sheet ol { list-style: none; margin: 0; padding: 0; }
.kit-sheet li { margin: 4px 0; padding: 2px 8px; border-left: 6px solid #ddd; overflow-wrap: anywhere; }
.kit-sheet p { margin: 2px 0; white-space: pre-wrap; }
.kit-sheet small { color: #5c5c5c; font-size: 12.5px; }
.kit-sheet table { border-collapse: collapse; color: #222; background: #fff; }
.kit-sheet td, .kit-sheet th { border: 1px solid #bbb; padding: 1px 8px; text-align: left; }
.kit-sheet caption { text-align: left; font-weight: 600; color: #222; }
.kit-problem { color: #7a0000; background: #fdecea; border-left: 4px solid #b00020; padding: 4px 8px; }
</style>"""


class Found(msgspec.Struct, frozen=True):
    """What a question found: its evidence, the way to it, lines for the reader, and what went wrong at the answer."""

    passages: tuple[Passage, ...]
    replay: Replay
    told: tuple[str, ...]
    problem: str = ""


class Library:
    """Loaded documents, the agents that walk them, and who reads the answer, if anyone does.

    An agent indexes the documents when it is first asked.
    """

    def __init__(
        self, corpus: Corpus, questions: Sequence[Question], agents: Mapping[str, KGP], reader: Reader | None, top: int
    ) -> None:
        if not len(corpus):
            raise InputError("expected at least one passage", field="corpus")
        self.corpus, self.agents, self.reader, self.top = corpus, agents, reader, top
        self.questions = {it.text: it for it in questions if all(id in corpus for id in it.supporting_ids)}
        self.structures = StructureReader(corpus)
        self._agent = lru_cache(maxsize=None)(lambda name: agents[name].variant(corpus=corpus))

    @property
    def first_question(self) -> str:
        return next(iter(self.questions), _FIRST)

    def ask(self, question: str, agent: str) -> Found:
        """Structures that the question names are fetched (kgp.txt §4), for any other the agent walks.

        Raises InputError for an empty question.
        """
        text = question.strip()
        if not text:
            raise InputError("expected a question", field="question")
        asked, known = self.structures.asked(text), self.questions.get(text)
        if asked:
            passages = [self.corpus.passages[row] for row in self.structures.rows(text)]
            gold = known.supporting_ids if known else ()
            shown = structure_replay(asked, passages, self.structures, self.corpus, gold)
            told = "A question about structure: no search is needed."
        else:
            walker = self._agent(agent)
            ranking = walker.explain(text, len(self.corpus))
            passages = [self.corpus[id] for id in ranking.ids[: self.top]]
            shown = replay(ranking, self.corpus, question=known, graph=walker.graph, top=self.top)
            unknown = "It names a page or table that no document has. " if mentions(text) else ""
            told = f"{unknown}A question about content: {agent} walks the passages, the best {len(passages)} follow."
        words = f"{text}\nAnswer: {known.answer}" if known else text
        shown = replace(shown, nodes=tuple(map(self._titled, shown.nodes)), question=words)
        answer, problem = self._read(text, passages)
        return Found(tuple(passages), shown, (told, *answer), problem)

    def _titled(self, node: Node) -> Node:
        """With page and first words before the title, which a document's passages share."""
        if node.id not in self.corpus:
            return node
        passage = self.corpus[node.id]
        page = f"p. {passage.page}" if passage.page is not None else f"§{passage.position + 1}"
        return replace(node, title=f"{page} · {clip(passage.text, 40)} · {passage.title}")

    def _read(self, text: str, passages: Sequence[Passage]) -> tuple[list[str], str]:
        """The reader's answer as a line, or what went wrong: the evidence is worth seeing without it."""
        if self.reader is None:
            return [], ""
        try:
            [answer] = self.reader.answer([text], [[passage.full_text for passage in passages]])
        except Exception as error:  # a server that is not there, a model that fails: all of them are told
            return [], f"no answer from {self.reader.name}: {error}"
        return [f"Answer ({self.reader.name}): {answer or 'none'}"], ""


class DocumentExplorer(Explorer):
    """Upload, a list of what is loaded, a question, its evidence, and the way to it. See :func:`explore_documents`."""

    def __init__(self, library: Library, question: str = "") -> None:
        self.library = library
        self._own: dict[str, Corpus] = {}  # the reader's own documents, each by its name
        scrolls = {"overflow": "auto"}
        self._upload = widgets.FileUpload(accept=".pdf", multiple=True, description="Upload PDFs", tooltip=_MOST)
        self._status = widgets.HTML(lines_html([f"{_MOST}; nothing leaves this machine"]))
        self._refused = widgets.HTML()
        self._documents = widgets.HTML(layout={"max_height": "170px", **scrolls}, tabbable=True)
        self._told = widgets.HTML(layout={"min_height": "48px"})
        self._evidence = widgets.HTML(layout={"height": "330px", **scrolls}, tabbable=True)
        typed = widgets.Combobox(
            value=question.strip() or library.first_question,
            description="question",
            placeholder="your question, then Enter",
            continuous_update=False,
            layout={"width": "calc(100% - 290px)"},
        )
        agent = widgets.Dropdown(description="agent", options=list(library.agents), layout={"width": "260px"})
        controls = {"question": typed, "agent": agent}
        super().__init__("From the question to the evidence", controls, lambda **it: self.library.ask(**it).replay)
        self.present = self._present
        asking, canvas = self.children
        above = widgets.HBox([self._upload, self._status])
        self.children = [above, self._refused, self._documents, asking, self._told, self._evidence, canvas]
        self._upload.observe(self._uploaded, "value")
        self._take(library, typed.value)

    def load(self, files: Mapping[str, bytes]) -> None:
        """Add PDFs, given as bytes by file name, to the reader's own; the first take the place of what was begun with.

        One of the same name replaces an earlier one. What can't be read is told, a line each, and leaves all else as it
        is.
        """
        own, problems, n_read = dict(self._own), [], 0
        for name, data in files.items():
            try:
                part = read_documents({name: data})
                others = {id for key, other in own.items() if key not in part.documents for id in other.row}
                if others & part.row.keys():
                    raise InputError("expected PDFs with different names", file=name)
            except InputError as error:
                problems.append(str(error))
            else:
                own |= {document: part for document in part.documents}
                n_read += 1
        if n_read:
            corpus = Corpus(passage for part in own.values() for passage in part.passages)
            old = self.library
            library = Library(corpus, (), old.agents, old.reader, old.top)
            library.ask(library.first_question, self.controls["agent"].value)  # raises before anything has changed
            self._own = own
            self._take(library, library.first_question)
        self._status.value = lines_html([f"{n_read} of {len(files)} read; {_MOST}"])
        self._refused.value = lines_html(problems, "kit-problem") if problems else ""

    def _take(self, library: Library, question: str) -> None:
        self.library, asked = library, self.controls["question"]
        self._documents.value = documents_html(library.corpus)
        asked.options = list(library.questions)
        if asked.value == question:
            self.present()
        else:
            asked.value = question

    def _present(self) -> None:
        self.found = self.library.ask(**self.values)
        self.show(self.found.replay)
        self._told.value = lines_html(self.found.told)
        self._evidence.value = evidence_html(self.found.passages)
        self.canvas.problem = self.found.problem

    def _uploaded(self, change: Mapping) -> None:
        if not change["new"]:
            return
        files = {file["name"]: bytes(file["content"]) for file in change["new"]}
        self._upload.value = ()  # so that the same file can be given again
        try:
            self.load(files)
        except Exception as error:  # a callback's exception would reach only the log
            self._refused.value = lines_html([str(error)], "kit-problem")


def explore_documents(
    corpus: Corpus | None = None,
    questions: Sequence[Question] | None = None,
    *,
    agents: Mapping[str, KGP] | None = None,
    reader: Reader | None = None,
    top: int = 10,
    question: str = "",
) -> DocumentExplorer:
    """Upload PDFs and ask; at first there are ``corpus`` and ``questions``, by default the project's invented reports.

    ``agents`` are retrievers under the names to choose from, those that learn already trained. The default comes first:
    on the reports' dev questions about content its ten passages hold all supports (kgp-dense: 0.95 of them). ``reader``
    answers from the passages that are shown: all of a structure's, or the ``top`` of a walk. ``question`` is asked
    first.
    """
    if corpus is None:
        reports = load(ROOT / "data" / "reports")
        corpus, questions = reports.corpus, reports.test if questions is None else questions
    agents = agents or {name: make(name) for name in ("kgp-tfidf", "kgp-dense", "kgp-random")}
    return DocumentExplorer(Library(corpus, questions or (), agents, reader, top), question)


def structure_replay(
    asked: Sequence[Structure],
    passages: Sequence[Passage],
    reader: StructureReader,
    corpus: Corpus,
    gold: Collection[str] = (),
) -> Replay:
    """Structures that a question names, and the passages that each of them holds, one structure a frame."""
    held = {str(it): [corpus.passages[row].id for row in reader.contains.content(it)] for it in asked}
    graph = nx.Graph()
    graph.add_nodes_from(held)
    graph.add_edges_from((name, id) for name, ids in held.items() for id in ids)
    places = spring(graph)
    nodes = [Node(name, name, f"holds {count(len(ids), 'passage')}", *places[name]) for name, ids in held.items()]
    nodes += [passage_node(corpus, passage.id, places, gold) for passage in passages]
    states = {name: NodeState(name, "seed", 1.0) for name in held}
    edges, frames = [], []
    for step, ids in {"what the question names": [], **held, "result": []}.items():
        states |= {id: NodeState(id, "reached", note=f"held by {step}") for id in ids}
        new = [Edge(step, id, ("holds",), emphasised=True, directed=True) for id in ids]
        items = tuple(RankItem(id) for id in states if id in corpus)
        column = Column(f"{len(items)} of {len(passages)} passages fetched", items)
        caption = f"It holds {count(len(ids), 'passage')}." if ids else f"{step}: {clip(', '.join(held), 300)}."
        frames.append(Frame(step, caption, tuple(states.values()), (*edges, *new), (column,)))
        edges += [replace(edge, emphasised=False) for edge in new]
    return Replay(tuple(nodes), tuple(frames))


# ---- as HTML: text of a document is data, all of it is escaped


def where(passage: Passage) -> str:
    """Where a passage stands: its table and its page, as far as it has them."""
    table = label_of(passage.text) if passage.kind == "table" else None
    parts = [f"Table {table}"] * bool(table) + [f"page {passage.page}"] * (passage.page is not None)
    return ", ".join(parts) or f"§{passage.position + 1}"


def evidence_html(passages: Sequence[Passage]) -> str:
    """Numbered passages with document, title and place; tables as tables."""
    items = []
    for number, passage in enumerate(passages, start=1):
        head = f"<strong>{number} · {escape(passage.title)}</strong>"
        head += f" <small>{escape(f'{passage.document} · {where(passage)}')}</small>"
        body = table_html(passage.text) if passage.kind == "table" else f"<p>{escape(passage.text)}</p>"
        items.append(f"<li>{head}{body}</li>")
    return f'{SHEET}<div class="kit-sheet"><ol aria-label="Evidence">{"".join(items)}</ol></div>'


def table_html(text: str) -> str:
    """A table passage, caption and markdown, as an HTML table; its first row are the names of the columns."""
    lines = text.splitlines()
    split = [_BAR.split(line.strip())[1:-1] for line in lines if line.startswith("|")]
    rows = [[cell.strip().replace("\\|", "|") for cell in row] for row in split]
    caption = " ".join(line for line in lines if line and not line.startswith("|"))
    return _table(f"<table><caption>{escape(caption)}</caption>", rows[:1] + rows[2:])  # no rule below the head


def documents_html(corpus: Corpus) -> str:
    """What is loaded: a row a document with the numbers of its pages, tables and passages."""
    kinds = [(structure.document, structure.kind) for structure in structures(corpus)]
    rows = [["title", "file", "pages", "tables", "passages"]]
    for name, places in corpus.documents.items():
        counts = kinds.count((name, "page")), kinds.count((name, "table")), len(places)
        rows.append([corpus.passages[places[0]].title, name, *map(str, counts)])
    begin = '<table aria-label="Documents loaded">'
    return f'{SHEET}<div class="kit-sheet">{_table(begin, rows)}</div>'


def lines_html(lines: Sequence[str], kind: str = "kit-sheet") -> str:
    """Plain lines, one below the other; ``kit-problem`` makes them an alert."""
    role = "alert" if kind == "kit-problem" else "status"
    return f'{SHEET}<div class="{kind}" role="{role}">{"".join(f"<p>{escape(line)}</p>" for line in lines)}</div>'


def _table(begin: str, rows: Sequence[Sequence[str]]) -> str:
    head, *body = [[escape(cell) for cell in row] for row in rows] or [[]]
    names = "".join(f"<th>{cell}</th>" for cell in head)
    cells = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in body)
    return f"{begin}<thead><tr>{names}</tr></thead><tbody>{cells}</tbody></table>"
