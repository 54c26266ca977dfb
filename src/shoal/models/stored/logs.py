"""Answers from the logs of other tools (`data/logs`): labels, and probabilities from log-likelihoods."""

from ...core.errors import DataError
from ...data.log import common_choices, lettered, probabilities, questions
from ...data.logs import OpenLog, Sample, open_log
from .columns import Columns, Key, Request

BY_COLUMN = ("format", "id", "label", "probabilities", "rows")
"""Options that name columns: then the file is read as a table or JSON like any other."""


def is_log(request: Request, start: bytes) -> bool:
    """Return whether a file is a log, and no option names its columns."""
    options = request.options
    named = [name for name in BY_COLUMN if getattr(options, name) not in ("", None)]
    return not named and not request.path.is_dir() and open_log(request.path) is not None


def read_log(request: Request) -> Columns:
    """Return the answer to each sample."""
    log = open_log(request.path)
    if log is None:
        raise DataError(f"{request.path}: not a log of a tool that shoal knows", fix="remove format=log")
    choices = common_choices(log)
    columns = Columns(request.path, log.unit, column_names=choices)
    seen: dict[str, tuple[str, str]] = {}
    texts: list[str] = []
    for number, sample, question in questions(log):
        answered = lettered(question, choices)
        same = sample.run, answered.answer
        if seen.setdefault(sample.id, same) != same:
            raise _several_answers(log, sample)
        if len(seen) == len(texts):  # the same answer, graded by another metric or filter
            continue
        texts.append("\n".join(answered.texts))
        key = Key(None, *(sample.case or (sample.id, 0)))
        if not answered.answer:
            columns.add_error(number, sample.error or "the answer is empty", key)
        else:
            fits = len(question.likelihoods) == len(choices) > 1
            shares = probabilities(question.likelihoods) if fits else ()
            columns.add(number, answered.answer, shares, key)
    columns.texts = {"text": texts} if any(texts) else {}
    columns.generated = not any(columns.widths)
    return columns


def _several_answers(log: OpenLog, sample: Sample) -> DataError:
    fix = f"scores:{log.path}, which takes them as runs"
    if not sample.run:
        fix = f'one filter: grep \'"filter": "NAME"\' {log.path} > one.jsonl'
    return DataError(
        f"{log.path}: several answers to sample {sample.id!r}",
        why="predictions have one answer per case; epochs, repeats and filters give more",
        fix=fix,
    )
