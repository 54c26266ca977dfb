"""Settings to cases: which file, which part of it; and the cases on disk."""

import hashlib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ...errors import DataError, PlanError
from ...records import Answer, Case, Example, Measure, Outcome
from ...training.stage import Progress, silent
from ..base import Asks, Built
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
    ASKS: Asks

    def make_cases(self, path: Path | None, tests: Sequence[str]) -> list[Case]:
        """The cases of a file or folder; of our own example where there is none."""
        ...

    def ask(self, settings: Settings, model: Any, built: Built, examples: Sequence[Example]) -> list[Answer]:
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


def build(settings: Settings, progress: Progress = silent) -> Built:
    """The cases of the diagnostic, or a sample of them."""
    module = find_diagnostic(settings)
    whole = module.make_cases(find_data(settings), settings.tests)
    if not settings.limit or settings.limit >= len(whole):
        return Built(whole, None, module.ASKS)
    # Not by the job's seed: checkpoints of other seeds must be asked the same.
    chosen = np.sort(np.random.default_rng(0).choice(len(whole), settings.limit, replace=False))
    return Built([whole[position] for position in chosen], None, module.ASKS, chosen_from=whole)


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


def data_digest(settings: Settings) -> str:
    """The content of the data; our own example by its name."""
    path = find_data(settings)
    return EXAMPLE if path is None else _digest(path, settings.tests)


def _digest(path: Path, tests: Sequence[str]) -> str:
    whole = hashlib.sha256()
    files = sorted({*path.glob("*.json"), *path.glob("*.jsonl")}) if path.is_dir() else [path]
    for file in files:
        if not tests or file.name.split(".")[0] in tests:
            whole.update(file.name.encode() + b"\0" + file.read_bytes())
    return whole.hexdigest()[:16]
