"""How far a step is, in a log."""

import pytest

from shoal.render.progress import line_by_line


@pytest.mark.parametrize("first", [0, 1])
def test_each_job_is_timed_from_its_own_start(first):
    """Two jobs of 100 steps, a step a second, an hour between them: the hour is no part of the second."""
    lines: list[str] = []
    seconds = iter([0.0, *(start + step for start in (0.0, 3600.0) for step in range(first, 100, 33))])
    tell = line_by_line(lines.append, lambda: next(seconds))
    for _ in range(2):
        for done in range(first, 100, 33):
            tell("training", done, 100)
    left = [line.split("about ")[1] for line in lines if f"{first + 66} of" in line]
    assert left == [f"{34 - first} seconds left"] * 2
