"""A widget with choices: controls above a canvas, and the same picture as a figure.

:func:`explore` is the one for any retriever: a question, the settings that can be turned, and the steps that follow.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets
from msgspec.structs import replace

from kit.corpus import Benchmark, Corpus, Query, Question
from kit.errors import InputError
from kit.evaluation import metrics
from kit.graphs import PassageGraph, build
from kit.retrievers import Retriever, make
from kit.views.canvas import GraphCanvas
from kit.views.frames import count, replay
from kit.views.layout import beside, passage_node
from kit.views.replay import Column, Frame, RankItem, Replay
from kit.views.storyboard import storyboard
from kit.views.style import Figure

if TYPE_CHECKING:
    from kit.evaluation.experiment import Experiment

EXPLORER = "kit-explorer"  # keys pressed within are kept from JupyterLab's shortcuts (canvas.js)
_GRAPHS = ("entity+structure", "entity", "structure", "tfidf", "knn")
#: The settings that a reader can turn: the papers' names, and up to which number, among which words, or (None) a share.
_TURNED: dict[str, tuple[str, int | Sequence[str] | None]] = {
    "top_k": ("K", 20),
    "alpha": ("α", None),
    "beta": ("β", None),
    "layers": ("layers", 3),
    "message": ("message", ("min", "mean")),
    "branching": ("branching", 30),
    "depth": ("depth", 4),
    "budget": ("budget", 60),
    "beam": ("beam", 15),
    "branches": ("branches", 5),
    "hops": ("hops", 4),
    "graph": ("graph", _GRAPHS),
}
_DEEPEST = 5_000  # passages of a ranking: places are exact in a corpus that is no larger


class Explorer(widgets.VBox):
    """Controls, and a canvas that shows the replay of their values.

    ``tell(**values)`` makes the replay, with a value for each of ``controls`` by name; those of ``asking`` say what is
    asked, and are shared where two explorers stand side by side. What goes wrong after a change is said above the
    picture, where the reader looks, and the last good picture stays. ``start`` are first values of the controls.
    """

    def __init__(
        self,
        name: str,
        controls: dict[str, Any],
        tell: Callable[..., Replay],
        *,
        asking: Sequence[str] = (),
        start: Mapping[str, Any] | None = None,
    ) -> None:
        self.controls, self.tell, self.asking = controls, tell, asking
        self._expect(start or (), "start")
        for field in [field for field in controls if field in (start or ())]:
            try:
                controls[field].value = start[field]
            except Exception as error:  # traitlets' own kind of error, which says what is possible
                raise InputError(f"{error}", field=field) from None
        self.present: Callable[[], None] = lambda: self.show(self.replay())  # another may take over
        first = tell(**self.values)
        self._steps = [frame.step for frame in first.frames]
        self.canvas = GraphCanvas(first, name)
        for control in controls.values():
            control.observe(self._changed, "value")
        super().__init__([widgets.HBox([*controls.values()], layout={"flex_flow": "row wrap"}), self.canvas])
        self.add_class(EXPLORER)

    def __repr__(self) -> str:
        return repr(self.canvas)

    @property
    def values(self) -> dict[str, Any]:
        return {name: control.value for name, control in self.controls.items()}

    def _changed(self, _: Any) -> None:
        try:
            self.present()
        except Exception as error:  # a callback's exception would reach only the log
            self.canvas.problem = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"

    def _expect(self, names: Collection[str], field: str) -> None:
        if strange := set(names) - set(self.controls):
            raise InputError(f"expected one of {', '.join(self.controls)}, not {min(strange)!r}", field=field)

    def show(self, replay: Replay) -> None:
        """Put a replay on the canvas; one of the same steps as before keeps the step in view."""
        seen, self._steps = self._steps, [frame.step for frame in replay.frames]
        self.canvas.show(replay, self.canvas.index if seen == self._steps else 0)

    def replay(self, *, text: bool = True, **values: Any) -> Replay:
        """What is shown; ``values`` replace those of the controls, ``text=False`` leaves out what the corpus says."""
        self._expect(values, "storyboard")
        found = self.tell(**{**self.values, **values})
        return found if text else found.without_text()

    def storyboard(self, title: str, steps: Sequence[int] | None = None, **chosen: Any) -> Figure:
        """The picture as a figure, for print; ``chosen`` as for :meth:`replay`."""
        return storyboard(self.replay(**chosen), title, steps)


def explore(
    retrievers: str | Retriever | Mapping[str, Retriever],
    benchmark: Benchmark,
    questions: Sequence[Question],
    *,
    behind: str = "",
    distances: bool = True,
    top: int = 10,
    **start: Any,
) -> Explorer:
    """The steps of a retrieval, for a question of the list or one that is typed, under settings that can be turned.

    ``retrievers``: one, its name, or several to choose from under their names, such as before training and after it.
    What they learned is kept, and they stay as they are. Passages are drawn in the retriever's graph; ``behind`` names
    a builder whose edges are drawn behind the paths of one that has none. ``distances``: scores are told as 1 − score.
    Supports are counted in the first ``top``. ``start`` are first values of the controls: ``question`` (an id),
    ``typed``, ``retriever``, and the settings. Of a method that sees gold fields, as RGNN-Ret does, a typed question is
    a sub-question a line.
    """
    if isinstance(retrievers, str | Retriever):
        known = {retrievers if isinstance(retrievers, str) else retrievers.name: retrievers}
    else:
        known = dict(retrievers)
    if not known or not questions:
        raise InputError("expected at least one retriever and one question", field="questions")
    known = {name: make(one) if isinstance(one, str) else one for name, one in known.items()}
    first = next(iter(known.values()))
    controls = asking_controls(questions, lines=first.sees_gold)
    if isinstance(retrievers, Mapping):
        controls["retriever"] = setting_control("retriever", next(iter(known)), list(known))
    for name, (label, kind) in _TURNED.items():
        if all(name in one.defaults() for one in known.values()):
            controls[name] = setting_control(label, getattr(first.settings, name), kind)
    by_id = {question.id: question for question in questions}
    collection = lru_cache(maxsize=8)(lambda question: benchmark.collection(by_id[question]))
    backdrop = lru_cache(maxsize=8)(lambda corpus: build(behind, corpus) if behind else None)

    @lru_cache(maxsize=8)
    def indexed(corpus: Corpus, name: str, settings: tuple[tuple[str, Any], ...]) -> Retriever:
        return known[name].variant(corpus=corpus, **dict(settings))

    def tell(question: str, typed: str, retriever: str = next(iter(known)), **settings: Any) -> Replay:
        asked, text, corpus = by_id[question], typed.strip(), collection(question)
        costly = tuple((name, settings[name]) for name in known[retriever].indexed_by if name in settings)
        turned = indexed(corpus, retriever, costly).variant(**settings)
        query = Query("", text) if text else asked.gold_query if turned.sees_gold else asked.query
        ranking = turned.explain(query, min(len(corpus), _DEEPEST))
        graph = getattr(turned, "graph", None)
        walked = isinstance(graph, PassageGraph)
        graph, known_question = graph if walked else backdrop(corpus), None if text else asked
        told = replay(
            ranking, corpus, question=known_question, graph=graph, walked=walked, distances=distances, top=top
        )
        return replace(told, question=text) if text else told

    name = f"{' or '.join(dict.fromkeys(one.name for one in known.values()))}, step by step"
    return Explorer(name, controls, tell, asking=("question", "typed"), start=start)


# ---- controls


def asking_controls(questions: Sequence[Question], *, lines: bool = False) -> dict[str, Any]:
    """What says what is asked: a question of the list, or one that is typed."""
    choice = question_control(questions)
    kind = widgets.Textarea if lines else widgets.Text
    hint = "a sub-question a line" if lines else "your own question, then Enter"
    typed = kind(description="or type one", placeholder=hint, continuous_update=False)
    choice.layout.width = typed.layout.width = "calc(50% - 4px)"
    choice.observe(lambda _: setattr(typed, "value", ""), "value")  # a question that is chosen is asked
    return {"question": choice, "typed": typed}


def question_control(questions: Sequence[Question]) -> widgets.Dropdown:
    """A dropdown of questions that has room for them."""
    options = [(f"{count(it.hops, 'hop')} · {' '.join(it.text.split())[:110]}", it.id) for it in questions]
    return widgets.Dropdown(
        description="question",
        options=options,
        value=questions[0].id,
        style={"description_width": "initial"},
        layout={"width": "auto", "max_width": "100%"},
    )


def setting_control(label: str, value: Any, kind: int | Sequence[str] | None) -> widgets.Widget:
    """A dropdown of words, a slider of whole numbers from 1, or (None) one of a share."""
    told = {"description": label, "layout": {"width": "210px"}, "style": {"description_width": "initial"}}
    if kind is None:
        return widgets.FloatSlider(value, min=0, max=1, step=0.05, continuous_update=False, **told)
    if isinstance(kind, int):
        return widgets.IntSlider(value, min=1, max=max(kind, value), continuous_update=False, **told)
    return widgets.Dropdown(options=list(dict.fromkeys((*kind, value))), value=value, **told)


# ---- two beside each other


class SideBySide(widgets.VBox):
    """Two methods, or one under two settings, step by step beside each other; a passage has one place in both.

    The explorers are used up by it.
    """

    def __init__(self, left: Explorer, right: Explorer) -> None:
        self.left, self.right = left, right
        lines = isinstance(right.controls.get("typed"), widgets.Textarea)
        self._asker = right if lines else left  # whose controls say what is asked of both
        shared = [name for name in self._asker.asking if name in left.controls and name in right.controls]
        self._asking = {name: self._asker.controls[name] for name in shared}
        for each in (left, right):
            each.present = self.present
            each.children[0].children = [control for name, control in each.controls.items() if name not in shared]
            for part in each.children:
                part.layout.width = "50%"
        widgets.jslink((left.canvas, "index"), (right.canvas, "index"))
        above = widgets.HBox([*self._asking.values()], layout={"flex_flow": "row wrap"})
        super().__init__([above, *(widgets.HBox(pair) for pair in zip(left.children, right.children))])
        self.add_class(EXPLORER)
        self.present()

    def __repr__(self) -> str:
        return f"{self.left} beside {self.right}"

    def present(self) -> None:
        """Show what the controls of both say."""
        for each, told in zip((self.left, self.right), self.replays()):
            each.show(told)

    def replays(self, *, text: bool = True, **values: Any) -> tuple[Replay, Replay]:
        """What is shown left and right; ``text`` and ``values`` as in :meth:`Explorer.replay`."""
        asked = {name: control.value for name, control in self._asking.items()} | values
        first, second = (each.replay(text=text, **asked) for each in (self.left, self.right))
        fixed = {node.id: (node.x, node.y) for node in first.nodes}
        free = {node.id: (node.x, node.y) for node in second.nodes if node.id not in fixed}
        places = fixed | beside(fixed, free)
        nodes = (replace(node, x=places[node.id][0], y=places[node.id][1]) for node in second.nodes)
        return in_step(first, replace(second, nodes=tuple(nodes)))

    def replay(self, **chosen: Any) -> Replay:
        """Both sides as one, for print: each step of the left, then of the right."""
        left, right = self.replays(**chosen)
        nodes = {node.id: node for node in (*right.nodes, *left.nodes)}
        sides = ((left, "left"), (right, "right"))
        frames = [replace(frame, step=f"{frame.step} · {name}") for each, name in sides for frame in each.frames]
        return replace(left, nodes=tuple(nodes.values()), frames=tuple(frames))


def in_step(left: Replay, right: Replay) -> tuple[Replay, Replay]:
    """Two replays made equally long: the shorter one waits at the last of its frames but one, and both end together."""
    most = max(len(left.frames), len(right.frames))

    def wait(each: Replay) -> Replay:
        *frames, last = each.frames
        waiting = frames[-1] if frames else last
        waits = [replace(waiting, step=f"{waiting.step} (waits)")] * (most - len(each.frames))
        return replace(each, frames=(*frames, *waits, last))

    return wait(left), wait(right)


def explore_rankings(experiment: Experiment, k: int = 10) -> Explorer:
    """The first k passages of each retriever, side by side; questions stand in the order of their hops."""
    questions = sorted(experiment.questions, key=lambda question: question.hops)
    by_id, corpus = {question.id: question for question in questions}, experiment.benchmark.corpus

    def tell(question: str) -> Replay:
        asked, columns, ids = by_id[question], [], {}
        for name, rankings in experiment.rankings.items():
            best = rankings[question].ids[:k]
            found = round(metrics.recall_at(asked, best, k) * asked.hops)
            items = tuple(RankItem(id, float(score)) for id, score in zip(best, rankings[question].scores))
            columns.append(Column(f"{name}: {found} of {asked.hops} supports", items))
            ids |= dict.fromkeys(best)
        nodes = tuple(passage_node(corpus, id, {}, asked.supporting_ids, part=False) for id in ids)
        return Replay(nodes, (Frame(columns=tuple(columns)),), f"{asked.text}\nAnswer: {asked.answer}")

    controls = {"question": question_control(questions)}
    return Explorer("Rankings side by side", controls, tell)
