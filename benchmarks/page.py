"""The page of very many cases: its size, and how long a browser takes to open it, to show cases and to search them.

    python benchmarks/page.py              two models, 100,000 cases each
    python benchmarks/page.py 10000        a tenth, in a moment

Everything goes through the verbs: import, run, report. The browser is the machine's Chromium, by Playwright; each
number is the median of five openings, the range in brackets. Goals: below 15 MB, open in less than 2 s.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from many_cases import cost, verbs, write_all

OPENED = 5
NEEDED = ("import", "run of two jobs")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def measured(browser: Any, page: Path) -> tuple[float, float, float]:
    """Milliseconds until it is all there, until the first cases are shown, until a search is done."""
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    opened.goto(page.as_uri())
    whole = opened.evaluate("performance.getEntriesByType('navigation')[0].domComplete")

    start = time.perf_counter()
    opened.locator("#cases").scroll_into_view_if_needed()
    opened.locator("#list > li").first.wait_for()
    shown = 1000 * (time.perf_counter() - start)
    count = opened.locator("#count")
    before, start = count.inner_text(), time.perf_counter()
    opened.locator("#search").fill("day 123.")
    while count.inner_text() == before:
        time.sleep(0.005)
    sought = 1000 * (time.perf_counter() - start)
    opened.close()
    return whole, shown, sought


def print_page(cases: int) -> None:
    """The table."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        folder = Path(place)
        write_all(folder, cases)
        for verb, arguments, _ in verbs(folder):
            if verb in NEEDED:
                cost(folder, *arguments)
            if verb == NEEDED[-1]:
                break
        taken = cost(folder, "report", "plan.toml", "--out", "page.html")
        page = folder / "page.html"
        path = next(filter(None, map(shutil.which, BROWSERS)))
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        rows = [measured(browser, page) for _ in range(OPENED)]
        print(f"{2 * cases:,} cases of two jobs")
        print(f"size                {page.stat().st_size / 1e6:6.1f} MB   at most 15")
        print(
            f"written in          {taken.seconds:6.1f} s of processor time, {taken.megabytes:,.0f} MB of memory"
        )
        for name, spans in zip(("open", "first cases shown", "search"), zip(*rows, strict=True), strict=True):
            goal = "   at most 2,000" if name == "open" else ""
            print(
                f"{name:<19} {statistics.median(spans):6.0f} ms ({min(spans):.0f} to {max(spans):.0f}){goal}"
            )
        browser.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=int, nargs="?", default=100_000)
    print_page(parser.parse_args().cases)
