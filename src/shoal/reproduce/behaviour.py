"""Pass rates by functionality: HateCheck's Table 2 to its decimal, BELUGA's SENT test split to 1e-9."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core.errors import DataError
from ..core.records import Measure
from ..runs.results import audit_all
from ..training.stage import Progress
from . import REPRODUCTIONS, Cell, Reproduction, agree, as_printed, find_folder, read_published

FILES = ("test_suite_cases.csv", "predictions_2_systems.csv", "published_accuracy_by_functionality.json")
SYSTEMS = ("BERT_davidson2017_weighted", "siftninja")

REFERENCE = "reference_pass_rates.json"
SUITE = "sentiment.jsonl.gz"
TOLERANCE = 1e-9

Column = tuple[str, Mapping[str, Any]]
"""A column of a published table: its name, and the printed number of each functionality."""


def hatecheck(data: Path, progress: Progress) -> Reproduction:
    """Compare the accuracy of two systems in each functionality."""
    folder = find_folder(data, "hatecheck", FILES)

    def take(table: Any) -> list[Column]:
        rates = {name: {system: float(rate) for system, rate in row.items()} for name, row in table.items()}
        return [(system, {name: row.get(system) for name, row in rates.items()}) for system in SYSTEMS]

    published = read_published(folder / FILES[2], take)
    specs = [f"predictions:{folder / FILES[1]}?label=pred_{system}" for system in SYSTEMS]
    settings = {"suite": str(folder / FILES[0]), "resamples": 100}
    return _compared("hatecheck", specs, settings, published, _accuracy, progress)


def checklist_llm(data: Path, progress: Progress) -> Reproduction:
    """Compare the pass rate and n of sixteen runs of four language models in each functionality."""
    folder = find_folder(data, "llm_generations", [REFERENCE])
    # If DIR is the llm_generations folder itself, the suite is next to it.
    suite = find_folder(folder.parent if folder == data else data, "checklist", [SUITE]) / SUITE

    def take(table: Any) -> list[Column]:
        return [
            (
                f"{run['model']}.{run['scenario']}",
                {name: (rate, run["n"].get(name)) for name, rate in run["pass_rates"].items()},
            )
            for run in table
        ]

    published = read_published(folder / REFERENCE, take)
    files = [folder / "sentiment" / f"{name}.jsonl.gz" for name, _ in published]
    for file in files:
        if not file.is_file():
            raise DataError(
                f"{file}: no such file", why=f"{REFERENCE} names this run", fix="download the data again"
            )
    settings = {"suite": str(suite), "split": "test", "profile": "reference", "resamples": 100}
    specs = [f"predictions:{file}" for file in files]
    return _compared("checklist-llm", specs, settings, published, _pass_rate, progress)


def _compared(
    name: str,
    specs: Sequence[str],
    settings: Mapping[str, Any],
    published: Sequence[Column],
    texts: Callable[[Any, Measure | None], tuple[str, str, bool]],
    progress: Progress,
) -> Reproduction:
    """Audit the models and return every cell; `texts` are the cell as printed, as found, and whether they match."""
    results = audit_all(specs, "behaviour", settings, progress)
    cells: list[Cell] = []
    measures: list[Measure] = []
    for (column, printed), result in zip(published, results, strict=True):
        rows = {row.groups["functionality"]: row for row in result.measures.by("functionality")}
        cells += [
            Cell(functionality, column, *texts(printed.get(functionality), rows.get(functionality)))
            for functionality in dict.fromkeys([*printed, *rows])
        ]
        measures += [replace(row, groups={**row.groups, "model": column}) for row in rows.values()]
    return Reproduction(REPRODUCTIONS[name], cells, [result.job for result in results], measures)


def _accuracy(printed: float | None, row: Measure | None) -> tuple[str, str, bool]:
    published = "absent" if printed is None else f"{printed:.1f}"
    found = as_printed(row, 1)
    return published, found, published == found


def _pass_rate(printed: tuple[float | None, int] | None, row: Measure | None) -> tuple[str, str, bool]:
    if printed is None or row is None:
        return ("absent", "there", False) if printed is None else ("there", "absent", False)
    percent, n = printed
    found = None if row.value is None else 100 * row.value
    return (
        f"{_shown(percent)} of {n:,}",
        f"{_shown(found)} of {row.n:,}",
        n == row.n and agree(percent, found, 100 * TOLERANCE),
    )


def _shown(percent: float | None) -> str:
    return "undefined" if percent is None else f"{percent:.10g} %"
