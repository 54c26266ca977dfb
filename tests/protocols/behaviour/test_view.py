"""What is shown of an audit: the worst with what the model said, what was set, and never more than was tested."""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console

from shoal import Answers, Measures, Result, Suite, case
from shoal.core.views import Section
from shoal.protocols.behaviour import compare, view
from shoal.protocols.behaviour.build import built_suite
from shoal.protocols.behaviour.score import score
from shoal.protocols.behaviour.settings import Settings
from shoal.protocols.behaviour.suite import DEFAULTS
from shoal.render.tables import tables_of
from shoal.render.terminal import print_sections

THREE, TWO = ("negative", "neutral", "positive"), ("negative", "positive")


def small_suite() -> Suite:
    """Three functionalities of two capabilities, four cases each."""
    suite = Suite("small", THREE)

    @suite.minimum(capability="words")
    def praise():
        for number in range(4):
            yield case(f"praise {number}", label="positive")

    @suite.minimum(capability="words")
    def blame():
        for number in range(4):
            yield case(f"blame {number}", label="negative")

    @suite.invariance(capability="names")
    def names():
        for number in range(4):
            yield case(f"Ann {number}", f"Bob {number}")

    return suite


PRAISE, BLAME, NAMES = slice(0, 4), slice(4, 8), slice(8, 16)


def probabilities(labels: int = 3) -> Any:
    """Of a model that is right: praise positive, blame negative, names the same."""
    rows = np.full((16, labels), 0.1 / (labels - 1))
    rows[PRAISE, -1] = rows[BLAME, 0] = rows[NAMES, 0] = 0.9
    return rows


def audited(
    answers: Answers,
    suite: Suite | None = None,
    *,
    model: str = "python:m:predict",
    checks: Sequence[dict[str, Any]] = (),
    **settings: Any,
) -> Result:
    chosen = Settings(suite="small.jsonl", **settings)
    built = built_suite(suite or small_suite())
    scored = score(chosen, built, {"": answers})
    job = {"model": model, "protocol": "behaviour", "checks": checks, "settings": {"seed": chosen.seed}}
    return Result(
        job, built.cases, scored.outcomes, Measures(scored.measures), scored.columns, scored.findings, chosen
    )


def answers_of(rows: Any, labels: Sequence[str] = THREE, **more: Any) -> Answers:
    return Answers(tuple(labels), rows.argmax(1), rows, **more)


def shown(sections: Sequence[Section], width: int = 120, full: bool = False) -> str:
    console = Console(width=width, record=True, highlight=False, file=io.StringIO())
    print_sections(sections, console, full=full)
    return console.export_text()


def alone(result: Result, width: int = 120) -> str:
    return shown(view(result.settings, [result], (), result.findings), width)


def flawed(labels: int = 3) -> Any:
    """One failing praise, and one name that turns the answer round."""
    rows = probabilities(labels)
    rows[0] = [0.8, *[0.2 / (labels - 1)] * (labels - 1)]
    rows[9] = rows[2]
    return rows


# One result


def test_the_first_line_says_what_was_asked_with_every_unusual_setting_and_how_many_cases_pass():
    result = audited(answers_of(flawed()), tolerance=0.2, limit=12)
    first, second, third, *_ = alone(result).splitlines()
    assert first == (
        "python:m:predict on suite small.jsonl, with limit 12, tolerance 0.2: 10 of 12 cases pass (83.3 %)"
    )
    assert second.startswith("Suite score 83.3 (mean over 3 functionalities), 95 % CI ")
    assert third == "Weakest capabilities: names 75.0 %, words 87.5 %"


def test_the_table_is_sorted_worst_first_with_counts_beside_rates():
    lines = [line.split() for line in alone(audited(answers_of(flawed()))).splitlines()]
    table = [line[:4] for line in lines if len(line) > 4 and "/" in line[1] + line[2]]
    assert [line[0] for line in table] == ["names", "names", "words", "praise", "blame", "all", "all"]
    assert table[3] == ["praise", "MFT", "3/4", "75.0"]


def test_all_is_well_only_where_everything_was_answered():
    well = alone(audited(answers_of(probabilities())))
    assert "Every applicable case passes." in well and "Weakest" not in well
    partly = alone(audited(answers_of(probabilities(), errors={0: "timed out"})))
    assert "Every applicable case passes; 1 case is unanswered." in partly


def lopsided(*sizes: int, failing: int) -> Result:
    """Functionalities with these numbers of cases; the last ones fail."""
    suite = Suite("lopsided", THREE)
    for size, name, capability in zip(
        sizes, ("stray_rows", "plenty", "more"), ("few", "many", "others"), strict=False
    ):
        suite.add_functionality(name, capability, "MFT", DEFAULTS["MFT"])
        for number in range(size):
            suite.add_case(name, str(number), case(f"{name} {number}", label="positive"))
    predictions = np.repeat([2, 0], [sum(sizes) - failing, failing])
    return audited(Answers(THREE, predictions), suite)


def test_groups_of_one_or_two_cases_never_lead_the_weakest():
    def weakest(result: Result) -> str:
        return next(line for line in alone(result).splitlines() if line.startswith("Weakest"))

    assert weakest(lopsided(2, 40, 40, failing=82)).startswith(
        "Weakest capabilities: many 0.0 %, others 0.0 %"
    )
    assert "few" not in weakest(lopsided(2, 40, 40, failing=82))
    tiny = lopsided(2, failing=1)  # what fails is shown although it leads nothing
    assert "stray_rows: 1 of 2 fail" in alone(tiny) and "Every applicable case passes" not in alone(tiny)


# Several models


def test_models_stand_side_by_side_with_score_and_worst_functionality():
    results = [audited(answers_of(probabilities()), model="a"), audited(answers_of(flawed()), model="b")]
    together = compare(results[0].settings, results)
    sections = view(results[0].settings, results, together.measures, together.findings)
    text = shown(sections)
    assert text.startswith(
        "behaviour of 2 models\nHighest suite score: a, 100.0 %; lowest: b, 83.3 %.\nsuite small.jsonl"
    )
    (good,) = [line.split() for line in text.splitlines() if line.startswith("a ")]
    (bad,) = [line.split() for line in text.splitlines() if line.startswith("b ")]
    assert good[1] == "100.0" and "praise" not in good
    assert bad[1] == "83.3" and bad[bad.index("praise") + 1] == "75.0"
    assert "shoal compare" in text
    header = tables_of(sections)["models"].splitlines()[0]
    assert header.startswith("model,suite score,suite score low,suite score high,suite score n")


def test_a_dead_model_among_others_is_told_by_name():
    dead = answers_of(probabilities(), errors=dict.fromkeys(range(16), "no weights"))
    results = [audited(answers_of(probabilities()), model="a"), audited(dead, model="b")]
    together = compare(results[0].settings, results)
    assert [finding.groups for finding in together.findings] == [{"model": "b"}]
    text = shown(view(results[0].settings, results, together.measures, together.findings))
    assert "! b: The model answered none of 12 cases: no weights" in text


# Pass rate and suite score


def test_why_pass_rate_and_suite_score_differ_is_said_from_five_points_on():
    apart = lopsided(1, 40, 40, failing=60)  # 21 of 81 pass; the mean of 1, .5 and 0 is 50 %
    text = " ".join(alone(apart).split())
    assert "21 of 81 cases pass (25.9 %)" in text and "Suite score 50.0" in text
    assert "stray_rows (1 of 1 pass) counts 1/3 with 1.2 % of the cases" in text
    assert "Pass rate and suite score differ" not in alone(lopsided(1, 40, 40, failing=8))  # 90.1 and 93.3 %
