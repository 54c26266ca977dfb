"""The files that a user's module depends on, as the identity of a `python:` model.

    source   its text, and that of the user's modules that it imports, at once or later
    reads    files that these opened during import, and weights that their source names, also next to a config.json

The standard library and installed packages are not included. Files that C libraries open, and files that are opened
later under a name that does not occur in the source, cannot be seen.
"""

import ast
import hashlib
import os
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
NOT_USERS = (
    *map(Path, ("/proc", "/sys", "/dev", "/etc", "/usr/lib", "/usr/share")),
    *(Path(sysconfig.get_path(key)).resolve() for key in ("stdlib", "platstdlib", "purelib", "platlib")),
    Path(__file__).resolve().parent.parent,
)
"""Folders of the system, of Python and of shoal."""


@dataclass(frozen=True, slots=True)
class ModuleContents:
    """The files of a module with their digests."""

    sources: dict[Path, str]
    reads: dict[Path, str]
    """For a module that was imported before shoal could watch it, only files that its source names."""


_opened: list[tuple[Path, bool, tuple[str, ...]]] | None = None
"""Files being opened: path, whether for writing, and the modules being imported, innermost first."""
_hooked = False
_read_by: dict[str, dict[Path, str]] = {}
"""Module to the digests of the files that its import read."""


def import_watched(name: str) -> ModuleType:
    """Import a module and record which files it reads."""
    global _opened, _hooked
    if not _hooked:
        sys.addaudithook(_record)  # audit hooks cannot be removed
        _hooked = True
    before, outer, _opened = set(sys.modules), _opened, []
    opened = _opened
    try:
        module = import_module(name)
    finally:
        _opened = outer
    paths = {key: getattr(sys.modules[key], "__file__", None) for key in set(sys.modules) - before}
    fresh = {key for key, path in paths.items() if path and is_user_file(Path(path).resolve())}
    _read_by.update({key: {} for key in fresh})
    written = {path for path, writes, _ in opened if writes}
    for path, _, importing in opened:
        # The files that an installed module reads are its own.
        if importing and importing[0] in fresh and path not in written and _counts(path):
            for key in fresh & set(importing):
                _read_by[key][path] = _digest(path)
    return module


def module_contents(name: str) -> ModuleContents:
    """Return the files of a module, imported or not."""
    modules = _user_modules(name)
    reads = {path: digest for key in modules for path, digest in _read_by.get(key, {}).items()}
    for path in _weights_named(modules.values()) | _files_next_to_configs(reads):
        reads.setdefault(path, _digest(path))
    return ModuleContents({path: _digest(path) for path in sorted(modules.values())}, reads)


def module_files(name: str) -> list[Path]:
    """Return the paths of a module's files, to send them to another machine."""
    contents = module_contents(name)
    return [*contents.sources, *contents.reads]


def joined_digest(digests: dict[Path, str]) -> str:
    """Return one hash of some files; only names and content count, so that a moved folder stays the same."""
    text = "\n".join(sorted(f"{path.name} {digest}" for path, digest in digests.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# Modules and files


def _user_modules(name: str) -> dict[str, Path]:
    """Return the module and all user modules that it imports, with their files."""
    root, waiting, reached = _source_path(name), _with_parents(name), {}
    while waiting:
        key = waiting.pop()
        path = _source_path(key)
        if key not in reached and path is not None and (path == root or is_user_file(path)):
            reached[key] = path
            waiting += _imports(key, path)
    return reached


def _with_parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[: end + 1]) for end in range(len(parts))]


def _source_path(name: str) -> Path | None:
    """Return the path of a module's source without importing it."""
    module = sys.modules.get(name)
    places: list[Any] = [getattr(module, "__file__", None)]
    if module is None:
        head, *rest = name.split(".")
        try:
            spec = find_spec(head)
        except (ImportError, ValueError):
            return None
        folders = (spec and spec.submodule_search_locations) or ()
        inside = [Path(folder, *rest) for folder in folders]
        places = [place for stem in inside for place in (stem.with_suffix(".py"), stem / "__init__.py")]
        places = places if rest else [spec and spec.origin]
    return next((Path(place).resolve() for place in places if place and os.path.isfile(place)), None)  # noqa: PTH113 (never raises)


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
    return [parent for name in names for parent in _with_parents(name)]


def _nodes(path: Path) -> Sequence[ast.AST]:
    try:
        return _parsed(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ()  # Python could not run it either


@lru_cache(maxsize=32)
def _parsed(source: bytes) -> Sequence[ast.AST]:
    """Parse once per source: a plan may have thousands of models."""
    return list(ast.walk(ast.parse(source)))


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
        files = [word for word in words if word.endswith(WEIGHT_FILES)]
        places = {base / word for base in bases | folders for word in files}
        weights |= {_absolute(place) for place in places if _counts(place)}
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


def is_user_file(path: Path) -> bool:
    """Return whether a file belongs to the user: not installed, not the system's, not part of shoal."""
    return not any(path.is_relative_to(place) for place in NOT_USERS) and not set(INSTALLED) & set(path.parts)


def _counts(path: Path) -> bool:
    """Return whether an opened file may define a model."""
    # os.path returns False where pathlib raises: overlong names, folders without permission.
    return path.suffix not in CODE and os.path.isfile(path) and is_user_file(path.resolve())  # noqa: PTH113


def _digest(path: Path) -> str:
    try:
        return digest_file(path)
    except OSError as problem:  # the model cannot read it either
        return problem.strerror or "unreadable"


# Watching


def _record(event: str, arguments: tuple[Any, ...]) -> None:
    if _opened is None or event != "open" or not isinstance(arguments[0], str | bytes | os.PathLike):
        return
    try:
        path = _absolute(Path(os.fsdecode(arguments[0])))
    except Exception:  # an exception here would leave the user's `open`
        return
    if path.suffix not in CODE:
        writes = (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR) != 0
        _opened.append((path, writes, _modules_being_imported()))


def _modules_being_imported() -> tuple[str, ...]:
    """Return the modules whose code runs, innermost first."""
    names = []
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            names.append(str(frame.f_globals.get("__name__")))
        frame = frame.f_back
    return tuple(names)
