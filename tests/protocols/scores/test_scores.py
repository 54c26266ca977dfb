"""`scores:FILE`: numbers as counted by hand, and nothing dropped silently."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.cli import main
from shoal.core.errors import DataError
from shoal.protocols.scores import graded_results
from shoal.pytest_plugin import assert_behaves


def write(path: Path, rows: list[dict[str, object]]) -> str:
    """Write rows as JSON Lines, and return the spec."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"scores:{path}"


def graded(scores: dict[str, object], **more: object) -> list[dict[str, object]]:
    return [{"id": name, "score": score, **more} for name, score in scores.items()]


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


SCORES = st.dictionaries(
    st.integers(0, 30).map(str),
    st.tuples(st.sampled_from([0, 1, 0.25, None]), st.sampled_from([0, 1, 0.75, None, "absent"])),
    min_size=2,
    max_size=20,
).filter(
    lambda rows: any(isinstance(a, int | float) and isinstance(b, int | float) for a, b in rows.values())
)


@given(rows=SCORES, order=st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_the_difference_is_the_one_counted_by_hand_whatever_the_order(tmp_path_factory, rows, order):
    folder = tmp_path_factory.mktemp("graded")
    old = graded({name: a for name, (a, _) in rows.items()})
    new = graded({name: b for name, (_, b) in rows.items() if b != "absent"})
    a, b = write(folder / "a.jsonl", old), write(folder / "b.jsonl", new)
    compared = shoal.compare(a, b)
    pairs = [(x, y) for x, y in rows.values() if isinstance(x, int | float) and isinstance(y, int | float)]
    row = compared.overall
    assert row.n == len(pairs)
    assert row.difference == pytest.approx(sum(y - x for x, y in pairs) / len(pairs))
    assert row.errors == tuple(
        sum(not isinstance(pair[side], int | float) for pair in rows.values()) for side in (0, 1)
    )
    assert row.interval is None or -1 <= row.interval[0] <= row.difference <= row.interval[1] <= 1
    order.shuffle(old)
    order.shuffle(new)
    again = shoal.compare(write(folder / "a.jsonl", old), write(folder / "b.jsonl", new))
    assert [(r.difference, r.interval, r.p) for r in again.rows] == [
        (r.difference, r.interval, r.p) for r in compared.rows
    ]


def test_samples_without_a_score_are_counted_with_both_bounds(tmp_path):
    rows = [
        {"id": 1, "score": 1},
        {"id": 2, "error": "timeout"},
        {"id": 3, "score": 0},
        {"id": 4, "score": None},
    ]
    code, output = run("show", write(tmp_path / "a.jsonl", rows))
    output = " ".join(output.split())
    assert code == 0 and "1 of 2 samples pass" in output
    assert "2 without a score; 25.0 % if they all fail, 75.0 % if they all pass" in output


def test_compare_shows_the_difference_if_samples_without_a_score_fail_or_pass(tmp_path):
    old = write(tmp_path / "a.jsonl", graded({"1": 1, "2": 1, "3": 0, "4": 0}))
    new = write(tmp_path / "b.jsonl", graded({"1": 1, "2": 1, "3": 0, "4": None}))
    output = " ".join(run("compare", old, new)[1].split())
    assert "0.0 if they all fail, +25.0 if they all pass, 0.0 to +25.0 at the extremes" in output


def test_attempts_without_a_score_are_errors_although_other_epochs_have_one(tmp_path):
    rows = [*graded({"1": 1, "2": 0}, epoch=1), *graded({"1": None, "2": 0}, epoch=2)]
    spec = write(tmp_path / "a.jsonl", rows)
    assert "1 without a score; 25.0 % if they all fail, 50.0 % if they all pass" in run("show", spec)[1]
    for allowed, expected in (("", 3), ("allow_errors = true\n", 0)):
        (tmp_path / "g.toml").write_text(f"[[rule]]\nat_least = 0.5\n{allowed}")
        code, output = run("gate", spec, "--rules", tmp_path / "g.toml")
        assert (code, "no answer to 1 of 2 cases" in output) == (expected, expected == 3)


def test_missing_samples_are_said_by_compare_and_by_gate(tmp_path):
    a = write(tmp_path / "a.jsonl", graded({"1": 1, "2": 1, "3": 0}))
    b = write(tmp_path / "b.jsonl", graded({"1": 1, "4": 1, "3": 0}))
    assert "A 1 (1 not in its file), B 1 (1 not in its file)" in " ".join(run("compare", a, b)[1].split())
    (tmp_path / "g.toml").write_text("[[rule]]\nno_worse_than_baseline_by = 0.02\n")
    code, output = run("gate", b, "--baseline", a, "--rules", tmp_path / "g.toml")
    assert code == 3 and "no answer to 1 of 4 cases" in output and "the baseline lacks" in output


@given(
    names=st.lists(st.integers(0, 9).map(str), min_size=1, max_size=10, unique=True),
    order=st.randoms(use_true_random=False),
)
@settings(max_examples=30)
def test_a_copy_of_any_sample_at_any_place_is_an_error(tmp_path_factory, names, order):
    rows = [{"id": name, "score": order.choice([0, 1, None])} for name in [*names, order.choice(names)]]
    order.shuffle(rows)
    with pytest.raises(DataError, match="occurs twice"):
        graded_results([write(tmp_path_factory.mktemp("graded") / "a.jsonl", rows)])


def test_epochs_are_the_runs_of_a_comparison(tmp_path):
    def epochs(name: str, *scores: dict[str, int]) -> str:
        return write(tmp_path / name, [row for at, run in enumerate(scores) for row in graded(run, epoch=at)])

    a = epochs("a.jsonl", {"1": 1, "2": 1}, {"1": 1, "2": 0}, {"1": 1, "2": 1})
    b = epochs("b.jsonl", {"1": 0, "2": 1}, {"1": 0, "2": 0}, {"1": 1, "2": 0})
    row = shoal.compare(a, b).overall
    assert row.runs == (3, 3) and row.difference == pytest.approx(2 / 6 - 5 / 6)
    assert "runs" in run("compare", a, b)[1]


CELLS = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(1, 3)), st.sampled_from([0, 1, 0.5, None]), min_size=1
).filter(lambda cells: any(score is not None for score in cells.values()))


@given(cells=CELLS, order=st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_epochs_with_gaps_count_every_answer_whatever_the_order(tmp_path_factory, cells, order):
    rows = [{"id": name, "epoch": epoch, "score": score} for (name, epoch), score in cells.items()]
    order.shuffle(rows)
    (result,) = graded_results([write(tmp_path_factory.mktemp("graded") / "a.jsonl", rows)])
    known = {name: [s for (n, _), s in cells.items() if n == name and s is not None] for name, _ in cells}
    means = [sum(scores) / len(scores) for scores in known.values() if scores]
    answers = len(known) * len({epoch for _, epoch in cells})
    assert result.job["about"]["errors"] == answers - sum(map(len, known.values()))
    assert (result.measures[0].n, result.measures[0].errors) == (len(means), len(known) - len(means))
    assert result.measures[0].value == pytest.approx(sum(means) / len(means))


def test_an_error_counts_although_the_first_rows_have_none(tmp_path):
    rows = [*graded({str(number): 1 for number in range(40)}), {"id": "x", "score": 0, "error": "timeout"}]
    (result,) = graded_results([write(tmp_path / "a.jsonl", rows)])
    assert (result.measures[0].value, result.measures[0].errors) == (1.0, 1)


def test_a_score_that_is_not_finite_is_an_error(tmp_path):
    path = tmp_path / "a.csv"
    for score in ("nan", "-inf", "1e308"):
        path.write_text(f"id,score\n1,1\n2,{score}\n")
        with pytest.raises(DataError, match="row 3: score is"):
            graded_results([f"scores:{path}"])


def test_other_texts_or_targets_under_the_same_ids_are_other_data(tmp_path):
    a = write(
        tmp_path / "a.jsonl", [{"id": 1, "score": 1, "text": "one"}, {"id": 2, "score": 1, "text": "two"}]
    )
    b = write(tmp_path / "b.jsonl", [{"id": 1, "score": 1, "text": "two"}, {"id": 2, "score": 1}])
    with pytest.raises(DataError, match="1 of 2 samples have another text"):
        graded_results([a, b])
    with pytest.raises(DataError, match="no sample in common"):
        graded_results([a, write(tmp_path / "c.jsonl", graded({"x": 1}))])


def test_several_metrics_are_an_error_that_lists_them_unless_one_is_named(tmp_path):
    rows = [{"id": n, "acc": n % 2, "f1": 0.5} for n in range(4)]
    a = write(tmp_path / "a.jsonl", rows)
    with pytest.raises(DataError, match="several metrics") as problem:
        graded_results([a])
    assert "acc, f1" in str(problem.value) and "?metric=acc" in str(problem.value)
    assert graded_results([f"{a}?metric=f1"])[0].measures[0].name == "mean score"
    b = write(tmp_path / "b.jsonl", graded({str(n): 1 for n in range(4)}))
    with pytest.raises(DataError, match="several metrics"):
        graded_results([a, b])
    c = write(tmp_path / "c.jsonl", [{"id": n, "acc": 1} for n in range(4)])
    assert [result.job["about"]["metric"] for result in graded_results([a, c])] == ["acc", "acc"]
    assert "B has other metrics, not compared: f1." in run("compare", c, a)[1]


def test_groups_are_paths_and_rules_can_name_them(tmp_path):
    rows = [{"id": n, "score": int(n < 3), "doc": {"topic": "xy"[n % 2]}} for n in range(4)]
    spec = write(tmp_path / "a.jsonl", rows) + "?group=doc.topic"
    (result,) = graded_results([spec])
    assert {row.groups["topic"]: row.value for row in result.measures if row.groups} == {"x": 1.0, "y": 0.5}
    assert_behaves(spec, at_least=1.0, topic="x")
    with pytest.raises(AssertionError, match="50.0 %"):
        assert_behaves(spec, at_least=0.9, topic="y")
    with pytest.raises(DataError, match="no 'doc.topik'"):
        graded_results([spec.replace("topic", "topik")])


def test_rows_without_a_model_are_not_left_out(tmp_path):
    rows = [{"id": 0, "score": 1, "model": "m"}, {"id": 1, "score": 0}]
    spec = write(tmp_path / "a.jsonl", rows)
    with pytest.raises(DataError, match=r"some rows name a model \(m\), others do not"):
        graded_results([spec])
    assert graded_results([f"{spec}?model=m"])[0].measures[0].n == 1


def test_a_group_in_which_every_sample_failed_has_no_rate(tmp_path):
    rows = [*graded({"1": 0.5, "2": 1}, topic="x"), {"id": "3", "error": "timeout", "topic": "y"}]
    (result,) = graded_results([write(tmp_path / "a.jsonl", rows) + "?group=topic"])
    assert [(row.value, row.n, row.errors) for row in result.measures if row.groups] == [
        (0.75, 2, 0),
        (None, 0, 1),
    ]


def test_scores_beyond_a_share_keep_their_unit_and_their_range(tmp_path):
    a = write(tmp_path / "a.jsonl", graded({str(n): 10.0 + n for n in range(30)}))
    b = write(tmp_path / "b.jsonl", graded({str(n): 12.0 + n + (n % 2) / 10 for n in range(30)}))
    row = shoal.compare(a, b).overall
    assert row.measure == "mean value" and row.difference == pytest.approx(2.05)
    assert 1 < row.interval[0] < 2.05 < row.interval[1] < 3 and row.p < 0.001


def test_the_detectable_drop_of_fractional_scores_is_that_of_a_paired_t_test(tmp_path):
    stats, rng = pytest.importorskip("scipy.stats"), np.random.default_rng(0)
    old = rng.uniform(0.2, 0.9, 200)
    new = old + rng.normal(0, 0.08, 200)
    a, b = (
        write(tmp_path / name, graded({str(n): float(score) for n, score in enumerate(side)}))
        for name, side in (("a.jsonl", old), ("b.jsonl", new))
    )
    drop = shoal.compare(a, b).overall.mde
    draws = (new - old - (new - old).mean() - drop)[rng.integers(0, 200, (4000, 200))]
    assert (stats.ttest_1samp(draws, 0, axis=1).pvalue < 0.05).mean() == pytest.approx(0.8, abs=0.03)
    assert "newly failing" not in run("compare", a, b)[1]


def test_graded_files_are_ranked_and_nothing_else_with_them(tmp_path):
    best = write(tmp_path / "best.jsonl", graded({str(n): 1 for n in range(40)}))
    worst = write(tmp_path / "worst.jsonl", graded({str(n): int(n < 10) for n in range(40)}))
    code, output = run("rank", worst, best)
    assert code == 0 and output.index("1  best") < output.index("2  worst")
    code, output = run("rank", worst, "tiny:sentiment")
    assert code == 1 and "cannot be combined with other models" in " ".join(output.split())
