"""BBQ (Parrish et al. 2022): questions about two groups of people, each in an ambiguous and a disambiguated context.

JSON Lines, gzipped or not; objects may follow one another on a line. In an ambiguous context the right answer is the
option that says "unknown". `stereotyped_groups` names the target: the group that a stereotype is about.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import DataError, errors_at, some
from ..core.files import json_object, read_lines

OPTIONS = ("ans0", "ans1", "ans2")
CONTEXTS = {"ambig": "ambiguous", "disambig": "disambiguated"}
POLARITIES = ("neg", "nonneg")
UNKNOWN = "unknown"
SUFFIXES = (".jsonl", ".jsonl.gz")
SAME = {
    **dict.fromkeys(("woman", "women", "girl", "girls", "female"), "f"),
    **dict.fromkeys(("man", "men", "boy", "boys", "male"), "m"),
    "latina": "latino",
}
"""Names of groups that BBQ spells in several ways."""


@dataclass(frozen=True, slots=True)
class Question:
    """A context, a question about it, and three options."""

    id: str
    category: str
    template: str
    """Questions of one template are written alike and differ in the groups that they name."""
    context: str
    context_kind: str
    """ambiguous or disambiguated."""
    negative: bool
    """Whether the question asks who did the harmful thing, so that naming the target is biased."""
    question: str
    options: tuple[str, str, str]
    right: int
    unknown: int
    target: int | None
    """The option that names the stereotyped group, None if that is not exactly one."""

    @property
    def biased(self) -> int | None:
        """Return the option that agrees with the stereotype: the target if the question is negative, else the other."""
        if self.target is None or self.negative:
            return self.target
        return next(place for place in range(3) if place not in (self.unknown, self.target))


def bbq_files(path: Path) -> list[Path]:
    """Return the files of a folder, or the file itself."""
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.name.endswith(SUFFIXES))
    if not files:
        raise DataError(
            f"{path}: no BBQ files", why="looked for *.jsonl and *.jsonl.gz", fix="give a BBQ file"
        )
    return files


def read_questions(path: Path) -> list[Question]:
    """Return the questions of a file, or of every file of a folder."""
    questions: dict[str, Question] = {}
    for where, row in read_rows(path):
        with errors_at(where):
            question = _question(row)
            if question.id in questions:
                raise DataError(f"example {question.id!r} is there twice", fix="fetch the file again")
        questions[question.id] = question
    if not questions:
        raise DataError(f"{path}: no questions", fix="check that this is the file you meant")
    return list(questions.values())


def read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every object with its place."""
    decoder = json.JSONDecoder()
    for file in bbq_files(path):
        for number, line in read_lines(file):
            where, start = f"{file}, line {number}", 0
            while rest := line[start:].lstrip():
                try:
                    end = decoder.raw_decode(rest)[1]
                except (ValueError, RecursionError):
                    end = len(rest)  # json_object says what is wrong with it
                yield where, json_object(rest[:end], where)
                start = len(line) - len(rest) + end


def question_id(row: Mapping[str, Any]) -> str:
    """Return the id of a row: example ids count from 0 in every category."""
    return f"{row.get('category', '')}-{row.get('example_id', '')}"


def normal(answer: str) -> str:
    """Return an answer in the form in which answers and options are compared.

    >>> normal(" {The Muslim one.} "), normal("Can't answer")
    ('the muslim one', "can't answer")
    """
    return answer.strip().strip("{}").strip().removesuffix(".").strip().lower()


def matching_option(answer: str, options: Sequence[str]) -> int | None:
    """Return the place of the option that an answer names, None for none or several."""
    places = [place for place, option in enumerate(options) if normal(option) == normal(answer)]
    return places[0] if len(places) == 1 else None


def _question(row: Mapping[str, Any]) -> Question:
    options = tuple(_text(row, name) for name in OPTIONS)
    info = [_info(row, name) for name in OPTIONS]
    groups = [group for _, group in info]
    unknown = [place for place, group in enumerate(groups) if group == UNKNOWN]
    right = row.get("label")
    if len(unknown) != 1:
        raise DataError(
            f"{len(unknown)} options are {UNKNOWN}", why=f"groups: {some(groups)}", fix="one of three"
        )
    if isinstance(right, bool) or right not in (0, 1, 2):
        raise DataError(f"label is {right!r}", fix="0, 1 or 2: the place of the right option")
    kind, polarity = (_one_of(row, name, known) for name, known in (
        ("context_condition", tuple(CONTEXTS)), ("question_polarity", POLARITIES)
    ))  # fmt: skip
    if "example_id" not in row:
        raise DataError("no example_id", fix="the id that BBQ gives each example")
    category = _text(row, "category")
    return Question(
        question_id(row), category, f"{category} {row.get('question_index', '')}",
        _text(row, "context"), CONTEXTS[kind], polarity == "neg", _text(row, "question"),
        (options[0], options[1], options[2]), int(right), unknown[0], _target(row, info, unknown[0]),
    )  # fmt: skip


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{name} is {value!r}", fix=f"a BBQ row with {name}")
    return value


def _one_of(row: Mapping[str, Any], name: str, known: Sequence[str]) -> str:
    value = row.get(name)
    if value not in known:
        raise DataError(f"{name} is {value!r}", fix=" or ".join(known))
    return str(value)


def _info(row: Mapping[str, Any], name: str) -> tuple[str, str]:
    """Return the words for an option's person and the person's group; a few rows of BBQ name neither."""
    info = row.get("answer_info")
    pair = info.get(name) if isinstance(info, Mapping) else None
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(text, str) for text in pair):
        raise DataError(
            f"answer_info has no group for {name}", fix='"answer_info": {"ans0": ["text", "group"], …}'
        )
    return pair[0], pair[1] or "-".join(row[name].split())


def _target(row: Mapping[str, Any], info: Sequence[tuple[str, str]], unknown: int) -> int | None:
    """Return the option that is most about the stereotyped groups, None for no such option or several.

    BBQ names a group in another word (woman for F), by parts (F-Black, trans_F), or only by the words for the person
    (Nationality: a Nigerian is of the group Africa). The first of these that finds an option decides.
    """
    about = row.get("additional_metadata")
    listed = about.get("stereotyped_groups") if isinstance(about, Mapping) else None
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise DataError(
            "no stereotyped_groups", fix='"additional_metadata": {"stereotyped_groups": ["group"]}'
        )
    stereotyped = {_plain(name) for name in listed}
    for names_of in (_group_name, _group_parts, _person):
        found = [len(names_of(pair) & stereotyped) for pair in info]
        found[unknown] = 0
        if max(found):
            return found.index(max(found)) if found.count(max(found)) == 1 else None
    return None


def _plain(group: str) -> str:
    word = "".join(filter(str.isalnum, group.lower()))
    return "trans" if word.startswith("trans") else SAME.get(word, word)


def _group_name(pair: tuple[str, str]) -> set[str]:
    return {_plain(pair[1])}


def _group_parts(pair: tuple[str, str]) -> set[str]:
    """Return the names in a group; the last may have several words (F-Middle-Eastern)."""
    pieces = pair[1].replace("_", "-").split("-")
    return {_plain(piece) for piece in pieces} | {_plain("".join(pieces[at:])) for at in range(len(pieces))}


def _person(pair: tuple[str, str]) -> set[str]:
    return {_plain(pair[0])}
