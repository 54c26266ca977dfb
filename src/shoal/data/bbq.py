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
FIELDS = ("context_condition", "question_polarity", "label", "example_id")
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
    def biased_option(self) -> int | None:
        """Return the option that agrees with the stereotype: the target if the question is negative, else the other."""
        if self.target is None or self.negative:
            return self.target
        return next(place for place in range(3) if place not in (self.unknown, self.target))


def read_questions(path: Path) -> list[Question]:
    """Return the questions of a file, or of every file of a folder."""
    questions: dict[str, Question] = {}
    for where, row in read_rows(path):
        with errors_at(where):
            question = _question(row)
            if question.id in questions:
                raise DataError(f"example {question.id!r} occurs twice", fix="fetch the file again")
        questions[question.id] = question
    if not questions:
        raise DataError(f"{path}: no questions", fix="a BBQ file, or a folder of *.jsonl or *.jsonl.gz")
    return list(questions.values())


def read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every object of a file, or of the files of a folder, with its place."""
    decoder = json.JSONDecoder()
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.name.endswith(SUFFIXES))
    for file in files:
        for number, line in read_lines(file):
            where = f"{file}, line {number}"
            while line := line.lstrip():
                try:
                    end = decoder.raw_decode(line)[1]
                except (ValueError, RecursionError):
                    end = len(line)  # json_object says what is wrong with it
                with errors_at(where):
                    row = json_object(line[:end])
                yield where, row
                line = line[end:]


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
    """Return a row of BBQ as a checked question; raise if BBQ cannot have such a row."""
    try:
        options = tuple(row[name] for name in OPTIONS)
        people = [row["answer_info"][name] for name in OPTIONS]
        # A few rows of BBQ do not name the group.
        info = [
            (str(words), str(group or "-".join(row[n].split())))
            for n, (words, group) in zip(OPTIONS, people, strict=True)
        ]
        stereotyped = [str(name) for name in row["additional_metadata"]["stereotyped_groups"]]
        category, context, question = (row[name] for name in ("category", "context", "question"))
        if not all(text.strip() for text in (*options, category, context, question)):
            raise ValueError("a blank text")
        kind, polarity, right, _ = (row[name] for name in FIELDS)
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        raise DataError(f"not a BBQ question: {problem!r}", fix="a row with all fields of BBQ") from None
    unknown = [place for place, (_, group) in enumerate(info) if group == UNKNOWN]
    if len(unknown) != 1:
        raise DataError(f"{len(unknown)} options are {UNKNOWN}", fix="one of three")
    for name, known in (
        ("context_condition", tuple(CONTEXTS)),
        ("question_polarity", POLARITIES),
        ("label", (0, 1, 2)),
    ):
        if row[name] not in known:
            raise DataError(f"{name} is {row[name]!r}", fix=f"one of {some(known)}")
    return Question(
        question_id(row), category, f"{category} {row.get('question_index', '')}",
        context, CONTEXTS[kind], polarity == "neg", question,
        (options[0], options[1], options[2]), int(right), unknown[0], _target(stereotyped, info, unknown[0]),
    )  # fmt: skip


def _target(listed: Sequence[str], info: Sequence[tuple[str, str]], unknown: int) -> int | None:
    """Return the option that is most about the stereotyped groups, None for no such option or several.

    BBQ names a group in another word (woman for F), by parts (F-Black, trans_F), or only by the words for the person
    (Nationality: a Nigerian is of the group Africa). The first of these that finds an option decides.
    """
    stereotyped = {_plain(name) for name in listed}
    groups = [{_plain(group)} for _, group in info]
    parts = [_parts(group) for _, group in info]
    persons = [{_plain(person)} for person, _ in info]
    for names in (groups, parts, persons):
        found = [len(each & stereotyped) for each in names]
        found[unknown] = 0
        if max(found):
            return found.index(max(found)) if found.count(max(found)) == 1 else None
    return None


def _plain(group: str) -> str:
    word = "".join(filter(str.isalnum, group.lower()))
    return "trans" if word.startswith("trans") else SAME.get(word, word)


def _parts(group: str) -> set[str]:
    """Return the names in a group; the last may have several words (F-Middle-Eastern)."""
    pieces = group.replace("_", "-").split("-")
    return {_plain(piece) for piece in pieces} | {_plain("".join(pieces[at:])) for at in range(len(pieces))}
