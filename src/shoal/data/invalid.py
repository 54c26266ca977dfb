"""Invalid rows of a file, collected so that users see all of them at once, or import the others."""

from dataclasses import dataclass, field
from pathlib import Path

from ..core.errors import DataError, ShoalError

MOST = 50
"""Rows that a message lists."""


@dataclass(slots=True)
class Problem:
    """A kind of problem and its rows."""

    error: ShoalError
    rows: list[int] = field(default_factory=list)


@dataclass(slots=True)
class InvalidRows:
    """The invalid rows of a file by their problem, in order of first appearance."""

    problems: dict[str, Problem] = field(default_factory=dict)
    count: int = 0

    def add(self, number: int, error: ShoalError) -> None:
        """Add a row with its error."""
        self.problems.setdefault(error.problem, Problem(error)).rows.append(number)
        self.count += 1

    def error(self, path: Path, unit: str, total: int, otherwise: str = "") -> DataError:
        """Return one error for all rows; `otherwise` is another remedy where some rows are valid."""
        problems = sorted(self.problems.values(), key=lambda problem: problem.rows[0])
        most = max(problems, key=lambda problem: len(problem.rows)).error
        is_same = len({problem.error.fix for problem in problems}) == 1
        # Where no row is valid, the commonest problem is one of the whole file, such as the wrong column.
        fix = most.fix if is_same or self.count == total else "fix the rows"
        fix = ", ".join(filter(None, [fix, otherwise if self.count < total else ""]))
        if self.count == 1:
            place = f"{path}, {unit} {problems[0].rows[0]}"
            return DataError(f"{place}: {most.problem}", why=most.why, fix=fix)
        return DataError(
            f"{path}: {self.count:,} of {total:,} rows are invalid", why=_listed(problems, unit), fix=fix
        )

    def summary(self, unit: str) -> list[str]:
        """Return each kind of problem with its number of rows."""
        lines = []
        for what, problem in self.problems.items():
            rows = f"{len(problem.rows):,} row{'s' if len(problem.rows) > 1 else ''}"
            lines.append(f"{rows}: {what} ({first_few(unit, problem.rows)})")
        return lines


def _listed(problems: list[Problem], unit: str) -> str:
    """Return the first rows with their problems, and how many more there are."""
    left, parts = MOST, []
    for problem in problems:
        rows = problem.rows[: max(left, 0)]
        if rows:
            why = f" ({problem.error.why})" if problem.error.why else ""
            parts.append(f"{counted(unit, rows)}: {problem.error.problem}{why}")
        left -= len(problem.rows)
    more = [f"and {-left:,} more rows"] if left < 0 else []
    return "; ".join(parts + more)


def counted(unit: str, numbers: list[int]) -> str:
    """Return rows by number.

    >>> counted("line", [9]), counted("line", [9, 12])
    ('line 9', 'lines 9, 12')
    """
    return f"{unit}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def first_few(unit: str, numbers: list[int]) -> str:
    """Return the first three rows by number.

    >>> first_few("line", [1, 2, 3, 4])
    'lines 1, 2, 3, …'
    """
    return counted(unit, numbers[:3]) + (", …" if len(numbers) > 3 else "")
