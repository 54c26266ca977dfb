"""Data to distinct texts of three classes, and which of them are tested, validated and trained on.

    rows ──► roles ──► distinct content ──► short enough ──► test ──► validation ──► training
             three     not twice, not                        the same for            K per class,
             classes   with two labels                       every seed and K        by the seed

Texts that read the same, whatever their case and punctuation, count as one. Pairs that share their first text, the
premise, stay on one side. What is drawn is told by a hash of the seed and the content: neither the order of the file
nor K moves a text from one side to the other, and the texts of a smaller K are among those of a larger.
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

from ...core.errors import DataError, PlanError, nearest, some
from ...core.records import Example
from ...data.grammar import Row, make_rows
from ...data.labelled import read_labelled
from ...models import load_model
from ...models.interface import HasTokens
from .cells import ROLES
from .settings import Settings

OURS = "opinions"
"""The data set that needs no file."""

KNOWN_ROLES: tuple[dict[str, str], ...] = (
    {"fst": "positive", "sec": "negative", "neu": "neutral"},
    {"fst": "entailment", "sec": "contradiction", "neu": "neutral"},
)
"""As in the paper, by the names of the classes."""

WORD = re.compile(r"\w+|[^\w\s]")
NO_LETTERS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Text:
    """One text, or pair, with the role of its class."""

    id: str
    texts: Example
    y: str
    cluster: str
    """The id of the first text that shares its premise; its own where none does."""
    key: str
    """What it must not share with a text on the other side."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The texts that may be used, in the order of the file, and what was left out on the way to them."""

    texts: tuple[Text, ...]
    rows: int
    dropped: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Parts:
    """Texts by what they are for; no content is in two parts."""

    test: list[Text]
    validation: list[Text]
    training: list[Text]
    """All that is left; each seed draws its own from it."""
    rows: int
    dropped: Mapping[str, int]


# Files


def digest(data: str) -> str:
    """The content of a file, or of our own data, as a hash."""
    if not data:
        return ""
    content = Path(data).read_bytes() if _is_file(data) else repr(_rows(data, 0, (), "", "null")).encode()
    return hashlib.sha256(content).hexdigest()[:16]


def _is_file(data: str) -> bool:
    if data != OURS and not Path(data).is_file():
        raise DataError(
            f"data {data!r}: no such file",
            why=f"a CSV, TSV or JSON Lines file is expected, or {OURS!r}, which ships with shoal",
            fix=nearest(data, [OURS]) or 'data = "reviews.csv"',
        )
    return data != OURS


@lru_cache(maxsize=8)
def _rows(
    data: str, stamp: int, columns: Example, label: str, classes: str
) -> tuple[list[tuple[str, Row]], int]:
    """Each row with its line as a name, and how many rows are of no class; `stamp` tells another file of this name."""
    if data == OURS:
        return [(str(number), row) for number, row in enumerate(make_rows(OURS, "train"), start=1)], 0
    labelled = read_labelled(Path(data), columns, label, json.loads(classes))
    named = [(str(line), row) for line, row in zip(labelled.lines, labelled.rows, strict=True)]
    return named, sum(labelled.left_out.values())


def _rows_of(settings: Settings, data: str) -> tuple[list[tuple[str, Row]], int]:
    stamp = Path(data).stat().st_mtime_ns if _is_file(data) else 0
    return _rows(data, stamp, settings.text, settings.label, json.dumps(settings.classes))


# Roles


def roles_of(settings: Settings) -> dict[str, str]:
    """Role to class: as the settings say, or as the paper has it for classes of these names."""
    labels = sorted({row.label for _, row in _rows_of(settings, settings.data)[0]})
    if len(labels) < 3:
        raise DataError(
            f'cood needs a task with at least 3 labels; "{settings.data}" has {len(labels)} ({", ".join(labels)})',
            why="the third supplies the training texts that disagree with their template",
            fix="other data, another label column, or classes = {…}",
        )
    if settings.roles is None:
        known = next((roles for roles in KNOWN_ROLES if set(roles.values()) <= set(labels)), None)
        if known is None:
            shown = ", ".join(f'{role} = "{label}"' for role, label in zip(ROLES, labels, strict=False))
            raise PlanError(
                f'"{settings.data}": which label is fst, sec and neu?',
                why=f"labels: {some(labels, 8)}; neu is the one whose word is never trained on",
                fix=f"roles = {{{shown}}}",
            )
        return known
    _check_roles(settings.roles, labels)
    return {role: settings.roles[role] for role in ROLES}


def _check_roles(roles: Mapping[str, str], labels: Sequence[str]) -> None:
    if set(roles) != set(ROLES):
        raise PlanError(
            f"roles name {', '.join(roles) or 'nothing'}",
            why="fst, sec and neu are expected",
            fix='roles = {fst = "positive", sec = "negative", neu = "neutral"}, with labels of the data',
        )
    for role, label in roles.items():
        if label not in labels:
            raise PlanError(
                f"roles: {role} = {label!r} is no label of the data",
                why=f"labels: {some(labels, 8)}",
                fix=nearest(label, labels) or "one of those",
            )
    if len(set(roles.values())) < len(ROLES):
        raise PlanError(
            f"roles: {', '.join(roles.values())}",
            why="three different classes are expected",
            fix="a label of its own for each role",
        )


# Distinct texts that are short enough


def content(texts: Iterable[str]) -> str:
    """What a text says, without case, punctuation and spacing.

    >>> content(["Loved  it!", "ＯＫ."])
    'loved it ¦ ok'
    """
    return " ¦ ".join(map(_plain, texts))


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return NO_LETTERS.sub(" ", folded).strip() or " ".join(folded.split())


def pool_of(settings: Settings, data: str) -> Pool:
    """The usable texts of a file."""
    named, unnamed = _rows_of(settings, data)
    roles = {label: role for role, label in roles_of(settings).items()}
    by_content: dict[str, list[tuple[str, Row]]] = {}
    dropped: Counter[str] = Counter()
    for line, row in named:
        if row.label in roles:
            by_content.setdefault(content(row.texts), []).append((line, row))
    dropped["of another class"] = unnamed + len(named) - sum(map(len, by_content.values()))
    kept: list[tuple[str, Row]] = []
    for same in by_content.values():
        if len({row.label for _, row in same}) > 1:
            dropped["the same text with another label"] += len(same)
        else:
            dropped["the same text again"] += len(same) - 1
            kept.append(same[0])
    lengths = count_tokens([row.texts for _, row in kept], settings.tokenizer)
    short = [text for text, length in zip(kept, lengths, strict=True) if length <= settings.max_tokens]
    unit = "word pieces" if settings.tokenizer else "words and punctuation marks"
    dropped[f"longer than {settings.max_tokens} {unit}"] = len(kept) - len(short)
    first: dict[str, str] = {}
    texts = tuple(
        Text(line, row.texts, roles[row.label], first.setdefault(key, line), key)
        for line, row in short
        for key in [_plain(row.texts[0])]
    )
    return Pool(texts, len(named) + unnamed, {why: number for why, number in dropped.items() if number})


def count_tokens(texts: Sequence[Example], tokenizer: str) -> list[int]:
    """How long each text or pair is: in a model's word pieces, or in words and punctuation marks.

    >>> count_tokens([("Loved it.",), ("A man sleeps.", "He's awake.")], "")
    [3, 9]
    """
    if not tokenizer:
        return [sum(len(WORD.findall(text)) for text in example) for example in texts]
    model = load_model(tokenizer)
    if not isinstance(model, HasTokens):
        raise PlanError(f"tokenizer = {tokenizer!r} has no word pieces", fix="hf:FOLDER of a model")
    added = {width: model.lengths([("",) * width])[0] for width in {len(example) for example in texts}}
    lengths = model.lengths(texts)
    return [length - added[len(example)] for example, length in zip(texts, lengths, strict=True)]


# What each is for


DECIDING = (
    "data", "test_data", "text", "label", "classes", "roles", "test_per_label", "validation_per_label",
    "max_tokens", "tokenizer", "test_seed",
)  # fmt: skip
"""The settings on which the parts depend."""


def parts_of(settings: Settings) -> Parts:
    """Test and validation texts, and what is left to train on; the same for every seed, K, template and control."""
    stamps = [
        Path(data).stat().st_mtime_ns
        for data in (settings.data, settings.test_data)
        if data and _is_file(data)
    ]
    return _parts(json.dumps({name: getattr(settings, name) for name in DECIDING}), *stamps)


@lru_cache(maxsize=4)
def _parts(deciding: str, *stamps: int) -> Parts:
    """Kept, since every job of a sweep asks for them."""
    given = json.loads(deciding)
    settings = Settings(**{**given, "text": tuple(given["text"])})
    pool = pool_of(settings, settings.data)
    source = pool_of(settings, settings.test_data) if settings.test_data else pool
    salt = f"test {settings.test_seed}"
    test, taken = _choose(source.texts, settings.test_per_label, salt, settings, "test")
    rest = [text for text in source.texts if text.key not in taken]
    validation, more = _choose(rest, settings.validation_per_label, salt, settings, "validate")
    taken |= more
    training = [text for text in pool.texts if text.key not in taken]
    return Parts(test, validation, training, pool.rows, pool.dropped)


def _choose(
    texts: Sequence[Text], number: int, salt: str, settings: Settings, what: str
) -> tuple[list[Text], set[str]]:
    """So many texts of each class, whole premises at a time, and the keys that are thereby taken."""
    together: dict[str, list[Text]] = {}
    for text in texts:
        together.setdefault(text.key, []).append(text)
    wanted = dict.fromkeys(ROLES, number)
    chosen: list[Text] = []
    taken: set[str] = set()
    for key in sorted(together, key=lambda key: _hash(salt, key)):
        if not any(wanted.values()):
            break
        if any(wanted[text.y] for text in together[key]):
            taken.add(key)
            for text in sorted(together[key], key=lambda text: _hash(salt, content(text.texts))):
                if wanted[text.y]:
                    wanted[text.y] -= 1
                    chosen.append(text)
    if any(wanted.values()):
        raise _too_few(settings, {role: number - left for role, left in wanted.items()}, number, what)
    return chosen, taken


def training_texts(settings: Settings) -> dict[str, list[Text]]:
    """K texts of each class, drawn by the seed."""
    (number,) = settings.per_label
    left = parts_of(settings).training
    texts = {}
    for role in ROLES:
        ordered = sorted(
            (text for text in left if text.y == role),
            key=lambda text: _hash(f"training {settings.seed}", content(text.texts)),
        )
        texts[role] = ordered[:number]
    if any(len(chosen) < number for chosen in texts.values()):
        raise _too_few(settings, {role: len(chosen) for role, chosen in texts.items()}, number, "train on")
    return texts


def _too_few(settings: Settings, counts: Mapping[str, int], number: int, what: str) -> DataError:
    role = min(counts, key=lambda role: counts[role])
    label = roles_of(settings)[role]
    data = (settings.test_data if what != "train on" else "") or settings.data
    dropped = "; ".join(f"{count:,} {why}" for why, count in pool_of(settings, data).dropped.items())
    name = {"test": "test_per_label", "validate": "validation_per_label"}.get(what, "per_label")
    return DataError(
        f'"{data}": {counts[role]:,} texts of class {label!r} ({role}) left to {what}; {name} asks for {number:,}',
        why="test and validation texts come first, then K = per_label to train on"
        + (f"; dropped: {dropped}" if dropped else ""),
        fix=f"{name} = {counts[role]}, or fewer test_per_label",
    )


def _hash(salt: str, key: str) -> bytes:
    return hashlib.sha256(f"{salt}\0{key}".encode()).digest()
