"""A pytest plugin: test the behaviour of a model with `assert_behaves`.

    def test_release(assert_behaves):
        assert_behaves("predictions:answers.jsonl", "suite.jsonl", at_least=0.9)

The function can also be imported: `from shoal.pytest_plugin import assert_behaves`. pytest finds the fixture once shoal
is installed. Heavy libraries are imported at the first call.
"""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .comparing.gate import Verdict
    from .comparing.rules import Judge, Rule
    from .core.records import Result
    from .protocols.behaviour.suite import Suite

WORST = 3
EXAMPLES = 2
WIDTH = 110


def assert_behaves(
    model: Any,
    suite: "str | Path | Suite | None" = None,
    at_least: float | None = None,
    *,
    at_most: float | None = None,
    protocol: str = "",
    measure: str = "",
    judge: "Judge" = "observed",
    allow_errors: bool = False,
    labels: Any = None,
    **more: Any,
) -> "Result":
    """Raise AssertionError unless a measure of the model reaches `at_least` (a fraction, 0.9 by default).

    `model` and `labels` are as in `shoal.audit`: a spec, a function, a scikit-learn or Transformers pipeline; names for
    outputs that have none. `suite` is a file, the name of a shipped suite or a `Suite`. The rule
    applies to the protocol's headline measure (the suite score), or to a group: `functionality="negation"`; "*" stands
    for every group. Other keywords are settings of the protocol (split, profile, limit, …).

    Only the cases of the rule are queried. The rule is judged by the observed rate, as in a gate; `judge="lower bound"`
    requires that the interval exceeds the limit. Returns the result. Raises ShoalError if an argument is wrong.
    """
    __tracebackhide__ = True
    from .comparing.rules import Rule
    from .core.errors import PlanError, nearest, some
    from .core.selection import UnknownGroup
    from .protocols import PROTOCOLS, find_protocol
    from .protocols.scores import graded_results, is_graded
    from .runs.results import audit_all, labelled

    name = protocol or next(iter(PROTOCOLS))
    known = set() if is_graded(model) else {row.name for row in fields(find_protocol(name).Settings)}
    if is_graded(model):
        more["suite"] = suite  # a group, as in the spec's `?group=`
    settings = {key: value for key, value in more.items() if key.partition(".")[0] in known}  # also train.on
    others = {key.replace("_", " "): value for key, value in more.items() if key not in settings}
    groups = {key: value for key, value in others.items() if value is not None}
    wanted = 0.9 if at_least is None and at_most is None else at_least
    rule = Rule(groups, measure, wanted, at_most, judge=judge, allow_errors=allow_errors)
    if is_graded(model):
        return _judged(rule, *graded_results([model]))
    try:
        judged = [f"{group}={value}" for group, value in groups.items() if value != "*"]
        needed: dict[str, Any] = {} if suite is None else {"suite": suite}
        needed |= {"only": judged} if judged and "only" in known else {}  # other cases are not queried
        needed |= settings
        (result,) = audit_all([labelled(model, labels)], name, needed, where="assert_behaves")
    except UnknownGroup as problem:
        fix = next((close for key in groups if (close := nearest(key, known))), "one of those")
        why = f"settings: {', '.join(sorted(known))}; {problem}"
        raise PlanError(
            f"assert_behaves: unknown setting or group: {some(groups)}", why=why, fix=fix
        ) from None
    return _judged(rule, result)


def _judged(rule: "Rule", result: "Result") -> "Result":
    """Return the result, or raise if it does not meet the rule."""
    __tracebackhide__ = True
    from .comparing.gate import judge

    failed = [verdict for verdict in judge([rule], result) if not verdict.is_met]
    if failed:
        raise AssertionError(_message(failed, result))
    return result


@pytest.fixture(name="assert_behaves", scope="session")
def assert_behaves_fixture() -> Callable[..., Any]:
    """Return `assert_behaves`."""
    return assert_behaves


def _message(failed: "list[Verdict]", result: "Result") -> str:
    """Return the failed rules, two failing cases, and the first case without an answer."""
    from .comparing.wording import sentence
    from .core.views import shown_cases
    from .render.terminal import case_lines

    lines = ["the model does not behave:", *(f"  {sentence(verdict)}" for verdict in failed[:WORST])]
    if len(failed) > WORST:
        lines.append(f"  … and {len(failed) - WORST} more")
    examples = result.failing()[:EXAMPLES]
    lines += ["", "failing:"] if examples else []
    for shown in shown_cases(result, examples):
        lines += [f"  {line.plain.rstrip()}" for line in case_lines(shown, WIDTH)]
    errors = [outcome for outcome in result.outcomes if outcome.error]
    if errors:
        first = f"{errors[0].case_id}: {errors[0].error}"
        lines += ["", f"no answer to {len(errors):,} cases; the first, {first}"]
    return "\n".join(lines)
