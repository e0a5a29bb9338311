"""Explorers: controls above a canvas, and :func:`explore` for the steps of any retriever."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import ipywidgets as widgets
import msgspec
from IPython.display import HTML, display
from msgspec.structs import replace
from pandas import DataFrame
from traitlets import TraitError

from kit.arguments import expect_known
from kit.corpus import Benchmark, Corpus
from kit.corpus.types import Questions
from kit.errors import InputError
from kit.evaluation.results import Experiment
from kit.graphs import PassageGraph, build
from kit.methods import Retriever, make
from kit.views.canvas import GraphCanvas
from kit.views.controls import SYMBOLS, Controls, method_controls, question_controls
from kit.views.frames import replay
from kit.views.frames.steps import covered_supports
from kit.views.layout import apart
from kit.views.lost import in_words
from kit.views.names import name_of
from kit.views.replay import Column, Frame, RankItem, Replay, passage_node
from kit.views.replay_page import page_of
from kit.views.reruns import close_earlier, parts
from kit.views.storyboard import storyboard
from kit.views.style import Figure

_SHARED = ("question", "typed")  # controls that two explorers side by side have in common
_DEEPEST = 5_000  # passages of a ranking: ranks are exact in a corpus that is no larger
_STEPS = ", step by step"
_KEPT = 8  # indexed retrievers that stay in memory

#: Of the two outputs of an explorer, JupyterLab and what is exported show one: the live widget, or
#: the page. Without a kernel, what stands before the page is only the news that there is no widget.
_WITHOUT_KERNEL = """<style>
.jp-OutputArea-child:has(.kit-explorer) + .jp-OutputArea-child:has(.kit-page),
.jp-OutputArea-child:not(:has(.kit-explorer)):has(+ .jp-OutputArea-child .kit-page) {
  display: none;
}
</style>"""


class Explorer(widgets.VBox):
    """Controls, and a canvas that shows the replay of their values.

    ``make_replay(**values)`` gets a value for each of ``controls`` by name; ``start`` are first
    values. ``settings`` are those that no control turns: beside another explorer, a heading says
    which differ. What goes wrong after a change is said above the picture, where the reader looks,
    and the last good picture stays.
    """

    def __init__(
        self,
        name: str,
        controls: Controls,
        make_replay: Callable[..., Replay],
        start: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.controls = controls
        self.settings = dict(settings or {})
        self.make_replay = make_replay
        self.refresh = self.present  # one of two side by side has this done for both
        first_values = start or {}
        expect_known(first_values, controls, "control")
        for field in sorted(first_values, key=list(controls).index):
            _set(controls[field], first_values[field], field)

        self.canvas = GraphCanvas(make_replay(**self.values), name)
        for control in controls.values():
            control.observe(self._changed, "value")
        row = widgets.HBox(list(controls.values()), layout={"flex_flow": "row wrap"})
        super().__init__([row, self.canvas])
        # Keys pressed within are kept from JupyterLab's shortcuts (canvas.js).
        self.add_class("kit-explorer")
        close_earlier(self)

    def close(self) -> None:
        """Close it with all that it is made of."""
        for part in list(parts(self)):
            part.close()
        super().close()

    def _ipython_display_(self) -> None:
        _display(self, [self])

    @property
    def heading(self) -> str:
        """The name, and the settings that are shown."""
        settings = [
            f"{control.description} {control.value}"
            for name, control in self.controls.items()
            if name not in _SHARED
        ]
        return " · ".join([self.canvas.name, *settings])

    @property
    def values(self) -> dict[str, Any]:
        return {name: control.value for name, control in self.controls.items()}

    def _changed(self, _: Any) -> None:
        try:
            self.refresh()
        except InputError as error:
            self.canvas.problem = str(error)
        except Exception as error:  # a callback's exception would reach only the log
            self.canvas.problem = f"{type(error).__name__}: {error}"

    def present(self) -> None:
        """Show what the controls say."""
        self.canvas.show(self.replay())

    def replay(self, *, text: bool = True, **values: Any) -> Replay:
        """What is shown; ``values`` replace those of the controls.

        ``text=False`` leaves out what the corpus says.
        """
        shown = self.make_replay(**self.values | values)
        return shown if text else shown.without_text()

    def storyboard(self, title: str, steps: Sequence[int] | None = None, **values: Any) -> Figure:
        """The picture as a figure, for print; ``values`` as for :meth:`replay`."""
        return storyboard(self.replay(**values), title, steps)


def _set(control: widgets.Widget, value: Any, field: str) -> None:
    """Set a control, which must not make another value of it."""
    with suppress(TraitError):
        control.value = value
    if control.value != value:
        raise InputError(f"expected a value that its control can have, not {value!r}", field=field)


def _display(widget: widgets.Widget, explorers: Sequence[Explorer]) -> None:
    """The live widget, and what its explorers show as a page, which is seen where no kernel is."""
    page = page_of([(explorer.heading, explorer.canvas.content) for explorer in explorers])
    display(widget._repr_mimebundle_(), raw=True)
    display(HTML(_WITHOUT_KERNEL + page._repr_html_()))


def explore(
    retriever: str | Retriever,
    benchmark: Benchmark,
    questions: Questions,
    *,
    behind: str = "",
    **start: Any,
) -> Explorer:
    """The steps of a retrieval, for a question of the list or one that is typed.

    ``retriever``, or its name: what it learned is kept, and it stays as it is. Its settings can be
    turned. Passages are drawn in its graph; ``behind`` names a builder whose edges are drawn behind
    the paths of a method that has none. ``start`` are first values of the controls: ``question``
    (an id), ``typed``, and the settings. Raises :class:`InputError` for what no control or setting
    can be.
    """
    first_asked = {name: start.pop(name) for name in _SHARED if name in start}
    if isinstance(retriever, str):
        method = make(retriever, **start)
    else:
        method = retriever.variant(**start)
    controls, find = question_controls(benchmark, questions, lines=method.sees_gold)
    controls |= method_controls(method)

    @lru_cache(maxsize=_KEPT)
    def backdrop(corpus: Corpus) -> PassageGraph | None:
        return build(behind, corpus) if behind else None

    @lru_cache(maxsize=_KEPT)
    def indexed(corpus: Corpus, costly: tuple[tuple[str, Any], ...]) -> Retriever:
        return method.variant(corpus=corpus, **dict(costly))

    def make_replay(question: str, typed: str, **settings: Any) -> Replay:
        chosen, corpus = find(question, typed)
        costly = tuple((name, settings[name]) for name in method.index_settings if name in settings)
        turned = indexed(corpus, costly).variant(**settings)

        with_gold = turned.sees_gold and chosen.supporting
        query = chosen.gold_query if with_gold else chosen.query
        deepest = min(len(corpus), _DEEPEST)
        ranking = turned.explain(query, deepest)
        graph = getattr(turned, "graph", None)
        if not isinstance(graph, PassageGraph):
            graph = backdrop(corpus)
        return replay(ranking, corpus, chosen, graph)

    name = f"{name_of(method.name)}{_STEPS}"
    settings = msgspec.structs.asdict(method.settings)
    return Explorer(name, controls, make_replay, first_asked, settings)


class SideBySide(widgets.GridBox):
    """Two methods, or one under two settings, step by step beside each other.

    A passage has one position in both, and the shorter one waits at its end. From then on the two
    explorers share the controls of the question.
    """

    def __init__(self, left: Explorer, right: Explorer) -> None:
        self.left = left
        self.right = right
        shared = [name for name in _SHARED if name in left.controls and name in right.controls]
        for name in shared:
            unused = right.controls[name]
            if unused is not left.controls[name]:
                for part in (*parts(unused), unused):
                    part.close()
            right.controls[name] = left.controls[name]

        above = widgets.HBox([left.controls[name] for name in shared])
        above.layout.grid_area = "1 / 1 / 2 / 3"  # the first row, as wide as both
        rows = [_row(explorer, shared) for explorer in (left, right)]
        right.children[0].children = rows[1].children
        self.rows = [above, *rows]
        left.refresh = self.present
        right.refresh = self.present
        self.link = widgets.jslink((left.canvas, "index"), (right.canvas, "index"))
        super().__init__([*self.rows, left.canvas, right.canvas])
        self.layout.grid_template_columns = "50% 50%"
        self.add_class("kit-explorer")
        close_earlier(self)
        self.present()

    def close(self) -> None:
        """Close all but the two explorers, which may be shown again."""
        for row in self.rows:
            row.layout.close()
            row.close()
        for widget in (self.link, self.layout):
            widget.close()
        super().close()

    def _ipython_display_(self) -> None:
        _display(self, [self.left, self.right])

    def present(self) -> None:
        """Show what the controls of both say."""
        for explorer, other in ((self.left, self.right), (self.right, self.left)):
            explorer.canvas.heading = _heading_beside(explorer, other)
        left = self.left.replay()
        right = self.right.replay()
        fixed = {node.id: node.position for node in left.nodes}
        wanted = {node.id: node.position for node in right.nodes if node.id not in fixed}
        positions = apart(wanted, fixed)
        nodes = []
        for node in right.nodes:
            x, y = positions[node.id]
            nodes.append(replace(node, x=x, y=y))
        right = replace(right, nodes=nodes)

        n_frames = max(len(left.frames), len(right.frames))
        for explorer, shown in ((self.left, left), (self.right, right)):
            waiting = shown.frames[-1:] * (n_frames - len(shown.frames))
            shown = replace(shown, frames=shown.frames + waiting)
            explorer.canvas.show(shown)


def _row(explorer: Explorer, left_out: Sequence[str]) -> widgets.HBox:
    """The controls of an explorer but for those that it shares with another."""
    controls = [control for name, control in explorer.controls.items() if name not in left_out]
    return widgets.HBox(controls, layout={"flex_flow": "row wrap", "align_content": "flex-start"})


def _heading_beside(explorer: Explorer, other: Explorer) -> str:
    """The method, and what differs from the other's: of one method, any setting."""
    values = explorer.values
    others = other.values
    if explorer.canvas.name == other.canvas.name:
        values = explorer.settings | values
        others = other.settings | others
    differing = [
        f"{SYMBOLS.get(name, name)} {value}"
        for name, value in values.items()
        if name not in _SHARED and others.get(name, value) != value
    ]
    return " · ".join([explorer.canvas.name.removesuffix(_STEPS), *differing])


def explore_rankings(
    experiment: Experiment, k: int = 10, supports: DataFrame | None = None
) -> Explorer:
    """The first k passages of each retriever, side by side.

    Questions stand in the order of their hops. With what became of the ``supports``
    (:func:`kit.evaluation.lost.lost_supports`) it is told where each method lost one.
    """
    questions = sorted(experiment.questions, key=lambda question: question.hops)
    controls, find = question_controls(experiment.benchmark, questions)

    def make_replay(question: str) -> Replay:
        chosen, corpus = find(question)
        columns = []
        for name, rankings in experiment.rankings.items():
            ranking = rankings[question]
            first = ranking.ids[:k]
            items = list(map(RankItem, first, ranking.scores.tolist()))
            caption = f"{name_of(name)}: {covered_supports(chosen, first)}"
            columns.append(Column(caption, items))
        caption = ""
        if supports is not None:
            caption = in_words(supports[supports["question"] == question])
        shown = Replay.from_frames([Frame(caption=caption, columns=columns)], corpus, chosen, {})

        # In print a support that no retriever found has a row, too.
        gold = chosen.supporting_ids
        ranked = shown.by_id.keys()
        missed = [carriers[0] for carriers in chosen.supporting if ranked.isdisjoint(carriers)]
        nodes = [passage_node(corpus, name, {}, gold) for name in missed if name in corpus]
        return replace(shown, nodes=[*shown.nodes, *nodes])

    return Explorer("Rankings side by side", {"question": controls["question"]}, make_replay)
