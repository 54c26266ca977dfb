"""Released CheckList suites, read without running them.

The suites were published as dill pickles of Python 3.7 objects inside a gzip'ed tar. Loading one with
`pickle` or `dill` runs whatever it asks for, and the compiled functions in it no longer load anyway.
Here the file is only ever data:

    file ─► bytes ─► plain values and stand-ins ─► PickledSuite ─► rows
            _unpack  _Machine                      _suite

`_Machine` is a pickle machine of our own, not a subclass of `pickle.Unpickler`. The C one follows BUILD
into any object, sets attributes even on classes, and sizes its memo by a number in the file; the Python
one takes short reads for whole ones. Ours has no import, no getattr and no call of anything a file
names. It knows the opcodes in a table, a short list of names, and makes two things of them: plain values
(None, bool, int, float, str, bytes, list, tuple, dict) and `_StandIn`, which remembers what it was made
from and can do nothing. Anything else is refused with the name that was asked for.

Three budgets keep a hostile file small: bytes read, memory the machine may fill (each opcode is charged
at its worst), and the size of the result with shared parts counted each time they are used, since that
is what writing it out will cost. Together they stay below 500 MB.
"""

import codecs
import gzip
import pickle  # for the names of its opcodes; nothing of it is called
import struct
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NoReturn, TypeVar

from ..errors import DataError

FILE_LIMIT: Final = 64_000_000
"""Bytes, once decompressed. Of the two released suites we read, the larger has 25 million."""
MEMORY_LIMIT: Final = 240_000_000
"""Bytes the machine may fill, estimated from above; the larger suite is charged 111 million."""
RESULT_LIMIT: Final = 120_000_000
"""Bytes of the result, estimated, shared parts counted each time; the larger takes 51 million."""
STRING_LIMIT: Final = 8_000_000
"""Bytes of one text or byte string."""
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
        return _suite(_Machine(_unpack(path, where), where).run(), where)
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(f"{where}: cannot be read: {reason}", fix="the path of a suite file") from None


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
                "examples": [one if isinstance(one, str) else list(one) for one in case.examples],
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
            fix="check where the file comes from",
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
    found: list[tuple[int, int]] = []
    at = 0
    while _is_tar_header(archive[at : at + 512]):
        size = _octal(archive[at + 124 : at + 136])
        start = at + 512
        if size is None or start + size > len(archive):
            raise DataError(f"{where}: the tar is damaged or cut short", fix="download the file again")
        if archive[at + 156] in b"0\0":
            found.append((start, start + size))
        at = start + -(-size // 512) * 512
    if len(found) != 1:
        raise DataError(
            f"{where}: the tar holds {len(found)} regular files; a released suite is one pickle",
            fix="take the pickle out and read that",
        )
    return archive[slice(*found[0])]


# From bytes to plain values and stand-ins

_TESTS: Final = frozenset(f"checklist.test_types.{name}" for name in ("MFT", "INV", "DIR"))

_EMPTY_BY_NEW: Final = _TESTS | {"checklist.test_suite.TestSuite"}
"""Objects that are made empty and then given their state."""

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
_LOOKED_UP: Final = frozenset({_GET_ATTRIBUTE, _IMPORT, "dill._dill._load_type"})
"""Calls by which dill names a thing: answered with another stand-in if the name is on a list here."""

_COLLECTED: Final = frozenset({"builtins.frozenset", "builtins.set"})
"""Calls that give back their one argument, a list."""

_MENTIONED: Final = frozenset(
    {
        "checklist.editor.Editor",
        "checklist.expect.Expect",
        "checklist.expect.iter_with_optional",
        "checklist.perturb.Perturb",
        "numpy.ndarray",
        "builtins.abs",
        "builtins.all",
        "builtins.any",
        "builtins.enumerate",
        "builtins.isinstance",
        "builtins.len",
        "builtins.max",
        "builtins.min",
        "builtins.range",
        "builtins.sorted",
        "builtins.sum",
        "builtins.zip",
    }
)
"""Names that a rule's code refers to. They stand for themselves and cannot be called."""

_NAMES: Final = _EMPTY_BY_NEW | _DICTIONARIES | _RECORDED | _LOOKED_UP | _COLLECTED | _MENTIONED
"""Everything a file may name."""

_MODULES: Final = frozenset(
    {
        *(name.rpartition(".")[0] for name in _ARRAYS | _MENTIONED | _DICTIONARIES | _EMPTY_BY_NEW),
        *("copy", "functools", "itertools", "math", "random", "re", "string"),
    }
)
"""Modules that a rule's code refers to; their attributes only as in _NAMES."""

_TYPES: Final = frozenset(
    {
        *(
            "CellType",
            "ClassType",
            "CodeType",
            "Exception",
            "FunctionType",
            "NoneType",
            "TypeType",
            "bool",
        ),
        *("dict", "enumerate", "float", "int", "list", "map", "object", "range", "set", "str", "tuple"),
        *("type", "zip"),
    }
)
"""Types that a rule's code refers to, by dill's names."""


class _Name:
    """A name on the list of those a file may use. It stands for nothing but itself."""

    __slots__ = ("dotted",)

    def __init__(self, dotted: str) -> None:
        self.dotted = dotted


class _StandIn:
    """What an object was made from, in place of the object: `kind`, arguments, state, entries."""

    __slots__ = ("arguments", "entries", "kind", "state")

    def __init__(self, kind: str, arguments: tuple[object, ...] = ()) -> None:
        self.kind = kind
        self.arguments = arguments
        self.state: object = None
        self.entries: dict[object, object] | None = {} if kind in _DICTIONARIES else None


class _Machine:
    """Follows the opcodes of one pickle.

    Every value on its stack is of a plain built-in type, a _Name or a _StandIn: nothing with a method
    that a file could bring along.
    """

    def __init__(self, content: bytes, where: str) -> None:
        self.content = content
        self.where = where
        self.at = 0
        self.spent = 0
        self.stack: list[object] = []
        self.outer: list[list[object]] = []
        self.memo: list[object] = []

    def run(self) -> object:
        """The value the pickle stands for."""
        content = self.content
        try:
            while True:
                code = content[self.at]
                self.at += 1
                if code == _STOP:
                    return self.stack.pop()
                cost, operation = _OPERATIONS[code]
                self.spent += cost
                if self.spent > MEMORY_LIMIT:
                    self.charge(0)
                operation(self)
        except IndexError:
            self.damaged("it breaks off, or was never one")
        except UnicodeDecodeError:
            self.damaged("a text that is not UTF-8")
        except KeyError:
            self.damaged(f"no pickle has an opcode {code}")

    def charge(self, amount: int) -> None:
        self.spent += amount
        if self.spent > MEMORY_LIMIT:
            raise DataError(
                f"{self.where}: would take more than {MEMORY_LIMIT:,} bytes of memory to read",
                why="the released suites take less than half as much",
                fix="check where the file comes from",
            )

    def damaged(self, how: str) -> NoReturn:
        raise DataError(
            f"{self.where}: not a readable pickle: {how} (byte {self.at:,})",
            fix="download the file again",
        ) from None

    def refuse(self, what: str) -> NoReturn:
        """Stop, saying what the file asked for."""
        shown = "".join(letter if letter.isprintable() else "?" for letter in what[:200])
        raise DataError(
            f"{self.where}: refused: it asks for {shown} (byte {self.at:,})",
            why="no released suite needs it, and loading it could run code; nothing was run",
            fix="check where the file comes from",
        )

    # Reading what follows an opcode

    def take(self, count: int) -> bytes:
        end = self.at + count
        if end > len(self.content):
            self.damaged(f"it announces {count:,} more bytes than there are")
        piece = self.content[self.at : end]
        self.at = end
        return piece

    def number(self, width: int) -> int:
        return int.from_bytes(self.take(width), "little")

    def line(self) -> str:
        end = self.content.find(b"\n", self.at, self.at + 300)
        if end < 0:
            self.damaged("a name without an end")
        return str(self.take(end + 1 - self.at)[:-1], "utf-8")

    def string(self, width: int) -> bytes:
        size = self.number(width)
        if size > STRING_LIMIT:
            self.damaged(f"a string of {size:,} bytes; at most {STRING_LIMIT:,} are read")
        return self.take(size)

    # Plain values

    def check_protocol(self) -> None:
        version = self.number(1)
        if version > pickle.HIGHEST_PROTOCOL:
            self.damaged(f"pickle protocol {version}")

    def push_integer(self, width: int) -> None:
        self.stack.append(int.from_bytes(self.take(width), "little", signed=True))

    def push_float(self) -> None:
        self.stack.append(struct.unpack(">d", self.take(8))[0])

    def push_text(self, width: int) -> None:
        # One wide letter makes every letter of a text take four bytes, so the text itself is weighed.
        text = str(self.string(width), "utf-8")
        self.charge(sys.getsizeof(text))
        self.stack.append(text)

    def push_bytes(self, width: int) -> None:
        content = self.string(width)
        self.charge(len(content))
        self.stack.append(content)

    # Containers

    def mark(self) -> None:
        self.outer.append(self.stack)
        self.stack = []

    def since_mark(self) -> list[object]:
        items = self.stack
        self.stack = self.outer.pop()
        return items

    def push_list(self) -> None:
        items = self.since_mark()
        self.stack.append(items)

    def push_dict(self) -> None:
        items = self.since_mark()
        self.stack.append({})
        self.set_entries(items)

    def push_tuple(self) -> None:
        items = self.since_mark()
        self.stack.append(tuple(items))

    def push_short_tuple(self, size: int) -> None:
        stack = self.stack
        if len(stack) < size:
            self.damaged("a tuple of more values than there are")
        stack[-size:] = [tuple(stack[-size:])]

    def append(self) -> None:
        item = self.stack.pop()
        self.extend([item])

    def extend(self, items: list[object]) -> None:
        target = self.stack[-1]
        if not isinstance(target, list):
            self.damaged("items for something that is not a list")
        self.charge(10 * len(items))
        target.extend(items)

    def set_item(self) -> None:
        value = self.stack.pop()
        key = self.stack.pop()
        self.set_entries([key, value])

    def set_entries(self, items: list[object]) -> None:
        target = self.stack[-1]
        entries = target.entries if isinstance(target, _StandIn) else target
        if not isinstance(entries, dict) or len(items) % 2:
            self.damaged("entries for something that is not a dictionary")
        self.charge(60 * len(items))
        for index in range(0, len(items), 2):
            key = items[index]
            # Whole numbers this small hash to themselves. Larger ones can be chosen to collide, and a
            # dictionary of a million colliding keys takes hours to fill.
            if not isinstance(key, str) and not (isinstance(key, int) and abs(key) < 1 << 60):
                self.damaged("a dictionary key that is neither a text nor a small number")
            entries[key] = items[index + 1]

    def pop(self) -> None:
        if self.stack:
            self.stack.pop()
        else:
            self.since_mark()

    # Memo: a list, so that a forged number cannot make it grow

    def put(self, index: int) -> None:
        if index > len(self.memo):
            self.damaged(f"memo entry {index:,} when there are {len(self.memo):,}")
        if index == len(self.memo):
            self.memo.append(self.stack[-1])
        else:
            self.memo[index] = self.stack[-1]

    def get(self, width: int) -> None:
        self.stack.append(self.memo[self.number(width)])

    # Names, and what is asked of them

    def name(self, module: object, name: object) -> _Name:
        if not isinstance(module, str) or not isinstance(name, str):
            self.damaged("a name that is not text")
        dotted = f"{module}.{name}"
        if dotted not in _NAMES:
            self.refuse(dotted)
        return _Name(dotted)

    def push_name(self) -> None:
        module, name = self.line(), self.line()
        self.stack.append(self.name(module, name))

    def push_name_from_stack(self) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        self.stack.append(self.name(module, name))

    def call(self) -> None:
        """REDUCE: what would have been a call gives a stand-in, or is refused."""
        arguments, called = self.stack.pop(), self.stack.pop()
        kind = _kind(called)
        if not isinstance(arguments, tuple):
            self.damaged("arguments that are not a tuple")
        if isinstance(called, _StandIn) and kind == "type" and called.arguments == ("CodeType",):
            self.stack.append(_StandIn(_CODE, arguments))
        elif not isinstance(called, _Name):
            self.refuse(f"a call of {kind}")
        elif kind in _LOOKED_UP:
            self.stack.append(self.look_up(kind, arguments))
        else:
            self.stack.append(self.answer(kind, arguments))

    def answer(self, kind: str, arguments: tuple[object, ...]) -> object:
        if kind in _ARRAYS and _kind(arguments[0]) != "numpy.ndarray":
            self.refuse(f"{kind} of {_kind(arguments[0])}")
        if kind in _RECORDED:
            return _StandIn(kind, arguments)
        if kind in _DICTIONARIES and (not arguments or kind == "collections.defaultdict"):
            return _StandIn(kind)
        if kind in _COLLECTED and len(arguments) == 1 and isinstance(arguments[0], list):
            return arguments[0]
        self.refuse(f"a call of {kind}")

    def look_up(self, kind: str, arguments: tuple[object, ...]) -> object:
        if kind == _GET_ATTRIBUTE:
            owner, name = arguments[0], arguments[1]
            if isinstance(owner, _StandIn) and owner.kind == "module":
                owner = owner.arguments[0]
            if not isinstance(owner, str):
                self.refuse(f"attribute {name if isinstance(name, str) else _kind(name)} of {_kind(owner)}")
            return self.name(owner, name)
        asked = arguments[0]
        known, made = (_MODULES, "module") if kind == _IMPORT else (_TYPES, "type")
        if not isinstance(asked, str) or asked not in known:
            self.refuse(f"{made} {asked if isinstance(asked, str) else _kind(asked)} ({kind})")
        return _StandIn(made, (asked,))

    def new(self) -> None:
        """NEWOBJ: an empty object, if there is a stand-in for its class."""
        arguments, called = self.stack.pop(), self.stack.pop()
        kind = _kind(called)
        if not isinstance(called, _Name) or kind not in _EMPTY_BY_NEW | _DICTIONARIES or arguments != ():
            self.refuse(f"a new {kind}")
        self.stack.append(_StandIn(kind))

    def build(self) -> None:
        """BUILD: a stand-in keeps its state as it came; no attribute is set, no method looked for."""
        state, target = self.stack.pop(), self.stack[-1]
        if not isinstance(target, _StandIn):
            self.refuse(f"state set on {_kind(target)}")
        target.state = state

    # Refused whatever it names; the name is told

    def refuse_instance(self) -> None:
        module, name = self.line(), self.line()
        self.refuse(f"{module}.{name} (opcode INST)")

    def refuse_object(self) -> None:
        self.refuse(f"{_kind(self.since_mark()[0])} (opcode OBJ)")

    def refuse_extension(self, width: int) -> None:
        self.refuse(f"extension code {self.number(width)} (opcode EXT)")

    def refuse_keywords(self) -> None:
        self.refuse(f"{_kind(self.stack[-3])} (opcode NEWOBJ_EX)")


def _kind(value: object) -> str:
    """What a value on the stack is, for decisions and messages."""
    if isinstance(value, _Name):
        return value.dotted
    if isinstance(value, _StandIn):
        return value.kind
    return type(value).__name__


_Operation = Callable[[_Machine], object]


def _always_refused(what: str) -> tuple[int, _Operation]:
    return 0, lambda machine: machine.refuse(what)


_STOP: Final = pickle.STOP[0]
_OLD_FORM: Final = "a value in the form of protocol 0 or of Python 2, which dill does not write"

# Costs are the most bytes an opcode can come to hold, its place on the stack included. None is free, so
# that the memory limit bounds time as well. Sets become lists: only texts and small numbers are hashed.
_OPERATIONS: Final[dict[int, tuple[int, _Operation]]] = {
    code[0]: entry
    for code, entry in {
        pickle.PROTO: (24, _Machine.check_protocol),
        pickle.FRAME: (24, lambda machine: machine.take(8)),
        pickle.NONE: (24, lambda machine: machine.stack.append(None)),
        pickle.NEWTRUE: (24, lambda machine: machine.stack.append(True)),
        pickle.NEWFALSE: (24, lambda machine: machine.stack.append(False)),
        pickle.BININT1: (24, lambda machine: machine.stack.append(machine.number(1))),
        pickle.BININT2: (48, lambda machine: machine.stack.append(machine.number(2))),
        pickle.BININT: (48, lambda machine: machine.push_integer(4)),
        pickle.LONG1: (300, lambda machine: machine.push_integer(machine.number(1))),
        pickle.BINFLOAT: (48, _Machine.push_float),
        pickle.SHORT_BINUNICODE: (24, lambda machine: machine.push_text(1)),
        pickle.BINUNICODE: (24, lambda machine: machine.push_text(4)),
        pickle.BINUNICODE8: (24, lambda machine: machine.push_text(8)),
        pickle.SHORT_BINBYTES: (64, lambda machine: machine.push_bytes(1)),
        pickle.BINBYTES: (64, lambda machine: machine.push_bytes(4)),
        pickle.BINBYTES8: (64, lambda machine: machine.push_bytes(8)),
        pickle.MARK: (100, _Machine.mark),
        pickle.EMPTY_LIST: (100, lambda machine: machine.stack.append([])),
        pickle.EMPTY_SET: (100, lambda machine: machine.stack.append([])),
        pickle.EMPTY_DICT: (100, lambda machine: machine.stack.append({})),
        pickle.EMPTY_TUPLE: (24, lambda machine: machine.stack.append(())),
        pickle.LIST: (100, _Machine.push_list),
        pickle.DICT: (340, _Machine.push_dict),
        pickle.TUPLE: (100, _Machine.push_tuple),
        pickle.FROZENSET: (100, _Machine.push_tuple),
        pickle.TUPLE1: (72, lambda machine: machine.push_short_tuple(1)),
        pickle.TUPLE2: (72, lambda machine: machine.push_short_tuple(2)),
        pickle.TUPLE3: (72, lambda machine: machine.push_short_tuple(3)),
        pickle.APPEND: (64, _Machine.append),
        pickle.APPENDS: (64, lambda machine: machine.extend(machine.since_mark())),
        pickle.ADDITEMS: (64, lambda machine: machine.extend(machine.since_mark())),
        pickle.SETITEM: (240, _Machine.set_item),
        pickle.SETITEMS: (240, lambda machine: machine.set_entries(machine.since_mark())),
        pickle.POP: (24, _Machine.pop),
        pickle.POP_MARK: (24, lambda machine: machine.since_mark()),
        pickle.BINPUT: (24, lambda machine: machine.put(machine.number(1))),
        pickle.LONG_BINPUT: (24, lambda machine: machine.put(machine.number(4))),
        pickle.MEMOIZE: (24, lambda machine: machine.put(len(machine.memo))),
        pickle.BINGET: (24, lambda machine: machine.get(1)),
        pickle.LONG_BINGET: (24, lambda machine: machine.get(4)),
        pickle.GLOBAL: (700, _Machine.push_name),
        pickle.STACK_GLOBAL: (200, _Machine.push_name_from_stack),
        pickle.REDUCE: (160, _Machine.call),
        pickle.NEWOBJ: (160, _Machine.new),
        pickle.BUILD: (24, _Machine.build),
        pickle.INST: (0, _Machine.refuse_instance),
        pickle.OBJ: (0, _Machine.refuse_object),
        pickle.NEWOBJ_EX: (0, _Machine.refuse_keywords),
        pickle.EXT1: (0, lambda machine: machine.refuse_extension(1)),
        pickle.EXT2: (0, lambda machine: machine.refuse_extension(2)),
        pickle.EXT4: (0, lambda machine: machine.refuse_extension(4)),
        pickle.PERSID: _always_refused("a persistent id (opcode PERSID)"),
        pickle.BINPERSID: _always_refused("a persistent id (opcode BINPERSID)"),
        pickle.NEXT_BUFFER: _always_refused("a buffer outside the file (opcode NEXT_BUFFER)"),
        pickle.READONLY_BUFFER: _always_refused("a buffer outside the file (opcode READONLY_BUFFER)"),
        pickle.BYTEARRAY8: _always_refused("a bytearray (opcode BYTEARRAY8)"),
        pickle.LONG4: _always_refused("a number of more than 255 bytes (opcode LONG4)"),
        pickle.DUP: _always_refused("opcode DUP, which no pickler writes"),
        pickle.INT: _always_refused(_OLD_FORM),
        pickle.LONG: _always_refused(_OLD_FORM),
        pickle.FLOAT: _always_refused(_OLD_FORM),
        pickle.STRING: _always_refused(_OLD_FORM),
        pickle.UNICODE: _always_refused(_OLD_FORM),
        pickle.BINSTRING: _always_refused(_OLD_FORM),
        pickle.SHORT_BINSTRING: _always_refused(_OLD_FORM),
        pickle.GET: _always_refused(_OLD_FORM),
        pickle.PUT: _always_refused(_OLD_FORM),
    }.items()
}


# From stand-ins to a suite


def _suite(root: object, where: str) -> PickledSuite:
    """The tests of a suite, each part of them checked."""
    state = root.state if isinstance(root, _StandIn) and root.kind.endswith("TestSuite") else None
    tests = _entries(state.get("tests")) if isinstance(state, dict) else None
    if not isinstance(state, dict) or not tests:
        raise DataError(
            f"{where}: holds no CheckList suite but {_kind(root)}",
            fix="a file written by CheckList's TestSuite.save",
        )
    info = _entries(state.get("info")) or {}
    ranges = _entries(state.get("test_ranges")) or {}
    result = _Result(where)
    return PickledSuite(
        tuple(
            result.test(name, test, _entries(info.get(name)) or {}, ranges.get(name))
            for name, test in tests.items()
        )
    )


def _entries(value: object) -> dict[object, object] | None:
    if isinstance(value, _StandIn):
        return value.entries
    return value if isinstance(value, dict) else None


_NUMBERS: Final = {
    "b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
    "f2": "e", "f4": "f", "f8": "d",
}  # fmt: skip
"""NumPy's names of number types, and struct's."""


_DECODERS: Final = {"<": codecs.getdecoder("utf-32-le"), ">": codecs.getdecoder("utf-32-be")}
"""Fetched here, since the first use of a codec imports it, and reading a file is to import nothing."""

_LEAVES: Final = (bool, int, float, str, type(None))


class _Result:
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
                fix="check where the file comes from",
            )

    def wrong(self, what: str, saw: object, wanted: str) -> NoReturn:
        raise DataError(
            f"{self.where}: {what} is {_kind(saw)}; want {wanted}", fix="check where the file comes from"
        )

    # A test

    def test(self, name: object, test: object, info: dict[object, object], span: object) -> PickledTest:
        if not isinstance(name, str):
            self.wrong("the name of a test", name, "text")
        what = f'test "{name[:100]}"'
        if not isinstance(test, _StandIn) or test.kind not in _TESTS or not isinstance(test.state, dict):
            self.wrong(what, test, "MFT, INV or DIR with its state")
        state = test.state
        drawn = state.get("run_idxs")
        run_indices = None if drawn is None else tuple(self.integers(drawn, f"{what}: run_idxs"))
        raw_range = None if span is None else tuple(self.integers(span, f"{what}: test_ranges"))
        if raw_range is not None and len(raw_range) != 2:
            self.wrong(f"{what}: test_ranges", span, "two numbers")
        # Tests made by older versions lack attributes; the suite's own table has them.
        capability, description = (
            self.text(state.get(key) or info.get(key) or "", f"{what}: {key}")
            for key in ("capability", "description")
        )
        examples = self.examples(state.get("data"), what)
        self.charge(len(examples) * (len(name) + len(capability)))  # every row will carry them
        asked = state.get("result_indexes")
        lines = None if asked is None else self.integers(asked, f"{what}: result_indexes")
        raw_rows, note = _raw_rows(examples, raw_range, lines, run_indices)
        labels = self.parallel(state.get("labels"), len(examples), f"{what}: labels")
        metas = self.parallel(state.get("meta"), len(examples), f"{what}: meta")
        return PickledTest(
            name=name,
            test_type=test.kind.rpartition(".")[2],
            capability=capability,
            description=description,
            aggregate=self.aggregate(state.get("agg_fn")),
            cases=tuple(
                PickledCase(shown, grouped, label, meta, row)
                for (shown, grouped), label, meta, row in zip(examples, labels, metas, raw_rows, strict=True)
            ),
            label_kind=_label_kind(state.get("labels")),
            has_meta=state.get("meta") is not None,
            run_indices=run_indices,
            raw_range=raw_range,
            raw_rows_note=note,
            rule_hint=self.function(state.get("expect")),
        )

    def text(self, value: object, what: str) -> str:
        plain = self.plain(value, what)
        if not isinstance(plain, str):
            self.wrong(what, value, "text")
        return plain

    def aggregate(self, value: object) -> str:
        function = None if isinstance(value, str) else self.function(value)
        return value if isinstance(value, str) else function.name if function else ""

    def examples(self, data: object, what: str) -> list[tuple[tuple[Example, ...], bool]]:
        """Each case's examples, and whether they came as a list."""
        listed = self.plain(data, f"{what}: data")
        if not isinstance(listed, list):
            self.wrong(f"{what}: data", data, "a list of cases")
        self.charge(200 * len(listed))
        cases: list[tuple[tuple[Example, ...], bool]] = []
        for number, case in enumerate(listed):
            grouped = isinstance(case, list)
            shown = [
                self.example(one, f"{what}: case {number}")
                for one in (case if isinstance(case, list) else [case])
            ]
            cases.append((tuple(shown), grouped))
        return cases

    def example(self, value: Plain, what: str) -> Example:
        if isinstance(value, str):
            return value
        if not isinstance(value, tuple):
            self.wrong(what, value, "text, or a tuple of texts")
        texts = tuple(part for part in value if isinstance(part, str))
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
                f"{self.where}: {what} has {len(plain):,} entries for {cases:,} cases",
                fix="check where the file comes from",
            )
        return plain

    def integers(self, value: object, what: str) -> list[int]:
        plain = self.plain(value, what)
        numbers = [one for one in plain if isinstance(one, int)] if isinstance(plain, list | tuple) else None
        if numbers is None or not isinstance(plain, list | tuple) or len(numbers) != len(plain):
            self.wrong(what, value, "a list of whole numbers")
        return numbers

    # Values

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
        entries = _entries(value)
        if entries is not None:
            self.charge(200 + 100 * len(entries))
            return {self.key(key, what): self.plain(part, what, depth + 1) for key, part in entries.items()}
        if isinstance(value, _StandIn) and value.kind in _SCALARS and len(value.arguments) == 2:
            return self.numpy_values(*value.arguments, what, count=1)[0]
        if isinstance(value, _StandIn) and value.kind in _ARRAYS:
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

        NumPy itself is kept out. An array of objects stops here, and so does a size that the content
        does not bear out.
        """
        name, order = _numpy_type(dtype)
        width = 4 * int(name[1:]) if name[:1] == "U" else int(name[1:]) if name in _NUMBERS else 0
        if not width or not isinstance(content, bytes) or count * width != len(content):
            self.wrong(what, dtype, f"{count:,} numbers or texts in as many bytes as they take")
        self.charge(100 * count + len(content))
        if name in _NUMBERS:
            return list(struct.unpack(f"{order}{count}{_NUMBERS[name]}", content))
        decode = _DECODERS[order]
        try:
            texts = [decode(content[at : at + width])[0] for at in range(0, len(content), width)]
        except UnicodeDecodeError:
            self.wrong(what, dtype, "text")
        return [text.rstrip("\0") for text in texts]

    # Functions

    def function(self, value: object, depth: int = 0) -> PickledFunction | None:
        """What can be told of a function; None for anything else."""
        self.charge(500)
        if isinstance(value, _Name):
            return PickledFunction(value.dotted)
        if not isinstance(value, _StandIn) or value.kind != _FUNCTION or depth > DEPTH_LIMIT:
            return None
        code, _, name, _, cells = (*value.arguments, *[None] * 5)[:5]
        arguments = code.arguments if isinstance(code, _StandIn) else ()
        if len(arguments) not in (15, 16):
            return PickledFunction(name) if isinstance(name, str) else None
        # Python 3.8 put one more number in front; after it the order is the same.
        constants, names, variables, file, own_name, line, _, free, _ = arguments[-9:]
        closure = zip(_leaves(free, str), _leaves(cells, _StandIn), strict=False)
        return PickledFunction(
            name=own_name if isinstance(own_name, str) else "",
            file=file if isinstance(file, str) else "",
            line=line if isinstance(line, int) else None,
            constants=tuple([self.plain(one, "a rule") for one in _leaves(constants, *_LEAVES)]),
            names=tuple([self.key(one, "a rule") for one in _leaves(names, str)]),
            variables=tuple([self.key(one, "a rule") for one in _leaves(variables, str)]),
            closure={self.key(one, "a rule"): self.closed_over(cell, depth) for one, cell in closure},
        )

    def closed_over(self, cell: _StandIn, depth: int) -> Plain | PickledFunction:
        inside = cell.arguments[0] if cell.kind == _CELL and cell.arguments else None
        return (
            self.plain(inside, "a rule") if isinstance(inside, _LEAVES) else self.function(inside, depth + 1)
        )


_T = TypeVar("_T")


def _leaves(values: object, *wanted: type[_T]) -> tuple[_T, ...]:
    """Those of a tuple's items that are of the type wanted."""
    return tuple([one for one in values if isinstance(one, wanted)]) if isinstance(values, tuple) else ()


def _label_kind(labels: object) -> str:
    if labels is None:
        return "none"
    return "list" if isinstance(labels, list) or _kind(labels) in _ARRAYS else "scalar"


def _numpy_type(dtype: object) -> tuple[str, str]:
    """A type's short name, such as i8 or U12, and its byte order; empty for what is not decoded here."""
    if not isinstance(dtype, _StandIn) or dtype.kind != "numpy.dtype" or not isinstance(dtype.state, tuple):
        return "", ""
    name, order = (*dtype.arguments, "")[0], (*dtype.state, "", "")[1]
    if not isinstance(name, str) or not isinstance(order, str) or order not in ("<", ">", "|"):
        return "", ""
    is_text = name[:1] == "U" and name[1:].isascii() and name[1:].isdigit() and len(name) < 9
    return (name, ">" if order == ">" else "<") if is_text or name in _NUMBERS else ("", "")


def _raw_rows(
    examples: list[tuple[tuple[Example, ...], bool]],
    raw_range: tuple[int, ...] | None,
    lines: list[int] | None,
    run_indices: tuple[int, ...] | None,
) -> tuple[list[tuple[int, int] | None], str]:
    """Which prediction lines belong to each case, and why not if that cannot be told.

    `lines` has the case of each line. Without it the lines follow from the cases drawn, or from all.
    """
    found: list[tuple[int, int] | None] = [None] * len(examples)
    nothing = list(found)
    if raw_range is None:
        return nothing, "the suite keeps no line range for this test"
    start, end = raw_range
    if any(not 0 <= case < len(examples) for case in lines or run_indices or ()):
        return nothing, "the run names cases that the test does not have"
    if lines is None:
        order = range(len(examples)) if run_indices is None else run_indices
        # Lines are laid out only when no case comes twice: one long case a million times would fill memory.
        if len(set(order)) != len(order):
            return nothing, "the run draws a case twice"
        lines = [case for case in order for _ in examples[case][0]]
    if start < 0 or len(lines) != end - start:
        return (
            nothing,
            f"the suite gives the test lines {start} to {end}, and the run has {len(lines):,}",
        )
    for line, case in enumerate(lines, start):
        first, last = found[case] or (line, line)
        if last != line:
            return nothing, "the lines of one case do not follow each other"
        found[case] = (first, line + 1)
    for row, (shown, _) in zip(found, examples, strict=True):
        if row is not None and row[1] - row[0] != len(shown):
            return nothing, "a case has more or fewer lines than examples"
    return found, ""
