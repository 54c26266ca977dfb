"""Comparing two models: planted differences are found where they are, and nothing is found where there is none."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import Case, Measures, Outcome, Result
from shoal.claims import THESE_TEMPLATES
from shoal.comparing.pairs import Choices, Comparison, Row, compare
from shoal.comparing.quantities import CaseIndex
from shoal.comparing.rows import note_of
from shoal.errors import DataError, PlanError
from shoal.protocols.behaviour.iid import IID
from shoal.protocols.behaviour.score import iid_score, measure
from shoal.protocols.behaviour.settings import Settings
from shoal.stats.multiplicity import benjamini_hochberg, holm

QUICK = Choices(shuffles=500)
Hits = Sequence[int | str | None]


def result(
    hits: Mapping[str, Hits], clusters: Mapping[str, Sequence[str]] | None = None, **job: Any
) -> Result:
    """Outcomes by functionality: 1, 0, None (n/a) or an error's text. The capability is the name's first letter."""
    cases, outcomes = [], []
    for name, own in hits.items():
        groups = {
            "functionality": name,
            "capability": name[0],
            "test type": "INV" if "inv" in name else "MFT",
        }
        for at, hit in enumerate(own):
            cluster = (clusters or {}).get(name, [""] * len(own))[at]
            cases.append(Case(f"{name}/{at}", ((f"text {at}",),), None, groups, cluster))
            passed = None if hit is None or isinstance(hit, str) else bool(hit)
            outcomes.append(Outcome(cases[-1].id, passed, None, hit if isinstance(hit, str) else ""))
    rows = measure(cases, outcomes)
    settings = Settings(**job.get("settings", {}))
    return Result({"model": "m", "settings": {}, **job}, cases, outcomes, Measures(rows), settings=settings)


def one(a: Result, b: Result, choices: Choices = QUICK) -> Comparison:
    return compare([a], [b], choices)


def row(found: Comparison, name: str) -> Row:
    (own,) = [one for one in found.by("functionality") if one.name == name]
    return own


def random_hits(rng: np.random.Generator, rates: dict[str, float], n: int) -> dict[str, Hits]:
    return {name: (rng.random(n) < rate).astype(int).tolist() for name, rate in rates.items()}


# By hand


def test_iid_cases_beside_a_suite_are_compared_apart():
    def trained(suite: Hits, iid: Hits) -> Result:
        both = result({"f": suite, IID: iid})
        groups = {"functionality": IID, "capability": IID, "test type": "MFT"}
        cases = [replace(case, groups=groups) if case.id.startswith(IID) else case for case in both.cases]
        asked = len(suite)
        rows = measure(cases[:asked], both.outcomes[:asked], beside_iid=True)
        return replace(both, cases=cases, measures=Measures([*rows, iid_score(both.outcomes[asked:])]))

    comparison = one(trained([1, 1, 1, 1], [1, 0]), trained([0, 0, 1, 1], [1, 1]))
    compared = {row.measure: (row.difference, row.n) for row in comparison.rows if not row.level}
    assert compared == {"suite score": (-0.5, 4), "iid score": (0.5, 2)}
    (kind,) = comparison.by("test type")
    assert (kind.difference, kind.n) == (-0.5, 4)


def test_cases_are_found_by_their_groups_and_parts_come_as_their_values_do():
    values = ["x", "y", None, "z", "y", "x"]
    cases = [
        Case(str(place), (), groups={} if value is None else {"kind": value})
        for place, value in enumerate(values)
    ]
    index = CaseIndex(cases)
    assert index.members({"kind": "y"}).tolist() == [
        1,
        2,
        4,
    ]  # a case without that group is in none, and in all
    assert index.members({"kind": "none such"}).tolist() == [2]
    assert index.members({"kind": "all", "other": "x"}).tolist() == [0, 1, 2, 3, 4, 5]
    parts = index.parts("kind", np.array([1, 2, 3, 4, 5]))
    assert [(value, places.tolist()) for value, places in parts.items()] == [
        ("y", [1, 4]),
        (None, [2]),
        ("z", [3]),
        ("x", [5]),
    ]
    assert index.parts("kind", np.array([], np.int64)) == {}


def test_a_functionality_by_hand():
    a = result({"f": [1] * 10 + [0] * 2 + [1] * 8})
    b = result({"f": [0] * 10 + [1] * 2 + [1] * 8})
    found = row(one(a, b), "f")
    assert found.rates == (0.9, 0.5)
    assert found.difference == pytest.approx(-0.4)
    assert (found.gained, found.lost, found.n) == (2, 10, 20)
    assert found.p == 0.03857421875  # sign test of 2 and 10 (`docs/method/beluga.md` 1.13)
    assert found.test == "sign test"
    assert found.interval and found.interval[0] < -0.4 < found.interval[1]


def test_the_toy_suite_of_01_section_14_on_its_common_cases():
    a = result({"f1": [1, 0, 0, 1], "f2": [0, 0], "f3": [1, None, 1, 0]})
    b = result({"f1": [1, 1, 0, 1], "f2": [1, 1], "f3": [1, 1, 1, None]})
    found = one(a, b)
    assert [row(found, name).difference for name in ("f1", "f2", "f3")] == [0.25, 1.0, 0.0]
    (suite,) = found.by("")
    assert suite.difference == pytest.approx(1.25 / 3)
    assert suite.p == 0.25  # of the 8 signs of 1/4, 1/2, 1/2 only all alike reach their sum
    assert (suite.n, suite.na) == (8, 2)


def test_the_smallest_effect_that_could_be_seen_as_worked():
    # `docs/method/beyond.md` 7.4: n = 436, 8 % discordant: 3.78 points by the normal approximation, 3.93 exactly
    changed = round(0.08 * 436)
    a = result({"f": [1, 0] * (changed // 2) + [1] * (436 - changed // 2 * 2)})
    b = result({"f": [0, 1] * (changed // 2) + [1] * (436 - changed // 2 * 2)})
    found = row(one(a, b), "f")
    assert found.p == 1.0
    alone = row(compare([a], [b], replace(QUICK, adjust="none")), "f")
    assert alone.mde == pytest.approx(0.0393, abs=7e-4)
    assert (
        found.mde is not None and alone.mde is not None and found.mde > alone.mde
    )  # after Holm more is needed


def test_where_hardly_a_case_differs_the_smallest_effect_is_the_least_that_would_be_found():
    few = one(result({"f": [1] * 475}), result({"f": [0] + [1] * 474}))
    mde = row(few, "f").mde
    assert mde is not None and 6 / 475 < mde < 12 / 475  # some ten cases, all one way
    tiny = one(result({"f": [1, 1, 1]}), result({"f": [1, 1, 0]}))
    assert row(tiny, "f").mde is None
    (said,) = tiny.measures.where("minimum detectable effect", functionality="f")
    assert (said.value, said.note) == (None, "no difference can be promised to be found 8 times in 10")


# Planted effects


def test_a_planted_difference_is_found_in_its_functionality_and_nowhere_else():
    rng = np.random.default_rng(0)
    hits = random_hits(rng, {f"{c}{k}": 0.8 for c in "abc" for k in range(4)}, 300)
    worse = dict(hits, b2=[0 if at % 5 == 0 else hit for at, hit in enumerate(hits["b2"])])
    # noise in the others, as much one way as the other
    noisy = {
        name: [1 - int(h or 0) if rng.random() < 0.03 else h for h in own] for name, own in worse.items()
    }
    found = one(result(hits), result({**noisy, "b2": worse["b2"]}))
    assert [own.name for own in found.by("functionality") if own.significant] == ["b2"]
    planted = row(found, "b2")
    assert planted.difference is not None and -0.22 < planted.difference < -0.1
    assert [own.name for own in found.by("capability") if own.significant] == ["b"]


def test_models_that_are_alike_stay_so():
    rng = np.random.default_rng(1)
    names = {f"{c}{k}": 0.7 for c in "ab" for k in range(10)}
    a, b = (result(random_hits(rng, names, 100)) for _ in range(2))
    for adjust in ("holm", "max-t", "bh"):
        assert not any(own.significant for own in one(a, b, replace(QUICK, adjust=adjust)).rows)


@pytest.mark.slow
def test_a_family_without_a_difference_gives_a_false_alarm_at_most_in_6_of_100():
    rng = np.random.default_rng(2)
    names = dict.fromkeys(["a1", "a2", "b1", "b2", "b3", "c1"], 0.7)
    clusters = {name: [str(at // 2) for at in range(60)] for name in names}
    choices = Choices(shuffles=2000)
    alarms = 0
    for _ in range(400):
        a, b = (result(random_hits(rng, names, 60), clusters) for _ in range(2))
        alarms += any(own.significant for own in one(a, b, choices).rows)
    assert alarms <= 0.06 * 400


def test_cases_of_one_template_count_as_one():
    a, b = {"f": [0] * 20}, {"f": [1] * 20}
    apart = row(one(result(a), result(b)), "f")
    ten = {"f": [str(at // 2) for at in range(20)]}
    together = row(one(result(a, ten), result(b, ten)), "f")
    assert apart.p == 2 / 2**20
    assert together.p == pytest.approx(2 / 2**10)
    assert together.test == "sign flips of 10 clusters"
    assert apart.interval and together.interval and together.interval[0] < apart.interval[0]


def test_one_or_two_templates_speak_of_themselves_and_say_so():
    a, b = {"f": [0] * 20, "g": [0, 1] * 10}, {"f": [1] * 20, "g": [0, 1] * 10}
    two = {name: [f"{name} {at // 10}" for at in range(20)] for name in a}
    compared = one(result(a, two), result(b, two))
    few, whole = row(compared, "f"), compared.by("")[0]
    assert few.p == 2 / 2**20 and few.test == "sign test" and few.significant
    assert few.facts[THESE_TEMPLATES] == 2 and "for these 2 templates only" in note_of(few)
    # Four templates in all: the whole speaks of new ones, and two that favour B are too few.
    assert THESE_TEMPLATES not in whole.facts and not whole.significant
    (finding,) = compared.findings
    assert finding.text.endswith("of these only: f (2)")
    assert finding.facts["templates"] == {"f": 2}


@pytest.mark.parametrize("templates", [3, 4, 5])
def test_three_to_five_templates_speak_of_others_and_cannot_show_a_difference(templates):
    names = {"f": [str(at % templates) for at in range(60)]}
    own = row(one(result({"f": [0] * 60}, names), result({"f": [1] * 60}, names)), "f")
    assert THESE_TEMPLATES not in own.facts
    assert own.p == pytest.approx(2 / 2**templates) and not own.significant


def test_what_rests_on_too_few_templates_to_speak_of_others_is_about_its_cases():
    a, b = {"f": [0] * 20}, {"f": [1] * 20}
    two = {"f": [str(at // 10) for at in range(20)]}
    own = row(one(result(a, two), result(b, two)), "f")
    assert own.facts[THESE_TEMPLATES] == 2
    assert own.p == row(one(result(a), result(b)), "f").p


def test_a_side_that_rests_on_fewer_templates_decides_for_both():
    three = {"f": [str(at // 4) for at in range(12)]}
    a = result({"f": [0, 1] * 6}, three)
    b = result({"f": [None, None, None, None, 1, 1, 0, 1, 1, 1, 0, 1]}, three)
    there, back = row(one(a, b), "f"), row(one(b, a), "f")
    assert there.facts[THESE_TEMPLATES] == back.facts[THESE_TEMPLATES] == 2
    assert there.interval and back.interval
    assert there.interval == pytest.approx((-back.interval[1], -back.interval[0]))


def test_a_functionality_in_which_nothing_varies_does_not_pass_for_known_exactly():
    a = result({"f1": [1] * 4, "f2": [1, 0] * 200})
    b = result({"f1": [0] * 4, "f2": [0, 1] * 200})
    (suite,) = one(a, b).by("")
    varying = row(one(a, b), "f2").interval
    assert suite.interval and varying
    assert suite.interval[1] - suite.interval[0] > varying[1] - varying[0]
    (same,) = one(a, a).by("")
    assert same.interval and same.interval[0] < 0 < same.interval[1]


# What must hold

OUTCOME = st.sampled_from([1, 0, None, "timed out"])


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Result, Result]:
    names = draw(st.lists(st.sampled_from(["a1", "a2 inv", "b1", "b2"]), min_size=1, unique=True))
    sides: tuple[dict[str, Hits], dict[str, Hits]] = ({}, {})
    clusters = {}
    for name in names:
        n = draw(st.integers(1, 12))
        for side in sides:
            side[name] = draw(st.lists(OUTCOME, min_size=n, max_size=n))
        clusters[name] = draw(st.lists(st.sampled_from(["", "t1", "t2"]), min_size=n, max_size=n))
    return result(sides[0], clusters), result(sides[1], clusters)


FEW = Choices(shuffles=100)


@settings(max_examples=60, deadline=None)
@given(pairs(), st.sampled_from(["holm", "bh", "max-t", "none"]))
def test_a_model_against_itself_has_no_difference_and_p_1_everywhere(pair, adjust):
    for own in one(pair[0], pair[0], replace(FEW, adjust=adjust)).rows:
        if own.difference is not None:
            assert (own.difference, own.p, own.adjusted, own.gained, own.lost) == (0.0, 1.0, 1.0, 0, 0)
        else:
            assert own.p is None and own.adjusted is None and note_of(own)


@settings(max_examples=60, deadline=None)
@given(pairs(), st.sampled_from(["holm", "max-t"]))
def test_exchanging_the_models_flips_every_sign_and_no_p(pair, adjust):
    a, b = pair
    there, back = (one(*sides, replace(FEW, adjust=adjust)) for sides in ((a, b), (b, a)))
    for x, y in zip(there.rows, back.rows, strict=True):
        assert (x.p, x.adjusted, x.n, x.mde) == (y.p, y.adjusted, y.n, y.mde)
        assert (x.gained, x.lost) == (y.lost, y.gained)
        assert (x.rates, x.applicability, x.errors) == (y.rates[::-1], y.applicability[::-1], y.errors[::-1])
        if x.difference is not None:
            assert x.difference == -y.difference  # type: ignore[operator]
        if x.interval is not None:
            assert y.interval is not None
            assert x.interval == pytest.approx((-y.interval[1], -y.interval[0]), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(pairs(), st.randoms(use_true_random=False))
def test_the_order_of_cases_changes_nothing(pair, random):
    a, b = pair
    order = list(range(len(a.cases)))
    random.shuffle(order)
    mixed = replace(b, cases=[b.cases[at] for at in order], outcomes=[b.outcomes[at] for at in order])
    assert one(a, mixed, FEW).rows == one(a, b, FEW).rows


@settings(max_examples=15, deadline=None)
@given(pairs(), pairs())
def test_seeds_against_themselves_have_no_difference_either(pair, _):
    for own in compare(list(pair), list(pair), FEW).rows:
        assert own.difference in (None, 0.0) and own.p in (None, 1.0)
    swapped = compare(list(pair), [pair[1]], FEW), compare([pair[1]], list(pair), FEW)
    for x, y in zip(swapped[0].rows, swapped[1].rows, strict=True):
        assert x.p == y.p
        if x.difference is not None:
            assert x.difference == pytest.approx(-y.difference)  # type: ignore[operator]


# Applicability and errors


def test_only_cases_that_apply_to_both_are_compared_and_the_rest_is_shown():
    a = result({"f": [1, 1, 1, 1, None, None, None, 0, 0, 0]})
    b = result({"f": [1, 1, 1, 0, 1, 1, 1, 1, 0, 0]})
    found = row(one(a, b), "f")
    assert (found.n, found.na) == (7, 3)
    assert found.rates == pytest.approx((4 / 7, 4 / 7))
    assert found.applicability == (0.7, 1.0)
    assert found.applicability_differs
    assert "applies to 70% of the cases for A and to 100% for B" in note_of(found)


def test_ten_points_of_applicability_are_not_flagged():
    found = one(result({"f": [None] + [1] * 9}), result({"f": [1] * 10}))
    assert not row(found, "f").applicability_differs


def test_errors_are_counted_beside_and_left_out_of_the_difference():
    a = result({"f": [1, 1, 1, 0], "g": [1]})
    b = result({"f": [1, "timed out", "timed out", 0], "g": ["timed out"]})
    found = one(a, b)
    assert (row(found, "f").errors, row(found, "f").n, row(found, "f").na) == ((0, 2), 2, 0)
    assert row(found, "f").difference == 0.0
    assert (row(found, "g").difference, note_of(row(found, "g"))) == (None, "no common answered case")
    (suite,) = found.by("")
    assert suite.errors == (0, 3)
    assert "left out, no common applicable case: g" in note_of(suite)
    (said,) = found.measures.where("difference", functionality="f")
    assert said.errors == 2


# Many tests at once


def test_p_is_adjusted_over_the_whole_table():
    rng = np.random.default_rng(3)
    a = result(random_hits(rng, dict.fromkeys(["a1", "a2", "b1"], 0.8), 80))
    b = result(random_hits(rng, {"a1": 0.5, "a2": 0.75, "b1": 0.8}, 80))
    for adjust, function in (("holm", holm), ("bh", benjamini_hochberg), ("none", np.asarray)):
        found = one(a, b, replace(QUICK, adjust=adjust))  # type: ignore[arg-type]
        assert [own.adjusted for own in found.rows] == pytest.approx(
            function([own.p or 0.0 for own in found.rows])
        )
    shared = one(a, b, replace(QUICK, adjust="max-t"))
    assert [own.name for own in shared.by("functionality") if own.significant] == ["a1"]
    assert all(own.adjusted >= own.p - 0.05 for own in shared.rows)  # type: ignore[operator]


# Seeds


def test_seeds_that_shift_widen_the_interval_and_one_checkpoint_says_so():
    rng = np.random.default_rng(4)
    seeds_a = [result(random_hits(rng, {"f": rate}, 300)) for rate in (0.6, 0.7, 0.8, 0.9)]
    seeds_b = [result(random_hits(rng, {"f": rate}, 300)) for rate in (0.65, 0.75, 0.85, 0.95)]
    alone = one(seeds_a[1], seeds_b[1])
    several = compare(seeds_a, seeds_b, QUICK)
    width = [
        own.interval[1] - own.interval[0] for own in (row(alone, "f"), row(several, "f")) if own.interval
    ]
    assert width[1] > 1.5 * width[0]
    assert row(several, "f").interval_method == "paired t and over seeds"
    assert alone.measures.where("difference", functionality="f")[0].note == "this checkpoint only"
    assert "seeds: 4 of A, 4 of B" in several.measures.where("difference", functionality="f")[0].note
    paired = compare(seeds_a, seeds_b, replace(QUICK, paired_seeds=True))
    narrow = row(paired, "f").interval
    assert narrow and narrow[1] - narrow[0] < 0.6 * width[1]


def test_seeds_whose_means_are_equal_are_no_difference_however_skewed_they_are():
    skewed = [result({"f": [1] * passes + [0] * (20 - passes)}) for passes in (18, 18, 18, 6)]
    even = [result({"f": [1] * 15 + [0] * 5}) for _ in range(2)]
    found = row(compare(skewed, even, QUICK), "f")
    assert (found.difference, found.p) == (0.0, 1.0)


def test_one_run_against_several_gets_no_p_and_says_why():
    several = [result({"f": [1] * passes + [0] * (20 - passes)}) for passes in (18, 16, 14)]
    found = row(compare(several, [result({"f": [1] * 10 + [0] * 10})], QUICK), "f")
    assert found.p is None and found.interval_method == "these runs"
    assert "one run against several" in note_of(found)


def test_five_cases_cannot_show_a_difference_and_the_interval_does_not_pretend():
    found = row(one(result({"f": [0] * 5}), result({"f": [1] * 5})), "f")
    assert found.p == pytest.approx(0.0625)
    assert found.interval is not None and found.interval[0] == 0.0
    assert found.mde is None


def test_seeds_are_compared_on_the_cases_that_apply_to_all_of_them():
    seeds_a = [result({"f": [hit] * 10 + [1, 0] * 20}) for hit in (None, 0)]
    seeds_b = [result({"f": [1] * 10 + [1, 0] * 20}) for _ in range(2)]
    found = row(compare(seeds_a, seeds_b, QUICK), "f")
    assert (found.n, found.difference, found.p) == (40, 0.0, 1.0)
    assert found.interval and found.interval[0] == pytest.approx(-found.interval[1])


def test_a_recipe_that_is_better_in_every_seed_is_found():
    rng = np.random.default_rng(5)
    seeds = [[result(random_hits(rng, {"f": r, "g": 0.8}, 200)) for _ in range(5)] for r in (0.5, 0.8)]
    found = compare(seeds[0], seeds[1], Choices())
    assert [own.name for own in found.by("functionality") if own.significant] == ["f"]


def test_seeds_by_case_cannot_do_everything():
    a = result({"f": [1, 0]})
    with pytest.raises(PlanError, match="as many of A as of B; there are 2 and 1"):
        compare([a, a], [a], Choices(paired_seeds=True))
    with pytest.raises(PlanError, match="max-T works with one checkpoint a side"):
        compare([a, a], [a], Choices(adjust="max-t"))
    with pytest.raises(PlanError, match="a result on each side"):
        compare([], [a])
    with pytest.raises(DataError, match="a result without outcomes cannot be compared"):
        one(a, replace(a, cases=(), outcomes=()))


# What differs is named


def test_other_cases_are_refused_by_name():
    a, b = result({"f": [1, 0, 1]}), result({"f": [1, 0], "g": [1]})
    with pytest.raises(
        DataError, match="not asked the same cases: 3 and 3\n  why: only A has f/2; only B has g/0"
    ):
        one(a, b)
    changed = replace(b, cases=[replace(b.cases[0], examples=(("other",),)), *b.cases[1:]])
    with pytest.raises(DataError, match=r"case 'f/0' is not the same for A and B\n  why: examples differ"):
        one(b, changed)


def test_other_settings_are_refused_by_name():
    a = result({"f": [1]}, settings={"profile": "reference"})
    b = result({"f": [1]}, settings={"profile": "recommended"})
    with pytest.raises(
        DataError, match="different settings\n  why: profile: 'reference' for A, 'recommended' for B"
    ):
        one(a, b)


# Measures


def test_measures_have_the_public_names_and_the_groups_of_what_is_compared():
    found = one(result({"f": [1, 0, 1, 1]}), result({"f": [1, 1, 1, 1]}))
    f = {"functionality": "f", "capability": "f", "test type": "MFT"}
    names = {(own.name, tuple(sorted(own.groups.items()))) for own in found.measures}
    for name in ("difference", "p value", "adjusted p value", "minimum detectable effect"):
        for groups in ({}, f, {"capability": "f"}, {"test type": "MFT"}):
            assert (name, tuple(sorted(groups.items()))) in names
    (rate_a,) = found.measures.where("pass rate", functionality="f", model="A")
    (rate_b,) = found.measures.where("pass rate", functionality="f", model="B")
    assert (rate_a.value, rate_b.value, rate_a.n) == (0.75, 1.0, 4)
    (difference,) = found.measures.where("difference", functionality="f")
    assert (difference.value, difference.n) == (0.25, 4)
    assert [own.value for own in found.measures.where("suite score")] == [0.75, 1.0]
    changed = found.measures.where("changed cases", functionality="f")
    assert {own.groups["change"]: own.value for own in changed} == {"fail to pass": 1.0, "pass to fail": 0.0}


def test_changed_cases_come_newly_failing_first():
    found = one(result({"f": [0, 1, 1], "g": [1]}), result({"f": [1, 1, 0], "g": [0]}))
    assert [(case.id, better) for case, better in found.changed()] == [
        ("f/2", False),
        ("g/0", False),
        ("f/0", True),
    ]
    assert [case.id for case, _ in found.changed(row(found, "g"))] == ["g/0"]


# Templates that several functionalities share


def shared_templates(hits: np.ndarray) -> Result:
    """Outcomes of functionalities × templates × fillings; every functionality has the same templates."""
    cases = []
    for f, t, n in np.ndindex(hits.shape):
        groups = {"functionality": f"f{f}", "capability": "c", "test type": "MFT"}
        cases.append(Case(f"f{f}/{t}/{n}", ((f"{f} {t} {n}",),), None, groups, f"t{t}"))
    outcomes = [Outcome(case.id, bool(hit)) for case, hit in zip(cases, hits.ravel(), strict=True)]
    return Result({"model": "m"}, cases, outcomes, Measures(measure(cases, outcomes)))


def test_templates_that_functionalities_share_are_counted_once():
    better = np.ones((4, 6, 3), bool)
    worse = better.copy()
    worse[:, :, 0] = False  # in each of six templates, in all four functionalities
    row = compare([shared_templates(worse)], [shared_templates(better)], Choices(could_see=False)).headline
    assert row.p == pytest.approx(2 / 2**6)  # six draws, not twenty-four
    score = shared_templates(worse).measures.where("suite score")[0]
    assert score.facts["templates"] == 6
    few = shared_templates(worse[:, :2])  # in four functionalities the same two
    assert few.measures.where("suite score")[0].facts[THESE_TEMPLATES] == 2


@pytest.mark.parametrize("templates", [2, 6])
def test_templates_that_functionalities_share_are_counted_once_where_each_has_one_case(templates):
    worse = np.ones((4, templates, 1), bool)
    worse[:, 0] = False
    old, new = shared_templates(worse), shared_templates(np.ones_like(worse))
    score = old.measures.where("suite score")[0]
    assert (score.facts["templates"], score.facts["cases"]) == (templates, 4 * templates)
    row = compare([old], [new], Choices(could_see=False)).headline
    for facts in (score.facts, row.facts):
        assert facts.get(THESE_TEMPLATES) == (2 if templates == 2 else None)
    assert THESE_TEMPLATES not in old.measures.where("pass rate", functionality="f0")[0].facts


def test_a_mean_whose_functionalities_fail_in_the_same_templates_is_known_less_well():
    hits = np.ones((4, 8, 5), bool)
    hits[:, :2] = False  # the same two templates everywhere
    elsewhere = np.ones((4, 8, 5), bool)
    for f in range(4):
        elsewhere[f, 2 * f : 2 * f + 2] = False
    together, apart = (shared_templates(each).measures.where("suite score")[0] for each in (hits, elsewhere))
    assert together.value == apart.value == 0.75
    assert together.interval is not None and apart.interval is not None
    width = [high - low for low, high in (together.interval, apart.interval)]
    assert width[0] > 1.5 * width[1]
