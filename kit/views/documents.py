"""Documents of one's own: upload PDFs, ask, see evidence and the path to it.

Source: KGP 8.7, Figures 11 to 18.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import ipywidgets as widgets
import networkx as nx
from msgspec.structs import replace

from kit.corpus import Corpus, Passage, Question, read_document
from kit.corpus.structures import Structure, structures
from kit.corpus.types import Questions
from kit.errors import InputError
from kit.methods import make
from kit.methods.kgp.structure import StructureReader, structure_mentions
from kit.views.explorer import Explorer
from kit.views.frames import replay
from kit.views.layout import spring
from kit.views.replay import Column, Edge, Frame, Node, NodeState, RankItem, Replay, clip, count
from kit.views.sheets import evidence_html, lines_html

#: The first finds all that the reports' dev questions need.
_AGENTS = ("kgp-tfidf", "kgp-dense", "kgp-random")
_BEST = 10  # passages of a walk that are shown
# Jupyter's server drops larger messages, and nobody is told.
_HINT = "Uploads: at most 10 MB at a time; nothing leaves this machine."
_NO_SEARCH = "A question about structure: no search is needed."
_NO_STRUCTURE = "It names a page or table that no document has. "


class Reply(NamedTuple):
    """The evidence for a question, the way to it, and a line on what kind of question it is."""

    passages: list[Passage]
    replay: Replay
    explanation: str


class DocumentExplorer(Explorer):
    """Upload PDFs and ask; at first there are ``corpus`` and ``questions``.

    ``passages`` is the evidence in view, ``explanation`` the line above it.
    """

    def __init__(self, corpus: Corpus, questions: Questions = ()) -> None:
        self._uploaded = {}  # the reader's documents, each by its name
        self._use(corpus, questions)
        self._upload = widgets.FileUpload(accept=".pdf", multiple=True, description="Upload PDFs")
        self._loaded = _sheet("200px")
        self._evidence = _sheet("350px")

        first = "What is on page 1?" if self.structures.contains.nodes else corpus.passages[0].title
        question = widgets.Combobox(
            value=next(iter(self.questions), first),
            description="question",
            options=list(self.questions),
            placeholder="your question, then Enter",
            continuous_update=False,
            layout={"width": "calc(100% - 290px)"},
        )
        agent = widgets.Dropdown(description="agent", options=_AGENTS, layout={"width": "260px"})
        super().__init__(
            "From the question to the evidence",
            {"question": question, "agent": agent},
            self._replay_of,
        )
        row, canvas = self.children
        self.children = [self._upload, self._loaded, row, self._evidence, canvas]
        self._upload.observe(self._receive, "value")
        self.load({})
        self.present()

    def _use(self, corpus: Corpus, questions: Questions) -> None:
        self.corpus = corpus
        self.structures = StructureReader(corpus)
        self.questions = {}
        for question in questions:
            if all(passage in corpus for passage in question.supporting_ids):
                self.questions[question.text] = question
        self._walkers = {}  # the agents over the corpus, by name

    def ask(self, question: str, agent: str) -> Reply:
        """The evidence, the way to it, and what kind of question it is.

        Structures that it names are fetched (KGP §4), else the agent walks. Raises
        :class:`InputError` if the question is empty.
        """
        text = question.strip()
        if not text:
            raise InputError("expected a question", field="question")

        known_question = self.questions.get(text) or Question("", text, "", ())
        named = self.structures.structures_in(text)
        if named:
            passages = [self.corpus.passages[row] for row in self.structures.rows(text)]
            shown = structure_replay(named, passages, self.structures, known_question)
            return Reply(passages, shown, _NO_SEARCH)

        if agent not in self._walkers:
            self._walkers[agent] = make(agent).variant(corpus=self.corpus)
        walker = self._walkers[agent]
        ranking = walker.explain(text, len(self.corpus))
        passages = [self.corpus[passage] for passage in ranking.ids[:_BEST]]
        shown = replay(ranking, self.corpus, known_question, walker.graph, _BEST)

        explanation = (
            f"A question about content: {agent} walks the passages,"
            f" the best {len(passages)} follow."
        )
        if structure_mentions(text):
            explanation = _NO_STRUCTURE + explanation
        return Reply(passages, shown, explanation)

    def _replay_of(self, question: str, agent: str) -> Replay:
        return self.ask(question, agent).replay

    def present(self) -> None:
        """Show the evidence for what the controls ask, and the way to it."""
        self.passages, shown, self.explanation = self.ask(**self.values)
        self.canvas.show(shown)
        self._evidence.value = lines_html([self.explanation]) + evidence_html(self.passages)

    def _receive(self, change: Mapping) -> None:
        if change["new"]:
            files = {file["name"]: bytes(file["content"]) for file in change["new"]}
            self._upload.value = ()  # so that the same file can be given again
            self.load(files)

    def load(self, files: Mapping[str, bytes]) -> None:
        """Add PDFs, given as bytes by file name, to the reader's own.

        The first take the place of what was begun with; one of the same name replaces an earlier
        one. What can't be read is told. The question is asked again.
        """
        problems = []
        notes = []
        documents = {}
        for name, data in files.items():
            try:
                part = Corpus(read_document(name, data, notes=notes))
                documents |= dict.fromkeys(part.documents, part)
            except Exception as error:  # a callback's exception would reach only the log
                problems.append(str(error))

        if documents:
            self._uploaded |= documents
            parts = self._uploaded.values()
            self._use(Corpus(passage for part in parts for passage in part.passages), ())
            self.controls["question"].options = ()
            self._changed(None)

        status = lines_html([*loaded(self.corpus), *notes, _HINT])
        if problems:
            status = lines_html(problems, "kit-problem", "alert") + status
        self._loaded.value = status


def _sheet(height: str) -> widgets.HTML:
    """Text below each other, scrolled where it is higher."""
    return widgets.HTML(
        layout={"overflow": "auto", "max_height": height},
        tabbable=True,
    )


def structure_replay(
    named: Sequence[Structure],
    passages: Sequence[Passage],
    reader: StructureReader,
    question: Question,
) -> Replay:
    """Structures that a question names, and the passages that each holds, one per frame."""
    corpus = reader.corpus
    content = {}
    for structure in named:
        rows = reader.contains.content(structure)
        content[str(structure)] = [corpus.passages[row].id for row in rows]
    positions = spring(nx.Graph(content))

    states = {name: NodeState(name, "named", 1.0) for name in content}
    edges = []
    frames = []
    for step, held in {"what the question names": [], **content, "result": []}.items():
        caption = f"{clip(', '.join(content), 300)}."
        if held:
            caption = f"It holds {count(len(held), 'passage')}."

        states |= {
            passage: NodeState(passage, "reached", note=f"held by {step}") for passage in held
        }
        added = [Edge(step, passage, ("holds",), directed=True) for passage in held]
        strong = [replace(edge, emphasised=True) for edge in added]

        items = [RankItem(node) for node in states if node in corpus]
        column = Column(f"{len(items)} of {len(passages)} passages fetched", items)
        frame = Frame(
            step,
            caption,
            list(states.values()),
            edges + strong,
            [column],
        )
        frames.append(frame)
        edges += added

    nodes = [
        Node(name, name, f"holds {count(len(held), 'passage')}", *positions[name])
        for name, held in content.items()
    ]
    return Replay.from_frames(frames, corpus, question, positions, nodes)


def loaded(corpus: Corpus) -> list[str]:
    """What there is: a line per document."""
    numbers = Counter((structure.document, structure.kind) for structure in structures(corpus))
    lines = []
    for name, rows in corpus.documents.items():
        content = [
            count(numbers[name, "page"], "page"),
            count(numbers[name, "table"], "table"),
            count(len(rows), "passage"),
        ]
        lines.append(f"{corpus.passages[rows[0]].title} ({name}): {', '.join(content)}")
    return lines
