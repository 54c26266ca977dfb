"""A pickle machine whose values can do nothing.

`pickle.Unpickler` imports and calls what a file names. Here `pickletools.genops` decodes the opcodes, and a stack
machine makes plain values (None, bool, int, float, str, bytes, list, tuple, dict) and stand-ins, which record how an
object would have been made. It imports nothing, calls nothing that a file names, and sets no attribute. The caller
gives the names that a file may use, and the results of calls.

    bytes ─► is the opcode allowed? how long is its argument? ─► genops ─► charge ─► stack

Each opcode is checked before genops decodes it, and charged with the most memory it can come to hold. Work is counted
and never timed. Nothing recurses: depth costs what size costs.
"""

import io
import pickletools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from ..core.errors import DataError
from ..core.text import on_one_line

STEP_LIMIT: Final = 4_000_000
"""Opcodes followed; the larger released suite has 1.9 million."""
MEMORY_LIMIT: Final = 240_000_000
"""Bytes the machine may fill, estimated from above; the larger released suite is charged 116 million."""
STRING_LIMIT: Final = 8_000_000
"""Bytes of one text or byte string."""
NAME_LIMIT: Final = 600
"""Bytes of a module's name and of a name in it, together."""
SUSPECT: Final = "check where the file comes from"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Name:
    """A name that a file may use; an inert value."""

    dotted: str


@dataclass(slots=True, eq=False, repr=False)
class StandIn:
    """The parts of an object, in its place."""

    kind: str
    arguments: tuple[object, ...] = ()
    state: object = None


Answer = Callable[[object, tuple[object, ...]], object]
"""Gives the result of a call of something with arguments, or refuses it."""


def kind_of(value: object) -> str:
    """Return the kind of a value on the stack."""
    if isinstance(value, Name):
        return value.dotted
    return value.kind if isinstance(value, StandIn) else type(value).__name__


class Machine:
    """Runs the opcodes of one pickle."""

    def __init__(self, content: bytes, where: str, names: frozenset[str], answer: Answer) -> None:
        self.content, self.where, self.names, self.answer = content, where, names, answer
        self.stream = io.BytesIO(content)
        self.spent = 0
        self.stack: list[Any] = []
        self.outer: list[list[Any]] = []  # the stacks below each mark
        self.memo: list[Any] = []  # a list, so that a forged number cannot make it grow

    def run(self) -> object:
        """Return the value of the pickle, run opcode by opcode; each is admitted before genops decodes it."""
        try:
            steps = zip(self.admitted(), pickletools.genops(self.stream), strict=False)
            for operation, (_, argument, _) in steps:
                operation(self, argument)
            return self.stack.pop()
        except DataError as problem:
            raise self.placed(problem) from None
        except UnicodeError:
            raise self.placed(damaged("a text that is not UTF-8")) from None
        except (IndexError, ValueError):  # of the stacks, and of genops
            raise self.placed(damaged("it breaks off, or was never one")) from None

    def placed(self, error: DataError) -> DataError:
        return error.at(f"{self.where}, byte {self.stream.tell():,}")

    def admitted(self) -> Iterator["Operation"]:
        """Yield the operation of each opcode up to STOP, if it and the length of its argument are allowed."""
        content, position = self.content, self.stream.tell
        for _ in range(STEP_LIMIT):
            code = content[position()]
            if code == STOP:
                return
            if code not in OPCODES:
                raise damaged(f"no pickle has an opcode {code}")
            if code not in OPERATIONS:
                refuse(f"opcode {OPCODES[code].name}")
            cost, width, operation = OPERATIONS[code]
            self.charge(cost)
            if width:
                self.check_length(width)
            yield operation
        raise DataError(f"would take more than {STEP_LIMIT:,} steps to read", fix=SUSPECT)

    def check_length(self, width: int) -> None:
        """Check the length of an argument before it is read: two lines, or as many bytes as its first `width` say."""
        start = self.stream.tell() + 1
        if width == TWO_LINES:
            lines = self.content[start : start + NAME_LIMIT].split(b"\n", 2)
            if len(lines) < 3:
                raise damaged("a name without an end")
            name = b".".join(lines[:2])
            if not name.isascii() or b"\\" in name:  # genops would undo escapes, and warn of unknown ones
                refuse(str(name, "utf-8", "replace"))
            return
        size = int.from_bytes(self.content[start : start + width], "little")
        if size > STRING_LIMIT:
            raise damaged(f"a string of {size:,} bytes; at most {STRING_LIMIT:,} are read")
        if start + width + size > len(self.content):
            raise damaged(f"it announces {size:,} more bytes than there are")

    def charge(self, amount: int) -> None:
        """Count bytes of memory as filled."""
        self.spent += amount
        if self.spent > MEMORY_LIMIT:
            raise DataError(f"would take more than {MEMORY_LIMIT:,} bytes of memory to read", fix=SUSPECT)

    # Plain values

    def push(self, value: str | bytes) -> None:
        self.charge(sys.getsizeof(value))  # one wide letter makes every letter of a text take four bytes
        if not value.isascii() and isinstance(value, str):
            value.encode()  # genops lets lone surrogates pass
        self.stack.append(value)

    # Containers

    def mark(self) -> None:
        self.outer.append(self.stack)
        self.stack = []

    def since_mark(self) -> list[Any]:
        items = self.stack
        self.stack = self.outer.pop()
        return items

    def last(self, count: int) -> list[Any]:
        items = self.stack[-count:]
        del self.stack[-count:]
        if len(items) < count:
            raise damaged("it asks for more values than there are")
        return items

    def push_tuple(self, items: list[Any]) -> None:
        self.stack.append(tuple(items))

    def extend(self, items: list[Any]) -> None:
        target = self.stack[-1]
        if not isinstance(target, list):
            raise damaged("items for something that is not a list")
        self.charge(10 * len(items))
        target.extend(items)

    def set_entries(self, items: list[Any]) -> None:
        entries = self.stack[-1]
        if not isinstance(entries, dict) or len(items) % 2:
            raise damaged("entries for something that is not a dictionary")
        self.charge(60 * len(items))
        for index in range(0, len(items), 2):
            key = items[index]
            # Whole numbers this small hash to themselves. Larger ones can be chosen to collide, and a
            # dictionary of a million colliding keys takes hours to fill.
            if not isinstance(key, str) and not (isinstance(key, int) and abs(key) < 1 << 60):
                raise damaged("a dictionary key that is neither a text nor a small number")
            entries[key] = items[index + 1]

    def put(self, index: int) -> None:
        memo = self.memo
        if index == len(memo):
            memo.append(self.stack[-1])
        elif index < len(memo):
            memo[index] = self.stack[-1]
        else:
            raise damaged(f"memo entry {index:,} when there are {len(memo):,}")

    # Names and calls

    def push_name(self, module: object, name: object) -> None:
        if not isinstance(module, str) or not isinstance(name, str):
            raise damaged("a name that is not text")
        dotted = f"{module}.{name}"
        if dotted not in self.names:
            refuse(dotted)
        self.stack.append(Name(dotted))

    def call(self) -> None:
        """Replace a call (REDUCE, NEWOBJ) by its inert result."""
        arguments, called = self.stack.pop(), self.stack.pop()
        if not isinstance(arguments, tuple):
            raise damaged("arguments that are not a tuple")
        self.stack.append(self.answer(called, arguments))

    def build(self) -> None:
        """Keep the state of a stand-in (BUILD) without setting an attribute; dictionaries drop theirs."""
        state, target = self.stack.pop(), self.stack[-1]
        if isinstance(target, StandIn):
            target.state = state
        elif not isinstance(target, dict):
            refuse(f"state set on {kind_of(target)}")


def refuse(what: str) -> NoReturn:
    """Raise with the name of a forbidden thing that a file asks for."""
    raise DataError(
        f"refused: it asks for {on_one_line(what[:200])}",
        why="no released suite needs it, and loading it could run code; nothing was run",
        fix=SUSPECT,
    )


def damaged(how: str) -> DataError:
    """Return the error for a file that is not a whole pickle."""
    return DataError(f"not a readable pickle: {how}", fix="download the file again")


OPCODES: Final = {ord(opcode.code): opcode for opcode in pickletools.opcodes}
STOP: Final = ord(".")

TWO_LINES: Final = -1
WIDTHS: Final = {
    pickletools.UP_TO_NEWLINE: TWO_LINES,
    pickletools.TAKEN_FROM_ARGUMENT1: 1,
    pickletools.TAKEN_FROM_ARGUMENT4: 4,
    pickletools.TAKEN_FROM_ARGUMENT4U: 4,
    pickletools.TAKEN_FROM_ARGUMENT8U: 8,
}
"""Bytes that give the length of an argument, for arguments of any length."""

Operation = Callable[[Machine, Any], object]
OPERATIONS: Final[dict[int, tuple[int, int, Operation]]] = {
    code: (cost, WIDTHS.get(opcode.arg.n, 0) if opcode.arg else 0, operation)
    for cost, names, operation in (
        (24, "PROTO FRAME", lambda machine, _: None),
        (24, "NONE", lambda machine, _: machine.stack.append(None)),
        (24, "NEWTRUE", lambda machine, _: machine.stack.append(True)),
        (24, "NEWFALSE", lambda machine, _: machine.stack.append(False)),
        (48, "BININT1 BININT2 BININT BINFLOAT", lambda machine, number: machine.stack.append(number)),
        (300, "LONG1", lambda machine, number: machine.stack.append(number)),
        (24, "SHORT_BINBYTES BINBYTES BINBYTES8", Machine.push),
        (24, "SHORT_BINUNICODE BINUNICODE BINUNICODE8", Machine.push),
        (100, "MARK", lambda machine, _: machine.mark()),
        (100, "EMPTY_LIST EMPTY_SET", lambda machine, _: machine.stack.append([])),  # only keys are hashed
        (100, "EMPTY_DICT", lambda machine, _: machine.stack.append({})),
        (24, "EMPTY_TUPLE", lambda machine, _: machine.stack.append(())),
        (100, "TUPLE FROZENSET", lambda machine, _: machine.push_tuple(machine.since_mark())),
        (72, "TUPLE1", lambda machine, _: machine.push_tuple(machine.last(1))),
        (72, "TUPLE2", lambda machine, _: machine.push_tuple(machine.last(2))),
        (72, "TUPLE3", lambda machine, _: machine.push_tuple(machine.last(3))),
        (64, "APPEND", lambda machine, _: machine.extend(machine.last(1))),
        (64, "APPENDS ADDITEMS", lambda machine, _: machine.extend(machine.since_mark())),
        (240, "SETITEM", lambda machine, _: machine.set_entries(machine.last(2))),
        (240, "SETITEMS", lambda machine, _: machine.set_entries(machine.since_mark())),
        (24, "POP", lambda machine, _: machine.stack.pop()),
        (24, "POP_MARK", lambda machine, _: machine.since_mark()),
        (24, "BINPUT LONG_BINPUT", Machine.put),
        (24, "MEMOIZE", lambda machine, _: machine.put(len(machine.memo))),
        (24, "BINGET LONG_BINGET", lambda machine, index: machine.stack.append(machine.memo[index])),
        (300, "GLOBAL", lambda machine, pair: machine.push_name(*pair.split(" ", 1))),
        (200, "STACK_GLOBAL", lambda machine, _: machine.push_name(*machine.last(2))),
        (160, "REDUCE NEWOBJ", lambda machine, _: machine.call()),
        (24, "BUILD", lambda machine, _: machine.build()),
    )
    for code, opcode in OPCODES.items()
    if opcode.name in names.split()
}
"""The allowed opcodes: the most bytes that each can come to hold, stack included; the bytes that give the length of its
argument; its operation."""
