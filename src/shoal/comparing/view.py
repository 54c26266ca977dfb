"""A comparison as sections: the answer, what got worse and better, suspects, and the cases that changed."""

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import PurePath
from typing import Any

from ..core.claims import ALPHA, ENOUGH_SEEDS, TOO_FEW_TEMPLATES, too_few_templates
from ..core.errors import some
from ..core.measures import quantity, shown, shown_p
from ..core.records import Measure, Result
from ..core.views import (
    Block,
    CaseList,
    Cell,
    Column,
    Number,
    Section,
    ShownCase,
    Table,
    Text,
    Tone,
    Words,
    expected_words,
)
from ..core.views import Row as TableRow
from ..protocols.base import differing
from .families import tests_in
from .pairs import Comparison, difference_of
from .rows import ADJUSTMENTS, RUNS, TEMPLATES, Row, note_of
from .sides import EXCUSED_CHECKS

EXAMPLES = 2
"""How many newly failing cases the short view shows."""
NAMED = 3
"""The number of rows that a sentence names."""
NOTES = 3
"""How many caveats stand below the table."""
PLURALS = {"functionality": "functionalities", "capability": "capabilities", "category": "categories"}


def comparison_sections(
    comparison: Comparison,
    *,
    changed: bool = False,
    full: bool = False,
    over_templates: Comparison | None = None,
) -> list[Section]:
    """Return the comparison for reading; with `changed` every case that changed, with `full` every row.

    `over_templates` is the same comparison for new templates, shown in full next to the default.
    """
    if changed:
        return [Section(_heading(comparison), blocks=list(_every_change(comparison)))]
    rows = _full_table(comparison) if full else _short_table(comparison)
    blocks = [*([rows] if rows.rows else []), *_rest(comparison, full=full), *_examples(comparison)]
    notes = _caveats(comparison)[: None if full else NOTES]
    details = [*_provenance(comparison), *_of_templates(over_templates)] if full else []
    return [Section(_heading(comparison), _answer(comparison), blocks, [*notes, *details])]


# The answer


def _heading(comparison: Comparison) -> list[Words]:
    pieces: list[Words] = []
    for side, results in (("A", comparison.a), ("B", comparison.b)):
        names = list(dict.fromkeys(str(result.job.get("model", "")) for result in results))
        runs = f" ({len(results)} runs)" if len(results) > 1 else ""
        pieces += [Words(f"{side} ", "quiet"), Words(f"{some(names, 3)}{runs}    ", "strong")]
    pieces.append(Words(f"{about_cases(comparison.a[0])}\n", "quiet"))
    if differs := _differing_settings(comparison.a[0], comparison.b[0]):
        pieces.append(Words(f"A and B also differ in {differs}.\n", "doubt"))
    return pieces


def about_cases(result: Result) -> str:
    """Return what both sides were tested on, with the settings that differ from the profile's."""
    settings = result.settings
    unusual = {} if settings is None else differing(settings)
    words = [
        f"{name} {' / '.join(value) if isinstance(value, tuple) else PurePath(str(value)).name}"
        for name, value in unusual.items()
        if (isinstance(value, str | int | float) and not isinstance(value, bool))
        or (isinstance(value, tuple) and all(isinstance(word, str) for word in value))
    ]
    if not any(word.startswith("suite ") for word in words):
        words.insert(0, str(result.job.get("protocol", "")))
    return ", ".join([*words, f"the same {len(result.cases):,} cases"])


def _differing_settings(a: Result, b: Result) -> str:
    """Return the settings, other than the model, in which the two sides differ."""
    if not is_dataclass(a.settings) or type(a.settings) is not type(b.settings):
        return ""
    old, new = (dict(_by_name(result.settings)) for result in (a, b))
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return ", ".join(f"{name} ({_setting(old.get(name))} and {_setting(new.get(name))})" for name in names)


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


def _answer(comparison: Comparison) -> list[Words | Number | str]:
    """Return the first lines: is a side unusable, which side is better, how many rows changed."""
    pieces: list[Words | Number | str] = [
        Words(f"{finding.text}\n", ("strong", "bad")) for finding in comparison.findings
    ]
    row = _overall(comparison)
    if row.difference is None:
        return [*pieces, Words("A and B have no applicable case in common.\n", "doubt")]
    if row.significant:
        tone: Tone = "good" if row.is_better else "bad"
        word = _word(row, "better" if row.is_better else "worse")
        pieces.append(Words(f"B is {word} overall: ", ("strong", tone) if _directed(row) else "strong"))
    elif not row.gained and not row.lost and row.facts.get("over") != RUNS:
        pieces.append(Words("A and B pass the same cases: ", "strong"))
    else:
        pieces.append(Words("No clear difference overall: ", "strong"))
    pieces += [
        f"{_both(row)} ({_signed(row)}{_unit(row)}{_with_interval(row)})\n",
        *_about_margin(comparison),
    ]
    return [*pieces, *_counted(comparison), *_power(comparison)]


def _overall(comparison: Comparison) -> Row:
    """Return the plain pass rate where there is one: it counts cases; else what the protocol is about."""
    plain = [row for row in comparison.by("") if row.measure == "pass rate"]
    return (plain or [comparison.headline])[0]


def _both(row: Row) -> str:
    """Return both sides of a row, as counts of cases where it is a pass rate of one run a side."""
    a, b = row.rates
    if row.measure == "pass rate" and None not in (a, b) and "seeds of A" not in row.facts:
        return f"{round((a or 0) * row.n):,} → {round((b or 0) * row.n):,} of {row.n:,} cases pass"
    unit = " %" if quantity(row.measure).unit == "share" else ""
    return f"{_of(row)} {_rate(row, 0)} → {_rate(row, 1)}{unit}"


def _with_interval(row: Row) -> str:
    if TOO_FEW_TEMPLATES in row.facts:
        return f", {too_few_templates(row.facts[TOO_FEW_TEMPLATES])}"
    return f", 95 % CI {_interval(row)}" if row.interval else ""


def _counted(comparison: Comparison) -> list[Words | Number | str]:
    """Return how many rows of the finest level got worse, got better, and show no clear change."""
    if not comparison.finest:
        return []
    worse, better, rest = _sorted(comparison)
    few = sum(TOO_FEW_TEMPLATES in row.facts for row in rest)
    unclear = len(rest) - few
    first = comparison.by(comparison.finest)[0]
    what = PLURALS.get(comparison.finest, f"{comparison.finest}s")
    what = comparison.finest if len(worse) == 1 else what
    return [
        Words(f"{len(worse)} {what} got {_word(first, 'worse')}", "bad" if worse else "quiet"),
        ", ",
        Words(f"{len(better)} {_word(first, 'better')}", "good" if better else "quiet"),
        Words(f", {unclear} {'shows' if unclear == 1 else 'show'} no clear change", "quiet"),
        Words(f", {few} {'has' if few == 1 else 'have'} too few templates" if few else "", "doubt"),
        Words(".\n", "quiet"),
    ]


def _power(comparison: Comparison) -> list[Words | Number | str]:
    """Return the minimum detectable drop, one number per level."""
    overall = _overall(comparison).mde
    parts = [f"{_drop(overall, comparison)} overall"] if overall is not None else []
    fine = comparison.detectable(comparison.finest) if comparison.finest else None
    if fine is not None:
        parts.append(f"{_drop(fine, comparison)} in a typical {comparison.finest}")
    return [Words(f"Minimum detectable drop: {', '.join(parts)} (80 % power).\n", "quiet")] if parts else []


def _drop(value: float, comparison: Comparison) -> str:
    row = _overall(comparison)
    return f"{shown(value, quantity(row.measure), signed=False)}{_unit(row)}"


def _about_margin(comparison: Comparison) -> list[Words | Number | str]:
    """Return whether B is shown to be worse by less than the margin, overall."""
    row = _overall(comparison)
    if row.inferior_p is None:
        return []
    size = f"{_margin(comparison)}{_unit(row)}"
    if row.inferior_p <= ALPHA / 2:
        return [Words(f"B is not worse by {size} or more", "good"), f" (one-sided p {_p(row.inferior_p)}).\n"]
    return [
        Words(f"B may be worse by {size} or more", "doubt"),
        f" (one-sided p {_p(row.inferior_p)}).\n",
    ]


def _of(row: Row) -> str:
    return row.measure + (f" {'at' if row.level == 'threshold' else 'of'} {row.name}" if row.level else "")


def _unit(row: Row) -> str:
    return " points" if quantity(row.measure).unit == "share" else ""


def _directed(row: Row) -> bool:
    return quantity(row.measure).direction in ("higher", "lower")


def _word(row: Row, word: str) -> str:
    """Return better or worse where the measure has a better direction; else higher or lower."""
    return word if _directed(row) else {"worse": "lower", "better": "higher"}[word]


def _sorted(comparison: Comparison) -> tuple[list[Row], list[Row], list[Row]]:
    """Return the rows of the finest level: worse in B, better in B, the rest; the largest difference first."""
    rows = comparison.by(comparison.finest) if comparison.finest else []
    known = [row for row in rows if row.difference is not None]
    ranked = sorted(known, key=lambda row: (-abs(row.difference or 0.0), row.name))
    decided = [row for row in ranked if row.significant and row.difference]
    return (
        [row for row in decided if not row.is_better],
        [row for row in decided if row.is_better],
        [row for row in ranked if row not in decided],
    )


# The tables


def _short_table(comparison: Comparison) -> Table:
    """Return the marked rows: of the finest level, then of the levels between."""
    worse, better, _ = _sorted(comparison)
    between = [
        row
        for row in comparison.rows
        if row.level not in ("", comparison.finest) and row.significant and row.difference
    ]
    whole = [] if comparison.finest else comparison.by("")
    return _table(comparison, [*worse, *better, *between, *whole], full=False)


def _full_table(comparison: Comparison) -> Table:
    """Return every row, level by level; the finest level worst first."""
    coarse = [row for row in comparison.rows if row.level != comparison.finest or not comparison.finest]
    worse, better, rest = _sorted(comparison)
    return _table(comparison, [*coarse, *worse, *better, *rest], full=True)


def _table(comparison: Comparison, rows: Sequence[Row], *, full: bool) -> Table:
    unpaired = all(row.facts.get("over") == RUNS for row in rows)
    margin = comparison.choices.margin is not None
    columns = [
        Column("", "left"),
        Column("", "left"),
        Column("A"),
        Column("B"),
        Column("diff"),
        Column("95 % CI"),
        *([] if unpaired else [Column(title) for title in _changes(comparison)]),
        *([Column("n"), Column("p (adj.)")] if full else []),
        *([Column("detectable drop")] if full and comparison.choices.power else []),
        *([Column(f"not −{_margin(comparison)}")] if margin else []),
    ]

    def line(row: Row) -> TableRow:
        name = row.name if row.level in ("", comparison.finest) else f"{row.level}: {row.name}"
        cells: list[Cell] = [
            Words(_mark(row), _tone(row)),
            Words(name, _tone(row)),
            _rate(row, 0),
            _rate(row, 1),
            Number(_with_cases(row, comparison), _tone(row)),
            Words(_interval(row) or _no_interval(row), "quiet"),
        ]
        if not unpaired:
            cells += [_count(row.lost, _tone(row) == "bad"), _count(row.gained, False)]
        if full:
            cells += [Words(f"{row.n:,}", "quiet"), "–" if row.adjusted is None else shown_p(row.adjusted)]
            cells += [Words(_detectable(row), "quiet")] if comparison.choices.power else []
        return TableRow([*cells, *([_not_inferior(row)] if margin else [])])

    return Table(columns, [line(row) for row in rows])


def _changes(comparison: Comparison) -> tuple[str, str]:
    """Return the titles of the counts of changed cases: those that only A, and only B, passes."""
    return ("newly failing", "fixed") if _directed(_overall(comparison)) else ("only A", "only B")


def _mark(row: Row) -> str:
    """Return ▲ or ▼ for a tested change; a measure without a better direction has no mark."""
    if not row.significant or not row.difference or not _directed(row):
        return ""
    return "▲" if row.is_better else "▼"


def _no_interval(row: Row) -> str:
    few = row.facts.get(TOO_FEW_TEMPLATES)
    return "" if few is None else too_few_templates(few)


def _count(number: int, loud: bool) -> Words:
    return Words(f"{number:,}", "bad" if loud and number else "quiet")


def _rest(comparison: Comparison, *, full: bool) -> Iterator[Block]:
    """Return the suspects, and how many rows are not shown."""
    _, _, rest = _sorted(comparison)
    lines = []
    levels = dict.fromkeys([comparison.finest, *(row.level for row in comparison.rows if row.level)])
    for level in levels:
        suspects = [row for row in comparison.by(level) if level and row.is_suspect]
        if not suspects:
            continue
        tests = tests_in(comparison.rows, level)
        suspects = sorted(suspects, key=lambda row: -abs(row.difference or 0.0))
        what = "" if level == comparison.finest else f"{level} "
        names = [f"{what}{row.name} {_signed(row)} ({_interval(row)})" for row in suspects]
        lines.append(
            f"Not significant after correction for {tests} tests, but the interval excludes zero: "
            f"{some(names, len(names) if full else 6)}"
        )
    few = [row for row in rest if TOO_FEW_TEMPLATES in row.facts]
    if few and not full:
        names = [f"{row.name} {_signed(row)}, {_no_interval(row)}" for row in few]
        lines.append(f"Not tested over templates: {some(names, 6)}")
    hidden = sum(not row.is_suspect for row in rest) - len(few)
    if hidden and not full:
        lines.append(f"{hidden} more without a clear change: --full")
    for line in lines:
        yield Text([Words(line, "quiet" if line.endswith("--full") else "")])


def _margin(comparison: Comparison) -> str:
    return shown(comparison.choices.margin, quantity(comparison.headline.measure), signed=False)


def _not_inferior(row: Row) -> Words:
    """Return the p of being worse by the margin or more, with ✓ if that is ruled out."""
    if row.inferior_adjusted is None:
        return Words("")
    p = shown_p(row.inferior_adjusted)
    return Words(f"✓ {p}", "good") if row.not_inferior else Words(p, "quiet")


def _rate(row: Row, side: int) -> str:
    return shown(row.rates[side], quantity(row.measure))


def _signed(row: Row) -> str:
    return shown(row.difference, quantity(row.measure), signed=True)


def _interval(row: Row) -> str:
    if row.interval is None:
        return ""
    what = quantity(row.measure)
    return " to ".join(shown(end, what, signed=True) for end in row.interval)


def _detectable(row: Row) -> str:
    return "–" if row.mde is None else shown(row.mde, quantity(row.measure), signed=False)


def _tone(row: Row) -> Tone:
    if not row.significant or not _directed(row):
        return ""
    return "good" if row.is_better else "bad"


def _p(value: float | None) -> str:
    if value is None:
        return "unknown"
    text = shown_p(value)
    return f"< {text[1:]}" if text.startswith("<") else f"= {text}"


# The cases that changed


def _examples(comparison: Comparison) -> list[Block]:
    """Return a few newly failing cases of the row that lost most."""
    rows = comparison.by(comparison.finest) if comparison.finest else []
    rows = sorted(rows, key=lambda row: (not (row.significant and not row.is_better), -row.lost, row.name))
    if not rows or rows[0].facts.get("over") == RUNS or not rows[0].lost:
        return []
    row = rows[0]
    lost = [case for case, better in comparison.changed(row) if not better]
    title: Cell = [
        Words("Newly failing in " if _directed(row) else "Only A counts, in ", "strong"),
        Words(row.name, "bad"),
        f": {row.lost:,} of {row.n:,}",
    ]
    total = sum(other.gained + other.lost for other in rows)
    shown_cases = [_shown(comparison, case) for case in lost[:EXAMPLES]]
    return [CaseList(shown_cases, title, [f"All {total:,} changed cases: --changed"])]


def _shown(comparison: Comparison, case: Any, mark: str = "", tone: Tone = "") -> ShownCase:
    return ShownCase(case, None, expected_words(case), _answers(comparison, case), tone, mark)


def _answers(comparison: Comparison, case: Any) -> list[str]:
    """Return each side's answer to every example, if the results keep them."""
    position = next(p for p, other in enumerate(comparison.cases) if other is case)
    sides = [side[0].columns.get("said") for side in (comparison.a, comparison.b)]
    if not all(sides) or comparison.several_seeds:
        return []
    a, b = (side[position] for side in sides if side is not None)
    return [f"A {old}, B {new}" for old, new in zip(a, b, strict=True)]


def _every_change(comparison: Comparison) -> Iterator[Block]:
    """Return every case that changed, those of the rows that lost most first."""
    rows = comparison.by(comparison.finest) if comparison.finest else comparison.by("")
    for row in sorted(rows, key=lambda row: (-row.lost, -row.gained, row.name)):
        changes = comparison.changed(row)
        if changes:
            count = f"   {row.lost:,} newly failing, {row.gained:,} fixed"
            cases = [
                _shown(comparison, case, *(("fixed", "good") if up else ("newly failing", "bad")))
                for case, up in changes
            ]
            yield CaseList(cases, [Words(row.name, "strong"), Words(count, "quiet")])
    lost, gained = (sum(getattr(row, name) for row in rows) for name in ("lost", "gained"))
    yield Text([Words(f"{lost:,} cases newly fail in B, {gained:,} are fixed.", "quiet")])


# Caveats and provenance


def _caveats(comparison: Comparison) -> list[str]:
    """Return what could change the decision, the most important first."""
    lines = [
        f"! {side}: {check['name']}: {check['detail']}"
        for side, results in (("A", comparison.a), ("B", comparison.b))
        for result in results
        for check in result.job.get("checks", ())
        if check["ok"] is False and check["name"] in EXCUSED_CHECKS
    ]
    a, b = _overall(comparison).errors
    if a or b:
        lines.append(f"! A left {a:,} cases unanswered, B {b:,}. No difference includes them.")
    flagged = [row for row in comparison.by(comparison.finest) if row.applicability_differs]
    if flagged:
        names = [f"{row.name} ({_applies(row)})" for row in flagged]
        lines.append(f"! Tests apply to different shares of the cases: {some(names, NAMED)}.")
    if any("one against many" in row.facts for row in comparison.rows):
        lines.append("! One run against several: the test is by case, for these runs only.")
    elif comparison.several_seeds and min(len(comparison.a), len(comparison.b)) < ENOUGH_SEEDS:
        lines.append(
            f"! Fewer than {ENOUGH_SEEDS} runs a side: small differences between recipes stay hidden."
        )
    return lines


def _applies(row: Row) -> str:
    a, b = (100 * (share or 0) for share in row.applicability)
    return f"A {a:.0f} %, B {b:.0f} %"


def claim(comparison: Comparison) -> str:
    """Return the population that intervals, tests and marks speak about (`docs/method/beyond.md` 7.19)."""
    if comparison.several_seeds and min(len(comparison.a), len(comparison.b)) > 1:
        return f"new runs of these recipes on these cases ({len(comparison.a)} and {len(comparison.b)} runs)"
    new = "new templates" if comparison.choices.over == TEMPLATES else "new cases from the same templates"
    return f"{new}, these checkpoints"


def _provenance(comparison: Comparison) -> list[str]:
    """Return how the numbers were computed."""
    adjust = comparison.choices.adjust
    adjusted = (
        f"p adjusted by {ADJUSTMENTS[adjust]} within each level" if adjust != "none" else "p not adjusted"
    )
    tests = dict.fromkeys(row.test.split(" of ")[0] for row in comparison.rows if row.test)
    absent = [row.name for row in comparison.rows if row.difference is None]
    together = ", simultaneous within each level" if adjust == "bonferroni" else ""
    return [
        f"Claim: {claim(comparison)}.",
        f"95 % intervals{together}; tests: {', '.join(tests) or 'none'}; {adjusted}.",
        "Rates are on the cases that apply to both. Detectable drop: spread evenly over cases, 80 % power.",
        *([f"No common applicable case: {some(absent, 8)}."] if absent else []),
        *list(
            dict.fromkeys(
                f"{row.name}: {note_of(row)}." for row in comparison.rows if row.facts.get("over") == RUNS
            )
        )[:1],
    ]


def _of_templates(comparison: Comparison | None) -> list[str]:
    """Return the overall difference for new templates, next to the default claim."""
    if comparison is None or comparison.several_seeds:
        return []
    rows = [row for row in comparison.rows if "templates" in row.facts]
    if not rows:
        return []
    row = next((row for row in comparison.by("") if row in rows), rows[0])
    few = sum(TOO_FEW_TEMPLATES in other.facts for other in comparison.by(comparison.finest))
    number = f"{row.facts['templates']:,} templates, effective {row.facts['effective templates']:.1f}"
    counts = f"; too few templates in {few} of {len(comparison.by(comparison.finest))}" if few else ""
    return [f"For new templates: {_of(row)} {_signed(row)}{_with_interval(row)} ({number}){counts}."]


# For files


def _with_cases(row: Row, comparison: Comparison) -> Measure:
    """Return the difference of a row, so that a page can link it to its cases."""
    measure = difference_of(row, comparison)
    if row.facts.get("over") == RUNS:
        return measure
    return replace(measure, facts={**measure.facts, "mean over": "cases"})


def comparison_table(comparison: Comparison) -> Section:
    """Return every row in one table, for Markdown and LaTeX."""
    titles = ["", "level", "n", "A", "B", "diff", "95 % CI", "adjusted p", "newly failing", "fixed"]
    margin = comparison.choices.margin is not None
    titles += [f"p, worse by {_margin(comparison)}"] if margin else []
    columns = [Column(title, "left" if position < 2 else "right") for position, title in enumerate(titles)]
    rows = [
        TableRow(
            [
                Words(row.name, "" if row.level == comparison.finest else "strong"),
                row.level,
                str(row.n),
                _rate(row, 0),
                _rate(row, 1),
                _signed(row),
                _interval(row) or _no_interval(row),
                "–" if row.adjusted is None else shown_p(row.adjusted),
                str(row.lost),
                str(row.gained),
                *([_not_inferior(row)] if margin else []),
            ]
        )
        for row in comparison.rows
    ]
    return Section(blocks=[Table(columns, rows, name="comparison")], notes=[caption(comparison)])


def caption(comparison: Comparison) -> str:
    """Return what a reader of the table must know."""
    sides = (comparison.a, comparison.b)
    a, b = (", ".join(str(result.job.get("model", "")) for result in side) for side in sides)
    adjust = ADJUSTMENTS[comparison.choices.adjust]
    return (
        f"A: {a}. B: {b}. Rates in per cent on the cases that apply to both; differences in points, B minus A; "
        f"p: {adjust} within each level; claim: {claim(comparison)}."
    )


def rows_for_csv(comparison: Comparison) -> list[dict[str, Any]]:
    """Every row with every digit, fractions."""
    groups = list(dict.fromkeys(key for row in comparison.rows for key in row.groups))
    return [
        {
            "level": row.level,
            "name": row.name,
            "measure": row.measure,
            **{key: row.groups.get(key, "") for key in groups},
            "n": row.n,
            "A": row.rates[0],
            "B": row.rates[1],
            "difference": row.difference,
            "low": row.interval[0] if row.interval else None,
            "high": row.interval[1] if row.interval else None,
            "interval method": row.interval_method,
            "p value": row.p,
            "test": row.test,
            "adjusted p value": row.adjusted,
            "minimum detectable effect": row.mde,
            **(
                {}
                if comparison.choices.margin is None
                else {
                    "non-inferiority p value": row.inferior_p,
                    "adjusted non-inferiority p value": row.inferior_adjusted,
                }
            ),
            "fail to pass": row.gained,
            "pass to fail": row.lost,
            "applicability A": row.applicability[0],
            "applicability B": row.applicability[1],
            "not applicable": row.na,
            "errors A": row.errors[0],
            "errors B": row.errors[1],
            "note": note_of(row),
        }
        for row in comparison.rows
    ]
