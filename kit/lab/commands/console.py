"""What the command line says beside its results, on any console."""

import codecs
import io
import logging
import os
import sys

from kit.errors import show_notes

#: Signs that the kit itself prints, and what is like them on every console.
_PLAIN = str.maketrans("−–—“”’→×", '---""\'>x')


def prepare() -> None:
    """Let no character break an output, and tell notes and what is trained in plain lines."""
    codecs.register_error("spelled", _spelled)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="spelled")

    show_notes(tell)
    log = logging.getLogger("kit")
    log.setLevel(logging.INFO)
    log.addHandler(_HANDLER)


def tell(line: str) -> None:
    """A line on the error output, beside what progress bars are shown."""
    from tqdm import tqdm

    tqdm.write(f"kit: {' '.join(line.split())}", file=sys.stderr)


def abandon_output() -> None:
    """Keep Python from trying at its end, once more, to write what was refused."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Console(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        tell(record.getMessage())


_HANDLER = _Console()


def _spelled(error: UnicodeError) -> tuple[str, int]:
    """What stands for characters that an output can't show: the like in ASCII, or their numbers."""
    text = error.object[error.start : error.end].translate(_PLAIN)
    return text.encode("ascii", "backslashreplace").decode(), error.end
