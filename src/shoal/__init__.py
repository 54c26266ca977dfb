"""shoal: how a language model behaves off its training distribution, and how far that diagnosis can be trusted.

>>> import shoal
>>> result = shoal.audit("behaviour", "predictions:example", suite="sentiment")
>>> result.measures.by("capability")[0].name
'pass rate'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.3.0"

if TYPE_CHECKING:
    from .comparing.pairs import Comparison
    from .core.errors import ShoalError
    from .core.records import Answers, Case, Finding, Measure, Measures, Outcome, Result
    from .models import load_model
    from .protocols.behaviour.filling import fill
    from .protocols.behaviour.suite import Suite, case
    from .protocols.behaviour.suite_files import read_suite, write_suite
    from .render.writing import write_report
    from .runs.decisions import Gate, compare, gate
    from .runs.executors import run_here
    from .runs.plan import read_plan
    from .runs.results import audit
    from .runs.store import RunStore

_NAMES = {
    "core.errors": ["ShoalError"],
    "core.records": ["Answers", "Case", "Finding", "Measure", "Measures", "Outcome", "Result"],
    "models": ["load_model"],
    "protocols.behaviour.suite": ["Suite", "case"],
    "protocols.behaviour.filling": ["fill"],
    "protocols.behaviour.suite_files": ["read_suite", "write_suite"],
    "comparing.pairs": ["Comparison"],
    "runs.decisions": ["Gate", "compare", "gate"],
    "runs.executors": ["run_here"],
    "runs.plan": ["read_plan"],
    "runs.results": ["audit"],
    "runs.store": ["RunStore"],
    "render.writing": ["write_report"],
}
"""The public names by their module, which is loaded when one is first used: `import shoal` stays quick."""
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "Answers",
    "Case",
    "Comparison",
    "Finding",
    "Gate",
    "Measure",
    "Measures",
    "Outcome",
    "Result",
    "RunStore",
    "ShoalError",
    "Suite",
    "__version__",
    "audit",
    "case",
    "compare",
    "fill",
    "gate",
    "load_model",
    "read_plan",
    "read_suite",
    "run_here",
    "write_report",
    "write_suite",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
