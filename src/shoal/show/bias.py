"""Bias diagnostics in the terminal: one checkpoint's scores, or what several say together.

A strip shows a number on its scale: │ is where nothing is preferred, ● the value, ─ its interval; with several
checkpoints each is a dot.
"""

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..records import Measure, Measures, Result

WIDTH = 29
"""Of a strip, in characters; odd, so that there is a middle."""
SCORE, EFFECT = (0.2, 0.8), (-2.0, 2.0)
"""The ends of a strip for shares and for effect sizes."""


def print_result(result: Result, console: Console | None = None) -> None:
    """One checkpoint under one diagnostic."""
    console = console or Console(highlight=False)
    settings = result.job["settings"]
    diagnostic = settings["diagnostic"][0]
    console.print(_heading(result, diagnostic), soft_wrap=True)
    now = Measures(row for row in result.measures if "epoch" not in row.groups)
    console.print(fitting(TABLES[diagnostic](now), console))
    console.print(_notes(now, result), soft_wrap=True)


def _heading(result: Result, diagnostic: str) -> Text:
    settings = result.job["settings"]
    what = {"crows": "pairs", "stereoset": "clusters", "seat": "tests", "clusters": "pairs of concepts"}[
        diagnostic
    ]
    about = f"{diagnostic}, {len(result.cases):,} {what}, profile {settings['profile']}"
    return Text.assemble(("bias of ", "dim"), (str(result.job["model"]), "bold"), "\n", (about, "dim"), "\n")


# One checkpoint


def crows_table(measures: Measures) -> Table:
    """A row per category."""
    table = _table("", "score", "95 % interval", "n", ends(SCORE))
    for row in measures.where("stereotype score"):
        name = row.groups["category"]
        style = "bold" if name == "all" else ""
        table.add_row(
            Text(name if name == "all" else f"  {name}", style), *_share(row, style), strip(row, SCORE, 0.5)
        )
    table.add_row()
    for row in measures:
        if row.name.startswith("stereotype score of") or row.name in ("pct_stereotype", "neutral share"):
            table.add_row(Text(row.name, "dim"), *_share(row, ""), strip(row, SCORE, 0.5))
        elif row.name == "likelihood_diff" and row.value is not None:
            table.add_row(Text(row.name, "dim"), f"{row.value:.3f}", "", Text(f"{row.n:,}", "dim"))
    return table


def stereoset_table(measures: Measures) -> Table:
    """A block per task, a row per category."""
    table = _table("", "stereotype", "95 % interval", "n", ends(SCORE), "language", "icat")
    for task in dict.fromkeys(row.groups["task"] for row in measures):
        for row in measures.where("stereotype score", task=task):
            name = row.groups["category"]
            style = "bold" if name == "all" else ""
            others = [
                next(iter(measures.where(other, task=task, category=name)))
                for other in ("language modelling score", "icat")
            ]
            label = Text({"all": "both tasks"}.get(task, task) if name == "all" else f"  {name}", style)
            shown = [Text(percent(other.value), style) for other in others]
            table.add_row(label, *_share(row, style), strip(row, SCORE, 0.5), *shown)
        table.add_row()
    return table


def seat_table(measures: Measures) -> Table:
    """A row per test."""
    table = _table("test", "effect", "95 % interval", "n", ends(EFFECT), "p", "Holm")
    for row in measures.where("effect size"):
        p, adjusted = (
            next(iter(measures.where(name, test=row.groups["test"])), None)
            for name in ("p value", "adjusted p value")
        )
        value = "–" if row.value is None else f"{row.value:+.2f}"
        interval = "" if row.interval is None else f"{row.interval[0]:+.2f} – {row.interval[1]:+.2f}"
        table.add_row(
            Text(row.groups["test"]), value, Text(interval, "dim"), Text(f"{row.n:,}", "dim"),
            strip(row, EFFECT, 0.0), _p(p), _p(adjusted),
        )  # fmt: skip
    return table


def clusters_table(measures: Measures) -> Table:
    """A row per pair of concepts."""
    table = _table("concepts", "accuracy", "chance", "n", ends((0.4, 1.0)), "rand", "silhouette")
    for row in measures.where("cluster accuracy"):
        own = {key: row.groups[key] for key in ("test", "category")}
        chance, rand, width = (
            next(iter(measures.where(name, **own)), None)
            for name in ("chance accuracy", "adjusted rand index", "silhouette")
        )
        middle = 0.5 if chance is None or chance.value is None else chance.value
        table.add_row(
            Text(f"{own['category']} ({own['test']})"), percent(row.value),
            Text(percent(chance.value if chance else None), "dim"), Text(f"{row.n:,}", "dim"),
            strip(row, (0.4, 1.0), middle), _number(rand), _number(width),
        )  # fmt: skip
    return table


TABLES: dict[str, Callable[[Measures], Table]] = {
    "crows": crows_table,
    "stereoset": stereoset_table,
    "seat": seat_table,
    "clusters": clusters_table,
}


KNOWN = (
    "cannot be told",
    "mean o",
    "a distance",
    "chance",
    "random",
    "against",
    "partitions",
    "over ",
    "95 %",
)
"""Words of notes that the table itself already shows."""


def _notes(measures: Measures, result: Result) -> Text:
    notes = dict.fromkeys(
        part
        for row in measures
        for part in row.note.split("; ")
        if part and not any(word in part for word in KNOWN)
    )
    shown = list(notes)[:6] + ([f"… and {len(notes) - 6} more notes: --json"] if len(notes) > 6 else [])
    errors = sum(bool(outcome.error) for outcome in result.outcomes)
    shown += [f"{errors:,} cases have no answer and count nowhere"] if errors else []
    return Text(
        "\n".join([*shown, "one checkpoint: this says nothing about others of the same recipe"]), "dim"
    )


# Several checkpoints


def print_comparison(measures: Sequence[Measure], console: Console | None = None) -> None:
    """What checkpoints of one recipe say together; the conclusions last."""
    console = console or Console(highlight=False)
    rows = Measures(measures)
    conclusions = rows.where("conclusion")
    for end in conclusions:
        if "diagnostic" not in end.groups:
            continue
        own = Measures(
            row for row in rows if all(row.groups.get(key) == value for key, value in end.groups.items())
        )
        console.print(Text.assemble(*_title(end)))
        console.print(fitting(ACROSS[end.groups["diagnostic"]](own), console))
        for line in _agreement(own):
            console.print(line, soft_wrap=True)
        console.print()
    for block in (_downstream(rows), _between(rows)):
        if block is not None:
            console.print(block)
            console.print()
    for end in conclusions:
        console.print(Text.assemble(("Conclusion, ", "bold"), *_title(end)))
        console.print(Padding(Text(end.note), (0, 0, 1, 2)))


def _title(end: Measure) -> list[tuple[str, str] | str]:
    kind = f" by {end.groups['representation']}" if "representation" in end.groups else ""
    what = end.groups.get("diagnostic", "all diagnostics")
    return [(f"{what}{kind}", "bold"), (f" of {end.groups['recipe']}", "dim")]


def spread_table(rows: Measures) -> Table:
    """Table 1 of the paper: mean and SD over checkpoints by category, with every checkpoint as a dot."""
    table = _table("stereotype score", "mean", "SD", "its interval", "floor", "ratio", "n", ends(SCORE))
    for row in rows.where("mean over checkpoints", of="stereotype score"):
        slice_ = {key: row.groups[key] for key in ("task", "category") if key in row.groups}
        if slice_.get("task", "all") != "all" and slice_["category"] != "all" and rows.where(task="all"):
            continue
        sd, floor, ratio = (
            next(iter(rows.where(name, of="stereotype score", **slice_)), None)
            for name in ("sd over checkpoints", "floor sd", "over-dispersion ratio")
        )
        flagged = sd is not None and ("SD above" in sd.note or "straddles" in sd.note)
        style = "bold" if slice_["category"] == "all" else "yellow" if flagged else ""
        task = slice_.get("task", "all")
        name = task if slice_["category"] == "all" and task != "all" else slice_["category"]
        dots = [one for one in rows.where("stereotype score", **slice_) if "checkpoint" in one.groups]
        table.add_row(
            Text(("  " if name not in ("all", task) else "") + name + (" ▲" if flagged else ""), style),
            Text(percent(row.value), style), Text(percent(sd.value if sd else None), style),
            Text(_ends(sd), "dim"), Text(percent(floor.value if floor else None), "dim"), _number(ratio, 1),
            Text(f"{row.n:,}", "dim"), dotted(dots, SCORE, 0.5),
        )  # fmt: skip
    return table


def effects_table(rows: Measures) -> Table:
    """Figure 3 of the paper: every checkpoint's effect size, agreement of signs, how many are significant."""
    table = _table("test", "mean", "SD", "signs agree", "significant", ends(EFFECT))
    for row in rows.where("mean over checkpoints", of="effect size"):
        test = row.groups["test"]
        sd, signs, significant = (
            next(iter(rows.where(name, test=test)), None)
            for name in ("sd over checkpoints", "sign agreement", "significant share")
        )
        dots = [one for one in rows.where("effect size", test=test) if "checkpoint" in one.groups]
        doubt = significant is not None and significant.value not in (0.0, 1.0)
        split = signs is not None and signs.value != 1.0
        table.add_row(
            Text(test + (" ▲" if doubt or split else ""), "yellow" if doubt or split else ""),
            "–" if row.value is None else f"{row.value:+.2f}", _number(sd), _number(signs, 1),
            Text("" if significant is None else significant.note.split(" have")[0].replace(" checkpoints", "")),
            dotted(dots, EFFECT, 0.0),
        )  # fmt: skip
    return table


def accuracy_table(rows: Measures) -> Table:
    """Figure 2 of the paper: accuracy of clusters beside its chance level; by epoch where there are several."""
    table = _table("concepts", "mean", "SD", "chance", "n", ends((0.4, 1.0)))
    for row in rows.where("mean over checkpoints", of="cluster accuracy"):
        own = {key: value for key, value in row.groups.items() if key in ("test", "category", "epoch")}
        epoch = f", epoch {own['epoch']}" if "epoch" in own else ""
        sd, chance = (
            next(
                (one for one in rows.where(name, **own) if one.groups.get("epoch") == own.get("epoch")), None
            )
            for name in ("sd over checkpoints", "chance accuracy")
        )
        dots = [
            one
            for one in rows.where("cluster accuracy", **own)
            if "checkpoint" in one.groups and one.groups.get("epoch") == own.get("epoch")
        ]
        middle = 0.5 if chance is None or chance.value is None else chance.value
        table.add_row(
            Text(f"{own['category']} ({own['test']}{epoch})"), percent(row.value), percent(sd.value if sd else None),
            Text(percent(chance.value if chance else None), "dim"), Text(f"{row.n:,}", "dim"),
            dotted(dots, (0.4, 1.0), middle),
        )  # fmt: skip
    return table


ACROSS: dict[str, Callable[[Measures], Table]] = {
    "crows": spread_table,
    "stereoset": spread_table,
    "seat": effects_table,
    "clusters": accuracy_table,
}


def _agreement(rows: Measures) -> list[Text]:
    """Figure 1 as bars, and the coefficients in a line."""
    lines = []
    for row in rows.where("share of items"):
        against = row.groups["checkpoints against the majority"]
        words = f"{against} against the majority" if against != "undecided" else "undecided"
        bar = "█" * round((row.value or 0) * 40)
        lines.append(
            Text.assemble(
                f"  {words:<24}",
                (f"{percent(row.value):>5} ", "bold"),
                (bar, "cyan"),
                (f"  {row.note}", "dim"),
            )
        )
    names = ("pairwise agreement", "Fleiss kappa", "Krippendorff alpha", "ICC(2,1)", "category reliability")
    shown = [
        f"{row.name} {row.value:.2f}" for name in names for row in rows.where(name) if row.value is not None
    ]
    needed = [f"{row.value:.0f} checkpoints for 0.9" for row in rows.where("checkpoints needed") if row.value]
    return [*lines, Text("  " + ", ".join([*shown, *needed]), "dim")] if shown else lines


def _downstream(rows: Measures) -> Table | None:
    found = [row for row in rows if row.name == "equivalence p value"]
    if not found:
        return None
    table = _table("downstream", "", "p", "")
    for row in found:
        table.add_row(row.groups["task"], Text(row.groups["recipe"], "dim"), _p(row), Text(row.note, "dim"))
    return table


def _between(rows: Measures) -> Table | None:
    names = ("difference between diagnostics", "agreement of representations")
    found = [row for name in names for row in rows.where(name)]
    if not found:
        return None
    table = _table("between diagnostics", "", "", "")
    for row in found:
        what = row.groups.get("category") or row.groups.get("representation", "")
        sign = "+" if row.name.startswith("difference") else ""
        value = "–" if row.value is None else f"{100 * row.value:{sign}.1f}"
        table.add_row(row.name, what, value, Text(row.note, "dim"))
    return table


# Small things


def strip(row: Measure, scale: tuple[float, float], middle: float) -> Text:
    """A value with its interval on a scale."""
    return _strip([] if row.value is None else [row.value], row.interval, scale, middle)


def dotted(rows: Sequence[Measure], scale: tuple[float, float], middle: float) -> Text:
    """Several values on a scale."""
    return _strip([row.value for row in rows if row.value is not None], None, scale, middle)


def _strip(
    values: Sequence[float], interval: tuple[float, float] | None, scale: tuple[float, float], middle: float
) -> Text:
    def place(value: float) -> int:
        share = (value - scale[0]) / (scale[1] - scale[0])
        return min(WIDTH - 1, max(0, round(share * (WIDTH - 1))))

    cells = [("·", "dim")] * WIDTH
    for at in range(place(interval[0]), place(interval[1]) + 1) if interval else ():
        cells[at] = ("─", "cyan")
    cells[place(middle)] = ("│", "dim")
    places = [place(value) for value in values]
    for at in places:
        many = places.count(at)
        cells[at] = ("●" if many == 1 else str(min(many, 9)), "bold cyan")
    return Text.assemble(*cells)


def ends(scale: tuple[float, float]) -> str:
    """The heading of a strip: its ends."""
    low, high = (f"{100 * end:.0f}" if scale[1] <= 1 else f"{end:+.0f}" for end in scale)
    return low + " " * (WIDTH - len(low) - len(high)) + high


def percent(value: float | None) -> str:
    """A fraction in per cent, one decimal."""
    return "–" if value is None else f"{100 * value:.1f}"


def _share(row: Measure, style: str) -> list[Text]:
    interval = "" if row.interval is None else f"{percent(row.interval[0])} – {percent(row.interval[1])}"
    return [Text(percent(row.value), style), Text(interval, "dim"), Text(f"{row.n:,}", "dim")]


def _ends(row: Measure | None) -> str:
    if row is None or row.interval is None:
        return ""
    return f"{percent(row.interval[0])} – {percent(row.interval[1])}"


def _number(row: Measure | None, digits: int = 2) -> Text:
    return Text("" if row is None else "–" if row.value is None else f"{row.value:.{digits}f}")


def _p(row: Measure | None) -> Text:
    if row is None:
        return Text("")
    if row.value is None:
        return Text("–")
    return Text(
        f"{row.value:.4f}" if row.value >= 1e-4 else f"{row.value:.0e}", "bold" if row.value < 0.01 else ""
    )


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    for at, heading in enumerate(headings):
        strip_ = len(heading) == WIDTH and "  " in heading
        left = at == 0 or strip_ or heading == ""
        shown = heading if strip_ else heading.replace(" % ", "\N{NO-BREAK SPACE}%\n").replace(" ", "\n")
        table.add_column(
            Text(shown), justify="left" if left else "right", no_wrap=True, ratio=0 if strip_ else None
        )
    return table


def fitting(table: Table, console: Console) -> Table:
    """The table without its pictures, where the terminal is too narrow for them."""
    unbounded = console.options.update(width=10 * console.width)
    if console.measure(table, options=unbounded).maximum > console.width:
        table.columns = [column for column in table.columns if column.ratio != 0]
        for at, column in enumerate(table.columns):
            column._index = at  # by which Rich tells the last column, which has no padding behind it
    return table
