"""Code cites what a reader of the repository has: pages of `docs/method`, sections that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
CITATION = re.compile(r"docs/method/(\w+\.md)`?((?:(?:,| and| to|-)? ?\d\.\d+)*)")


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
    paths = sorted(path for folder in ("src", "benchmarks") for path in (ROOT / folder).rglob("*.py"))
    citations = {path: missing(path.read_text()) for path in paths}
    offenders = {str(path.relative_to(ROOT)): cited for path, cited in citations.items() if cited}
    assert len(citations) > 100 and offenders == {}
