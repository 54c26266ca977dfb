"""An explanation as it is shown: the text in colour, the words that count most, and whether to believe it."""

from collections.abc import Iterator, Sequence

import numpy as np

from ..measures import RATE, shown
from ..records import Example, Finding, Measure
from ..views import Block, Column, Curves, Line, Number, Row, Section, Table, Text, Tone, Tones, Words
from .attributions import Attribution
from .quality import GRID
from .words import word_spans

MOST = 8
"""So many words are listed."""
STRONG, WEAK = 0.5, 0.1
"""Of the largest value: words from the first on stand out, words below the second are left plain."""
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
            blocks=[*text_blocks(example, explained), _table(explained)],
            notes=[_made(explained, method)],
            warnings=[finding.text for finding in findings],
        )
    ]
    if measures:
        parts.append(Section("Can this be believed?", blocks=[_quality(measures), *_curves(measures)]))
    return parts


def text_blocks(example: Example, explained: Attribution) -> Iterator[Block]:
    """Each text as it was written, its words in colour: for the label, or against it."""
    largest = float(np.abs(explained.values).max(initial=0.0))
    for number, text in enumerate(example):
        values = iter(explained.of_text(number).tolist())
        pieces: list[Words | Number | str] = []
        last = 0
        for start, end in word_spans(text):
            pieces += [text[last:start], Words(text[start:end], tone_of(next(values), largest))]
            last = end
        yield Text([piece for piece in [*pieces, text[last:]] if piece])


def tone_of(value: float, largest: float) -> Tones:
    """Good for the label, bad against it; strong for what counts most.

    >>> tone_of(0.3, 0.4), tone_of(-0.1, 0.4), tone_of(0.01, 0.4)
    (('strong', 'good'), 'bad', '')
    """
    share = abs(value) / largest if largest else 0.0
    if share < WEAK:
        return ""
    side: Tone = "good" if value > 0 else "bad"
    return ("strong", side) if share >= STRONG else side


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
    return Table(columns, rows, legend=[f"… and {more} more words: --json"] if more else [])


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
