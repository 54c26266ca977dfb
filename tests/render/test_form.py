"""The form of a suite in a real browser: nothing is lost, nothing runs, and what comes back is the suite."""

import json
from pathlib import Path
from typing import Any

import pytest
from browsing import HOSTILE, serious
from click.testing import CliRunner

from shoal import Suite, case, read_suite, write_suite
from shoal.cli import main


def shoal(*arguments: object) -> Any:
    return CliRunner(env={"COLUMNS": "80"}).invoke(main, list(map(str, arguments)))


@pytest.fixture
def form(tmp_path: Path) -> Path:
    """The form of a suite with all kinds of tests, next to its suite file."""
    suite = Suite(f"hotels {HOSTILE}", labels=("negative", "positive"))

    @suite.minimum(capability="vocabulary")
    def praise():
        for number in range(60):
            yield case(f"Room {number} was great. {HOSTILE}", label="positive", cluster="room")

    @suite.minimum(capability="negation")
    def negation():
        yield case("Not bad.", label="not_negative")
        yield case("Not good.", label="negative", details={"seen": [1.0, 12345678901234567890], "1": "é"})

    @suite.invariance(capability=HOSTILE)
    def names():
        yield case("Ann slept.", "Bob slept.", "Cem slept.")

    write_suite(suite, tmp_path / "suite.jsonl")
    done = shoal("export", tmp_path / "suite.jsonl", "--out", tmp_path / "form.html")
    assert done.exit_code == 0 and "a form with 63 cases" in done.output, done.output
    return tmp_path / "form.html"


def saved(page: Any, folder: Path) -> Path:
    with page.expect_download() as download:
        page.get_by_role("button", name="Save").click()
    assert download.value.suggested_filename.endswith("-edited.json")
    download.value.save_as(folder / "edited.json")
    return folder / "edited.json"


def imported(path: Path) -> tuple[str, list[dict[str, Any]]]:
    done = shoal("import", path, "--out", path.with_name("back.jsonl"))
    assert done.exit_code == 0, done.output
    return done.output, [json.loads(line) for line in path.with_name("back.jsonl").read_text().splitlines()]


def test_a_form_without_changes_gives_the_same_suite_byte_for_byte(form, opened):
    edited = saved(opened(form).page, form.parent)
    imported(edited)
    assert edited.with_name("back.jsonl").read_bytes() == form.with_name("suite.jsonl").read_bytes()


def test_cases_are_changed_relabelled_commented_on_deleted_and_added(form, opened):
    page = opened(form).page
    page.locator(".case textarea").nth(0).fill("Room 0 was so-so.")
    page.locator(".case").nth(0).get_by_label("label").select_option("negative")
    page.locator(".case").nth(1).get_by_role("button", name="Delete").click()
    page.locator("nav").get_by_role("button", name="negation").click()
    page.locator(".case").nth(1).get_by_role("button", name="Comment").click()
    page.keyboard.type("Or sarcastic?")
    page.get_by_role("button", name="Add a case").click()
    page.keyboard.type("Never dull.")
    page.locator(".case").last.get_by_label("label").select_option("not negative")
    page.locator("nav").get_by_role("button", name="names").click()
    page.get_by_role("button", name="Remove variant 2").click()
    page.get_by_role("button", name="Add variant").click()
    page.keyboard.type("Eve slept.")
    assert page.locator("#state").inner_text() == "5 changes, not saved"
    output, (_, *rows) = imported(saved(page, form.parent))
    assert page.locator("#state").inner_text() == "5 changes, saved"
    assert "not imported: 1 case deleted in the form" in output
    by_id = {f"{row['functionality']}/{row['case_id']}": row for row in rows}
    before = [json.loads(line) for line in form.with_name("suite.jsonl").read_text().splitlines()]
    assert len(rows) == 63 and "praise/2" not in by_id
    assert by_id["praise/1"] == before[1] | {
        "examples": [{"text": "Room 0 was so-so."}],
        "labels": "negative",
    }
    assert by_id["negation/2"]["meta"]["comment"] == "Or sarcastic?"
    added = {"examples": [{"text": "Never dull."}], "labels": "not_negative", "case_id": "added-1"}
    assert by_id["negation/added-1"] == before[61] | added
    assert [example["text"] for example in by_id["names/1"]["examples"]] == [
        "Ann slept.",
        "Bob slept.",
        "Eve slept.",
    ]
    assert len(read_suite(form.with_name("back.jsonl")).cases) == 63


def test_changes_survive_a_reload_until_they_are_discarded(form, opened):
    page = opened(form).page
    page.locator(".case textarea").nth(0).fill("Changed.")
    page.reload()
    assert page.locator(".case textarea").nth(0).input_value() == "Changed."
    assert "survive closing and reloading" in page.locator("#notice").inner_text()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Discard").click()
    page.reload()
    assert page.locator(".case textarea").nth(0).input_value().startswith("Room 0")
    assert page.locator("#state").inner_text() == "63 cases, no changes"


def test_search_and_filters_look_into_all_functionalities(form, opened):
    page = opened(form).page
    assert page.locator(".case").count() == 50
    page.get_by_role("button", name="Show 10 more of 10").click()
    assert page.locator(".case").count() == 60
    page.keyboard.press("Escape")
    page.locator("h2").click()
    page.keyboard.press("/")
    page.keyboard.type("cem slept")
    page.locator("h2", has_text="1 case").wait_for()
    page.get_by_role("button", name="Delete").click()
    page.get_by_label("Search all cases").fill("")
    page.get_by_label("Cases to show").select_option("Marked for deletion")
    assert page.locator(".case").count() == 1
    page.get_by_role("button", name="Keep").click()
    page.get_by_role("button", name="Back to one functionality").click()
    assert page.locator("h2").inner_text() == "praise"


def test_a_blank_text_or_a_missing_label_is_found_before_it_is_saved(form, opened):
    page = opened(form).page
    page.locator("nav").get_by_role("button", name="negation").click()
    page.keyboard.press("Control+Enter")
    page.locator("nav").get_by_role("button", name="praise").click()
    page.keyboard.press("Control+s")
    assert (
        page.get_by_role("alert").all_inner_texts()[-1] == "A text is blank. Fill it in or delete the case."
    )
    page.keyboard.type("Hm.")
    page.keyboard.press("Control+s")
    assert page.get_by_role("alert").all_inner_texts()[-1] == "Choose a label."
    page.locator(".case").last.get_by_role("button", name="Delete").click()
    saved(page, form.parent)


def test_the_form_works_by_keyboard_on_a_phone_and_for_everybody(form, opened):
    watched = opened(form)
    page = watched.page
    page.keyboard.press("Alt+ArrowDown")
    page.keyboard.press("Alt+ArrowDown")
    assert watched.value("document.activeElement.closest('.case').dataset.at") == "1"
    for scheme, width in (("light", 1280), ("dark", 390)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 844})
        assert serious(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_label("Functionality", exact=True).select_option("names")
    assert page.locator(".case").count() == 1


def test_no_text_of_a_suite_becomes_markup(form, opened):
    watched = opened(form)
    page = watched.page
    assert "</script>" in page.locator("h1").inner_text() and "</script>" in page.locator("nav").inner_text()
    page.get_by_label("Search all cases").fill("window.hacked")
    page.locator("h2", has_text="60 cases").wait_for()
    assert watched.value("window.hacked") is None and page.locator("img, main script").count() == 0


def line(**more: Any) -> dict[str, Any]:
    about = {
        "functionality": "praise",
        "capability": "words",
        "type": "MFT",
        "case_id": "1",
        "labels": "positive",
    }
    return {**about, "examples": [{"text": "Great."}], **more}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (line(labels="postive", edited=True), "line 3: praise, case 1: label 'postive' is not one of"),
        (line(examples=[{"text": " "}], added=True), "line 3: praise, case 1: a blank text"),
    ],
)  # fmt: skip
def test_a_form_that_was_spoilt_by_hand_names_the_case(tmp_path, row, message):
    head = {"suite": "hotels", "form": {"labels": ["negative", "positive"]}}
    rows = [head, line(case_id="0", labels="negative"), row]
    (tmp_path / "edited.json").write_text("".join(json.dumps(each) + "\n" for each in rows))
    done = shoal("import", tmp_path / "edited.json", "--out", tmp_path / "back.jsonl")
    assert done.exit_code == 1 and message in done.output, done.output
    assert not (tmp_path / "back.jsonl").exists()
