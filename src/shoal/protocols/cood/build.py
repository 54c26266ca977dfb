"""Build the biased training set and the nine cells of the test set (`docs/method/cood.md` 3.3).

training     fst/fst, sec/sec, neu/fst, neu/sec      K items each: the label of the text alone predicts the target
validation   the same cells, other texts             select the epoch
test         all nine cells, other texts again       M items each, the same texts in all cells of a row
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import PlanError
from ...core.files import refusing, writing
from ...core.records import Case, Example
from ...training.stage import Progress, silent
from ..base import Built
from .grid import CELLS, LABELS, ROLES, cells_of, target
from .settings import SLOT, Settings
from .texts import Text, roles_of, split_texts, training_texts

KNOWN_NAMES = {"positive": "great", "neutral": "okay", "negative": "terrible"}
"""The paper's words for sentiment (its Table 1); other classes use their own names."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a text and a class word form an input."""

    template: str
    words: Mapping[str, str]
    """Role to the word of its class."""
    shown: str = "both"
    """both, text only or template only."""

    def example(self, texts: Example, t: str) -> Example:
        """Return the text followed by the statement about its class; in a pair, it follows the second text."""
        statement = self.template.replace(SLOT, self.words[t])
        if self.shown == "template only":
            return (statement,)
        return texts if self.shown == "text only" else (*texts[:-1], f"{texts[-1]} {statement}")


def shape_of(settings: Settings) -> Shape:
    """Return the template and the words, validated."""
    (template,), (control,) = settings.template, settings.control
    if template.count(SLOT) != 1:
        raise PlanError(
            f"template = {template!r} has {template.count(SLOT) or 'no'} slots",
            why=f"{SLOT} marks the place of the class word and must occur once",
            fix=f'template = "It is {SLOT}"',
        )
    shown = control if control in ("text only", "template only") else "both"
    return Shape(template, class_words(settings), shown)


def class_words(settings: Settings) -> dict[str, str]:
    """Return the word of each role, looked up by class and not by position (the paper's table is ambiguous)."""
    roles = roles_of(settings)
    known = KNOWN_NAMES if set(roles.values()) == set(KNOWN_NAMES) else {}
    chosen = next(iter(settings.names), None) if not isinstance(settings.names, dict) else settings.names
    names: Mapping[str, str] = chosen or {label: known.get(label, label) for label in roles.values()}
    words = {role: names.get(label, "").strip() for role, label in roles.items()}
    distinct = {word.casefold() for word in words.values() if word}
    if set(names) != set(roles.values()) or len(distinct) < len(ROLES):
        raise PlanError(
            f"names: {', '.join(f'{label} = {word!r}' for label, word in names.items())}",
            why=f"expected a different word for each of {', '.join(roles.values())}",
            fix='names = {LABEL = "word"} for each of them',
        )
    return words


# Cases


def build(settings: Settings, progress: Progress = silent) -> Built:
    """Build the test and validation cases, which are the same for every seed and K."""
    parts, shape = split_texts(settings), shape_of(settings)
    about: dict[str, Any] = {"data": settings.data, "roles": roles_of(settings), "words": dict(shape.words)}
    about |= {"rows": parts.pool.rows, "dropped": dict(parts.pool.dropped), "left": len(parts.training)}
    test = _cases(shape, parts.test, CELLS, "test")
    return Built(test + _cases(shape, parts.validation, cells_of("ID"), "validation"), LABELS, about=about)


def training_items(settings: Settings) -> list[Case]:
    """Return the biased training set, or that of a control."""
    cells = CELLS if settings.control == ("all cells",) else cells_of("ID")
    return _cases(shape_of(settings), training_texts(settings), cells, "train")


def _cases(shape: Shape, texts: Sequence[Text], cells: Iterable[str], split: str) -> list[Case]:
    cases = []
    for cell in cells:
        y, _, t = cell.partition("/")
        groups = {"cell": cell, "kind": CELLS[cell], "split": split}
        for text in texts:
            if text.y == y:
                examples, about = (shape.example(text.texts, t),), {"text": text.id}
                cases.append(
                    Case(f"{cell}/{text.id}", examples, (target(cell),), groups, text.cluster, about)
                )
    return cases


def export(settings: Settings, folder: Path) -> None:
    """Write train.jsonl, validation.jsonl and test.jsonl, to train and query a model elsewhere.

    A line is {"case_id", "texts", "label", "cell"}; predictions name the same case ids.
    """
    with refusing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    cases = [*training_items(settings), *build(settings).cases]
    for split in ("train", "validation", "test"):
        with writing(folder / f"{split}.jsonl") as stream:
            for case in (case for case in cases if case.groups["split"] == split):
                cell = case.groups["cell"]
                row = {"case_id": case.id, "texts": case.examples[0], "label": target(cell), "cell": cell}
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")
