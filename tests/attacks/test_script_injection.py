"""Scripts in endpoint answers, suites and model names never run in a report or in a page of `compare`."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from fake_server import serving
from small_world import lines

from shoal.cli import main

pytest.importorskip("aiohttp", reason="needs shoal[llm]")
playwright = pytest.importorskip("playwright.sync_api", reason="needs shoal[dev]")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
CANARY = "<script>window.hacked=1</script><img src=x onerror='window.hacked=1'>\"'--></script>"
PLAN = """
models = [{models}]
[behaviour]
suite = "suite.jsonl"
"""


def suite_row(number: int) -> dict[str, object]:
    about = {
        "functionality": f"f {CANARY}",
        "capability": CANARY,
        "type": "MFT",
        "case_id": f"{number} {CANARY}",
    }
    return {**about, "examples": [{"text": f"good {number} {CANARY}"}], "labels": "positive"}


def hostile_rule(question: str) -> str:
    """Answer half of the questions with nothing but the canary."""
    return "positive" if "good 2" in question else CANARY


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_a_script_in_answers_suites_and_model_names_never_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    head = {"suite": f"s {CANARY}", "label_names": ["negative", "neutral", "positive"]}
    Path("suite.jsonl").write_bytes(lines([head, *map(suite_row, range(30))]))
    with serving(rule=hostile_rule, logprobs=False) as server:
        server.model = CANARY
        specs = [
            f"openai:<script>window.hacked=1</script>{name}?url={server.url}&prompt=sentiment-plain&mode=generate"
            for name in ("a", "b")
        ]
        Path("plan.toml").write_text(PLAN.format(models=", ".join(map(json.dumps, specs))))
        done = CliRunner().invoke(main, ["run", "plan.toml"])
        assert done.exit_code == 0, done.output
    jobs = sorted(path.name for path in Path("runs/jobs").iterdir())
    for command in (
        ["report", "plan.toml", "--out", "report.html"],
        ["compare", *jobs, "--out", "compare.html"],
    ):
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 0, done.output
    with playwright.sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name in ("report.html", "compare.html"):
            page = browser.new_page()
            page.goto((tmp_path / name).as_uri())
            page.wait_for_load_state()
            for toggle in page.locator("details").all():
                toggle.evaluate("node => { node.open = true }")
            assert "window.hacked=1" in page.content(), f"{name}: the canary should be in the page"
            assert page.evaluate("window.hacked") is None, name
            assert page.locator("img, main script").count() == 0, name
        browser.close()
