"""Comparing two models: planted differences are found where they are, and nothing is found where there is none."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import Hits, result
from scipy.stats import ttest_ind

from shoal import Result
from shoal.comparing.pairs import Choices, Comparison, Row, compare
from shoal.comparing.wording import row_note
from shoal.core.errors import DataError, PlanError
from shoal.stats.multiplicity import holm

QUICK = Choices(shuffles=500, power=False)
OVER_TEMPLATES = replace(QUICK, over="templates")


def one(a: Result, b: Result, choices: Choices = QUICK) -> Comparison:
    return compare([a], [b], choices)


def row(comparison: Comparison, name: str) -> Row:
    (own,) = [row for row in comparison.by("functionality") if row.name == name]
    return own


def overall(comparison: Comparison, name: str) -> Row:
    return next(row for row in comparison.by("") if row.measure == name)


def random_hits(rng: np.random.Generator, rates: dict[str, float], n: int) -> dict[str, Hits]:
    return {name: (rng.random(n) < rate).astype(int).tolist() for name, rate in rates.items()}


def test_a_functionality_by_hand():
    a = result({"f": [1] * 10 + [0] * 2 + [1] * 8})
    b = result({"f": [0] * 10 + [1] * 2 + [1] * 8})
    own = row(one(a, b), "f")
    assert own.rates == (0.9, 0.5)
    assert own.difference == pytest.approx(-0.4)
    assert (own.gained, own.lost, own.n) == (2, 10, 20)
    assert own.p == pytest.approx(0.03857421875)  # sign test of 2 and 10 (`docs/method/beluga.md` 1.13)
    assert own.interval and own.interval[0] < -0.4 < own.interval[1] < 0


def test_the_toy_suite_on_its_common_cases():
    a = result({"f1": [1, 0, 0, 1], "f2": [0, 0], "f3": [1, None, 1, 0]})
    b = result({"f1": [1, 1, 0, 1], "f2": [1, 1], "f3": [1, 1, 1, None]})
    comparison = one(a, b)
    assert [row(comparison, name).difference for name in ("f1", "f2", "f3")] == [0.25, 1.0, 0.0]
    suite = overall(comparison, "suite score")
    assert suite.difference == pytest.approx(1.25 / 3)
    assert suite.p == 0.25  # of the 8 signs of 1/4, 1/2, 1/2 only two give a sum as large
    assert (suite.n, suite.na) == (8, 2)
    plain = overall(comparison, "pass rate")
    assert (plain.rates, plain.gained, plain.lost) == ((4 / 8, 7 / 8), 3, 0)


def test_a_planted_difference_is_found_in_its_functionality_and_nowhere_else():
    rng = np.random.default_rng(0)
    hits = random_hits(rng, {f"{c}{k}": 0.8 for c in "abc" for k in range(4)}, 300)
    worse = dict(hits, b2=[0 if at % 5 == 0 else hit for at, hit in enumerate(hits["b2"])])
    for name, own in worse.items():
        if name != "b2":  # noise: as many cases newly fail as are fixed
            changed = [*np.flatnonzero(np.array(own))[:6], *np.flatnonzero(1 - np.array(own))[:6]]
            worse[name] = [1 - int(hit or 0) if at in changed else hit for at, hit in enumerate(own)]
    comparison = one(result(hits), result(worse))
    assert [own.name for own in comparison.by("functionality") if own.significant] == ["b2"]
    planted = row(comparison, "b2")
    assert planted.difference is not None and -0.22 < planted.difference < -0.1
    assert [own.name for own in comparison.by("capability") if own.significant] == ["b"]


OUTCOME = st.sampled_from([1, 0, None, "timed out"])


@st.composite
def several_sides(draw: st.DrawFn, sides: int = 2) -> list[Result]:
    """Results of several runs on the same cases."""
    names = draw(st.lists(st.sampled_from(["a1", "a2 inv", "b1", "b2"]), min_size=1, unique=True))
    hits: list[dict[str, Hits]] = [{} for _ in range(sides)]
    templates = {}
    for name in names:
        n = draw(st.integers(1, 12))
        for side in hits:
            side[name] = draw(st.lists(OUTCOME, min_size=n, max_size=n))
        templates[name] = draw(st.lists(st.sampled_from(["", *map(str, range(7))]), min_size=n, max_size=n))
    return [result(side, templates) for side in hits]


FEW = Choices(shuffles=100)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(several_sides(1))
def test_a_model_against_itself_has_no_difference_and_p_1_everywhere(sides):
    for own in one(sides[0], sides[0], FEW).rows:
        if own.difference is not None:
            assert (own.difference, own.p, own.adjusted, own.gained, own.lost) == (0.0, 1.0, 1.0, 0, 0)
        else:
            assert own.p is None and own.adjusted is None and row_note(own)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(several_sides(), st.sampled_from(["cases", "templates"]))
def test_exchanging_the_models_flips_every_sign_and_no_p(sides, over):
    a, b = sides
    there, back = (one(*pair, replace(FEW, over=over)) for pair in ((a, b), (b, a)))
    for x, y in zip(there.rows, back.rows, strict=True):
        assert (x.p, x.adjusted, x.n, x.mde) == (y.p, y.adjusted, y.n, y.mde)
        assert (x.gained, x.lost) == (y.lost, y.gained)
        assert (x.rates, x.applicability, x.errors) == (y.rates[::-1], y.applicability[::-1], y.errors[::-1])
        if x.difference is not None:
            assert x.difference == -y.difference  # type: ignore[operator]
        if x.interval is not None:
            assert y.interval is not None
            assert x.interval == pytest.approx((-y.interval[1], -y.interval[0]), abs=1e-9)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(several_sides(4), st.integers(1, 3), st.integers(2, 4), st.sampled_from(["cases", "templates"]))
def test_if_the_unadjusted_test_does_not_reject_the_interval_reaches_zero(sides, first, last, over):
    a, b = sides[:first], sides[first:][: last - 1]
    for own in compare(a, b or sides[:1], replace(QUICK, shuffles=100, over=over)).rows:
        if own.p is not None and own.p > 0.05:
            assert own.interval is not None and own.interval[0] <= 0 <= own.interval[1]


def test_only_cases_that_apply_to_both_are_compared_and_the_rest_is_shown():
    a = result({"f": [1, 1, 1, 1, None, None, None, 0, 0, 0]})
    b = result({"f": [1, 1, 1, 0, 1, 1, 1, 1, 0, 0]})
    own = row(one(a, b), "f")
    assert (own.n, own.na) == (7, 3)
    assert own.rates == pytest.approx((4 / 7, 4 / 7))
    assert own.applicability == (0.7, 1.0)
    assert own.applicability_differs


def test_errors_are_counted_and_left_out_of_the_difference():
    a = result({"f": [1, 1, 1, 0], "g": [1]})
    b = result({"f": [1, "timed out", "timed out", 0], "g": ["timed out"]})
    comparison = one(a, b)
    own, empty = row(comparison, "f"), row(comparison, "g")
    assert (own.errors, own.n, own.na, own.difference) == ((0, 2), 2, 0, 0.0)
    assert (empty.difference, row_note(empty)) == (None, "no common answered case")
    suite = overall(comparison, "suite score")
    assert (suite.errors, suite.absent) == ((0, 3), ("g",))
    (difference,) = comparison.measures.where("difference", functionality="f")
    assert difference.errors == 2


def test_p_is_adjusted_within_a_level():
    rng = np.random.default_rng(3)
    a = result(random_hits(rng, dict.fromkeys(["a1", "a2", "b1"], 0.8), 80))
    b = result(random_hits(rng, {"a1": 0.5, "a2": 0.75, "b1": 0.8}, 80))
    comparison = one(a, b)
    for level in ("", "test type", "capability", "functionality"):
        rows = comparison.by(level)
        assert [own.adjusted for own in rows] == pytest.approx(holm([own.p or 0.0 for own in rows]))


def test_a_row_whose_interval_excludes_zero_is_a_suspect_only_if_it_is_not_marked():
    quiet = {f"q{k}": [1] * 40 for k in range(8)}
    a = result({**quiet, "broken": [1] * 40, "doubtful": [1] * 40})
    b = result({**quiet, "broken": [0] * 40, "doubtful": [0] * 7 + [1] * 33})
    comparison = one(a, b)
    assert [own.name for own in comparison.by("functionality") if own.significant] == ["broken"]
    assert [own.name for own in comparison.by("functionality") if own.is_suspect] == ["doubtful"]


def runs_of(rng: np.random.Generator, rates: Sequence[float], n: int = 100) -> list[Result]:
    return [result(random_hits(rng, {"f": rate, "g": rate - 0.1}, n)) for rate in rates]


def test_several_runs_a_side_are_tested_by_welchs_t_over_runs():
    rng = np.random.default_rng(4)
    a, b = runs_of(rng, (0.5, 0.6, 0.7)), runs_of(rng, (0.8, 0.8, 0.9))
    comparison = compare(a, b, QUICK)
    for name, own in (("pass rate", row(comparison, "f")), ("suite score", comparison.headline)):
        values = [[run.measures.where(name, **dict(own.groups))[0].value for run in side] for side in (a, b)]
        expected = ttest_ind(values[1], values[0], equal_var=False)
        assert own.p == pytest.approx(expected.pvalue, rel=1e-3)
        assert own.interval == pytest.approx(tuple(expected.confidence_interval(0.95)), abs=1e-6)
        assert own.runs == (3, 3) and own.by_run


def test_runs_are_compared_on_the_cases_that_apply_to_all_of_them():
    a = [result({"f": [hit] * 10 + [1, 0] * 20}) for hit in (None, 0)]
    b = [result({"f": [1] * 10 + [1, 0] * 20}) for _ in range(2)]
    own = row(compare(a, b, QUICK), "f")
    assert (own.n, own.difference, own.p) == (40, 0.0, 1.0)


def test_sides_that_do_not_fit_are_errors():
    a = result({"f": [1, 0]})
    with pytest.raises(PlanError, match="a result on each side"):
        compare([], [a])
    with pytest.raises(DataError, match="which cases it was made from"):
        one(a, replace(a, cases=(), outcomes=()))


def test_other_cases_are_refused_by_name():
    a, b = result({"f": [1, 0, 1]}), result({"f": [1, 0], "g": [1]})
    with pytest.raises(DataError, match="3 and 3\n  why: only A has f/2; only B has g/0"):
        one(a, b)
    changed = replace(b, cases=[replace(b.cases[0], examples=(("other",),)), *b.cases[1:]])
    with pytest.raises(DataError, match=r"case 'f/0' is not the same for A and B\n  why: examples differ"):
        one(b, changed)


def test_over_templates_needs_six_of_them():
    def own(templates: int) -> Row:
        sides = (result({"f": [hit] * 60}, templates) for hit in (1, 0))
        return row(one(*sides, OVER_TEMPLATES), "f")

    for few in (1, 3, 5):
        assert (own(few).p, own(few).interval) == (None, None)
        assert own(few).templates == few and own(few).has_few_templates
        assert own(few).difference == -1.0
    six = own(6)
    assert six.p == pytest.approx(2 / 2**6) and six.significant
    assert six.interval is not None and not six.has_few_templates


def test_a_dominant_template_counts_for_few():
    templates = {"f": ["big"] * 55 + ["a", "b", "c", "d", "e"]}
    sides = (result({"f": [hit] * 60}, templates) for hit in (1, 0))
    compared = row(one(*sides, OVER_TEMPLATES), "f")
    assert compared.templates == 6
    assert compared.effective_templates == pytest.approx(60**2 / (55**2 + 5))


def shared_templates(hits: np.ndarray[Any, Any]) -> Result:
    """Return outcomes of functionalities × templates × fillings; every functionality has the same templates."""
    names = [f"f{number}" for number in range(len(hits))]
    templates = [f"t{template}" for template, _ in np.ndindex(hits.shape[1:])]
    rows = [own.astype(int).ravel().tolist() for own in hits]
    return result(dict(zip(names, rows, strict=True)), dict.fromkeys(names, templates))


@pytest.mark.parametrize("fillings", [1, 3])
def test_templates_that_functionalities_share_are_counted_once(fillings):
    better = np.ones((4, 6, fillings), bool)
    worse = better.copy()
    worse[:, :, 0] = False  # in each of six templates, in all four functionalities
    sides = shared_templates(worse), shared_templates(better)
    assert one(*sides, OVER_TEMPLATES).headline.p == pytest.approx(2 / 2**6)  # six draws, not twenty-four
    assert (one(*sides).headline.p or 1) < 0.01  # the default: twenty-four cases
    assert sides[0].measures.where("suite score")[0].basis.templates == 6


@pytest.mark.parametrize("side", ["A", "B"])
def test_results_that_were_scored_under_different_settings_are_refused(side):
    run, other = (
        result({"f": [1, 0, 1]}, settings={"profile": name}) for name in ("recommended", "reference")
    )
    sides = ([run, other], [run, run]) if side == "A" else ([run, run], [run, other])
    who = "the seeds of A" if side == "A" else "A and B"
    with pytest.raises(DataError, match=rf"{who} were scored under different settings\n  why: .* for A, "):
        compare(*sides, QUICK)


def test_templates_that_only_one_side_has_outcomes_for_are_the_unit_in_both_orders():
    hits: dict[str, Any] = {"a1": [None] * 8, "a2 inv": [1] * 8}
    templates = {"a1": list("01234567"), "a2 inv": [""] * 8}
    a, b = result(hits, templates), result({**hits, "a1": [1] * 8}, templates)
    there, back = (one(*pair, replace(FEW, over="templates")) for pair in ((a, b), (b, a)))
    assert [(own.p, own.templates) for own in there.rows] == [(own.p, own.templates) for own in back.rows]


def test_sides_that_differ_in_a_setting_are_told_so_where_their_cases_differ(make):
    a, b = make({"f": [1, 1]}), make({"f": [1, 1]}, settings={"limit": 2})
    b = replace(b, cases=[replace(case, examples=(("other",),)) for case in b.cases])
    with pytest.raises(DataError, match=r"examples differ[^$]*their settings differ in limit \(0 and 2\)"):
        compare([a], [b])
