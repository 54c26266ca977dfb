"""The files that a user's module depends on, as the identity of a `python:` model.

    source   its text, and that of the user's modules that it imports; every file of a package
    reads    files that it opened during import, and weights that its source names, also next to a config.json

The standard library and installed packages are not included. Files that C libraries open, and files that are opened
later under a name that does not occur in the source, cannot be seen.
"""

import ast
import hashlib
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec, resolve_name
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from . import digest_file
from .checkpoint import PICKLES, TOKENIZER, WEIGHTS

CODE = (".py", ".pyc", ".pyi", ".so", ".pyd")
WEIGHT_FILES = (
    *(".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".gguf", ".onnx", ".tflite", ".h5", ".hdf5", ".keras"),
    *(".joblib", ".pkl", ".pickle", ".npy", ".npz", ".model", ".cbm", ".ubj", ".ftz"),
)
"""Extensions of weight files."""
INSTALLED = ("site-packages", "dist-packages")
SYSTEM = tuple(map(Path, ("/proc", "/sys", "/dev", "/etc", "/usr/lib", "/usr/share")))
SHOWN = 8
"""Names listed before the rest is counted."""


@dataclass(frozen=True, slots=True)
class ModuleContents:
    """The files of a module with their digests."""

    sources: dict[str, str]  # name to digest
    reads: dict[Path, str]
    complete: bool = True
    """Whether shoal saw its import; a module imported earlier may have read any file."""

    def source_digest(self) -> str:
        """Return one hash of all source files."""
        return _joined(self.sources)

    def reads_digest(self) -> str:
        """Return one hash of all files that it reads."""
        return _joined(_named(self.reads))


@dataclass(slots=True)
class _Watch:
    """Files opened while code runs, with the modules being imported, innermost first."""

    caller: FrameType
    opened: list[tuple[str, bool, tuple[str, ...]]] = field(default_factory=list)
    """Path, whether for writing, modules."""

    def read(self) -> list[tuple[Path, tuple[str, ...]]]:
        """Return the files that were only read, with the modules being imported."""
        written = {path for path, writes, _ in self.opened if writes}
        return [
            (Path(path), running)
            for path, _, running in self.opened
            if path not in written and _counts(Path(path))
        ]


_watch: _Watch | None = None
_hooked = False
_read_by: dict[str, dict[Path, str]] = {}
"""Module to the digests of the files that its import read."""
_seen: dict[str, ModuleType] = {}
"""Modules whose import shoal saw."""


def import_watched(name: str) -> ModuleType:
    """Import a module and record which files it reads."""
    before = set(sys.modules)
    with _watching(sys._getframe()) as watch:
        module = import_module(name)
    fresh = {key: sys.modules[key] for key in set(sys.modules) - before if _is_user_module(sys.modules[key])}
    for key in fresh:
        _read_by[key] = {}
    for path, running in watch.read():
        if running and running[0] in fresh:
            for key in set(running) & set(fresh):
                _read_by[key][path] = _digest(path)
    _seen.update(fresh)
    return module


@contextmanager
def reads_recorded() -> Iterator[list[Path]]:
    """Yield a list that has, after the block, the user's files that code in the block read."""
    reads: list[Path] = []
    with_statement = sys._getframe(2)  # 0 is this generator, 1 is contextlib
    with _watching(with_statement) as watch:
        yield reads
    is_users = {
        path: not running or _is_user_module(sys.modules.get(running[0])) for path, running in watch.read()
    }
    reads += [path for path, users in is_users.items() if users]


def module_contents(name: str) -> ModuleContents:
    """Return the files of a module, imported or not."""
    modules = _user_modules(name)
    sources = _sources(modules)
    reads = {path: digest for key in modules for path, digest in _read_by.get(key, {}).items()}
    for path in _weights_named(modules.values()) | _files_next_to_configs(reads):
        reads.setdefault(path, _digest(path))
    watched = name in _seen and sys.modules.get(name) is _seen[name]
    return ModuleContents(
        {shown: _digest(path) for shown, path in sorted(sources.items())},
        reads,
        watched or name not in sys.modules,
    )


def module_files(name: str) -> list[Path]:
    """Return the paths of a module's files, to send them to another machine."""
    return [*_sources(_user_modules(name)).values(), *module_contents(name).reads]


def _sources(modules: dict[str, Path]) -> dict[str, Path]:
    """Return the source files of modules and of their packages by display name."""
    sources: dict[str, Path] = {}
    for package in sorted({key.partition(".")[0] for key in modules}):
        sources |= _source_files(package)
    return sources | {path.name: path for path in modules.values() if path not in sources.values()}


def short_names(contents: ModuleContents, reads: bool = True) -> list[str]:
    """Return the files of a module for display; those of a package are counted."""
    packages = sorted({shown.partition("/")[0] for shown in contents.sources if "/" in shown})
    counted = [
        f"{package}/ ({sum(shown.startswith(package + '/') for shown in contents.sources)} files)"
        for package in packages
    ]
    names = [shown for shown in contents.sources if "/" not in shown] + counted
    names += list(_named(contents.reads)) if reads else []
    more = len(names) - SHOWN
    return names if more <= 0 else [*names[:SHOWN], f"{more} more"]


# Modules and files


def _user_modules(name: str) -> dict[str, Path]:
    """Return the module and all user modules that it imports, with their files."""
    waiting, reached = [name], {}
    root = _source_path(name)
    while waiting:
        key = waiting.pop()
        path = _source_path(key)
        if key in reached or path is None or not (path == root or is_user_file(path)):
            continue
        reached[key] = path
        if "." in key:
            waiting.append(key.rpartition(".")[0])
        waiting += _imports(key, path)
    return reached


def _source_path(name: str) -> Path | None:
    """Return the path of a module's source without importing it."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    origin = getattr(module, "__file__", None) or getattr(spec, "origin", None)
    if module is None:
        head, _, rest = name.partition(".")
        try:
            spec = find_spec(head)
        except (ImportError, ValueError):
            return None
        origin = spec.origin if spec and not rest else None
        for folder in spec.submodule_search_locations or () if spec and rest else ():
            stem = Path(folder, *rest.split("."))
            candidates = (stem.with_suffix(".py"), stem / "__init__.py")
            origin = origin or next((str(path) for path in candidates if os.path.isfile(path)), None)  # noqa: PTH113
    return Path(origin).resolve() if origin and os.path.isfile(origin) else None  # noqa: PTH113 (never raises)


def _imports(name: str, path: Path) -> list[str]:
    """Return the names of all modules that a source imports, anywhere in it."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    names: list[str] = []
    for node in _nodes(path):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                try:
                    base = resolve_name("." * node.level + base, package)
                except ImportError:
                    continue
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return [
        ".".join(parts[: end + 1]) for parts in (n.split(".") for n in names) for end in range(len(parts))
    ]


def _nodes(path: Path) -> Sequence[ast.AST]:
    try:
        return _parsed(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ()  # Python could not run it either


@lru_cache(maxsize=32)
def _parsed(source: bytes) -> Sequence[ast.AST]:
    """Parse once per source: a plan may have thousands of models."""
    return list(ast.walk(ast.parse(source)))


def _source_files(package: str) -> dict[str, Path]:
    """Return every source file of a top-level package or module."""
    module = sys.modules.get(package)
    try:
        spec = getattr(module, "__spec__", None) or find_spec(package)
    except (ImportError, ValueError):
        return {}
    folders = [Path(folder) for folder in getattr(spec, "submodule_search_locations", None) or ()]
    if not folders:
        path = _source_path(package)
        return {path.name: path} if path else {}
    return {
        f"{package}/{path.relative_to(folder).as_posix()}": path.resolve()
        for folder in folders
        for path in folder.rglob("*.py")
        if not any(part.startswith(".") or part in INSTALLED for part in path.relative_to(folder).parts)
    }


def _weights_named(sources: Iterable[Path]) -> set[Path]:
    """Return weight files that a source names, next to it, in the current folder or in folders that it names."""
    weights: set[Path] = set()
    for source in sources:
        words = {
            node.value
            for node in _nodes(source)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and 0 < len(node.value) < 255
        }
        bases = {source.parent, Path.cwd()}
        folders = {base / word for base in bases for word in words if os.path.isdir(base / word)}  # noqa: PTH112 (Path.is_dir raises for long sentences)
        for place in {
            base / word for base in bases | folders for word in words if word.endswith(WEIGHT_FILES)
        }:
            if _counts(place):
                weights.add(_absolute(place))
        weights |= _files_next_to_configs(folder / "config.json" for folder in folders)
    return weights


def _files_next_to_configs(paths: Iterable[Path]) -> set[Path]:
    """Return the files that Transformers reads next to a config.json; audit hooks do not see safetensors."""
    return {
        _absolute(file)
        for path in paths
        if path.name == "config.json"
        for pattern in ("config.json", *WEIGHTS, *PICKLES, *TOKENIZER)
        for file in path.parent.glob(pattern)
        if _counts(file)
    }


def _absolute(path: Path) -> Path:
    """Return an absolute path without dots; links keep their names."""
    return Path(os.path.abspath(path))  # noqa: PTH100 (Path.resolve follows links)


# Ownership


def is_user_file(path: Path) -> bool:
    """Return whether a file belongs to the user: not installed, not the system's, not part of shoal."""
    places = (*SYSTEM, *_LIBRARIES, _SHOAL)
    return not any(path.is_relative_to(place) for place in places) and not set(INSTALLED) & set(path.parts)


_LIBRARIES = tuple(
    Path(sysconfig.get_path(key)).resolve() for key in ("stdlib", "platstdlib", "purelib", "platlib")
)
_SHOAL = Path(__file__).resolve().parent.parent


def _is_user_module(module: Any) -> bool:
    path = getattr(module, "__file__", None)
    return path is not None and is_user_file(Path(path).resolve())


def _counts(path: Path) -> bool:
    """Return whether an opened file may define a model."""
    # os.path returns False where pathlib raises: overlong names, folders without permission.
    return path.suffix not in CODE and os.path.isfile(path) and is_user_file(path.resolve())  # noqa: PTH113


# Watching


@contextmanager
def _watching(frame: FrameType) -> Iterator[_Watch]:
    """Record the files opened by code that this frame calls."""
    global _watch, _hooked
    if not _hooked:
        sys.addaudithook(_record)  # audit hooks cannot be removed
        _hooked = True
    before, _watch = _watch, _Watch(frame)
    try:
        yield _watch
    finally:
        _watch = before


def _record(event: str, arguments: tuple[Any, ...]) -> None:
    """Record a file that is being opened."""
    if _watch is None or event != "open" or not isinstance(arguments[0], str | bytes | os.PathLike):
        return
    try:
        path = str(_absolute(Path(os.fsdecode(arguments[0]))))
    except Exception:  # an exception here would leave the user's `open`
        return
    if path.endswith(CODE):
        return
    writes = (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR) != 0
    _watch.opened.append((path, writes, _running_modules(_watch.caller)))


def _running_modules(caller: FrameType) -> tuple[str, ...]:
    """Return the modules that are being imported, innermost first."""
    names = []
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame is not caller:
        if frame.f_code.co_name == "<module>":
            names.append(str(frame.f_globals.get("__name__")))
        frame = frame.f_back
    return tuple(names)


# Hashes


def _digest(path: Path) -> str:
    try:
        return digest_file(path)
    except OSError as problem:  # the model cannot read it either
        return problem.strerror or "unreadable"


def _named(digests: dict[Path, str]) -> dict[str, str]:
    """Return digests by file name, so that a moved folder stays the same; equal names get a number."""
    named: dict[str, str] = {}
    for path, digest in sorted(digests.items(), key=lambda item: (item[0].name, item[1])):
        number = sum(other.partition(" #")[0] == path.name for other in named)
        named[path.name + (f" #{number + 1}" if number else "")] = digest
    return named


def _joined(digests: dict[str, str]) -> str:
    if not digests:
        return ""
    text = "\n".join(f"{name} {digest}" for name, digest in digests.items())
    return hashlib.sha256(text.encode()).hexdigest()[:16]
