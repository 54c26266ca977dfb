"""Options and output that several verbs share."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..records import Result

EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
INTO = click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    default="runs",
    show_default=True,
    help="Folder that keeps the results.",
)


def echo_json(results: "Sequence[Result]") -> None:
    """Print the public JSON object."""
    from ..records import as_json

    measures = [as_json(row) for result in results for row in result.measures]
    click.echo(json.dumps({"jobs": [dict(result.job) for result in results], "measures": measures}))
