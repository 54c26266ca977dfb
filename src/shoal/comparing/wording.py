"""Sentences of compare and gate: typed rows and verdicts in, words out."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ..core.claims import ENOUGH_SEEDS, too_few_templates
from ..core.errors import some
from ..core.measures import quantity, shown, shown_interval, unit_word
from ..core.records import Result
from ..protocols.base import differing
from .cases import EXCUSED_CHECKS, TEMPLATES, same_prompts
from .inference import Row
from .unpaired import NEWCOMBE, UNPAIRED

if TYPE_CHECKING:
    from .gate import Verdict
    from .pairs import Comparison

UNPAIRED_NOTE = (
    "! Unpaired: a result file has rates, not outcomes, so only larger differences are detected. "
    "Compare two models or jobs to pair the cases."
)
DETECTABLE = "The detectable drop (80 % power) assumes that every case is equally likely to get worse."
NAMED = 3
"""How many rows a sentence names."""
PLURALS = {"functionality": "functionalities", "capability": "capabilities", "category": "categories"}


def counted(number: int, level: str) -> str:
    """Return a number of groups of a level: 1 functionality, 2 functionalities."""
    return f"{number} {level if number == 1 else PLURALS.get(level, f'{level}s')}"


def row_note(row: Row) -> str:
    """Return the caveats of one row."""
    if row.reason:
        return row.reason
    notes = []
    if sum(row.runs) > 2:
        notes.append(f"runs: {row.runs[0]} of A, {row.runs[1]} of B")
    if row.has_few_templates:
        notes.append(too_few_templates(row.templates or 0))
    if row.absent:
        notes.append(f"no common applicable case in {', '.join(row.absent)}")
    if row.method == NEWCOMBE:
        notes.append(UNPAIRED)
    elif not row.is_paired and row.interval is None:
        notes.append("cannot be paired by case: compare two or more runs a side")
    if row.applicability_differs:
        notes.append(f"applies to {_percent(row, 0)} of the cases for A, {_percent(row, 1)} for B")
    return "; ".join(notes)


def about_cases(result: Result) -> str:
    """Return the suite or data of both sides, with the settings that differ from the profile."""
    if metric := _metric(result):
        return f"metric {metric}, {len(result.cases):,} samples"
    settings = result.settings
    symbols = getattr(settings, "symbols", {})
    named = (
        {} if settings is None else differing(settings) | {name: getattr(settings, name) for name in symbols}
    )
    words = [
        f"{symbols.get(name, name)} {_setting(value) if isinstance(value, tuple) else PurePath(str(value)).name}"
        for name, value in named.items()
        if (isinstance(value, str | int | float) and not isinstance(value, bool))
        or (isinstance(value, tuple) and value and all(isinstance(word, str | int) for word in value))
    ]
    if not any(word.startswith("suite ") for word in words):
        suite = getattr(settings, "suite", None)
        words.insert(0, f"suite {suite}" if isinstance(suite, str) else str(result.job.get("protocol", "")))
    count = f"{len(result.cases):,} " if result.outcomes else ""
    return ", ".join([*words, f"the same {count}cases"])


def _metric(result: Result) -> str:
    """Return the metric of a result that was graded elsewhere; empty for others."""
    return str((result.job.get("about") or {}).get("metric", ""))


def differing_settings(a: Result, b: Result) -> str:
    """Return the settings, other than the model, in which the two sides differ."""
    if _metric(a) != _metric(b):
        return f"metric ({_metric(a)} and {_metric(b)})"
    if not is_dataclass(a.settings) or type(a.settings) is not type(b.settings):
        return ""
    old, new = (dict(_by_name(result.settings)) for result in (a, b))
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    symbols = {**getattr(a.settings, "symbols", {}), **getattr(b.settings, "symbols", {})}
    return ", ".join(
        f"{symbols.get(name, name)} ({_setting(old.get(name))} and {_setting(new.get(name))})"
        for name in names
    )


def _by_name(settings: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Return every setting with its name; those of a table inside as train.method."""
    for part in fields(settings):
        value, name = getattr(settings, part.name), f"{prefix}{part.name.removesuffix('_')}"
        if is_dataclass(value):
            yield from _by_name(value, f"{name}.")
        else:
            yield name, value


def _setting(value: Any) -> str:
    if isinstance(value, tuple):
        return " / ".join(map(str, value))
    return "none" if value is None or value == "" else str(value)


def overall_verdict(row: Row, a: str = "", b: str = "B") -> str:
    """Return which side is better overall."""
    if row.significant:
        word = direction_word(row, "better" if row.is_better else "worse")
        return f"{b} is {word} than {a} overall" if a else f"{b} is {word} overall"
    if row.is_paired and not (row.difference or row.gained or row.lost):
        return f"{a or 'A'} and {b} pass the same cases"
    return f"No clear difference between {a} and {b} overall" if a else "No clear difference overall"


def disagreement(comparison: "Comparison", b: str = "B") -> str:
    """Return how pass rate and suite score of B changed where one of them contradicts the other; else nothing."""
    plain, score = comparison.overall, comparison.headline
    if plain is score or plain.change == score.change or not plain.difference or not score.difference:
        return ""
    if not score.change and plain.is_better == score.is_better:
        return ""
    joint = "but" if plain.is_better != score.is_better else "and"
    return f"{b} {_direction(plain)} {joint} {_direction(score)}"


def _direction(row: Row) -> str:
    """Return which way an overall measure of B went, if its test shows it."""
    if not row.change:
        return f"shows no clear change in {measure_name(row)}"
    if row.measure == "pass rate":
        return f"passes {'more' if row.is_better else 'fewer'} cases"
    return f"has a {'higher' if (row.difference or 0) > 0 else 'lower'} {measure_name(row)}"


def both_sides(row: Row) -> str:
    """Return both sides of a row, as counts of cases where it is a pass rate of one run a side."""
    a, b = row.rates
    if row.measure == "pass rate" and None not in (a, b) and row.runs == (1, 1) and row.is_paired:
        return f"{round((a or 0) * row.n):,} → {round((b or 0) * row.n):,} of {row.n:,} cases pass"
    unit = " %" if quantity(row.measure).unit == "share" else ""
    return f"{measure_name(row)} {rate_text(row, 0)} → {rate_text(row, 1)}{unit}"


def change_text(row: Row) -> str:
    """Return the difference of a row with its interval."""
    interval = f"{'95 % CI ' if row.interval else ''}{interval_text(row)}"
    return ", ".join(filter(None, [f"{difference_text(row)}{unit(row)}", interval]))


def measure_name(row: Row) -> str:
    return row.measure + (f" {'at' if row.level == 'threshold' else 'of'} {row.name}" if row.level else "")


def unit(row: Row) -> str:
    return " points" if quantity(row.measure).unit == "share" else ""


def direction_word(row: Row, word: str) -> str:
    """Return better or worse where the measure has a better direction; else higher or lower."""
    return word if row.has_direction else {"worse": "lower", "better": "higher"}[word]


def rate_text(row: Row, side: int) -> str:
    return shown(row.rates[side], quantity(row.measure))


def difference_text(row: Row) -> str:
    return shown(row.difference, quantity(row.measure), signed=True)


def interval_text(row: Row) -> str:
    if row.interval is None:
        return too_few_templates(row.templates or 0) if row.has_few_templates else ""
    what = quantity(row.measure)
    return " to ".join(shown(end, what, signed=True) for end in row.interval)


def excused_checks(result: Result) -> list[str]:
    """Return the failed self-checks that do not make a result unusable."""
    return [
        f"{check['name']}: {check['detail']}"
        for check in result.job.get("checks", ())
        if check["ok"] is False and check["name"] in EXCUSED_CHECKS
    ]


def caveats(comparison: "Comparison") -> list[str]:
    """Return what could change the decision, the most important first."""
    sides = [*(("A", result) for result in comparison.a), *(("B", result) for result in comparison.b)]
    lines = [UNPAIRED_NOTE] if comparison.has_rates_only else []
    lines += [f"! {side}: {check}" for side, result in sides for check in excused_checks(result)]
    if any(comparison.overall.errors):
        lines.append(_unanswered(comparison))
    for side, result in (("A", comparison.a[0]), ("B", comparison.b[0])):
        if names := (result.job.get("about") or {}).get("other metrics"):
            lines.append(f"! {side} has other metrics, not compared: {some(names, NAMED)}.")
    flagged = [row for row in comparison.by(comparison.finest) if row.applicability_differs]
    if flagged:
        names = [f"{row.name} (A {_percent(row, 0)}, B {_percent(row, 1)})" for row in flagged]
        lines.append(f"! Tests apply to different shares of the cases: {some(names, NAMED)}.")
    if min(len(comparison.a), len(comparison.b)) == 1 < max(len(comparison.a), len(comparison.b)):
        lines.append("! One run against several: tests hold for these runs only.")
    elif same_prompts(comparison.a, comparison.b):
        lines.append(f"Paired by prompt: the mean over {len(comparison.a)} prompts of each case.")
    elif comparison.several_seeds and min(len(comparison.a), len(comparison.b)) < ENOUGH_SEEDS:
        lines.append(
            f"! Fewer than {ENOUGH_SEEDS} runs a side: small differences between recipes stay hidden."
        )
    if comparison.overall.na and not comparison.has_rates_only:
        lines.append(
            "Cases that do not apply to A or to B are left out; `shoal try` shows each model on all its cases."
        )
    return lines


def _unanswered(comparison: "Comparison") -> str:
    """Return how many cases each side left unanswered, and the overall difference with them."""
    counts = []
    for side, result, count in zip(
        "AB", (comparison.a[0], comparison.b[0]), comparison.overall.errors, strict=True
    ):
        missing = (result.job.get("about") or {}).get("missing", 0)
        counts.append(f"{side} {count:,}" + (f" ({missing:,} not in its file)" if missing else ""))
    line = f"! Cases without an answer: {', '.join(counts)}. No difference includes them"
    if (bounds := comparison.error_bounds) is None:
        return f"{line}."
    what = quantity(comparison.overall.measure)
    fail, passes, least, most = (shown(value, what, signed=True) for value in bounds)
    return f"{line}: {fail} if they all fail, {passes} if they all pass, {least} to {most} at the extremes."


def _percent(row: Row, side: int) -> str:
    return f"{100 * (row.applicability[side] or 0):.0f} %"


def provenance(comparison: "Comparison") -> list[str]:
    """Return what intervals and tests are about (`docs/method/beyond.md` 7.19), and how they were computed."""
    tests = dict.fromkeys(row.test.split(" of ")[0] for row in comparison.rows if row.test)
    absent = [row.name for row in comparison.rows if row.difference is None]
    claim = "new templates" if comparison.choices.over == TEMPLATES else "new cases from the same templates"
    by_prompt = same_prompts(comparison.a, comparison.b)
    if min(len(comparison.a), len(comparison.b)) > 1 and not by_prompt:
        claim = f"new runs of these recipes on these cases ({len(comparison.a)} and {len(comparison.b)} runs)"
    elif _metric(comparison.a[0]):
        claim = "new samples like these, with these answers"
    else:
        claim += f", not to other {'prompts' if by_prompt else 'checkpoints'}"
    return [
        f"Intervals and tests generalise to {claim}.",
        f"Tests: {', '.join(tests) or 'none'}. Holm adjusts p within each kind of row, such as all capabilities.",
        *([] if comparison.has_rates_only else [DETECTABLE]),
        *([f"No case applies to both A and B: {some(absent, 8)}."] if absent else []),
    ]


def new_templates(over: "Comparison") -> list[str]:
    """Return the overall difference for new templates, with the number of templates behind it."""
    rows = [row for row in over.rows if row.templates is not None]
    if over.several_seeds or not rows:
        return []
    row, groups = rows[0], over.by(over.finest)
    few = sum(group.has_few_templates for group in groups)
    number = f", from {row.templates:,} templates (effective number {row.effective_templates:.1f})"
    return [
        f"For new templates: {measure_name(row)} {change_text(row)}{'' if row.has_few_templates else number}"
        + (f". {few} of {len(groups)} groups have too few templates." if few else ".")
    ]


# Gates


def uncompared(result: Result) -> list[str]:
    """Return how many samples are only in the graded result, and how many only in its baseline."""
    about = result.job.get("about") or {}
    counts = {"the baseline lacks": about.get("only here", 0), "the result lacks": about.get("missing", 0)}
    lines = [f"{count:,} samples that {what}" for what, count in counts.items() if count]
    return [f"! Not compared: {', '.join(lines)}."] if lines else []


def observed(verdict: "Verdict") -> str:
    """Return the observed value of a verdict."""
    row = verdict.measure
    if row.value is None:
        return {"error": "unusable", "passed over": "none"}.get(verdict.status, "undefined")
    return f"{shown(row.value, quantity(row))}{unit_word(row).replace(' points', '')}"


def short_limit(verdict: "Verdict") -> str:
    """Return the limit of a rule; empty for a model that must be usable."""
    rule, row = verdict.rule, verdict.measure
    if row.name == "usable model":
        return ""
    what = quantity(row.of or row.name)
    limit = shown(rule.limit, what, signed=False)
    if rule.is_relative:
        return f"≤ +{limit}" if what.direction == "lower" else f"≥ −{limit}"
    return f"{'≤' if rule.kind == 'at_most' else '≥'} {limit}{' %' if what.unit == 'share' else ''}"


def sentence(verdict: "Verdict") -> str:
    """Return a verdict in one line: the observed value with its interval and n, and the limit."""
    row, value = verdict.measure, f"{verdict.status},"
    if row.value is not None and verdict.status != "error":
        ends = shown_interval(row, between=", ")
        value = (
            f"{shown(row.value, quantity(row))}{unit_word(row)}{f' [{ends}]' if ends else ''}, n = {row.n:,};"
        )
    reason = f" ({verdict.reason})" if verdict.reason else ""
    return f"{verdict.name}: {value} expected {limit_text(verdict)}{reason}"


def limit_text(verdict: "Verdict") -> str:
    """Return the limit of a rule in words, and how it is judged."""
    rule, row = verdict.rule, verdict.measure
    if row.name == "usable model":
        return "a usable model"
    what = quantity(row.of or row.name)
    end = "" if rule.judge == "observed" else f" ({rule.judge})"
    limit, is_share = shown(rule.limit, what, signed=False), what.unit == "share"
    if rule.is_relative:
        return f"no worse than the baseline by {limit}{' points' if is_share else ''}{end}"
    return f"{rule.kind.replace('_', ' ')} {limit}{' %' if is_share else ''}{end}"
