"""What a module of the user's is made of, as far as that can be known: what its answers are keyed by.

    source   its own text, and that of the modules of the user's that it imports; of a package, every file
    reads    files that it opened while it was imported, and weights that its source names, also beside a config.json

Not the standard library, nor what is installed: only the user's files change from one day to the next. What a library
written in C opens, and what is opened later under a name that is nowhere in the source, cannot be seen.
"""

import ast
import hashlib
import os
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
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
"""How files end that a model is made from and that it does not write while it answers."""
INSTALLED = ("site-packages", "dist-packages")
SYSTEM = tuple(map(Path, ("/proc", "/sys", "/dev", "/etc", "/usr/lib", "/usr/share")))
SHOWN = 8
"""How many names are listed before the rest is counted."""


@dataclass(frozen=True, slots=True)
class Made:
    """What a module is made of: names for people, and digests."""

    sources: dict[str, str]  # name to digest
    reads: dict[Path, str]
    complete: bool = True
    """Whether its import was watched; a module that was there before may have read anything."""

    def source_digest(self) -> str:
        """One hash of all its source."""
        return _joined(self.sources)

    def reads_digest(self) -> str:
        """One hash of all files it is known to read."""
        return _joined(_by_name(self.reads))


@dataclass(slots=True)
class _Watch:
    """Files opened while something runs, with the modules whose bodies were running, the innermost first."""

    caller: FrameType
    opened: list[tuple[str, bool, tuple[str, ...]]] = field(
        default_factory=list
    )  # path, whether to write, modules


_watch: _Watch | None = None
_hooked = False
_read_by: dict[str, dict[Path, str]] = {}
"""Module to the files that were read while its body ran, as they were then."""
_seen: dict[str, ModuleType] = {}
"""Modules whose import was watched."""


def import_watched(name: str) -> ModuleType:
    """Import a module, and remember which files it reads on the way."""
    before = set(sys.modules)
    with _watching(sys._getframe()) as watch:
        module = import_module(name)
    fresh = {key: sys.modules[key] for key in set(sys.modules) - before if _is_mine(sys.modules[key])}
    written = {path for path, writes, _ in watch.opened if writes}
    for key in fresh:
        _read_by[key] = {}
    for path, _, running in watch.opened:
        if path not in written and running and running[0] in fresh and _counts(Path(path)):
            for key in set(running) & set(fresh):
                _read_by[key][Path(path)] = _digest(Path(path))
    _seen.update(fresh)
    return module


def call_watched(call: Callable[[], Any], reads: list[Path]) -> Any:
    """What a call gives; the files of the user's that it read are put into `reads`."""
    with _watching(sys._getframe()) as watch:
        try:
            return call()
        finally:
            written = {path for path, writes, _ in watch.opened if writes}
            for path, _, running in dict.fromkeys(watch.opened):
                bodies_are_mine = not running or _is_mine(sys.modules.get(running[0]))
                if path not in written and bodies_are_mine and _counts(Path(path)):
                    reads.append(Path(path))


def made_of(name: str) -> Made:
    """What a module is made of, imported or not."""
    modules = _modules_of(name)
    sources = _sources(modules)
    reads = {path: digest for key in modules for path, digest in _read_by.get(key, {}).items()}
    for path in _weights_named(modules.values()) | _beside_configs(reads):
        reads.setdefault(path, _digest(path))
    watched = name in _seen and sys.modules.get(name) is _seen[name]
    return Made(
        {shown: _digest(path) for shown, path in sorted(sources.items())},
        reads,
        watched or name not in sys.modules,
    )


def files_of(name: str) -> list[Path]:
    """The files that a module is made of: to be sent along where it is to be imported."""
    return [*_sources(_modules_of(name)).values(), *made_of(name).reads]


def _sources(modules: dict[str, Path]) -> dict[str, Path]:
    """The source files of modules, and of the packages that they are in, by the names they are shown by."""
    sources: dict[str, Path] = {}
    for package in sorted({key.partition(".")[0] for key in modules}):
        sources |= _source_files(package)
    return sources | {path.name: path for path in modules.values() if path not in sources.values()}


def short_names(made: Made, reads: bool = True) -> list[str]:
    """What a module is made of, as a line of output shows it; the files of a package are counted."""
    packages = sorted({shown.partition("/")[0] for shown in made.sources if "/" in shown})
    counted = [
        f"{package}/ ({sum(shown.startswith(package + '/') for shown in made.sources)} files)"
        for package in packages
    ]
    names = [shown for shown in made.sources if "/" not in shown] + counted
    names += list(_by_name(made.reads)) if reads else []
    more = len(names) - SHOWN
    return names if more <= 0 else [*names[:SHOWN], f"{more} more"]


# Which modules, which files


def _modules_of(name: str) -> dict[str, Path]:
    """The module and all modules of the user's that it imports, at once or later, with their files."""
    waiting, reached = [name], {}
    root = _file_of(name)
    while waiting:
        key = waiting.pop()
        path = _file_of(key)
        if key in reached or path is None or not (path == root or is_of_user(path)):
            continue
        reached[key] = path
        if "." in key:
            waiting.append(key.rpartition(".")[0])
        waiting += _imports_of(key, path)
    return reached


def _file_of(name: str) -> Path | None:
    """Where a module's source is; nothing is imported to find out."""
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


def _imports_of(name: str, path: Path) -> list[str]:
    """The names of everything a source imports, wherever in it that stands."""
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
        return ()  # not a source that Python could run either


@lru_cache(maxsize=32)
def _parsed(source: bytes) -> Sequence[ast.AST]:
    """Once for all models of one source: a plan may have thousands."""
    return list(ast.walk(ast.parse(source)))


def _source_files(package: str) -> dict[str, Path]:
    """Every source file of a top-level package, or of a module that is no package."""
    module = sys.modules.get(package)
    try:
        spec = getattr(module, "__spec__", None) or find_spec(package)
    except (ImportError, ValueError):
        return {}
    folders = [Path(folder) for folder in getattr(spec, "submodule_search_locations", None) or ()]
    if not folders:
        path = _file_of(package)
        return {path.name: path} if path else {}
    return {
        f"{package}/{path.relative_to(folder).as_posix()}": path.resolve()
        for folder in folders
        for path in folder.rglob("*.py")
        if not any(part.startswith(".") or part in INSTALLED for part in path.relative_to(folder).parts)
    }


def _weights_named(sources: Iterable[Path]) -> set[Path]:
    """Weights that a source names in so many words, beside it or in this folder, and in folders that it names."""
    weights: set[Path] = set()
    for source in sources:
        words = {
            node.value
            for node in _nodes(source)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and 0 < len(node.value) < 255
        }
        bases = {source.parent, Path.cwd()}
        folders = {base / word for base in bases for word in words if os.path.isdir(base / word)}  # noqa: PTH112 (a sentence is no path)
        for place in {
            base / word for base in bases | folders for word in words if word.endswith(WEIGHT_FILES)
        }:
            if _counts(place):
                weights.add(_absolute(place))
        weights |= _beside_configs(folder / "config.json" for folder in folders)
    return weights


def _beside_configs(paths: Iterable[Path]) -> set[Path]:
    """What Transformers reads beside a config.json; safetensors are opened where Python cannot see it."""
    return {
        _absolute(beside)
        for path in paths
        if path.name == "config.json"
        for pattern in ("config.json", *WEIGHTS, *PICKLES, *TOKENIZER)
        for beside in path.parent.glob(pattern)
        if _counts(beside)
    }


def _absolute(path: Path) -> Path:
    """A path from the root, without dots; links stay, for their names say what they are."""
    return Path(os.path.abspath(path))  # noqa: PTH100 (Path.resolve follows links)


# Whose files


def is_of_user(path: Path) -> bool:
    """Whether a file is the user's own: neither installed nor the system's, nor part of shoal."""
    places = (*SYSTEM, *_LIBRARIES, _SHOAL)
    return not any(path.is_relative_to(place) for place in places) and not set(INSTALLED) & set(path.parts)


_LIBRARIES = tuple(
    Path(sysconfig.get_path(key)).resolve() for key in ("stdlib", "platstdlib", "purelib", "platlib")
)
_SHOAL = Path(__file__).resolve().parent.parent


def _is_mine(module: Any) -> bool:
    path = getattr(module, "__file__", None)
    return path is not None and is_of_user(Path(path).resolve())


def _counts(path: Path) -> bool:
    """Whether a file that was opened says something about a model."""
    # os.path, which answers no where pathlib raises: a sentence is no path, and a folder may be closed to us.
    return path.suffix not in CODE and os.path.isfile(path) and is_of_user(path.resolve())  # noqa: PTH113


# Watching


@contextmanager
def _watching(frame: FrameType) -> Iterator[_Watch]:
    """Notice what is opened by code that this frame calls."""
    global _watch, _hooked
    if not _hooked:
        sys.addaudithook(_notice)  # stays until the process ends, as all audit hooks do
        _hooked = True
    before, _watch = _watch, _Watch(frame)
    try:
        yield _watch
    finally:
        _watch = before


def _notice(event: str, arguments: tuple[Any, ...]) -> None:
    """Remember a file that is being opened."""
    if _watch is None or event != "open" or not isinstance(arguments[0], str | bytes | os.PathLike):
        return
    try:
        path = str(_absolute(Path(os.fsdecode(arguments[0]))))
    except Exception:  # what a hook raises, the user's `open` raises
        return
    if path.endswith(CODE):
        return
    writes = (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR) != 0
    _watch.opened.append((path, writes, _bodies_running(_watch.caller)))


def _bodies_running(caller: FrameType) -> tuple[str, ...]:
    """The modules whose bodies are being run, the innermost first."""
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
    except OSError as problem:  # closed to us, and so to the model
        return problem.strerror or "cannot be read"


def _by_name(digests: dict[Path, str]) -> dict[str, str]:
    """By file name, for a folder that is moved is the same; files of one name are told apart by number."""
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
