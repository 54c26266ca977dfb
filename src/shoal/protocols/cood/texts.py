"""Distinct texts of three classes, split into test, validation and training texts.

    rows ──► roles ──► distinct content ──► short enough ──► test ──► validation ──► training
             three     not twice, not                        the same for            K per class,
             classes   with two labels                       every seed and K        by the seed

Pairs with the same premise stay on one side. A hash of seed and content decides the split, so neither the order of the
file nor K moves a text to another side, and a smaller K uses a subset of a larger one.
"""

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ...core.errors import DataError, PlanError, some
from ...core.files import is_data, stamp
from ...core.records import Example
from ...data.grammar import Row, make_rows
from ...data.labelled import read_labelled
from ...models import load_model
from ...models.interface import HasTokens
from .grid import ROLES
from .settings import Settings

OURS = "opinions"
"""The built-in data."""

KNOWN_ROLES: tuple[dict[str, str], ...] = (
    {"fst": "positive", "sec": "negative", "neu": "neutral"},
    {"fst": "entailment", "sec": "contradiction", "neu": "neutral"},
)
"""The paper's roles, by the names of the classes."""

MAX_TOKENS = 100
"""Longest text or pair, without the template, as in the paper; longer ones are dropped."""

WORD = re.compile(r"\w+|[^\w\s]")
NO_LETTERS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Text:
    """A text, or pair, with the role of its class."""

    id: str
    texts: Example
    y: str
    cluster: str
    """The id of the first text with its premise."""
    key: str
    """The normalised premise, which never occurs on two sides of a split."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The usable texts in the order of the file, and counts of dropped rows."""

    texts: tuple[Text, ...]
    rows: int
    dropped: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Parts:
    """Texts by purpose; no premise is in two parts."""

    test: list[Text]
    validation: list[Text]
    training: list[Text]
    """The remaining texts, from which each seed draws its own."""
    pool: Pool


# Files


def _modified(data: str) -> int:
    """Return when a file was last changed, 0 for the built-in data."""
    if data != OURS and not is_data(data):
        fix = f"a CSV, TSV or JSON Lines file, or {OURS!r}, the built-in data"
        raise DataError(f"data {data!r}: no such file", fix=fix)
    return 0 if data == OURS else stamp(data)[0]


@lru_cache(maxsize=8)
def _rows(
    data: str, stamp: int, columns: Example, label: str, classes: str
) -> tuple[list[tuple[str, Row]], int]:
    """Return each row with its line, and the number of rows without a class; `stamp` invalidates the cache."""
    if data == OURS:
        return [(str(number), row) for number, row in enumerate(make_rows(OURS, "train"), start=1)], 0
    labelled = read_labelled(Path(data), columns, label, json.loads(classes))
    named = [(str(line), row) for line, row in zip(labelled.lines, labelled.rows, strict=True)]
    return named, sum(labelled.left_out.values())


def _read_rows(settings: Settings) -> tuple[list[tuple[str, Row]], int]:
    columns = settings.text, settings.label, json.dumps(settings.classes)
    return _rows(settings.data, _modified(settings.data), *columns)


# Roles


def roles_of(settings: Settings) -> dict[str, str]:
    """Return the class of each role, from the settings or as in the paper."""
    labels = sorted({row.label for _, row in _read_rows(settings)[0]})
    if len(labels) < 3:
        raise DataError(
            f'cood needs a task with at least 3 labels; "{settings.data}" has {len(labels)} ({", ".join(labels)})',
            why="the third class supplies the training texts that disagree with their template",
            fix="other data, another label column, or classes = {…}",
        )
    known = next((roles for roles in KNOWN_ROLES if set(roles.values()) <= set(labels)), {})
    roles = known if settings.roles is None else settings.roles
    chosen = set(roles.values())
    if set(roles) != set(ROLES) or not chosen <= set(labels) or len(chosen) < len(ROLES):
        example = ", ".join(f'{role} = "{label}"' for role, label in zip(ROLES, labels, strict=False))
        raise PlanError(
            f'"{settings.data}": which label is fst, sec and neu?',
            why=f"expected a different label for each, found {roles or 'none'}; labels: {some(labels, 8)}; "
            "the word of neu is never trained on",
            fix=f"roles = {{{example}}}",
        )
    return {role: roles[role] for role in ROLES}


# Distinct texts that are short enough


def content(texts: Iterable[str]) -> str:
    """Return a text without case, punctuation and spacing.

    >>> content(["Loved  it!", "ＯＫ."])
    'loved it ¦ ok'
    """
    return " ¦ ".join(map(_plain, texts))


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return NO_LETTERS.sub(" ", folded).strip() or " ".join(folded.split())


def usable_texts(settings: Settings) -> Pool:
    """Return the usable texts of the data."""
    rows, unnamed = _read_rows(settings)
    roles = {label: role for role, label in roles_of(settings).items()}
    by_content: dict[str, list[tuple[str, Row]]] = {}
    for line, row in rows:
        if row.label in roles:
            by_content.setdefault(content(row.texts), []).append((line, row))
    named = sum(map(len, by_content.values()))
    dropped = Counter({"of another class": unnamed + len(rows) - named})
    kept: list[tuple[str, Row]] = []
    for same in by_content.values():
        if len({row.label for _, row in same}) > 1:
            dropped["the same text with another label"] += len(same)
        else:
            dropped["duplicates"] += len(same) - 1
            kept.append(same[0])
    lengths = count_tokens([row.texts for _, row in kept], settings.tokenizer)
    short = [text for text, length in zip(kept, lengths, strict=True) if length <= MAX_TOKENS]
    unit = "word pieces" if settings.tokenizer else "words and punctuation marks"
    dropped[f"longer than {MAX_TOKENS} {unit}"] = len(kept) - len(short)
    first: dict[str, str] = {}
    texts = tuple(
        Text(line, row.texts, roles[row.label], first.setdefault(key, line), key)
        for line, row in short
        for key in [_plain(row.texts[0])]
    )
    return Pool(texts, len(rows) + unnamed, {why: number for why, number in dropped.items() if number})


def count_tokens(texts: Sequence[Example], tokenizer: str) -> list[int]:
    """Return the length of each text or pair, in word pieces of a model or in words and punctuation marks."""
    if not tokenizer:
        return [sum(len(WORD.findall(text)) for text in example) for example in texts]
    model = load_model(tokenizer)
    if not isinstance(model, HasTokens):
        raise PlanError(f"tokenizer = {tokenizer!r} has no word pieces", fix="tokenizer = hf:FOLDER")
    added = {width: model.lengths([("",) * width])[0] for width in {len(example) for example in texts}}
    lengths = model.lengths(texts)
    return [length - added[len(example)] for example, length in zip(texts, lengths, strict=True)]


# Splits


DECIDING = (
    "data", "text", "label", "classes", "roles", "test_per_label", "validation_per_label", "tokenizer",
)  # fmt: skip
"""The settings that decide the split."""


def split_texts(settings: Settings) -> Parts:
    """Return test, validation and remaining texts; the same for every seed, K, template and control."""
    deciding = {name: getattr(settings, name) for name in DECIDING}
    return _parts(json.dumps(deciding), _modified(settings.data))


@lru_cache(maxsize=4)
def _parts(deciding: str, stamp: int) -> Parts:
    """Split the texts, cached because every job of a sweep needs the split."""
    values = json.loads(deciding)
    settings = Settings(**{**values, "text": tuple(values["text"])})
    pool = usable_texts(settings)
    test, rest = _choose(pool.texts, settings.test_per_label, settings, "test_per_label")
    validation, training = _choose(rest, settings.validation_per_label, settings, "validation_per_label")
    return Parts(test, validation, training, pool)


def _choose(
    texts: Sequence[Text], number: int, settings: Settings, setting: str
) -> tuple[list[Text], list[Text]]:
    """Choose a number of texts per class, by whole premises; return them and the texts with other premises."""
    together: dict[str, list[Text]] = {}
    for text in texts:
        together.setdefault(text.key, []).append(text)
    counts = dict.fromkeys(ROLES, 0)
    chosen: list[Text] = []
    for key in sorted(together, key=lambda key: _hash("test 0", key)):
        if any(counts[text.y] < number for text in together[key]):
            for text in sorted(together.pop(key), key=lambda text: _hash("test 0", content(text.texts))):
                if counts[text.y] < number:
                    counts[text.y] += 1
                    chosen.append(text)
    _check_counts(settings, counts, number, setting)
    return chosen, [text for text in texts if text.key in together]


def training_texts(settings: Settings) -> list[Text]:
    """Return K texts of each class in turn, drawn by the seed."""
    (number,) = settings.shots or settings.per_label
    left = split_texts(settings).training
    ordered = sorted(left, key=lambda text: _hash(f"training {settings.seed}", content(text.texts)))
    texts = {role: [text for text in ordered if text.y == role][:number] for role in ROLES}
    counts = {role: len(chosen) for role, chosen in texts.items()}
    _check_counts(settings, counts, number, "shots" if settings.shots else "per_label")
    return [text for chosen in texts.values() for text in chosen]


def _check_counts(settings: Settings, counts: Mapping[str, int], number: int, setting: str) -> None:
    """Raise an error if a class has fewer texts than the number that a setting asks for."""
    role = min(counts, key=lambda role: counts[role])
    if counts[role] == number:
        return
    dropped = some([f"{count:,} {why}" for why, count in usable_texts(settings).dropped.items()])
    raise DataError(
        f'"{settings.data}": {counts[role]:,} texts of class {roles_of(settings)[role]!r} ({role}) left; '
        f"{setting} = {number:,}",
        why=f"test and validation texts come first, then those to train on; dropped: {dropped or 'none'}",
        fix=f"{setting} = {counts[role]}, or fewer test_per_label",
    )


def _hash(salt: str, key: str) -> bytes:
    return hashlib.sha256(f"{salt}\0{key}".encode()).digest()
