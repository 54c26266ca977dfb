"""Results as one HTML page with its data beside it as JSON. Plain for now: comparisons, then a table per job."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..files import writing
from ..records import Measures, Result, as_json


def write_report(
    results: Sequence[Result],
    path: Path | str,
    comparisons: Mapping[str, Measures] | None = None,
    shown: str = "",
) -> None:
    """Write the page, and beside it the same numbers as JSON. The same results give the same bytes.

    `shown` is what the page says of the comparisons, as HTML whose text is escaped already.
    """
    from jinja2 import Environment, PackageLoader

    path = Path(path)
    # Text of the data is never markup: everything is escaped.
    environment = Environment(loader=PackageLoader("shoal.report"), autoescape=True, trim_blocks=True)
    page = environment.get_template("page.html").render(results=results, shown=shown)
    found = [
        {"job": dict(result.job), "measures": [as_json(row) for row in result.measures]} for result in results
    ]
    found += [
        {"comparison": protocol, "measures": [as_json(row) for row in rows]}
        for protocol, rows in (comparisons or {}).items()
    ]
    with writing(path) as stream:
        stream.write(page)
    with writing(path.with_suffix(".json")) as stream:
        json.dump(found, stream, indent=1, default=str)
