"""Released pickles give the rows of their JSON Lines; hostile ones run nothing and stay small."""

import gzip
import json
import os
import pickle
import pickletools
import random
import resource
import signal
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shoal.core.errors import DataError
from shoal.data.pickles import Row, read_suite_pickle

HERE = Path(__file__)
MEMORY = 500_000_000
PROCESSOR_SECONDS = 60
"""For one file: only a reader that hangs takes so long. Limits are on work, so none of them is on time."""

Outcomes = dict[str, list[Any]]

# Opcodes, written out by hand: the same that the released files are made of.

NONE = pickle.NONE


def text(value: str) -> bytes:
    return pickle.BINUNICODE + struct.pack("<I", len(value.encode())) + value.encode()


def data(value: bytes) -> bytes:
    return pickle.BINBYTES + struct.pack("<I", len(value)) + value


def number(value: int) -> bytes:
    return pickle.BININT + struct.pack("<i", value)


def sequence(*items: bytes) -> bytes:
    return pickle.EMPTY_LIST + pickle.MARK + b"".join(items) + pickle.APPENDS


def group(*items: bytes) -> bytes:
    return pickle.MARK + b"".join(items) + pickle.TUPLE


def entries(**items: bytes) -> bytes:
    return pickle.MARK + b"".join(text(key) + value for key, value in items.items()) + pickle.SETITEMS


def record(**items: bytes) -> bytes:
    return pickle.EMPTY_DICT + entries(**items)


def named(module: str, name: str) -> bytes:
    return pickle.GLOBAL + f"{module}\n{name}\n".encode()


def called(function: bytes, *arguments: bytes) -> bytes:
    return function + group(*arguments) + pickle.REDUCE


def dill(name: str, *arguments: bytes) -> bytes:
    return called(named("dill._dill", name), *arguments)


def new(module: str, name: str, state: bytes = b"") -> bytes:
    return named(module, name) + pickle.EMPTY_TUPLE + pickle.NEWOBJ + (state + pickle.BUILD if state else b"")


def whole(value: bytes) -> bytes:
    return pickle.PROTO + b"\x03" + value + pickle.STOP


NUMPY = "numpy.core._multiarray_umath"


def dtype(name: str, order: str = "<") -> bytes:
    state = group(number(3), text(order), NONE, NONE, NONE, number(-1), number(-1), number(0))
    return called(named("numpy", "dtype"), text(name), number(0), number(1)) + state + pickle.BUILD


def array(kind: bytes, shape: bytes, content: bytes, of: bytes = named("numpy", "ndarray")) -> bytes:
    make = dill("_get_attr", dill("_import_module", text(NUMPY)), text("_reconstruct"))
    state = group(number(1), shape, kind, pickle.NEWFALSE, content)
    return called(make, of, group(number(0)), data(b"b")) + state + pickle.BUILD


def integers(*values: int) -> bytes:
    return array(dtype("i8"), group(number(len(values))), data(struct.pack(f"<{len(values)}q", *values)))


def scalar(kind: bytes, content: bytes) -> bytes:
    return called(dill("_get_attr", dill("_import_module", text(NUMPY)), text("scalar")), kind, data(content))


def function(name: str, closure: dict[str, bytes], constants: bytes = group(NONE, number(1))) -> bytes:
    free = group(*(text(key) for key in closure))
    code = called(
        dill("_load_type", text("CodeType")),
        *(number(1), number(0), number(2), number(7), number(19), data(b"t\x00S\x00"), constants),
        *(group(text("np")), group(text("x")), text("expect.py"), text(name), number(53), data(b"\0\1")),
        *(free, pickle.EMPTY_TUPLE),
    )
    cells = group(*(dill("_create_cell", value) for value in closure.values()))
    globals_ = record(
        np=dill("_import_module", text("numpy")), len=dill("_get_attr", text("builtins"), text("len"))
    )
    return dill("_create_function", code, globals_, text(name), NONE, cells, pickle.EMPTY_DICT, NONE)


def a_test(kind: str = "MFT", **state: bytes) -> bytes:
    usual = {
        "data": sequence(text("good"), text("bad")),
        "labels": NONE,
        "meta": NONE,
        "agg_fn": text("all"),
    }
    return new("checklist.test_types", kind, record(**usual | state))


def suite(info: bytes = pickle.EMPTY_DICT, **tests: bytes) -> bytes:
    ordered = named("collections", "OrderedDict") + pickle.EMPTY_TUPLE + pickle.REDUCE + entries(**tests)
    return new("checklist.test_suite", "TestSuite", record(tests=ordered, info=info))


def small_suite() -> bytes:
    """A little of everything that the released files hold."""
    pair = group(text("Ann is tall."), text("Who is tall?"))
    invariance = function(
        "expect", {"fn": function("expect_fn", {"tolerance": pickle.BINFLOAT + struct.pack(">d", 0.1)})}
    )
    munch = new("munch", "Munch") + entries(p1=text("x")) + record(p1=text("x")) + pickle.BUILD
    told = called(named("collections", "defaultdict"), function("<lambda>", {})) + entries(
        capability=text("Negation"), type=text("INV"), description=text("From the table.")
    )
    return whole(
        suite(
            info=called(named("collections", "defaultdict"), function("<lambda>", {})) + entries(second=told),
            first=a_test(
                data=sequence(text("good"), scalar(dtype("U4"), "fine".encode("utf-32-le")), text("bäd 🙂")),
                labels=number(2),
                capability=text("Vocabulary"),
                description=text(""),
                run_idxs=integers(2, 0),
                result_indexes=integers(2, 0),
                expect=function("expect", {"val": NONE}),
            ),
            second=a_test(
                "INV",
                data=sequence(sequence(pair, pair), sequence(pair, pair)),
                meta=sequence(
                    sequence(pickle.EMPTY_DICT, group(text("a"), text("b"))), sequence(NONE, munch)
                ),
                labels=sequence(sequence(text("Ann"), text("Ann")), sequence(text("Bo"), pickle.NEWTRUE)),
                run_idxs=NONE,
                agg_fn=text("all_except_first"),
                expect=invariance,
            ),
        )
    )


def memoised(content: bytes) -> bytes:
    """The same pickle as dill writes it: a memo entry for each text, repeated texts taken from there."""
    pieces: list[bytes] = []
    known: dict[str, int] = {}
    steps = list(pickletools.genops(content))
    ends = [start for _, _, start in steps[1:]] + [len(content)]
    for (opcode, value, start), end in zip(steps, ends, strict=True):
        assert start is not None and end is not None
        if opcode.name == "BINUNICODE" and str(value) in known:
            pieces.append(pickle.LONG_BINGET + struct.pack("<I", known[str(value)]))
            continue
        pieces.append(content[start:end])
        if opcode.name == "BINUNICODE":
            pieces.append(pickle.LONG_BINPUT + struct.pack("<I", len(known)))
            known[str(value)] = len(known)
    return b"".join(pieces)


def tar_member(name: str, content: bytes, kind: bytes = b"0", size: bytes = b"") -> bytes:
    header = bytearray(512)
    header[: len(name)] = name.encode()
    header[124:136] = size or f"{len(content):011o}\0".encode()
    header[148:156] = b" " * 8
    header[156:157] = kind
    header[257:263] = b"ustar\0"
    header[148:156] = f"{sum(header):06o}\0 ".encode()
    return bytes(header) + content + b"\0" * (-len(content) % 512)


def tar(*members: bytes) -> bytes:
    return b"".join(members) + b"\0" * 1024


def read(folder: Path, content: bytes) -> list[Row]:
    path = folder / "suite.pkl"
    path.write_bytes(content)
    return read_suite_pickle(path)


def problem(folder: Path, content: bytes) -> str:
    with pytest.raises(DataError) as caught:
        read(folder, content)
    return str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "cases", "examples"), [("sentiment", 86_420, 178_578), ("squad", 13_311, 71_293)]
)
def test_a_released_file_gives_the_rows_of_the_json_lines_beside_it(
    name: str, cases: int, examples: int, data: Path
) -> None:
    rows = read_suite_pickle(data / "checklist" / f"{name}_suite.tar.gz")
    seen = shown = 0
    with gzip.open(data / "checklist" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row, line in zip(rows, lines, strict=True):
            wanted = json.loads(line)
            assert row == {key: wanted.get(key) for key in row}
            seen += 1
            shown += len(wanted["examples"])
    assert (seen, shown) == (cases, examples)


def test_a_small_suite_is_recovered_whole(tmp_path: Path) -> None:
    rows = read(tmp_path, small_suite())
    assert rows[2] == {
        "test": "first",
        "capability": "Vocabulary",
        "type": "MFT",
        "case_id": 2,
        "examples": ["bäd 🙂"],
        "label": 2,
        "meta": None,
    }
    assert rows[3]["capability"] == "Negation"  # from the suite's table: the test itself has none
    assert rows[3]["meta"] == [{}, ["a", "b"]] and rows[4]["meta"] == [None, {"p1": "x"}]
    assert rows[3]["examples"] == [["Ann is tall.", "Who is tall?"]] * 2


def test_bare_gzipped_and_tarred_pickles_read_alike(tmp_path: Path) -> None:
    content = small_suite()
    bare = read(tmp_path, content)
    archive = tar(
        tar_member("folder/", b"", b"5"),
        tar_member("x" * 50, b"ignored", b"x"),
        tar_member("s.pkl", content),
    )
    assert len(bare) == 5
    for wrapped in (gzip.compress(content), archive, gzip.compress(archive), memoised(content)):
        assert read(tmp_path, wrapped) == bare


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "breaks off"),
        (whole(text("hello")), "holds no CheckList suite but str"),
        (whole(suite(t=a_test(data=NONE))), "data is NoneType; want a list of cases"),
        (whole(suite(t=a_test(labels=sequence(number(3))))), "labels has 1 entries for 2 cases"),
        (small_suite()[:-20], "not a readable pickle"),
        (tar(tar_member("a", small_suite()), tar_member("b", b"")), "holds 2 regular files"),
    ],
)
def test_what_is_not_a_suite_is_a_clear_error(tmp_path: Path, content: bytes, message: str) -> None:
    assert message in problem(tmp_path, content)


def attacks(command: str) -> dict[str, tuple[bytes, str]]:
    """Pickles that run a command when loaded, and the name each must be refused with."""
    run, system, munch = text(command), named("os", "system"), named("munch", "Munch")
    stacked = text("os") + text("system") + pickle.STACK_GLOBAL
    reconstructed = {"kind": dtype("i8"), "shape": group(number(0)), "content": data(b"")}
    compiled = function("expect", {})
    made = {
        "REDUCE": (called(system, run), "os.system"),
        "STACK_GLOBAL": (stacked + group(run) + pickle.REDUCE, "os.system"),
        "OBJ": (pickle.MARK + system + run + pickle.OBJ, "os.system"),
        "INST": (pickle.MARK + run + pickle.INST + b"os\nsystem\n", "opcode INST"),
        "NEWOBJ": (system + group(run) + pickle.NEWOBJ, "os.system"),
        "NEWOBJ_EX": (munch + pickle.EMPTY_TUPLE + pickle.EMPTY_DICT + pickle.NEWOBJ_EX, "opcode NEWOBJ_EX"),
        "BUILD with __setstate__": (
            new("checklist.test_types", "MFT", record(__setstate__=system)) + run + pickle.BUILD,
            "os.system",
        ),
        "BUILD on a list": (sequence() + record(append=run) + pickle.BUILD, "list"),
        "a dill function called": (called(compiled), "dill._dill._create_function"),
        "a dill function, nested": (function("f", {"fn": called(system, run)}), "os.system"),
        "_get_attr": (called(dill("_get_attr", text("os"), text("system")), run), "os.system"),
        "_get_attr of a module": (
            dill("_get_attr", dill("_import_module", text("numpy")), text("load")),
            "numpy.load",
        ),
        "_get_attr of an object": (dill("_get_attr", sequence(), text("__class__")), "__class__"),
        "a known name called": (
            called(dill("_get_attr", text("builtins"), text("len")), run),
            "builtins.len",
        ),
        "_load_type": (called(dill("_load_type", text("FileType")), run), "_load_type"),
        "a dotted name": (
            text("collections") + text("OrderedDict.__init__.__globals__") + pickle.STACK_GLOBAL,
            "collections.OrderedDict.__init__.__globals__",
        ),
        "_reconstruct of a foreign class": (
            array(**reconstructed, of=named("subprocess", "Popen")),
            "subprocess.Popen",
        ),
    }
    return made | {name: (called(named(*name.rsplit(".", 1)), run), name) for name in UNKNOWN_NAMES}


UNKNOWN_NAMES = (
    *("posix.system", "builtins.exec", "builtins.getattr", "subprocess.Popen", "dill._dill._create_type"),
    *("dill._dill._eval_repr", "copyreg._reconstructor", "operator.attrgetter", "marshal.loads"),
    "importlib.import_module",
)


@pytest.mark.parametrize("depth", ["at the top", "as an expectation"])
def test_a_pickle_that_would_run_code_is_refused_with_the_name_it_asks_for(
    tmp_path: Path, depth: str
) -> None:
    sentinel = tmp_path / "sentinel"
    for name, (attack, asked_for) in attacks(f"touch {sentinel}").items():
        content = whole(attack) if depth == "at the top" else whole(suite(t=a_test(expect=attack)))
        message = problem(tmp_path, content)
        assert "refused: it asks for" in message and asked_for in message, name
        assert not sentinel.exists(), name


def test_the_same_pickles_do_run_code_when_loaded_by_pickle(tmp_path: Path) -> None:
    for name in ("REDUCE", "STACK_GLOBAL", "OBJ", "INST"):
        sentinel = tmp_path / name
        pickle.loads(whole(attacks(f"touch {sentinel}")[name][0]))
        assert sentinel.exists(), name


def laughing(levels: int, each: int = 10) -> bytes:
    """A list of ten times the list before it, and so on."""
    built = [sequence(text("ha")) + pickle.BINPUT + b"\0"]
    for level in range(1, levels):
        again = (pickle.BINGET + bytes([level - 1])) * each
        built.append(pickle.POP + sequence(again) + pickle.BINPUT + bytes([level]))
    return b"".join(built)


def nested(depth: int) -> bytes:
    return pickle.EMPTY_LIST * depth + pickle.APPEND * (depth - 1)


def nested_functions(depth: int) -> bytes:
    value = NONE
    for _ in range(depth):
        value = function("f", {"fn": value})
    return value


def flood(piece: bytes, size: int = 12_000_000) -> bytes:
    """As much of one thing as it takes to be stopped, or as fits in a file."""
    return b"\x80\x03" + piece * (size // len(piece)) + b"."


def in_meta(value: bytes) -> bytes:
    return whole(suite(t=a_test(meta=value)))


SMALL_BOMBS: dict[str, tuple[Callable[[], bytes], str | None]] = {
    "gzip": (lambda: gzip.compress(bytes(70_000_000)), "more than 200 times as large"),
    "a plain file": (lambda: bytes(70_000_000), "holds more than 64,000,000 bytes"),
    "tar size": (lambda: tar(tar_member("a", b"", size=b"77777777777\0")), "not a readable pickle"),
    "BINUNICODE": (lambda: b"\x80\x03X\xff\xff\xff\xff.", "a string of 4,294,967,295 bytes"),
    "LONG_BINPUT": (lambda: b"\x80\x03Nr\xff\xff\xff\xff.", "memo entry 4,294,967,295 when there are 0"),
    "a name without an end": (lambda: b"c" + b"a" * 50_000_000, "a name without an end"),
    "nested lists": (lambda: in_meta(nested(500_000)), "at most 20 levels"),
    "nested functions": (lambda: whole(suite(t=a_test(expect=nested_functions(3_000)))), None),
    "a list in itself": (lambda: in_meta(b"]q\0h\0a"), "at most 20 levels"),
    "laughter in meta": (lambda: in_meta(laughing(15)), "would unfold to more than 120,000,000 bytes"),
    "laughter nowhere read": (lambda: whole(suite(t=a_test(results=laughing(200)))), None),
    "a long label for many cases": (
        lambda: whole(suite(t=a_test(data=sequence(text("a") * 200_000), labels=text("ha" * 500_000)))),
        "would unfold",
    ),
    "colliding keys": (
        lambda: in_meta(
            b"}("
            + b"".join(b"\x8a\x0c" + (k * (2**61 - 1)).to_bytes(12, "little") + b"N" for k in range(100_000))
            + b"u"
        ),
        "neither a text nor a small number",
    ),
}

FLOODS: dict[str, tuple[Callable[[], bytes], str]] = {
    "lists": (lambda: flood(b"]"), "would take more than 240,000,000 bytes of memory to read"),
    "nothings": (lambda: flood(b"N"), "would take more than 4,000,000 steps to read"),
    "wide texts": (lambda: flood(text("a" * 7_900_000 + "🙂"), size=60_000_000), "holds no CheckList suite"),
}
"""One for each limit, and the largest file that is allowed."""


def under_limits(folder: Path, task: str) -> Outcomes:
    """What this file, run as a script, reports about the files in a folder."""
    package = HERE.parents[2] / "src"
    done = subprocess.run(
        [sys.executable, "-W", "error", str(HERE), task, str(folder)],
        env=os.environ | {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    report: Outcomes = json.loads(done.stdout)
    return report


def read_each(folder: Path, bombs: dict[str, bytes]) -> Outcomes:
    for number_, content in enumerate(bombs.values()):
        (folder / f"{number_:03}").write_bytes(content)
    report = under_limits(folder, "files")
    for path in folder.iterdir():
        path.unlink()
    return {name: report[f"{number_:03}"] for number_, name in enumerate(bombs)}


@pytest.mark.slow
def test_a_bomb_does_not_go_off(tmp_path: Path) -> None:
    outcomes = read_each(tmp_path, {name: make() for name, (make, _) in SMALL_BOMBS.items()})
    for name, (outcome, message, events) in outcomes.items():
        wanted = SMALL_BOMBS[name][1]
        assert outcome == ("read" if wanted is None else "DataError"), (name, message)
        assert (wanted or "") in message and events == [], name


@pytest.mark.slow
def test_a_flood_of_opcodes_is_dammed(tmp_path: Path) -> None:
    outcomes = read_each(tmp_path, {name: make() for name, (make, _) in FLOODS.items()})
    for name, (outcome, message, events) in outcomes.items():
        assert outcome == "DataError" and FLOODS[name][1] in message and events == [], (name, message)


INPUTS = 10_000
WATCHED = ("exec", "compile", "import", "open", "marshal.loads", "pickle.find_class")
WATCHED_FAMILIES = (
    *("os.", "subprocess.", "socket.", "ctypes.", "shutil.", "tempfile."),
    *("code.", "function.", "signal."),
)


@pytest.mark.slow
def test_mutated_pickles_never_run_code_never_hang_and_stay_small(tmp_path: Path) -> None:
    (tmp_path / "base_0").write_bytes(memoised(small_suite()))
    (tmp_path / "base_1").write_bytes(small_suite())
    (tmp_path / "base_2").write_bytes(whole(suite(t=a_test(expect=function("f", {"tolerance": NONE})))))
    (tmp_path / "base_3").write_bytes(memoised(in_meta(sequence(group(text("a"), text("b")), laughing(3)))))
    for number_, name in enumerate(("REDUCE", "NEWOBJ_EX", "a dill function, nested", "_get_attr")):
        (tmp_path / f"base_{4 + number_}").write_bytes(
            whole(suite(t=a_test(expect=attacks("true")[name][0])))
        )
    report = under_limits(tmp_path, "fuzz")
    outcomes = dict(report["outcomes"])
    assert sum(outcomes.values()) == INPUTS
    assert set(outcomes) == {"read", "DataError"}, report["odd"]
    assert outcomes["read"] > 50  # or the fuzz never gets past the first check
    assert report["events"] == []


def mutated(rng: random.Random, bases: list[bytes]) -> bytes:
    """One of the bases, with a few values or bytes changed, cut, or brought in from another."""
    content = rng.choice(bases)
    for _ in range(rng.choice((1, 1, 2, 3))):
        content = anywhere(rng, content, bases)
    return content


def anywhere(rng: random.Random, content: bytes, bases: list[bytes]) -> bytes:
    changed = bytearray(content)
    place = rng.randrange(len(changed) + 1)
    kind = rng.randrange(4)
    if kind == 0 and place < len(changed):
        changed[place] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del changed[place : place + rng.choice((1, 2, 8, len(changed)))]
    elif kind == 2:
        changed[place:place] = rng.randbytes(rng.choice((1, 2, 5)))
    else:
        other = rng.choice(bases)
        start = rng.randrange(len(other))
        changed[place:place] = other[start : start + rng.randrange(200)]
    return bytes(changed)


class Watch:
    """Records what the interpreter is asked to do while it is switched on."""

    def __init__(self) -> None:
        self.path: str | None = None
        self.events: list[str] = []
        sys.addaudithook(self.hook)

    def hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.path is None or (event == "open" and str(arguments[0]) == self.path):
            return
        if event in WATCHED or event.startswith(WATCHED_FAMILIES):
            self.events.append(f"{event} {str(arguments)[:100]}")

    def outcome(self, path: Path) -> tuple[str, str, list[str]]:
        """How reading a file went, what it said, and what else happened meanwhile."""
        self.events = []
        signal.setitimer(signal.ITIMER_PROF, PROCESSOR_SECONDS)
        self.path = str(path)
        try:
            told = "read", str(len(read_suite_pickle(path)))
        except BaseException as error:
            self.path = None
            told = type(error).__name__, str(error)
        self.path = None
        signal.setitimer(signal.ITIMER_PROF, 0)
        return *told, self.events


def limit_memory() -> None:
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))


def out_of_time(*_: object) -> None:
    raise TimeoutError(f"took more than {PROCESSOR_SECONDS} seconds of processor time")


def fuzz(folder: Path, watch: Watch) -> Outcomes:
    bases = [path.read_bytes() for path in sorted(folder.glob("base_*"))]
    rng = random.Random(2020)
    limit_memory()
    outcomes: Counter[str] = Counter()
    events, odd = [], []
    path = folder / "input"
    for turn in range(INPUTS):
        content = mutated(rng, bases)
        path.write_bytes(content)
        kind, message, seen = watch.outcome(path)
        outcomes[kind] += 1
        events += seen
        if kind not in ("read", "DataError"):
            odd.append([turn, kind, message[:200], content[:100].hex()])
    return {"outcomes": list(outcomes.items()), "events": events[:20], "odd": odd[:5]}


def read_files(folder: Path, watch: Watch) -> Outcomes:
    limit_memory()
    return {path.name: list(watch.outcome(path)) for path in sorted(folder.iterdir())}


if __name__ == "__main__":
    signal.signal(signal.SIGPROF, out_of_time)
    tasks = {"fuzz": fuzz, "files": read_files}
    print(json.dumps(tasks[sys.argv[1]](Path(sys.argv[2]), Watch())))
