"""The command that lists the methods."""

from inspect import cleandoc
from textwrap import fill

import click

from kit.corpus.types import Texts


@click.command()
@click.argument("names", nargs=-1)
def methods(names: Texts) -> None:
    """List the methods with their settings, or explain those in NAMES.

    A method "may train" from training questions, of the data or of --train; its settings say when.

    Example: kit methods gnn-ret
    """
    from kit.methods import METHODS, learns, method, settings_of

    for name in names:
        click.echo(f"{name}\n\n{cleandoc(method(name).__doc__)}\n")
    if names:
        return

    for name in METHODS:
        training = "may train" if learns(name) else "does not train"
        settings = ", ".join(settings_of(name)) or "no settings"
        click.echo(fill(f"{name} ({training}): {settings}", 100, subsequent_indent="    "))
