"""The command line: each verb parses, calls one function of the Python API, and prints.

One module per family of verbs. They import nothing heavy at the top, so that `shoal --help` is quick.
"""

import sys
from typing import Any

import click

from .. import __version__
from ..core.errors import ShoalError
from ..core.text import printable
from .audit import list_command, try_command
from .compare import compare_command, gate_command, reproduce_command
from .explain import explain_command
from .export import export_command
from .plan_size import plan_size_command
from .plans import report, run, show, status
from .rank import rank_command
from .suites import check_command, import_command

INTERRUPTED = 130


class Cli(click.Group):
    """A group that shows our own errors as one clean message and anything else as the bug it is."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb."""
        try:
            return super().invoke(ctx)
        except ShoalError as error:
            raise click.ClickException(printable(str(error))) from None
        except KeyboardInterrupt:
            click.echo("Interrupted. Progress saved; run the same command to resume.", err=True)
            raise SystemExit(INTERRUPTED) from None
        except BrokenPipeError:
            sys.stderr.close()  # the reader has gone, as `shoal … | head` does: nothing is left to say
            raise SystemExit(0) from None


@click.group(cls=Cli, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="shoal")
def main() -> None:
    """How does a language model behave off its training distribution, and how far can the diagnosis be trusted?

    \b
    Start here:
      shoal try behaviour predictions:example --set suite=sentiment
      shoal list
    """


for command in (
    try_command,
    run,
    status,
    show,
    report,
    compare_command,
    gate_command,
    rank_command,
    explain_command,
    plan_size_command,
    check_command,
    import_command,
    export_command,
    reproduce_command,
    list_command,
):
    main.add_command(command)
