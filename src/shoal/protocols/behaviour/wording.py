"""Every sentence of a behaviour audit: notes of measures, findings, and the lines around the tables.

`score` writes facts, this module alone turns them into words, and `view` lays the words out.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

from ...core.claims import too_few_templates
from ...core.measures import RATE, lowest_first, shown, shown_interval
from ...core.records import Finding, Measure, Measures, Result
from ..base import differing
from ..variation import answers_change
from .settings import Settings

NO_ANSWER, NOTHING = "no answer", "(nothing)"
NO_CASE_APPLIES, NO_CASE_ANSWERED = "no applicable case", "the model answered no case"
APART = 0.05
"""From this difference on, the output says why the suite score and the pass rate disagree."""
OF_GROUPS = "Rates of capabilities and types: means over functionalities, not passed/total."
"""Passed and total of a group do not give its rate if its functionalities differ in size."""
INTERVALS = "95 % intervals: Wilson by case; for means over functionalities, on the effective sample size."
NOT_TESTED = "Differences are not tested here; use `shoal compare MODEL MODEL`."

BANDS = {"inclusive": "from 1/3 to 2/3", "strict": "above 1/3 and below 2/3"}
Facts = Mapping[str, Any]


# Facts of the suite score


CAVEATS: dict[str, Callable[[Facts], str]] = {
    "not asked": lambda facts: (
        f"only {', '.join(facts['chosen'])}: {facts['not asked']:,} "
        f"{'case of the suite was' if facts['not asked'] == 1 else 'cases of the suite were'} not asked"
    ),
    "never": lambda facts: (
        f"the model has no label for {facts['never']} and gave no probabilities: it can never be {facts['never']}"
    ),
    "band": lambda facts: (
        f"Two-label model: P({facts['band of']}) {BANDS[facts['band']]} counts as {facts['neutral']}"
    ),
    "bounds": lambda facts: (
        f"{facts['unanswered']:,} without an answer: {facts['bounds'][0]:.1%} if they count as failed, "
        f"{facts['bounds'][1]:.1%} if as passed"
    ),
    "stopped": lambda facts: f"{facts['stopped']:,} of {facts['asked']:,} replies end at max_tokens",
    "low mass": lambda facts: (
        f"on {facts['low mass']:,} of {facts['asked']:,} distinct examples the labels have less than half of the "
        "model's probability"
    ),
    "truncated": lambda facts: (
        f"on {facts['truncated']:,} of {facts['asked']:,} distinct examples another label may be among the tokens "
        "that the server left out"
    ),
    "cut": lambda facts: (
        f"{facts['cut']:,} of {facts['asked']:,} distinct examples were truncated, by up to "
        f"{facts['cut by']:,} tokens"
    ),
    "no confidences": lambda facts: "the predictions have no confidences: tests of confidence do not apply",
    "left out": lambda facts: f"Left out, because no case applies: {', '.join(facts['left out'])}",
    "label map": lambda facts: (
        "the model's labels were renamed: "
        + ", ".join(f"{name} → {label}" for name, label in facts["label map"].items())
    ),
}
"""Fact to its words, the most important first."""
ABOUT_LABELS = ("label map", "band", "never")


def caveats_note(facts: Facts) -> str:
    """Return the caveats of a suite's score as one note."""
    return "; ".join(_in_words(facts, CAVEATS))


def caveats(measures: Measures) -> list[str]:
    """Return the caveats of the suite score, the most important first."""
    return [f"! {words}." for row in measures.where("suite score") for words in _in_words(row.facts, CAVEATS)]


def about_labels(measures: Measures) -> list[str]:
    """Return how the model's labels were mapped to the suite's."""
    return [words for row in measures.where("suite score") for words in _in_words(row.facts, ABOUT_LABELS)]


def _in_words(facts: Facts, names: Iterable[str]) -> list[str]:
    return [CAVEATS[name](facts) for name in names if name in facts]


# Findings


def dead_words(errors: Counter[str]) -> str:
    """Return the sentence about a model that answered no case, from its error messages."""
    (message, times), *others = errors.most_common()
    total = errors.total()
    more = f", and {total - times:,} times something else" if others else ""
    return f"The model answered none of {total:,} cases: {message}{more}"


# The subject of the audit


def subject(settings: Settings | None, result: Result) -> str:
    """Return suite, split, and every setting that differs from the profile's."""
    iid = sum(row.n + row.errors for row in result.measures.where("iid score")) if result.cases else 0
    given = result.job["settings"] if settings is None else {"suite": settings.suite, "split": settings.split}
    profile = given.get("profile", "") if settings is None else settings.profile
    parts = [
        f"suite {given['suite']}",
        f", {given['split']} split" if given.get("split") else "",
        f", and {iid:,} i.i.d. cases" if iid else "",
        _repeated(result),
        f", profile {profile}" if profile and profile != "recommended" else "",
        unusual_settings(settings),
    ]
    return "".join(parts)


def _repeated(result: Result) -> str:
    """Return how many repeated cases were kept or dropped: a pass rate counts each that was kept."""
    facts = result.job.get("about", {}).items()
    counts = [(name, count) for name, count in facts if name.startswith("repeated cases")]
    words = [f"{count:,} {name if count > 1 else name.replace('cases', 'case')}" for name, count in counts]
    return f" ({', '.join(words)})" if words else ""


def unusual_settings(settings: Settings | None) -> str:
    """Return the settings that differ from the profile's, in words; those of a table as TABLE.NAME."""
    chosen: dict[str, Any] = {}
    for name, value in differing(settings).items() if settings else ():
        if is_dataclass(value) and not isinstance(value, type):
            inner = differing(value).items()
            chosen |= {f"{name}.{part.removesuffix('_')}": given for part, given in inner}
        elif name not in ("suite", "split"):
            chosen[name] = " / ".join(map(str, value)) if isinstance(value, tuple) else value
    return f", with {', '.join(f'{name} {value}' for name, value in chosen.items())}" if chosen else ""


# One result


def passes_of(row: Measure) -> int:
    """Return how many cases pass."""
    return round((row.value or 0.0) * row.n)


def percent(row: Measure) -> str:
    """Return a rate with its unit."""
    return f"{shown(row.value, RATE)} %"


def pass_words(row: Measure) -> str:
    """Return the plain pass rate in words."""
    return f"{passes_of(row):,} of {row.n:,} cases pass ({percent(row)})"


def not_counted(row: Measure) -> str:
    """Return the cases that are not in a rate."""
    counts = {"not applicable": row.na, "unanswered": row.errors}
    return "".join(f", {count:,} {words}" for words, count in counts.items() if count)


def refusal_words(measures: Measures) -> str:
    """Return how many cases the model refuses to answer; empty if there are none."""
    row = next(iter(measures.where("refusal rate")), None)
    if row is None or not row.value:
        return ""
    return f"The model refuses to answer in {passes_of(row):,} of {row.n:,} cases ({percent(row)})."


def suite_score_words(whole: Measure, rates: Sequence[Measure]) -> str:
    """Return the suite score with its interval and the number of functionalities behind it."""
    count = sum(row.value is not None for row in rates)
    interval = f", 95 % CI {shown_interval(whole)}" if whole.interval else ""
    averaged = f"{count} functionalit{'y' if count == 1 else 'ies'}"
    return f"Suite score {shown(whole.value, RATE)} (mean over {averaged}){interval}"


def why_apart(plain: Measure, whole: Measure, rates: Sequence[Measure]) -> str:
    """Name the functionality that pulls the suite score furthest away from the pass rate; empty if they agree."""
    gap = (whole.value or 0.0) - (plain.value or 0.0)
    known = [row for row in rates if row.value is not None]
    if abs(gap) <= APART or len(known) < 2:
        return ""

    def pull(row: Measure) -> tuple[float, str]:
        share = (1 / len(known) - row.n / plain.n) * ((row.value or 0.0) - (plain.value or 0.0))
        return share * (1 if gap > 0 else -1), row.groups["functionality"]

    row = max(known, key=pull)
    share = 100 * row.n / plain.n
    return (
        "Pass rate and suite score differ: in the score, each functionality counts the same, however few its cases. "
        f"For example, {row.groups['functionality']} ({passes_of(row):,} of {row.n:,} pass) "
        f"counts 1/{len(known)} with {'<0.1' if share < 0.05 else f'{share:.1f}'} % of the cases."
    )


def weakest_words(capabilities: Sequence[Measure], number: int) -> str:
    """Return the capabilities with the lowest pass rates; empty if there is one, or if nothing fails."""
    weakest = lowest_first(capabilities)[:number]
    if len(weakest) < 2 or (weakest[0].value or 0.0) >= 1:
        return ""
    return ", ".join(f"{row.groups['capability']} {percent(row)}" for row in weakest)


def over_templates_words(whole: Measure) -> str:
    """Return the suite score as a claim about new templates."""
    templates, facts = whole.basis.templates or 0, whole.facts
    ends = facts.get("interval over templates")
    between = " – ".join(shown(end, RATE) for end in ends) if ends else too_few_templates(templates)
    number = f"{templates:,} templates, effective {facts['effective templates']:.1f}"
    return f"For new templates: suite score {shown(whole.value, RATE)}, 95 % CI {between} ({number})."


def nothing_failed(rates: Sequence[Measure]) -> str:
    """Return the sentence for a result in which no case fails."""
    if not any(row.n for row in rates):
        return "No case applies: nothing was tested."
    if errors := sum(row.errors for row in rates):
        unanswered = "1 case is" if errors == 1 else f"{errors:,} cases are"
        return f"Every applicable case passes; {unanswered} unanswered."
    return "Every applicable case passes."


def failed_checks(result: Result) -> list[tuple[str, str]]:
    """Return name and detail of every self-check of the model that failed."""
    failed = [check for check in result.job.get("checks", ()) if check["ok"] is False]
    return [(str(check["name"]), str(check["detail"])) for check in failed]


# Several results


def name_of(row: Measure | Finding) -> str:
    """Return a model's name, with its seed where there are several."""
    return " seed ".join(row.groups[key] for key in ("model", "seed") if key in row.groups)


def scores_in_order(scores: Mapping[str, Measure]) -> str:
    """Return the highest and the lowest suite score of several models."""
    known = sorted((row.value, name) for name, row in scores.items() if row.value is not None)
    if not known:
        return ""
    (low, last), (high, first) = known[0], known[-1]
    worst = f"; lowest: {last}, {shown(low, RATE)} %" if len(known) > 1 else ""
    return f"Highest suite score: {first}, {shown(high, RATE)} %{worst}.\n"


def sensitivity_lines(measures: Sequence[Measure]) -> list[str]:
    """Return what each prompted model's answers vary with, and which labels and positions it prefers."""
    by_family: dict[str, list[Measure]] = {}
    for row in measures:
        if "family" in row.groups:
            by_family.setdefault(row.groups["family"], []).append(row)
    return [f"{name}: {'; '.join(_sensitivity(Measures(rows)))}." for name, rows in by_family.items()]


def _sensitivity(rows: Measures) -> Iterator[str]:
    yield answers_change(rows.where("changed answers"))
    for row in rows.where("sd over runs"):
        low, high = (shown(row.facts[end], RATE) for end in ("low", "high"))
        yield f"suite score {low} – {high} over {row.groups['factor']}s (SD {shown(row.value, RATE)})"
    labels = [row for row in rows.where("label share") if row.value is not None]
    if labels:
        row = max(labels, key=lambda row: (row.value or 0.0) - row.facts["expected"])
        expected = shown(row.facts["expected"], RATE)
        yield f"the model answers {row.groups['label']} in {percent(row)} of labelled examples (expected {expected} %)"
    if places := rows.where("position share"):
        row = max(places, key=lambda row: row.value or 0.0)
        even = shown(1 / len(places), RATE)
        yield f"the label listed at place {row.groups['position']} gets {percent(row)} of the answers (even: {even} %)"


def warnings(results: Sequence[Result], findings: Sequence[Finding]) -> list[str]:
    """Return findings and failed self-checks, each after the name of its model."""
    lines = [f"{name_of(row)}: {row.text}" for row in sorted(findings, key=lambda row: -row.weight)]
    for result in results:
        lines += [f"{result.job['model']}: {name}: {detail}" for name, detail in failed_checks(result)]
    return lines
