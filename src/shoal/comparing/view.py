"""A comparison, or verdicts, as sections: the answer in a sentence, then worse, better and undecided, what changed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import floor, log10
from pathlib import PurePath
from typing import Any

from ..claims import ALPHA, ENOUGH_SEEDS, FEW_TEMPLATES, OF_FEW_TEMPLATES, THESE_TEMPLATES
from ..errors import some
from ..measures import quantity, shown, shown_p
from ..protocols.base import differing
from ..records import Finding, Measure, Result
from ..views import (
    Block,
    CaseList,
    Cell,
    Column,
    Number,
    Section,
    ShownCase,
    Strips,
    Table,
    Text,
    Tone,
    Words,
    expected_words,
)
from ..views import Row as TableRow
from .judge import Status, Verdict, findings_of
from .junit import number
from .pairs import Comparison, difference_of
from .rows import ADJUSTMENTS, RUNS, Row, note_of

EXAMPLES = 2
"""How many newly failing cases are shown unless all are asked for."""
COMPARED = "compared"
"""The kind of what a page says first: no more than stands in its table."""
NAMED, DRAWN = 3, 40
"""How many rows a finding of a page names, and how many its picture has."""
COULD_SEE = (
    "could see: minimum detectable effect, found 8 times in 10 at the level of this table; "
    "nothing: none can be promised"
)
NO_TEST = "p: none, and nothing could be seen: no test compares one run with several"


# Comparisons


def comparison_sections(comparison: Comparison, *, changed: bool = False) -> list[Section]:
    """The whole of a comparison, or with `changed` every case that changed."""
    if changed:
        return [Section(_heading(comparison), blocks=list(_every_change(comparison)))]
    return [
        Section(
            _heading(comparison),
            _sentence(comparison),
            [_table(comparison), *_examples(comparison)],
            _footnotes(comparison),
            _warnings(comparison),
        )
    ]


# On a page


def comparison_findings(comparison: Comparison) -> list[Finding]:
    """What a page says first: the whole, what got worse, what got better."""
    whole = comparison.headline
    told = "".join(
        piece if isinstance(piece, str) else getattr(piece, "text", "") for piece in _sentence(comparison)
    )
    findings = [Finding(COMPARED, told.strip(), (_with_cases(whole, comparison),), 3.0)]
    worse, better, _ = _sorted(comparison)
    for word, rows in (("worse", worse), ("better", better)):
        if rows:
            names = [f"{row.name} by {_apart(row)}" for row in rows]
            few = sum(THESE_TEMPLATES in row.facts for row in rows)
            how_many = "all of them" if few == len(rows) else f"{few} of them"
            reach = f"; {how_many} for new fillings of few templates only" if few else ""
            text = f"{_word(comparison, word).capitalize()} in B: {some(names, NAMED)}{reach}."
            rests_on = tuple(_with_cases(row, comparison) for row in rows)
            findings.append(Finding(COMPARED, text, rests_on, 2.0))
    return findings


def _apart(row: Row) -> str:
    return f"{shown(abs(row.difference or 0.0), quantity(row.measure), signed=False)}{_unit(row)}"


def difference_strips(comparison: Comparison) -> list[Block]:
    """The differences on one scale, each with its interval: worse, better, undecided, the largest first."""
    worse, better, undecided = _sorted(comparison)
    rows = [row for row in (*worse, *better, *undecided) if row.gained or row.lost or row.significant][:DRAWN]
    if len(rows) < 2:
        return []
    measures = [_with_cases(row, comparison) for row in rows]
    ends = [abs(end) for measure in measures for end in (measure.value or 0.0, *(measure.interval or ()))]
    reach = _round_up(max(ends))
    legend = "dot: B minus A; bar: its 95 % interval; in the middle: no difference"
    drawn = [(row.name, [measure]) for row, measure in zip(rows, measures, strict=True)]
    return [Strips(drawn, (-reach, reach), 0.0, f"B minus A, by {comparison.finest}", legend=[legend])]


def _round_up(value: float) -> float:
    """The next of 1, 2 and 5 with noughts.

    >>> _round_up(0.034), _round_up(0.5), _round_up(7.0)
    (0.05, 0.5, 10.0)
    """
    power = 10.0 ** floor(log10(value)) if value > 0 else 1.0
    return next((factor * power for factor in (1, 2, 5) if factor * power >= value), 10 * power)


def _with_cases(row: Row, comparison: Comparison) -> Measure:
    """The difference of a row; from a page one gets to its cases."""
    measure = difference_of(row, comparison)
    if row.facts.get("over") == RUNS:
        return measure
    return replace(measure, facts={**measure.facts, "mean over": "cases"})


def _heading(comparison: Comparison) -> list[Words]:
    pieces = []
    for side, results in (("A", comparison.a), ("B", comparison.b)):
        for position, result in enumerate(results, start=1):
            seed = f"seed {position}  " if len(results) > 1 else ""
            pieces += [Words(f"{side}  ", "strong" if position == 1 else "quiet"), Words(seed, "quiet")]
            pieces.append(Words(f"{result.job.get('model', '')}\n", "strong"))
    return [*pieces, Words(f"{about_cases(comparison.a[0])}\n", "quiet")]


def about_cases(result: Result) -> str:
    """What was asked and under which settings, those that differ from the profile's."""
    settings = result.settings
    unusual = {} if settings is None else differing(settings)
    words = [
        f"{name} {' / '.join(value) if isinstance(value, tuple) else PurePath(str(value)).name}"
        for name, value in unusual.items()
        if (isinstance(value, str | int | float) and not isinstance(value, bool))
        or (isinstance(value, tuple) and all(isinstance(word, str) for word in value))
    ]
    profile = getattr(settings, "profile", "")
    parts = [str(result.job.get("protocol", "")), *words, f"{len(result.cases):,} cases"]
    return ", ".join(filter(None, [*parts, f"profile {profile}" if profile else ""]))


def _sentence(comparison: Comparison) -> list[Words | Number | str]:
    """What a reader in a hurry takes away."""
    row = comparison.headline
    if row.difference is None:
        return [Words("A and B have no applicable case in common.\n", "doubt")]
    direction = quantity(row.measure).direction
    size = f"{shown(abs(row.difference), quantity(row.measure), signed=False)}{_unit(row)}"
    pieces: list[Words | Number | str] = []
    if row.significant:
        more = row.difference > 0
        tone: Tone = "" if direction not in ("higher", "lower") else "good" if _is_better(row) else "bad"
        pieces.append(
            Words(
                f"The {_of(row)} is {size} {'higher' if more else 'lower'} in B than in A", tone or "strong"
            )
        )
        pieces.append(f" ({_interval(row)}), p {_p(row.p)}{_beside(comparison)}")
    elif not row.gained and not row.lost and row.facts.get("over") != RUNS:
        pieces.append(Words("A and B pass the same cases", "strong"))
    else:
        pieces.append(Words(f"No difference shown in the {_of(row)}", "strong"))
        p = f", p {_p(row.p)}{_beside(comparison)}" if row.p is not None else ""
        pieces.append(f": {_signed(row)}{_unit(row)} ({_interval(row) or 'no interval'}){p}")
        pieces.append(
            f"; one of {_detectable(row)} would mostly have been found" if row.mde is not None else ""
        )
    pieces += _about_margin(comparison)
    worse, better, undecided = _sorted(comparison)
    if comparison.finest:
        pieces += [f". By {comparison.finest}: "]
        pieces += [Words(f"{_word(comparison, 'worse')} in {len(worse)}", "bad" if worse else "quiet"), ", "]
        pieces += [
            Words(f"{_word(comparison, 'better')} in {len(better)}", "good" if better else "quiet"),
            ", ",
        ]
        pieces += [Words(f"no difference shown in {len(undecided)}", "quiet")]
    return [*pieces, ".\n"]


def _beside(comparison: Comparison) -> str:
    """Beside the headline's own p that of the table, which is adjusted for all its rows, where they differ."""
    row = comparison.headline
    if row.p is None or row.adjusted is None or shown_p(row.p) == shown_p(row.adjusted):
        return ""
    return f" by itself, {_p(row.adjusted)} adjusted for every row"


def _about_margin(comparison: Comparison) -> list[Words | Number | str]:
    """Whether the headline is shown to be worse by less than the margin; its own p, of one question."""
    p = comparison.headline.inferior_p
    if p is None:
        return []
    size = f"{_margin(comparison)}{_unit(comparison.headline)}"
    if p <= ALPHA / 2:
        return ["; ", Words(f"B is not worse by {size} or more", "good"), f", one-sided p {_p(p)}"]
    return ["; ", Words(f"not shown that B is worse by less than {size}", "doubt"), f", one-sided p {_p(p)}"]


def _of(row: Row) -> str:
    return row.measure + (f" {'at' if row.level == 'threshold' else 'of'} {row.name}" if row.level else "")


def _unit(row: Row) -> str:
    return " points" if quantity(row.measure).unit == "share" else ""


def _word(comparison: Comparison, word: str) -> str:
    """Better and worse, where the measure has a better way; else higher and lower."""
    directed = quantity(comparison.by(comparison.finest)[0].measure).direction in ("higher", "lower")
    return word if directed else {"worse": "lower", "better": "higher"}[word]


def _warnings(comparison: Comparison) -> list[str]:
    """What makes the numbers less than they seem; most comparisons have none."""
    lines = [finding.text for finding in comparison.findings]
    for side, results in (("A", comparison.a), ("B", comparison.b)):
        for result in results:
            lines += [
                f"{side}: {check['name']}: {check['detail']}"
                for check in result.job.get("checks", ())
                if check["ok"] is False
            ]
    a, b = comparison.headline.errors
    if a or b:
        lines.append(f"no answer to {a:,} cases by A and {b:,} by B: they are left out of every difference")
    flagged = [row for row in comparison.by(comparison.finest) if row.applicability_differs]
    for row in flagged[:3]:
        shares = [100 * (share or 0) for share in row.applicability]
        lines.append(
            f"{row.name}: applies to {shares[0]:.0f} % of the cases for A and {shares[1]:.0f} % for B; "
            "only the common ones are compared"
        )
    if len(flagged) > 3:
        lines.append(f"applicability differs by more than 10 points in {len(flagged) - 3} more")
    return lines


def _sorted(comparison: Comparison) -> tuple[list[Row], list[Row], list[Row]]:
    """Rows of the finest level: worse in B, better in B, undecided; the largest difference first."""
    rows = comparison.by(comparison.finest) if comparison.finest else []
    known = [row for row in rows if row.difference is not None]
    ranked = sorted(known, key=lambda row: (-abs(row.difference or 0.0), row.name))
    decided = [row for row in ranked if row.significant and row.difference]
    return (
        [row for row in decided if not _is_better(row)],
        [row for row in decided if _is_better(row)],
        [row for row in ranked if row not in decided],
    )


def _is_better(row: Row) -> bool:
    """Whether B is better; where neither way is, whether it is higher."""
    return ((row.difference or 0) > 0) != (quantity(row.measure).direction == "lower")


# The table


def _table(comparison: Comparison) -> Table:
    columns: list[tuple[Column, Callable[[Row], Cell]]] = [
        (Column("A", spare=True), lambda row: _rate(row, 0)),
        (Column("B"), lambda row: _rate(row, 1)),
        (Column("B − A"), lambda row: Number(_with_cases(row, comparison), _tone(row))),
        (Column("95 % interval"), lambda row: Words(_marked_interval(row), "quiet")),
        (Column("adj. p"), lambda row: "–" if row.adjusted is None else shown_p(row.adjusted)),
        (Column("could see"), lambda row: Words("" if row.significant else _detectable(row), "quiet")),
        (Column("better", spare=True), lambda row: Words(f"{row.gained:,}" if row.gained else "·", "quiet")),
        (Column("worse", spare=True), lambda row: _lost(row)),
    ]
    if any(any(row.errors) for row in comparison.rows):
        errors = lambda row: Words("{:,} / {:,}".format(*row.errors) if any(row.errors) else "", "quiet")  # noqa: E731
        columns.append((Column("errors"), errors))
    if comparison.choices.margin is not None:
        columns.append((Column(f"not −{_margin(comparison)}"), _not_inferior))
    columns.append((Column("n", spare=True), lambda row: Words(f"{row.n:,}", "quiet")))
    rows = list(_rows(comparison, [cell for _, cell in columns]))
    unit = "points" if quantity(comparison.headline.measure).unit == "share" else "its own unit"
    heads = [Column("", "left"), Column(f"B minus A, in {unit}", "left"), *(column for column, _ in columns)]
    return Table(heads, rows)


def _rows(comparison: Comparison, cells: Sequence[Callable[[Row], Cell]]) -> Iterator[TableRow]:
    def line(row: Row, name: str, mark: str = "", tone: Tone = "") -> TableRow:
        return TableRow([Words(mark, tone), Words(name, tone), *(cell(row) for cell in cells)])

    def block(
        title: str, rows: Sequence[Row], tone: Tone, marks: tuple[str, str] = ("", ""), more: int = 0
    ) -> Iterator[TableRow]:
        if rows:
            yield TableRow()
            yield TableRow(["", Words(f"{title} ({len(rows) + more})", tone or "strong")])
            for row in rows:
                yield line(row, row.name, marks[THESE_TEMPLATES in row.facts], tone)
            if more:
                yield TableRow(["", Words(f"… {more} more: no case changed", "quiet")])

    for row in comparison.by(""):
        yield line(row, row.name, tone="strong")
    between = dict.fromkeys(row.level for row in comparison.rows if row.level not in ("", comparison.finest))
    short = [level for level in between if 1 < len(comparison.by(level)) <= 4]
    for level in short:
        for row in comparison.by(level):
            yield line(row, f"all {row.name}", tone=_tone(row))
    worse, better, undecided = _sorted(comparison)
    yield from block(f"{_word(comparison, 'worse')} in B", worse, "bad", ("▼", "▽")) if worse else ()
    yield from block(f"{_word(comparison, 'better')} in B", better, "good", ("▲", "△")) if better else ()
    moved = [row for row in undecided if row.facts.get("over") == RUNS or row.gained or row.lost]
    yield from block("no difference shown", moved, "", more=len(undecided) - len(moved))
    for level in between:
        if level not in short:
            yield from block(f"by {level}", comparison.by(level), "")


def _margin(comparison: Comparison) -> str:
    return shown(comparison.choices.margin, quantity(comparison.headline.measure), signed=False)


def _not_inferior(row: Row) -> Words:
    """The p of being worse by the margin or more, with a mark where that is ruled out."""
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


def _marked_interval(row: Row) -> str:
    """The interval, with a mark where it is for these templates only."""
    return (
        f"{FEW_TEMPLATES} {_interval(row)}"
        if THESE_TEMPLATES in row.facts and row.interval
        else _interval(row)
    )


def _detectable(row: Row) -> str:
    if row.facts.get("over") == RUNS:
        return ""
    return "nothing" if row.mde is None else shown(row.mde, quantity(row.measure), signed=False)


def _lost(row: Row) -> Words:
    loud = row.lost and row.significant and not _is_better(row)
    return Words(f"{row.lost:,}" if row.lost else "·", "bad" if loud else "quiet")


def _tone(row: Row) -> Tone:
    if not row.significant or quantity(row.measure).direction not in ("higher", "lower"):
        return ""
    return "good" if _is_better(row) else "bad"


def _p(value: float | None) -> str:
    if value is None:
        return "unknown"
    text = shown_p(value)
    return f"< {text[1:]}" if text.startswith("<") else f"= {text}"


# What changed


def _examples(comparison: Comparison) -> list[Block]:
    """Newly failing cases of the row that lost most, a few."""
    rows = comparison.by(comparison.finest) if comparison.finest else []
    rows = sorted(rows, key=lambda row: (not (row.significant and not _is_better(row)), -row.lost, row.name))
    if not rows or rows[0].facts.get("over") == RUNS:
        return []
    if not rows[0].lost:
        return [Text([Words("No case that A passes fails in B.", "good")])]
    row = rows[0]
    lost = [case for case, better in comparison.changed(row) if not better]
    title: Cell = [
        Words("Newly failing", "strong"),
        ", most in ",
        Words(row.name, "bad"),
        f": {row.lost:,} cases",
    ]
    total = sum(other.gained + other.lost for other in rows)
    shown_cases = [_shown(comparison, case) for case in lost[:EXAMPLES]]
    return [CaseList(shown_cases, title, [f"all {total:,} changed cases: --changed"])]


def _shown(comparison: Comparison, case: Any, mark: str = "", tone: Tone = "") -> ShownCase:
    return ShownCase(case, None, expected_words(case), _answers(comparison, case), tone, mark)


def _answers(comparison: Comparison, case: Any) -> list[str]:
    """What each side said of every example, where that is known."""
    position = next(p for p, other in enumerate(comparison.cases) if other is case)
    sides = [side[0].columns.get("said") for side in (comparison.a, comparison.b)]
    if not all(sides) or comparison.several_seeds:
        return []
    a, b = (side[position] for side in sides if side is not None)
    return [f"A {old}, B {new}" for old, new in zip(a, b, strict=True)]


def _every_change(comparison: Comparison) -> Iterator[Block]:
    """Every case that changed, those of the rows that lost most first."""
    rows = comparison.by(comparison.finest) if comparison.finest else comparison.by("")
    for row in sorted(rows, key=lambda row: (-row.lost, -row.gained, row.name)):
        changes = comparison.changed(row)
        if changes:
            count = f"   {row.lost:,} newly failing, {row.gained:,} newly passing"
            cases = [
                _shown(comparison, case, *(("▲", "good") if up else ("▼", "bad"))) for case, up in changes
            ]
            yield CaseList(cases, [Words(row.name, "strong"), Words(count, "quiet")])
    lost, gained = (sum(getattr(row, name) for row in rows) for name in ("lost", "gained"))
    yield Text([Words(f"{lost:,} cases newly fail in B, {gained:,} newly pass", "quiet")])


# What the numbers mean


def claim(a: Sequence[Result], b: Sequence[Result]) -> str:
    """How far the numbers reach, in words (`docs/method/beyond.md` 7.19)."""
    if len(a) + len(b) == 2:
        return "on new cases of these groups, this checkpoint only: one seed a side"
    if min(len(a), len(b)) == 1:
        return "on new cases, these very runs: one run against several, so nothing is known of the recipe of the one"
    seeds = f"{len(a)} and {len(b)} seeds"
    if min(len(a), len(b)) < ENOUGH_SEEDS:
        return f"on new cases, {seeds}: fewer than {ENOUGH_SEEDS} a side support no claim about the recipe"
    return f"for this training recipe, on new cases: {seeds}"


def _footnotes(comparison: Comparison) -> list[str]:
    tests = [row.test for row in comparison.rows if row.p is not None]
    adjust = comparison.choices.adjust
    adjusted = (
        f"adjusted for {len(tests)} comparisons ({ADJUSTMENTS[adjust]})"
        if adjust != "none"
        else "not adjusted"
    )
    rows = comparison.by(comparison.finest) if comparison.finest else []
    same = [
        f"{row.name} ({_detectable(row)})"
        for row in _sorted(comparison)[2]
        if not row.gained and not row.lost and row.facts.get("over") != RUNS
    ]
    few = [row.name for row in rows if "few cases" in row.facts]
    absent = [row.name for row in rows if row.difference is None]
    applies = [
        f"{row.name} {' / '.join(f'{100 * _share(share):.1f}' for share in row.applicability)}"
        for row in rows
        if row.n and min(map(_share, row.applicability)) < 1
    ]
    return [
        claim(comparison.a, comparison.b),
        *(
            [NO_TEST]
            if comparison.several_seeds and not tests
            else [f"p: {_how(comparison)}; {adjusted}", COULD_SEE]
        ),
        _of_intervals(comparison),
        *_of_templates(comparison),
        *_of_margin(comparison),
        "rates are on the cases that apply to both",
        *([f"no case changed, in brackets what could have been seen: {', '.join(same)}"] if same else []),
        *([f"applies to part of the cases, A / B in %: {some(applies)}"] if applies else []),
        *([f"no case that applies to both: {', '.join(absent)}"] if absent else []),
        *([f"few cases, read with care: {', '.join(few)}"] if few else []),
        *(
            [
                f"not paired by case: {note_of(row)}"
                for row in comparison.rows
                if row.facts.get("over") == RUNS
            ][:1]
        ),
    ]


def _of_intervals(comparison: Comparison) -> str:
    if comparison.choices.adjust == "bonferroni":
        return "intervals: all rows together in 95 of 100 comparisons; they leave out 0 where a row is marked"
    return "intervals: each for its own row; for all rows together: --adjust bonferroni"


def _of_templates(comparison: Comparison) -> list[str]:
    """What † and the hollow marks say, where there are any."""
    few = [row for row in comparison.rows if THESE_TEMPLATES in row.facts]
    hollow = any(row.significant and row.level == comparison.finest for row in few)
    return [OF_FEW_TEMPLATES + ("; ▽ △ marked on those only" if hollow else "")] if few else []


def _of_margin(comparison: Comparison) -> list[str]:
    rows = [row for row in comparison.rows if row.inferior_adjusted is not None]
    if not rows:
        return []
    adjust = comparison.choices.adjust
    how = {"none": "not adjusted", "bonferroni": "Bonferroni"}.get(adjust, "Holm")
    margin = _margin(comparison)
    return [
        f"not −{margin}: p of being worse by {margin}{_unit(comparison.headline)} or more, one-sided "
        f"({how} over {len(rows)}); ✓ at most .025"
    ]


def _how(comparison: Comparison) -> str:
    if comparison.several_seeds:
        return "t over seeds beside cases"
    how = "exact paired tests of the cases that changed"
    clustered = any("clusters" in row.test for row in comparison.rows)
    how += ", whole templates of them where there are enough" if clustered else ""
    return how + f"; of means, {comparison.choices.shuffles:,} random sign flips"


def _share(value: float | None) -> float:
    return 1.0 if value is None else value


# The table for files


def comparison_table(comparison: Comparison) -> Section:
    """Every row in one table, for Markdown and LaTeX."""
    titles = ["", "level", "n", "A", "B", "B − A", "95 % interval", "p", "MDE", "better", "worse"]
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
                _marked_interval(row),
                "–" if row.adjusted is None else shown_p(row.adjusted),
                "–" if row.mde is None or row.significant else _detectable(row),
                str(row.gained),
                str(row.lost),
                *([_not_inferior(row)] if margin else []),
            ]
        )
        for row in comparison.rows
    ]
    return Section(blocks=[Table(columns, rows, name="comparison")], notes=[caption(comparison)])


def caption(comparison: Comparison) -> str:
    """What a reader of the table must know."""
    sides = (comparison.a, comparison.b)
    a, b = (", ".join(str(result.job.get("model", "")) for result in side) for side in sides)
    scope = "several seeds" if comparison.several_seeds else "this checkpoint only"
    scope = "; ".join([scope, *_of_templates(comparison)])
    return (
        f"A: {a}. B: {b}. Rates in per cent on the cases that apply to both; differences in points, B minus A; "
        f"p: {ADJUSTMENTS[comparison.choices.adjust]}; MDE: smallest difference found 8 times in 10; {scope}."
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


# Verdicts


TONES: dict[Status, Tone] = {
    "met": "good",
    "failed": "bad",
    "error": "bad",
    "undefined": "bad",
    "passed over": "quiet",
}
MARKS: dict[Status, str] = {"met": "✓", "failed": "✗", "error": "✗", "undefined": "✗", "passed over": "·"}
TIGHTEST = 3


def verdict_sections(verdicts: Sequence[Verdict], result: Result) -> list[Section]:
    """The rules that are not met, each with its numbers, then a summary; where all are, the tightest few."""
    failed = [verdict for verdict in verdicts if not verdict.is_met]
    over = sum(verdict.status == "passed over" for verdict in verdicts)
    aside = f", {over} passed over: no applicable case" if over else ""
    warnings = [
        f"{check['name']}: {check['detail']}"
        for check in result.job.get("checks", ())
        if check["ok"] is False
    ] + [finding.text for finding in findings_of(verdicts)]
    if failed:
        words = Words(f"Gate not met: {len(failed)} of {len(verdicts)} checks failed{aside}.", "bad")
        return [Section(blocks=[_verdicts(failed), Text([words])], warnings=warnings)]
    judged = [verdict for verdict in verdicts if verdict.judged is not None]
    tightest = sorted(judged, key=lambda verdict: verdict.room)[:TIGHTEST]
    more = " The tightest are shown." if len(judged) > len(tightest) else ""
    words = Words(f"Gate met: {len(judged)} checks{aside}.{more}", "good")
    return [Section(blocks=[*([_verdicts(tightest)] if tightest else []), Text([words])], warnings=warnings)]


def _verdicts(verdicts: Sequence[Verdict]) -> Table:
    columns = [
        Column("", "left"),
        Column("what", "left"),
        Column("found"),
        Column("n"),
        Column("wanted", "left"),
        Column("", "left"),
    ]
    return Table(columns, [TableRow(_verdict_cells(verdict)) for verdict in verdicts])


def _verdict_cells(verdict: Verdict) -> list[Cell]:
    tone = TONES[verdict.status]
    return [
        Words(MARKS[verdict.status], tone),
        Words(verdict.name, "" if verdict.is_met else tone),
        "error" if verdict.status == "error" else number(verdict.measure),
        Words(f"{verdict.measure.n:,}", "quiet"),
        bound(verdict),
        Words(verdict.reason, "quiet"),
    ]


def bound(verdict: Verdict) -> str:
    """What the rule asks, in a few words."""
    rule, what = verdict.rule, quantity(str(verdict.measure.facts.get("of", verdict.measure.name)))
    unit = " %" if what.unit == "share" else ""
    if rule.is_relative:
        points = " points" if what.unit == "share" else ""
        return f"{rule.judge} ≥ {shown(-rule.limit, what, signed=True)}{points}"
    sign = "≤" if rule.kind == "at_most" else "≥"
    return f"{rule.judge} {sign} {shown(rule.limit, what, signed=False)}{unit}"


def verdict_as_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict as the gate's JSON object shows it."""
    rule, row = verdict.rule, verdict.measure
    return {
        "rule": str(rule),
        "measure": str(row.facts.get("of", row.name)),
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
