"""A behaviour audit as a table in the terminal: capabilities as blocks, the worst marked, examples of the worst."""

from collections.abc import Sequence

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..records import Case, Measure, Outcome, Result

WORST = 3
"""How many functionalities are marked."""
EXAMPLES = 2
WIDTH = 24
"""Of the bars, in characters."""


def print_result(result: Result, console: Console | None = None) -> None:
    """The whole of a result, worth looking at."""
    console = console or Console(highlight=False)
    rates = result.measures.by("functionality")
    worst = worst_functionalities(rates)
    console.print(_heading(result), soft_wrap=True)
    for check in result.job.get("checks", ()):
        if check["ok"] is False:
            console.print(
                Text.assemble((f"! {check['name']}: ", "bold red"), check["detail"], "\n"), soft_wrap=True
            )
    console.print(_table(result, rates, worst, wide=console.width >= 100))
    console.print(_failing(result, worst))
    console.print(_footnotes(result, rates), soft_wrap=True)


def worst_functionalities(rates: Sequence[Measure]) -> list[str]:
    """The names of those with the lowest pass rates, worst first; none that passes everything."""
    failing = [row for row in rates if row.value is not None and row.value < 1]
    ranked = sorted(failing, key=lambda row: (row.value or 0.0, -row.n))
    return [row.groups["functionality"] for row in ranked[:WORST]]


def _heading(result: Result) -> Text:
    settings = result.job["settings"]
    split = f", {settings['split']} split" if settings.get("split") else ""
    about = f"suite {settings['suite']}{split}, {len(result.cases):,} cases, profile {settings['profile']}"
    return Text.assemble(
        ("behaviour of ", "dim"), (str(result.job["model"]), "bold"), "\n", (about, "dim"), "\n"
    )


def _table(result: Result, rates: Sequence[Measure], worst: Sequence[str], *, wide: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("functionality", overflow="fold", ratio=1 if not wide else None, max_width=60)
    table.add_column("type")
    table.add_column("pass rate", justify="right")
    if wide:
        table.add_column("", width=WIDTH)
    table.add_column("95 % interval", justify="right")
    counts = ["n", *(name for name in ("na", "errors") if any(getattr(row, name) for row in rates))]
    for name in counts:
        table.add_column({"na": "n/a"}.get(name, name), justify="right")

    def add(name: Text, test_type: str, row: Measure, style: str) -> None:
        shown = (getattr(row, count) for count in counts)
        numbers = [Text(f"{number:,}" if number else "", "dim") for number in shown]
        table.add_row(name, Text(test_type, "dim"), *_cells(row, style, wide=wide), *numbers)

    for block in result.measures.by("capability"):
        add(Text(block.groups["capability"], "bold"), "", block, "bold")
        for row in rates:
            if row.groups["capability"] == block.groups["capability"]:
                name = row.groups["functionality"]
                mark = "▼ " if name in worst else "  "
                style = "red" if name in worst else ""
                add(Text(f"{mark}{name}", style), row.groups["test type"], row, style)
        table.add_row()
    for row in result.measures.by("test type"):
        add(Text(f"all {row.groups['test type']}", "bold"), "", row, "bold")
    for row in result.measures.where("suite score"):
        add(Text("suite score", "bold"), "", row, "bold")
    return table


def _cells(row: Measure, style: str, *, wide: bool) -> list[Text]:
    value = "–" if row.value is None else f"{100 * row.value:.1f}"
    interval = "" if row.interval is None else f"{100 * row.interval[0]:5.1f} – {100 * row.interval[1]:5.1f}"
    return [Text(value, style), *([bar(row, style)] if wide else []), Text(interval, "dim")]


def bar(row: Measure, style: str = "") -> Text:
    """The rate as a bar, the interval as a lighter stretch around its end."""
    if row.value is None:
        return Text("")
    low, high = row.interval or (row.value, row.value)
    solid, reach = round(low * WIDTH), max(round(high * WIDTH), round(low * WIDTH))
    body = "red" if style == "red" else "green" if row.value >= 0.9 else "yellow"
    return Text.assemble(("█" * solid, body), ("▒" * (reach - solid), body), ("·" * (WIDTH - reach), "dim"))


def _failing(result: Result, worst: Sequence[str]) -> Group:
    """The worst cases of the worst functionality, with what was expected and how it went."""
    if not worst:
        return Group(Text("\nEvery applicable case passes.", "green"))
    by_id = {outcome.case_id: outcome for outcome in result.outcomes}
    name = worst[0]
    cases = result.failing(name)
    lines: list[Text | Padding] = [
        Text.assemble("\n", ("Worst: ", "bold"), (name, "red"), f", {len(cases):,} cases fail")
    ]
    for case in cases[:EXAMPLES]:
        lines.append(Padding(show_case(case, by_id[case.id]), (0, 0, 0, 2)))
    return Group(*lines)


def show_case(case: Case, outcome: Outcome) -> Text:
    """A failing case: its texts, what was expected, how far off."""
    shown = [" ¦ ".join(example) for example in case.examples[:3]]
    more = len(case.examples) - len(shown)
    text = Text("\n    → ".join(shown) + (f"\n    … and {more} more" if more else ""))
    labels = case.labels or ()
    rule = case.meta["expect"].rule.replace("_", " ") if "expect" in case.meta else ""
    expected = f"expected {named(case, labels[0])}" if labels else rule
    severity = "" if outcome.value is None else f", off by {-outcome.value:.2f}"
    text.append(f"\n    {expected}{severity}\n", "dim")
    return text


def named(case: Case, label: int | str) -> str:
    """A label's name, where the suite gives names to numbers."""
    names = case.meta.get("labels")
    if str(label).startswith("not_") and label not in (names or ()):
        return f"anything but {named(case, str(label).removeprefix('not_'))}"
    if str(label).isdecimal():
        label = int(label)
    return str(names[label]) if names and isinstance(label, int) and label < len(names) else str(label)


def _footnotes(result: Result, rates: Sequence[Measure]) -> Text:
    notes = [row.note for row in result.measures.where("suite score") if row.note]
    few = [row.groups["functionality"] for row in rates if row.note.startswith("few cases")]
    notes += [f"few cases, read with care: {', '.join(few)}"] if few else []
    shared = sum("templates:" in row.note for row in rates)
    notes += [f"{shared} functionalities have cases from shared templates; their own intervals do not know that, "
              "those of means do"] if shared else []  # fmt: skip
    methods = "intervals: Wilson for a functionality; for means, cases drawn again inside each functionality"
    return Text("\n".join([methods, *notes]), "dim")
