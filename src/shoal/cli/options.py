"""Options and output that several verbs share."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..core.errors import ModelError, ShoalError
from ..core.files import is_file
from ..core.text import printable
from ..render.progress import progress_bar

if TYPE_CHECKING:
    from ..core.records import Finding, Measure, Result


class _NewPath(click.Path):
    """Check the name of a file or folder to write: not empty, not too long."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not value:
            self.fail("the name of a file is empty", param, ctx)
        try:
            Path(value).exists()
        except OSError as problem:
            self.fail(f"{str(value)[:80]}…: {problem.strerror}", param, ctx)
        return super().convert(value, param, ctx)


EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)
OUT = _NewPath(dir_okay=False, path_type=Path)
OUT_ANY = _NewPath(path_type=Path)
"""A file, or for some forms a folder."""
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
INTO = click.option(
    "--into",
    type=_NewPath(file_okay=False, path_type=Path),
    default="runs",
    show_default=True,
    help="Folder that keeps the results.",
)
SETTINGS = click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the protocol, such as split=test; repeat for more.",
)
SHORT = {"suite": "The suite: a name or a file.", "data": "The data of the protocol: a name or a file."}


def inputs(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --set, and options for the settings that most commands need."""

    @wraps(command)
    def with_settings(*arguments: Any, pairs: tuple[str, ...], **values: Any) -> Any:
        named = [f"{name}={value}" for name in SHORT if (value := values.pop(name)) is not None]
        return command(*arguments, pairs=(*named, *pairs), **values)

    return suite_and_data(SETTINGS(with_settings))


def suite_and_data(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --suite and --data."""
    for name, about in reversed(SHORT.items()):
        command = click.option(f"--{name}", metavar="NAME", help=about)(command)
    return command


LABELS = click.option(
    "--labels",
    metavar="NAMES",
    help="Names of the model's labels: negative,positive or LABEL_0:negative,LABEL_1:positive.",
)


PROTOCOL = click.option(
    "--protocol",
    metavar="NAME",
    help="Protocol for a model to query; default: that of the job next to it, else behaviour.",
)
KEEP = click.option("--keep", is_flag=True, help="Store answers and trained models in --into.")


def query(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that `find_results` takes."""
    return inputs(LABELS(INTO(PROTOCOL(command))))


def find_results(
    names: Sequence[str], *, protocol: str | None, pairs: Sequence[str], into: Path, **more: Any
) -> "list[Result]":
    """Return the results of models, jobs or result files; models are queried here."""
    from ..runs import results
    from ..runs.settings import parse_pairs

    with progress_bar() as progress:
        return results.find_results(names, protocol or "", parse_pairs(pairs), into, progress, **more)


OVER = click.option(
    "--over",
    type=click.Choice(["cases", "templates"]),
    default="cases",
    show_default=True,
    help="What intervals and tests generalise to: new cases of the same templates, or new templates.",
)


def form(name: str, about: str) -> Callable[[Any], Any]:
    """Return an option that chooses a form of output; the last one given counts."""
    return click.option(f"--{name}", "form", flag_value=name, default=None, help=about)


def refuse_overwrite(out: Path | None, sources: Iterable[str], folder: Path | None = None) -> None:
    """Raise an error if a file to write is one that the command reads: a name, a model's spec or KEY=FILE.

    Names may also be relative to `folder`. A page also writes PAGE.json and files named PAGE-TABLE.
    """
    for source in sources if out else ():
        name = source.partition(":")[2].partition("?")[0]
        module = f"{name.partition(':')[0]}.py"
        names = filter(None, (source, source.partition("=")[2], name, module))
        for path in [place / file for file in names for place in (Path(), folder or Path())]:
            if is_file(path) and _would_write(out, path):  # type: ignore[arg-type]
                raise ShoalError(
                    f"{path}: the same file is read and written",
                    why="your file would be lost",
                    fix="name another file to write",
                )


def _would_write(out: Path, path: Path) -> bool:
    if out.exists() and out.samefile(path):
        return True
    is_beside = out.resolve().parent == path.resolve().parent
    return is_beside and (path.name == f"{out.stem}.json" or path.name.startswith(f"{out.stem}-"))


def check_page(path: Path | None) -> None:
    """Raise an error, before any model is queried, if a page cannot be written or would replace another file."""
    if path:
        from ..render.writing import check_page

        check_page(path)


def echo_object(
    jobs: Iterable[Mapping[str, Any]],
    measures: "Iterable[Measure]",
    findings: "Iterable[Finding]",
    **more: Any,
) -> None:
    """Print the public JSON object and the further keys of a verb."""
    from ..runs.viewing import as_object

    click.echo(json.dumps(as_object(jobs, measures, findings) | more, default=str))


def echo_json(result: "Result") -> None:
    """Print a result as the public JSON object."""
    echo_object([result.job], result.measures, result.findings)


def echo_table(text: str) -> None:
    """Print CSV; control characters are escaped if a terminal shows it."""
    # In colour, or click would take escape sequences out of the texts that a program is to read as they are.
    click.echo(printable(text) if sys.stdout.isatty() else text, nl=False, color=True)


def refuse_dead(results: "Sequence[Result]") -> None:
    """Raise an error for a model that answered nothing."""
    from ..runs.scoring import is_dead

    for result in filter(is_dead, results):
        first = next(outcome.error for outcome in result.outcomes if outcome.error)
        raise ModelError(
            f"{result.job['model']} answered none of {len(result.cases):,} cases",
            why=first.strip()[:500],
            fix="fix the cause and try again; its results were not counted",
        )
