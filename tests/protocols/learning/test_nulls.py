"""Models that know nothing: what they pass by nature, worked by hand."""

import numpy as np
import pytest
from rich.console import Console

from shoal import Case
from shoal.core.records import Answers, Measures, Outcome, Result
from shoal.protocols.behaviour import compare, view
from shoal.protocols.behaviour.iid import EXACT_MATCH, IID
from shoal.protocols.behaviour.rules import Expect
from shoal.protocols.behaviour.score import judge, unconditional_rates
from shoal.protocols.behaviour.settings import Settings, Train
from shoal.protocols.behaviour.suite import DEFAULTS
from shoal.protocols.learning.nulls import nulls_of
from shoal.protocols.learning.trainings import Trainings, read_trainings
from shoal.render.terminal import print_sections
from shoal.runs.settings import make_settings

THREE = ("negative", "neutral", "positive")


def case(name, kind, texts, right, **meta):
    groups = {"functionality": name, "capability": name.split()[0], "test type": kind}
    meta = {"expect": DEFAULTS.get(kind), **meta}
    return Case(f"{name}/{texts[0]}", tuple((text,) for text in texts), right, groups, meta=meta)


def suite():
    """Blame is negative, praise positive, some is neither; typos change nothing."""
    about = {"labels": THREE}
    cases = [case("blame", "MFT", (f"bad {n}",), ("negative",), **about) for n in range(2)]
    cases += [case("praise", "MFT", (f"good {n}",), ("positive",), **about) for n in range(4)]
    cases += [case("praise or not", "MFT", ("so-so",), ("not_negative",), **about)]
    return cases + [case("typos", "INV", (f"good {n}", f"god {n}"), None, **about) for n in range(3)]


def rows(labels):
    about = {"functionality": IID, "capability": IID, "test type": "MFT"}
    return [
        Case(f"{IID}/{n}", ((f"row {n}",),), (label,), about, meta={"expect": DEFAULTS["MFT"]})
        for n, label in enumerate(labels)
    ]


def results(cases, passed):
    def result(config, hold_out):
        settings = {"train": {"on": [config], "method": ["vanilla"]}, "hold_out": [hold_out], "seed": 0}
        outcomes = [Outcome(one.id, hit, None) for one, hit in zip(cases, passed, strict=True)]
        return Result({"id": config, "model": "m", "settings": settings}, cases, outcomes, Measures([]))

    return [result("iid", "none"), result("iid>suite", "seen")]


def table(**settings):
    return Settings(resamples=50, shuffles=100, train=Train(on=("iid", "iid>suite")), **settings)


def test_one_answer_to_everything_passes_what_asks_for_it_and_every_test_of_invariance():
    cases = [*suite(), *rows(["negative"] * 3 + ["positive"])]
    trainings = Trainings(table(), read_trainings(results(cases, [True] * len(cases))))
    found = {null.name: null for null in nulls_of(trainings)}
    assert list(found) == ["always negative", "always neutral", "always positive", "by chance"]
    always = found["always negative"]
    assert always.rates == {"blame": 1, "praise": 0, "praise or not": 0, "typos": 1} and always.iid == 0.75
    assert found["always positive"].rates == {"blame": 0, "praise": 1, "praise or not": 1, "typos": 1}
    assert found["by chance"].iid == pytest.approx(0.75**2 + 0.25**2)
    assert 0 <= found["by chance"].rates["typos"] < 1


def test_rows_stand_beside_the_best_of_them():
    """Always positive passes 3 of 4; a row that passes 7/8 knows half of what it does not."""
    cases = [*suite(), *rows(["negative"] * 3 + ["positive"])]
    passed = [one.id != "praise/good 0" and one.id != "praise/good 1" for one in cases]
    measures = compare(table(), results(cases, passed)).measures
    null = {row.groups["of"]: row.value for row in measures if row.groups.get("null") == "always positive"}
    assert null == {"suite score": 0.75, "iid score": 0.25, "G": pytest.approx(0.375)}
    corrected = [row for row in measures if row.name == "chance-corrected suite score"]
    assert [row.groups["config"] for row in corrected] == ["iid", "iid>suite"]
    assert [row.value for row in corrected] == pytest.approx([0.5, 0.5])
    assert {row.facts["null"] for row in corrected} == {"always positive"}


def test_the_line_below_table_3_is_in_per_cent_where_a_functionality_does_not_apply():
    expect = Expect("pred_equals_label", 0.0, "all_except_first", "original pred is 2")
    texts = {"labels": THREE, "expect": expect}
    cases = [
        *suite(),
        case("DIR applies to others", "DIR", ("good", "bad"), ("positive", "negative"), **texts),
    ]
    cases += rows(["negative"] * 3 + ["positive"])
    settings, made = table(), results(cases, [True] * len(cases))
    compared = compare(settings, made)
    console = Console(width=200, record=True)
    print_sections(view(settings, made, compared.measures, compared.findings), console)
    line = next(line for line in console.export_text().splitlines() if "for comparison" in line)
    assert "always positive: suite score 75.0, iid score 25.0, G 37.5 (on the 4 of 5 functionalities" in line


def test_of_questions_the_first_word_of_the_context_is_one_of_them():
    def asked(name, context, answer, **more):
        groups = {"functionality": name, "capability": name, "test type": "MFT"}
        meta = {"expect": EXACT_MATCH, "reading": True, **more}
        return Case(f"{name}/{context}", ((context, "Who?"),), (answer,), groups, meta=meta)

    cases = [
        asked("who", "Ann met Bo", "Ann"),
        asked("who", "Cy met Ann", "Ann"),
        asked("whom", "Ann met Di", "Di"),
    ]
    cases += [asked(IID, "Ed ran", "Ed", answers=["Ed"])]
    trainings = Trainings(table(), read_trainings(results(cases, [True] * 4)))
    found = {null.name: (null.rates, null.iid) for null in nulls_of(trainings)}
    assert found == {
        "nothing": ({"who": 0, "whom": 0}, 0),
        "always 'Ann'": ({"who": 1, "whom": 0}, 0),
        "the first word of the context": ({"who": 0.5, "whom": 0}, 1),
    }


def test_a_test_that_applies_to_few_is_told_with_what_holds_of_all():
    """Section 7.7: of three pairs two are said to be duplicates, of which one variant is not: 1 of 2, and 2 of 3."""
    labels = ("0", "1")
    expect = Expect("pred_equals_0", 0.0, "all_except_first", "original pred is 0")
    cases = [
        case(
            "change names",
            "DIR",
            (f"pair {n}", f"changed {n}"),
            None,
            labels=labels,
            direction="label",
            expect=expect,
        )
        for n in range(3)
    ]
    said = Answers(labels, np.array([1, 0, 1, 1, 0, 0]))
    settings = make_settings(Settings, {}, "test")
    outcomes = judge(settings, cases, said)
    assert [outcome.passed for outcome in outcomes] == [True, False, None]
    (row,) = unconditional_rates(settings, cases, said, outcomes)
    assert (row.name, row.n) == ("unconditional pass rate", 3) and row.value == pytest.approx(2 / 3)
