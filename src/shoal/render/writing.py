"""A page in the form that was asked for: HTML, or its tables as Markdown, CSV or LaTeX; and its pictures as files."""

from collections.abc import Mapping, Sequence
from json import dumps
from pathlib import Path
from typing import Any

from ..core.files import stands_alone, writing
from ..core.records import as_json
from ..core.views import Section, Words
from .csv_tables import rows_as_csv, tables_of
from .html import write_page
from .latex import as_latex
from .markdown import as_markdown
from .page import Page, who

SUFFIXES = {"html": ".html", "md": ".md", "csv": ".csv", "latex": ".tex"}
"""Format to the ending of its file."""


def write_forms(page: Page, jobs: Sequence[Mapping[str, Any]], path: Path, form: str) -> Path:
    """Write a page; whatever the form, the tables that have names come with it as CSV, where there is a beside."""
    if form == "html":
        write_page(page, path, jobs)
    else:
        with writing(path) as stream:
            stream.write(TEXTS[form](page))
    if stands_alone(path):
        return path
    for name, text in tables_of(page.sections).items():
        with writing(path.with_name(f"{path.stem}-{name}.csv")) as stream:
            stream.write(text)
    return path


def _told(page: Page) -> list[Section]:
    """Findings and warnings, then everything else."""
    findings = [
        Section(text=[Words(f"{about}: " if (about := who(finding)) else ""), Words(finding.text, "strong")])
        for finding in page.findings
    ]
    return [Section(page.title, warnings=page.warnings), *findings, *page.sections]


def measures_csv(page: Page) -> str:
    """A row per measure, with a column for each group that any of them has."""
    groups = list(dict.fromkeys(name for measure in page.measures for name in measure.groups))
    rows = []
    for measure in page.measures:
        row = as_json(measure)
        low, high = measure.interval or (None, None)
        kept = {name: row[name] for name in ("interval_method", "na", "errors")}
        facts = dumps(row["facts"], ensure_ascii=False, default=str) if row["facts"] else ""
        rows.append(
            {
                "measure": measure.name,
                **{f"group: {name}": measure.groups.get(name, "") for name in groups},
                "value": measure.value,
                "low": low,
                "high": high,
                "n": measure.n,
                **kept,
                "facts": facts,
            }
        )
    return rows_as_csv(rows)


TEXTS = {
    "md": lambda page: as_markdown(_told(page)),
    "latex": lambda page: as_latex(_told(page)),
    "csv": measures_csv,
}
"""Format to what writes it."""


def write_figures(page: Page, folder: Path) -> int:
    """Draw every picture as PDF and SVG; how many they are."""
    from .figures import draw_figures

    return draw_figures(page.sections, folder)
