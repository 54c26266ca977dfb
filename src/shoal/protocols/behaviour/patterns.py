"""Regular expressions whose search takes time in proportion to the text (`docs/decisions/0012-bounded-patterns.md`).

`re` backtracks: `(a+)+$` takes hours on thirty letters, and an answer of a model may be any text. Here `re` parses the
expression and tests single characters; all alternatives are followed at once, a step per character.
"""

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ...core.errors import DataError

PARSER: Any = import_module("re._parser")
COMPILER: Any = import_module("re._compiler")
ONE_CHARACTER = ("LITERAL", "NOT_LITERAL", "ANY", "IN")
ANCHOR = "AT"
MOST_NODES = 5_000
MOST_STEPS = 20_000
"""Steps that are remembered; beyond them the memory is emptied."""


class Pattern:
    """A checked regular expression."""

    def __init__(self, source: str) -> None:
        self._nodes: list[tuple[str, Any, list[int]]] = [("", None, [])]
        """Kind, compiled test and next nodes. Node 0 is the end; a node without a test is passed at once."""
        self._steps: dict[tuple[frozenset[int], str, str], frozenset[int] | None] = {}
        try:
            self._tree = PARSER.parse(source)
            self._start = self._sequence(self._tree, 0)
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
        around = before + letter + "x" * bool(letter)  # `$` also holds before the last line break
        reached, waiting = set(nodes), list(nodes)
        while waiting:
            kind, test, following = self._nodes[waiting.pop()]
            if kind == "" or (kind == ANCHOR and test.match(around, len(before))):
                new = [node for node in following if node not in reached]
                reached.update(new)
                waiting += new
        if 0 in reached:
            return None
        passed = {self._start}
        for kind, test, following in (self._nodes[node] for node in reached):
            if letter and kind in ONE_CHARACTER and test.match(letter):
                passed.update(following)
        return frozenset(passed)

    # From the parsed expression to nodes, from its end to its start

    def _add(self, kind: str, test: Any, following: Sequence[int]) -> int:
        if len(self._nodes) >= MOST_NODES:
            raise DataError("a regular expression with too many repetitions", fix="* or + in place of {…}")
        self._nodes.append((kind, test, list(following)))
        return len(self._nodes) - 1

    def _sequence(self, items: Any, after: int) -> int:
        """Return the first node of an expression that is followed by `after`."""
        for item in reversed(list(items)):
            after = self._item(item, after)
        return after

    def _item(self, item: tuple[Any, Any], after: int) -> int:
        kind, argument = str(item[0]), item[1]
        if kind == "SUBPATTERN" and not any(argument[1:3]):  # no flags of its own
            return self._sequence(argument[3], after)
        if kind == "BRANCH":
            return self._add("", None, [self._sequence(items, after) for items in argument[1]])
        if kind in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, items = argument
            return self._repeat(least, most, items, after)
        if kind in (*ONE_CHARACTER, ANCHOR):
            test = COMPILER.compile(PARSER.SubPattern(self._tree.state, [item]))
            return self._add(kind, test, [after])
        raise DataError(
            f"{kind.lower().replace('_', ' ')} in a regular expression is not supported",
            why="shoal only searches in ways that are fast on every answer",
            fix="no lookaround, references to groups, possessive repetition, or flags of a part",
        )

    def _repeat(self, least: int, most: Any, items: Any, after: int) -> int:
        if most is PARSER.MAXREPEAT:
            after = self._add("", None, [after])
            self._nodes[after][2].append(self._sequence(items, after))
        else:
            end = after
            for _ in range(most - least):
                after = self._add("", None, [self._sequence(items, after), end])
        for _ in range(least):
            first = self._sequence(items, after)
            if first == after:  # an empty expression, which may be repeated millions of times
                break
            after = first
        return after
