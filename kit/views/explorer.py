"""Widgets: a canvas for a replay, controls above it, and :func:`explore` for the steps of any retriever."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as widgets
import traitlets
from msgspec import to_builtins
from msgspec.structs import replace

from kit.corpus import Benchmark, Corpus, Question
from kit.errors import InputError
from kit.evaluation.experiment import Experiment
from kit.graphs import PassageGraph, build
from kit.methods import Retriever, make
from kit.views.frames import replay, supports
from kit.views.graph_page import apart
from kit.views.replay import GOLD, GOLD_RIM, HALO, SHADES, Column, Frame, RankItem, Replay, count
from kit.views.storyboard import storyboard
from kit.views.style import Figure, look

_HERE = Path(__file__).parent
#: The settings that a reader can turn: up to which number, among which words, or (None) a share.
_TURNED: dict[str, int | Sequence[str] | None] = {
    "top_k": 20,
    "alpha": None,
    "beta": None,
    "layers": 3,
    "rounds": 8,
}
_TURNED |= {
    "message": ("min", "mean"),
    "branching": 30,
    "depth": 4,
    "budget": 60,
    "beam": 15,
    "branches": 5,
    "hops": 4,
}
_TURNED |= {"graph": ("entity+structure", "entity", "structure", "tfidf", "knn")}
_TURNED |= {"inner": ("dense", "bm25", "gnn-ret", "rgnn-ret")}
_TURNED |= {
    "direction": ("both", "forward", "backward"),
    "rule": ("code", "eq3", "text"),
    "gamma": None,
}
_PAPERS = {"gamma": "γ", "top_k": "K", "alpha": "α", "beta": "β"}  # names
_SHARED = ("question", "typed")  # by two explorers side by side
_DEEPEST = 5_000  # passages of a ranking: places are exact in a corpus that is no larger


class GraphCanvas(anywidget.AnyWidget):
    """Shows a :class:`~kit.views.replay.Replay`. All frames are in the browser: a step needs no answer from Python.

    ``index`` is the frame in view, ``problem`` a line shown as an alert above the picture. Text reaches the page as
    text nodes only, and nothing is asked of any host.
    """

    _esm = "\n".join((_HERE / name).read_text("utf-8") for name in ("shapes.js", "canvas.js"))
    _css = _HERE / "canvas.css"
    replay = traitlets.Dict().tag(sync=True)
    looks = traitlets.Dict().tag(sync=True)
    name = traitlets.Unicode().tag(sync=True)
    index = traitlets.Int(0).tag(sync=True)
    problem = traitlets.Unicode("").tag(sync=True)

    def __init__(self, replay: Replay, name: str = "Passage graph") -> None:
        super().__init__(name=name)
        self.show(replay)

    def show(self, replay: Replay) -> None:
        """Put another replay in place of this one; one of the same steps keeps the step in view."""
        told, shown = to_builtins(replay), self.replay.get("frames", ())
        looks = {
            "roles": replay.roles,
            "kinds": {kind: look(kind) for kind in replay.kinds},
            "halo": HALO,
        }
        looks |= {"gold": {"label": GOLD, "rim": GOLD_RIM}}
        looks |= {"scale": told["scale"] and told["scale"] | {"shades": SHADES}}
        with self.hold_sync():
            self.problem, self.looks = "", to_builtins(looks)
            self.index = (
                self.index
                if [it["step"] for it in shown] == [it.step for it in replay.frames]
                else 0
            )
            self.replay = told | {
                "nodes": {it.id: to_builtins(it) | {"label": it.label} for it in replay.nodes}
            }


class Explorer(widgets.VBox):
    """Controls, and a canvas that shows the replay of their values.

    ``tell(**values)`` makes the replay, with a value for each of ``controls`` by name; ``start`` are first values. What
    goes wrong after a change is said above the picture, where the reader looks, and the last good picture stays.
    """

    def __init__(
        self,
        name: str,
        controls: dict[str, Any],
        tell: Callable[..., Replay],
        start: Mapping[str, Any] | None = None,
    ) -> None:
        self.controls, self.tell = controls, tell
        for field in sorted(start or {}, key=list(controls).index):
            controls[field].value = start[field]
        self.canvas = GraphCanvas(tell(**self.values), name)
        for control in controls.values():
            control.observe(self._changed, "value")
        super().__init__(
            [widgets.HBox([*controls.values()], layout={"flex_flow": "row wrap"}), self.canvas]
        )
        self.add_class(
            "kit-explorer"
        )  # keys pressed within are kept from JupyterLab's shortcuts (canvas.js)

    @property
    def values(self) -> dict[str, Any]:
        return {name: control.value for name, control in self.controls.items()}

    def _changed(self, _: Any) -> None:
        try:
            self.present()
        except Exception as error:  # a callback's exception would reach only the log
            self.canvas.problem = (
                str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
            )

    def present(self) -> None:
        """Show what the controls say; one of two side by side has this done for both."""
        self.canvas.show(self.replay())

    def replay(self, *, text: bool = True, **values: Any) -> Replay:
        """What is shown; ``values`` replace those of the controls, ``text=False`` leaves out what the corpus says."""
        found = self.tell(**self.values | values)
        return found if text else found.without_text()

    def storyboard(self, title: str, steps: Sequence[int] | None = None, **chosen: Any) -> Figure:
        """The picture as a figure, for print; ``chosen`` as for :meth:`replay`."""
        return storyboard(self.replay(**chosen), title, steps)


def explore(
    retriever: str | Retriever,
    benchmark: Benchmark,
    questions: Sequence[Question],
    *,
    behind: str = "",
    **start: Any,
) -> Explorer:
    """The steps of a retrieval, for a question of the list or one that is typed, under settings that can be turned.

    ``retriever``, or its name: what it learned is kept, and it stays as it is. Passages are drawn in its graph;
    ``behind`` names a builder whose edges are drawn behind the paths of one that has none. ``start`` are first values
    of the controls: ``question`` (an id), ``typed``, and the settings.
    """
    method = make(retriever) if isinstance(retriever, str) else retriever
    controls, find = asking(benchmark, questions, lines=method.sees_gold)
    for name in [name for name in _TURNED if name in method.defaults()]:
        controls[name] = setting_control(
            _PAPERS.get(name, name), getattr(method.settings, name), _TURNED[name]
        )
    backdrop = lru_cache(maxsize=8)(lambda corpus: build(behind, corpus) if behind else None)
    indexed = lru_cache(maxsize=8)(
        lambda corpus, costly: method.variant(corpus=corpus, **dict(costly))
    )

    def tell(question: str, typed: str, **settings: Any) -> Replay:
        asked, corpus = find(question, typed)
        costly = tuple((name, settings[name]) for name in method.index_settings if name in settings)
        turned = indexed(corpus, costly).variant(**settings)
        query = asked.gold_query if turned.sees_gold and asked.supporting else asked.query
        ranking, graph = (
            turned.explain(query, deepest := min(len(corpus), _DEEPEST)),
            getattr(turned, "graph", None),
        )
        if not ranking.trace.events:  # of a loop that asked for nothing
            ranking = Retriever.explain(turned, query, deepest)
        return replay(
            ranking, corpus, asked, graph if isinstance(graph, PassageGraph) else backdrop(corpus)
        )

    return Explorer(f"{method.name}, step by step", controls, tell, start)


def asking(
    benchmark: Benchmark, questions: Sequence[Question], *, lines: bool = False
) -> tuple[dict[str, Any], Callable[..., tuple[Question, Corpus]]]:
    """Controls that say what is asked: a question of the list, or one that is typed (``lines``: a sub-question a line).

    And what leads from their values to the question, of which supports and answer are unknown if it was typed, and to
    the passages that it is asked of: with a collection a question, those of the chosen one.
    """
    options = [
        (f"{count(it.hops, 'hop')} · {' '.join(it.text.split())[:110]}", it.id) for it in questions
    ]
    half = {"style": {"description_width": "initial"}, "layout": {"width": "calc(50% - 4px)"}}
    choice = widgets.Dropdown(description="question", options=options, **half)
    hint = "a sub-question a line" if lines else "your own question, then Enter"
    kind = widgets.Textarea if lines else widgets.Text
    typed = kind(description="or type one", placeholder=hint, continuous_update=False, **half)
    choice.observe(
        lambda _: setattr(typed, "value", ""), "value"
    )  # a question that is chosen is asked
    by_id = {question.id: question for question in questions}
    collection = lru_cache(maxsize=8)(lambda id: benchmark.collection(by_id[id]))

    def asked(question: str, typed: str = "") -> tuple[Question, Corpus]:
        text = typed.strip()
        return Question("", text, "", ()) if text else by_id[question], collection(question)

    return {"question": choice, "typed": typed}, asked


def setting_control(label: str, value: Any, kind: int | Sequence[str] | None) -> widgets.Widget:
    """A dropdown of words, a slider of whole numbers from 1, or (None) one of a share."""
    told = {
        "description": label,
        "layout": {"width": "210px"},
        "style": {"description_width": "initial"},
    }
    if kind is None:
        return widgets.FloatSlider(value, min=0, max=1, step=0.05, continuous_update=False, **told)
    if isinstance(kind, int):
        return widgets.IntSlider(
            value, min=1, max=max(kind, value), continuous_update=False, **told
        )
    return widgets.Dropdown(options=list(dict.fromkeys((*kind, value))), value=value, **told)


class SideBySide(widgets.GridBox):
    """Two methods, or one under two settings, step by step beside each other; a passage has one place in both.

    The shorter one waits at its end. The explorers are used up by it.
    """

    def __init__(self, left: Explorer, right: Explorer) -> None:
        self.left, self.right = left, right
        shared = [name for name in _SHARED if name in left.controls and name in right.controls]
        right.controls |= {name: left.controls[name] for name in shared}
        right.children[0].children = [
            control for name, control in right.controls.items() if name not in shared
        ]
        for name in shared:
            left.controls[name].layout.width = "100%"
        left.present = right.present = self.present
        widgets.jslink((left.canvas, "index"), (right.canvas, "index"))
        super().__init__([left.children[0], right.children[0], left.canvas, right.canvas])
        self.layout.grid_template_columns = "50% 50%"
        self.add_class("kit-explorer")
        self.present()

    def present(self) -> None:
        """Show what the controls of both say."""
        left, right = self.left.replay(), self.right.replay()
        fixed, others = (
            {node.id: (node.x, node.y) for node in each.nodes} for each in (left, right)
        )
        places = apart({id: place for id, place in others.items() if id not in fixed}, fixed)
        nodes = (replace(node, x=places[node.id][0], y=places[node.id][1]) for node in right.nodes)
        most = max(len(left.frames), len(right.frames))
        for each, told in ((self.left, left), (self.right, replace(right, nodes=tuple(nodes)))):
            each.canvas.show(
                replace(told, frames=told.frames + told.frames[-1:] * (most - len(told.frames)))
            )


def explore_rankings(experiment: Experiment, k: int = 10) -> Explorer:
    """The first k passages of each retriever, side by side; questions stand in the order of their hops."""
    questions = sorted(experiment.questions, key=lambda question: question.hops)
    controls, find = asking(experiment.benchmark, questions)

    def tell(question: str) -> Replay:
        asked, corpus = find(question)
        columns = []
        for name, rankings in experiment.rankings.items():
            found = rankings[question]
            items = tuple(
                RankItem(id, float(score)) for id, score in zip(found.ids[:k], found.scores)
            )
            columns.append(Column(f"{name}: {supports(asked, found.ids[:k])}", items))
        return Replay.of([Frame(columns=tuple(columns))], corpus, asked, {})

    return Explorer("Rankings side by side", {"question": controls["question"]}, tell)
