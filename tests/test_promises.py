"""Promises of the verbs: a few repetitions of each world, and the command line prints what the simulations count.

benchmarks/level_and_power.py and benchmarks/verbs.py have the long versions, docs/studies/ their tables.
"""

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import studies
from click.testing import CliRunner
from small_world import Row
from toy_suite import write_answers, write_suite

from shoal import Case
from shoal.cli import main
from shoal.comparing.gate import judge
from shoal.comparing.pairs import compare
from shoal.comparing.rules import Rule

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
verbs, levels = (studies.load(BENCHMARKS / f"{name}.py") for name in ("verbs", "level_and_power"))
REPETITIONS = 3
VERBS = dict.fromkeys(world.verb for world in verbs.worlds())


def broken(cell: Any, held: int, times: int) -> int:
    """How often a promise was not kept."""
    return times - held if cell.promised in (verbs.COVERS, verbs.FINDS) else held


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_promises_are_kept_at_all_sizes_together(verb: str) -> None:
    each = 1 if verb == "run, learning" else REPETITIONS
    wrong, times = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for world in verbs.worlds():
        if world.verb == verb:
            held = verbs.repeated(world, 0, each)
            for cell in world.cells:
                wrong[cell.what, cell.promised] += broken(cell, held[cell.name], each)
                times[cell.what, cell.promised] += each
    for (what, promised), of in times.items():
        allowed = verbs.ALLOWED[promised]
        chance = 3 * math.sqrt(allowed * (1 - allowed) / of)
        assert wrong[what, promised] / of <= allowed + chance, (what, wrong[what, promised], of)


def test_what_is_kept_is_of_these_cells_and_no_promise_is_broken() -> None:
    cells = {cell.name: cell for cell in verbs.cells()}
    kept = verbs.kept(verbs.KEPT)
    assert set(kept) == set(cells)
    for name, (held, times) in kept.items():
        assert 0 <= held <= times
        allowed = verbs.ALLOWED[cells[name].promised]
        # Of so many cells the worst goes three standard errors astray by chance.
        most = times * allowed + 3.5 * math.sqrt(times * allowed * (1 - allowed)) + 1
        assert broken(cells[name], held, times) <= most, name


def test_no_stored_count_of_level_and_power_breaks_its_promise() -> None:
    counts = levels.stored()
    assert {count.part for count in counts} == set(levels.PARTS)
    # The same fillers in every template are a known limit of the default claim (docs/studies/level-and-power.md).
    known = [count for count in counts if count.part != "crossed fillers"]
    assert levels.broken(known) == []


def rows_for(cases: Sequence[Case]) -> list[Row]:
    """Return the cases as rows of a suite in which every text should be positive."""
    rows = []
    for case in cases:
        name, number = case.id.split("/")
        row = {"functionality": name, "capability": "c", "type": "MFT", "case_id": int(number), "labels": 1}
        rows.append({**row, "cluster": case.cluster, "examples": [{"text": case.examples[0][0]}]})
    return rows


def said(*arguments: object) -> Any:
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert done.exit_code in (0, 3), done.output
    return json.loads(done.stdout)


def rows_of(found: Any, name: str) -> dict[str, tuple[Any, Any]]:
    """By functionality, or "" for the whole: value and interval."""
    return {
        row["groups"].get("functionality", ""): (row["value"], row["interval"] and tuple(row["interval"]))
        for row in found["measures"]
        if row["name"] == name and set(row["groups"]) in (set(), {"functionality", "capability", "test type"})
    }


@pytest.mark.slow
@pytest.mark.parametrize("templates", [0, 3, 8])
def test_try_and_compare_print_what_the_simulation_counts(tmp_path: Path, templates: int) -> None:
    rng = np.random.default_rng(templates)
    tests = levels.suite(3, 40, templates)
    rows = rows_for(tests.cases)
    suite = f"suite={write_suite(tmp_path / 'suite.jsonl', rows)}"
    hits = [rng.random(len(tests.cases)) < rate for rate in (0.8, 0.75, 0.85, 0.9)]
    specs = [
        write_answers(tmp_path / f"m{number}.jsonl", rows, own.tolist()) for number, own in enumerate(hits)
    ]
    results = [tests.result(own, scored=True) for own in hits]

    tried = said("try", "behaviour", specs[0], "--set", suite, "--json")
    for name in ("suite score", "pass rate"):
        own = {
            row.groups.get("functionality", ""): (row.value, row.interval)
            for row in results[0].measures.where(name)
            if "functionality" in row.groups or not row.groups
        }
        assert rows_of(tried, name) == {
            key: (pytest.approx(v), pytest.approx(i)) for key, (v, i) in own.items()
        }

    for flags, sides in (
        ([specs[0], specs[1]], (results[:1], results[1:2])),
        (["--a", specs[0], "--a", specs[1], "--b", specs[2], "--b", specs[3]], (results[:2], results[2:])),
    ):
        printed = said("compare", *flags, "--set", suite, "--json")
        counted = compare(*sides)
        for row in counted.by("functionality"):
            key = row.groups["functionality"]
            assert rows_of(printed, "difference")[key][1] == pytest.approx(row.interval)
            for name, value in (
                ("p value", row.p),
                ("adjusted p value", row.adjusted),
                ("minimum detectable effect", row.mde),
            ):
                assert rows_of(printed, name)[key][0] == pytest.approx(value), name


@pytest.mark.parametrize("templates", [2, 3, 5])
@pytest.mark.parametrize("how", ["observed", "lower bound", "upper bound"])
def test_gate_prints_the_verdicts_that_the_simulation_counts(
    tmp_path: Path, how: str, templates: int
) -> None:
    tests = levels.suite(3, 60, templates)
    old = np.arange(180) % 60 >= 3
    new = old & (np.arange(180) >= 60)  # the first functionality drops from 95 % to 0
    rows = rows_for(tests.cases)
    suite = f"suite={write_suite(tmp_path / 'suite.jsonl', rows)}"
    specs = [
        write_answers(tmp_path / f"{name}.jsonl", rows, hits.tolist())
        for name, hits in (("a", old), ("b", new))
    ]
    rules = tmp_path / "gate.toml"
    rules.write_text(
        f'[[rule]]\nfunctionality = "*"\nat_least = 0.5\njudge = "{how}"\n'
        f'[[rule]]\nfunctionality = "*"\nno_worse_than_baseline_by = 0.02\njudge = "{how}"\n'
    )
    arguments = ("gate", specs[1], "--baseline", specs[0], "--rules", rules, "--set", suite, "--json")
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert done.exit_code == 3, done.output
    every = {"functionality": "*"}
    counted = judge(
        [
            Rule(every, at_least=0.5, judge=how),  # type: ignore[arg-type]
            Rule(every, no_worse_than_baseline_by=0.02, judge=how),  # type: ignore[arg-type]
        ],
        tests.result(new, scored=True),
        tests.result(old, scored=True),
    )
    printed = json.dumps(json.loads(done.stdout), ensure_ascii=False)
    assert [verdict.name for verdict in counted if not verdict.is_met].count("f0") == 2
    for verdict in counted:
        assert verdict.status in printed and verdict.reason in printed
