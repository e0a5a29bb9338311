"""A widget with choices: controls above a canvas, and the same picture as a figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets

from kit.corpus import Question
from kit.errors import InputError
from kit.views.canvas import GraphCanvas
from kit.views.drawing import storyboard
from kit.views.story import Story
from kit.views.style import Figure

EXPLORER = "kit-explorer"  # keys pressed within are kept from JupyterLab's shortcuts (keys.js)


class Explorer(widgets.VBox):
    """Controls, and a canvas that shows the story of their values.

    ``tell(**values)`` makes the story, with a value for each of ``controls`` by name. What goes wrong after a change is
    said above the picture, where the reader looks, and the last good picture stays.
    """

    def __init__(
        self, name: str, controls: dict[str, Any], tell: Callable[..., Story], extra: Sequence[Any] = ()
    ) -> None:
        self.controls, self._tell = controls, tell
        self.present = self._present  # another may take over, to show it beside something else
        story = tell(**self.values)
        self._steps = [scene.step for scene in story.scenes]
        self.canvas = GraphCanvas(story, name)
        for control in controls.values():
            self.guard(control, self._show)
        row = widgets.HBox([*extra, *controls.values()], layout={"flex_flow": "row wrap"})
        super().__init__([row, self.canvas])
        self.add_class(EXPLORER)

    def __repr__(self) -> str:
        return repr(self.canvas)

    @property
    def values(self) -> dict[str, Any]:
        return {name: control.value for name, control in self.controls.items()}

    def guard(self, control: Any, act: Callable[[], None]) -> None:
        """Run ``act`` when the control's value changes, and show the reader what it raises."""

        def changed(_: Any) -> None:
            try:
                act()
            except InputError as error:
                self.canvas.problem = str(error)
            except Exception as error:  # a callback's exception would reach only the log
                self.canvas.problem = f"{type(error).__name__}: {error}"

        control.observe(changed, "value")

    def _show(self) -> None:
        if all(value is not None for value in self.values.values()):  # None: a list of choices is just being replaced
            self.present()

    def _present(self) -> None:
        self.show(self.story())

    def show(self, story: Story) -> None:
        """Put a story on the canvas; one of the same steps as before keeps the step in view."""
        seen, self._steps = self._steps, [scene.step for scene in story.scenes]
        self.canvas.show(story, self.canvas.index if seen == self._steps else 0)

    def story(self, *, text: bool = True, **values: Any) -> Story:
        """What is shown; ``values`` replace those of the controls.

        ``text=False`` leaves out what comes from the corpus.
        """
        if strange := set(values) - set(self.controls):
            raise InputError(f"expected one of {', '.join(self.controls)}, not {min(strange)!r}", field="storyboard")
        story = self._tell(**{**self.values, **values})
        return story if text else story.without_text()

    def storyboard(self, title: str, steps: Sequence[int] | None = None, **chosen: Any) -> Figure:
        """The picture as a figure, for print; ``chosen`` as for :meth:`story`."""
        return storyboard(self.story(**chosen), title, steps)


def question_choices(questions: Sequence[Question]) -> list[tuple[str, str]]:
    """Labels and ids for a dropdown of questions."""
    hops = {question.id: f"{question.hops} hop{'s' * (question.hops != 1)}" for question in questions}
    return [(f"{hops[question.id]} · {' '.join(question.text.split())[:110]}", question.id) for question in questions]


def wide(description: str, options: Any, value: Any) -> widgets.Dropdown:
    """A dropdown that has room for a question."""
    style, layout = {"description_width": "initial"}, {"width": "auto", "max_width": "100%"}
    return widgets.Dropdown(description=description, options=options, value=value, style=style, layout=layout)
