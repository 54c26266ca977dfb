"""Questions about passages in SQuAD's JSON: version 1.1, in which every question has an answer.

{"data": [{"paragraphs": [{"context", "qas": [{"question", "answers": [{"text", "answer_start"}]}]}]}]}
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import DataError
from ..core.files import read_json
from .grammar import Row


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the answers that people gave."""

    row: Row
    answers: tuple[str, ...]


def is_squad(path: Path) -> bool:
    """Return whether a file has SQuAD's suffix; tables of JSON objects are .jsonl."""
    return path.name.removesuffix(".gz").endswith(".json")


def read_squad(path: Path) -> list[Question]:
    """Return the questions of a file, in order; training uses the first answer."""
    try:
        found = list(_questions(path, read_json(path)["data"]))
    except (ValueError, KeyError, TypeError, IndexError) as problem:
        raise DataError(
            f"{path}: not SQuAD's JSON",
            why=f"{type(problem).__name__}: {problem}",
            fix="a file of version 1.1, or a table with the columns context, question and answer",
        ) from None
    if not found:
        raise DataError(f"{path}: no questions", fix="check that this is the file you meant")
    return found


def _questions(path: Path, articles: Any) -> Iterator[Question]:
    for article in articles:
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                if not asked["answers"]:
                    raise DataError(
                        f"{path}: question {asked.get('id', '')!r} has no answer",
                        why="questions that cannot be answered are version 2.0's",
                        fix="SQuAD 1.1, or leave those questions out",
                    )
                yield _question(path, paragraph["context"], asked)


def _question(path: Path, context: str, asked: dict[str, Any]) -> Question:
    first = asked["answers"][0]
    text, start = str(first["text"]), int(first["answer_start"])
    if context[start : start + len(text)] != text:
        raise DataError(
            f"{path}: question {asked.get('id', '')!r}: the answer {text[:60]!r} is not at character {start}",
            why=f"the context has {context[start : start + len(text)][:60]!r} there",
            fix="the file as it was published",
        )
    every = tuple(dict.fromkeys(str(answer["text"]) for answer in asked["answers"]))
    return Question(Row((context, str(asked["question"])), text, start), every)
