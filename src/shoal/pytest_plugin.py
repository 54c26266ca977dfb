"""A pytest plugin: assert that a model behaves, in a test like any other.

    def test_release(assert_behaves):
        assert_behaves("predictions:answers.jsonl", "suite.jsonl", at_least=0.9)

The same function can be imported: `from shoal.pytest_plugin import assert_behaves`. pytest finds the fixture by itself
once shoal is installed. Nothing heavy is loaded until it is called.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .gates.judge import Verdict
    from .gates.rules import Judge, Rule
    from .protocols.behaviour.suite import Suite
    from .records import Result

WORST = 3
EXAMPLES = 2


def assert_behaves(
    model: Any,
    suite: "str | Path | Suite",
    at_least: float = 0.9,
    *,
    functionality: str | None = None,
    capability: str | None = None,
    judge: "Judge" = "point",
    allow_errors: bool = False,
    **settings: Any,
) -> "Result":
    """Fail unless the model's pass rate reaches `at_least`, a fraction; gives the result for further looks.

    `model` is a spec ("predictions:FILE", "python:module:name"), what `shoal.load_model` gives, or a function from a
    list of texts to labels or probabilities. `suite` is a file, a shipped suite's name or a `Suite`. Judged is the
    suite score, the functionality or capability named, or with "*" each of them. `settings` are those of the protocol
    (split, profile, limit, …).

    A test speaks of these very cases, so the rate itself is judged; `judge="lower bound"` asks for confidence about
    new ones, as a gate does. Raises AssertionError when not met, and ShoalError for what is wrong with the call.
    """
    __tracebackhide__ = True
    from .gates.judge import judge as judge_rules
    from .gates.rules import Rule

    rule = Rule(
        functionality=functionality,
        capability=capability,
        at_least=at_least,
        judge=judge,
        allow_errors=allow_errors,
    )
    result = _audit(model, suite, settings)
    failed = [verdict for verdict in judge_rules([rule], result) if not verdict.is_met]
    if failed:
        raise AssertionError(_message(rule, failed, result))
    return result


@pytest.fixture(name="assert_behaves", scope="session")
def assert_behaves_fixture() -> Callable[..., Any]:
    """`assert_behaves(model, suite, at_least=0.9, functionality=None, …)`: fail unless the model behaves."""
    return assert_behaves


def _audit(model: Any, suite: "str | Path | Suite", settings: dict[str, Any]) -> "Result":
    from .protocols.behaviour.build import BuiltSuite
    from .protocols.behaviour.settings import Settings
    from .protocols.behaviour.suite import Suite
    from .runs.results import audit_all, audit_built
    from .runs.settings import make_settings

    asked = _askable(model)
    if isinstance(suite, Suite):
        chosen = make_settings(Settings, {"suite": suite.name, **settings}, "assert_behaves")
        return audit_built(asked, BuiltSuite(suite, suite.cases), chosen)
    (result,) = audit_all([asked], {"suite": str(suite), **settings}, where="assert_behaves")
    return result


def _askable(model: Any) -> Any:
    """What can be asked: plain functions and scikit-learn objects are wrapped as `python:` models are."""
    from .models.ask import Classifier, HasAnswered
    from .models.imported import ImportedModel

    if isinstance(model, str | Classifier | HasAnswered):
        return model
    # Any importable module will do: the object is here, and is never looked up.
    wrapped = ImportedModel("builtins", getattr(model, "__name__", type(model).__name__))
    wrapped._found = model
    return wrapped


def _message(rule: "Rule", failed: "list[Verdict]", result: "Result") -> str:
    """What was wanted, how it went, the worst functionalities, and two cases to look at."""
    from .gates.junit import number, sentence
    from .show.behaviour import show_case

    lines = ["the model does not behave:", *(f"  {sentence(verdict)}" for verdict in failed[:WORST])]
    if len(failed) > WORST:
        lines.append(f"  … and {len(failed) - WORST} more")
    rates = [row for row in result.measures.by("functionality") if row.value is not None and row.value < 1]
    if rule.functionality not in (None, "*"):
        rates = [row for row in rates if row.groups["functionality"] == rule.functionality]
    if rule.capability not in (None, "*"):
        rates = [row for row in rates if row.groups["capability"] == rule.capability]
    rates = sorted(rates, key=lambda row: (row.value or 0.0, -row.n))[:WORST]
    if rates:
        lines += ["", "worst:"]
        lines += [f"  {row.groups['functionality']}: {number(row)}, n = {row.n:,}" for row in rates]
    outcomes = {outcome.case_id: outcome for outcome in result.outcomes}
    examples = [case for row in rates for case in result.failing(row.groups["functionality"])[:EXAMPLES]]
    if examples:
        lines += ["", "failing:"]
        lines += [f"  {show_case(case, outcomes[case.id]).plain.rstrip()}" for case in examples[:EXAMPLES]]
    errors = [outcome for outcome in result.outcomes if outcome.error]
    if errors:
        lines += [
            "",
            f"no answer to {len(errors):,} cases; the first, {errors[0].case_id}: {errors[0].error}",
        ]
    return "\n".join(lines)
