"""What to show of bias diagnostics: one checkpoint's scores, or what several say together.

A strip shows a number on its scale: │ is where nothing is preferred, ● the value, ─ its interval; with several
checkpoints each is a dot.
"""

from collections.abc import Sequence

from ...core.measures import SHARE, shown
from ...core.records import Finding, Measure, Measures, Result
from ...core.views import Block, Cell, Column, Number, Row, Section, Table, Words
from . import between, downstream, finetune, moments
from .build import module_of
from .checkpoints import about, by_diagnostic, of_family
from .family import Family, Line, families, is_downstream, moment, several
from .notes import phrases_of
from .settings import Settings

APART = (
    "difference between diagnostics",
    "correlation between diagnostics",
    "agreement of representations",
)
"""What two ways of asking the same checkpoints say differently."""
NOTES = 3
"""How many notes stand below a table."""
ONE = "! One checkpoint: seed variance was not measured."


def view(
    settings: Settings | None,
    results: Sequence[Result],
    measures: Sequence[Measure],
    findings: Sequence[Finding],
) -> list[Section]:
    """Each checkpoint by itself; or, with measures, what several say together, and the files of both."""
    if not measures:
        return [_alone(result) for result in results]
    every = families(results)
    recipes = [_limits(finding) for finding in findings if "diagnostic" not in finding.groups]
    return [
        *recipes,
        *(section for family in every for section in _together(family, measures, findings)),
        *_between(measures),
        Section(blocks=_files(every, measures), detail="file"),
    ]


# One checkpoint


def _alone(result: Result) -> Section:
    """One checkpoint under one diagnostic, or fine-tuned on one task."""
    if is_downstream(result):
        return _finetuned(result)
    settings = result.job["settings"]
    diagnostic = settings["diagnostic"][0]
    module = module_of(diagnostic)
    about = f"{diagnostic}, {len(result.cases):,} {module.CASES}, profile {settings['profile']}"
    now = Measures(row for row in result.measures if not moment(row.groups))
    return Section(
        title=[Words("bias of ", "quiet"), Words(str(result.job["model"]), "strong")],
        text=[*_answer(now), Words(about, "quiet")],
        blocks=[module.table(now)],
        notes=_notes(now, result, diagnostic),
    )


def _answer(measures: Measures) -> list[Words]:
    """Return whether the checkpoint prefers stereotypes, for diagnostics whose headline is such a share."""
    rows = [row for row in measures.where("stereotype score") if row.facts.get("headline") and row.interval]
    if not rows:
        return []
    (row, *_), half = rows, 0.5
    low, high = row.interval or (0.0, 1.0)
    side = "prefers stereotypes" if low > half else "prefers anti-stereotypes" if high < half else ""
    ends = f"{shown(row.value, SHARE)} %, 95 % CI {shown(low, SHARE)} – {shown(high, SHARE)}, {row.n:,} cases"
    return [Words(f"The model {side or 'shows no clear preference'}: stereotype score {ends}.\n", "strong")]


def _finetuned(result: Result) -> Section:
    """One checkpoint on one downstream task."""
    return Section(
        title=[Words("downstream score of ", "quiet"), Words(str(result.job["model"]), "strong")],
        text=Words(f"{len(result.cases):,} {finetune.CASES}", "quiet"),
        blocks=[finetune.table(result.measures)],
        notes=[ONE],
    )


def _notes(measures: Measures, result: Result, diagnostic: str) -> list[str]:
    phrases = module_of(diagnostic).BELOW
    told = list(dict.fromkeys(words for row in measures for words in phrases_of(row.facts, phrases)))
    errors = sum(bool(outcome.error) for outcome in result.outcomes)
    unanswered = [f"! {errors:,} cases have no answer and are excluded."] if errors else []
    return [*unanswered, ONE, *told][:NOTES]


# Several checkpoints


def _limits(finding: Finding) -> Section:
    """Of what anything may be said at all."""
    return Section([Words(finding.groups["recipe"], "strong")], finding.text)


def _together(family: Family, measures: Sequence[Measure], findings: Sequence[Finding]) -> list[Section]:
    """The conclusion about a family and what it rests on; a checkpoint that is alone as it is."""
    conclusions = [finding.text for finding in findings if dict(finding.groups) == family.groups]
    training = moments.blocks(family, about(family, measures))
    if not conclusions:
        alone = [_alone(result) for result in family.results.values()]
        return [*alone, *([Section(blocks=training)] if training else [])]
    kind = f" by {family.representation}" if family.representation else ""
    title: Cell = [Words(f"{family.diagnostic}{kind}", "strong"), Words(f" of {family.recipe}", "quiet")]
    shown_blocks = module_of(family.diagnostic).blocks(of_family(family, measures))
    return [Section(title, " ".join(conclusions), [*shown_blocks, *training])]


def _between(measures: Sequence[Measure]) -> list[Section]:
    """Between recipes, between diagnostics, between representations, and downstream."""
    rows = Measures(measures)
    blocks: list[Block] = [*between.blocks(rows)]
    blocks += downstream.blocks(rows)
    apart = [row for name in APART for row in rows.where(name)]
    if apart:
        titles = ("between diagnostics", "", "", "")
        columns = [Column(title, "right" if place == 2 else "left") for place, title in enumerate(titles)]
        blocks.append(Table(columns, [_row_between(row) for row in apart]))
    return [Section(blocks=blocks)] if blocks else []


def _row_between(row: Measure) -> Row:
    means = ", ".join(f"{name} {shown(mean, SHARE)}" for name, mean in row.facts.get("means", {}).items())
    counted = several(row.n) if "category" in row.groups else f"{row.n:,} tests and checkpoints"
    words = "; ".join(filter(None, [row.groups["recipe"], means, counted]))
    about = row.groups["category"] if "category" in row.groups else row.groups["representation"]
    return Row([row.name, about, Number(row, part="value and interval"), Words(words, "quiet")])


# For computing


def _files(every: Sequence[Family], measures: Sequence[Measure]) -> list[Block]:
    """The files of all diagnostics; what two of them say of one kind of thing stands in one file."""
    lines: dict[str, list[Line]] = {}
    for diagnostic, members in by_diagnostic(every):
        rows = Measures(row for family in members for row in of_family(family, measures))
        for name, more in module_of(diagnostic).files(members, rows).items():
            lines.setdefault(name, []).extend(more)
    lines["over_training"] = [
        line for family in every for line in moments.file(family, about(family, measures))
    ]
    lines["between_recipes"] = between.file(Measures(measures))
    lines |= downstream.files(Measures(measures))
    return [_file(name, rows) for name, rows in lines.items() if rows]


def _file(name: str, lines: Sequence[Line]) -> Table:
    words = [title for title, cell in lines[0].items() if isinstance(cell, str)]
    columns = [Column(title, "left" if title in words else "right") for title in lines[0]]
    return Table(columns, [Row(list(line.values())) for line in lines], name)
