"""Promises of the verbs: a few repetitions of each world, and the command line prints what the simulations count.

benchmarks/level_and_power.py and benchmarks/verbs.py have the long versions, docs/studies/ their tables.
"""

import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import studies

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
