"""Sections as one HTML page with the data beside it as JSON: it opens from disk, and nothing in it is fetched."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import StoreError
from ..files import writing
from ..records import Finding, Measure, Result, as_json, finding_as_json
from ..runs.viewing import result_sections
from ..views import Section, to_read


def write_page(
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
    if path.suffix == ".json":
        raise StoreError(
            f"{path}: a page cannot end in .json",
            why="the numbers are written beside it under that name",
            fix=f"{path.with_suffix('.html')}",
        )
    if path.exists() and not path.is_file() and not path.is_dir():
        raise StoreError(
            f"{path}: not a plain file",
            why="the numbers are written beside the page, and there is no beside",
            fix="--out report.html",
        )
    with writing(path) as stream:
        stream.write(page_of(sections_by_part, title=title))
    with writing(path.with_suffix(".json")) as stream:
        json.dump(data, stream, indent=1, default=str)


def write_report(results: Sequence[Result], path: Path | str) -> None:
    """Write some results as one page, each as its protocol shows it, and their numbers beside it as JSON."""
    parts: dict[str, list[Section]] = {}
    for result in results:
        parts.setdefault(str(result.job["model"]), []).extend(result_sections(result))
    measures = [row for result in results for row in result.measures]
    findings = [finding for result in results for finding in result.findings]
    write_page(parts, path, page_data([result.job for result in results], measures, findings))


def page_data(
    jobs: Sequence[Mapping[str, Any]], measures: Sequence[Measure], findings: Sequence[Finding]
) -> dict[str, Any]:
    """What stands beside a page: the object that `--json` prints."""
    return {
        "jobs": [dict(job) for job in jobs],
        "measures": [as_json(measure) for measure in measures],
        "findings": [finding_as_json(finding) for finding in findings],
    }


def page_of(sections_by_part: Mapping[str, Sequence[Section]], *, title: str = "shoal report") -> str:
    """The page. Text of the data is never markup: everything is escaped where it is put in."""
    from jinja2 import Environment, PackageLoader

    from ..show.printable import printable
    from .blocks import section_html

    environment = Environment(loader=PackageLoader("shoal.report"), autoescape=True, trim_blocks=True)
    parts = [
        (printable(name), [section_html(section) for section in to_read(sections)])
        for name, sections in sections_by_part.items()
    ]
    return environment.get_template("page.html").render(title=printable(title), parts=parts)
