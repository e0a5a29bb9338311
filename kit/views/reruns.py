"""A notebook's cell that is run again: the widgets of its earlier run are closed.

Ipywidgets keeps each widget until it is closed, and with it what its callbacks hold.
"""

from collections.abc import Iterator

import ipywidgets as widgets
from IPython import get_ipython

_made = {}  # by cell: its last run, and the widgets of that


def close_earlier(widget: widgets.Widget) -> None:
    """Close the widgets of this cell's earlier run; ``widget`` is one of its present run.

    A cell is known by the id that JupyterLab sends, elsewhere by its code.
    """
    get_request = getattr(get_ipython(), "get_parent", dict)
    request = get_request()
    code = request.get("content", {}).get("code")
    if code is None:  # no cell is being run
        return

    cell = request["metadata"].get("cellId", code)
    run = request["header"]["msg_id"]
    last_run, earlier = _made.get(cell, (run, []))
    if last_run != run:
        for made in earlier:
            made.close()
        earlier = []
    _made[cell] = (run, [*earlier, widget])


def parts(widget: widgets.Widget) -> Iterator[widgets.Widget]:
    """All widgets that a widget is made of: children, layouts and styles."""
    for name in widget.keys:
        value = getattr(widget, name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, widgets.Widget):
                yield from parts(part)
                yield part
