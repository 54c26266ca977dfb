"""A pytest plugin: assert that a model behaves, in a test like any other.

    def test_release(assert_behaves):
        assert_behaves("predictions:answers.jsonl", "suite.jsonl", at_least=0.9)

The same function can be imported: `from shoal.pytest_plugin import assert_behaves`. pytest finds the fixture by itself
once shoal is installed. Nothing heavy is loaded until it is called.
"""

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .comparing.gate import Verdict
    from .comparing.rules import Judge
    from .core.records import Result
    from .protocols.behaviour.suite import Suite
    from .runs.answer_cache import Memory

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
    memory: "Memory | None" = None,
    **more: Any,
) -> "Result":
    """Fail unless a measure of the model reaches `at_least`, a fraction (0.9 if nothing is said); gives the result.

    `model` is a spec ("predictions:FILE", "python:module:name"), what `shoal.load_model` gives, or a function from a
    list of texts to labels or probabilities. `suite` is a file, a shipped suite's name or a `Suite`. Judged is what the
    protocol is about (the suite score), or what further words name: `functionality="negation"`, or with "*" each of
    them. The other words are settings of the protocol (split, profile, limit, …).

    Only the cases that are judged are asked. The fixture has a `memory` for the whole session: whatever the number of
    tests, a model is asked for an example once, and a few again to see whether it has changed.

    The observed rate is judged, as in a gate; `judge="lower bound"` asks for proof about new cases. Raises
    AssertionError if the rule is not met, and ShoalError if the call is wrong.
    """
    __tracebackhide__ = True
    from .comparing.gate import judge as judge_rules
    from .comparing.rules import Rule
    from .core.errors import PlanError, nearest
    from .core.selection import UnknownGroup
    from .protocols import PROTOCOLS, find_protocol
    from .runs.auditing import audit_with

    name = protocol or next(iter(PROTOCOLS))
    known = {setting.name for setting in fields(find_protocol(name).Settings)}

    def is_setting(key: str) -> bool:
        return key.partition(".")[0] in known  # train.on is one too

    groups = {key.replace("_", " "): value for key, value in more.items() if not is_setting(key)}
    groups = {key: value for key, value in groups.items() if value is not None}
    settings = {key: value for key, value in more.items() if is_setting(key)}
    wanted = 0.9 if at_least is None and at_most is None else at_least
    rule = Rule(groups, measure, wanted, at_most, judge=judge, allow_errors=allow_errors)
    try:
        result = audit_with(
            name, model, _needed(groups, settings, suite, known), "assert_behaves", memory=memory
        )
    except UnknownGroup as problem:
        raise PlanError(
            f"assert_behaves: unknown setting, or group of cases, among {', '.join(groups)}",
            why=f"settings: {', '.join(sorted(known))}; {problem}",
            fix=next((close for key in groups if (close := nearest(key, known))), "one of those"),
        ) from None
    _refuse_unknown(groups, known, result)
    failed = [verdict for verdict in judge_rules([rule], result) if not verdict.is_met]
    if failed:
        raise AssertionError(_message(failed, result))
    return result


def _needed(
    groups: "dict[str, Any]", settings: dict[str, Any], suite: Any, known: "set[str]"
) -> dict[str, Any]:
    """The settings, with the cases that are judged chosen where the protocol can choose."""
    named = {} if suite is None else {"suite": suite}
    judged = [f"{group}={value}" for group, value in groups.items() if value != "*"]
    chosen = {"only": judged} if judged and "only" in known and "only" not in settings else {}
    return {**named, **chosen, **settings}


def _refuse_unknown(groups: "dict[str, Any]", known: "set[str]", result: "Result") -> None:
    """A word that is neither a setting nor a group of the result is a slip of the pen."""
    from .core.errors import PlanError, nearest

    there = {group for row in result.measures for group in row.groups}
    for group in groups:
        if group not in there:
            names = sorted({*known, *(name.replace(" ", "_") for name in there)})
            key = group.replace(" ", "_")
            raise PlanError(
                f'assert_behaves: unknown setting "{key}"',
                why=f"known: {', '.join(names)}",
                fix=nearest(key, names) or "one of those",
            )


@pytest.fixture(name="assert_behaves", scope="session")
def assert_behaves_fixture() -> Callable[..., Any]:
    """`assert_behaves(model, suite, at_least=0.9, functionality=…)`: fail unless the model behaves."""
    from .runs.answer_cache import Memory

    return partial(assert_behaves, memory=Memory())


def _message(failed: "list[Verdict]", result: "Result") -> str:
    """What was wanted, how it went, the worst of what was looked at, and two cases to look at."""
    from .comparing.cases import comparable
    from .comparing.wording import measure_text, sentence
    from .core.views import shown_cases
    from .render.terminal import case_lines
    from .runs.scoring import failing_of

    lines = ["the model does not behave:", *(f"  {sentence(verdict)}" for verdict in failed[:WORST])]
    if len(failed) > WORST:
        lines.append(f"  … and {len(failed) - WORST} more")
    wanted = [set(verdict.measure.groups.items()) for verdict in failed]
    rates = [
        quantity
        for quantity in comparable(result, result.cases)
        if quantity.measure.basis.mean_over == "cases"
        and any(groups <= set(quantity.measure.groups.items()) for groups in wanted)
    ]
    rates = [rate for rate in rates if rate.measure.value is not None and rate.measure.value < 1]
    rates = sorted(rates, key=lambda rate: (rate.measure.value or 0.0, -rate.measure.n))[:WORST]
    if rates:
        lines += ["", "worst:"]
        lines += [f"  {rate.name}: {measure_text(rate.measure)}, n = {rate.measure.n:,}" for rate in rates]
    examples = [case for rate in rates for case in failing_of(result, rate.parts[0][1])[:EXAMPLES]]
    if examples:
        lines += ["", "failing:"]
        for shown in shown_cases(result, examples[:EXAMPLES]):
            lines += [f"  {line.plain.rstrip()}" for line in case_lines(shown, WIDTH)]
    errors = [outcome for outcome in result.outcomes if outcome.error]
    if errors:
        lines += [
            "",
            f"no answer to {len(errors):,} cases; the first, {errors[0].case_id}: {errors[0].error}",
        ]
    return "\n".join(lines)
