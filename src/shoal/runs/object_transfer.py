"""Send a task's files to a worker and back, for workers that do not share the store's disk.

    store ──► kept_for(task) ──► Workplace ──► run_task ──► Workplace.news() ──► put_in_place ──► store
    driver    stored files       folder of     unchanged    new files, also      whole files,     driver
                                 the worker                 while it runs        answers last

Only the driver writes the store, and it holds a lock for each task.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from ..core.errors import PlanError
from ..core.files import replacing, settle
from ..core.text import texts_in
from ..models import SCHEMES, parse_spec
from .plan import Job, make_job
from .store import RunStore
from .store_files import is_kept, seal
from .tasks import Task
from .training import checkpoint, midway, remove_midway, stage_names, weight_names

PARTIAL, BUILDING = "answers.partial.jsonl", ".partial.jsonl"
LAST = ("answers.digest", "answers.jsonl", "outcomes.jsonl", "measures.json")
"""Files of a job that are put in place last, in this order: if the answers exist, everything else does."""
NOT_SENT = "error.txt"
"""Not sent: its age shows whether another process failed during this run."""


class Piece(NamedTuple):
    """The content of a file from an offset on; anything behind it is cut off."""

    start: int
    content: bytes


Files = Mapping[str, Piece]
"""By path in the store."""


# Driver side


def kept_for(task: Task, store: RunStore) -> list[str]:
    """Return the stored files that a task continues from."""
    cases = store.cases_file(task.job)
    paths = [cases, seal(cases), cases.with_suffix(BUILDING)] if task.stage is None else []
    if "training" in task.job.identity:
        base, *names = weight_names(task.job.identity)
        done = [path for name in names if is_kept(path := checkpoint(store, name))]
        paths += [part for path in done[-1:] for part in (path, seal(path))]
        paths += [path for name in names for path in store.folder.glob(f"checkpoints/{name}-*")]
        paths += [path for name in (base, *names) for path in store.folder.glob(f"features/{name}-*")]
        paths += [midway(store, name) for name in names]
    if task.stage is None and (folder := store.job_folder(task.job.id)).is_dir():
        paths += [path for path in folder.iterdir() if path.name != NOT_SENT and path.name[0] != "."]
    return [str(path.relative_to(store.folder)) for path in paths if path.exists()]


def lock_for(task: Task) -> str:
    """Return the lock that the driver holds for a task.

    Cases, features and stages that two jobs both need have the same bytes from either, so they need no lock.
    """
    return task.job.id if task.stage is None else f"stage-{task.name}"


def put_in_place(files: Files, store: RunStore) -> None:
    """Write the files from a worker, the answers of a finished job last."""
    last = {name: place for place, name in enumerate(LAST)}
    for name in sorted(files, key=lambda name: (last.get(Path(name).name, -1), name)):
        path, piece = store.folder / name, files[name]
        is_build = path.parent.name == "cases" and name.endswith(BUILDING)
        if is_build and (store.folder / name.replace(BUILDING, ".jsonl")).exists():
            continue  # another worker has built these cases
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.name == PARTIAL:
            with path.open("r+b" if path.exists() else "wb") as stream:
                stream.truncate(piece.start)
                stream.seek(piece.start)
                stream.write(piece.content)
            continue
        with replacing(path) as temporary, temporary.open("wb") as stream:
            stream.write(piece.content)
            settle(stream)
        if path.parent.name == "cases" and path.suffix == ".jsonl":
            path.with_suffix(BUILDING).unlink(missing_ok=True)


def tidy(task: Task, store: RunStore) -> None:
    """Remove what a finished task leaves: partial answers, an earlier error, checkpoints of its trainings."""
    if task.stage is None:
        for name in (PARTIAL, NOT_SENT):
            (store.job_folder(task.job.id) / name).unlink(missing_ok=True)
    names = stage_names(task.job)
    remove_midway(store, names if task.stage is None else names[: task.stage + 1])


# Inputs of a job outside the store


def inputs_of(job: Job) -> list[Path]:
    """Return the files and folders that a job names by relative paths: models, suites, data, modules.

    Files named by absolute paths must exist on the worker's machine.
    """
    spec = parse_spec(job.model)
    words = [part for word in (job.model, *texts_in(asdict(job.settings))) for part in _named(word)]
    paths = [Path(name) for word in words for name in (word, word.rpartition(":")[0]) if _is_path(name)]
    if spec.scheme == "python":
        from ..models.identity import module_files

        here = Path.cwd()
        modules = [path for path in module_files(spec.name.partition(":")[0]) if path.is_relative_to(here)]
        paths += [path.relative_to(here) for path in modules]
    return list(dict.fromkeys(paths))


def _named(word: str) -> list[str]:
    """Return a word of the plan, and the names inside it if it is a model spec."""
    scheme, _, name = word.partition(":")
    if scheme not in SCHEMES or not name.partition("?")[0]:
        return [word]
    spec = parse_spec(word)
    return [word, spec.name, *spec.options.values()]


def _is_path(name: str) -> bool:
    try:
        there = bool(name.strip("./")) and not Path(name).is_absolute() and Path(name).exists()
    except (OSError, ValueError):
        return False
    return there and ("." in name or "/" in name or Path(name).is_dir())


def files_in(path: Path) -> dict[str, bytes]:
    """Return the content of a file, or of every file in a folder."""
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    return {str(file): file.read_bytes() for file in files}


# Worker side


class Workplace:
    """A worker's folder that looks like the store to its task."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.store = RunStore(folder / "store")
        self._here = folder / "here"
        self._inputs: dict[str, object] = {}  # inputs of the job: name to version
        self._known: dict[str, _State] = {}  # state of each file when it was last sent

    def lay_out(self, kept: Mapping[str, Callable[[], bytes]]) -> None:
        """Make exactly these files of the store available."""
        shutil.rmtree(self.store.folder, ignore_errors=True)
        for name, fetch in kept.items():
            path = self.store.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(fetch())
        self._known = {name: _state(path) for name, path in self._files()}

    def go_to(
        self, folder: str, inputs: Mapping[str, tuple[object, Callable[[], Mapping[str, bytes]]]]
    ) -> None:
        """Change to a folder that mirrors the driver's working directory for these inputs."""
        place = self._here / folder.strip("/")
        place.mkdir(parents=True, exist_ok=True)
        os.chdir(place)
        for name, (version, fetch) in inputs.items():
            if self._inputs.get(name) != version:
                for file, content in fetch().items():
                    Path(file).parent.mkdir(parents=True, exist_ok=True)
                    Path(file).write_bytes(content)
                self._inputs[name] = version

    def refuse_other(self, job: Job) -> None:
        """Raise if the job differs on this machine, because its model, data or code differ."""
        same = make_job(job.protocol, job.model, job.settings)
        if same.id != job.id:
            differing = [key for key in job.identity if same.identity.get(key) != job.identity[key]]
            raise PlanError(
                f"{job.id}: the {' and the '.join(differing)} here are not those of the machine that runs the plan",
                why="files named by absolute paths, or shoal itself, differ between the machines",
                fix="name files by paths relative to the plan, which are sent; install the same shoal everywhere",
            )

    def news(self, *, done: bool) -> dict[str, Piece]:
        """Return files that are new or longer than at the last call; the last files of a job only when it is done."""
        news: dict[str, Piece] = {}
        for name, path in self._files():
            last = Path(name).name
            if not done and (last in LAST or last == NOT_SENT):
                continue
            try:
                state, before = _state(path), self._known.get(name)
                if state == before:
                    continue
                grew = before is not None and last == PARTIAL and state.file == before.file
                start = min(before.size, state.size) if before is not None and grew else 0
                with path.open("rb") as stream:
                    stream.seek(start)
                    content = stream.read()
            except FileNotFoundError:
                continue  # renamed while we looked
            news[name] = Piece(start, content)
            self._known[name] = state._replace(size=start + len(content))
        return news

    def _files(self) -> Iterator[tuple[str, Path]]:
        # Trainings in progress first: the answers sent with them are then at least as recent.
        for folder in ("midway", "cases", "checkpoints", "features", "jobs"):
            for path in (self.store.folder / folder).rglob("[!.]*"):
                if path.is_file():
                    yield str(path.relative_to(self.store.folder)), path


class _State(NamedTuple):
    changed: int
    size: int
    file: int


def _state(path: Path) -> _State:
    status = path.stat()
    return _State(status.st_mtime_ns, status.st_size, status.st_ino)
