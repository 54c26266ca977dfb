"""Options and output that several verbs share."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..core.errors import ModelError, ShoalError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..core.records import Finding, Measure, Result


class _FileName(click.Path):
    """Check the name of a file to write: not empty, not a folder, not too long."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not value:
            self.fail("the name of a file is empty", param, ctx)
        try:
            Path(value).exists()
        except OSError as problem:
            self.fail(f"{str(value)[:80]}…: {problem.strerror}", param, ctx)
        return super().convert(value, param, ctx)


EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)
OUT = _FileName(dir_okay=False, path_type=Path)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")


def _named(_context: click.Context, _option: click.Parameter, folder: Path) -> Path:
    """Refuse a name that the system finds too long."""
    try:
        folder.exists()
    except OSError as problem:
        raise click.BadParameter(f"{str(folder)[:80]}…: {problem.strerror}") from None
    return folder


INTO = click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    callback=_named,
    default="runs",
    show_default=True,
    help="Folder that keeps the results.",
)


def refuse_overwrite(out: Path, sources: "Iterable[str]") -> None:
    """Raise an error if a file to write is one that the command reads: a name, a model's spec or KEY=FILE."""
    from ..core.files import is_file

    for source in sources:
        for name in (source, source.partition("=")[2], source.partition(":")[2].partition("?")[0]):
            if name and is_file(Path(name)) and out.exists() and out.samefile(name):
                raise ShoalError(
                    f"{out}: both read and written",
                    why="the file that you bring would be lost",
                    fix="name another file to write",
                )


def one_form(forms: "Mapping[str, bool]") -> str:
    """Return the chosen output format; empty for a table in the terminal."""
    chosen = [name for name, wanted in forms.items() if wanted]
    if len(chosen) > 1:
        raise click.UsageError(f"--{chosen[0]} and --{chosen[1]}: one form of output at a time")
    return chosen[0] if chosen else ""


def echo_object(
    jobs: "Iterable[Mapping[str, Any]]",
    measures: "Iterable[Measure]",
    findings: "Iterable[Finding]",
    **more: Any,
) -> None:
    """Print the public JSON object and the further keys of a verb."""
    from ..core.records import as_json, finding_as_json

    rows = [as_json(row) for row in measures]
    told = [finding_as_json(finding) for finding in findings]
    click.echo(
        json.dumps(
            {"jobs": [dict(job) for job in jobs], "measures": rows, "findings": told, **more}, default=str
        )
    )


def echo_table(text: str) -> None:
    """Print CSV; control characters are escaped if a terminal shows it."""
    from ..core.text import printable

    # In colour, or click would take escape sequences out of the texts that a program is to read as they are.
    click.echo(printable(text) if is_terminal() else text, nl=False, color=True)


def is_terminal() -> bool:
    """Return whether the output goes to a terminal."""
    return sys.stdout.isatty()


def echo_json(result: "Result") -> None:
    """Print a result as the public JSON object."""
    echo_object([result.job], result.measures, result.findings)


def say_alone(path: Path) -> bool:
    """Report that a page in a device or pipe has no files next to it; return whether that is so."""
    from ..core.files import stands_alone

    alone = stands_alone(path)
    if alone:
        click.echo(
            f"{path}: the page alone; its numbers and tables are written beside a plain file only", err=True
        )
    return alone


def refuse_dead(results: "Sequence[Result]") -> None:
    """Raise an error for a model that answered nothing."""
    from ..runs.scoring import is_dead

    for result in results:
        if is_dead(result):
            first = next(outcome.error for outcome in result.outcomes if outcome.error)
            raise ModelError(
                f"{result.job['model']} answered none of {len(result.cases):,} cases",
                why=first.strip()[:500],
                fix="mend what it fails with, and try again; nothing of it was counted",
            )
