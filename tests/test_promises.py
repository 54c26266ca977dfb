"""Every promise of the verbs: a few repetitions at each size, and the command line says what the simulation counts.

benchmarks/verbs.py has the long version, docs/studies/interval-coverage.md its table.
"""

import importlib.util
import json
import math
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from shoal import Case
from shoal.cli import main
from shoal.comparing.judge import judge
from shoal.comparing.pairs import Choices, compare
from shoal.comparing.rules import Rule


def load() -> ModuleType:
    path = Path(__file__).parents[1] / "benchmarks" / "verbs.py"
    spec = importlib.util.spec_from_file_location("verbs_benchmark", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


verbs = load()
REPETITIONS = 3
ONCE = ("run, ", "compare, ", "compare --adjust", 'gate "*"', "plan-size")
"""What takes a tenth of a second a time."""
VERBS = dict.fromkeys(world.verb for world in verbs.worlds() if world.verb != "gate, anytime")


def broken(cell: Any, held: int, times: int) -> int:
    """How often a promise was not kept."""
    return times - held if cell.promised in (verbs.COVERS, verbs.FINDS) else held


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_promises_are_kept_at_all_sizes_together(verb: str) -> None:
    each = 1 if f"{verb}, ".startswith(ONCE) else REPETITIONS
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


@pytest.mark.slow
def test_repetitions_do_not_depend_on_how_they_are_cut() -> None:
    world = next(verbs.worlds())
    whole, first, rest = (verbs.repeated(world, *part) for part in ((0, 6), (0, 2), (2, 4)))
    assert whole == {name: first[name] + rest[name] for name in whole}


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


# The command line says the same


def written(folder: Path, cases: Sequence[Case]) -> Path:
    """The cases as a suite in which every text should be positive."""
    rows: list[dict[str, Any]] = [{"suite": "simulated", "label_names": ["negative", "positive"]}]
    for case in cases:
        name, number = case.id.split("/")
        row = {"functionality": name, "capability": "c", "type": "MFT", "case_id": int(number), "labels": 1}
        rows.append({**row, "cluster": case.cluster, "examples": [{"text": case.examples[0][0]}]})
    path = folder / "suite.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def answered(folder: Path, name: str, cases: Sequence[Case], hits: Sequence[bool]) -> str:
    """The spec of a model that is right where it should be."""
    rows = [
        {"functionality": case.id.split("/")[0], "case_id": int(case.id.split("/")[1]), "pred": int(hit)}
        for case, hit in zip(cases, hits, strict=True)
    ]
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"predictions:{path}"


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


@pytest.mark.parametrize("templates", [False, True])
def test_try_and_compare_print_what_the_simulation_counts(tmp_path: Path, templates: bool) -> None:
    rng = np.random.default_rng(templates)
    cases = verbs.cases_of(3, 40, templates, shared=templates)
    suite = f"suite={written(tmp_path, cases)}"
    hits = [rng.random(len(cases)) < rate for rate in (0.8, 0.75, 0.85, 0.9)]
    specs = [answered(tmp_path, f"m{number}", cases, own.tolist()) for number, own in enumerate(hits)]
    results = [verbs.result(cases, own) for own in hits]

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
        counted = compare(*sides, Choices(could_see=False))
        for row in counted.rows:
            if row.level in ("", "functionality"):
                key = row.groups.get("functionality", "")
                assert rows_of(printed, "difference")[key][1] == pytest.approx(row.interval)
                assert rows_of(printed, "adjusted p value")[key][0] == pytest.approx(row.adjusted)


@pytest.mark.parametrize(
    ("right", "limit", "end"), [(35, 0.9, "lower"), (36, 0.9, "lower"), (33, 0.99, "upper")]
)
def test_gate_prints_the_verdict_that_the_simulation_counts(
    tmp_path: Path, right: int, limit: float, end: str
) -> None:
    cases = verbs.cases_of(1, 36 if end == "lower" and right == 36 else 35, False)
    hits = np.arange(len(cases)) < right
    rules = tmp_path / "gate.toml"
    rules.write_text(f'[[rule]]\nat_least = {limit}\njudge = "{end} bound"\n')
    suite = f"suite={written(tmp_path, cases)}"
    spec = answered(tmp_path, "m", cases, hits.tolist())
    found = said("gate", spec, "--rules", rules, "--set", suite, "--json")
    rule = Rule(at_least=limit, judge=f"{end} bound")  # type: ignore[arg-type]
    (verdict,) = judge([rule], verbs.result(cases, hits))
    assert json.dumps(verdict.status) in json.dumps(found)
    assert verdict.reason in json.dumps(found)
