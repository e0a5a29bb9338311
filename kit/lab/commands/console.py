"""What the command line says beside its results, on any console."""

import codecs
import io
import logging
import os
import sys
import unicodedata
import warnings
from typing import TextIO

import click

from kit.errors import Note

#: What has no decomposition in Unicode, and is like it.
_LIKE = str.maketrans(dict(zip("−–—‐“”„‘’→•·×", "---" + '-"""\'\'' + ">*.x")))


def prepare() -> None:
    """Let no character break an output, and tell warnings and what is trained in plain lines."""
    codecs.register_error("spelled", _spelled)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="spelled")

    warnings.showwarning = _show_warning
    log = logging.getLogger("kit")
    log.setLevel(logging.INFO)
    log.addHandler(_HANDLER)


def tell(line: str) -> None:
    """A line on the error output, beside what progress bars are shown."""
    from tqdm import tqdm

    with tqdm.external_write_mode(sys.stderr):
        click.echo(f"kit: {' '.join(line.split())}", err=True)


def abandon_output() -> None:
    """Keep Python from trying at its end, once more, to write what was refused."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Console(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        tell(record.getMessage())


_HANDLER = _Console()


def _spelled(error: UnicodeError) -> tuple[str, int]:
    """What stands for characters that an output can't show: the like in ASCII, or their numbers."""
    text = error.object[error.start : error.end].translate(_LIKE)
    letters = [
        letter
        for letter in unicodedata.normalize("NFKD", text)
        if not unicodedata.combining(letter)
    ]
    return "".join(letters).encode("ascii", "backslashreplace").decode(), error.end


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """What the kit itself warns of is one plain line; other warnings say where they come from."""
    if issubclass(category, Note):
        tell(f"note: {message}")
    else:
        text = warnings.formatwarning(message, category, filename, lineno, line)
        click.echo(text, file=file, nl=False, err=True)
