"""Templates of prompt files: a part of Jinja, with a budget for every rendering.

Constructs by which a short template can do much work are errors: assignments, macros, function calls, multiplication,
filters that pad. The other filters and loops charge the budget for the text that they read and produce.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any

NODES = frozenset(
    (
        *("Template", "Output", "TemplateData", "If", "For", "Name", "Const", "List", "Tuple", "Dict"),
        *("Pair", "Getattr", "Getitem", "Slice", "Filter", "Test", "Call", "Keyword", "CondExpr"),
        *("Concat", "Compare", "Operand", "And", "Or", "Not", "Neg", "Pos", "Add", "Sub"),
    )
)
FILTERS = (
    *("abs", "capitalize", "count", "d", "default", "e", "escape", "first", "float", "int", "join"),
    *("last", "length", "list", "lower", "map", "max", "min", "reject", "replace", "reverse"),
    *("select", "sort", "string", "title", "tojson", "trim", "truncate", "unique", "upper"),
    "wordcount",
)
METHODS = frozenset(
    (
        *("capitalize", "cycle", "endswith", "lower", "lstrip", "removeprefix", "removesuffix", "rstrip"),
        *("split", "splitlines", "startswith", "strip", "title", "upper"),
    )
)
DEEPEST, MOST_LOOPS = 40, 2
"""Nodes inside each other, and loops inside each other."""
LONGEST = 1_000_000
"""Characters of a template, and of what it renders besides its inputs."""
LONGEST_TIME = 10.0
"""Seconds for one rendering."""


class TemplateError(Exception):
    """Raised for a template that is not valid or exceeds its bounds."""


@dataclass
class _Budget:
    characters: int
    deadline: float


_budget: ContextVar[_Budget] = ContextVar("budget")


class Template:
    """A checked template."""

    def __init__(self, source: str) -> None:
        from jinja2 import TemplateSyntaxError, meta

        if len(source) > LONGEST:
            raise TemplateError(f"longer than {LONGEST:,} characters")
        environment = _environment()
        try:
            tree = environment.parse(source)
            _check(tree)
            self.names = meta.find_undeclared_variables(tree)
            with _limited(0):
                self._template = environment.from_string(tree)
        except TemplateSyntaxError as problem:
            raise TemplateError(f"line {problem.lineno}: {problem.message}") from None
        except RecursionError:
            raise TemplateError("blocks or expressions are nested too deeply") from None

    def render(self, inputs: Mapping[str, Any]) -> str:
        """Return the text for these inputs; raise TemplateError if it takes too much work."""
        pieces = []
        with _limited(sum(len(value) for value in inputs.values() if isinstance(value, str))):
            for piece in self._template.generate(**inputs):
                _charge(len(piece))
                pieces.append(piece)
        return "".join(pieces)


@contextmanager
def _limited(size: int) -> Iterator[None]:
    token = _budget.set(_Budget(LONGEST + 20 * size, time.monotonic() + LONGEST_TIME))
    try:
        yield
    finally:
        _budget.reset(token)


def _charge(characters: int) -> None:
    budget = _budget.get()
    budget.characters -= characters + 1
    if budget.characters < 0 or time.monotonic() > budget.deadline:
        raise TemplateError("it renders too much text or takes too long")


def _check(tree: Any) -> None:
    """Raise for unsupported nodes and deep nesting; make loops count their steps."""
    from jinja2 import nodes

    waiting = [(tree, 0, 0)]
    while waiting:
        node, depth, loops = waiting.pop()
        name = type(node).__name__
        line = f"line {node.lineno}" if node.lineno else "the template"
        if name not in NODES:
            raise TemplateError(f"{line}: {name} is not supported in prompts")
        if depth > DEEPEST:
            raise TemplateError("blocks or expressions are nested too deeply")
        if isinstance(node, nodes.Call) and not _is_method(node.node):
            called = getattr(node.node, "attr", None) or getattr(node.node, "name", "this")
            raise TemplateError(f"{line}: {called} cannot be called in prompts")
        if isinstance(node, nodes.For):
            loops += 1
            if loops > MOST_LOOPS or node.recursive:
                raise TemplateError(f"{line}: more than {MOST_LOOPS} loops inside each other")
        waiting += [(child, depth + 1, loops) for child in node.iter_child_nodes()]
        if isinstance(node, nodes.For):
            node.iter = nodes.Filter(node.iter, "counted", [], [], None, None, lineno=node.lineno)


def _is_method(function: Any) -> bool:
    from jinja2 import nodes

    return isinstance(function, nodes.Getattr) and function.attr in METHODS


@lru_cache(maxsize=1)
def _environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    # Not escaped: this is text for a model; a page that shows it escapes it there.
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True)
    own = {"join": _join, "replace": _replace, "counted": _counted}
    environment.filters = {name: _charged(environment.filters[name]) for name in FILTERS} | own
    environment.globals.clear()
    return environment


def _charged(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def charged(*arguments: Any, **options: Any) -> Any:
        _charge(sum(len(value) for value in arguments if isinstance(value, str | list | tuple)))
        result = function(*arguments, **options)
        _charge(len(result) if isinstance(result, str | list) else 0)
        return result

    return charged


def _counted(items: Iterable[Any]) -> Iterator[Any]:
    for item in items:
        _charge(0)
        yield item


def _join(items: Iterable[Any], d: Any = "") -> str:
    pieces, separator = [str(item) for item in _counted(items)], str(d)
    _charge(sum(map(len, pieces)) + len(separator) * len(pieces))
    return separator.join(pieces)


def _replace(text: Any, old: Any, new: Any, count: int = -1) -> str:
    whole, before, after = str(text), str(old), str(new)
    _charge(len(whole) + whole.count(before) * len(after))
    return whole.replace(before, after, count)
