"""The diagnostics, and settings to cases: which file, which part of it.

A diagnostic is one module and one line of the table: whatever is particular to it is in its module.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from ...core.errors import DataError, PlanError, nearest
from ...core.records import Answer, Case, Example, Measure, Measures
from ...core.views import Block, Table
from ...training.stage import Progress, silent
from ..base import Asks, Built, Scored
from .notes import Phrases
from .settings import Settings

if TYPE_CHECKING:
    from .family import Family, Line

DIAGNOSTICS: dict[str, tuple[str, str]] = {
    "crows": (".crows", "CrowS-Pairs: which of two sentences that differ in a group is likelier"),
    "stereoset": (
        ".stereoset",
        "StereoSet: stereotype, anti-stereotype or unrelated, in a sentence and after one",
    ),
    "seat": (".seat", "SEAT and WEAT: association of two sets of targets with two of attributes"),
    "clusters": (".clusters", "whether the vectors of two concepts fall into two clusters"),
}
"""Name to its module and what it asks."""
EXAMPLE = "example"


class DiagnosticModule(Protocol):
    """What the module of a diagnostic offers."""

    FOLDER: str
    """Where its data stand in a folder of data sets."""
    FILES: Sequence[str]
    """Their names there; empty for a folder of association tests."""
    ASKS: Asks
    """What it asks a model for. Those that ask for vectors have representations and named tests."""
    CASES: str
    """What its cases are called."""
    BELOW: Phrases
    """Facts of its measures that the table of one checkpoint does not show, in words."""
    CONCEPTS: Mapping[str, str]
    """A concept to what it is called as a category here: what other diagnostics say of it is held against this one."""

    def make_cases(self, path: Path | None, tests: Sequence[str]) -> list[Case]:
        """The cases of a file or folder; of our own example where there is none."""
        ...

    def ask(self, settings: Settings, model: Any, built: Built, examples: Sequence[Example]) -> list[Answer]:
        """What the model says of some examples."""
        ...

    def score(
        self, settings: Settings, cases: Sequence[Case], answered: Sequence[Sequence[Answer]]
    ) -> Scored:
        """Outcomes, measures and columns from the answers to each case."""
        ...

    def across(self, settings: Settings, families: "Sequence[Family]") -> list[Measure]:
        """What checkpoints of one recipe say together; a family for each representation."""
        ...

    def conclude(self, measures: Measures, runs: int) -> Iterator[str]:
        """What may be said of the checkpoints of a family, sentence by sentence."""
        ...

    def table(self, measures: Measures) -> Table:
        """The scores of one checkpoint."""
        ...

    def blocks(self, measures: Measures) -> list[Block]:
        """What several checkpoints of a family look like."""
        ...

    def files(self, families: "Sequence[Family]", measures: Measures) -> "dict[str, list[Line]]":
        """Lines of the files for computing, by the file's name; diagnostics of a kind share their files."""
        ...


def module_of(name: str) -> DiagnosticModule:
    """The module of a diagnostic."""
    if name not in DIAGNOSTICS:
        raise PlanError(
            f"diagnostic {name!r} is not known",
            why=f"known: {', '.join(DIAGNOSTICS)}",
            fix=nearest(name, DIAGNOSTICS) or "one of those",
        )
    return cast(DiagnosticModule, import_module(DIAGNOSTICS[name][0], __package__))


def has_vectors(name: str) -> bool:
    """Whether a diagnostic looks at vectors: it has representations and named tests then."""
    return module_of(name).ASKS == "vectors"


def check_tests(settings: Settings) -> None:
    """Refuse names of tests where no diagnostic has any."""
    if settings.tests and not any(map(has_vectors, settings.diagnostic)):
        known = [name for name in DIAGNOSTICS if has_vectors(name)]
        raise PlanError(
            f"tests are for {' and '.join(known)}, not for {', '.join(settings.diagnostic)}",
            fix="leave out tests, or give such a diagnostic",
        )


def find_diagnostic(settings: Settings) -> DiagnosticModule:
    """The module of the one diagnostic that a job is about."""
    return module_of(diagnostic_of(settings))


def diagnostic_of(settings: Settings) -> str:
    """The name of the one diagnostic that a job is about."""
    if len(settings.diagnostic) != 1:
        raise PlanError(
            f"diagnostic = {list(settings.diagnostic)}: one at a time here", fix="shoal run PLAN runs several"
        )
    return settings.diagnostic[0]


def build(settings: Settings, progress: Progress = silent) -> Built:
    """The cases of the diagnostic, or a sample of them; those of a downstream task."""
    if settings.tasks:
        from .finetune import build as build_task

        return build_task(settings)
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
    check_tests(settings)
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
        present = [folder / file for file in module.FILES if (folder / file).is_file()]
        if present:
            return present[0]
        if not module.FILES and folder.is_dir() and any(folder.glob("*.jsonl")):
            return folder
    raise DataError(
        f"{path}: no data for {name}",
        why=f"looked for {' or '.join(module.FILES) or '*.jsonl'} in {' and in '.join(map(str, folders))}",
        fix="data = FOLDER that holds such a file, or data = example",
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
