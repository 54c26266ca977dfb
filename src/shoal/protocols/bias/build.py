"""Find a diagnostic and its data, and build the cases.

A diagnostic is one module and one line of the table `DIAGNOSTICS`.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from ...core.errors import DataError, PlanError, nearest
from ...core.records import Answer, Case, Example, Measure
from ...training.stage import Progress, silent
from ..base import Asks, Built, Scored
from .settings import Settings

if TYPE_CHECKING:
    from .family import Family

DIAGNOSTICS = {
    "crows": ".crows",  # CrowS-Pairs: which of two sentences that differ in a group is likelier
    "stereoset": ".stereoset",  # stereotype, anti-stereotype or unrelated, in a sentence and after one
    "seat": ".seat",  # SEAT and WEAT: association of two sets of targets with two of attributes
    "crows_choice": ".choice:CROWS",  # the same for models without likelihoods: a choice in both orders
    "stereoset_choice": ".choice:STEREOSET",
    "bbq": ".bbq",  # which of two groups a model names in answer to a question, or neither
    "clusters": ".clusters",  # whether the vectors of two concepts fall into two clusters
}
"""Name to its module, or to an object in a module."""
EXAMPLE = "example"
LETTERS = ("A", "B", "C")
"""The labels of diagnostics that show options."""


class DiagnosticModule(Protocol):
    """The interface of a diagnostic's module."""

    FOLDER: str
    FILES: Sequence[str]
    """The files in its folder of data; empty for a folder of association tests."""
    ASKS: Asks
    """The kind of answer that it needs. Diagnostics on vectors have representations and named tests."""
    LABELS: tuple[str, ...]
    """The letters of its options, if it asks for options."""
    CONCEPTS: Mapping[str, str]
    """A concept to its category here, to compare diagnostics of one concept."""

    def make_cases(self, path: Path | None, settings: Settings) -> list[Case]: ...
    def ask(
        self, settings: Settings, model: Any, built: Built, examples: Sequence[Example]
    ) -> list[Answer]: ...
    def score(
        self, settings: Settings, cases: Sequence[Case], answered: Sequence[Sequence[Answer]]
    ) -> Scored: ...
    def across(self, family: "Family") -> list[Measure]: ...


def module_of(name: str) -> DiagnosticModule:
    if name not in DIAGNOSTICS:
        raise PlanError(
            f"unknown diagnostic {name!r}",
            why=f"known diagnostics are {', '.join(DIAGNOSTICS)}",
            fix=nearest(name, DIAGNOSTICS) or "use one of those",
        )
    module, _, inside = DIAGNOSTICS[name].partition(":")
    found: Any = import_module(module, __package__)
    return cast(DiagnosticModule, getattr(found, inside) if inside else found)


def has_vectors(name: str) -> bool:
    """Return whether a diagnostic uses vectors, and so has representations and named tests."""
    return module_of(name).ASKS == "vectors"


def build(settings: Settings, progress: Progress = silent) -> Built:
    """Return the cases of the diagnostic, or a sample of them, or those of a downstream task."""
    if settings.tasks:
        from .training import build_task

        return build_task(settings)
    module = module_of(*settings.diagnostic)
    whole = module.make_cases(find_data(settings), settings)
    labels = module.LABELS if module.ASKS == "options" else None
    if not settings.limit or settings.limit >= len(whole):
        return Built(whole, labels, module.ASKS)
    # A fixed seed: checkpoints of every seed get the same cases.
    chosen = np.sort(np.random.default_rng(0).choice(len(whole), settings.limit, replace=False))
    return Built([whole[position] for position in chosen], labels, module.ASKS, chosen_from=whole)


def find_data(settings: Settings) -> Path | None:
    """Return the file or folder of the diagnostic, None for the example."""
    (name,) = settings.diagnostic
    module = module_of(name)
    if not settings.data:
        raise PlanError(
            f"bias needs data for {name}",
            why=f"it reads {' or '.join(module.FILES) or f'the files of {module.FOLDER}'}; "
            "shoal does not ship data sets",
            fix=f'--data FILE, or --data {EXAMPLE} for a small example; in a plan, data = "{EXAMPLE}"',
        )
    if settings.data == EXAMPLE:
        return None
    path = Path(settings.data)
    if not path.exists():
        raise DataError(f"{path}: no such file or folder", fix='give a file, its folder, or "example"')
    folders = [path / module.FOLDER, path]
    files = [folder / file for folder in folders for file in module.FILES]
    tests = [] if module.FILES else [folder for folder in folders if any(folder.glob("*.jsonl*"))]
    present = [path, *tests] if path.is_file() else [*filter(Path.is_file, files), *tests]
    if present:
        return present[0]
    raise DataError(
        f"{path}: no data for {name}",
        why=f"looked for {' or '.join(module.FILES) or '*.jsonl'} in {' and in '.join(map(str, folders))}",
        fix="give a folder with such a file, or data = example",
    )
