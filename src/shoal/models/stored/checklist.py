"""CheckList's five text formats: one line per example, in the suite's order (docs/method/checklist.md 2.5).

Their convention: a number counts the suite's labels from 0, and so does the place of a probability. In `binary_conf`
the number is the probability of class 1. Which of them a file is cannot be told from it: `?format=` says so, unless it
is CheckList's default, `pred_and_softmax`.
"""

from collections.abc import Iterator

from ...core.errors import DataError
from ...core.files import read_lines
from .asked import Request
from .columns import Columns, number_from, shown

TOLERANCE = 1e-3
"""Text formats are written with few digits."""


def read_pred_only(request: Request) -> Columns:
    """A prediction per line."""
    columns = _columns(request)
    for line, text in _example_lines(request, empty_too=True):
        columns.add(line, text.strip(), ())
    return columns


def read_binary_conf(request: Request) -> Columns:
    """The probability of class 1 per line."""
    columns = _columns(request)
    for line, text in _example_lines(request):
        (positive,) = _numbers(request, line, [text])
        columns.add(line, None, [1 - positive, positive])
    return columns


def read_softmax(request: Request) -> Columns:
    """The probabilities of all classes per line."""
    columns = _columns(request)
    for line, text in _example_lines(request):
        numbers = _numbers(request, line, text.split())
        if len(numbers) < 2:
            raise _other_format(request, line, "two or more probabilities are", text)
        columns.add(line, None, numbers)
    return columns


def read_pred_and_conf(request: Request) -> Columns:
    """A label and its confidence per line."""
    columns = _columns(request)
    for line, text in _example_lines(request):
        label, *words = text.split()
        if len(words) != 1:
            raise _other_format(request, line, "a label and a confidence are", text)
        columns.add(line, label, _numbers(request, line, words))
    return columns


def read_pred_and_softmax(request: Request) -> Columns:
    """A label, then the probabilities of all classes."""
    columns = _columns(request)
    for line, text in _example_lines(request):
        label, *words = text.split()
        if len(words) < 2:
            raise _other_format(request, line, "a label and two or more probabilities are", text)
        columns.add(line, label, _numbers(request, line, words))
    return columns


def _columns(request: Request) -> Columns:
    return Columns(request.path, TOLERANCE, numbered=True, ordered=True)


def _example_lines(request: Request, *, empty_too: bool = False) -> Iterator[tuple[int, str]]:
    """The lines of a text format; an empty one can only be an answer where answers are words."""
    for line, text in read_lines(request.path):
        if line == 1 and request.options.header:
            continue
        if not text.strip() and not empty_too:
            raise DataError(
                f"{request.path}, line {line}: empty",
                why="one line per example is expected",
                fix="the answer to this example, or a format that names the examples: JSON Lines or CSV",
            )
        yield line, text


def _numbers(request: Request, line: int, words: list[str]) -> list[float]:
    try:
        return [number_from(word) for word in words]
    except DataError as problem:
        raise problem.at(f"{request.path}, line {line}") from None


def _other_format(request: Request, line: int, expected: str, text: str) -> DataError:
    from .formats import TEXT_FORMATS

    return DataError(
        f"{request.path}, line {line}: {expected} expected, found {shown(text)}",
        fix="the file's own format: ?format=" + ", ?format=".join(TEXT_FORMATS),
    )
