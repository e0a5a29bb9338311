"""Documents of one's own, explored: upload PDFs, ask, see evidence and the path to it (kgp.txt 8.7, Figures 11–18)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import ipywidgets as widgets
import msgspec
import networkx as nx
from msgspec.structs import replace

from kit.corpus import Corpus, Passage, Question, load, read_documents
from kit.corpus.pdf import Structure
from kit.errors import InputError
from kit.paths import ROOT
from kit.retrievers import KGP, NodeVisit, Ranking, make
from kit.retrievers.structure import StructureReader, mentions
from kit.views.evidence import documents_html, evidence_html, lines_html, where
from kit.views.explorer import Explorer, wide
from kit.views.frames import replay
from kit.views.layout import passage_node, spring
from kit.views.replay import Column, Edge, Frame, Node, NodeState, RankItem, Replay, clip

if TYPE_CHECKING:
    from kit.text.readers import Reader

_MOST = "at most 10 MB at a time"  # Jupyter's server drops larger messages, and nobody is told
_FIRST = "What is on page 1?"  # what documents without questions of their own are asked first


class Found(msgspec.Struct, frozen=True):
    """What a question found: ``structures`` that it asks for (none: it is about content), evidence, and the replay.

    ``ways`` says of a passage how it was come by; ``told`` are lines for the reader, ``problem`` what went wrong when
    the answer was read.
    """

    structures: tuple[Structure, ...]
    passages: tuple[Passage, ...]
    ways: dict[str, str]
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
        self._known: dict[tuple[str, str], Found] = {}

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
        found = self._known.get((text, agent)) or self._find(text, agent)
        if not found.problem:  # what went wrong is tried again
            self._known[text, agent] = found
        return found

    def _find(self, text: str, agent: str) -> Found:
        asked, known, ways = self.structures.asked(text), self.questions.get(text), {}
        if asked:
            passages = [self.corpus.passages[row] for row in self.structures.rows(text)]
            gold = known.supporting_ids if known else ()
            shown = structure_replay(asked, passages, self.structures, self.corpus, gold)
            told = [f"A question about structure: {_listed(asked)}. No search is needed."]
        else:
            walker = self._agent(agent)
            ranking = walker.explain(text, len(self.corpus))
            passages = [self.corpus[id] for id in ranking.ids[: self.top]]
            ways = _ways(ranking, self.corpus)
            shown = replay(ranking, self.corpus, question=known, graph=walker.graph, top=self.top)
            unknown = "It names a page or table that no document has. " if mentions(text) else ""
            told = [f"{unknown}A question about content: {agent} walks the passages, the best {len(passages)} follow."]
        words = f"{text}\nAnswer: {known.answer}" if known else text
        nodes = tuple(self._titled(node) for node in shown.nodes)
        answer, problem = self._read(text, passages)
        shown = replace(shown, nodes=nodes, question=words)
        return Found(asked, tuple(passages), ways, shown, (*told, *answer), problem)

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
    """Upload, a list of what is loaded, a question, its evidence, and the path to it. See :func:`explore_documents`."""

    def __init__(self, library: Library, question: str = "") -> None:
        self._begun = self.library = library
        self._own: dict[str, Corpus] = {}  # the reader's own documents, each by its name
        scrolls = {"overflow": "auto"}
        self._upload = widgets.FileUpload(accept=".pdf", multiple=True, description="Upload PDFs", tooltip=_MOST)
        self._again = widgets.Button(description="Start again", tooltip="Back to the documents of the beginning")
        self._status = widgets.HTML(lines_html([f"{_MOST}; nothing leaves this machine"]))
        self._refused = widgets.HTML()
        self._documents = widgets.HTML(layout={"max_height": "170px", **scrolls}, tabbable=True)
        self._told = widgets.HTML(layout={"min_height": "48px"})
        self._evidence = widgets.HTML(layout={"height": "330px", **scrolls}, tabbable=True)
        self._choice = wide("or choose", [], None)
        self._ask = widgets.Button(description="Ask", button_style="primary", layout={"width": "70px"})
        typed = widgets.Text(
            question.strip() or library.first_question,
            description="question",
            placeholder="your question, then Enter",
            continuous_update=False,
            layout={"width": "calc(60% - 80px)"},
        )
        agent = widgets.Dropdown(description="agent", options=list(library.agents), layout={"width": "260px"})
        controls = {"question": typed, "agent": agent}
        super().__init__("From the question to the evidence", controls, lambda **it: self.library.ask(**it).replay)
        self.present = self._present
        self._choice.layout.width = "calc(100% - 270px)"
        above = widgets.HBox([self._upload, self._again, self._status])
        asking = widgets.VBox([widgets.HBox([typed, self._ask]), widgets.HBox([self._choice, agent])])
        parts = [above, self._refused, self._documents, asking, self._told, self._evidence, self.canvas]
        self.children = parts
        self._upload.observe(self._uploaded, "value")
        self._again.on_click(lambda _: self._noting(lambda: self._take(self._begun, {})))
        self._ask.on_click(lambda _: self._noting(self.present))
        self.guard(self._choice, self._choose)
        self.canvas.observe(lambda _: self._show_evidence(), "index")
        self._show_documents()
        self._present()

    @property
    def found(self) -> Found:
        """What the question in the field has found."""
        return self._found

    def load(self, files: Mapping[str, bytes]) -> None:
        """Add PDFs, given as bytes by file name, to the reader's own; the first take the place of what was begun with.

        One of the same name replaces an earlier one. What can't be read is told, a line each, and leaves all else as it
        is.
        """
        own, problems, n_read = dict(self._own), [], 0
        for number, (name, data) in enumerate(files.items(), start=1):
            self._status.value = lines_html([f"reading {name} ({number} of {len(files)})"])
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
            self._status.value = lines_html(["indexing"])
            corpus = Corpus(passage for part in own.values() for passage in part.passages)
            old = self.library
            self._take(Library(corpus, (), old.agents, old.reader, old.top), own)
        self._status.value = lines_html([f"{n_read} of {len(files)} read; {_MOST}"])
        self._refused.value = lines_html(problems, "kit-problem") if problems else ""

    def _take(self, library: Library, own: Mapping[str, Corpus]) -> None:
        """Put other documents in place of those loaded, once they have answered their first question."""
        question = library.first_question
        library.ask(question, self.controls["agent"].value)
        self.library, self._own = library, dict(own)
        self._show_documents()
        self._refused.value = ""
        if self.controls["question"].value == question:
            self.present()
        else:
            self.controls["question"].value = question

    def _present(self) -> None:
        self._found = self.library.ask(**self.values)
        self.show(self._found.replay)
        self._told.value = lines_html(self._found.told)
        self._show_evidence()
        self.canvas.problem = self._found.problem

    def _show_documents(self) -> None:
        self._documents.value = documents_html(self.library.corpus)
        texts = [clip(text, 110) for text in self.library.questions]
        self._choice.options = [("", None), *zip(texts, self.library.questions)]
        self._choice.layout.visibility = "visible" if texts else "hidden"

    def _show_evidence(self) -> None:
        frames = self._found.replay.frames
        marked = on_path(frames[min(self.canvas.index, len(frames) - 1)])
        self._evidence.value = evidence_html(self._found.passages, self._found.ways, marked)

    def _choose(self) -> None:
        if self._choice.value:
            self.controls["question"].value = self._choice.value

    def _uploaded(self, change: Mapping) -> None:
        if change["new"]:
            files = {file["name"]: bytes(file["content"]) for file in change["new"]}
            self._upload.value = ()  # so that the same file can be given again
            self._noting(lambda: self.load(files))

    def _noting(self, act: Callable[[], None]) -> None:
        """Do what was asked for above the question, and show there what it raises."""
        try:
            act()
        except Exception as error:  # a callback's exception would reach only the log
            told = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
            self._refused.value = lines_html([told], "kit-problem")


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
    held = {structure: [corpus.passages[row].id for row in reader.contains.content(structure)] for structure in asked}
    graph = nx.Graph()
    graph.add_nodes_from([str(structure) for structure in asked])
    graph.add_edges_from((str(structure), id) for structure, ids in held.items() for id in ids)
    places = spring(graph)
    nodes = [Node(str(it), str(it), f"holds {_passages(len(held[it]))}", *places[str(it)]) for it in asked]
    nodes += [passage_node(corpus, passage.id, places, gold) for passage in passages]
    states = {str(structure): NodeState(str(structure), "seed", 1.0) for structure in asked}
    edges: list[Edge] = []
    frames: list[Frame] = []

    def frame(step: str, caption: str, *new: Edge) -> None:
        items = tuple(RankItem(id) for id in states if id in corpus)
        column = Column(f"{len(items)} of {len(passages)} passages fetched", items)
        frames.append(Frame(step, caption, tuple(states.values()), (*edges, *new), (column,)))

    frame("what the question names", f"The question names {_listed(asked)}.")
    for structure, ids in held.items():
        states |= {id: NodeState(id, "reached", note=f"held by {structure}") for id in ids}
        new = [Edge(str(structure), id, ("holds",), emphasised=True, directed=True) for id in ids]
        frame(str(structure), f"It holds {_passages(len(ids))}.", *new)
        edges += [replace(edge, emphasised=False) for edge in new]
    frame("result", f"{_passages(len(passages))}: all that is asked for, and nothing else.")
    return Replay(tuple(nodes), tuple(frames))


def on_path(frame: Frame) -> set[str]:
    """The passages that a frame is about: on the path that grows, or visited or held now; at first the seeds."""
    told = {state.node for state in frame.states if state.role == "path"}
    told |= {edge.target for edge in frame.edges if edge.emphasised}
    return told if frame.edges else {state.node for state in frame.states if state.role == "seed"}


def _ways(ranking: Ranking, corpus: Corpus) -> dict[str, str]:
    """For each passage of a walk how it was met first."""
    ways: dict[str, str] = {}
    for visit in ranking.trace.events:
        if isinstance(visit, NodeVisit):
            source = corpus[visit.source] if visit.source else None
            way = f"visited from {where(source)} of {source.document}" if source else "a seed"
            ways.setdefault(visit.passage, f"{way}, score {visit.score:.3g}")
    return ways


def _passages(n: int) -> str:
    return f"{n} passage{'s' * (n != 1)}"


def _listed(asked: Sequence[Structure], most: int = 6) -> str:
    more = f" and {len(asked) - most} more" if len(asked) > most else ""
    return f"{', '.join(clip(str(structure), 60) for structure in asked[:most])}{more}"
