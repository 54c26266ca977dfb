"""Several checkpoints of one recipe: spread, disagreement, signs and conclusions (5.7 to 5.9)."""

import pytest
from bias_results import (
    compare,
    crows_results,
    letters,
    printed,
    score_results,
    seat_results,
    sections,
    settings,
)

from shoal.core.records import Case, Measure
from shoal.protocols import bias

MATRIX = ["11111", "11110", "11000", "00000", "10101", "01000"]
WHOLE = {"category": "all", "of": "stereotype score"}


def five(times=1):
    """The worked example, every item so many times."""
    return crows_results(letters(*("".join(row[run] for row in MATRIX) for run in range(5)), times=times))


def findings(results, **given):
    return bias.compare(settings(**given), results).findings


def test_the_worked_example(worked):
    example = worked["diag.disagreement"]
    assert example["matrix"] == MATRIX
    rows = compare(five())
    mean, sd, ratio = (
        rows.where(f"{name}", **WHOLE)[0]
        for name in ("mean over checkpoints", "sd over checkpoints", "over-dispersion ratio")
    )
    assert 100 * mean.value == pytest.approx(example["mean"])
    assert 100 * sd.value == pytest.approx(example["sd_n_minus_1"], abs=1e-4)
    assert 100 * ratio.facts["floor"] == pytest.approx(example["floor_sd"], abs=1e-4)
    assert ratio.value == pytest.approx(1)
    shares = rows.where("share of items")
    assert [row.value for row in shares] == pytest.approx([1 / 3] * 3)
    assert [row.note for row in shares] == [
        f"{share} % expected by chance" for share in ("6.2", "31.2", "62.5")
    ]
    assert (mean.facts["lowest"], mean.note[:13]) == (pytest.approx(1 / 3), "5 checkpoints")
    assert [end / sd.value for end in sd.interval] == pytest.approx([0.599, 2.874], abs=1e-3)


def test_one_checkpoint_is_its_own_recipe_and_has_no_spread():
    results = crows_results(letters("110010"))
    (end,) = findings(results)
    assert end.text == "One checkpoint, base0: seed variance was not measured."
    assert not compare(results).where("sd over checkpoints")
    listed = [*crows_results(letters("110010"), "hf:one"), *crows_results(letters("010010"), "hf:two")]
    assert [end.groups["recipe"] for end in findings(listed)] == ["hf:one", "hf:two"]
    assert list(compare([])) == []


def test_the_headline_says_what_the_diagnostics_say_and_which_statements_change():
    """Two of three checkpoints clearly prefer stereotypes of age, the third does not."""
    results = crows_results(letters("1" * 30, "1" * 28 + "00", "10" * 15))
    (_, recipe, limits) = findings(results)
    assert recipe.text == (
        "The 3 checkpoints disagree on bias: 2 of 2 conclusions change. Results that change: crows (all, age)."
    )
    assert "3 checkpoints: too few for a claim about new trainings" in limits.text
    (_, recipe, _) = findings(crows_results(letters("1" * 30, "1" * 28 + "00")))
    assert recipe.text == "The 2 checkpoints agree on bias: none of 2 conclusions changes."
    (_, recipe, _) = findings(
        seat_results({"w1": [1.2, 1.3], "w6": [0.4, -0.2]}, {"w1": [0.001] * 2, "w6": [0.2] * 2})
    )
    assert recipe.text.endswith("1 of 2 conclusions change. Results that change: seat by cls (w6).")


def test_fewer_than_twenty_items_carry_no_flag_and_no_finding():
    results = five(times=3)
    (sd,) = compare(results).where("sd over checkpoints", of="stereotype score", category="age")
    assert (sd.n, sd.verdict) == (18, "")
    assert findings(results)[0].text.endswith("18 items are too few for a finding, which needs 20.")
    assert "Not compared" in findings(results)[1].text and " !" not in printed(sections(results))


@pytest.mark.parametrize("checkpoints", [("111111", "000000"), ("111111", "000000", "111000")])
def test_intervals_of_shares_stay_inside_their_range(checkpoints):
    """Two checkpoints that differ in everything: neither an SD of 300 points nor a mean of -50 % is possible."""
    rows = compare(crows_results(letters(*checkpoints)))
    most = 0.5 * (len(checkpoints) / (len(checkpoints) - 1)) ** 0.5
    for name, end in (("sd over checkpoints", most), ("mean over checkpoints", 1)):
        for row in rows.where(name):
            assert row.interval is None or 0 <= row.interval[0] <= row.value <= row.interval[1] <= end + 1e-12


def test_ties_are_a_bin_of_their_own():
    rows = compare(crows_results(letters("11-000", "110000"))).where("share of items")
    assert [row.groups["checkpoints against the majority"] for row in rows] == ["0", "1", "undecided"]
    assert [row.value for row in rows] == pytest.approx([5 / 6, 0, 1 / 6])


# Association


EFFECTS = {"weat1": [1.2, 1.3, 1.1, 1.2, 1.4], "weat6": [0.4, -0.2, 0.1, 0.6, -0.3]}
PS = {"weat1": [0.001] * 5, "weat6": [0.2, 0.7, 0.4, 0.005, 0.8]}


def test_signs_and_significance_are_counted_over_checkpoints():
    results = seat_results(EFFECTS, PS)
    rows = compare(results)
    by_test = {test: {row.name: row for row in rows.where(test=test)} for test in EFFECTS}
    assert by_test["weat1"]["sign agreement"].value == 1.0
    assert by_test["weat6"]["sign agreement"].value == pytest.approx(0.2)
    assert by_test["weat6"]["significant share"].value == pytest.approx(0.2)
    assert rows.where("tests with one sign")[0].value == 0.5
    assert rows.where("tests with one verdict")[0].value == 0.5
    assert findings(results)[0].text.startswith(
        "1 of 2 tests change sign between 5 checkpoints; 1 change significance."
    )
    (line,) = [line for line in printed(sections(results)).splitlines() if line.startswith("weat6 !")]
    assert line.split()[2:8] == ["0.12", "0.38", "0.2", "1", "of", "5"]


def test_two_diagnostics_of_one_concept_are_compared():
    groups = {"category": "religion", "direction": "stereo"}
    cases = [Case(str(n), (("a",), ("b",)), None, groups) for n in range(4)]
    results = crows_results(letters("1110", "1111", "1100"), cases=cases)
    groups = {"diagnostic": "stereoset", "task": "intrasentence", "category": "religion"}
    rows = [[Measure("stereotype score", value, 16, groups)] for value in (0.5, 0.6, 0.4)]
    results += score_results(rows, diagnostic="stereoset")
    measures = compare(results)
    (apart,) = measures.where("difference between diagnostics", category="religion")
    assert (apart.value, apart.n, apart.note) == (pytest.approx(0.25), 3, "crows 75.0, stereoset 50.0")
    assert "difference between diagnostics" in printed(bias.view(settings(), results, measures, ()))
