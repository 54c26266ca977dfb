"""Errors that users can fix.

ShoalError
├── PlanError     a plan or setting is invalid
├── DataError     a file has invalid content
├── ModelError    a model cannot be loaded, or cannot answer a question
├── StoreError    results cannot be written or read
└── MissingExtra  an optional library is not installed

Any other exception is a bug and keeps its traceback.
"""

from collections.abc import Callable
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self


class ShoalError(Exception):
    """An error that the user can fix; the message says how."""

    def __init__(self, problem: str, *, why: str = "", fix: str = "") -> None:
        lines = [problem]
        lines += [f"  why: {why}"] if why else []
        lines += [f"  try: {fix}"] if fix else []
        super().__init__("\n".join(lines))
        self.problem, self.why, self.fix = problem, why, fix

    @classmethod
    def unknown(
        cls, problem: str, word: str, known: "Iterable[str]", fix: str = "one of those", names: str = "known"
    ) -> "Self":
        """Return the error for an unknown word, with the known ones and the nearest of them."""
        known = list(known)
        return cls(problem, why=f"{names}: {', '.join(known)}", fix=nearest(word, known) or fix)

    @classmethod
    def together(cls, problems: "Iterable[object]") -> "Self":
        """Return several errors, each with its remedy, as one."""
        error = cls.__new__(cls)
        Exception.__init__(error, "\nError: ".join(map(str, problems)))
        return error

    def with_also(self, other: "ShoalError") -> "Self":
        """Return the same error with the problem and the remedy of another."""
        both = type(self).__new__(type(self))
        why = "; ".join(filter(None, [self.why, other.problem]))
        ShoalError.__init__(both, self.problem, why=why, fix=f"{self.fix}; {other.fix}")
        return both

    def at(self, where: str) -> "Self":
        """Return the same error with a place, such as file and line, in front, unless it begins with that place."""
        if self.problem.startswith((f"{where}:", f"{where},")):
            return self
        placed = type(self).__new__(type(self))
        ShoalError.__init__(placed, f"{where}: {self.problem}", why=self.why, fix=self.fix)
        return placed


@contextmanager
def errors_at(where: str) -> "Iterator[None]":
    """Put a place, such as file and line, in front of errors in the block."""
    try:
        yield
    except ShoalError as problem:
        raise problem.at(where) from None


OnInvalid = Callable[[int, ShoalError], None]
"""Takes the number of an invalid row and its error, so that reading goes on."""


class PlanError(ShoalError):
    """A plan or setting is invalid."""


class DataError(ShoalError):
    """A file has invalid content."""


class ModelError(ShoalError):
    """A model cannot be loaded, or cannot answer a question."""


class StoreError(ShoalError):
    """Results cannot be written or read."""


class MissingExtra(ShoalError):  # noqa: N818 (named for what the user sees: a missing extra)
    """An optional library is not installed."""

    def __init__(self, library: str, *, needed_for: str) -> None:
        super().__init__(
            f"{library} is not installed",
            why=f"needed for {needed_for}",
            fix=f"pip install {library}",
        )


def import_library(name: str, needed_for: str) -> Any:
    """Import and return a library that shoal does not install by itself, or a module of it."""
    library = name.partition(".")[0]
    try:
        return import_module(name)
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] != library:
            raise
    raise MissingExtra(library, needed_for=needed_for)


def nearest(word: str, known: "Iterable[str]") -> str:
    """Return the known word most like this one, quoted for a `try:` line; empty if none is close.

    >>> nearest("per_lable", ["data", "per_label"])
    '"per_label"'
    """
    close = get_close_matches(word, list(known), n=1)
    return f'"{close[0]}"' if close else ""


def some(words: "Iterable[object]", limit: int = 5) -> str:
    """Return the first few words of a list for a message, and how many more there are.

    >>> some(range(12))
    '0, 1, 2, 3, 4 and 7 more'
    """
    shown = [str(word) for word in words]
    more = len(shown) - limit
    return ", ".join(shown[:limit]) + (f" and {more:,} more" if more > 0 else "")
