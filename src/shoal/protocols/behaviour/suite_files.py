"""Suites in files: read, imported from other formats, run from a Python module, written, exported for querying."""

import json
import re
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from runpy import run_path
from typing import Any, get_args

from ...core.case_table import CaseTable, Examples
from ...core.errors import DataError, ShoalError, errors_at, some
from ...core.files import Cells, UnusualError, collector_paused, writing
from ...core.records import Case, Example, Label, TestType
from ...core.text import csv_lines, is_formula
from ...data import SuiteRows, columns, read_suite_rows, with_label_names
from ...data.invalid import first_few
from ...data.suite import is_suite_file
from .expect import DIRECTIONS, Expect
from .rules import SPAN_RULES, needs_labels
from .suite import DEFAULTS, Suite, label_names, labels_of
from .template_suites import is_sheet, is_yaml, read_sheet_suite, read_template_suite

ROWS_AT_ONCE = 256
"""Few enough for the processor's cache: 4,096 take twice as long."""
SUITE_SUFFIXES = (".jsonl", ".json", "")
FIELDS = {
    "text": ("text",),
    "question1": ("question1", "question2"),
    "context": ("context", "question"),
    "premise": ("premise", "hypothesis"),
}
"""The names of an example's texts in a suite file, by the first of them."""
SHARED = ("capability", "type", "expect", "direction")
"""Fields that all rows of a functionality have in common."""
Opened = dict[str, tuple[Any, ...]]
"""Functionality to the shared fields of its rows."""


def is_generated(path: Path) -> bool:
    """Return whether a suite's cases depend on more than its file: on code, or on our word lists."""
    return path.suffix == ".py" or is_yaml(path) or is_sheet(path)


def read_suite(path: Path | str) -> Suite:
    """Return the suite in a file: our own format, templates, any that `shoal import` recognises, or a Python module.

    A module (`.py`) is executed: only read those that you would run.
    """
    path = Path(path)
    if path.suffix == ".py":
        return suite_of_module(path)
    if is_yaml(path):
        return read_template_suite(path)
    if is_sheet(path):
        return read_sheet_suite(path)
    return suite_from_rows(read_suite_rows(path), path)


def import_suite(
    path: Path,
    out: Path,
    named: columns.Named,
    names: Mapping[str, str] | None = None,
    *,
    by_template: bool = False,
    skip_invalid: bool = False,
) -> tuple[Suite, list[str]]:
    """Read a file of another format and write it as a suite; return the suite, and lines on what is not in it.

    `names` are the suite's names of the file's labels; `by_template` infers the templates of cases.
    """
    _check_target(path, out)
    if path.suffix == ".py" or is_yaml(path) or (is_sheet(path) and not named.all()):
        if named.all() or names or skip_invalid:
            raise DataError(f"{path}: the suite names its own labels and texts", fix="only --out")
        suite, lines = read_suite(path), []
    else:
        rows = columns.read(path, named) if named.all() else read_suite_rows(path)
        if names:  # answers in words stay as they are
            stripped = ((number, _stripped_row(rows, number, row)) for number, row in rows.rows)
            rows = with_label_names(replace(rows, rows=stripped), names, path)
        otherwise = "" if skip_invalid else "or import with --skip-invalid"
        suite = suite_from_rows(rows, path, skip_invalid=skip_invalid, otherwise=otherwise)
        lines = [f"not imported: {what}" for what in [*rows.invalid.summary(rows.unit), *rows.lost]]
        if rows.stripped:
            count = f"{len(rows.stripped):,} label{'s' if len(rows.stripped) > 1 else ''}"
            where = first_few(rows.unit, rows.stripped)
            lines.append(f"white space removed at the edges of {count} ({where})")
    if by_template:
        suite.infer_clusters()
    write_suite(suite, out)
    return suite, lines


def _check_target(path: Path, out: Path) -> None:
    """Raise unless `out` is a name for JSON Lines, and free or an earlier suite file."""
    fix = f"--out {path.name.split('.')[0]}-suite.jsonl"
    if out.exists() and path.exists() and out.samefile(path):
        raise DataError(f"{out}: both what is read and what is to be written", fix=fix)
    if out.suffix not in SUITE_SUFFIXES:
        raise DataError(f"{out}: import writes JSON Lines, not {out.suffix}", fix=fix)
    if out.is_file() and out.stat().st_size and not is_suite_file(out):
        raise DataError(f"{out}: the file exists and is not an imported suite", fix=fix)


def _stripped_row(found: SuiteRows, number: int, row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with labels without white space at their edges; answers in words stay as they are."""
    labels, expect = row.get("labels"), row.get("expect")
    listed = labels if isinstance(labels, list) else [labels]
    stripped = [label.strip() or label if isinstance(label, str) else label for label in listed]
    if stripped == listed or (isinstance(expect, dict) and expect.get("rule") in SPAN_RULES):
        return row
    found.stripped.append(number)
    return {**row, "labels": stripped if isinstance(labels, list) else stripped[0]}


def suite_from_rows(
    found: SuiteRows, path: Path, *, skip_invalid: bool = False, otherwise: str = ""
) -> Suite:
    """Return the suite of checked rows of the suite schema.

    One error lists all invalid rows, with `otherwise` as another remedy; `skip_invalid` leaves them out if it can.
    """
    header, names = found.header, found.header.get("label_names")
    suite = Suite(
        str(header.get("suite") or path.name.split(".")[0]),
        task=str(header.get("task") or ""),
        version=str(header.get("version") or ""),
    )
    with errors_at(f"{path}, line 1"):
        suite.labels = None if names is None else label_names(names, "label_names")
        about = header.get("descriptions")
        texts = about.items() if isinstance(about, dict) else ()
        suite.descriptions = {name: str(text) for name, text in texts}
    opened: Opened = {}
    with collector_paused():
        while block := list(islice(found.rows, ROWS_AT_ONCE)):
            if not _add_block(suite, found, [row for _, row in block], opened):
                for number, row in block:
                    try:
                        _add_row(suite, found, _stripped_row(found, number, row), opened)
                    except DataError as problem:
                        found.invalid.add(number, problem)
    if found.invalid.count and not (skip_invalid and suite.cases):
        total = found.invalid.count + len(suite.cases)
        invalid = found.invalid.error(path, found.unit, total, otherwise)
        spellings = suite.spelling_problem() if suite.labels is None else None
        raise invalid.with_also(spellings) if spellings else invalid
    if not suite.cases:
        raise DataError(f"{path}: no cases", fix="check that this is the file you meant")
    with errors_at(str(path)):
        if suite.labels is None:
            suite.infer_labels()
    if found.templated:
        suite.infer_clusters()
    suite.close()
    return suite


def _add_block(suite: Suite, found: SuiteRows, rows: Sequence[Mapping[str, Any]], opened: Opened) -> bool:
    """Add rows column by column; return False, and add none, if one is not valid or not of the usual form.

    In the usual form, the functionality is known from earlier rows, and there is no label by example and no meta.
    """
    cells, examples = Cells(rows), Examples()
    try:
        names = cells.column("functionality", str)
        identities = list(map(str, cells.column("case_id", str, int)))
        labels = cells.column("labels", str, int, type(None))
        clusters = [cluster or "" for cluster in cells.column("cluster", str, type(None))]
        _add_examples(examples, cells.column("examples", list), blank_texts=found.blank_texts)
    except UnusualError:
        return False
    is_known = list(map(opened.get, names)) == list(zip(*map(cells.column, SHARED), strict=True))
    words = {label for label in set(labels) if isinstance(label, str)}
    if not is_known or any(word != word.strip() for word in words) or not all(map(str.strip, identities)):
        return False
    pairs = list(zip(labels, examples.sizes.tolist(), strict=True))
    made = {pair: labels_of(*pair) for pair in set(pairs)}
    table = CaseTable(
        [f"{name}/{identity}" for name, identity in zip(names, identities, strict=True)],
        examples,
        map(made.__getitem__, pairs),
        map(suite.headings.__getitem__, names),
        clusters,
    )
    return not any(cells.column("meta")) and suite.add_table(table, examples)


def _add_examples(examples: Examples, listed: Sequence[list[Any]], *, blank_texts: bool) -> None:
    """Add the examples of cases; raise UnusualError unless all are objects with the same texts."""
    rows = list(chain.from_iterable(listed))
    if not all(listed) or set(map(type, rows)) != {dict}:
        raise UnusualError
    fields = FIELDS.get(next(iter(rows[0]), ""), ())
    texts = list(chain.from_iterable(map(dict.values, rows)))
    if set(map(tuple, rows)) != {fields} or set(map(type, texts)) != {str}:
        raise UnusualError
    if not blank_texts and not all(map(str.strip, texts)):
        raise UnusualError
    examples.extend(texts, map(len, listed), len(fields))


def _add_row(suite: Suite, found: SuiteRows, row: Mapping[str, Any], opened: Opened) -> None:
    name = _field(row, "functionality")
    about = tuple([row.get(field) for field in SHARED])
    if about != opened.get(name, about):
        raise DataError(
            f"functionality {name!r} changes its capability, type, expectation or direction",
            why=f"earlier: {opened[name]}; here: {about}",
            fix="one functionality has one expectation: give the other cases another name",
        )
    examples = tuple([_example(example) for example in _field(row, "examples")])
    if not found.blank_texts and any(not text.strip() for example in examples for text in example):
        raise DataError("a blank text", fix="fill it in, or take the row out")
    labels = labels_of(row.get("labels"), len(examples))
    meta = {"details": row["meta"]} if row.get("meta") else {}
    made = Case("", examples, labels, cluster=str(row.get("cluster") or ""), meta=meta)
    case_id = str(_field(row, "case_id"))
    if name not in opened:
        _open_functionality(suite, name, row)
    try:
        suite.add_case(name, case_id, made)
    except DataError:
        if name not in opened:  # an invalid row does not decide what a functionality expects
            del suite.headings[name]
        raise
    opened[name] = about


def _open_functionality(suite: Suite, name: str, row: Mapping[str, Any]) -> None:
    test_type = row.get("type", "")
    rules = {direction: rule for rule, direction in DIRECTIONS.values()}
    if test_type not in get_args(TestType):
        raise DataError(f"type {test_type!r} is not one of MFT, INV, DIR", fix='"type": "MFT"')
    expect = row.get("expect")
    direction = None if row.get("direction") is None else _field(row, "direction")
    if expect is not None:
        parsed = Expect.parse(expect, default=DEFAULTS.get(test_type))
    elif test_type in DEFAULTS:
        parsed = DEFAULTS[test_type]
    elif direction in rules:
        parsed = Expect(rules[direction], tolerance=0.1, aggregate="all_except_first")
    else:
        raise DataError(
            f"functionality {name!r} is directional and says neither expect nor direction",
            fix='"direction": one of ' + ", ".join(rules),
        )
    suite.add_functionality(name, str(row.get("capability") or "other"), test_type, parsed, direction)


FIELD_TYPES: dict[str, tuple[tuple[type, ...], str, str]] = {
    "functionality": ((str,), "a text", '"functionality": "…"'),
    "direction": ((str,), "a text", '"direction": "not_more_conf"'),
    "case_id": ((str, int), "a text or a whole number", '"case_id": "1"'),
    "examples": ((list,), "a list with at least one example", '"examples": [{"text": "…"}]'),
}


def _field(row: Mapping[str, Any], key: str) -> Any:
    """Return a field of a row; raise if it is empty or of another type."""
    value, (types, kind, fix) = row.get(key), FIELD_TYPES[key]
    is_empty = not value.strip() if isinstance(value, str) else value == []
    if is_empty or isinstance(value, bool) or not isinstance(value, types):
        raise DataError(f"{key!r} must be {kind}, found {value!r:.80}", fix=fix)
    return value


def _example(example: Any) -> Example:
    """Return an example's texts, from an object with their names, a text or a list of texts."""
    if isinstance(example, str):
        return (example,)
    if isinstance(example, dict):
        fields = FIELDS.get(next(iter(example), ""), ())
        if len(example) != len(fields) or any(field not in example for field in fields):
            raise DataError(
                f"an example with fields {', '.join(map(str, example)) or '(none)'}",
                fix="text; question1, question2; context, question; or premise, hypothesis",
            )
        example = [example[field] for field in fields]
    if not isinstance(example, list) or not example or not all(isinstance(text, str) for text in example):
        raise DataError(
            f"an example must be an object of texts, found {example!r:.80}",
            fix='{"text": "…"}, or {"question1": "…", "question2": "…"}',
        )
    return tuple(example)


def write_suite(suite: Suite, path: Path | str) -> None:
    """Write a suite file; `read_suite` returns the same suite."""
    with writing(Path(path)) as stream:
        stream.writelines(line + "\n" for line in suite_lines(suite))


def suite_lines(suite: Suite) -> Iterator[str]:
    """Yield the lines of a suite file: its header, then a case on each."""
    descriptions = {name: suite.descriptions.get(name) for name in suite.functionalities}
    header = {
        "suite": suite.name,
        "task": suite.task,
        "label_names": list(suite.labels) if suite.labels and suite.in_order else None,
        "version": suite.version,
        "descriptions": {name: text for name, text in descriptions.items() if text},
    }
    yield json.dumps({key: value for key, value in header.items() if value}, ensure_ascii=False)
    for made in suite.cases:
        names = example_fields(suite.task, len(made.examples[0]))
        name = made.groups["functionality"]
        row = {
            "functionality": name,
            "capability": made.groups["capability"],
            "type": made.groups["test type"],
            "case_id": made.id.removeprefix(f"{name}/"),
            "examples": [dict(zip(names, example, strict=True)) for example in made.examples],
            "labels": _short(made.labels),
            "expect": made.meta["expect"].as_json(),
            "direction": made.meta.get("direction"),
            "cluster": made.cluster or None,
            "meta": made.meta.get("details"),
        }
        yield json.dumps({key: value for key, value in row.items() if value is not None}, ensure_ascii=False)


def _short(labels: tuple[Label, ...] | None) -> Label | list[Label] | None:
    if labels is None:
        return None
    return labels[0] if len(set(labels)) == 1 and len(set(map(type, labels))) == 1 else list(labels)


def example_fields(task: str, texts: int) -> tuple[str, ...]:
    """Return the names of an example's texts in a suite file."""
    by_task = {"reading comprehension": FIELDS["context"], "nli": FIELDS["premise"]}
    return ("text",) if texts == 1 else by_task.get(task, FIELDS["question1"])


# Suites written in Python


def suite_of_module(path: Path) -> Suite:
    """Return the suite called `suite` in a module, else the only one."""
    names = _run(path)
    suites = {name: value for name, value in names.items() if isinstance(value, Suite)}
    suite = suites.get("suite", next(iter(suites.values()), None))
    if suite is None or ("suite" not in suites and len(set(map(id, suites.values()))) > 1):
        raise DataError(
            f"{path}: {f'{len(suites)} suites: {some(suites)}' if suites else 'no suite'}",
            fix='suite = Suite("hotel", labels=("negative", "positive"))',
        )
    if not suite.cases:
        raise DataError(
            f"{path}: suite {suite.name!r} has no cases",
            fix='@suite.minimum(capability="…") before a function that yields case("a text", label="…")',
        )
    return suite


def _run(path: Path) -> dict[str, Any]:
    """Execute a module and return its names. It can import modules next to it."""
    if not path.is_file():
        raise DataError(f"{path}: no such file", fix="check the name, and the folder you are in")
    beside = str(path.resolve().parent)
    sys.path.insert(0, beside)
    try:
        with redirect_stdout(sys.stderr), errors_at(str(path)):
            return run_path(str(path), run_name=f"shoal_suite_{path.stem}")
    except ShoalError:
        raise
    except (Exception, SystemExit) as problem:
        frames = traceback.extract_tb(problem.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(path)]
        lines += [problem.lineno] if isinstance(problem, SyntaxError) else []
        where = f"{path}, line {lines[-1]}" if lines else str(path)
        raise DataError(
            f"{where}: {type(problem).__name__}: {problem}",
            fix=f"correct the module; python {path} shows more",
        ) from None
    finally:
        sys.path.remove(beside)


# Texts with their ids, to query a model elsewhere


def export_suite(suite: Suite, out: Path, *, verbatim: bool = False) -> int:
    """Write every example of a suite with its ids, as .csv or .jsonl; return their number.

    A text that begins like a formula is dangerous in a spreadsheet, and escaped it is another text. Such a suite is
    written as JSON Lines, or `verbatim`.
    """
    if out.suffix not in (".csv", ".jsonl"):
        raise DataError(
            f"{out}: a suite is written as .csv, .jsonl or .html",
            fix=f"--out {out.name.split('.')[0] or 'cases'}.jsonl",
        )
    rows = [
        {
            "functionality": case.groups["functionality"],
            "case_id": case.id.removeprefix(f"{case.groups['functionality']}/"),
            "example_idx": position,
            **dict(zip(example_fields(suite.task, len(texts)), texts, strict=True)),
        }
        for case in suite.cases
        for position, texts in enumerate(case.examples)
    ]
    lines: Iterable[str] = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if out.suffix == ".csv":
        cells = (cell for row in rows for cell in row.values())
        formulas = [cell for cell in cells if isinstance(cell, str) and is_formula(cell)]
        if formulas and not verbatim:
            raise DataError(
                f"{out}: {len(formulas):,} cells begin as a formula does, the first is {formulas[0][:60]!r}",
                why="a spreadsheet may run them, and escaping would change the model's input",
                fix=f"--out {out.stem}.jsonl; or --verbatim, for a program that reads the file",
            )
        lines = csv_lines([list(rows[0]), *(list(row.values()) for row in rows)], verbatim=True)
    with writing(out) as stream:
        stream.writelines(lines)
    return len(rows)


# A suite as data for the browser form

RULES = {
    "MFT": "For each, the model must give the label shown.",
    "INV": "The variants must not change the model's prediction.",
    "DIR": "The variants may move the model's confidence one way only.",
}
"""The meaning of each test type, for somebody who does not know the terms."""
CHOICES = 50
"""More distinct labels are typed, not chosen."""


def form_data(suite: Suite) -> dict[str, Any]:
    """Return what the form needs of a suite: its labels, functionalities, and the lines of its file.

    The rows are text, so that a row without changes leaves the form byte for byte. `data/form.py` reads its answer.
    """
    header, *rows = suite_lines(suite)
    name = re.sub(r"[^\w.-]+", "-", suite.name).strip("-.") or "suite"
    return {
        "name": suite.name,
        "file": f"{name}-edited.json",
        "digest": sha256("\n".join([header, *rows]).encode()).hexdigest()[:16],
        "labels": _choices(suite),
        "header": header,
        "rows": rows,
        "functionalities": _functionalities(suite),
    }


def _choices(suite: Suite) -> list[Label]:
    """Return the labels to choose from; none if answers are texts."""
    if suite.labels or any(case.meta.get("reading") for case in suite.cases):
        return list(suite.labels or ())
    used = {label for case in suite.cases for label in case.labels or ()}
    plain = sorted((label for label in used if not str(label).startswith("not_")), key=str)
    return plain if len(plain) <= CHOICES else []


def _functionalities(suite: Suite) -> list[dict[str, Any]]:
    first = {case.groups["functionality"]: case for case in reversed(suite.cases)}
    return [
        {
            "name": name,
            "capability": case.groups["capability"],
            "type": case.groups["test type"],
            "about": suite.descriptions.get(name, ""),
            "rule": RULES[case.groups["test type"]],
            "needs_label": needs_labels(case.meta["expect"]),
        }
        for name in suite.functionalities
        if (case := first.get(name))
    ]
