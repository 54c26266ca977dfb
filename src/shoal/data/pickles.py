"""Released CheckList suites, read without running them.

The suites were published as dill pickles of Python 3.7 objects inside a gzip'ed tar. Loading one with
`pickle` or `dill` runs any code in it, so here the file is only ever data:

    file ─► bytes ─► plain values and stand-ins ─► rows
            _unpack  Machine                       _Reader

`pickle_machine.Machine` makes inert values. This module lists the names that a suite may use, and refuses any other.
Three budgets keep a hostile file small: bytes read, memory of the machine, and the size of the result with shared
parts counted each time they are used. Together they stay below 500 MB. All count work, none looks at a clock.
"""

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NoReturn

from ..core.errors import DataError
from ..core.files import first_bytes
from .pickle_machine import SUSPECT, Machine, Name, StandIn, kind_of, refuse

FILE_LIMIT: Final = 64_000_000
"""Bytes, once decompressed. The larger of the two released suites has 25 million."""
RESULT_LIMIT: Final = 120_000_000
"""Bytes of the result, estimated, shared parts counted each time; the larger suite takes 51 million."""
DEPTH_LIMIT: Final = 20
"""Lists within lists in labels and meta."""

Plain = None | bool | int | float | str | list["Plain"] | dict[str, "Plain"]
Row = dict[str, Any]


def read_suite_pickle(path: Path) -> list[Row]:
    """Return a row per case of a released CheckList file, as in its JSON Lines form.

    The file is a pickle: bare, gzip'ed or alone in a tar. Nothing in it is executed, imported or written to disk. A
    file that asks for more than a suite needs, is damaged, or would grow too large is a DataError.
    """
    where = str(path)
    return _Reader(where).rows(Machine(_unpack(path, where), where, _NAMES, _answer).run())


# From file to bytes


def _unpack(path: Path, where: str) -> bytes:
    """Return the pickle inside a file, unpacked."""
    content = first_bytes(path, FILE_LIMIT + 1)
    if len(content) > FILE_LIMIT:
        raise DataError(f"{where}: holds more than {FILE_LIMIT:,} bytes", fix=SUSPECT)
    return _only_file(content, where) if _is_tar_header(content[:512]) else content


def _is_tar_header(block: bytes) -> bool:
    return block[257:262] == b"ustar"


def _only_file(archive: bytes, where: str) -> bytes:
    """Return the content of the only regular file in a tar; names, links and extended headers are skipped unread."""
    # Not `tarfile`, whose expressions for extended headers can be made to take for ever.
    files: list[bytes] = []
    position = 0
    while _is_tar_header(header := archive[position : position + 512]):
        digits, start = header[124:136].strip(b" \0"), position + 512
        if digits.strip(b"01234567"):
            raise DataError(f"{where}: the tar is damaged", fix="download the file again")
        size = int(b"0" + digits, 8)
        if header[156] in b"0\0":
            files.append(archive[start : start + size])
        position = start + -(-size // 512) * 512
    if len(files) != 1:
        raise DataError(
            f"{where}: the tar holds {len(files)} regular files; a released suite is one pickle",
            fix="take the pickle out and read that",
        )
    return files[0]


# Names that a suite may use, and the results of calls

_TESTS: Final = frozenset(f"checklist.test_types.{name}" for name in ("MFT", "INV", "DIR"))
_SUITE: Final = "checklist.test_suite.TestSuite"
_NUMPY: Final = [
    f"numpy.{core}.{module}" for core in ("core", "_core") for module in ("multiarray", "_multiarray_umath")
]
_SCALARS: Final = frozenset(f"{module}.scalar" for module in _NUMPY)

_GET_ATTRIBUTE: Final = "dill._dill._get_attr"
_IMPORT: Final = "dill._dill._import_module"
_LOAD_TYPE: Final = "dill._dill._load_type"
_CODE: Final = "types.CodeType"
_DILL: Final = (
    "_create_code",
    "_create_cell",
    "_create_function",
    "_setattr",
    "_import_module",
    "_load_type",
)

_RECORDED: Final = frozenset(
    {
        *(_SUITE, *_TESTS, *_SCALARS, _CODE, "numpy.dtype", "builtins.frozenset", "builtins.set"),
        *(f"{module}._reconstruct" for module in _NUMPY),
        *(f"dill._dill.{name}" for name in _DILL),
    }
)
"""Calls that are recorded with their arguments, never made."""

_DICTIONARIES: Final = frozenset(
    {
        "collections.OrderedDict",
        "collections.defaultdict",
        "munch.Munch",
        "checklist.editor.MunchWithAdd",
    }
)
"""Dictionaries that start empty."""

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
"""Names in the code of rules. They cannot be called."""

_NAMES: Final = _RECORDED | _DICTIONARIES | _MENTIONED | {_GET_ATTRIBUTE}
"""Every name that a file may use."""


def _answer(called: object, arguments: tuple[object, ...]) -> object:
    """Return an inert result of a call: a stand-in, a name or a plain value; refuse any other call."""
    kind = kind_of(called)
    if not isinstance(called, Name):
        refuse(f"a call of {kind}")
    if kind == _LOAD_TYPE and arguments == ("CodeType",):
        return Name(_CODE)
    if kind in _RECORDED:
        return StandIn(kind, arguments)
    if kind in _DICTIONARIES and (not arguments or kind == "collections.defaultdict"):
        return {}
    if kind == _GET_ATTRIBUTE:
        return _attribute(*(*arguments, None, None)[:2])
    refuse(f"a call of {kind}")


def _attribute(owner: object, name: object) -> Name:
    """Return dill's attribute of a module."""
    module = (*owner.arguments, "")[0] if isinstance(owner, StandIn) and owner.kind == _IMPORT else owner
    if not isinstance(module, str) or not isinstance(name, str):
        refuse(f"attribute {name if isinstance(name, str) else kind_of(name)} of {kind_of(module)}")
    if f"{module}.{name}" not in _NAMES:
        refuse(f"{module}.{name}")
    return Name(f"{module}.{name}")


# From stand-ins to a suite

_UTF_32: Final = codecs.getdecoder("utf-32-le")
"""Loaded here: the first use of a codec imports it, and reading a file must import nothing."""


class _Reader:
    """Makes rows of plain values from stand-ins, within one budget for the whole suite."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.spent = 0

    def charge(self, amount: int) -> None:
        self.spent += amount
        if self.spent > RESULT_LIMIT:
            raise DataError(
                f"{self.where}: would unfold to more than {RESULT_LIMIT:,} bytes",
                why="parts of it are used over and over",
                fix=SUSPECT,
            )

    def wrong(self, what: str, value: object, wanted: str) -> NoReturn:
        raise DataError(f"{self.where}: {what} is {kind_of(value)}; want {wanted}", fix=SUSPECT)

    # A suite

    def rows(self, root: object) -> list[Row]:
        """Return the cases of all tests of a suite."""
        state = root.state if isinstance(root, StandIn) and root.kind == _SUITE else None
        tests, info = (_dict(_dict(state).get(key)) for key in ("tests", "info"))
        if not tests:
            raise DataError(
                f"{self.where}: holds no CheckList suite but {kind_of(root)}",
                fix="a file written by CheckList's TestSuite.save",
            )
        return [row for name, test in tests.items() for row in self.test(name, test, info.get(name))]

    def test(self, name: object, test: object, info: object) -> Iterator[Row]:
        """Yield the cases of one functionality; `info` is its entry in the suite's table."""
        if not isinstance(name, str):
            self.wrong("the name of a test", name, "text")
        what = f'test "{name[:100]}"'
        if not isinstance(test, StandIn) or test.kind not in _TESTS or not isinstance(test.state, dict):
            self.wrong(what, test, "MFT, INV or DIR with its state")
        state = test.state
        # Tests made by older versions lack the attribute; the suite's table has it.
        own = state.get("capability") or _dict(info).get("capability") or ""
        capability = self.plain(own, what)
        if not isinstance(capability, str):
            self.wrong(f"{what}: capability", own, "text")
        examples = self.examples(state.get("data"), what)
        self.charge(len(examples) * (len(name) + len(capability)))  # every row will carry them
        labels, metas = (
            self.parallel(state.get(key), len(examples), f"{what}: {key}") for key in ("labels", "meta")
        )
        for case_id, (shown, label, meta) in enumerate(zip(examples, labels, metas, strict=True)):
            yield {
                "test": name,
                "capability": capability,
                "type": test.kind.rpartition(".")[2],
                "case_id": case_id,
                "examples": shown,
                "label": label,
                "meta": meta,
            }

    def examples(self, data: object, what: str) -> list[Plain]:
        """Return the examples of each case; an example is a text or a list of texts."""
        if not isinstance(data, list):
            self.wrong(f"{what}: data", data, "a list of cases")
        cases: list[Plain] = []
        for number, case in enumerate(data):
            self.charge(100)
            examples = [self.plain(example, what) for example in (case if isinstance(case, list) else [case])]
            for example in examples:
                for text in example if isinstance(example, list) else [example]:
                    if not isinstance(text, str):
                        self.wrong(f"{what}: case {number}", text, "text, or a tuple of texts")
            cases.append(examples)
        return cases

    def parallel(self, value: object, cases: int, what: str) -> list[Plain]:
        """Return one value per case, from a list or from one value for all."""
        before = self.spent
        plain = self.plain(value, what)
        if not isinstance(value, list) or not isinstance(plain, list):
            self.charge(cases * (self.spent - before))  # every row will carry it
            return [plain] * cases
        if len(plain) != cases:
            raise DataError(
                f"{self.where}: {what} has {len(plain):,} entries for {cases:,} cases", fix=SUSPECT
            )
        return plain

    # Values

    def plain(self, value: object, what: str, depth: int = 0) -> Plain:
        """Return a value as JSON has it, tuples as lists; lists and dictionaries are copied at each use."""
        if value is None or isinstance(value, bool | int | float):
            self.charge(10)
            return value
        if isinstance(value, str):
            self.charge(10 + len(value))
            return value
        if depth > DEPTH_LIMIT:
            self.wrong(what, value, f"at most {DEPTH_LIMIT} levels of lists within lists")
        self.charge(100)
        if isinstance(value, list | tuple):
            return [self.plain(part, what, depth + 1) for part in value]
        if isinstance(value, dict):
            self.charge(200 + 100 * len(value))
            return {self.key(key, what): self.plain(part, what, depth + 1) for key, part in value.items()}
        if isinstance(value, StandIn) and value.kind in _SCALARS and len(value.arguments) == 2:
            return self.numpy_text(*value.arguments, what)
        self.wrong(what, value, "plain data")

    def key(self, key: object, what: str) -> str:
        if not isinstance(key, str):
            self.wrong(f"{what}: a key", key, "text")
        self.charge(10 + len(key))
        return key

    def numpy_text(self, dtype: object, content: object, what: str) -> str:
        """Return a text of NumPy's, decoded without NumPy, which lets broken texts pass, or fails on them."""
        is_text = isinstance(dtype, StandIn) and str((*dtype.arguments, "")[0]).startswith("U")
        if not is_text or not isinstance(content, bytes):
            self.wrong(what, dtype, "text")
        self.charge(100 + len(content))
        try:
            return _UTF_32(content)[0].rstrip("\0")
        except UnicodeDecodeError:
            self.wrong(what, dtype, "text")


def _dict(value: object) -> dict[object, object]:
    return value if isinstance(value, dict) else {}
