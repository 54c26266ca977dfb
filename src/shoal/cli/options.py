"""Options and output that several verbs share."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..records import Measure, Result

EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
INTO = click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    default="runs",
    show_default=True,
    help="Folder that keeps the results.",
)


def echo_object(jobs: "Iterable[Mapping[str, Any]]", measures: "Iterable[Measure]", **more: Any) -> None:
    """Print the public JSON object, with what else a verb has to say."""
    from ..records import as_json

    rows = [as_json(row) for row in measures]
    click.echo(json.dumps({"jobs": [dict(job) for job in jobs], "measures": rows, **more}))


def echo_json(results: "Sequence[Result]") -> None:
    """Print results as the public JSON object."""
    echo_object([result.job for result in results], [row for result in results for row in result.measures])
