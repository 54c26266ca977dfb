"""A page as files: HTML with its data as JSON, or its tables as LaTeX, and its figures.

The HTML page is one file that opens from disk and loads nothing.
"""

import json
import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ..core.errors import ShoalError, StoreError
from ..core.files import collector_paused, is_folder, read_json, stands_alone, writing
from ..core.records import Result
from ..core.views import Section, Summary, Text, to_read
from ..runs.viewing import as_object, case_lines
from .cases import as_script, is_pass_or_fail, is_whole, shelf
from .html_blocks import breakable, joined, section_html, sentence, table_html, words
from .latex import as_latex
from .naming import renamed
from .page import Page, Part, failed_checks, results_page, subject
from .tables import plain, tables_of

SUFFIXES = {"html": ".html", "latex": ".tex"}
"""The file suffix of each format."""
FIRST = 3
"""The number of findings and of caveats that are not folded."""


def write_forms(page: Page, jobs: Sequence[Mapping[str, Any]], path: Path, form: str) -> Path:
    """Write a page in a format, and its named tables as CSV files next to it."""
    if form == "html":
        write_page(page, path, jobs)
    else:
        with writing(path) as stream:
            stream.write(as_latex(_sections(page)))
    if not stands_alone(path):
        for name, text in tables_of(page.sections).items():
            with writing(path.with_name(f"{path.stem}-{name}.csv")) as stream:
                stream.write(text)
    return path


def write_report(results: Sequence[Result], path: Path | str) -> None:
    """Write results as one HTML page, with their numbers as JSON next to it."""
    write_page(results_page(results), path, [result.job for result in results])


def write_page(page: Page, path: Path | str, jobs: Sequence[Mapping[str, Any]]) -> None:
    """Write an HTML page, its numbers as JSON, and all cases if the page holds only some. A pipe gets the page alone.

    The same page gives the same bytes.
    """
    path = Path(path)
    check_page(path)
    held, alone = shelf(page.results), stands_alone(path)
    all_cases = path.with_name(f"{path.stem}-cases.jsonl")
    with writing(path) as stream:
        stream.write(page_html(page, held, "" if alone else all_cases.name))
    if alone:
        return
    with writing(path.with_suffix(".json")) as stream:
        numbers = {"page": path.name} | as_object(jobs, page.measures, page.findings)
        json.dump(numbers, stream, indent=1, default=str)
    if is_whole(held):
        return
    with writing(all_cases) as stream, collector_paused():
        for name, result in page.results.items():
            stream.writelines(case_lines(result, name))


def check_page(path: Path) -> None:
    """Raise an error for a page without a folder, and for one whose numbers would replace a file of another origin."""
    if path.suffix == ".json":
        raise StoreError(
            f"{path}: a page cannot end in .json",
            why="the numbers are written beside it under that name",
            fix=f"{path.with_suffix('.html')}",
        )
    if stands_alone(path):
        return
    if not is_folder(path.absolute().parent):
        raise StoreError(
            f"{path}: cannot be written",
            why=f"the folder {path.parent} does not exist",
            fix=f"mkdir -p {path.parent}",
        )
    numbers = path.with_suffix(".json")
    if os.path.lexists(numbers) and not _has_numbers_of(numbers, path.name):
        raise StoreError(
            f"{numbers}: would be overwritten by the numbers of {path.name}",
            why=f"shoal writes them under that name, and this file is not from an earlier {path.name}",
            fix="another name for the page, or move the file",
        )


def _has_numbers_of(numbers: Path, page: str) -> bool:
    with suppress(ShoalError):
        content = read_json(numbers, nan=True)
        return isinstance(content, dict) and content.get("page") == page
    return False


# HTML


def page_html(page: Page, held: Mapping[str, Any] | None = None, all_cases: str = "") -> str:
    """Return the HTML of a page; `all_cases` names the file with all cases."""
    held = shelf(page.results) if held is None else held
    shown_parts = ("parts", "title", "summary", "findings", "caveats")
    page = replace(page, **{name: renamed(getattr(page, name), page.names) for name in shown_parts})
    only = renamed(page.models[0], page.names) if len(page.models) == 1 else ""
    summary = page.summary or Summary("")
    return _rendered(
        "page.html",
        "script.js",
        page=page,
        summary=summary,
        chart=table_html(summary.chart) if summary.chart else "",
        blocks=section_html(Section(blocks=summary.blocks)) if summary.blocks else "",
        findings=[(subject(finding, only), finding.text) for finding in page.findings],
        first=FIRST,
        parts=[(part.title, part.job, _part(part, page)) for part in page.parts],
        provenance=[(plain(section.title), section_html(section)) for section in page.provenance],
        cases=Markup(as_script(held)) if held["rows"] else "",
        jobs=held["jobs"],
        fails=is_pass_or_fail(held),
        sampled=not is_whole(held),
        all_cases=all_cases,
    )


def _rendered(template: str, script: str, **fields: Any) -> str:
    """Return a page, with all text escaped; its security policy names the hash of its script."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("shoal.render"),
        autoescape=True,
        trim_blocks=True,
        finalize=lambda value: (
            words(value) if isinstance(value, str) and not isinstance(value, Markup) else value
        ),
    )
    environment.filters |= {"cell": sentence, "breakable": lambda name: breakable(words(name))}
    code = environment.get_template(script).render()
    digest = b64encode(sha256(code.encode()).digest()).decode()
    return environment.get_template(template).render(script=Markup(code), hash=digest, **fields)


def write_form(data: Mapping[str, Any], path: Path) -> None:
    """Write the browser form of a suite, which opens from disk and loads nothing; equal suites give equal bytes."""
    with writing(path) as stream:
        stream.write(_rendered("form.html", "form.js", name=data["name"], data=Markup(as_script(data))))


def _part(part: Part, page: Page) -> Markup:
    """Return the sections of a part, without titles, warnings and sentences that the page has shown already."""
    shown = [*page.caveats, *(finding.text for finding in page.findings)]
    shown += failed_checks(page.results.values())
    shown += [f"{page.summary.verdict} {page.summary.text}".strip()] if page.summary else []
    html, titles = [], [part.title, page.title]
    for section in to_read(part.sections):
        if plain(section.text) in shown and not (section.blocks or section.notes or section.warnings):
            continue
        title = plain(section.title).partition("\n")[0]
        warnings = [line for line in section.warnings if not line.endswith(tuple(shown))]
        if section.summary and section.summary == page.summary:  # the first screen and the caveats have these
            rest = [block for block in section.blocks if block not in section.summary.blocks]
            if not rest:
                continue
            section = replace(section, text="", blocks=rest)
        html.append(section_html(replace(section, warnings=warnings), titled=title not in titles))
        titles.append(title)
    return joined(html)


# LaTeX and figures


def _sections(page: Page) -> list[Section]:
    """Return the verdict, the findings and the caveats, then everything else."""
    summary = page.summary
    verdict = f"{summary.verdict}\n{summary.text}" if summary else ""
    findings = [finding.text for finding in page.findings]
    return [
        Section(page.title, verdict, [Text(["\n".join(findings)])], warnings=page.caveats),
        *page.sections,
    ]


def write_figures(page: Page, folder: Path) -> int:
    """Draw every chart as PDF and SVG, and return their number."""
    from .figures import draw_figures

    chart = page.summary.chart if page.summary else None
    first = [Section(blocks=[chart])] if chart else []
    return draw_figures([*first, *page.sections], folder)
