"""The command line: each verb parses, calls one function of the Python API, and prints.

One module per family of verbs. They import nothing heavy at the top, so that `shoal --help` is quick.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from .. import __version__
from ..core.errors import ShoalError
from ..core.text import printable
from .audit import explain_command, try_command
from .compare import (
    compare_command,
    gate_command,
    plan_size_command,
    rank_command,
    reproduce_command,
)
from .help import help_command, list_command
from .plans import report, run, show, status
from .suites import check_command, export_command, import_command, new_command, suggest_command

INTERRUPTED = 130
SUMMARY = 60
"""Summaries are shorter than this, so that --help never truncates one."""
GROUPS: Mapping[str, Sequence[click.Command]] = {
    "Look": (try_command, show, report, explain_command),
    "Decide": (compare_command, gate_command, rank_command, plan_size_command),
    "Study": (run, status, check_command, reproduce_command),
    "Files": (import_command, export_command, new_command, suggest_command, list_command, help_command),
}


class Cli(click.Group):
    """Show a ShoalError as one clean message; anything else is a bug and keeps its traceback."""

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
            sys.stderr.close()  # the reader has gone, as in `shoal … | head`
            raise SystemExit(0) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs by purpose, with their summaries in full."""
        for purpose, commands in GROUPS.items():
            with formatter.section(purpose):
                formatter.write_dl(
                    [(command.name or "", command.get_short_help_str(limit=SUMMARY)) for command in commands]
                )


@click.group(cls=Cli, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="shoal")
def main() -> None:
    """Test how a language model behaves off its training distribution.

    \b
    Start here:
      shoal try behaviour predictions:example --suite sentiment
      shoal help models

    \b
    Exit codes: 0 success, 1 error, 2 wrong usage, 3 gate not met, 130 interrupted.
    """


for command in (command for commands in GROUPS.values() for command in commands):
    main.add_command(command)
