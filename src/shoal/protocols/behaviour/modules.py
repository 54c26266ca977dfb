"""A suite written in Python, by its file: the module is run, and the suite that it makes is taken.

Whoever names a module runs it, as with a model named `python:`. What it prints goes to standard error.
"""

import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

from ...core.errors import DataError, ShoalError, some
from .suite import Suite


def suite_of_module(path: Path) -> Suite:
    """The suite called `suite` in a module, else the only one there."""
    names = _run(path)
    suites = {name: value for name, value in names.items() if isinstance(value, Suite)}
    if "suite" in suites:
        suites = {"suite": suites["suite"]}
    if len({id(value) for value in suites.values()}) != 1:
        raise DataError(
            f"{path}: {f'{len(suites)} suites: {some(suites)}' if suites else 'no suite'}",
            why="a module makes one, or calls the one that is meant suite",
            fix='suite = Suite("hotel", labels=("negative", "positive"))',
        )
    suite = next(iter(suites.values()))
    if not suite.cases:
        raise DataError(
            f"{path}: suite {suite.name!r} has no cases",
            fix='@suite.minimum(capability="…") before a function that yields case("a text", label="…")',
        )
    return suite


def _run(path: Path) -> dict[str, Any]:
    """What a module defines. It can import what lies beside it."""
    if not path.is_file():
        raise DataError(f"{path}: no such file", fix="check the name, and the folder you are in")
    module = ModuleType(f"shoal_suite_{path.stem}")
    module.__file__ = str(path)
    beside = str(path.resolve().parent)
    sys.modules[module.__name__] = module
    sys.path.insert(0, beside)
    try:
        with redirect_stdout(sys.stderr):
            exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    except ShoalError as problem:
        raise problem.at(str(path)) from None
    except (Exception, SystemExit) as problem:
        raise DataError(
            f"{path}{_line(path, problem)}: {type(problem).__name__}: {problem}",
            why="the module did not run to its end",
            fix=f"mend it; python {path} shows more",
        ) from None
    finally:
        sys.path.remove(beside)
        del sys.modules[module.__name__]
    return vars(module)


def _line(path: Path, problem: BaseException) -> str:
    """Where in the module it went wrong, as a message has it."""
    if isinstance(problem, SyntaxError):
        return f", line {problem.lineno}"
    frames = traceback.extract_tb(problem.__traceback__)
    return next((f", line {frame.lineno}" for frame in reversed(frames) if frame.filename == str(path)), "")
