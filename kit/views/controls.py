"""Controls of an explorer: what is asked, and the settings that a reader can turn."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import ipywidgets as widgets

from kit.arguments import as_list, expect
from kit.corpus import Benchmark, Corpus, Question
from kit.corpus.types import Questions
from kit.errors import InputError
from kit.methods import Retriever
from kit.views.replay import count

Range = int | Sequence[str] | None
#: The settings that a reader can turn: up to which number, among which words, or (None) a share.
RANGES = {
    "top_k": 20,
    "alpha": None,
    "beta": None,
    "layers": 3,
    "rounds": 8,
    "message": ("min", "mean"),
    "branching": 30,
    "depth": 4,
    "budget": 60,
    "beam": 15,
    "branches": 5,
    "hops": 4,
    "graph": ("entity+structure", "entity", "structure", "tfidf", "knn"),
    "inner": ("dense", "bm25", "gnn-ret", "rgnn-ret"),
    "direction": ("both", "forward", "backward"),
    "rule": ("code", "eq3", "text"),
    "gamma": None,
}
SYMBOLS = {"gamma": "γ", "top_k": "K", "alpha": "α", "beta": "β"}  # of the papers
_KEPT = 8  # collections or indexes that stay in memory
_HALF = "calc(50% - 4px)"  # of the page's width, less the gap
_FULL_LABEL = {"description_width": "initial"}

Controls = dict[str, widgets.Widget]
FindQuestion = Callable[..., tuple[Question, Corpus]]


def question_controls(
    benchmark: Benchmark, questions: Questions, *, lines: bool = False
) -> tuple[Controls, FindQuestion]:
    """Controls that say what is asked: a question of the list, or one that is typed.

    With ``lines``, one types a sub-question per line. The second value leads from the controls'
    values to the question, whose supports and answer are unknown if it was typed, and to the
    passages that it is asked of: with a collection per question, those of the chosen one.

    Raises :class:`InputError` where there is no question.
    """
    expect(Benchmark, benchmark, "benchmark")
    questions = as_list(questions)
    if not questions:
        raise InputError("expected at least one question", field="questions")
    for question in questions:
        expect(Question, question, "questions")
    choice = question_list(questions, [question.id for question in questions], _HALF)
    kind = widgets.Text
    hint = "your own question, then Enter"
    if lines:
        kind = widgets.Textarea
        hint = "one sub-question per line"
    typed = kind(
        description="or type one",
        placeholder=hint,
        continuous_update=False,
        style=_FULL_LABEL,
        layout={"width": _HALF},
    )

    def clear(_: Any) -> None:
        typed.value = ""  # a question that is chosen is asked

    choice.observe(clear, "value")
    by_id = {question.id: question for question in questions}

    @lru_cache(maxsize=_KEPT)
    def collection(chosen: str) -> Corpus:
        return benchmark.collection(by_id[chosen])

    def find(question: str, typed: str = "") -> tuple[Question, Corpus]:
        if question not in by_id:
            raise InputError(f"expected the id of a question, not {question!r}", field="question")
        text = typed.strip()
        chosen = Question("", text, "", ()) if text else by_id[question]
        return chosen, collection(question)

    return {"question": choice, "typed": typed}, find


def question_list(
    questions: Questions,
    values: Sequence[Any] = (),
    width: str = "100%",
) -> widgets.Dropdown:
    """A list to choose a question from, by its hops and text; its values are the questions."""
    options = []
    for question, value in zip(questions, values or questions):
        text = " ".join(question.text.split())
        options.append((f"{count(question.hops, 'hop')} · {text[:110]}", value))
    return widgets.Dropdown(
        description="question",
        options=options,
        style=_FULL_LABEL,
        layout={"width": width},
    )


def method_controls(method: Retriever) -> Controls:
    """A control for each setting of a method that can be turned; ``method.ranges`` names more."""
    controls = {}
    for name, kind in (RANGES | method.ranges).items():
        if name in method.defaults():
            value = getattr(method.settings, name)
            controls[name] = setting_control(SYMBOLS.get(name, name), value, kind)
    return controls


def setting_control(label: str, value: Any, kind: Range) -> widgets.Widget:
    """A dropdown of words, a slider of whole numbers from 1, or (None) one of a share.

    It grows to hold the value.
    """
    if kind is None:
        control = widgets.FloatSlider(value, min=0, max=1, step=0.05, continuous_update=False)
    elif isinstance(kind, int):
        control = widgets.IntSlider(
            value,
            min=min(1, value),
            max=max(kind, value),
            continuous_update=False,
        )
    else:
        words = list(dict.fromkeys((*kind, value)))
        control = widgets.Dropdown(options=words, value=value)

    control.description = label
    control.style.description_width = "initial"
    control.layout.width = "210px"
    return control
