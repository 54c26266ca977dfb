"""Recompute published tables from stored predictions in a local folder, and compare every cell.

HateCheck's Table 2 to its decimal, BELUGA's SENT test split to 1e-9, CrowS-Pairs of BERT-base to two decimals,
StereoSet's three models to 1e-6 of a per cent.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from .core.errors import DataError, PlanError, nearest, some
from .core.records import Measure, Result
from .data.crows import FILE as CROWS_DATA
from .runs.results import audit_all
from .training.stage import Progress, silent

REPRODUCTIONS: dict[str, str] = {
    "hatecheck": "HateCheck (Röttger et al. 2021): accuracy of two systems in 29 functionalities",
    "checklist-llm": "BELUGA's SENT suite: pass rates of 16 runs of four language models in 38 functionalities",
    "crows": "CrowS-Pairs (Nangia et al. 2020): BERT-base, the whole and nine categories",
    "stereoset": "StereoSet (Nadeem et al. 2021): three models, three scores by task and domain",
}
"""Name to description."""
CELLS = {"hatecheck": 29 * 2, "checklist-llm": 38 * 16, "crows": 13, "stereoset": 3 * 11 * 3}
"""Number of cells of each published table, so that an incomplete file does not count as a match."""
AGAIN = "download the data again"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a published table, as printed and as recomputed; as text, to compare printed digits."""

    row: str
    column: str
    published: str
    found: str
    matches: bool


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A recomputed table."""

    title: str
    cells: Sequence[Cell]
    jobs: Sequence[Mapping[str, Any]]
    measures: Sequence[Measure]

    @property
    def mismatches(self) -> list[Cell]:
        """The cells that differ."""
        return [cell for cell in self.cells if not cell.matches]


def reproduce(name: str, data: Path, progress: Progress = silent) -> Reproduction:
    """Recompute a published table from the files in a folder."""
    if name not in REPRODUCTIONS:
        raise PlanError(
            f"unknown reproduction {name!r}",
            why=f"known: {', '.join(REPRODUCTIONS)}",
            fix=nearest(name, REPRODUCTIONS) or "one of those",
        )
    cells, results = RECOMPUTED[name](data, progress)
    count = len({(cell.row, cell.column) for cell in cells})
    if count != CELLS[name] or len(cells) != count:
        raise DataError(
            f"{name}: {len(cells):,} cells, {count:,} of them different; the published table has {CELLS[name]:,}",
            why="the file of published numbers is incomplete or changed",
            fix=f"{AGAIN} into {data}",
        )
    rows = [
        replace(row, groups={**row.groups, "model": model})
        for model, result in results.items()
        for row in (result.measures.by("functionality") or result.measures)
    ]
    return Reproduction(REPRODUCTIONS[name], cells, [result.job for result in results.values()], rows)


Recomputed = tuple[list[Cell], Mapping[str, Result]]
"""The cells of a table, and the results by model."""


def _hatecheck(data: Path, progress: Progress) -> Recomputed:
    """Compare the accuracy of two systems in each functionality."""
    files = ("test_suite_cases.csv", "predictions_2_systems.csv", "published_accuracy_by_functionality.json")
    suite, predictions, table = _files(data, "hatecheck", files)
    systems = ("BERT_davidson2017_weighted", "siftninja")

    def take(table: Any) -> dict[str, dict[str, float | None]]:
        return {
            system: {name: float(row[system]) if system in row else None for name, row in table.items()}
            for system in systems
        }

    published = _read_published(table, take)
    specs = [f"predictions:{predictions}?label=pred_{system}" for system in systems]
    settings = {"suite": str(suite), "resamples": 100}
    results = dict(zip(systems, audit_all(specs, "behaviour", settings, progress), strict=True))
    cells = [
        _printed_cell(name, system, published[system].get(name), row, 1)
        for system in systems
        for name, row in _functionalities(published[system], results[system])
    ]
    return cells, results


def _checklist_llm(data: Path, progress: Progress) -> Recomputed:
    """Compare the pass rate and n of sixteen runs of four language models in each functionality."""
    (table,) = _files(data, "llm_generations", ["reference_pass_rates.json"])
    # If DIR is the llm_generations folder itself, the suite is next to it.
    near = table.parent.parent if table.parent == data else data
    (suite,) = _files(near, "checklist", ["sentiment.jsonl.gz"])

    def take(table: Any) -> list[tuple[str, dict[str, tuple[float | None, int]]]]:
        return [
            (
                f"{run['model']}.{run['scenario']}",
                {name: (rate, run["n"].get(name)) for name, rate in run["pass_rates"].items()},
            )
            for run in table
        ]

    runs = _read_published(table, take)
    files = [table.parent / "sentiment" / f"{name}.jsonl.gz" for name, _ in runs]
    for file in files:
        if not file.is_file():
            raise DataError(f"{file}: no such file", why=f"{table.name} names this run", fix=AGAIN)
    settings = {"suite": str(suite), "split": "test", "profile": "reference", "resamples": 100}
    audited = audit_all([f"predictions:{file}" for file in files], "behaviour", settings, progress)
    cells = [
        _pass_rate_cell(name, run, printed.get(name), row)
        for (run, printed), result in zip(runs, audited, strict=True)
        for name, row in _functionalities(printed, result)
    ]
    return cells, {run: result for (run, _), result in zip(runs, audited, strict=True)}


def _functionalities(printed: Mapping[str, Any], result: Result) -> Iterator[tuple[str, Measure | None]]:
    """Yield every functionality on either side with its pass rate."""
    rows = {row.groups["functionality"]: row for row in result.measures.by("functionality")}
    for name in dict.fromkeys([*printed, *rows]):
        yield name, rows.get(name)


def _pass_rate_cell(
    name: str, run: str, printed: tuple[float | None, int] | None, row: Measure | None
) -> Cell:
    if printed is None or row is None:
        return Cell(name, run, "absent" if printed is None else "there", "there" if row else "absent", False)
    percent, n = printed
    found = None if row.value is None else 100 * row.value
    matches = n == row.n and _agree(percent, found, 1e-7)
    return Cell(name, run, f"{_shown(percent)} of {n:,}", f"{_shown(found)} of {row.n:,}", matches)


def _shown(percent: float | None) -> str:
    return "undefined" if percent is None else f"{percent:.10g} %"


CROWS_MODEL = "bert-base-uncased"
CROWS_PUBLISHED = {
    "metric score": 60.48,
    "stereotype score": 61.09,
    "anti-stereotype score": 56.88,
    "neutral": 0.00,
    "race-color": 58.14,
    "socioeconomic": 59.88,
    "gender": 58.02,
    "disability": 61.67,
    "nationality": 62.89,
    "sexual-orientation": 67.86,
    "physical-appearance": 63.49,
    "religion": 71.43,
    "age": 55.17,
}
"""Per cent, as the authors' script prints them."""
WHOLE: dict[str, tuple[str, dict[str, str]]] = {
    "metric score": ("stereotype score", {}),
    "stereotype score": ("stereotype score", {"direction": "stereo"}),
    "anti-stereotype score": ("stereotype score", {"direction": "antistereo"}),
    "neutral": ("neutral share", {}),
}
"""The authors' name to our measure and its groups, for numbers about all categories."""


def _crows(data: Path, progress: Progress) -> Recomputed:
    """Compare thirteen numbers of one model."""
    file, scores = _files(data, "crows_pairs", (CROWS_DATA, "bert_base_token_scores.jsonl.gz"))
    settings = {"diagnostic": "crows", "data": str(file)}
    (result,) = audit_all([f"predictions:{scores}"], "bias", settings, progress)
    cells = []
    for name, printed in CROWS_PUBLISHED.items():
        ours, groups = WHOLE.get(name, ("stereotype score", {}))
        category = "all" if name in WHOLE else name
        row = next(iter(result.measures.where(ours, category=category, **groups)), None)
        cells.append(_printed_cell(name, CROWS_MODEL, printed, row, 2))
    return cells, {CROWS_MODEL: result}


STEREOSET_SCORES = {
    "LM Score": "language modelling score",
    "SS Score": "stereotype score",
    "ICAT Score": "icat",
}


def _stereoset(data: Path, progress: Progress) -> Recomputed:
    """Compare three scores by task and domain, averaged per target term as the official evaluation does."""
    file, table = _files(data, "stereoset", ("dev.json.gz", "published_dev_results.json"))
    settings = {"diagnostic": "stereoset", "data": str(file), "profile": "reference"}

    def take(table: Any) -> dict[str, list[tuple[str, str, str, float]]]:
        return {model: list(_stereoset_rows(scores)) for model, scores in table.items()}

    cells, results = [], {}
    for model, rows in _read_published(table, take).items():
        predictions = next(iter(sorted((file.parent / "predictions").glob(f"predictions_{model}_*"))), None)
        if predictions is None:
            why = f"{table.name} names this model"
            raise DataError(f"{file.parent / 'predictions'}: no predictions of {model}", why=why, fix=AGAIN)
        (result,) = audit_all([f"predictions:{predictions}"], "bias", settings, progress)
        results[model] = result
        for task, category, name, printed in rows:
            row = next(iter(result.measures.where(name, task=task, category=category)), None)
            found = None if row is None or row.value is None else 100 * row.value
            text = "absent" if found is None else f"{found:.10g}"
            where = f"{task}, {category}: {name}"
            cells.append(Cell(where, model, f"{printed:.10g}", text, _agree(printed, found, 1e-6)))
    return cells, results


def _stereoset_rows(table: Mapping[str, Any]) -> Iterator[tuple[str, str, str, float]]:
    """Yield task, category, score and number under our names."""
    tables = [("all", "all", table["overall"])]
    tables += [
        (task, "all" if name == "overall" else name, scores)
        for task in ("intrasentence", "intersentence")
        for name, scores in table[task].items()
    ]
    for task, category, scores in tables:
        for theirs, ours in STEREOSET_SCORES.items():
            yield task, category, ours, float(scores[theirs])


RECOMPUTED: dict[str, Callable[[Path, Progress], Recomputed]] = {
    "hatecheck": _hatecheck,
    "checklist-llm": _checklist_llm,
    "crows": _crows,
    "stereoset": _stereoset,
}


def _files(data: Path, name: str, files: Sequence[str]) -> list[Path]:
    """Return the paths of these files in DIR/NAME, or in DIR itself."""
    folder = data / name if (data / name).is_dir() else data
    missing = [file for file in files if not (folder / file).is_file()]
    if missing:
        raise DataError(f"{folder}: no {some(missing)}", fix=f"--data with the folder that holds {name}/")
    return [folder / file for file in files]


def _read_published(path: Path, take: Callable[[Any], T]) -> T:
    """Return the published numbers that `take` finds in a JSON file."""
    try:
        return take(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise DataError(f"{path}: not the published table", why=repr(problem), fix=AGAIN) from None


def _printed_cell(row: str, column: str, percent: float | None, measure: Measure | None, digits: int) -> Cell:
    """Return a cell that matches if its digits, as papers print them, are equal."""
    published = "absent" if percent is None else f"{percent:.{digits}f}"
    value = None if measure is None else measure.value
    found = "absent" if measure is None else "undefined" if value is None else f"{100 * value:.{digits}f}"
    return Cell(row, column, published, found, published == found)


def _agree(published: float | None, found: float | None, tolerance: float) -> bool:
    """Return whether two numbers are both undefined, or equal up to the tolerance."""
    if published is None or found is None:
        return published is found
    return abs(published - found) <= tolerance
