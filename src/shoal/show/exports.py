"""A comparison as Markdown, CSV or LaTeX: the same rows, the same order, the same bytes every time.

Markdown and LaTeX are for reading: per cent and points, one decimal. CSV is for computing: fractions, every digit.
"""

from collections.abc import Callable
from typing import Any

from ..protocols.behaviour.pairs import ADJUSTMENTS, Comparison, Row
from .csv_tables import rows_as_csv
from .escapes import escape_latex, escape_markdown, plain_line

HEADER = ("", "type", "n", "A", "B", "B − A", "95 % interval", "p", "MDE", "better", "worse")


def as_markdown(found: Comparison) -> str:
    """A table for a pull request or a README."""
    lines = [_line(HEADER), _line(["---", "---", *["--:"] * (len(HEADER) - 2)])]
    for row in found.rows:
        name = escape_markdown(row.name)
        lines.append(
            _line([f"**{name}**" if row.level != "functionality" else name, *_cells(row, escape_markdown)])
        )
    return "\n".join([*lines, "", escape_markdown(caption(found)), ""])


def _line(cells: Any) -> str:
    return "| " + " | ".join(cells) + " |"


def as_latex(found: Comparison) -> str:
    """A table for a paper; needs the booktabs package."""
    body = []
    last = "suite"
    for row in found.rows:
        if row.level != last:
            body.append(r"\midrule")
            last = row.level
        body.append(" & ".join([escape_latex(row.name), *_cells(row, escape_latex)]) + r" \\")
    head = " & ".join(escape_latex(word) for word in HEADER) + r" \\"
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{tabular}{ll" + "r" * (len(HEADER) - 2) + "}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            f"% {plain_line(caption(found))}",
            "",
        ]
    )


def as_csv(found: Comparison) -> str:
    """Every row with every digit; empty where a number is undefined."""
    return rows_as_csv([_numbers(row) for row in found.rows])


def caption(found: Comparison) -> str:
    """What a reader of the table must know."""
    a, b = (", ".join(str(result.job.get("model", "")) for result in side) for side in (found.a, found.b))
    scope = "several seeds" if found.several_seeds else "this checkpoint only"
    return (
        f"A: {a}. B: {b}. Pass rates in per cent on the cases that apply to both; differences in points, B minus A; "
        f"p: {ADJUSTMENTS[found.choices.adjust]}; MDE: smallest difference found 8 times in 10; {scope}."
    )


def _cells(row: Row, escape: Callable[[str], str]) -> list[str]:
    interval = "" if row.interval is None else f"{_points(row.interval[0])} to {_points(row.interval[1])}"
    p = "–" if row.adjusted is None else "<.001" if row.adjusted < 0.001 else f"{row.adjusted:.3f}"
    cells = [
        row.groups.get("test type", "") if row.level == "functionality" else row.level,
        str(row.n),
        *("–" if rate is None else f"{100 * rate:.1f}" for rate in row.rates),
        "–" if row.difference is None else _points(row.difference),
        interval,
        p,
        "–" if row.mde is None or row.significant else f"{100 * row.mde:.1f}",
        str(row.gained),
        str(row.lost),
    ]
    return [escape(cell) for cell in cells]


def _points(value: float) -> str:
    shown = f"{100 * value:+.1f}"
    return "0.0" if float(shown) == 0 else shown.replace("-", "−")


def _numbers(row: Row) -> dict[str, Any]:
    low, high = row.interval or (None, None)
    return {
        "level": row.level,
        "name": row.name,
        "capability": row.groups.get("capability", ""),
        "test type": row.groups.get("test type", ""),
        "n": row.n,
        "A": row.rates[0],
        "B": row.rates[1],
        "difference": row.difference,
        "low": low,
        "high": high,
        "interval method": row.interval_method,
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
        "note": row.note,
    }
