"""Code cites what a reader of the repository has: pages of `docs/method`, sections that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OUTSIDE = re.compile(
    r"\.\./shared"
    r"|protocols/(?:0\d|tables)"  # the pages' and tables' former places
    r"|\b0[0-8]-[a-z]+[a-z-]*\.md"
    r"|(?<![\d.])0[0-8]\s*(?:,\s*)?(?:sections?\s|§)"  # "07 section 7.2"
    r"|(?<![\d.])0([0-8]),? \1\.\d"  # "01, 1.9" and "07 7.6"
    r"|(?<![\w.:/,}-])0[0-8](?: [a-z]|\))",  # "07 says" and "(07)"
)
CITATION = re.compile(r"docs/method/(\w+\.md)`?((?:(?:,| and| to|-)? ?\d\.\d+)*)")


def sources() -> list[Path]:
    return sorted(path for folder in ("src", "benchmarks") for path in (ROOT / folder).rglob("*.py"))


def outside(text: str) -> list[str]:
    return [match.group() for match in OUTSIDE.finditer(text)]


def missing(text: str) -> list[str]:
    """The pages and sections of `docs/method` that a text cites and that are not there."""
    absent: list[str] = []
    for page, sections in CITATION.findall(text):
        path = ROOT / "docs" / "method" / page
        headings = re.findall(r"^## (\d\.\d+)", path.read_text(), re.MULTILINE) if path.exists() else []
        wanted = re.findall(r"\d\.\d+", sections)
        absent += [f"{page} {section}" for section in wanted if section not in headings]
        absent += [page] if not path.exists() else []
    return absent


def test_sources_cite_only_pages_and_sections_of_the_repository():
    citations = {path: outside(path.read_text()) + missing(path.read_text()) for path in sources()}
    offenders = {str(path.relative_to(ROOT)): cited for path, cited in citations.items() if cited}
    assert len(citations) > 100 and offenders == {}


@pytest.mark.parametrize(
    "text",
    [
        "python benchmarks/bias.py ../shared/data",
        "(`protocols/01-beluga.md` 1.5)",
        "and `02-checklist-suites.md` 2.5",
        "`protocols/tables/suite_functionalities.csv`",
        "the family is the table (07 section 7.5)",
        "three means (03 sections 3.5, 3.7)",
        "(01, 1.9; 07, 7.3-7.5)",
        "an item-by-run matrix (07 7.6)",
        "parameters of 06 §6.7",
        "# 07 takes the share below",
        "counts of the released data (05)",
    ],
)
def test_a_citation_from_outside_is_seen(text):
    assert outside(text)


@pytest.mark.parametrize(
    "text",
    [
        "(`docs/method/beluga.md` 1.5)",
        "[0.04, 0.001, 0.03]",
        "0.05, 5.5",
        "2026-01-02",
        "1.01 section",
        "{n}00 euros",
    ],
)
def test_what_is_no_such_citation_is_let_be(text):
    assert outside(text) == []


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("`docs/method/beluga.md` 1.5 and 1.9", []),
        ("`docs/method/beluga.md` 1.5, 7.2", ["beluga.md 7.2"]),
        ("`docs/method/beyond.md` 7.3 to 7.99", ["beyond.md 7.99"]),
        ("docs/method/nothing.md 1.5", ["nothing.md 1.5", "nothing.md"]),
    ],
)
def test_a_cited_section_that_is_not_there_is_seen(text, absent):
    assert missing(text) == absent
