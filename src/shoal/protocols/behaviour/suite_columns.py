"""The rows of a suite file as columns: the usual form, which is read a block at a time.

A block with a row of another form, valid or not, is left to `suite_files`, which reads it row by row and names the row
of an error.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from ...core.files import Cells, UnusualError
from ...core.records import Label
from .suite import NewCases

FIELDS = {
    "text": ("text",),
    "question1": ("question1", "question2"),
    "context": ("context", "question"),
    "premise": ("premise", "hypothesis"),
}
"""The names of an example's texts in a suite file, by the first of them."""


def usual_columns(cells: Cells, *, blank_texts: bool) -> NewCases:
    """Return the rows as columns; raise UnusualError if one of them is not of the usual form."""
    names = cells.column("functionality", str)
    ids = list(map(str, cells.column("case_id", str, int)))
    _require(all(name.strip() for name in set(names)) and all(map(str.strip, ids)))
    examples = cells.column("examples", list)
    sizes = list(map(len, examples))
    texts, width = _texts(list(chain.from_iterable(examples)))
    _require(all(sizes) and (blank_texts or all(map(str.strip, texts))))
    metas = cells.column("meta")
    return NewCases(
        names,
        [f"{name}/{identity}" for name, identity in zip(names, ids, strict=True)],
        texts,
        sizes,
        width,
        _labels(cells.column("labels", str, int, list, type(None)), sizes),
        [cluster or "" for cluster in cells.column("cluster", str, type(None))],
        [{"details": meta} if meta else {} for meta in metas] if any(metas) else [{}] * len(names),
    )


def _require(fact: bool) -> None:
    if not fact:
        raise UnusualError


def _texts(examples: Sequence[Any]) -> tuple[Sequence[str], int]:
    """Return the texts of examples of one form, end to end, and how many each example has."""
    kinds = set(map(type, examples))
    _require(len(kinds) == 1 and kinds <= {str, dict, list})
    texts, width = examples, 1
    if kinds == {dict}:
        fields = FIELDS.get(next(iter(examples[0]), ""), ())
        width = len(fields)
        texts = [example.get(field) for example in examples for field in fields]
    elif kinds == {list}:
        width = len(examples[0])
        texts = list(chain.from_iterable(examples))
    _require(kinds == {str} or set(map(len, examples)) == {width})
    _require(set(map(type, texts)) == {str})
    return texts, width


def _labels(labels: Sequence[Any], sizes: Sequence[int]) -> list[tuple[Label, ...] | None]:
    """Return the labels of each case, one per example."""
    known: dict[tuple[Label, int], tuple[Label, ...]] = {}
    made = [
        label
        if label is None
        else tuple(label)
        if type(label) is list
        else known.get((label, size)) or known.setdefault((label, size), (label,) * size)
        for label, size in zip(labels, sizes, strict=True)
    ]
    listed = list(chain.from_iterable(label for label in labels if type(label) is list))
    words = [label for label in (*listed, *(label for label, _ in known)) if type(label) is str]
    _require(set(map(type, listed)) <= {str, int} and all(word == word.strip() for word in words))
    return made
