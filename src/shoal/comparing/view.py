"""A comparison as sections: the answer, what got worse and better, suspects, and the cases that changed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..core.case_table import CaseTable
from ..core.errors import some
from ..core.measures import quantity, shown, shown_p
from ..core.records import Basis, Case, Result
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
from ..models import brief_spec
from . import wording
from .gate import USABLE, Verdict
from .inference import Row, tests_in
from .pairs import Comparison, compare, difference_of

ON_SCREEN, IN_PYTHON = ("--full", "--changed"), (".to_pandas()", ".changed()")
"""Where to find the rows, and the changed cases, that a view leaves out."""
EXAMPLES = 2
"""How many newly failing cases the short view shows."""
NOTES = 3
"""The number of caveats below the table."""


def comparison_sections(
    comparison: Comparison,
    *,
    changed: bool = False,
    full: bool = False,
    hints: tuple[str, str] = ON_SCREEN,
) -> list[Section]:
    """Return the comparison for reading; with `changed` every case that changed, with `full` every row."""
    if changed:
        return [Section(_heading(comparison), blocks=list(_every_change(comparison)))]
    table = _table(comparison, full=full)
    blocks: list[Block] = [table] if table.rows else []
    blocks += _suspects(comparison, full=full)
    hidden = sum(not row.is_suspect for row in _sorted(comparison)[2])
    if hidden and not full:
        verb = "is" if hidden == 1 else "are"
        text = f"{hidden} more without a clear change {verb} not shown: {hints[0]}"
        blocks.append(Text([Words(text, "quiet")]))
    blocks += _examples(comparison, hints[1])
    notes = wording.caveats(comparison)[: None if full else NOTES]
    if full:
        choices = replace(comparison.choices, over="templates", power=False)
        over = compare(comparison.a, comparison.b, choices)
        notes += [*wording.provenance(comparison), *wording.new_templates(over)]
    return [Section(_heading(comparison), _answer(comparison), blocks, notes)]


def comparison_text(comparison: Comparison) -> str:
    """Return the models, which side is better and how many rows changed, in a few lines."""
    heading, answer = (
        "".join(piece if isinstance(piece, str) else piece.text for piece in pieces).strip()
        for pieces in (_heading(comparison), _answer(comparison))
    )
    return f"<Comparison: {heading}>\n{answer}"


# The answer


def _heading(comparison: Comparison) -> list[Words]:
    """Return the two models and, on the next line, their cases."""
    pieces: list[Words] = []
    sides = [
        list(dict.fromkeys(str(result.job.get("model", "")) for result in results))
        for results in (comparison.a, comparison.b)
    ]
    if len({*map(brief_spec, sides[0]), *map(brief_spec, sides[1])}) == len({*sides[0], *sides[1]}):
        sides = [list(map(brief_spec, names)) for names in sides]
    for side, names, results in zip("AB", sides, (comparison.a, comparison.b), strict=True):
        runs = f" ({len(results)} runs)" if len(results) > 1 else ""
        pieces += [Words("    ")] if pieces else []
        pieces += [Words(f"{side} ", "quiet"), Words(f"{some(names, 3)}{runs}", "strong")]
    pieces.append(Words(f"\n{wording.about_cases(comparison.a[0])}\n", "quiet"))
    if differs := wording.differing_settings(comparison.a[0], comparison.b[0]):
        pieces.append(Words(f"A and B also differ in {differs}.\n", "doubt"))
    return pieces


def _answer(comparison: Comparison) -> list[Words | str]:
    """Return the first lines: is a side unusable, which side is better, how many rows changed."""
    pieces: list[Words | str] = [
        Words(f"{finding.text}\n", ("strong", "bad")) for finding in comparison.findings
    ]
    row = comparison.overall
    if row.difference is None:
        why = f"No difference: {row.reason}." if comparison.has_rates_only else ""
        return [*pieces, Words(why or "A and B have no applicable case in common.", "doubt")]
    contradiction = wording.disagreement(comparison)
    shown_rows = [row, comparison.headline] if contradiction else [row]
    about = "; ".join(f"{wording.both_sides(one)} ({wording.change_text(one)})" for one in shown_rows)
    lines = [_counted(comparison), _power(comparison)]
    tone: Tone = "doubt" if contradiction else row.change
    verdict = Words(f"{contradiction or wording.overall_verdict(row)}: ", ("strong", tone))
    return [*pieces, verdict, f"{about}\n", "\n".join(filter(None, lines))]


def _counted(comparison: Comparison) -> str:
    """Return how many rows of the finest level got worse, got better, and show no clear change."""
    if not comparison.finest:
        return ""
    worse, better, rest = _sorted(comparison)
    few = sum(row.has_few_templates for row in rest)
    unclear = len(rest) - few
    first = comparison.by(comparison.finest)[0]
    templates = f", {few} {'has' if few == 1 else 'have'} too few templates" if few else ""
    return (
        f"{wording.counted(len(worse), comparison.finest)} got {wording.direction_word(first, 'worse')}, "
        f"{len(better)} {wording.direction_word(first, 'better')}, "
        f"{unclear} {'shows' if unclear == 1 else 'show'} no clear change{templates}."
        + (f" Worst: {worse[0].name} {wording.difference_text(worse[0])}." if worse else "")
    )


def _power(comparison: Comparison) -> str:
    """Return the minimum detectable drop, one number per level."""
    row, finest = comparison.overall, comparison.finest
    drops = [(row.mde, f"in the {wording.measure_name(row)}")]
    drops += [(comparison.detectable(finest), f"in a typical {finest}")] if finest else []
    what = quantity(row.measure)
    parts = [
        f"{shown(drop, what, signed=False)}{wording.unit(row)} {where}"
        for drop, where in drops
        if drop is not None
    ]
    return f"The minimum detectable drop is {', '.join(parts)} (80 % power)." if parts else ""


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


def _table(comparison: Comparison, *, full: bool) -> Table:
    """Return the overall measures and the marked rows, or every row; the finest level first, its worst rows on top."""
    worse, better, rest = _sorted(comparison)
    finest = comparison.finest
    undefined = [row for row in comparison.by(finest) if finest and row.difference is None]
    between = [row for row in comparison.rows if row.level not in ("", finest)]
    rows = [*comparison.by(""), *worse, *better, *rest, *undefined, *between]
    rows = [row for row in rows if full or not row.level or (row.significant and row.difference)]
    # Counts of passing cases say nothing about refusals, nor about fractional scores.
    has_direction, several = comparison.overall.has_direction, comparison.several_seeds
    counted = [
        row
        for row in rows
        if row.is_paired and row.has_direction == has_direction and (several or row.fractional is None)
    ]
    changes = ("newly failing", "fixed") if has_direction else ("only A", "only B")
    columns = [
        Column("", "left"),
        Column("", "left"),
        *[Column(title) for title in ("A", "B", "diff", "95 % CI")],
        *[Column(title) for title in changes if counted],
        *[Column(title, spare=True) for title in ("n", "p (adj.)", "detectable drop") if full],
    ]

    def line(row: Row) -> TableRow:
        difference = difference_of(row, comparison)
        if row.is_paired:  # a page links it to its cases
            difference = replace(difference, basis=Basis("cases"))
        name = row.name if row.level in ("", finest) else f"{row.level}: {row.name}"
        cells: list[Cell] = [
            Words(row.mark, row.change),
            Words(name, row.change),
            wording.rate_text(row, 0),
            wording.rate_text(row, 1),
            Number(difference, row.change),
            Words(wording.interval_text(row), "quiet"),
        ]
        if counted and row not in counted:
            cells += ["", ""]
        elif counted:
            lost = Words(f"{row.lost:,}", "bad" if row.lost and row.change == "bad" else "quiet")
            cells += [lost, Words(f"{row.gained:,}", "quiet")]
        if full:
            cells += [Words(f"{row.n:,}", "quiet"), "–" if row.adjusted is None else shown_p(row.adjusted)]
            cells.append(Words(shown(row.mde, quantity(row.measure), signed=False), "quiet"))
        return TableRow(cells)

    return Table(columns, [line(row) for row in rows])


def _suspects(comparison: Comparison, *, full: bool) -> list[Block]:
    """Return a line per level with the rows whose interval excludes zero although they are not significant."""
    finest = comparison.finest
    lines: list[Block] = []
    for level in dict.fromkeys([finest, *(row.level for row in comparison.rows if row.level)]):
        suspects = [row for row in comparison.by(level) if level and row.is_suspect]
        names = [
            f"{'' if level == finest else f'{level} '}{row.name} "
            f"{wording.difference_text(row)} ({wording.interval_text(row)})"
            for row in sorted(suspects, key=lambda row: -abs(row.difference or 0.0))
        ]
        if names:
            text = (
                f"Perhaps changed: the interval excludes zero, but {tests_in(comparison.rows, level)} rows were "
                f"tested, too many to be sure: {some(names, len(names) if full else 6)}"
            )
            lines.append(Text([Words(text)]))
    return lines


# The cases that changed


def _examples(comparison: Comparison, hint: str) -> list[Block]:
    """Return a few newly failing cases of the row that lost most."""
    rows = comparison.by(comparison.finest) if comparison.finest else []
    rows = sorted(rows, key=lambda row: (not (row.significant and not row.is_better), -row.lost, row.name))
    if not rows or not rows[0].is_paired or not rows[0].lost:
        return []
    row = rows[0]
    lost = [change for change in comparison.changed(row) if not change[1]]
    title: Cell = [
        Words("Newly failing in " if row.has_direction else "Only A counts, in ", "strong"),
        Words(row.name, "bad"),
        f": {row.lost:,} of {row.n:,}",
    ]
    total = sum(other.gained + other.lost for other in rows)
    return [CaseList(_shown(comparison, lost[:EXAMPLES]), title, [f"All {total:,} changed cases: {hint}"])]


def _shown(
    comparison: Comparison, changes: Sequence[tuple[Case, bool]], *, marked: bool = False
) -> list[ShownCase]:
    """Return changed cases with each side's answers, if the results keep them."""
    wanted = {case.id for case, _ in changes}
    answers: list[dict[str, Sequence[str]]] = [
        {
            name: said
            for name, said in zip(CaseTable.of(side.cases).ids, side.columns.get("said", ()), strict=False)
            if name in wanted
        }
        for side in (comparison.a[0], comparison.b[0])
        if not comparison.several_seeds
    ]
    shown_cases = []
    for case, is_fixed in changes:
        pairs = zip(*(side.get(case.id, ()) for side in answers), strict=False)
        words = [f"A {old}, B {new}" for old, new in pairs]
        tone: Tone = "" if not marked else "good" if is_fixed else "bad"
        mark = "" if not marked else "fixed" if is_fixed else "newly failing"
        shown_cases.append(ShownCase(case, None, expected_words(case), words, tone, mark))
    return shown_cases


def _every_change(comparison: Comparison) -> Iterator[Block]:
    """Return every case that changed, those of the rows that lost most first."""
    rows = comparison.by(comparison.finest) if comparison.finest else comparison.by("")
    for row in sorted(rows, key=lambda row: (-row.lost, -row.gained, row.name)):
        changes = comparison.changed(row)
        if changes:
            count = f"   {row.lost:,} newly failing, {row.gained:,} fixed"
            cases = _shown(comparison, changes, marked=True)
            yield CaseList(cases, [Words(row.name, "strong"), Words(count, "quiet")])


# For files


def comparison_table(comparison: Comparison) -> Section:
    """Return every row in one table, for LaTeX."""
    return Section(
        _heading(comparison), blocks=[_table(comparison, full=True)], notes=wording.provenance(comparison)
    )


def rows_for_csv(comparison: Comparison) -> list[dict[str, Any]]:
    """Return every row with all digits; rates are fractions."""
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
            "interval method": row.method,
            "p value": row.p,
            "test": row.test,
            "adjusted p value": row.adjusted,
            "minimum detectable effect": row.mde,
            "fail to pass": row.gained,
            "pass to fail": row.lost,
            "applicability A": row.applicability[0],
            "applicability B": row.applicability[1],
            "not applicable": row.na,
            "errors A": row.errors[0],
            "errors B": row.errors[1],
            "note": wording.row_note(row),
        }
        for row in comparison.rows
    ]


# Gates


FAILED, TIGHTEST = 20, 3
"""How many failed, and how many passed, things of one rule are listed."""


def verdict_sections(
    verdicts: Sequence[Verdict], result: Result, *, every: bool = False, code: bool = False
) -> list[Section]:
    """Return the verdict, a line for each group that failed, worst first, and the groups that passed most narrowly.

    With `every`, list all; with `code`, name the exit code of the command.
    """
    rules = list({id(verdict.rule): verdict.rule for verdict in verdicts}.values())
    answer, is_met = gate_verdict(verdicts)
    ending = f" (exit code {0 if is_met else 3})." if code else "."
    rows: list[TableRow] = []
    for met, most, went in ((False, FAILED, "failed"), (True, TIGHTEST, "passed")):
        # What could not be judged comes last.
        some_verdicts = sorted(
            (verdict for verdict in verdicts if verdict.is_met is met),
            key=lambda verdict: (verdict.judged is None, verdict.room),
        )
        for rule in rules:
            of_rule = [verdict for verdict in some_verdicts if verdict.rule is rule]
            most = len(of_rule) if every else most
            rows += [_verdict_row(verdict) for verdict in of_rule[:most]]
            if len(of_rule) > most:
                where = "".join(f" in {value}" for value in rule.groups.values() if value != "*")
                more = Words(f"… {len(of_rule) - most} more {went}{where}: --full", "quiet")
                rows.append(TableRow(["", more, "", "", ""]))
    notes = [f"! {check}" for check in wording.excused_checks(result)] + wording.uncompared(result)
    columns = [Column(title, "left") for title in ("", "", "observed", "limit", "")]
    columns[2] = Column("observed")
    text = [Words(f"{answer}{ending}", ("strong", "good" if is_met else "bad"))]
    return [Section(text=text, blocks=[Table(columns, rows)], notes=notes[:NOTES])]


def gate_verdict(verdicts: Sequence[Verdict]) -> tuple[str, bool]:
    """Return whether a gate is met, in words and as a fact."""
    given = [verdict for verdict in verdicts if verdict.measure.name != USABLE]
    missed = {id(verdict.rule) for verdict in given if not verdict.is_met}
    count = len({id(verdict.rule) for verdict in given})
    total = f"{count} rule{'' if count == 1 else 's'}"
    if len(given) < len(verdicts):
        return f"Gate not met: the model is unusable; {len(missed)} of {total} failed", False
    if missed:
        return f"Gate not met: {len(missed)} of {total} failed", False
    return f"Gate met: {total} passed", True


def _verdict_row(verdict: Verdict) -> TableRow:
    is_met, limit = verdict.is_met, Words(wording.short_limit(verdict), "quiet")
    mark = "" if verdict.status == "passed over" else Words("✓", "good") if is_met else Words("✗", "bad")
    name = Words(verdict.name, "" if is_met else "bad")
    reason = Words(verdict.reason, "quiet" if is_met else "")
    return TableRow([mark, name, wording.observed(verdict), limit, reason])


def verdict_as_json(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as the gate's JSON object shows it."""
    rule, row = verdict.rule, verdict.measure
    return {
        "rule": str(rule),
        "measure": row.of or row.name,
        "groups": dict(row.groups),
        "status": verdict.status,
        "met": verdict.is_met,
        "limit": -rule.limit if rule.is_relative else rule.limit,
        "judge": rule.judge,
        "judged": verdict.judged,
        "value": row.value,
        "interval": list(row.interval) if row.interval else None,
        "n": row.n,
        "reason": verdict.reason,
    }
