"""Sections as one HTML page with the data beside it as JSON: it opens from disk, and nothing in it is fetched."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..files import writing
from ..views import Section


def write_report(
    sections_by_part: Mapping[str, Sequence[Section]],
    path: Path | str,
    data: Any,
    *,
    title: str = "shoal report",
) -> None:
    """Write the page, and beside it the same numbers as JSON. The same sections give the same bytes.

    A part is a heading and what stands below it, such as a model and what its protocols show of it.
    """
    path = Path(path)
    with writing(path) as stream:
        stream.write(page_of(sections_by_part, title=title))
    with writing(path.with_suffix(".json")) as stream:
        json.dump(data, stream, indent=1, default=str)


def page_of(sections_by_part: Mapping[str, Sequence[Section]], *, title: str = "shoal report") -> str:
    """The page. Text of the data is never markup: everything is escaped where it is put in."""
    from jinja2 import Environment, PackageLoader

    from ..show.printable import printable
    from .blocks import section_html

    environment = Environment(loader=PackageLoader("shoal.report"), autoescape=True, trim_blocks=True)
    parts = [
        (printable(name), [section_html(section) for section in sections])
        for name, sections in sections_by_part.items()
    ]
    return environment.get_template("page.html").render(title=printable(title), parts=parts)
