"""Templates of prompt files: a part of Jinja whose work is bounded by the length of the template and its texts.

Variables, conditions, indices, slices, a few filters, and one level of `for` over the labels. Everything else is an
error: with nested loops, assignments, calls or filters that repeat text, a short template could render for hours.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

NODES = frozenset(
    (
        *("Template", "Output", "TemplateData", "If", "For", "Name", "Const", "Getattr", "Getitem", "Slice"),
        *("Filter", "CondExpr", "Compare", "Operand", "And", "Or", "Not", "Neg"),
    )
)
FILTERS = ("capitalize", "join", "length", "lower", "title", "trim", "upper")
DEEPEST = 40
"""Nodes inside each other."""
LONGEST_SOURCE = 100_000
LONGEST = 1_000_000
"""Characters that a template renders besides its inputs."""
REPEATED = 20
"""Times that the inputs may be rendered."""


class TemplateError(Exception):
    """Raised for a template that is not valid or renders too much text."""


class Template:
    """A checked template."""

    def __init__(self, source: str) -> None:
        from jinja2 import TemplateSyntaxError, meta

        if len(source) > LONGEST_SOURCE:
            raise TemplateError(f"longer than {LONGEST_SOURCE:,} characters")
        environment = _environment()
        try:
            tree = environment.parse(source)
            _check(tree)
            self.names = meta.find_undeclared_variables(tree)
            self._template = environment.from_string(tree)
        except TemplateSyntaxError as problem:
            raise TemplateError(f"line {problem.lineno}: {problem.message}") from None
        except RecursionError:
            raise TemplateError("blocks or expressions are nested too deeply") from None

    def render(self, inputs: Mapping[str, Any]) -> str:
        """Return the text for these inputs; raise TemplateError if it is too long."""
        left = LONGEST + REPEATED * sum(len(value) for value in inputs.values() if isinstance(value, str))
        pieces = []
        for piece in self._template.generate(**inputs):
            left -= len(piece)
            if left < 0:
                raise TemplateError("it renders too much text")
            pieces.append(piece)
        return "".join(pieces)


def _check(tree: Any) -> None:
    """Raise for unsupported nodes and deep nesting."""
    from jinja2 import nodes

    waiting = [(tree, 0, False)]
    while waiting:
        node, depth, in_loop = waiting.pop()
        line = f"line {node.lineno}" if node.lineno else "the template"
        if type(node).__name__ not in NODES:
            raise TemplateError(f"{line}: {type(node).__name__} is not supported in prompts")
        if depth > DEEPEST:
            raise TemplateError("blocks or expressions are nested too deeply")
        is_loop = isinstance(node, nodes.For)
        if is_loop and (in_loop or node.recursive or not _is_labels(node.iter)):
            raise TemplateError(f"{line}: a loop over something other than labels, or inside another loop")
        is_join = isinstance(node, nodes.Filter) and node.name == "join"
        if is_join and not (
            _is_labels(node.node) and all(isinstance(part, nodes.Const) for part in node.args)
        ):
            raise TemplateError(f"{line}: only labels can be joined, with a fixed separator")
        if isinstance(node, nodes.Getattr) and getattr(node.node, "name", "") != "loop":
            raise TemplateError(f"{line}: attribute {node.attr!r} is not supported in prompts")
        waiting += [(child, depth + 1, in_loop or is_loop) for child in node.iter_child_nodes()]


def _is_labels(node: Any) -> bool:
    """Return whether an expression is `labels` or a slice of it."""
    from jinja2 import nodes

    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice):
        node = node.node
    return isinstance(node, nodes.Name) and node.name == "labels"


@lru_cache(maxsize=1)
def _environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    # Not escaped: this is text for a model; a page that shows it escapes it there.
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True)
    environment.filters = {name: environment.filters[name] for name in FILTERS}
    environment.globals.clear()
    return environment
