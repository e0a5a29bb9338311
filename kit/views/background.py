"""Long work that a widget starts: beside the kernel, so that the reader can stop it, and use what else there is.

A callback that worked itself could not be stopped by a button, since a widget's callbacks wait for each other, nor by
an interrupt of the kernel: JupyterLab has callbacks run on a thread that no interrupt reaches.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Thread
from typing import Any

import ipywidgets as widgets


class Work(Thread):
    """Runs ``act``, then ``done`` with what that raised. What ``act`` displays, as bars, stands in ``output``."""

    def __init__(
        self, act: Callable[[], None], done: Callable[[BaseException | None], None], output: widgets.Output
    ) -> None:
        super().__init__(daemon=True)
        self._act, self._done, self._output = act, done, output
        self._lock, self._acts = Lock(), True

    def stop(self) -> None:
        """Raise KeyboardInterrupt in ``act``, as soon as it comes back from what is not Python."""
        with self._lock:
            if self._acts:
                interrupt = ctypes.py_object(KeyboardInterrupt)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.ident), interrupt)

    def run(self) -> None:
        raised = None
        try:
            try:
                with _displayed_in(self._output):
                    self._act()
            finally:
                with self._lock:  # from here on no stop disturbs what follows
                    self._acts = False
        except BaseException as error:  # told by ``done``
            raised = error
        self._output.outputs = ()
        self._done(raised)


@contextmanager
def _displayed_in(output: widgets.Output) -> Iterator[None]:
    """What this thread displays goes to ``output``, which itself can catch only what a message's handler displays."""
    from ipykernel.zmqshell import ZMQInteractiveShell

    if not ZMQInteractiveShell.initialized():
        yield
        return
    publisher = ZMQInteractiveShell.instance().display_pub

    def put(message: dict[str, Any]) -> None:
        if message["header"]["msg_type"] == "display_data":
            shown = {name: message["content"][name] for name in ("data", "metadata")}
            output.outputs += ({"output_type": "display_data", **shown},)

    publisher.register_hook(put)  # for this thread alone
    try:
        yield
    finally:
        publisher.unregister_hook(put)
