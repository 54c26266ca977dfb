"""Lay out an explanation: the text in colour, and the words with the largest attributions."""

import numpy as np

from ..core.measures import RATE, shown
from ..core.records import Example, Measure
from ..core.views import Cell, Column, Number, Row, Section, Table, Weighed, WeighedWords, Words
from .attributions import LARGEST_GAP, Attribution, completeness_gap, word_spans

MOST = 8
"""How many words are listed."""
ABSENT = {
    "mask": "absent words are masked",
    "drop": "absent words are left out",
    "zero": "absent words are zero vectors",
}


def section(example: Example, explained: Attribution, method: str) -> Section:
    """Return the section of one explanation, with a warning if the values do not add up."""
    output = Number(Measure("probability", explained.output, 1), "strong")
    gap = completeness_gap(explained) or 0.0
    warning = f"The attributions miss their sum by {100 * gap:.0f} %: use more --samples."
    return Section(
        [Words(explained.label, "strong"), " ", output, " %"],
        blocks=[WeighedWords([weighed(example, explained)]), _table(explained)],
        notes=[_provenance(explained, method)],
        warnings=[warning] if gap > LARGEST_GAP else [],
    )


def weighed(
    example: Example, explained: Attribution, about: Cell = "", *, with_answer: bool = False
) -> Weighed:
    """Return an example as it was written, with the attribution of every word."""
    output = Number(Measure("probability", explained.output, 1), "quiet")
    without = shown(explained.baseline, RATE)
    answer: Cell = (
        [Words(f"→ {explained.label} ", "quiet"), output, Words(f" %, without any word {without} %", "quiet")]
        if with_answer
        else ""
    )
    texts = []
    for number, text in enumerate(example):
        values = iter(explained.of_text(number).tolist())
        pieces: list[tuple[str, float | None]] = []
        last = 0
        for start, end in word_spans(text):
            pieces += [(text[last:start], None), (text[start:end], next(values))]
            last = end
        texts.append([piece for piece in [*pieces, (text[last:], None)] if piece[0]])
    return Weighed(texts, about, answer)


def _table(explained: Attribution) -> Table:
    order = np.argsort(-np.abs(explained.values), kind="stable")[:MOST].tolist()
    several = max(explained.units.texts, default=0) > 0
    rows = []
    for place in order:
        value, text = float(explained.values[place]), explained.units.texts[place]
        where = [["special", "first", "second"][text + 1]] if several else []
        number = Number(Measure("attribution", value, 1), "good" if value > 0 else "bad")
        rows.append(Row([explained.units.words[place], *where, number]))
    more = len(explained.values) - len(rows)
    middle = [Column("text", "left", tone="quiet")] if several else []
    legend = [f"… and {more} more {'word' if more == 1 else 'words'}: --json"] if more else []
    return Table([Column("word", "left"), *middle, Column("attribution")], rows, legend=legend)


def _provenance(explained: Attribution, method: str) -> str:
    """Return the method, its samples, and what replaced absent words."""
    facts = explained.facts
    exact = (
        "exact, from every subset of the words"
        if facts.get("exact")
        else f"{facts['samples']:,} copies of the text"
    )
    made = f"{facts['samples']:,} steps" if method == "gradients" else exact
    absent = ABSENT[str(facts["absent"])]
    without = shown(explained.baseline, RATE)
    sums = "; the attributions add up to the difference" if explained.sums else ""
    return (
        f"Method: {method}, {made}; {absent}. P({explained.label}) is {without} % without any word and "
        f"{shown(explained.output, RATE)} % with all{sums}."
    )
