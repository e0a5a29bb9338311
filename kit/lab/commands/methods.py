"""The command that lists the methods."""

from inspect import cleandoc
from textwrap import fill

import click

from kit.corpus.types import Texts


@click.command()
@click.argument("names", nargs=-1)
def methods(names: Texts) -> None:
    """List the methods with their settings, or explain those in NAMES.

    A method that "may train" can learn from training questions, in the data or in a file given with
    --train; its settings say when it does. The last two go around others, as in
    "fuse(bm25, gnn-ret)" or "rerank(gnn-ret, mdr, 50)".

    Example: kit methods gnn-ret
    """
    from kit.methods import METHODS, WRAPPERS, learns, method, settings_of

    for name in names:
        click.echo(f"{name}\n\n{cleandoc(method(name).__doc__)}\n")
    if names:
        return

    for name in (*METHODS, *WRAPPERS):
        training = "may train" if learns(name) else "does not train"
        settings = ", ".join(settings_of(name)) or "no settings"
        click.echo(fill(f"{name} ({training}): {settings}", 100, subsequent_indent="    "))
