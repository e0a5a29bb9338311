"""What keeps the keys of an explorer without a canvas from JupyterLab's shortcuts."""

from __future__ import annotations

from pathlib import Path

import anywidget

KEYS = (Path(__file__).parent / "keys.js").read_text("utf-8")


class KeptKeys(anywidget.AnyWidget):
    """Shows nothing. Within a box of the class ``kit-explorer``, keys do what they do in any page."""

    # It is drawn before it is put into the box, and has a width from then on.
    _esm = f"{KEYS}\nexport default {{ render({{ el }}) {{ new ResizeObserver(() => keepKeys(el)).observe(el); }} }};"
