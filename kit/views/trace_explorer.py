"""What lets a reader explore how a method retrieves: a question, the method's settings, and the steps that follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import groupby
from typing import Any

import ipywidgets as widgets
from msgspec.structs import replace

from kit.corpus import Benchmark, Corpus, Query, Question
from kit.errors import InputError
from kit.retrievers import KGP, Retriever, make
from kit.views.explorer import EXPLORER, Explorer, question_choices, wide
from kit.views.layout import beside
from kit.views.replay import replay
from kit.views.story import Scene, Story

_GRAPHS = ("entity+structure", "entity", "structure", "tfidf", "knn")
_DEEPEST = 5_000  # passages of a ranking: places are exact in a corpus that is no larger
_WAITS = " (waits)"
_ASKED = ("question", "typed")  # the controls that say what is asked


def explore_retrieval(
    name: str,
    benchmark: Benchmark,
    questions: Sequence[Question],
    settings: Mapping[str, widgets.Widget],
    ready: Callable[..., Retriever],
    *,
    distances: bool = True,
    lines: bool = False,
    top: int = 10,
    start: Mapping[str, Any] | None = None,
) -> Explorer:
    """The steps of one retrieval, for a question of the list or one that is typed, under settings that can be turned.

    ``ready(corpus, **settings)`` gives a retriever that has indexed the corpus; it is called at each change, so what is
    costly is to be kept. If it has a ``graph``, the passages are drawn in it. ``distances``: scores are shown as
    1 − score. ``lines``: a typed question may have several lines, a sub-question each. Supports are counted in the
    first ``top``. ``start`` are first values of controls: of ``question`` (an id), ``typed`` and the settings.
    """
    if not questions:
        raise InputError("expected at least one question", field="questions")
    by_id = {question.id: question for question in questions}

    @lru_cache(maxsize=8)  # one corpus for each question, in the per-question setting
    def collection(question: str) -> Corpus:
        return benchmark.collection(by_id[question])

    def tell(question: str, typed: str, **chosen: Any) -> Story:
        asked, text = by_id[question], typed.strip()
        corpus = collection(question)
        retriever = ready(corpus, **chosen)
        query = asked.gold_query if retriever.sees_gold else asked.query
        ranking = retriever.explain(Query("", text) if text else query, min(len(corpus), _DEEPEST))
        graph = getattr(retriever, "graph", None)
        gold = None if text else asked
        story = replay(ranking, corpus, question=gold, graph=graph, distances=distances, top=top)
        return replace(story, question=text) if text else story

    controls = {**asking(questions, lines), **settings}
    start_with(controls, start or {})
    return Explorer(name, controls, tell)


def asking(questions: Sequence[Question], lines: bool = False) -> dict[str, Any]:
    """The controls that say what is asked: a question of the list, or one that is typed."""
    choice = wide("question", question_choices(questions), questions[0].id)
    kind = widgets.Textarea if lines else widgets.Text
    hint = "a sub-question a line" if lines else "your own question, then Enter"
    typed = kind(description="or type one", placeholder=hint, continuous_update=False)
    choice.layout.width = typed.layout.width = "calc(50% - 4px)"
    choice.observe(lambda _: setattr(typed, "value", ""), "value")  # a question that is chosen is asked
    return {"question": choice, "typed": typed}


def explore_gnn_ret(benchmark: Benchmark, questions: Sequence[Question], top: int = 10, **start: Any) -> Explorer:
    """GNN-Ret, message by message (gnn-ret.txt §3.2); ``start`` are first values of the controls."""
    name, ready = "GNN-Ret, message by message", _keeping("gnn-ret")
    return explore_retrieval(name, benchmark, questions, _settings(), ready, top=top, start=start)


def explore_rgnn_ret(benchmark: Benchmark, questions: Sequence[Question], top: int = 10, **start: Any) -> Explorer:
    """RGNN-Ret, sub-question by sub-question (gnn-ret.txt §3.3); ``start`` are first values of the controls.

    A question of the list is asked by its decomposition, a typed one line by line.
    """
    settings = _settings() | {"beta": _slider("β", 0.9)}
    name, ready = "RGNN-Ret, sub-question by sub-question", _keeping("rgnn-ret")
    return explore_retrieval(name, benchmark, questions, settings, ready, lines=True, top=top, start=start)


def explore_kgp(
    benchmark: Benchmark,
    questions: Sequence[Question],
    agents: Mapping[str, KGP] | None = None,
    top: int = 10,
    **start: Any,
) -> Explorer:
    """KGP's walk, path by path (kgp.txt, Algorithm 1); ``start`` are first values of the controls.

    ``agents`` are retrievers under the names to choose from, those that learn already trained; by default those that
    learn nothing. Two agents side by side: :func:`side_by_side` of two explorers.
    """
    agents = agents or {name: make(name) for name in ("kgp-tfidf", "kgp-dense", "kgp-random")}
    settings = {
        "agent": widgets.Dropdown(description="agent", options=list(agents), **_compact(210)),
        "branching": whole("branching", 3, 30),
        "depth": whole("depth", 2, 4),
        "budget": whole("budget", 30, 60),
        "graph": widgets.Dropdown(description="graph", options=_GRAPHS, **_compact(190)),
    }

    @lru_cache(maxsize=8)
    def indexed(corpus: Corpus, agent: str, graph: str) -> KGP:
        return agents[agent].variant(corpus=corpus, graph=graph)

    def ready(corpus: Corpus, agent: str, branching: int, depth: int, budget: int, graph: str) -> KGP:
        return indexed(corpus, agent, graph).variant(branching=branching, depth=depth, budget=budget)

    name = "KGP, path by path"
    return explore_retrieval(name, benchmark, questions, settings, ready, top=top, start=start)


def _slider(description: str, value: float) -> widgets.FloatSlider:
    return widgets.FloatSlider(
        value, min=0, max=1, step=0.05, description=description, continuous_update=False, **_compact(210)
    )


def whole(description: str, value: int, most: int) -> widgets.IntSlider:
    """A slider of whole numbers from 1."""
    return widgets.IntSlider(value, min=1, max=most, description=description, continuous_update=False, **_compact(210))


def _compact(width: int) -> dict[str, Any]:
    return {"layout": {"width": f"{width}px"}, "style": {"description_width": "initial"}}


def _settings() -> dict[str, widgets.Widget]:
    """The controls of GNN-Ret."""
    return {
        "top_k": whole("K", 5, 20),
        "alpha": _slider("α", 0.5),
        "layers": whole("layers", 1, 3),
        "message": widgets.Dropdown(description="message", options=["min", "mean"], **_compact(140)),
        "graph": widgets.Dropdown(description="graph", options=_GRAPHS, **_compact(190)),
    }


def start_with(controls: Mapping[str, widgets.Widget], start: Mapping[str, Any]) -> None:
    """Give controls their first values."""
    if strange := set(start) - set(controls):
        raise InputError(f"expected one of {', '.join(controls)}, not {min(strange)!r}", field="start")
    for name in [name for name in controls if name in start]:
        try:
            controls[name].value = start[name]
        except Exception as error:  # traitlets' own kind of error, which says what is possible
            raise InputError(f"{error}", field=name) from None


def _keeping(name: str) -> Callable[..., Retriever]:
    """A maker of retrievers of a name that keeps the vectors and graphs of a few corpora."""

    @lru_cache(maxsize=8)
    def indexed(corpus: Corpus, graph: str) -> Retriever:
        retriever = make(name, graph=graph)
        retriever.index(corpus)
        return retriever

    def ready(corpus: Corpus, graph: str, **settings: Any) -> Retriever:
        return indexed(corpus, graph).variant(**settings)

    return ready


class SideBySide(widgets.VBox):
    """Two explorers in step, at one question; a passage stands in the same place in both.

    ``shared`` are the controls that both have in common: they say what is asked.
    """

    def __init__(self, left: Explorer, right: Explorer, shared: Sequence[str] = _ASKED) -> None:
        self.left, self.right = left, right
        lines = isinstance(right.controls.get("typed"), widgets.Textarea)
        self._asker = right if lines else left  # whose controls say what is asked of both
        self._shared = [name for name in shared if name in left.controls and name in right.controls]
        for each in (left, right):
            each.present = self.present
            own = [control for name, control in each.controls.items() if name not in self._shared]
            each.children[0].children = own
            for part in each.children:
                part.layout.width = "50%"
        widgets.jslink((left.canvas, "index"), (right.canvas, "index"))
        asked = widgets.HBox([self._asker.controls[name] for name in self._shared], layout={"flex_flow": "row wrap"})
        super().__init__([asked, *(widgets.HBox(pair) for pair in zip(left.children, right.children))])
        self.add_class(EXPLORER)
        self.present()

    def __repr__(self) -> str:
        return f"{self.left} beside {self.right}"

    def present(self) -> None:
        """Show what the controls of both say."""
        for each, story in zip((self.left, self.right), self.stories()):
            each.show(story)

    def stories(self, *, text: bool = True, **values: Any) -> tuple[Story, Story]:
        """What is shown left and right; ``text`` and ``values`` as in :meth:`Explorer.story`."""
        asked = {name: self._asker.values[name] for name in self._shared} | values
        first, second = (each.story(text=text, **asked) for each in (self.left, self.right))
        return in_step(first, _at_places(second, first))


def side_by_side(left: Explorer, right: Explorer) -> SideBySide:
    """Two methods, or one under two settings, step by step beside each other. The explorers are used up by it."""
    return SideBySide(left, right)


def in_step(left: Story, right: Story) -> tuple[Story, Story]:
    """Two stories made equally long: where one has more scenes of a phase, the other waits.

    The phase of a scene is its step's name up to the last " · ".
    """
    phases = [[(name, list(of)) for name, of in groupby(story.scenes, _phase)] for story in (left, right)]
    names = [[name for name, _ in own] for own in phases]
    told: tuple[list[Scene], list[Scene]] = ([], [])
    for tag, *ends in SequenceMatcher(None, *names, autojunk=False).get_opcodes():
        parts = [[of for _, of in own[start:stop]] for own, start, stop in zip(phases, ends[::2], ends[1::2])]
        together = zip(*parts) if tag == "equal" else [[[scene for of in part for scene in of] for part in parts]]
        for pair in together:
            most = max(map(len, pair))
            for story, side, scenes in zip((left, right), told, pair):
                last = (scenes or side or story.scenes[:1])[-1]
                waiting = replace(last, step=f"{last.step.removesuffix(_WAITS)}{_WAITS}")
                side += scenes + [waiting] * (most - len(scenes))
    return replace(left, scenes=tuple(told[0])), replace(right, scenes=tuple(told[1]))


def _phase(scene: Scene) -> str:
    return scene.step.rpartition(" · ")[0] or scene.step


def _at_places(story: Story, other: Story) -> Story:
    """The story with its nodes where the other has them, and those that it does not have next to where they were."""
    fixed = {node.id: (node.x, node.y) for node in other.nodes}
    wanted = {node.id: (node.x, node.y) for node in story.nodes if node.id not in fixed}
    places = fixed | beside(fixed, wanted)
    return replace(
        story, nodes=tuple(replace(node, x=places[node.id][0], y=places[node.id][1]) for node in story.nodes)
    )
