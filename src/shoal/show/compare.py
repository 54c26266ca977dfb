"""A comparison in the terminal: the answer in a sentence, then worse, better and undecided, then what changed."""

from collections.abc import Callable, Sequence
from pathlib import PurePath

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..errors import some
from ..protocols.behaviour.pairs import ADJUSTMENTS, ENOUGH_SEEDS, Comparison, Row
from ..records import Case, Result
from .behaviour import named

EXAMPLES = 2
"""How many newly failing cases are shown unless all are asked for."""
WORSE, BETTER = "red", "green"


def print_comparison(found: Comparison, *, changed: bool = False, console: Console | None = None) -> None:
    """The whole of a comparison, or with `changed` every case that changed."""
    console = console or Console(highlight=False)
    console.print(_heading(found), soft_wrap=True)
    if changed:
        _print_changed(found, console)
        return
    console.print(_sentence(found))
    console.print(_warnings(found), end="")
    console.print(_table(found, wide=console.width >= 100))
    console.print(_examples(found))
    console.print(_footnotes(found), soft_wrap=True)


# The answer first


def _heading(found: Comparison) -> Text:
    settings = found.a[0].job.get("settings") or {}
    suite = PurePath(str(settings.get("suite", ""))).name
    split = f", {PurePath(str(settings['split'])).name} split" if settings.get("split") else ""
    about = f"suite {suite}{split}, {len(found.cases):,} cases, profile {settings.get('profile', '')}"
    text = Text()
    for side, results in (("A", found.a), ("B", found.b)):
        for number, result in enumerate(results, start=1):
            seed = f"seed {number}  " if len(results) > 1 else ""
            text.append(f"{side}  ", "bold" if number == 1 else "dim").append(seed, "dim")
            text.append(f"{result.job.get('model', '')}\n", "bold")
    return text.append(f"{about}\n", "dim")


def _sentence(found: Comparison) -> Text:
    """What a reader in a hurry takes away."""
    suite = found.by("suite")[0]
    if suite.difference is None:
        return Text("A and B have no applicable case in common.\n", "yellow")
    text = Text()
    size = f"{100 * abs(suite.difference):.1f} points"
    if suite.significant:
        word, style = ("more", BETTER) if suite.difference > 0 else ("fewer", WORSE)
        text.append(f"B passes {size} {word} than A", f"bold {style}")
        text.append(f" ({_interval(suite)}), p {_p(suite.adjusted, relation=True)}")
    elif not suite.gained and not suite.lost:
        text.append("A and B pass the same cases", "bold")
    else:
        text.append("No difference shown over the suite", "bold")
        text.append(
            f": {_signed(suite.difference)} points ({_interval(suite)}), p {_p(suite.adjusted, relation=True)}"
        )
        text.append(
            f"; one of {_points(suite.mde)} would mostly have been found" if suite.mde is not None else ""
        )
    worse, better, undecided, _ = _sorted(found)
    parts = [
        (f"worse in {len(worse)}", WORSE if worse else "dim"),
        (f"better in {len(better)}", BETTER if better else "dim"),
        (f"no difference shown in {len(undecided)}", "dim"),
    ]
    text.append(". By functionality: ")
    for at, (words, style) in enumerate(parts):
        text.append(", " if at else "").append(words, style)
    return text.append(".\n")


def _warnings(found: Comparison) -> Text:
    """What makes the numbers less than they seem; most comparisons have none."""
    suite = found.by("suite")[0]
    lines = []
    if any(suite.errors):
        a, b = suite.errors
        lines.append(f"no answer to {a:,} cases by A and {b:,} by B: they are left out of every difference")
    flagged = [row for row in found.by("functionality") if row.applicability_differs]
    for row in flagged[:3]:
        shares = [100 * (share or 0) for share in row.applicability]
        lines.append(
            f"{row.name}: applies to {shares[0]:.0f} % of the cases for A and {shares[1]:.0f} % for B; "
            "only the common ones are compared"
        )
    if len(flagged) > 3:
        lines.append(
            f"applicability differs by more than 10 points in {len(flagged) - 3} more functionalities"
        )
    return Text("".join(f"▲ {line}\n" for line in lines) + ("\n" if lines else ""), "yellow")


def _sorted(found: Comparison) -> tuple[list[Row], list[Row], list[Row], list[Row]]:
    """Functionalities: worse in B, better in B, undecided, without a common case; the largest difference first."""
    rows = found.by("functionality")
    known = [row for row in rows if row.difference is not None]
    ranked = sorted(known, key=lambda row: (-abs(row.difference or 0.0), row.name))
    decided = [row for row in ranked if row.significant]
    return (
        [row for row in decided if (row.difference or 0) < 0],
        [row for row in decided if (row.difference or 0) > 0],
        [row for row in ranked if not row.significant or row.difference == 0],
        [row for row in rows if row.difference is None],
    )


# The table


def _table(found: Comparison, *, wide: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("", no_wrap=True)
    table.add_column(
        "B minus A, in points", overflow="fold", max_width=46 if wide else None, ratio=None if wide else 1
    )
    columns: list[tuple[str, Callable[[Row], str]]] = [
        ("A", lambda row: _rate(row.rates[0])),
        ("B", lambda row: _rate(row.rates[1])),
        ("B − A", lambda row: _signed(row.difference)),
        ("95 % interval", _interval),
        ("adj. p", lambda row: _p(row.adjusted)),
        ("could see", lambda row: "" if row.significant else _points(row.mde)),
        ("better", lambda row: f"{row.gained:,}" if row.gained else "·"),
        ("worse", lambda row: f"{row.lost:,}" if row.lost else "·"),
    ]
    if any(any(row.errors) for row in found.rows):
        columns.append(("errors", lambda row: "{:,} / {:,}".format(*row.errors) if any(row.errors) else ""))
    columns.append(("n", lambda row: f"{row.n:,}"))
    if not wide:
        # A is B less the difference; what must stay is how sure the difference is.
        columns = [one for one in columns if one[0] not in ("A", "better", "worse", "n")]
    for name, _ in columns:
        table.add_column(name, justify="right", no_wrap=True)

    def add(row: Row, name: str, style: str = "", mark: str = "") -> None:
        cells = []
        for title, cell in columns:
            loud = style if title == "B − A" else "" if title in ("A", "B", "adj. p") else "dim"
            loud = WORSE if title == "worse" and row.lost and mark == "▼" else loud
            cells.append(Text(cell(row), loud))
        table.add_row(Text(mark, style), Text(name, style), *cells)

    def block(title: str, rows: Sequence[Row], style: str, mark: str) -> None:
        if rows:
            table.add_row()
            table.add_row("", Text(f"{title} ({len(rows)})", f"bold {style}".strip()))
            for row in rows:
                add(row, row.name, style, mark)

    for row in found.by("suite"):
        add(row, "suite score", "bold")
    types = found.by("test type")
    for row in types if len(types) > 1 else []:
        add(row, f"all {row.name}", _style(row))
    worse, better, undecided, _ = _sorted(found)
    block("worse in B", worse, WORSE, "▼")
    block("better in B", better, BETTER, "▲")
    block("no difference shown", [row for row in undecided if row.gained or row.lost], "", "")
    capabilities = found.by("capability")
    if len(capabilities) > 1:
        block("by capability", capabilities, "", "")
    return table


def _style(row: Row) -> str:
    return "" if not row.significant else BETTER if (row.difference or 0) > 0 else WORSE


def _rate(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _points(value: float | None) -> str:
    return "nothing" if value is None else f"{100 * value:.1f}"


def _signed(value: float | None) -> str:
    if value is None:
        return "–"
    shown = f"{100 * value:+.1f}"
    return "0.0" if float(shown) == 0 else shown.replace("-", "−")


def _interval(row: Row) -> str:
    if row.interval is None:
        return ""
    return f"{_signed(row.interval[0])} to {_signed(row.interval[1])}"


def _p(value: float | None, *, relation: bool = False) -> str:
    if value is None:
        return "–"
    equals = "= " if relation else ""
    if value < 0.001:
        return "< .001" if relation else "<.001"
    return f"{equals}1" if value >= 0.9995 else f"{equals}{value:.3f}".replace("0.", ".", 1)


# What changed


def _examples(found: Comparison) -> Group:
    """Newly failing cases of the functionality that lost most, a few."""
    rows = sorted(found.by("functionality"), key=lambda row: (not _is_worse(row), -row.lost, row.name))
    if not rows or not rows[0].lost:
        return Group(Text("\nNo case that A passes fails in B.", BETTER))
    row = rows[0]
    lost = [case for case, better in found.changed(row.name) if not better]
    title = Text.assemble(
        "\n", ("Newly failing", "bold"), ", most in ", (row.name, WORSE), f": {row.lost:,} cases"
    )
    shown = [Padding(_case(case), (0, 0, 0, 2)) for case in lost[:EXAMPLES]]
    total = sum(one.gained + one.lost for one in found.by("functionality"))
    return Group(title, *shown, Text(f"  all {total:,} changed cases: --changed\n", "dim"))


def _is_worse(row: Row) -> bool:
    return row.significant and (row.difference or 0) < 0


def _case(case: Case) -> Text:
    """A case in a line or two: its first texts, and what was expected."""
    shown = [" ¦ ".join(example) for example in case.examples[:2]]
    more = len(case.examples) - len(shown)
    text = Text("\n  → ".join(shown) + (f"\n  … and {more} more" if more else ""))
    labels = case.labels or ()
    expect = case.meta.get("expect")
    rule = expect.rule.replace("_", " ") if expect is not None else ""
    return text.append(f"   expected {named(case, labels[0])}" if labels else f"   {rule}", "dim")


def _print_changed(found: Comparison, console: Console) -> None:
    """Every case that changed, by functionality, those that lost most first."""
    rows = sorted(found.by("functionality"), key=lambda row: (-row.lost, -row.gained, row.name))
    changes: dict[str, list[tuple[Case, bool]]] = {}
    for case, better in found.changed():
        changes.setdefault(case.groups["functionality"], []).append((case, better))
    for row in rows:
        if row.name in changes:
            count = f"   {row.lost:,} newly failing, {row.gained:,} newly passing"
            console.print(Text.assemble((row.name, "bold"), (count, "dim")), soft_wrap=True)
            for case, better in changes[row.name]:
                mark, style = ("▲ ", BETTER) if better else ("▼ ", WORSE)
                identity = case.id.removeprefix(row.name + "/")
                console.print(
                    Text.assemble("  ", (mark, style), (f"{identity}  ", "dim"), _case(case)), soft_wrap=True
                )
    lost, gained = (sum(getattr(row, name) for row in rows) for name in ("lost", "gained"))
    console.print(Text(f"{lost:,} cases newly fail in B, {gained:,} newly pass", "dim"))


# What the numbers mean


def claim(a: Sequence[Result], b: Sequence[Result]) -> str:
    """How far the numbers reach, in words (`docs/method/beyond.md` 7.19)."""
    if len(a) + len(b) == 2:
        return "on new cases of these functionalities, this checkpoint only: one seed a side"
    few = (
        f"; fewer than {ENOUGH_SEEDS} a side support no claim about the recipe"
        if min(len(a), len(b)) < ENOUGH_SEEDS
        else ""
    )
    return f"for this training recipe, on new cases: {len(a)} and {len(b)} seeds, drawn again together with cases{few}"


def _footnotes(found: Comparison) -> Text:
    tests = sum(row.p is not None for row in found.rows)
    how = "exact paired tests of the cases that changed"
    how += ", whole clusters of them where they share a template" if _is_clustered(found) else ""
    how += f"; of means, {found.choices.shuffles:,} random sign flips"
    how = "from drawing seeds and cases again" if found.several_seeds else how
    adjust = found.choices.adjust
    adjusted = (
        f"adjusted for {tests} comparisons ({ADJUSTMENTS[adjust]})" if adjust != "none" else "not adjusted"
    )
    same = [
        f"{row.name} ({_points(row.mde)})" for row in _sorted(found)[2] if not row.gained and not row.lost
    ]
    few = [row.name for row in found.by("functionality") if row.note.startswith("few cases")]
    absent = [row.name for row in found.by("functionality") if row.difference is None]
    partly = [row for row in found.by("functionality") if row.n and min(map(_share, row.applicability)) < 1]
    applies = [f"{row.name} {_rate(row.applicability[0])} / {_rate(row.applicability[1])}" for row in partly]
    lines = [
        claim(found.a, found.b),
        f"p: {how}; {adjusted}",
        "could see: minimum detectable effect, what one test at 5 % would have found 8 times in 10",
        "rates are on the cases that apply to both; means are over functionalities",
        *([f"no case changed, in brackets what could have been seen: {', '.join(same)}"] if same else []),
        *([f"applies to part of the cases, A / B in %: {some(applies)}"] if applies else []),
        *([f"no case that applies to both: {', '.join(absent)}"] if absent else []),
        *([f"few cases, read with care: {', '.join(few)}"] if few else []),
    ]
    return Text("\n".join(lines), "dim")


def _is_clustered(found: Comparison) -> bool:
    return any("clusters" in row.test for row in found.rows)


def _share(value: float | None) -> float:
    return 1.0 if value is None else value
