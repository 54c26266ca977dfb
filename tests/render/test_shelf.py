"""The cases that a page holds: failing ones first, of every group in turn, and the rest is counted."""

from shoal.core.records import Basis, Case, Measure, Measures, Outcome, Result
from shoal.render.cases import is_pass_or_fail, is_whole, shelf, verdict_words


def result(verdicts: str, model: str = "m", text: str = "A good film", group: str = "ab") -> Result:
    """A case per letter: 1 pass, 0 fail, - not applicable, e error; the groups of cases in turn."""
    cases = [
        Case(
            f"c/{i}",
            ((f"{text} {i}",), (f"{text.replace('good', 'bad')} {i}",)),
            groups={"f": group[i % len(group)]},
        )
        for i in range(len(verdicts))
    ]
    passed = {"1": True, "0": False}
    outcomes = [
        Outcome(
            case.id, passed.get(letter), float(-i) if letter == "0" else 1.0, "late" if letter == "e" else ""
        )
        for i, (case, letter) in enumerate(zip(cases, verdicts, strict=True))
    ]
    return Result({"id": model, "protocol": "p", "model": model}, cases, outcomes, Measures([]))


def test_failing_cases_come_first_and_the_worst_of_them_before_all():
    held = shelf({"m": result("1-0e0")})
    assert [held["cases"][row[1]]["id"] for row in held["rows"]] == ["c/4", "c/2", "c/3", "c/1", "c/0"]
    assert [row[2] for row in held["rows"]] == [0, 0, 3, 2, 1]
    assert held["jobs"][0]["counts"] == held["jobs"][0]["held"] == [2, 1, 1, 1]
    assert is_whole(held)


def test_where_there_is_no_room_for_all_every_group_has_some_and_the_rest_is_counted():
    held = shelf({"m": result("0" * 100, group="aaaaaaaaab")}, room=1_000)
    groups = [held["cases"][row[1]]["groups"][0] for row in held["rows"]]
    assert 2 <= len(groups) <= 8 and set(groups) == {0, 1}
    assert held["jobs"][0]["counts"] == [100, 0, 0, 0] and held["jobs"][0]["held"] == [len(groups), 0, 0, 0]
    assert not is_whole(held)


def test_a_case_that_two_jobs_were_asked_is_there_once():
    held = shelf({"a": result("01", "a"), "b": result("10", "b")})
    assert len(held["cases"]) == 2 and len(held["rows"]) == 4


def test_a_very_long_text_is_cut_and_says_so():
    (case,) = shelf({"m": result("0", text="x" * 30_000)})["cases"]
    text = "".join(case["texts"][0][0])
    assert len(text) < 20_100 and text.endswith("… (10,002 more characters)")


def test_an_outcome_is_a_failure_only_where_the_measure_has_a_better_way():
    def of(*rows: tuple[str, Basis]) -> Result:
        measures = Measures([Measure(name, 0.5, 9, basis=basis) for name, basis in rows])
        return Result({"model": "m"}, (), (), measures)

    over = Basis("cases")
    assert verdict_words(of(("pass rate", over))) == ["fails", "passes"]
    assert verdict_words(of(("stereotype score", over), ("icat", Basis()))) == [
        "does not count for the stereotype score",
        "counts for the stereotype score",
    ]
    assert verdict_words(of(("effect size", Basis()))) == ["no", "yes"]
    assert verdict_words(of(("pattern accuracy", Basis("cases", column="c")))) == ["fails", "passes"]
    assert not is_pass_or_fail(shelf({"m": result("0")}))
