"""Documents of one's own, explored: upload PDFs, ask, see evidence and the path to it (kgp.txt 8.7, Figures 11–18)."""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from html import escape

import ipywidgets as widgets
import networkx as nx
import pandas as pd
from msgspec.structs import replace

from kit.corpus import Corpus, Passage, Question, read_document
from kit.corpus.structures import Structure, label_of, structures
from kit.errors import InputError
from kit.retrievers import KGP, make
from kit.retrievers.structure import StructureReader, mentions
from kit.views.explorer import Explorer
from kit.views.frames import count, replay
from kit.views.layout import passage_node, spring
from kit.views.replay import Column, Edge, Frame, Node, NodeState, RankItem, Replay, clip

_BEST = 10  # passages of a walk that are shown
_BAR = re.compile(r"(?<!\\)\|")  # between two cells; one that belongs to a cell's text is escaped


class DocumentExplorer(Explorer):
    """Upload PDFs and ask; at first there are ``corpus`` and ``questions``.

    ``agents`` are retrievers under the names to choose from, those that learn already trained. The default comes first:
    on the reports' dev questions about content its ten passages hold all supports (kgp-dense: 0.95 of them).
    ``passages`` is the evidence in view, ``told`` the line above it.
    """

    def __init__(
        self, corpus: Corpus, questions: Sequence[Question] = (), agents: Mapping[str, KGP] | None = None
    ) -> None:
        self.agents = agents or {name: make(name) for name in ("kgp-tfidf", "kgp-dense", "kgp-random")}
        self._own: dict[str, Corpus] = {}  # the reader's own documents, each by its name
        self._use(corpus, questions)
        self._upload = widgets.FileUpload(accept=".pdf", multiple=True, description="Upload PDFs")
        self._refused, self._documents, self._told, self._evidence = (
            widgets.HTML(layout={"max_height": height, "overflow": "auto"}, tabbable=bool(height))
            for height in ("", "170px", "", "330px")
        )
        asking = widgets.Combobox(
            value=next(iter(self.questions), "What is on page 1?"),
            options=list(self.questions),
            continuous_update=False,
            description="question",
            placeholder="your question, then Enter",
            layout={"width": "calc(100% - 290px)"},
        )
        agent = widgets.Dropdown(description="agent", options=list(self.agents), layout={"width": "260px"})
        controls = {"question": asking, "agent": agent}
        super().__init__("From the question to the evidence", controls, lambda **it: self.ask(**it)[1])
        # Jupyter's server drops larger messages, and nobody is told.
        hint = widgets.HTML(_lines(["at most 10 MB at a time; nothing leaves this machine"]))
        above, (row, canvas) = widgets.HBox([self._upload, hint]), self.children
        self.children = [above, self._refused, self._documents, row, self._told, self._evidence, canvas]
        self._upload.observe(self._uploaded, "value")
        self.present()

    def _use(self, corpus: Corpus, questions: Sequence[Question]) -> None:
        self.corpus, self.structures = corpus, StructureReader(corpus)
        self.questions = {it.text: it for it in questions if all(id in corpus for id in it.supporting_ids)}
        self._indexed = lru_cache(maxsize=None)(lambda agent: self.agents[agent].variant(corpus=corpus))

    def ask(self, question: str, agent: str) -> tuple[list[Passage], Replay, str]:
        """The evidence, the way to it, and what kind of question it is.

        Structures that it names are fetched (kgp.txt §4), else the agent walks. Raises InputError if it is empty.
        """
        text = question.strip()
        if not text:
            raise InputError("expected a question", field="question")
        asked, known = self.structures.asked(text), self.questions.get(text)
        if asked:
            passages = [self.corpus.passages[row] for row in self.structures.rows(text)]
            shown = structure_replay(asked, passages, self.structures, known.supporting_ids if known else ())
            told = "A question about structure: no search is needed."
        else:
            walker = self._indexed(agent)
            ranking = walker.explain(text, len(self.corpus))
            passages = [self.corpus[id] for id in ranking.ids[:_BEST]]
            shown = replay(ranking, self.corpus, question=known, graph=walker.graph, top=_BEST)
            unknown = "It names a page or table that no document has. " if mentions(text) else ""
            told = f"{unknown}A question about content: {agent} walks the passages, the best {len(passages)} follow."
        words = f"{text}\nAnswer: {known.answer}" if known else text
        return passages, replace(shown, nodes=tuple(map(self._titled, shown.nodes)), question=words), told

    def _titled(self, node: Node) -> Node:
        """A passage under its page and first words: those of a document share their title."""
        if node.id not in self.corpus:
            return node
        passage = self.corpus[node.id]
        page = f"§{passage.position + 1}" if passage.page is None else f"p. {passage.page}"
        return replace(node, title=f"{page} · {clip(passage.text, 40)} · {passage.title}")

    def present(self) -> None:
        self.passages, shown, self.told = self.ask(**self.values)
        self.show(shown)
        self._documents.value = _lines(loaded(self.corpus))
        self._told.value = _lines([self.told])
        self._evidence.value = evidence_html(self.passages)

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
        self._refused.value = _lines(problems, "kit-problem", "alert") if problems else ""
        if read:
            self._own |= read
            self._use(Corpus(passage for part in self._own.values() for passage in part.passages), ())
            self.controls["question"].options = ()
            self._changed(None)


def structure_replay(
    asked: Sequence[Structure], passages: Sequence[Passage], reader: StructureReader, gold: Collection[str]
) -> Replay:
    """Structures that a question names, and the passages that each of them holds, one structure a frame."""
    corpus = reader.corpus
    held = {str(it): [corpus.passages[row].id for row in reader.contains.content(it)] for it in asked}
    places = spring(nx.Graph(held))
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


def loaded(corpus: Corpus) -> list[str]:
    """What there is: a line a document."""
    kinds, lines = [(structure.document, structure.kind) for structure in structures(corpus)], []
    for name, rows in corpus.documents.items():
        held = [count(kinds.count((name, kind)), kind) for kind in ("page", "table")]
        title = corpus.passages[rows[0]].title
        lines.append(f"{title} ({name}): {', '.join(held)}, {count(len(rows), 'passage')}")
    return lines


def evidence_html(passages: Sequence[Passage]) -> str:
    """Numbered passages with title, document, table and page; tables as tables. All text is escaped: it is data."""
    items = []
    for number, passage in enumerate(passages, start=1):
        label = label_of(passage.text) if passage.kind == "table" else None
        parts = [f"Table {label}"] * bool(label) + [f"page {passage.page}"] * (passage.page is not None)
        place = f"{passage.document} · {', '.join(parts) or f'§{passage.position + 1}'}"
        head = f"<strong>{number} · {escape(passage.title)}</strong> <small>{escape(place)}</small>"
        body = table_html(passage.text) if passage.kind == "table" else f"<p>{escape(passage.text)}</p>"
        items.append(f"<li>{head}{body}</li>")
    return f'<div class="kit-sheet"><ol aria-label="Evidence">{"".join(items)}</ol></div>'


def table_html(text: str) -> str:
    """A table passage, caption and markdown, as an HTML table; its first row are the names of the columns."""
    lines = [line.strip() for line in text.splitlines()]
    rows = [[cell.strip().replace("\\|", "|") for cell in _BAR.split(line)[1:-1]] for line in lines if line[:1] == "|"]
    head, *body = rows[:1] + rows[2:] or [[]]  # a rule stands below the head
    table = pd.DataFrame(body).reindex(columns=range(len(head))).set_axis(head, axis=1)
    caption = escape(" ".join(line for line in lines if line[:1] != "|").strip())
    with pd.option_context("display.max_colwidth", None):
        html = table.to_html(index=False, border=0, na_rep="").replace("<table", f'<table aria-label="{caption}"', 1)
    return f"<strong>{caption}</strong>{html}"


def _lines(lines: Sequence[str], kind: str = "kit-sheet", role: str = "status") -> str:
    return f'<div class="{kind}" role="{role}">{"".join(f"<p>{escape(line)}</p>" for line in lines)}</div>'
