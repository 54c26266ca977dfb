"""Suites without code: functionalities with templates, word lists and named perturbations, in YAML or a spreadsheet.

    suite: hotels
    labels: [negative, positive]
    words:
      thing: [room, breakfast]
      praise: adjectives.positive
    tests:
      negated_praise_is_negative:
        capability: negation
        label: negative
        templates: ["The {thing} was not {praise}."]

The fillings are those of `filling.fill` and the variants those of `perturb`, so that the same suite in Python has the
same cases. `docs/how-to/write-a-suite.md` has every field.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from ...core.errors import DataError, nearest
from ...core.records import Case
from ...data.placed import Placed, PlacedError, column_name, errors_in, read_yaml, sheet_rows
from ...data.tables import open_rows
from .expect import DIRECTIONS, Expect, Given
from .filling import Filled, Template, fill, fill_one, slot_lists, slot_names
from .lexicons import word_list
from .rules import check_expect
from .suite import Definition, Suite, case
from .text_rules import plain_schema
from .variants import Words, read_template, variants_of

SUITE_FIELDS = ("suite", "task", "language", "labels", "version", "words", "suggested", "tests")
TEST_FIELDS = (
    "description", "capability", "type", "label", "templates", "variants", "perturb", "cases", "expect", "na_if",
    "tolerance", "except", "sample", "seed", "words",
)  # fmt: skip
SHEET_FIELDS = (
    "functionality", "description", "capability", "type", "label", "template", "variant", "perturb", "case",
    "expect", "na_if", "tolerance", "except", "sample", "seed", "slot", "words", "labels", "language",
)  # fmt: skip
REPEATED = {
    "template": "templates",
    "variant": "variants",
    "perturb": "perturb",
    "case": "cases",
    "except": "except",
}
"""Columns of a sheet that may be filled in several rows of a functionality, and their fields."""
MOST_ERRORS = 10
"""Errors that are shown."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """The label and the variants of a template."""

    label: str | None
    variants: Sequence[Placed]


def is_yaml(path: Path) -> bool:
    """Return whether a file is a suite in YAML."""
    return path.suffix.lower() in (".yaml", ".yml")


def is_sheet(path: Path) -> bool:
    """Return whether a file is a spreadsheet of templates or cases."""
    if path.suffix.lower() not in (".csv", ".tsv", ".xlsx") or not path.is_file():
        return False
    columns = [column_name(name) for name in open_rows(path).columns]
    # "templates", as in YAML, is a spreadsheet as well, so that the error names the column.
    return "functionality" in columns and not {"template", "templates", "case", "cases"}.isdisjoint(columns)


def read_template_suite(path: Path) -> Suite:
    """Return the suite of a YAML file."""
    fields = read_yaml(path).table("a suite", SUITE_FIELDS)
    return _suite(path, fields)


def read_sheet_suite(path: Path) -> Suite:
    """Return the suite of a spreadsheet: a row per template, and rows with `slot` and `words` for word lists."""
    words: dict[str, Placed] = {}
    tests: dict[str, dict[str, Placed]] = {}
    fields: dict[str, Placed] = {}
    labels: dict[str, str] = {}
    for row in sheet_rows(path, SHEET_FIELDS):
        first = next(iter(row.values()))
        fields |= {name: row.pop(name) for name in ("labels", "language") if name in row}
        if not row:
            continue
        if "slot" in row or "words" in row:
            if not {"slot", "words"} <= set(row):
                raise first.error("a word list needs a slot and words", "slot: thing, words: room, pool")
            words[row["slot"].text("slot")] = row["words"]
            continue
        if "functionality" not in row:
            raise first.error("no functionality", "name one, or fill in slot and words for a word list")
        name = row.pop("functionality")
        if "label" in row:
            _refuse_labels_in_other_case(row["label"], labels)
        _add_row(tests.setdefault(name.text("functionality"), {}), row)
    where = str(path)
    fields |= {
        "suite": Placed(path.name.split(".")[0], where),
        "words": Placed(words, where),
        "tests": Placed({name: Placed(test, where) for name, test in tests.items()}, where),
    }
    if "labels" in fields:
        fields["labels"] = _listed(fields["labels"])
    suite = _suite(path, fields)
    if suite.labels is None and len(labels) > 1:
        suite.infer_labels()
    return suite


def _refuse_labels_in_other_case(label: Placed, labels: dict[str, str]) -> None:
    """Raise if a label of a YAML suite differs from an earlier one in capitals only."""
    name = label.text("label").removeprefix("not_")
    former = labels.setdefault(name.lower(), name)
    if name != former:
        raise label.error(f"label {name!r} is {former!r} in an earlier row", f"{former!r} in every row")


def _listed(text: Placed) -> Placed:
    """Return the words of a text that separates them by commas or semicolons; another text unchanged."""
    if not isinstance(text.value, str):
        return text
    words = [word.strip() for word in text.value.replace(";", ",").split(",")]
    return (
        Placed([Placed(word, text.where) for word in words if word], text.where) if len(words) > 1 else text
    )


def read_slots(path: Path) -> tuple[str, dict[str, Sequence[str]], list[Template]]:
    """Return the language, word lists, and all templates and variants of a suite in YAML."""
    fields = read_yaml(path).table("a suite", SUITE_FIELDS)
    labels = fields["labels"].texts("labels") if "labels" in fields else ()
    words = _with_lists(Words(_text(fields, "language", "en"), labels, {}), fields.get("words"))
    templates: dict[Template, None] = {}
    for name, test in fields["tests"].table("tests").items() if "tests" in fields else ():
        parts = test.table(name, TEST_FIELDS)
        words = _with_lists(words, parts.get("words"))
        patterns = _patterns(name, parts, words, _text(parts, "type", "MFT").strip())
        for template, pattern in patterns.items():
            templates |= dict.fromkeys([template, *map(read_template, pattern.variants)])
    return words.language, dict(words.lists), list(templates)


def _text(fields: Mapping[str, Placed], name: str, default: str) -> str:
    return fields[name].text(name) if name in fields else default


def _number(fields: Mapping[str, Placed], name: str, least: int) -> int:
    return fields[name].number(name, least) if name in fields else 0


def _add_row(test: dict[str, Placed], row: dict[str, Placed]) -> None:
    """Add a row of a sheet to its functionality: lists grow, and templates of several labels are kept by label."""
    if "case" in row and "variant" in row:
        about = {"text": row["case"], "variants": Placed([row.pop("variant")], row["case"].where)}
        row["case"] = Placed(about, row["case"].where)
    if "label" in row and not {"template", "case"} & set(row):
        raise row["label"].error("a label without template or case", "the label in the row of its template")
    for name, cell in row.items():
        if name in REPEATED:
            field = REPEATED[name]
            entry = _with_argument(cell) if name == "perturb" else cell
            if "label" in row and name in ("template", "case"):
                entry = Placed({"text": cell, "label": row["label"]}, cell.where)
            former = test.get(field, Placed([], cell.where))
            test[field] = Placed([*former.value, entry], former.where)
        elif name == "label":
            continue
        elif name == "expect" and (":" in cell.text("expect") or "expect" in test):
            _add_rule(test, cell)
        elif name in test and test[name].value != cell.value:
            raise cell.error(
                f"{name} changes from {test[name].value!r} to {cell.value!r} within a functionality",
                "the same in every row, or only in the first",
            )
        else:
            test[name] = cell


def _add_rule(test: dict[str, Placed], cell: Placed) -> None:
    """Add a rule to those of a functionality; a rule without an argument may only be repeated."""
    rule, former = _with_argument(cell), test.get("expect", Placed([], cell.where))
    rules = former.value if isinstance(former.value, list) else [former]
    if isinstance(rule.value, str) and rules and rule.value not in [part.value for part in rules]:
        raise cell.error(
            f"expect changes to {rule.value!r} within a functionality",
            "the same in every row, or only in the first",
        )
    if rule.value not in [part.value for part in rules]:
        test["expect"] = Placed([*rules, rule], former.where)


def _with_argument(cell: Placed) -> Placed:
    """Return a cell such as `typo: 3` as a name with its argument."""
    name, colon, argument = cell.text("a cell").partition(":")
    return Placed({name.strip(): Placed(argument.strip(), cell.where)}, cell.where) if colon else cell


def _suite(path: Path, fields: Mapping[str, Placed]) -> Suite:
    language = _text(fields, "language", "en")

    labels = fields["labels"].texts("labels") if "labels" in fields else None
    with errors_in(fields["labels"].where if "labels" in fields else str(path)):
        suite = Suite(
            _text(fields, "suite", path.name.split(".")[0]),
            labels,
            task=_text(fields, "task", ""),
            version=_text(fields, "version", ""),
        )
    words = _with_lists(Words(language, suite.labels or (), {}), fields.get("words"))
    problems: list[DataError] = []
    tests = fields["tests"].table("tests") if "tests" in fields else {}
    if not tests:
        raise DataError(f"{path}: no tests", fix="tests: with a functionality and its templates below")
    for name, test in tests.items():
        with _collecting(problems):
            _add_test(suite, name, test, words)
    if problems:
        lines = list(dict.fromkeys(line for problem in problems for line in str(problem).split("\nError: ")))
        rest = [f"… and {len(lines) - MOST_ERRORS} more"] if len(lines) > MOST_ERRORS else []
        raise PlacedError.together([*lines[:MOST_ERRORS], *rest])
    return suite


def _with_lists(words: Words, more: Placed | None) -> Words:
    """Return the words with further lists: words written out, or the name of one of ours."""
    lists = dict(words.lists)
    for name, listed in more.table("words").items() if more else ():
        if not name.isidentifier():
            raise listed.error(f"{name!r} cannot be a slot", "letters, digits and underscores: room_type")
        listed = _listed(listed)
        if isinstance(listed.value, str):
            with errors_in(listed.where):
                lists[name] = word_list(listed.text("words").strip(), words.language)
            continue
        entries = listed.texts(f"words.{name}")
        twice = next((word for word in entries if entries.count(word) > 1), None)
        if twice is not None:
            raise listed.error(f"{twice!r} occurs twice in words.{name}", "keep one of them")
        lists[name] = entries
    return replace(words, lists=lists)


# One functionality


def _add_test(suite: Suite, name: str, test: Placed, words: Words) -> None:
    fields = test.table(name, TEST_FIELDS)
    words = _with_lists(words, fields.get("words"))
    kind = _text(fields, "type", "MFT").strip().upper()
    if kind not in ("MFT", "INV", "DIR"):
        raise fields["type"].error(f"type {kind!r} is not one of MFT, INV, DIR", "type: MFT")
    is_changed = "perturb" in fields or "variants" in fields
    if kind == "MFT" and is_changed:
        raise test.error(f"{name}: variants make an INV or DIR test", "type: INV")
    if "templates" not in fields and "cases" not in fields:
        raise test.error(f"{name} has no templates and no cases", 'templates: ["The {thing} was great."]')
    define = _definition(suite, fields, test, kind)
    problems: list[DataError] = []
    patterns: dict[Template, Pattern] = {}
    with _collecting(problems):
        patterns = _patterns(name, fields, words, kind)
    entries = fields["cases"].parts("cases") if "cases" in fields else []
    written = []
    for entry in [] if is_changed else entries:
        with _collecting(problems):
            written.append(_written_case(entry, fields, kind, words))
    if problems:
        raise PlacedError.together(problems)

    def cases() -> Iterator[Case]:
        yield from _filled_cases(name, fields, patterns, words, kind) if patterns else ()
        yield from written
        rng = np.random.default_rng(_number(fields, "seed", 0))
        for entry in entries if is_changed else ():
            yield from _perturbed_case(entry, fields, words, rng)

    cases.__name__ = name
    cases.__doc__ = _text(fields, "description", "")
    with errors_in(fields.get("expect", fields.get("na_if", test)).where):
        define(cases)


@contextmanager
def _collecting(problems: list[DataError]) -> Iterator[None]:
    try:
        yield
    except DataError as problem:
        problems.append(problem)


def _definition(suite: Suite, fields: Mapping[str, Placed], test: Placed, kind: str) -> Definition:
    """Return the decorator of the suite for this type of test, with its expectation."""
    given: dict[str, Any] = {"capability": _text(fields, "capability", "other")}
    if "expect" in fields:
        given["expect"] = _expect(fields["expect"])
    elif kind == "DIR":
        raise test.error(
            "DIR does not say which way confidence may move", f"expect: one of {', '.join(DIRECTIONS)}"
        )
    if kind == "MFT":
        return suite.minimum(**given)
    text = _text(fields, "tolerance", "0.1")
    try:
        given["tolerance"] = float(text)
    except ValueError:
        raise fields["tolerance"].error(f"tolerance {text!r} is not a number", "tolerance: 0.1") from None
    if kind == "INV":
        return suite.invariance(**given)
    return suite.directional(**given, na_if=_text(fields, "na_if", ""))


def _expect(entry: Placed) -> Given:
    """Return a rule by name, or rules with arguments, which are checked here: an error names the rule's own place."""
    if isinstance(entry.value, str):
        return entry.text("expect")
    if not entry.value:
        raise entry.error("expect is empty", "expect: {contains: Paris}")
    rules: list[str | dict[str, Any]] = []
    for part in entry.value if isinstance(entry.value, list) else [entry]:
        if isinstance(part.value, str):
            rules.append(part.text("expect"))
            continue
        for name, argument in part.table("expect").items():
            rule = {name: plain_schema(argument.plain()) if name == "json" else argument.plain()}
            with errors_in(argument.where):
                check_expect(Expect.of(rule, Expect("")), None)
            rules.append(rule)
    return rules


# Its cases


def _filled_cases(
    name: str, fields: Mapping[str, Placed], patterns: Mapping[Template, Pattern], words: Words, kind: str
) -> Iterator[Case]:
    """Yield the cases of the templates: filled, labelled, and with their variants."""
    where, sample, seed = fields["templates"], _number(fields, "sample", 1), _number(fields, "seed", 0)
    exclude = fields["except"].texts("except") if "except" in fields else []
    rng = np.random.default_rng(seed)
    filled_count = case_count = 0
    with errors_in(where.where):
        for filled in fill(list(patterns), words.lists, sample, seed, exclude):
            filled_count += 1
            pattern = patterns[filled.template]
            variants = variants_of(filled, pattern.variants, fields, words, rng) if kind != "MFT" else []
            label = pattern.label
            if label and set(slot_names(label)) <= set(filled.words):  # a free answer may name the words
                (label,) = fill_one(label, filled.words)
            if kind == "MFT" or variants:
                case_count += 1
                yield case(filled.texts, *variants, label=label, cluster=filled.source)
    if filled_count < sample:
        raise where.error(
            f"{name}: sample asks for {sample:,} cases, the words make {filled_count:,}",
            f"sample: {filled_count}, or more words" if filled_count else "fewer phrases under except",
        )
    if not case_count:
        raise where.error(f"{name}: no case is left", "other templates, words or perturbations")


def _patterns(name: str, fields: Mapping[str, Placed], words: Words, kind: str) -> dict[Template, Pattern]:
    """Return the templates: of a list, of lists by label, or of entries with text, label and variants."""
    label, listed = _label(fields.get("label"), words), fields.get("templates")
    groups = [(listed, label)] if listed else []
    if listed and isinstance(listed.value, dict):
        groups = [(part, _label(Placed(name, part.where), words)) for name, part in listed.value.items()]
    shared = fields["variants"].parts("variants") if "variants" in fields else []
    patterns: dict[Template, Pattern] = {}
    problems: list[DataError] = []
    for part, label_of_group in groups:
        for entry in part.parts("templates"):
            with _collecting(problems):
                text, pattern = _pattern(entry, label_of_group, shared, words)
                template = read_template(text)
                with errors_in(text.where):
                    slot_lists(template, words.lists)
                if template in patterns:
                    raise entry.error(f"the template {template!r} occurs twice", "keep one of them")
                _check_pattern(name, entry, pattern, fields, kind)
                patterns[template] = pattern
    if problems:
        raise PlacedError.together(problems)
    return patterns


def _check_pattern(
    name: str, entry: Placed, pattern: Pattern, fields: Mapping[str, Placed], kind: str
) -> None:
    """Raise if a template lacks the label or the variants that its test type needs."""
    if kind == "MFT" and pattern.label is None and "expect" not in fields:
        raise entry.error(f"{name}: no label", "label: negative")
    if kind == "MFT" and pattern.variants:
        raise entry.error(f"{name}: variants make an INV or DIR test", "type: INV")
    if kind != "MFT" and not pattern.variants and "perturb" not in fields:
        raise entry.error(f"{name} ({kind}) has no variants", "perturb: typo, or variants:")


def _pattern(
    entry: Placed, label: str | None, shared: Sequence[Placed], words: Words
) -> tuple[Placed, Pattern]:
    """Return the text of an entry of `templates`, and its label and variants."""
    if not isinstance(entry.value, dict):
        return entry, Pattern(label, shared)
    table = entry.table("a template", ("text", "label", "variants"))
    if "text" not in table:
        raise entry.error("a template without text", 'text: "The {thing} was great."')
    variants = table["variants"].parts("variants") if "variants" in table else []
    return table["text"], Pattern(_label(table.get("label"), words) or label, [*shared, *variants])


def _label(label: Placed | None, words: Words) -> str | None:
    """Return a label of the suite, or "not_" before one."""
    if label is None:
        return None
    name = label.text("label").strip()
    if words.labels and name.removeprefix("not_") not in words.labels:
        known = ", ".join(words.labels)
        raise label.error(
            f"label {name!r} is not one of {known}", nearest(name, words.labels) or f"one of {known}"
        )
    return name


def _written_case(entry: Placed, fields: Mapping[str, Placed], kind: str, words: Words) -> Case:
    """Return a case that is written out: a text, an original with its variants, or either with its own label."""
    own = _label(fields.get("label"), words)
    if isinstance(entry.value, dict):
        table = entry.table("a case", ("text", "variants", "label"))
        if "text" not in table:
            raise entry.error("a case without text", 'text: "The room was great."')
        own = _label(table.get("label"), words) or own
        more = table["variants"].parts("variants") if "variants" in table else []
        parts = [table["text"], *more]
    else:
        parts = [entry] if kind == "MFT" else entry.parts("an original and its variants")
    texts = list(map(read_template, parts))
    if kind != "MFT" and len(texts) < 2:
        raise entry.error("an original without a variant", '["The room was great.", "The rooom was great."]')
    with errors_in(entry.where):
        if kind == "MFT" and own is None and "expect" not in fields:
            raise entry.error("no label", "label: negative")
        return case(*texts, label=own)


def _perturbed_case(
    entry: Placed, fields: Mapping[str, Placed], words: Words, rng: Generator
) -> Iterator[Case]:
    """Yield a text that is written out with its perturbed variants; nothing if no perturbation changes it."""
    if "variants" in fields:
        raise fields["variants"].error(
            "variants are for templates", "perturb:, or the variants next to each text"
        )
    original = Filled((entry.text("a case"),), entry.text("a case"), {})
    if variants := variants_of(original, (), fields, words, rng):
        yield case(original.text, *variants)


def waiting(name: str) -> str:
    """Return a note on the suggestions of a suite file that nobody has accepted; empty if there are none."""
    path = Path(name)
    fields = read_yaml(path).table("a suite") if is_yaml(path) and path.is_file() else {}
    suggested = fields["suggested"].value if "suggested" in fields else {}
    words = dict(suggested) if isinstance(suggested, dict) else {}
    cases = words.pop("cases", Placed({}, "")).value
    lists = {"word": words, "case": cases if isinstance(cases, dict) else {}}
    counts = {
        what: sum(len(part.value) for part in parts.values() if isinstance(part.value, list))
        for what, parts in lists.items()
    }
    texts = [f"{n} suggested {what}{'s' if n > 1 else ''}" for what, n in counts.items() if n]
    wait = "waits" if sum(counts.values()) == 1 else "wait"
    return f"{' and '.join(texts)} {wait} under `suggested`; not counted." if texts else ""
