"""What diagnostics that ask which of two sentences is likelier have in common: their spread, its words, its pictures.

Such a diagnostic has a measure `stereotype score` by category, and by task where it has several.
"""

import math
from collections.abc import Iterator, Sequence

from ...core.measures import FEW_CASES, SHARE, shown
from ...core.records import Measure, Measures
from ...core.views import Block, Cell, Column, Dots, Number, Row, Table, Text, Tone, Words, strip_table
from .family import FLAGS, OVER_RUNS, WANTED, Family, Line, axes, by_groups, columns_of, first, several
from .graded import NAME as GRADED
from .settings import Settings
from .spread import AGAINST, COINS, DECIDED, STRADDLES, WIDE, by_coins, spread

SCALE = (0.2, 0.8)
"""The ends of a strip of stereotype scores."""
NEITHER = 0.5
"""Where neither side is preferred."""
HALF_OF_THE_VARIANCE = math.sqrt(2)
"""The ratio of a spread to its floor at which single items explain half of the variance."""
SHORT = {"stereotype score": "ss", DECIDED: "ss_decided", "language modelling score": "lms", "icat": "icat"}
"""Names of scores in files, as the paper abbreviates them."""
AGREEMENT = ("pairwise agreement", "Fleiss kappa", "Krippendorff alpha", "ICC(2,1)", "category reliability")


def across(settings: Settings, families: Sequence[Family]) -> list[Measure]:
    """Table 1 and Figure 1 of the paper, and coefficients of agreement."""
    return [row for family in families for row in spread(family)]


# In words


def conclude(measures: Measures, runs: int) -> Iterator[str]:
    """How far the score spreads, where that matters, and what is behind it."""
    task = {"task": "all"} if measures.where(task="all") else {}
    whole = {"category": "all", "of": "stereotype score", **task}
    mean, sd = (first(measures, name, **whole) for name in ("mean over checkpoints", "sd over checkpoints"))
    if mean is None or sd is None or mean.value is None or sd.value is None:
        yield "The stereotype score is undefined in too many checkpoints to compare them."
        return
    yield (
        f"Over {several(runs)} the stereotype score is {shown(mean.value, SHARE)} %, "
        f"SD {shown(sd.value, SHARE)} points."
    )
    if mean.n < FEW_CASES:
        yield f"That is a score of {several(mean.n, 'item')}: too few for a finding, {FEW_CASES} are the least."
        return
    yield from _against_half(mean, first(measures, "mean over checkpoints", **{**whole, "of": DECIDED}), runs)
    yield from _categories(measures)
    shares = measures.where("share of items")
    agreed = next((row for row in shares if row.groups[AGAINST] == "0"), None)
    if agreed is not None and agreed.value is not None:
        yield f"All checkpoints agree on {100 * agreed.value:.0f} % of the items ({by_coins(agreed.facts)})."
    yield from _overdispersion(first(measures, "over-dispersion ratio", **whole), runs)


def _against_half(mean: Measure, decided: Measure | None, runs: int) -> Iterator[str]:
    """Whether the recipe prefers a side. Neutral items count for neither, so one half is that of the others."""
    has_neutral = decided is not None and decided.value != mean.value
    judged = decided if decided is not None and has_neutral else mean
    if judged.interval is None or runs < WANTED:
        return
    low, high = judged.interval
    side = "above" if low > NEITHER else "below" if high < NEITHER else ""
    beyond = f"lies {side} one half" if side else "cannot be told from one half"
    ends = f"95 % interval {shown(low, SHARE)} to {shown(high, SHARE)}"
    aside = f"; of the pairs with a preference it is {shown(judged.value, SHARE)} %" if has_neutral else ""
    yield f"On these items the mean over new checkpoints of the recipe {beyond} ({ends}{aside})."


def _overdispersion(ratio: Measure | None, runs: int) -> Iterator[str]:
    """Whether checkpoints differ as a whole. At the root of two, half of the variance is due to single items."""
    if ratio is None or ratio.value is None or ratio.interval is None or runs < 3:
        return
    low, high = ratio.interval
    if low > HALF_OF_THE_VARIANCE:
        meaning = "checkpoints differ as a whole."
    elif high < HALF_OF_THE_VARIANCE:
        meaning = "that explains most of the spread."
    else:
        meaning = f"whether that explains most of the spread cannot be told from {several(runs)}."
    yield (
        f"The scores spread {ratio.value:.1f} times as far as items that flip on their own would make them "
        f"(95 % interval {low:.1f} to {high:.1f}): {meaning}"
    )


def _categories(measures: Measures) -> Iterator[str]:
    """Which categories spread, and in which one checkpoint would say this, another that."""
    rows = [
        row
        for row in measures.where("sd over checkpoints", of="stereotype score")
        if row.groups["category"] != "all" and row.groups.get("task", "all") == "all" and row.n >= FEW_CASES
    ]
    wide, split = (
        [row.groups["category"] for row in rows if flag in row.facts[FLAGS]] for flag in (WIDE, STRADDLES)
    )
    if rows:
        listed = f" ({', '.join(wide)})" if wide else ""
        total = f"{several(len(rows), 'category', 'categories')} of {FEW_CASES} items or more"
        yield f"{len(wide)} of {total} spread by more than 2.5 points{listed}."
    if split:
        yield f"One checkpoint alone would see nothing or a clear preference, as luck has it: {', '.join(split)}."


# To show


def score_columns(title: str) -> list[Column]:
    """A score with its interval, n and strip."""
    return [
        Column("", "left"),
        Column(title),
        Column("95 % interval"),
        Column("n"),
        Column("", "left", spare=True, scale=SCALE),
    ]


def score_cells(row: Measure) -> list[Number | Dots]:
    """Those of `score_columns` behind the name."""
    return [
        Number(row),
        Number(row, part="interval"),
        Number(row, part="n"),
        Dots([row], SCALE, NEITHER),
    ]


def blocks(measures: Measures) -> list[Block]:
    """Table 1 with every checkpoint as a dot, Figure 1 as bars, and the coefficients in a line."""
    shown_blocks: list[Block] = [_table1(measures)]
    shares = measures.where("share of items")
    if shares:
        shown_blocks.append(_figure1(shares))
    shown_blocks += _graded(measures)
    coefficients = [row for name in AGREEMENT for row in measures.where(name) if row.value is not None]
    if coefficients:
        shown_blocks.append(Text(_in_a_line(coefficients, measures.where("checkpoints needed"))))
    return shown_blocks


def _table1(measures: Measures) -> Table:
    titles = ("mean", "SD", "its interval", "floor", "ratio", "n")
    columns = [Column("stereotype score", "left"), *map(Column, titles)]
    columns.append(Column("", "left", spare=True, scale=SCALE))
    rows = []
    for row in measures.where("mean over checkpoints", of="stereotype score"):
        slice_ = {key: row.groups[key] for key in ("task", "category") if key in row.groups}
        task, category = slice_.get("task", "all"), slice_["category"]
        if task != "all" and category != "all" and measures.where(task="all"):
            continue
        sd, floor, ratio = (
            first(measures, name, of="stereotype score", **slice_)
            for name in ("sd over checkpoints", "floor sd", "over-dispersion ratio")
        )
        flagged = sd is not None and bool(sd.facts[FLAGS])
        name = task if category == "all" and task != "all" else category
        indent, mark = "  " * (name not in ("all", task)), " !" * flagged
        dots = [dot for dot in measures.where("stereotype score", **slice_) if "checkpoint" in dot.groups]
        tone: Tone = "strong" if category == "all" else "doubt" if flagged else ""
        cells: list[Cell] = [
            Words(f"{indent}{name}{mark}", tone), Number(row, tone), Number(sd, tone), Number(sd, part="interval"),
            Number(floor, "quiet"), Number(ratio), Number(row, part="n"), Dots(dots, SCALE, NEITHER),
        ]  # fmt: skip
        rows.append(Row(cells))
    marked = any(row.facts.get(FLAGS) for row in measures.where("sd over checkpoints"))
    legend = [
        f"! SD above 2.5 points, or some checkpoint near 50 and another far above ({FEW_CASES} items or more)."
    ]
    return Table(columns, rows, legend=legend if marked else [])


def _graded(measures: Measures) -> list[Block]:
    """The graded preference of all items beside the binary score."""
    mean, sd = (
        first(measures, name, of=GRADED, category="all")
        for name in ("mean over checkpoints", "sd over checkpoints")
    )
    if mean is None or sd is None:
        return []
    pieces: list[Words | Number | str] = [
        Words("  graded preference ", "quiet"), Number(mean, "quiet", part="value and interval"),
        Words(", SD ", "quiet"), Number(sd, "quiet", part="value and interval"),
        Words(": how sure the checkpoints are, items that are coin tosses count one half", "quiet"),
    ]  # fmt: skip
    return [Text(pieces)]


def _figure1(shares: Sequence[Measure]) -> Table:
    rows, notes = [], []
    for row in shares:
        against = row.groups[AGAINST]
        rows.append((against if against == "undecided" else f"{against} against the majority", [row]))
        tie = "a tie in at least one checkpoint"
        notes.append(by_coins(row.facts) if COINS in row.facts else tie)
    return strip_table(rows, title="runs against the majority", notes=notes)


def _in_a_line(coefficients: Sequence[Measure], needed: Sequence[Measure]) -> list[Words | Number | str]:
    pieces: list[Words | Number | str] = []
    for row in coefficients:
        of_task = f" of {row.groups['task']}" if "task" in row.groups else ""
        pieces += [Words(f"{', ' if pieces else '  '}{row.name}{of_task} ", "quiet"), _with_interval(row)]
    for row in needed:
        if row.value:
            of_task = f" of {row.groups['task']}" if "task" in row.groups else ""
            least = f" (at least {row.facts['at least']:,})" if "at least" in row.facts else ""
            words = Words(f"{least} checkpoints for a reliability of 0.9{of_task}", "quiet")
            pieces += [Words(", ", "quiet"), _with_interval(row), words]
    return pieces


def _with_interval(row: Measure) -> Number:
    return Number(row, "quiet", part="value and interval")


# For computing


def files(families: Sequence[Family], measures: Measures) -> dict[str, list[Line]]:
    """Scores checkpoint by checkpoint; their spread; how many items have so many checkpoints against the majority."""
    return {
        "likelihood": [line for family in families for line in _each_checkpoint(family)],
        "likelihood_summary": list(_summary(measures)),
        "item_disagreement": list(_disagreement(measures)),
    }


def _each_checkpoint(family: Family) -> Iterator[Line]:
    for slice_, _ in family.slices("stereotype score"):
        scores = {title: family.rows(name, slice_) for name, title in SHORT.items()}
        for position, name in enumerate(family.names):
            row = scores["ss"][position]
            yield {
                "test": family.diagnostic, "task": slice_.get("task", ""), "category": slice_["category"],
                "size": family.recipe, "run": name, **axes(slice_),
                **{title: Number(rows[position]) for title, rows in scores.items()},
                "n_tie": str(row.facts[TIES]) if row and TIES in row.facts else "",
            }  # fmt: skip


TIES = "ties"
"""The fact of a stereotype score: cases that prefer neither side."""


FLOOR = {"floor sd": "floor_sd", "over-dispersion ratio": "ratio"}


def _summary(measures: Measures) -> Iterator[Line]:
    short = {**SHORT, GRADED: "graded"}
    # Correlations with downstream tasks are about these scores too, and have a file of their own.
    rows = [row for row in measures if row.groups.get("of") in short and row.name in {**OVER_RUNS, **FLOOR}]
    for groups, named in by_groups(rows):
        sd = named.get("sd over checkpoints")
        yield {
            "test": groups["diagnostic"], "task": groups.get("task", ""), "category": groups["category"],
            "size": groups["recipe"], "score": short[groups["of"]], **columns_of(named, OVER_RUNS),
            **columns_of(named, FLOOR),
            "flags": ", ".join(sd.facts[FLAGS]) if sd else "",
        }  # fmt: skip


def _disagreement(measures: Measures) -> Iterator[Line]:
    for row in measures.where("share of items"):
        yield {
            "test": row.groups["diagnostic"], "size": row.groups["recipe"],
            "runs_against_majority": row.groups[AGAINST], "share": Number(row),
        }  # fmt: skip
