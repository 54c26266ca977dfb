"""Read a prompt file, or a prompt of the package by name, and render it for an example.

    task = "text"                        # text, pair, reading or reply: the variables of the template
    system = "You label film reviews."   # optional
    user = "Review: {{ text }} Sentiment:"
    [labels]                             # the suite's label = the word that the model should say
    negative = "bad"
    positive = "good"
    [[shots]]                            # optional: earlier turns, rendered by `user`
    text = "A delight."
    label = "positive"

Templates use a part of Jinja whose work is bounded by the length of the template and its texts: variables, conditions,
indices, slices, a few filters, and one level of `for` over the labels. With nested loops, assignments, calls or filters
that repeat text, a short template could render for hours.

Reading the file raises for unknown names and for texts that the prompt never shows.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from ...core.errors import ModelError, nearest, some
from ...core.files import read_toml
from ...core.records import Example
from .. import ModelSpec
from ..validate import exception_text, shortened

TASKS: dict[str, tuple[str, ...]] = {
    "text": ("text",),
    "pair": ("first", "second"),
    "reading": ("context", "question"),
    "reply": ("text",),
}
"""Task to the variables for an example's texts."""
OPTIONS = ("prompt", "order", "mode", "max_tokens")
"""Options of every prompted model."""
LOCAL_OPTIONS = (*OPTIONS, "chat", "date")
IN_WORDS = ("reading", "reply")
"""Tasks without labels; a reply is kept whole, of the answer to a question the first line."""
MAX_TOKENS = {"reading": 32, "reply": 256}
USUAL_TOKENS = 16
KEYS = ("task", "system", "user", "instruction", "unanswerable", "labels", "shots")
WAYS = ("plain", "polite", "question", "expert", "letters")
PROMPTS: dict[str, str] = {
    **{f"sentiment-{way}": "a text: negative, neutral or positive" for way in WAYS},
    "sentiment-de-plain": "a German text: negativ, neutral or positiv",
    **{f"paraphrase-{way}": "two questions: duplicate or different" for way in WAYS},
    **{f"entailment-{way}": "premise and hypothesis: entailment, neutral, contradiction" for way in WAYS},
    **{f"choice-{way}": "two sentences: A or B" for way in (*WAYS[:-1], "brief")},
    "agreement-plain": "a text and a statement about it: yes or no",
    "agreement-pair": "two texts and a statement about them: yes or no",
    "agreement-brief": "a text and a statement, without a description of the task: A or B",
    **{f"options-{way}": "a question with three options: A, B or C" for way in (*WAYS[:-1], "brief")},
    **{f"reading-{way}": "a passage and a question" for way in (*WAYS[:-1], "brief")},
    "reply-plain": "a text as it is, for free answers",
}
"""The prompts that ship with shoal; the five of a task and language are paraphrases."""
FOLDER = Path(__file__).parent / "prompts"
PROBES = ("The quick brown fox jumps over the lazy dog.", "All five wizards boxed my jug of fine quartz")
"""Two texts of the same length, to test whether a prompt shows its text."""

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

Message = dict[str, str]
"""Role and content of a turn."""


# Templates


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
            _check_nodes(tree)
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


def _check_nodes(tree: Any) -> None:
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


# Prompts


@dataclass(frozen=True)
class Prompt:
    """A checked prompt."""

    name: str
    task: str
    user: str
    labels: Mapping[str, str]
    """The suite's labels to the words that the model should say (verbalisers)."""
    system: str = ""
    instruction: str = ""
    shots: Sequence[Mapping[str, str]] = ()
    unanswerable: str = ""
    """The reply for a question that the passage does not answer."""
    lesson: str = ""
    """Instructions and demonstrations: plain text after the system message."""
    order: int = 0
    """The label that is listed first."""

    @property
    def in_words(self) -> bool:
        """Whether the answer is a text, not a label."""
        return self.task in IN_WORDS

    @property
    def verbalisers(self) -> tuple[str, ...]:
        """The words that the model should say, in the order of the labels."""
        return tuple(self.labels.values())

    @property
    def listed(self) -> list[str]:
        """The labels in the order in which the prompt lists them."""
        labels = list(self.labels)
        return labels[self.order :] + labels[: self.order]

    def with_order(self, order: int) -> "Prompt":
        """Return the prompt with another label listed first; raise if it lists none, or each by its letter."""
        texts, letters = self.user + self.system, any(len(word) == 1 for word in self.verbalisers)
        fixed = "labels" not in texts or letters or re.search(r"labels\s*\[\s*\d", texts)
        if fixed or order >= len(self.labels):
            raise ModelError(
                f"prompt {self.name}: order={order}",
                why=f"it has {len(self.labels)} labels, "
                + ("and gives each a place of its own" if fixed else "counted from 0"),
                fix="a prompt with {{ labels | join(', ') }}, or remove order",
            )
        return replace(self, order=order)

    @cached_property
    def digest(self) -> str:
        """A hash of the content, without comments and name."""
        content = {
            key: value for key, value in asdict(self).items() if key not in ("name", "lesson", "order")
        }
        content |= {key: value for key in ("lesson", "order") if (value := getattr(self, key))}
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]

    def messages(self, example: Example) -> list[Message]:
        """Return the turns before the model's reply."""
        names = TASKS[self.task]
        if len(example) != len(names):
            raise ModelError(
                f"prompt {self.name} takes {' and '.join(names)}; these examples have {len(example)} texts",
                fix=f"a prompt with task {' or '.join(t for t, n in TASKS.items() if len(n) == len(example))}",
            )
        return [
            *self._opening,
            {"role": "user", "content": self._question(dict(zip(names, example, strict=True)))},
        ]

    def blocks(self, example: Example) -> str:
        """Return the prompt as one text for models without turns, with empty lines between blocks."""
        turns = self.messages(example)
        shown = [turn["content"] for turn in turns if turn["role"] == "system"]
        talk = [turn["content"] for turn in turns if turn["role"] != "system"]
        for question, reply in zip(talk[:-1:2], talk[1::2], strict=True):
            shown.append(question + joiner(question) + reply)
        return "\n\n".join([*shown, talk[-1]])

    def _question(self, texts: Mapping[str, str]) -> str:
        inputs = {name: texts[name] for name in TASKS[self.task]}
        return self._render("user", inputs).lstrip("\n")

    @cached_property
    def _templates(self) -> dict[str, Template]:
        return {part: Template(getattr(self, part)) for part in ("system", "user")}

    @cached_property
    def _opening(self) -> list[Message]:
        """The turns before an example: system message and shots."""
        system = "\n\n".join(filter(None, [self._render("system", {}) if self.system else "", self.lesson]))
        turns = [{"role": "system", "content": system}] if system else []
        for shot in self.shots:
            turns.append({"role": "user", "content": self._question(shot)})
            answer = shot["answer"] or self.unanswerable if self.in_words else self.labels[shot["label"]]
            turns.append({"role": "assistant", "content": answer})
        return turns

    def _render(self, part: str, inputs: Mapping[str, str]) -> str:
        try:
            return self._templates[part].render(
                {
                    "labels": [self.labels[name] for name in self.listed],
                    "instruction": self.instruction,
                    **inputs,
                }
            )
        except Exception as problem:
            why = str(problem) if isinstance(problem, TemplateError) else exception_text(problem)
        raise ModelError(
            f"prompt {self.name}: rendering {part} failed",
            why=why,
            fix="a template that works for every example",
        )


def joiner(text: str) -> str:
    """Return the separator before an answer: a space, unless the text ends with white space."""
    return "" if text[-1:].isspace() else " "


# Reading prompt files


def prompt_of(spec: ModelSpec) -> Prompt:
    """Return the prompt of a spec, with its labels in the order of the spec."""
    prompt, order = read_prompt(spec.options["prompt"]), spec.whole("order", 0, 0)
    return prompt.with_order(order) if order else prompt


def read_prompt(name: str) -> Prompt:
    """Read a prompt from a file, or one of the package's prompts."""
    path = FOLDER / f"{name}.toml" if name in PROMPTS and not Path(name).exists() else Path(name)
    if not path.is_file():
        raise ModelError(
            f"prompt {name}: no such file or built-in prompt",
            why=f"built in are {some(PROMPTS, 3)}: shoal list prompts",
            fix=nearest(name, PROMPTS) or "the path of a TOML file with task, user and [labels]",
        )
    table = read_toml(
        path, 'lines such as task = "text" and user = "Review: {{ text }} Sentiment:", and [labels]'
    )
    return make_prompt(table, path.stem if path.parent == FOLDER else name)


def answer_mode(spec: ModelSpec, prompt: Prompt, modes: Sequence[str], usual: str) -> str:
    """Return the mode of a spec; answers in words are generated."""
    mode = spec.one_of("mode", modes, "generate" if prompt.in_words else usual)
    if prompt.in_words and mode != "generate":
        raise ModelError(
            f"{spec.who}: mode={mode} for {prompt.task}", why="it has no labels", fix="remove mode"
        )
    return mode


def max_tokens(spec: ModelSpec, prompt: Prompt) -> int:
    """Return the most tokens of an answer: the option, or the default for the task."""
    return spec.whole("max_tokens", MAX_TOKENS.get(prompt.task, USUAL_TOKENS), 1)


def make_prompt(table: Mapping[str, Any], name: str) -> Prompt:
    """Return a prompt from a table; raise if it is not valid."""
    where = f"prompt {name}"
    for key in [key for key in table if key not in KEYS]:
        raise ModelError.unknown(f"{where}: unknown key {key!r}", key, KEYS, ", ".join(KEYS))
    task = table.get("task")
    if not isinstance(task, str) or task not in TASKS:
        raise ModelError(f"{where}: task = {task!r}", why=f"known: {', '.join(TASKS)}", fix='task = "text"')
    words = {key: table.get(key, "") for key in ("system", "user", "instruction", "unanswerable")}
    for key, value in words.items():
        if not isinstance(value, str):
            raise ModelError(f"{where}: {key} = {value!r} is not a text", fix=f'{key} = "…"')
    labels = _labels(table.get("labels", {}), task, where)
    shots = _shots(table.get("shots", []), task, labels, where)
    _check_names(words["user"], {*TASKS[task], "labels", "instruction"}, f"{where}: user")
    _check_names(words["system"], {"labels", "instruction"}, f"{where}: system")
    prompt = Prompt(name, task, labels=labels, shots=shots, **words)
    _check_shown(prompt)
    return prompt


def _check_names(template: str, known: set[str], where: str) -> None:
    try:
        unknown = sorted(Template(template).names - known)
    except (TemplateError, ValueError) as problem:  # ValueError: a number of thousands of digits
        raise ModelError(
            f"{where}: not a valid template",
            why=shortened(str(problem)),
            fix='user = "Review: {{ text }}"; docs/how-to/llm-endpoint.md describes templates',
        ) from None
    if unknown:
        names = ", ".join(sorted(known))
        raise ModelError(
            f"{where} uses unknown names: {some(unknown)}",
            why=f"known: {names}; shoal adds shots as earlier turns",
            fix=nearest(unknown[0], known) or names,
        )


def _check_shown(prompt: Prompt) -> None:
    """Raise if the prompt does not depend on the text: a template may name a text and not show it."""
    texts = dict.fromkeys(TASKS[prompt.task], PROBES[0])
    question = prompt._question(texts)
    absent = [name for name in texts if prompt._question({**texts, name: PROBES[1]}) == question]
    if absent:
        raise ModelError(
            f"prompt {prompt.name}: user does not show {' and '.join(absent)}",
            why="every example would get the same prompt",
            fix=f"put {{{{ {absent[0]} }}}} where the text belongs",
        )


def _labels(given: Any, task: str, where: str) -> dict[str, str]:
    if task in IN_WORDS and not given:
        return {}
    words = list(given.values()) if isinstance(given, Mapping) else []
    are_words = all(isinstance(word, str) and word and word == word.strip() for word in words)
    different = {word if len(word) == 1 else word.casefold() for word in words} if are_words else set()
    if task in IN_WORDS or len(words) < 2 or len(different) < len(words):
        raise ModelError(
            f"{where}: [labels] is not valid: {repr(given)[:200]}",
            why="reading and reply have no labels; other tasks need at least two, each with a different word, without "
            "white space around it",
            fix='[labels], and below it negative = "negative" and positive = "positive"',
        )
    return dict(given)


def _shots(given: Any, task: str, labels: Mapping[str, str], where: str) -> tuple[Mapping[str, str], ...]:
    keys = {*TASKS[task], "answer" if task in IN_WORDS else "label"}
    if not isinstance(given, list):
        raise ModelError(f"{where}: shots = {given!r}", fix="a line [[shots]] before each shot")
    for number, shot in enumerate(given, start=1):
        is_whole = isinstance(shot, Mapping) and set(shot) == keys
        is_text = is_whole and all(isinstance(value, str) for value in shot.values())
        if not is_text or (labels and shot["label"] not in labels):
            raise ModelError(
                f"{where}, shot {number}: {repr(shot)[:200]}",
                why="a shot has exactly these keys, each a text, and one of the prompt's labels",
                fix=some(sorted(keys)),
            )
    return tuple(given)
