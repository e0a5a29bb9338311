"""The command line: thin, since everything that it does is a call that a notebook can make too.

What takes seconds to load is imported inside the commands, so that ``kit --help`` answers at once.
"""

import errno
import signal
import sys

import click

import kit
from kit.cost import cost_line
from kit.errors import InputError
from kit.lab.commands import console
from kit.lab.commands.data import data
from kit.lab.commands.measure import ask, evaluate, graph, index, sweep
from kit.lab.commands.methods import methods
from kit.lab.commands.notebooks import claims, lab, lessons, record, run

SECTIONS = {
    "Ask and measure": (ask, evaluate, sweep, index, graph, methods),
    "Notebooks and findings": (run, lab, lessons, record, claims),
    "Data": (data,),
}


class Sections(click.Group):
    """A group whose help lists the commands by what they are for."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(command.name, command.get_short_help_str(80)) for command in commands]
                )


@click.group(cls=Sections, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(kit.__version__, prog_name="kit")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Learn, explore and reproduce graph-based retrieval for multi-hop question answering.

    Example: kit evaluate bm25 dense gnn-ret
    """
    ctx.call_on_close(_tell_cost)  # also where the command fails


for commands in SECTIONS.values():
    for command in commands:
        cli.add_command(command)


def _tell_cost() -> None:
    if line := cost_line():
        click.echo(line, err=True)


def main() -> None:
    """Run the command line; bad input ends in one plain line and exit status 2."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # who is ended ends the workers, too
    console.prepare()
    try:
        sys.exit(cli.main(prog_name="kit", standalone_mode=False))
    except click.ClickException as error:
        _end(2, error.format_message())
    except InputError as error:
        _end(2, str(error))
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        console.abandon_output()
        _end(2, f"the output can't be written ({error})")
    except (KeyboardInterrupt, click.Abort):
        _end(
            130,
            "interrupted; what was finished is kept: the same command goes on where it stopped",
        )


def _end(status: int, line: str) -> None:
    """Exit; the line is not glued to a progress bar that the error has left."""
    from kit.progress import close_bars

    close_bars()
    console.tell(line)
    sys.exit(status)


if __name__ == "__main__":
    main()
