"""An explanation as it is shown: the text in colour, the words that count most, and whether to believe it."""

from collections.abc import Iterator, Sequence

import numpy as np

from ..core.measures import RATE, shown
from ..core.records import Example, Finding, Measure
from ..core.views import (
    Block,
    Cell,
    Column,
    Curves,
    Line,
    Number,
    Row,
    Section,
    Table,
    Weighed,
    WeighedWords,
    Words,
)
from .attributions import Attribution
from .quality import GRID
from .words import word_spans

MOST = 8
"""So many words are listed."""
LITTLE = 0.05
"""Colours are shares of the word that counts most; where that one changes a probability by less, this is said."""
WORDS_FOR = {
    "completeness gap": "missing from the sum of the values, %",
    "seed correlation": "rank correlation between draws",
    "deletion area": "mean probability, %, while the words that count most go first",
    "deletion at random area": "the same, words going in random order",
    "insertion area": "mean probability, %, while the words that count most come first",
    "insertion at random area": "the same, words coming in random order",
    "correlation with random weights": "rank correlation with a network that has learnt nothing",
}
CURVES = {
    "deletion area": "most important gone first",
    "deletion at random area": "in random order",
    "insertion area": "most important there first",
}
ABSENT = {
    "mask": "absent words are masked",
    "drop": "absent words are left out",
    "zero": "absent words are zeros",
}


def sections(
    example: Example,
    explained: Attribution,
    method: str,
    measures: Sequence[Measure],
    findings: Sequence[Finding],
) -> list[Section]:
    """What to show of one explanation, and of its quality where that was measured."""
    output = Measure("probability", explained.output, 1)
    title: list[Words | Number | str] = [
        Words(explained.label, "strong"),
        " ",
        Number(output, "strong"),
        " %",
    ]
    parts = [
        Section(
            title,
            blocks=[WeighedWords([weighed(example, explained)], name="words"), _table(explained)],
            notes=[*_little(explained), _made(explained, method)],
            warnings=[finding.text for finding in findings],
        )
    ]
    if measures:
        parts.append(Section("Can this be believed?", blocks=[_quality(measures), *_curves(measures)]))
    return parts


def weighed(
    example: Example, explained: Attribution, about: Cell = "", *, with_answer: bool = False
) -> Weighed:
    """An example as it was written, every word with how much it counted."""
    output = Number(Measure("probability", explained.output, 1), "quiet")
    answer: Cell = (
        [Words(f"→ {explained.label} ", "quiet"), output, Words(" %", "quiet")] if with_answer else ""
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
    columns = [
        Column("word", "left"),
        *([Column("text", "left", tone="quiet")] if several else []),
        Column("counts"),
    ]
    return Table(
        columns,
        rows,
        legend=[f"… and {more} more {'word' if more == 1 else 'words'}: --json"] if more else [],
    )


def _little(explained: Attribution) -> list[str]:
    """LIME's values are left alone: what it draws them towards 0 by is its own."""
    most = float(np.abs(explained.values).max(initial=0.0))
    if most >= LITTLE or not explained.sums:
        return []
    return [
        f"No word counts for much, whatever its colour: for {shown(most, RATE)} points of probability at the most."
    ]


def _made(explained: Attribution, method: str) -> str:
    """How the values came to be, in words."""
    facts = explained.facts
    exact = "exact, every copy asked" if facts.get("exact") else f"{facts['samples']:,} copies"
    made = f"{facts['samples']:,} steps" if method == "gradients" else exact
    absent = ABSENT[str(facts["absent"])]
    without = shown(explained.baseline, RATE)
    sums = ": the values add up to the difference" if explained.sums else ""
    return f"{method}: {made}; {absent}; without any word {without} %{sums}."


def _quality(measures: Sequence[Measure]) -> Table:
    rows = [
        Row([words, Number(row, instead=str(row.facts.get("undefined", "does not apply")))])
        for name, words in WORDS_FOR.items()
        for row in measures
        if row.name == name
    ]
    return Table([Column("", "left"), Column("")], rows)


def _curves(measures: Sequence[Measure]) -> Iterator[Block]:
    rows = {row.name: row for row in measures if "curve" in row.facts}
    lines = [
        Line(
            name,
            [
                (float(100 * place), Measure("probability", value, rows[area].n))
                for place, value in zip(GRID, rows[area].facts["curve"], strict=True)
            ],
        )
        for area, name in CURVES.items()
        if area in rows
    ]
    if lines:
        yield Curves("words, %", lines, title="Probability as words go, or come")
