"""Released CheckList suites, read without running them.

The suites were published as dill pickles of Python 3.7 objects inside a gzip'ed tar. Loading one with
`pickle` or `dill` runs whatever it asks for, and the compiled functions in it no longer load anyway.
Here the file is only ever data:

    file ─► bytes ─► plain values and stand-ins ─► PickledSuite ─► rows
            _unpack  Machine                       _Reader

`pickle_machine.Machine` makes inert values. This module says which names a suite may use, and which of its
values become cases; anything else is refused with the name that was asked for.

Three budgets keep a hostile file small: bytes read, memory the machine may fill, and the size of the result
with shared parts counted each time they are used, since that is what writing it out will cost. Together they
stay below 500 MB. All count work, none looks at a clock.
"""

import codecs
import gzip
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NoReturn, TypeVar

from ..core.errors import DataError
from .pickle_machine import SUSPECT, Machine, Name, StandIn, kind_of, refuse

FILE_LIMIT: Final = 64_000_000
"""Bytes, once decompressed. Of the two released suites we read, the larger has 25 million."""
RESULT_LIMIT: Final = 120_000_000
"""Bytes of the result, estimated, shared parts counted each time; the larger takes 51 million."""
DEPTH_LIMIT: Final = 20
"""Lists within lists in labels and meta, functions within functions in rules."""

Example = str | tuple[str, ...]
Plain = None | bool | int | float | str | list["Plain"] | tuple["Plain", ...] | dict[str, "Plain"]


@dataclass(frozen=True, slots=True)
class PickledFunction:
    """What is left of a function that was not loaded: enough to recognise a rule, nothing to run."""

    name: str
    file: str = ""
    line: int | None = None
    constants: tuple[Plain, ...] = ()
    names: tuple[str, ...] = ()
    """Globals and attributes its code mentions."""
    variables: tuple[str, ...] = ()
    """Arguments and local variables."""
    closure: "Mapping[str, Plain | PickledFunction]" = field(default_factory=dict)
    """What it closes over, by name: settings such as tolerance, and the functions it wraps."""


@dataclass(frozen=True, slots=True)
class PickledCase:
    """Examples shown together, and what is expected of them."""

    examples: tuple[Example, ...]
    grouped: bool
    """Whether the file holds a list of examples, rather than one."""
    label: Plain
    meta: Plain
    raw_rows: tuple[int, int] | None
    """Which lines of a CheckList prediction file are its answers: from, up to."""


@dataclass(frozen=True, slots=True)
class PickledTest:
    """One functionality, as the file has it."""

    name: str
    test_type: str
    capability: str
    description: str
    aggregate: str
    cases: tuple[PickledCase, ...]
    label_kind: str
    """none, scalar (one label for all cases) or list (one entry per case)."""
    has_meta: bool
    run_indices: tuple[int, ...] | None
    """Cases drawn for the published run, in the order drawn; None when all were run, or none."""
    raw_range: tuple[int, ...] | None
    """Which lines of a prediction file are this test's: from, up to."""
    raw_rows_note: str
    """Why `raw_rows` could not be worked out; empty when it could."""
    rule_hint: PickledFunction | None


@dataclass(frozen=True, slots=True)
class PickledSuite:
    """All tests of a released suite, in the order they were added."""

    tests: tuple[PickledTest, ...]


def read_suite_pickle(path: Path) -> PickledSuite:
    """The suite in a released CheckList file: a pickle, bare, gzip'ed or alone in a tar.

    Nothing in the file is executed, imported or written to disk. A file that asks for anything
    a suite has no use for, is damaged, or would grow too large is a DataError.
    """
    where = str(path)
    try:
        content = _unpack(path, where)
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(f"{where}: cannot be read: {reason}", fix="the path of a suite file") from None
    return _Reader(where).suite(Machine(content, where, _NAMES, _answer).run())


def rows(suite: PickledSuite, name: str) -> Iterator[dict[str, object]]:
    """One row per case, in the JSON Lines form of the converted suites; `name` is the suite's.

    `meta` is there when the test has any, `raw_rows` when the case was part of the published run.
    """
    for test_id, test in enumerate(suite.tests):
        for case_id, case in enumerate(test.cases):
            row: dict[str, object] = {
                "suite": name,
                "test_id": test_id,
                "test": test.name,
                "capability": test.capability,
                "type": test.test_type,
                "case_id": case_id,
                "grouped": case.grouped,
                "examples": _listed(case.examples),
                "label": _listed(case.label),
            }
            if test.has_meta:
                row["meta"] = _listed(case.meta)
            if case.raw_rows is not None:
                row["raw_rows"] = list(case.raw_rows)
            yield row


def _listed(value: Plain) -> Plain:
    """The same value as JSON would give it back: tuples as lists."""
    if isinstance(value, list | tuple):
        return [_listed(part) for part in value]
    if isinstance(value, dict):
        return {key: _listed(part) for key, part in value.items()}
    return value


# From file to bytes


def _unpack(path: Path, where: str) -> bytes:
    """The pickle inside a file, whichever way it is wrapped."""
    with path.open("rb") as file:
        content = file.read(FILE_LIMIT + 1)
    if content[:2] == b"\x1f\x8b":
        try:
            with gzip.open(path) as stream:
                content = stream.read(FILE_LIMIT + 1)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise DataError(
                f"{where}: the gzip stream is damaged: {error}", fix="download the file again"
            ) from None
    if len(content) > FILE_LIMIT:
        raise DataError(
            f"{where}: holds more than {FILE_LIMIT:,} bytes",
            why="the released suites have less than half as many, and a small file can unfold to any size",
            fix=SUSPECT,
        )
    return _only_file(content, where) if _is_tar_header(content[:512]) else content


def _is_tar_header(block: bytes) -> bool:
    """Whether a block carries the checksum of a tar header."""
    if len(block) < 512:
        return False
    return _octal(block[148:156]) == sum(block) - sum(block[148:156]) + 8 * ord(" ")


def _octal(field: bytes) -> int | None:
    """A number as tar headers write it; None for anything else, sizes of 8 GB and more among them."""
    digits = field.strip(b" \0")
    return int(digits, 8) if digits and not digits.strip(b"01234567") else None


def _only_file(archive: bytes, where: str) -> bytes:
    """The content of the one regular file in a tar.

    Our own few lines, since `tarfile` reads extended headers with expressions that can be made to take
    for ever. Names, links and extended headers are passed over unread.
    """
    files: list[bytes] = []
    position = 0
    while _is_tar_header(header := archive[position : position + 512]):
        size = _octal(header[124:136])
        start = position + 512
        if size is None or start + size > len(archive):
            raise DataError(f"{where}: the tar is damaged or cut short", fix="download the file again")
        if header[156] in b"0\0":
            files.append(archive[start : start + size])
        position = start + -(-size // 512) * 512
    if len(files) != 1:
        raise DataError(
            f"{where}: the tar holds {len(files)} regular files; a released suite is one pickle",
            fix="take the pickle out and read that",
        )
    return files[0]


# What a suite may name, and what stands for a call of it

_TESTS: Final = frozenset(f"checklist.test_types.{name}" for name in ("MFT", "INV", "DIR"))
_SUITE: Final = "checklist.test_suite.TestSuite"

_DICTIONARIES: Final = frozenset(
    {
        "collections.OrderedDict",
        "collections.defaultdict",
        "munch.Munch",
        "checklist.editor.MunchWithAdd",
    }
)
"""Dictionaries that are made empty and then given their entries."""

_ARRAYS: Final = frozenset(
    f"numpy.{core}.{module}._reconstruct"
    for core in ("core", "_core")
    for module in ("multiarray", "_multiarray_umath")
)
_SCALARS: Final = frozenset(name.replace("_reconstruct", "scalar") for name in _ARRAYS)

_FUNCTION: Final = "dill._dill._create_function"
_CODE: Final = "dill._dill._create_code"
_CELL: Final = "dill._dill._create_cell"
_RECORDED: Final = _ARRAYS | _SCALARS | {_FUNCTION, _CODE, _CELL, "dill._dill._setattr", "numpy.dtype"}
"""Calls that are remembered, with their arguments, and never made."""

_GET_ATTRIBUTE: Final = "dill._dill._get_attr"
_IMPORT: Final = "dill._dill._import_module"
_LOAD_TYPE: Final = "dill._dill._load_type"

_COLLECTED: Final = frozenset({"builtins.frozenset", "builtins.set"})
"""Calls that give back their one argument, a list."""

_MENTIONED: Final = frozenset(
    {
        "checklist.editor.Editor",
        "checklist.expect.Expect",
        "checklist.expect.iter_with_optional",
        "checklist.perturb.Perturb",
        "numpy.ndarray",
        *(f"builtins.{name}" for name in ("abs", "all", "any", "enumerate", "isinstance", "len", "max")),
        *(f"builtins.{name}" for name in ("min", "range", "sorted", "sum", "zip")),
    }
)
"""Names that a rule's code refers to. They stand for themselves and cannot be called."""

_EMPTY: Final = _TESTS | {_SUITE}
"""Objects that are made empty and then given their state."""

_NAMES: Final = frozenset(
    {*_EMPTY, *_DICTIONARIES, *_RECORDED, *_COLLECTED, *_MENTIONED, _GET_ATTRIBUTE, _IMPORT, _LOAD_TYPE}
)
"""Everything a file may name."""

_MODULES: Final = frozenset(
    {
        *(name.rpartition(".")[0] for name in _ARRAYS | _MENTIONED | _DICTIONARIES | _EMPTY),
        *("copy", "functools", "itertools", "math", "random", "re", "string"),
    }
)
"""Modules that a rule's code refers to; their attributes only as in _NAMES."""

_TYPES: Final = frozenset(
    (
        *("CellType", "ClassType", "CodeType", "Exception", "FunctionType", "NoneType", "TypeType", "bool"),
        *("dict", "enumerate", "float", "int", "list", "map", "object", "range", "set", "str", "tuple"),
        *("type", "zip"),
    )
)
"""Types that a rule's code refers to, by dill's names."""


def _answer(called: object, arguments: tuple[object, ...]) -> object:
    """What stands for the result of a call: a stand-in, a name by another way, or a refusal."""
    kind = kind_of(called)
    if isinstance(called, StandIn) and kind == "type" and called.arguments == ("CodeType",):
        return StandIn(_CODE, arguments)
    if not isinstance(called, Name):
        refuse(f"a call of {kind}")
    first, second = (*arguments, None, None)[:2]
    if kind in _ARRAYS and kind_of(first) != "numpy.ndarray":
        refuse(f"{kind} of {kind_of(first)}")
    if kind in _RECORDED or (kind in _EMPTY and not arguments):
        return StandIn(kind, arguments)
    if kind in _DICTIONARIES and (not arguments or kind == "collections.defaultdict"):
        return {}
    if kind in _COLLECTED and len(arguments) == 1 and isinstance(first, list):
        return first
    if kind == _GET_ATTRIBUTE:
        return _attribute(first, second)
    if kind == _IMPORT:
        return _listed_name("module", first, _MODULES)
    if kind == _LOAD_TYPE:
        return _listed_name("type", first, _TYPES)
    refuse(f"a call of {kind}")


def _listed_name(made: str, name: object, known: frozenset[str]) -> StandIn:
    """dill's way to name a module or a type."""
    if not isinstance(name, str) or name not in known:
        refuse(f"{made} {_shown(name)}")
    return StandIn(made, (name,))


def _attribute(owner: object, name: object) -> Name:
    """dill's way to name a thing in a module."""
    module = owner.arguments[0] if isinstance(owner, StandIn) and owner.kind == "module" else owner
    if not isinstance(module, str) or not isinstance(name, str):
        refuse(f"attribute {_shown(name)} of {kind_of(module)}")
    if f"{module}.{name}" not in _NAMES:
        refuse(f"{module}.{name}")
    return Name(f"{module}.{name}")


def _shown(value: object) -> str:
    return value if isinstance(value, str) else kind_of(value)


# From stand-ins to a suite

_NUMBERS: Final = {
    "b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
    "f2": "e", "f4": "f", "f8": "d",
}  # fmt: skip
"""NumPy's names of number types, and struct's."""

_DECODERS: Final = {"<": codecs.getdecoder("utf-32-le"), ">": codecs.getdecoder("utf-32-be")}
"""Fetched here, since the first use of a codec imports it, and reading a file is to import nothing."""

_LEAVES: Final = (bool, int, float, str, type(None))
_T = TypeVar("_T")


class _Reader:
    """Makes plain values of stand-ins, within one budget for the whole suite."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.spent = 0

    def charge(self, amount: int) -> None:
        self.spent += amount
        if self.spent > RESULT_LIMIT:
            raise DataError(
                f"{self.where}: would unfold to more than {RESULT_LIMIT:,} bytes",
                why="parts of it are used over and over; the released suites have less than half as much",
                fix=SUSPECT,
            )

    def wrong(self, what: str, value: object, wanted: str) -> NoReturn:
        raise DataError(f"{self.where}: {what} is {kind_of(value)}; want {wanted}", fix=SUSPECT)

    # A suite

    def suite(self, root: object) -> PickledSuite:
        """The tests of a suite, each part of them checked."""
        state = root.state if isinstance(root, StandIn) and root.kind == _SUITE else None
        tests, info, ranges = (_dict(_dict(state).get(key)) for key in ("tests", "info", "test_ranges"))
        if not tests:
            raise DataError(
                f"{self.where}: holds no CheckList suite but {kind_of(root)}",
                fix="a file written by CheckList's TestSuite.save",
            )
        return PickledSuite(
            tuple([self.test(name, test, info.get(name), ranges.get(name)) for name, test in tests.items()])
        )

    def test(self, name: object, test: object, info: object, span: object) -> PickledTest:
        """One functionality; `info` and `span` are what the suite's tables have of it."""
        if not isinstance(name, str):
            self.wrong("the name of a test", name, "text")
        what = f'test "{name[:100]}"'
        if not isinstance(test, StandIn) or test.kind not in _TESTS or not isinstance(test.state, dict):
            self.wrong(what, test, "MFT, INV or DIR with its state")
        state, table = test.state, _dict(info)
        # Tests made by older versions lack attributes; the suite's table has them.
        capability, description = (
            self.typed(state.get(key) or table.get(key) or "", str, f"{what}: {key}", "text")
            for key in ("capability", "description")
        )
        examples = self.examples(state.get("data"), what)
        self.charge(len(examples) * (len(name) + len(capability)))  # every row will carry them
        run_indices = self.integers(state.get("run_idxs"), f"{what}: run_idxs")
        raw_range = self.integers(span, f"{what}: test_ranges")
        if raw_range is not None and len(raw_range) != 2:
            self.wrong(f"{what}: test_ranges", span, "two numbers")
        case_of_line = self.integers(state.get("result_indexes"), f"{what}: result_indexes")
        sizes = [len(shown) for shown, _ in examples]
        raw_rows, note = _raw_rows(sizes, raw_range, case_of_line, run_indices)
        labels, metas = (
            self.parallel(state.get(key), len(examples), f"{what}: {key}") for key in ("labels", "meta")
        )
        aggregate = state.get("agg_fn")
        return PickledTest(
            name=name,
            test_type=test.kind.rpartition(".")[2],
            capability=capability,
            description=description,
            aggregate=aggregate if isinstance(aggregate, str) else self.function_name(aggregate),
            cases=tuple(
                PickledCase(shown, grouped, label, meta, lines)
                for (shown, grouped), label, meta, lines in zip(
                    examples, labels, metas, raw_rows, strict=True
                )
            ),
            label_kind=_label_kind(state.get("labels")),
            has_meta=state.get("meta") is not None,
            run_indices=run_indices,
            raw_range=raw_range,
            raw_rows_note=note,
            rule_hint=self.function(state.get("expect")),
        )

    def examples(self, data: object, what: str) -> list[tuple[tuple[Example, ...], bool]]:
        """Each case's examples, and whether they came as a list."""
        cases: list[tuple[tuple[Example, ...], bool]] = []
        for number, case in enumerate(self.typed(data, list, f"{what}: data", "a list of cases")):
            grouped = isinstance(case, list)
            shown = [self.example(value, f"{what}: case {number}") for value in (case if grouped else [case])]
            self.charge(200)
            cases.append((tuple(shown), grouped))
        return cases

    def example(self, value: Plain, what: str) -> Example:
        if isinstance(value, str):
            return value
        if not isinstance(value, tuple):
            self.wrong(what, value, "text, or a tuple of texts")
        texts = _only(value, str)
        if len(texts) != len(value):
            self.wrong(what, next(part for part in value if not isinstance(part, str)), "text")
        return texts

    def parallel(self, value: object, cases: int, what: str) -> list[Plain]:
        """One value per case, from a list of as many or from one value for all."""
        before = self.spent
        plain = self.plain(value, what)
        if not isinstance(plain, list):
            self.charge(cases * (self.spent - before))  # every row will carry it
            return [plain] * cases
        if len(plain) != cases:
            raise DataError(
                f"{self.where}: {what} has {len(plain):,} entries for {cases:,} cases", fix=SUSPECT
            )
        return plain

    def integers(self, value: object, what: str) -> tuple[int, ...] | None:
        if value is None:
            return None
        wanted = "a list of whole numbers"
        plain = tuple(self.typed(value, (list, tuple), what, wanted))
        numbers = _only(plain, int)
        if len(numbers) != len(plain):
            self.wrong(what, value, wanted)
        return numbers

    # Values

    def typed(self, value: object, types: type[_T] | tuple[type[_T], ...], what: str, wanted: str) -> _T:
        plain = self.plain(value, what)
        if not isinstance(plain, types):
            self.wrong(what, value, wanted)
        return plain

    def plain(self, value: object, what: str, depth: int = 0) -> Plain:
        """The plain value of a stand-in; lists and dictionaries are copied as often as they are used."""
        if value is None or isinstance(value, bool | int | float):
            self.charge(10)
            return value
        if isinstance(value, str):
            self.charge(10 + len(value))
            return value
        if depth > DEPTH_LIMIT:
            self.wrong(what, value, f"at most {DEPTH_LIMIT} levels of lists within lists")
        self.charge(100)
        if isinstance(value, list):
            return [self.plain(part, what, depth + 1) for part in value]
        if isinstance(value, tuple):
            return tuple([self.plain(part, what, depth + 1) for part in value])
        if isinstance(value, dict):
            self.charge(200 + 100 * len(value))
            return {self.key(key, what): self.plain(part, what, depth + 1) for key, part in value.items()}
        if isinstance(value, StandIn) and value.kind in _SCALARS and len(value.arguments) == 2:
            return self.numpy_values(*value.arguments, what, count=1)[0]
        if isinstance(value, StandIn) and value.kind in _ARRAYS:
            return self.array(value.state, what)
        self.wrong(what, value, "plain data")

    def key(self, key: object, what: str) -> str:
        if not isinstance(key, str):
            self.wrong(f"{what}: a key", key, "text")
        self.charge(10 + len(key))
        return key

    def array(self, state: object, what: str) -> Plain:
        """The items of an array of one dimension, from the state NumPy would set on it."""
        if isinstance(state, tuple) and len(state) == 5:
            _, shape, dtype, _, content = state
            if isinstance(shape, tuple) and len(shape) == 1 and isinstance(shape[0], int):
                return self.numpy_values(dtype, content, what, count=shape[0])
        self.wrong(what, state, "an array of one dimension")

    def numpy_values(self, dtype: object, content: object, what: str, count: int) -> list[Plain]:
        """So many numbers or texts, decoded from exactly as many bytes as they need.

        NumPy itself is kept out: it lets broken texts pass, or fails on them. An array of objects stops here,
        and so does a size that the content does not bear out.
        """
        name, order = _numpy_type(dtype)
        width = int(name[1:] or 0) * (4 if name[:1] == "U" else 1)
        if not width or not isinstance(content, bytes) or count * width != len(content):
            self.wrong(what, dtype, f"{count:,} numbers or texts in as many bytes as they take")
        self.charge(100 * count + len(content))
        if name in _NUMBERS:
            return list(struct.unpack(f"{order}{count}{_NUMBERS[name]}", content))
        texts = [content[start : start + width] for start in range(0, len(content), width)]
        try:
            return [_DECODERS[order](text)[0].rstrip("\0") for text in texts]
        except UnicodeDecodeError:
            self.wrong(what, dtype, "text")

    # Functions

    def function(self, value: object, depth: int = 0) -> PickledFunction | None:
        """What can be told of a function; None for anything else."""
        self.charge(500)
        if isinstance(value, Name):
            return PickledFunction(value.dotted)
        if not isinstance(value, StandIn) or value.kind != _FUNCTION or depth > DEPTH_LIMIT:
            return None
        code, _, name, _, cells = (*value.arguments, *[None] * 5)[:5]
        arguments = code.arguments if isinstance(code, StandIn) else ()
        if len(arguments) not in (15, 16):
            return PickledFunction(name) if isinstance(name, str) else None
        # Python 3.8 put one more number in front; after it the order is the same.
        constants, names, variables, file, name, line, _, free, _ = arguments[-9:]
        return PickledFunction(
            name=name if isinstance(name, str) else "",
            file=file if isinstance(file, str) else "",
            line=line if isinstance(line, int) else None,
            constants=tuple([self.plain(constant, "a rule") for constant in _only(constants, *_LEAVES)]),
            names=self.keys(names),
            variables=self.keys(variables),
            closure={
                variable: self.closed_over(cell, depth)
                for variable, cell in zip(self.keys(free), _only(cells, StandIn), strict=False)
            },
        )

    def function_name(self, value: object) -> str:
        function = self.function(value)
        return function.name if function else ""

    def keys(self, values: object) -> tuple[str, ...]:
        return tuple([self.key(value, "a rule") for value in _only(values, str)])

    def closed_over(self, cell: StandIn, depth: int) -> Plain | PickledFunction:
        inside = cell.arguments[0] if cell.kind == _CELL and cell.arguments else None
        return (
            self.plain(inside, "a rule") if isinstance(inside, _LEAVES) else self.function(inside, depth + 1)
        )


def _dict(value: object) -> dict[object, object]:
    return value if isinstance(value, dict) else {}


def _only(values: object, *wanted: type[_T]) -> tuple[_T, ...]:
    """Those of a tuple's items that are of the type wanted."""
    return (
        tuple([value for value in values if isinstance(value, wanted)]) if isinstance(values, tuple) else ()
    )


def _label_kind(labels: object) -> str:
    if labels is None:
        return "none"
    return "list" if isinstance(labels, list) or kind_of(labels) in _ARRAYS else "scalar"


def _numpy_type(dtype: object) -> tuple[str, str]:
    """A type's short name, such as i8 or U12, and its byte order; empty for what is not decoded here."""
    if not isinstance(dtype, StandIn) or dtype.kind != "numpy.dtype" or not isinstance(dtype.state, tuple):
        return "", ""
    name, order = (*dtype.arguments, "")[0], (*dtype.state, "", "")[1]
    if not isinstance(name, str) or not isinstance(order, str) or order not in ("<", ">", "|"):
        return "", ""
    is_text = name[:1] == "U" and name[1:].isascii() and name[1:].isdigit() and len(name) < 9
    return (name, ">" if order == ">" else "<") if is_text or name in _NUMBERS else ("", "")


def _raw_rows(
    sizes: list[int],
    raw_range: tuple[int, ...] | None,
    case_of_line: tuple[int, ...] | None,
    run_indices: tuple[int, ...] | None,
) -> tuple[list[tuple[int, int] | None], str]:
    """Which prediction lines belong to each case, and why not if that cannot be told.

    `sizes` has the number of each case's examples. Without `case_of_line` the lines follow from the cases
    drawn, or from all.
    """
    spans: list[tuple[int, int] | None] = [None] * len(sizes)
    nothing = list(spans)
    if raw_range is None:
        return nothing, "the suite keeps no line range for this test"
    start, end = raw_range
    if any(not 0 <= case < len(sizes) for case in case_of_line or run_indices or ()):
        return nothing, "the run names cases that the test does not have"
    if case_of_line is None:
        order = range(len(sizes)) if run_indices is None else run_indices
        # Lines are laid out only when no case comes twice: one long case a million times would fill memory.
        if len(set(order)) != len(order):
            return nothing, "the run draws a case twice"
        case_of_line = tuple([case for case in order for _ in range(sizes[case])])
    total = len(case_of_line)
    if start < 0 or total != end - start:
        return nothing, f"the suite gives the test lines {start} to {end}, and the run has {total:,}"
    for line, case in enumerate(case_of_line, start):
        first, last = spans[case] or (line, line)
        if last != line:
            return nothing, "the lines of one case do not follow each other"
        spans[case] = (first, line + 1)
    if any(span and span[1] - span[0] != size for span, size in zip(spans, sizes, strict=True)):
        return nothing, "a case has more or fewer lines than examples"
    return spans, ""
