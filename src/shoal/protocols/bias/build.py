"""Settings to cases: which file, which part of it; and the cases on disk."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ...errors import DataError, PlanError
from ...files import read_json_lines, writing
from ...records import Answer, Case, Example, Measure, Outcome
from .settings import Settings

DIAGNOSTICS: dict[str, str] = {
    "crows": "CrowS-Pairs: which of two sentences that differ in a group is likelier",
    "stereoset": "StereoSet: stereotype, anti-stereotype or unrelated, in a sentence and after one",
    "seat": "SEAT and WEAT: association of two sets of targets with two of attributes",
    "clusters": "whether the vectors of two concepts fall into two clusters",
}
"""Name to what it asks; each is the module of that name in this folder."""
EXAMPLE = "example"


class DiagnosticModule(Protocol):
    """What the module of a diagnostic offers."""

    FOLDER: str
    FILES: Sequence[str]

    def make_cases(self, path: Path | None, tests: Sequence[str]) -> list[Case]:
        """The cases of a file or folder; of our own example where there is none."""
        ...

    def ask(
        self,
        settings: Settings,
        model: Any,
        built: "BuiltBias",
        examples: Sequence[Example],
        ids: Sequence[str],
    ) -> list[Answer]:
        """What the model says of some examples."""
        ...

    def score(
        self, settings: Settings, cases: Sequence[Case], said: Sequence[Sequence[Answer]]
    ) -> tuple[list[Outcome], list[Measure]]:
        """Outcomes and measures from the answers to each case."""
        ...


def find_diagnostic(settings: Settings) -> DiagnosticModule:
    """The module of the one diagnostic that a job is about."""
    found: Any = import_module(f".{diagnostic_of(settings)}", __package__)
    module: DiagnosticModule = found
    return module


def diagnostic_of(settings: Settings) -> str:
    """The name of the one diagnostic that a job is about."""
    if len(settings.diagnostic) != 1:
        raise PlanError(
            f"diagnostic = {list(settings.diagnostic)}: one at a time here", fix="shoal run PLAN runs several"
        )
    return settings.diagnostic[0]


@dataclass(frozen=True, slots=True)
class BuiltBias:
    """The cases that the settings choose, and those they were chosen from."""

    cases: list[Case]
    whole: list[Case]
    labels: tuple[str, ...] | None = None

    def by_place(self) -> dict[str, tuple[Case, int]]:
        """Which example of which case an id such as `17#1` means."""
        return {f"{case.id}#{n}": (case, n) for case in self.whole for n in range(len(case.examples))}


def build(settings: Settings) -> BuiltBias:
    """The cases of the diagnostic, or a sample of them."""
    whole = find_diagnostic(settings).make_cases(find_data(settings), settings.tests)
    if not settings.limit or settings.limit >= len(whole):
        return BuiltBias(whole, whole)
    # Not by the job's seed: checkpoints of other seeds must be asked the same.
    chosen = np.sort(np.random.default_rng(0).choice(len(whole), settings.limit, replace=False))
    return BuiltBias([whole[at] for at in chosen], whole)


def find_data(settings: Settings) -> Path | None:
    """The file or folder of the diagnostic; None for our own example."""
    module, name = find_diagnostic(settings), diagnostic_of(settings)
    if settings.tests and name not in ("seat", "clusters"):
        raise PlanError(f"tests are for seat and clusters, not for {name}")
    if not settings.data:
        raise PlanError(
            f"bias needs data for {name}",
            why=f"such as {' or '.join(module.FILES) or 'a folder of association tests'}; "
            "data sets are not shipped with shoal",
            fix='data = "FILE", or data = "example" for a small one of our own',
        )
    if settings.data == EXAMPLE:
        return None
    path = Path(settings.data)
    if not path.exists():
        raise DataError(
            f"{path}: no such file or folder", fix='the file, the folder that holds it, or "example"'
        )
    if path.is_file():
        return path
    folders = [path / module.FOLDER, path]
    for folder in folders:
        found = next((folder / file for file in module.FILES if (folder / file).is_file()), None)
        if found is not None:
            return found
        if not module.FILES and folder.is_dir() and any(folder.glob("*.jsonl")):
            return folder
    raise DataError(
        f"{path}: no data for {name}",
        why=f"looked for {' or '.join(module.FILES) or '*.jsonl'} in {' and in '.join(map(str, folders))}",
    )


def identity(settings: Settings) -> dict[str, Any]:
    """What decides cases and answers: the content of the data, which vector is a sentence's, which tokens count."""
    path, name = find_data(settings), diagnostic_of(settings)
    found: dict[str, Any] = {
        "diagnostic": name,
        "data": EXAMPLE if path is None else _digest(path, settings.tests),
        "tests": list(settings.tests),
        "limit": settings.limit,
    }
    if name in ("seat", "clusters"):
        found["representation"] = list(settings.representation)
    if name == "crows" and settings.crows_scoring != "unmodified_tokens":
        found["crows_scoring"] = settings.crows_scoring
    return found


def _digest(path: Path, tests: Sequence[str]) -> str:
    whole = hashlib.sha256()
    files = sorted({*path.glob("*.json"), *path.glob("*.jsonl")}) if path.is_dir() else [path]
    for file in files:
        if not tests or file.name.split(".")[0] in tests:
            whole.update(file.name.encode() + b"\0" + file.read_bytes())
    return whole.hexdigest()[:16]


def save(built: BuiltBias, path: Path) -> None:
    """Write the chosen cases, one JSON object per line."""
    with writing(path) as stream:
        for case in built.cases:
            row = {
                "id": case.id,
                "examples": [list(example) for example in case.examples],
                "groups": dict(case.groups),
                "cluster": case.cluster,
                "meta": dict(case.meta),
            }
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def load(path: Path) -> BuiltBias:
    """The cases that were chosen."""
    cases = [
        Case(
            row["id"],
            tuple(tuple(example) for example in row["examples"]),
            None,
            row["groups"],
            row["cluster"],
            row["meta"],
        )
        for _, row in read_json_lines(path)
    ]
    return BuiltBias(cases, cases)
