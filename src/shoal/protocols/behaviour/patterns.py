"""Regular expressions whose search takes time in proportion to the text.

`re` backtracks: `(a+)+$` takes hours on thirty letters, and an answer of a model may be any text. This module reads the
syntax with `re`'s own parser and follows all alternatives at once, a step per character. Groups are not kept;
lookaround and references to groups are errors.
"""

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from ...core.errors import DataError

PARSER: Any = import_module("re._parser")
MOST_STATES = 5_000
MOST_STEPS = 20_000
"""Steps that are remembered; beyond them the memory is emptied."""
FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE | re.UNICODE
CATEGORIES = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}

Test = Callable[[str], bool]
Place = Callable[[str, str], bool]
"""Whether an anchor holds between two characters; empty before the text and after it."""


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


ANCHORS: dict[str, Place] = {
    "AT_BEGINNING": lambda before, after: not before,
    "AT_BEGINNING_STRING": lambda before, after: not before,
    "AT_END": lambda before, after: not after,
    "AT_END_STRING": lambda before, after: not after,
    "AT_BOUNDARY": lambda before, after: _is_word(before) != _is_word(after),
    "AT_NON_BOUNDARY": lambda before, after: _is_word(before) == _is_word(after),
}
LINES: dict[str, Place] = {
    "AT_BEGINNING": lambda before, after: before in ("", "\n"),
    "AT_END": lambda before, after: after in ("", "\n"),
}
"""The anchors that mean something else with the flag m."""


class Pattern:
    """A checked regular expression."""

    def __init__(self, source: str) -> None:
        self._tests: list[tuple[Test | None, Place | None, list[int]]] = [(None, None, [])]
        """Nodes: a test of a character or of a place, and the next nodes. Node 0 is the end."""
        self._steps: dict[tuple[frozenset[int], str, str], frozenset[int] | None] = {}
        try:
            tree = PARSER.parse(source)
            self._flags = tree.state.flags
            if self._flags & ~FLAGS:
                raise _unsupported("this flag")
            self._start = self._sequence(tree, 0)
        except (re.error, RecursionError, OverflowError) as problem:
            raise DataError(
                f"{source[:200]!r} is not a regular expression", why=str(problem), fix=r"such as '\d+ days?'"
            ) from None

    def is_in(self, text: str) -> bool:
        """Return whether the expression matches somewhere in the text."""
        nodes, before = frozenset([self._start]), ""
        for letter in [*text, ""]:
            key = nodes, before, letter
            if key not in self._steps:
                if len(self._steps) >= MOST_STEPS:
                    self._steps.clear()
                self._steps[key] = self._step(*key)
            after = self._steps[key]
            if after is None:
                return True
            nodes, before = after, letter
        return False

    def _step(self, nodes: frozenset[int], before: str, letter: str) -> frozenset[int] | None:
        """Return the nodes after a character; None once the expression has matched."""
        reached, waiting = set(nodes), list(nodes)
        while waiting:
            test, place, following = self._tests[waiting.pop()]
            if test is None and (place is None or place(before, letter)):
                new = [node for node in following if node not in reached]
                reached.update(new)
                waiting += new
        if 0 in reached:
            return None
        passed = {self._start}
        for node in reached:
            test, _, following = self._tests[node]
            if letter and test is not None and test(letter):
                passed.update(following)
        return frozenset(passed)

    # From the parsed expression to nodes, from its end to its start

    def _add(self, test: Test | None, place: Place | None, following: Sequence[int]) -> int:
        if len(self._tests) >= MOST_STATES:
            raise DataError("a regular expression with too many repetitions", fix="* or + in place of {…}")
        self._tests.append((test, place, list(following)))
        return len(self._tests) - 1

    def _sequence(self, items: Any, after: int) -> int:
        """Return the first node of an expression that is followed by `after`."""
        for kind, argument in reversed(list(items)):
            after = self._item(str(kind), argument, after)
        return after

    def _item(self, kind: str, argument: Any, after: int) -> int:
        if kind == "SUBPATTERN":
            _, added, removed, items = argument
            if added or removed:
                raise _unsupported("a flag for a part of it")
            return self._sequence(items, after)
        if kind == "BRANCH":
            return self._add(None, None, [self._sequence(items, after) for items in argument[1]])
        if kind in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, items = argument
            return self._repeat(least, most, items, after)
        if kind == "AT":
            anchors = ANCHORS | (LINES if self._flags & re.MULTILINE else {})
            return self._add(None, anchors[str(argument)], [after])
        return self._add(self._test(kind, argument), None, [after])

    def _repeat(self, least: int, most: Any, items: Any, after: int) -> int:
        if most is PARSER.MAXREPEAT:
            loop = self._add(None, None, [after])
            self._tests[loop][2].append(self._sequence(items, loop))
            after = loop
        else:
            end = after
            for _ in range(most - least):
                after = self._add(None, None, [self._sequence(items, after), end])
        for _ in range(least):
            first = self._sequence(items, after)
            if first == after:  # an empty expression, which may be repeated millions of times
                break
            after = first
        return after

    def _test(self, kind: str, argument: Any) -> Test:
        """Return the test of one character."""
        if kind == "ANY":
            return lambda letter: letter != "\n" or bool(self._flags & re.DOTALL)
        if kind in ("LITERAL", "NOT_LITERAL"):
            return self._any_of([("LITERAL", argument)], negated=kind == "NOT_LITERAL")
        if kind != "IN":
            raise _unsupported(kind.lower().replace("_", " "))
        items = [(str(name), value) for name, value in argument]
        return self._any_of([item for item in items if item[0] != "NEGATE"], items[0][0] == "NEGATE")

    def _any_of(self, items: Sequence[tuple[str, Any]], negated: bool) -> Test:
        literals = {chr(value) for name, value in items if name == "LITERAL"}
        ranges = [value for name, value in items if name == "RANGE"]
        classes = [_category(str(value)) for name, value in items if name == "CATEGORY"]

        def contains(letter: str) -> bool:
            return (
                letter in literals
                or any(low <= ord(letter) <= high for low, high in ranges)
                or any(test(letter) for test in classes)
            )

        def test(letter: str) -> bool:
            spellings = {letter}
            if self._flags & re.IGNORECASE:
                spellings |= {form for form in (letter.lower(), letter.upper()) if len(form) == 1}
            return any(map(contains, spellings)) != negated

        return test


def _category(name: str) -> Test:
    """Return the test of a class such as \\d, which `re` decides."""
    negated, kind = "_NOT_" in name, name.rpartition("_")[2]
    one = re.compile(CATEGORIES[kind])
    return lambda letter: bool(one.match(letter)) != negated


def _unsupported(what: str) -> DataError:
    return DataError(
        f"{what} in a regular expression is not supported",
        why="shoal only searches in ways that are fast on every answer",
        fix="no lookaround, references to groups, atomic groups or flags besides i, m, s and x",
    )
