"""Headless Chromium for tests of pages: a page that complains or fetches anything fails its test.

Without Chromium these tests are skipped on a user's machine and fail in CI (`make test` installs it where it may).
"""

import os
import shutil
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
HOSTILE = (
    "<script>window.hacked=1</script><img src=x onerror='window.hacked=1'>\"'\u202e ]]> </script> 👩‍👩‍👧 "
)
SERIOUS = ("serious", "critical")


def _missing(words: str) -> None:
    if os.environ.get("CI", "").lower() not in ("", "0", "false"):
        pytest.fail(f"{words} (CI is set: nothing is skipped)", pytrace=False)
    pytest.skip(words)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium, the one that the machine has."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        _missing("no Chromium here: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        _missing('no Playwright here: pip install "shoal[dev]"')
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


class Watched:
    """A page that was opened, with whatever it complained about or asked for."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        viewport = {"width": options.pop("width", 1280), "height": 900}
        self.context = browser.new_context(viewport=viewport, **options)
        self.page = self.context.new_page()
        self.troubles: list[str] = []
        self.page.on("console", lambda message: self.troubles.append(message.text))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", lambda request: self._asked(request.url, path.as_uri()))
        self.page.goto(path.as_uri())

    def _asked(self, url: str, own: str) -> None:
        if url != own:
            self.troubles.append(f"asked for {url}")

    def cases(self) -> Any:
        """The list of cases, once it is there."""
        self.page.locator("#cases").scroll_into_view_if_needed()
        self.page.locator("#list > li").first.wait_for()
        return self.page.locator("#list > li")

    def value(self, script: str) -> Any:
        return self.page.evaluate(script)


Opened = Callable[..., Watched]


@pytest.fixture
def opened(browser: Any) -> Iterator[Opened]:
    """Opens pages and closes them; a page that complained or fetched anything fails the test."""
    pages: list[Watched] = []

    def open_page(path: Path, **options: Any) -> Watched:
        pages.append(Watched(browser, path, **options))
        return pages[-1]

    yield open_page
    for watched in pages:
        watched.context.close()
        assert watched.troubles == []


def serious(page: Any) -> list[str]:
    """What axe-core says is seriously wrong; to describe what is right would take most of its time."""
    if not page.evaluate("'axe' in window"):
        page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text())
    told = page.evaluate("axe.run({resultTypes: ['violations']})")
    assert told["passes"]
    return [
        f"{rule['id']}: {node['html'][:120]} {node['failureSummary']}"
        for rule in told["violations"]
        if rule["impact"] in SERIOUS
        for node in rule["nodes"]
    ]
