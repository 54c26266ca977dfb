"""A page as one HTML file with the data beside it as JSON: it opens from disk, and nothing in it is fetched."""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ..core.errors import StoreError
from ..core.files import collector_paused, stands_alone, writing
from ..core.records import Finding, Measure, Result, as_json, finding_as_json
from ..core.views import to_read
from ..runs.viewing import case_lines
from .headlines import HEADLINE
from .html_blocks import section_html
from .naming import renamed
from .page import CAUTIONS, Page, Part, failed_checks, results_page, who
from .page_cases import as_script, is_pass_or_fail, is_whole, shelf
from .page_words import joined, key_of, rests_on, words
from .pieces import interval_text, plain, value_text

EVIDENCE = 4
"""How many numbers stand below a finding."""


def write_page(page: Page, path: Path | str, jobs: Sequence[Mapping[str, Any]]) -> None:
    """Write the page, and beside it the same numbers as JSON. The same page gives the same bytes.

    Where the page has no room for every case, all of them are written beside it, a line each. Into a device or a pipe
    goes the page alone.
    """
    path = Path(path)
    if path.suffix == ".json":
        raise StoreError(
            f"{path}: a page cannot end in .json",
            why="the numbers are written beside it under that name",
            fix=f"{path.with_suffix('.html')}",
        )
    held, alone = shelf(page.results), stands_alone(path)
    beside = path.with_name(f"{path.stem}-cases.jsonl")
    with writing(path) as stream:
        stream.write(page_of(page, held, "" if alone else beside.name))
    if alone:
        return
    with writing(path.with_suffix(".json")) as stream:
        json.dump(page_data(page, jobs), stream, indent=1, default=str)
    if is_whole(held):
        return
    with writing(beside) as stream, collector_paused():
        for name, result in page.results.items():
            stream.writelines(case_lines(result, name))


def write_report(results: Sequence[Result], path: Path | str) -> None:
    """Write some results as one page, each as its protocol shows it, and their numbers beside it as JSON."""
    write_page(results_page(results), path, [result.job for result in results])


def page_data(page: Page, jobs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What stands beside a page: the object that `--json` prints."""
    return {
        "jobs": [dict(job) for job in jobs],
        "measures": [as_json(measure) for measure in page.measures],
        "findings": [finding_as_json(finding) for finding in page.findings if finding.kind != HEADLINE],
    }


def page_of(page: Page, held: Mapping[str, Any] | None = None, beside: str = "") -> str:
    """The page. Text of the data is never markup: everything is escaped where it is put in."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(loader=PackageLoader("shoal.render"), autoescape=True, trim_blocks=True)
    script = environment.get_template("script.js").render()
    held = shelf(page.results) if held is None else held
    page = _with_short_names(page)
    parts = [_part(part, page.title, _read(page)) for part in page.parts]
    only = renamed(page.about[1], page.names) if len(page.about) == 2 else ""
    whose = [*page.protocols, *[""] * len(page.findings)]
    told = [
        (finding.kind in CAUTIONS, _finding(finding, parts, only, protocol, page.names))
        for finding, protocol in zip(page.findings, whose, strict=False)
    ]
    findings = [finding for is_caution, finding in told if not is_caution]
    by_kind = {finding["kind"]: finding for is_caution, finding in reversed(told) if is_caution}
    cautions = list(reversed(by_kind.values()))
    return environment.get_template("page.html").render(
        title=words(page.title),
        asked=[(words(name), words(question)) for name, question in page.asked],
        about=[words(line) for line in page.about[:1]],
        models=[(words(page.names.get(spec, spec)), words(spec)) for spec in page.about[1:]],
        findings=findings[: page.first],
        more=findings[page.first :],
        cautions=cautions,
        further=[finding for is_caution, finding in told if is_caution and finding not in cautions],
        warnings=[words(line) for line in page.warnings],
        overview=joined(section_html(section, 2) for section in page.overview),
        parts=[
            (words(part.title), words(part.job), html) for part, html in zip(page.parts, parts, strict=True)
        ],
        facts=[(words(plain(section.title)), section_html(section)) for section in page.facts],
        plan=words(page.plan),
        cases=Markup(as_script(held)) if held["rows"] else "",
        jobs=[words(job["name"]) for job in held["jobs"]],
        fails=is_pass_or_fail(held),
        sampled=not is_whole(held),
        beside=words(beside),
        script=Markup(script),
        hash=b64encode(sha256(script.encode()).digest()).decode(),
    )


def _with_short_names(page: Page) -> Page:
    """The page with short names of its models wherever protocols wrote their specs."""
    return replace(
        page,
        parts=renamed(page.parts, page.names),
        title=renamed(page.title, page.names),
        findings=renamed(page.findings, page.names),
    )


def _read(page: Page) -> list[str]:
    """What is said at the top of the page, as parts would say it."""
    said = [finding.text for finding in page.findings]
    return [*page.warnings, *said, *failed_checks(page.results.values())]


def _part(part: Part, title: str, read: Sequence[str]) -> Markup:
    """The sections of a part, without headings, warnings and bare sentences that were read already."""
    html, headings = [], [part.title, title]
    for section in to_read(part.sections):
        if plain(section.text) in read and not (section.blocks or section.notes or section.warnings):
            continue
        fresh = _not_read(section.warnings, tuple(read))
        name = plain(section.title).partition("\n")[0]
        is_new = all(_words_of(name) != _words_of(above) for above in headings)
        html.append(section_html(replace(section, warnings=fresh), titled=is_new))
        headings = [name] if is_new else headings
    return joined(html)


def _not_read(lines: Sequence[str], read: tuple[str, ...]) -> list[str]:
    """Lines that nothing above has said; one that goes on in lower case goes with the line before it."""
    fresh, was_read = [], False
    for line in lines:
        was_read = line.endswith(read) or (was_read and line[:1].islower())
        fresh += [] if was_read else [line]
    return fresh


def _words_of(title: str) -> set[str]:
    return {word.strip(":").lower() for word in title.split()} - {"of"}


def _finding(
    finding: Finding, parts: Sequence[Markup], only: str, protocol: str, names: Mapping[str, str]
) -> dict[str, Any]:
    """A finding in words, with the numbers it rests on, each with the part of the page that shows it.

    Whom it is about is said unless it is the only model there is.
    """
    evidence = []
    for measure in finding.measures[:EVIDENCE]:
        key = key_of(measure)
        place = next((i for i, html in enumerate(parts, start=1) if f'data-k="{key}"' in html), 0)
        evidence.append(
            {
                "name": words(renamed(_named(measure, finding), names)),
                "value": words(value_text(measure)),
                "interval": words(interval_text(measure)),
                "n": f"{measure.n:,}",
                "hint": words(rests_on(measure)),
                "key": key,
                "href": f"#part-{place}" if place else "",
            }
        )
    return {
        "who": words(" · ".join(filter(None, (protocol, who(finding, only))))),
        "text": words(finding.text),
        "kind": "" if finding.kind == HEADLINE else words(finding.kind),
        "evidence": evidence,
        "left": len(finding.measures) - len(evidence),
    }


def _named(measure: Measure, finding: Finding) -> str:
    """A measure, and what it is of beyond what the whole finding is about."""
    telling = [
        f"{name} {value}" if value[:1].isdigit() else value
        for name, value in measure.groups.items()
        if value != "all" and name not in finding.groups
    ]
    return ", ".join([measure.name, *telling[:2]])
