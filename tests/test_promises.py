"""Every promise of the verbs, a few repetitions at each size: a level that is off by much shows.

benchmarks/verbs.py has the long version, docs/studies/interval-coverage.md its table.
"""

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.slow

REPETITIONS = 3


def load() -> ModuleType:
    path = Path(__file__).parents[1] / "benchmarks" / "verbs.py"
    spec = importlib.util.spec_from_file_location("verbs_benchmark", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


verbs = load()
PROMISES = dict.fromkeys((cell.verb, cell.what) for cell in verbs.cells() if cell.verb != "gate, anytime")
FEWER = {"run, learning": 2, "run, cood": 1}
"""Of what takes a tenth of a second a time."""


@pytest.mark.parametrize("promise", PROMISES, ids=" ".join)
def test_a_promise_is_kept_at_all_sizes_together(promise: tuple[str, str]) -> None:
    cells = [cell for cell in verbs.cells() if (cell.verb, cell.what) == promise]
    each = FEWER.get(promise[0], REPETITIONS)
    held = sum(verbs.repeated(cell, 0, each) for cell in cells)
    times = each * len(cells)
    wrong = times - held if cells[0].promised == verbs.COVERS else held
    allowed = 0.025 if cells[0].promised == verbs.HALF else 0.05
    assert wrong / times <= allowed + 3 * math.sqrt(allowed * (1 - allowed) / times)


def test_repetitions_do_not_depend_on_how_they_are_cut() -> None:
    cell = next(verbs.cells())
    assert verbs.repeated(cell, 0, 6) == verbs.repeated(cell, 0, 2) + verbs.repeated(cell, 2, 4)


def test_what_is_kept_is_of_these_cells() -> None:
    names = {cell.name for cell in verbs.cells()}
    kept = verbs.kept(verbs.KEPT)
    assert kept and set(kept) == names
    assert all(0 <= held <= times for held, times in kept.values())
